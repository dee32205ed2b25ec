"""`libra anonymize`: a log in, an anonymized log out, with what is promised of it and what is not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from libra._system.shell import libra_command
from libra.cli.certificates import opened
from libra.cli.measure import told
from libra.cli.options import ENGINE, GUARANTEE, Json, LogPath, MechanismName, Quiet, command, option, output_option, switch
from libra.cli.output import Stages, columns_taken, print_json, print_notes, say
from libra.errors import EmptyReleaseError, UsageError
from libra.keywords import OtherParameters, ReadKeywords

if TYPE_CHECKING:
    from libra.release import Release

DELTA_HELP = "Privacy parameter delta. Default: 1e-5. For libra2022, delta of the clipping. Default: 1e-4."
ENGINE_HELP = "Where libra counts: polars (in memory), polars-streaming (larger than memory), spark. Default: what fits."
MASTER_HELP = "Where Spark computes, such as local[2]. Default: a session that is open, or all cores of this machine."
SIGN_HELP = "Sign the certificate with this secret key; the signature goes beside it, as FILE.minisig. See libra keygen."
REPORT_HELP = "Write a page on what was protected and what was lost. CONFIDENTIAL: it compares with the original."
MODEL_HELP = "Write the released figures, from which libra simulate makes logs of any size. As private as the log."


@command(
    "libra anonymize log.xes.gz -o anonymized.xes.gz",
    "libra anonymize visits.csv -o anonymized.csv --epsilon 0.5 --delta 1e-6 --time-zone Europe/Amsterdam",
    "libra anonymize log.xes --epsilon 0.1 --explain",
    "libra anonymize visits.csv -o anonymized.csv --description log.toml",
    "libra anonymize visits.csv -o anonymized.csv --description log.toml --attribute Age --attribute Ward",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --report report.html",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --sign-key hospital",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --json",
    "libra anonymize lake/events.parquet -o anonymized.parquet --engine polars-streaming",
    "libra anonymize lake/events.parquet -o anonymized.parquet --engine spark --master 'local[2]'",
    "libra anonymize - -o - --input-format csv --output-format csv",
    "libra anonymize log.xes -o out.xes --mechanism travas --epsilon 1 --delta 1e-5 --set times=model",
    "libra anonymize log.xes -o out.xes --mechanism libra2022 --alpha 2 --b 2 --gamma 0.05 --delta 1e-4",
)
def anonymize(
    log: LogPath,
    options: ReadKeywords,
    parameters: OtherParameters,
    *,
    output: Annotated[
        Path | None, output_option("The file to write; its extension sets the format; - for stdout.", "OUT")
    ] = None,
    mechanism: MechanismName = "libra",
    epsilon: Annotated[
        float | None, option("Privacy budget epsilon; smaller is more private. Default: 1.", panel=GUARANTEE)
    ] = None,
    delta: Annotated[float | None, option(DELTA_HELP, panel=GUARANTEE)] = None,
    explain: Annotated[
        bool, switch("--explain", "Explain what is released, assumed and not promised; without -o, write nothing.", GUARANTEE)
    ] = False,
    seed: Annotated[
        int | None, option("Seed for a repeatable release, for tests only: it is not private.", panel=GUARANTEE)
    ] = None,
    certificate: Annotated[
        Path | None, option("Write a publishable statement of what is promised and what is not.", "FILE")
    ] = None,
    sign_key: Annotated[Path | None, option(SIGN_HELP, "KEY")] = None,
    report: Annotated[Path | None, option(REPORT_HELP, "FILE")] = None,
    public: Annotated[bool, switch("--public", "Limit the page to what is released, so that it may be published too.")] = False,
    model: Annotated[Path | None, option(MODEL_HELP, "FILE")] = None,
    engine: Annotated[str | None, option(ENGINE_HELP, "NAME", ENGINE)] = None,
    master: Annotated[str | None, option(MASTER_HELP, "URL", ENGINE)] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize a log and state the guarantee of the result.

    libra, the default, makes a log that is (epsilon, delta)-differentially private for adding or removing one case. libra2022 is
    Libra as published, for research; if it leaves nothing of a log, the exit code is 1 and the text says what would have kept
    something. travas, prefix-laplace, sacofa, pripel and amun are by other authors: docs/peers.md assesses each.
    """
    from libra.certificate.document import check_certificate, fingerprint
    from libra.certificate.signing import signature_of
    from libra.eventlog.log import role_columns
    from libra.releasing import released, request_of
    from libra.targets import after_writing, check_target, check_writable

    stages = Stages(quiet=quiet)
    asked, reading = {**parameters, "epsilon": epsilon, "delta": delta}, {**options, "progress": stages}
    request = request_of(log, reading, mechanism, asked, seed=seed, engine=engine, master=master)
    explained = request.explain() if explain and (output is None or mechanism == "libra") else []
    if output is None:
        if not explain or report is not None or public:
            raise UsageError("Name the file to write: -o OUT.")
        _show_explained(explained, as_json=as_json)
        return
    if request.engine == "spark":
        from libra.engines.spark.writing import SparkWriter

        SparkWriter(master).check(output)  # not when hours have gone into it
    else:
        check_target(log, output)
    if certificate is not None:
        check_certificate(log, output, certificate, signed=sign_key is not None)
    elif sign_key is not None:
        raise UsageError("--sign-key needs --certificate FILE.")
    if report is not None:
        check_writable(log, report, "report", {"output": output, "certificate": certificate})
        if request.engine != "polars" and not public:
            raise UsageError("A report compares with the original in memory. Add --public or use --engine polars.")
    elif public:
        raise UsageError("--public needs --report FILE.")
    if model is not None:
        check_writable(log, model, "model", {"output": output, "certificate": certificate, "report": report})
        if mechanism != "libra":
            raise UsageError(f"{mechanism} has no model to write: its logs are not generated from released figures.")
    signing = None if sign_key is None else opened(sign_key)  # not when hours have gone into it
    if not as_json:
        _show_explained(explained, as_json=False)
    with released(request) as release:
        with stages.stage("account"):
            document = release.to_dict() if as_json else {}
        draft, page = None, None
        if report is not None:
            from libra.reporting.build import draft_of_release
            from libra.reporting.commands import Names, reading_flags

            names = Names(log.name, output.name, "" if certificate is None else certificate.name, reading_flags(options))
            said: dict[str, Any] = {"public": public, "reading": release.reading, "names": names}
            with stages.stage("report", output.name) as progress:
                key_id = None if signing is None else signing.public.id
                draft = draft_of_release(release, release.original, key_id=key_id, progress=progress, **said)
        with stages.stage("write", output.name) as progress:
            left_out = release.write(output, certificate=certificate, sign_key=signing, progress=progress)
            if model is not None:
                from libra.mechanisms.libra.model_file import write_model

                with after_writing(output, "model"):
                    write_model(release, model)
            if draft is not None and report is not None:
                page = draft.report({"file": output.name} | fingerprint(output))
                with after_writing(output, "page", "Write it from the logs with libra report"):
                    page.save(report)
    notes = (*release.reading, *release.notes, *left_out)
    print_notes((*(() if as_json else columns_taken(release.roles, options)), *notes), quiet=quiet)
    if as_json:
        signature = None if certificate is None or signing is None else signature_of(certificate)
        files = {"output": output, "certificate": certificate, "signature": signature, "report": report, "model": model}
        document |= {name: None if path is None else str(path) for name, path in files.items()}
        document |= {"engine": request.engine, "columns": role_columns(release.roles)}
        document |= {"seconds": stages.seconds | dict(release.seconds), "notes": list(notes)}
        print_json(document | ({"plan": explained} if explain else {}))
    elif not quiet:
        show_release(release, output, certificate, sign_key, explain=explain)
        if page is not None and report is not None:
            for line in ("", *told(page, report)):
                say(line)
    if release.shortfall:
        raise EmptyReleaseError(f"{output}: this log is empty. {release.shortfall}")


def _show_explained(explained: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"plan": explained})
        return
    for line in explained:
        say(line, lead="- ")


def show_release(
    release: Release, output: Path, certificate: Path | None, sign_key: Path | None = None, *, explain: bool = False
) -> None:
    """Some lines: what was written, promised, what is in it, how far it is off, what to ask, how to check; more to `explain`."""
    from libra.mechanisms.mechanism import HOMES

    beside = f" and {certificate}{', signed,' if sign_key else ''}" if certificate else ""
    if release.shortfall:
        say(f"Wrote {output}, an empty log{',' if beside else ''}{beside}", wrapped=False)
        return
    sizes = release.to_dict()["released"].items()
    counted = ", ".join(f"{size:,} {things.removesuffix('s') if size == 1 else things}" for things, size in sizes)
    lines = [
        f"Wrote {output}{beside}: {counted}",
        _promised(release),
        _in_it(release),
        *_expected(release),
        *_explained(release, full=explain),
    ]
    if certificate and not release.seeded and release.mechanism in HOMES:
        words = [str(certificate), str(output), *(["--key", f"{sign_key}.pub"] if sign_key else [])]
        lines.append(f"Anyone can check this: {libra_command()} verify {shlex.join(words)}")
    elif not certificate:
        lines.append(
            "More: --certificate FILE writes what is promised, for whoever gets it; --report FILE shows what it is good for."
        )
    for line in lines:
        say(line)


def _promised(release: Release) -> str:
    """The guarantee in words for everybody, or that there is none."""
    from libra.privacy.guarantee import in_plain_words

    promised, cases = release.guarantee, release.log.n_cases
    told, worth = in_plain_words(promised, seeded=release.seeded, cases=cases), promised.strength(cases)
    if release.seeded or worth is None or not worth.protects:
        return told
    return (
        f"Promised: ({promised.epsilon:g}, {promised.delta:g})-differential privacy for {promised.unit.partition(',')[0]}. {told}"
    )


def _in_it(release: Release) -> str:
    """What the log holds and what it does not, from the release and what was asked for alone: nothing here is of the original."""
    from libra.certificate.content import attributes_of
    from libra.eventlog.names import LIFECYCLE, RESOURCE
    from libra.mechanisms.release import GENERATED
    from libra.reporting.facts.tables import released_names
    from libra.reporting.text import listed

    asked, there = attributes_of(release.certificate()), released_names(release.log)
    activities = (None, *release.log.activities)
    # A log in parts has columns without values.
    valued = {f'"{one.name}"': one.name in there and one.at in activities for one in asked}
    holds, _, lacks = release.contents.rpartition("; ")
    holds = holds.removesuffix(GENERATED) if release.log.n_cases else "no case"
    if any(valued.values()):
        holds += f", generated values of {listed([name for name, found in valued.items() if found])}"
    absent = [name for name, found in valued.items() if not found]
    named = {*there, *(one.name for one in asked)}
    resources = (
        "the column of resources" if any(one.kind == "category" for one in asked) else "resources"
    )  # others may name people
    absent += [] if RESOURCE in named else [resources]
    absent += [] if LIFECYCLE in named or release.log.instances else ["start times"]
    absent.append(lacks.replace("no ", "any ", 1).replace(", no ", ", ").replace(" and no ", " or "))
    how = ""
    if release.mechanism == "libra" and not asked:
        how = " To release attributes, declare them with libra describe and name them with --attribute."
    return f"In it: {holds}. Not in it: {listed(absent)}.{how}"


def _expected(release: Release) -> list[str]:
    """How far the log is likely off, where its mechanism knows."""
    return [release.expected.sentence] if release.expected is not None and release.log.n_cases else []


def _explained(release: Release, *, full: bool) -> list[str]:
    """What is assumed and what is not promised; unless asked for all of it, the one question that decides."""
    from libra.engines.contract import CASE
    from libra.privacy.guarantee import of_several

    promised = release.guarantee
    if not full:
        where = "What is assumed and what is not promised: --explain, or the certificate."
        if promised.epsilon is None or promised.delta is None or promised.kind != "proved":
            return [f"{promised.statement} {where}"]
        asked = "Releases of one log add up."
        if promised.unit == CASE.statement():
            asked = f"Is one person one case? {of_several(promised.epsilon, promised.delta)} {asked}"
        return [f"Before it goes out: {asked} {where}"]
    lines = [promised.statement]
    if release.claimed is not None and promised.assumptions:
        lines.append("It assumes:")
    lines += [f"- {sentence}" for sentence in promised.assumptions]
    if release.claimed is not None:
        lines.append(release.claimed.comparison())
    return lines + [f"- {sentence}" for sentence in promised.caveats]
