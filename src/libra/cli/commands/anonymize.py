"""`libra anonymize`: a log in, an anonymized log out, with what is promised of it and what is not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra._system.shell import libra_command
from libra.cli.columns import columns_taken
from libra.cli.commands.report import told
from libra.cli.input_options import ENGINE, OUTPUT, LogPath, takes_log_options
from libra.cli.keys import SecretKeyFile, opened
from libra.cli.mechanism_options import GUARANTEE, SOUND, MechanismName, parameter, takes_mechanism_options
from libra.cli.output import Json, Quiet, people_console, print_json, print_notes, printable
from libra.cli.progress import progress_bar
from libra.cli.releasing import Asked, released
from libra.cli.stopwatch import Stopwatch
from libra.errors import EmptyReleaseError, InputError, UsageError
from libra.keywords import MechanismKeywords, ReadKeywords, described_by, described_parameters, read_options

if TYPE_CHECKING:
    from libra.mechanisms.mechanism import Mechanism
    from libra.mechanisms.release import Release
    from libra.reporting.build import Draft
    from libra.reporting.page import Report

EXAMPLES = (
    "libra anonymize log.xes.gz -o anonymized.xes.gz",
    "libra anonymize visits.csv -o anonymized.csv --epsilon 0.5 --delta 1e-6 --time-zone Europe/Amsterdam",
    "libra anonymize log.xes --epsilon 0.1 --explain",
    "libra anonymize visits.csv -o anonymized.csv --description log.toml",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --report report.html",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --sign-key hospital",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --json",
    "libra anonymize lake/events.parquet -o anonymized.parquet --engine polars-streaming",
    "libra anonymize lake/events.parquet -o anonymized.parquet --engine spark --master 'local[2]'",
    "libra anonymize log.xes -o out.xes --mechanism travas --epsilon 1 --delta 1e-5 --times model",
    "libra anonymize log.xes -o out.xes --mechanism libra2022 --alpha 2 --b 2 --gamma 0.05 --delta 1e-4",
)


@takes_log_options
@takes_mechanism_options
def anonymize(
    log: LogPath,
    options: ReadKeywords,
    parameters: MechanismKeywords,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT", help="The file to write; its name says the format.", show_default=False),
    ] = None,
    mechanism: MechanismName = "libra",
    epsilon: Annotated[
        float | None,
        parameter("--epsilon", text="Privacy budget epsilon; smaller is more private. Default: 1.", panel=GUARANTEE),
    ] = None,
    delta: Annotated[
        float | None,
        parameter(
            "--delta",
            text="Privacy parameter delta. Default: 1e-5. For libra2022, delta of the clipping. Default: 1e-4.",
            panel=GUARANTEE,
        ),
    ] = None,
    explain: Annotated[
        bool,
        parameter("--explain", text="Say what is released and what survives; without -o, only that.", panel=SOUND),
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Draw the same again, for tests. The result is not private.", show_default=False)
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="Write a publishable statement of what is promised and what is not.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    sign_key: SecretKeyFile = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write a page that shows what was protected and what was lost. CONFIDENTIAL: it compares with the original.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="The page has only what is released, and may go along with it.", rich_help_panel=OUTPUT),
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Write the released figures, from which libra simulate makes logs of any size. As private as the log.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Where libra counts: polars (in memory), polars-streaming (larger than memory), spark. Default: what fits.",
            rich_help_panel=ENGINE,
            show_default=False,
        ),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="Where Spark computes, such as local[2]. Default: a session that is open, or all cores of this machine.",
            rich_help_panel=ENGINE,
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize a log, and say what is promised of the result.

    libra, the default, makes a log that is (epsilon, delta)-differentially private for adding or removing one case. libra2022 is
    Libra as published, for research; where it leaves nothing of a log the exit code is 1, and the text says what would have kept
    something. travas, prefix-laplace, sacofa, pripel and amun are by other authors: docs/peers.md says what each is worth.
    """
    from libra.certificate.signing import signature_of
    from libra.eventlog.log import role_columns
    from libra.mechanisms.mechanism import mechanism as make
    from libra.mechanisms.mechanism import parameters_of
    from libra.origins import engine_of_release
    from libra.privacy.randomness import Randomness
    from libra.targets import check_certificate, check_model, check_report, check_target

    described = described_by(options.get("description"))
    if described is not None:
        options["description"] = described
        read_options(**options)  # refuses flags that contradict it
    said = {**parameters, "epsilon": epsilon, "delta": delta}
    made = make(mechanism, described_parameters(described, said, parameters_of(mechanism)))
    Randomness(seed)  # both refuse what cannot be meant, before any file is read
    individuals = "individual" in options or (described is not None and described.unit == "individual")
    explained = _explained(made, individuals=individuals) if explain else []
    if output is None:
        if not explain or report is not None or public:
            raise UsageError("Say where the anonymized log goes: -o OUT.")
        _show_explained(explained, as_json=as_json)
        return
    chosen = engine_of_release(log, mechanism, engine, master)
    if chosen == "spark":
        from libra.engines.spark.writing import SparkWriter

        SparkWriter(master).check(output)  # not when hours have gone into it
    else:
        check_target(log, output)
    if certificate is not None:
        check_certificate(log, output, certificate, signed=sign_key is not None)
    elif sign_key is not None:
        raise UsageError("--sign-key signs the certificate. Say where it goes: --certificate FILE.")
    if report is not None:
        check_report(log, output, certificate, report)
        if chosen != "polars" and not public:
            raise UsageError("A report compares with the original in memory. Add --public, or take --engine polars.")
    elif public:
        raise UsageError("--public needs --report FILE.")
    if model is not None:
        check_model(log, output, (certificate, report), model)
        if mechanism != "libra":
            raise UsageError(f"{mechanism} has no model to write: its logs are not generated from released figures.")
    signing = None if sign_key is None else opened(sign_key)  # not when hours have gone into it
    if explain and not as_json:
        _show_explained(explained, as_json=False)
    watch = Stopwatch()
    asked = Asked(log, options, made, seed, chosen, master, quiet)
    with released(asked, watch) as release:
        with watch.stage("account"):
            document = release.to_dict() if as_json else {}
        draft = None
        if report is not None:
            from libra.reporting.build import draft_of_release
            from libra.reporting.words import Names, reading_flags

            with watch.stage("report"), progress_bar(f"reporting on {output.name}", quiet=quiet) as progress:
                names = Names(log.name, output.name, "" if certificate is None else certificate.name, reading_flags(options))
                key_id = None if signing is None else signing.public.id
                draft = draft_of_release(release, release.original, public=public, names=names, key_id=key_id, progress=progress)
        with watch.stage("write"), progress_bar(f"writing {output.name}", quiet=quiet) as progress:
            left_out = release.write(output, certificate=certificate, sign_key=signing, progress=progress)
            if model is not None:
                _write_model(release, model)
            page = None if draft is None or report is None else _saved(draft, report, output)
    notes = (*release.notes, *left_out)
    print_notes((*(() if as_json else columns_taken(release.roles, options)), *notes), quiet=quiet)
    if as_json:
        signature = None if certificate is None or signing is None else signature_of(certificate)
        pages = {"certificate": certificate, "signature": signature, "report": report, "model": model}
        files = {"output": str(output)} | {name: None if path is None else str(path) for name, path in pages.items()}
        found = {
            "engine": chosen,
            "columns": role_columns(release.roles),
            "seconds": watch.seconds | dict(release.seconds),
            "notes": list(notes),
        }
        print_json(document | files | found | ({"plan": explained} if explain else {}))
    elif not quiet:
        show_release(release, output, certificate, sign_key)
        if page is not None and report is not None:
            _say(["", *told(page, report)])
    if release.shortfall:
        raise EmptyReleaseError(f"{output}: this log is empty. {release.shortfall}")


def _write_model(release: Release, model: Path) -> None:
    from libra.mechanisms.libra.model_file import write_model

    write_model(release, model)


def _saved(draft: Draft, report: Path, output: Path) -> Report:
    """Write the page; where that fails, say that the log is there all the same."""
    from libra.certificate.document import fingerprint

    page = draft.report({"file": output.name} | fingerprint(output))
    try:
        page.save(report)
        return page
    except InputError as error:
        what = error.what.removesuffix(", nothing was written")
        remedy = f"{output} is written, the page is not: libra report writes it from the logs"
        raise InputError(what, place=str(report), remedy=remedy) from error


def _explained(made: Mechanism, *, individuals: bool) -> list[str]:
    """What a mechanism says of its plan, before any case is looked at."""
    from libra.mechanisms.libra import Libra

    if not isinstance(made, Libra):
        raise UsageError(f"{made.name} has no plan to explain. Leave out --explain, or --mechanism.")
    return (made.for_individuals() if individuals else made).plan.explain()


def _show_explained(explained: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"plan": explained})
        return
    _say([f"- {line}" for line in explained])


def show_release(release: Release, output: Path, certificate: Path | None, sign_key: Path | None = None) -> None:
    """What was written, what is promised of it, and what that does not cover."""
    from libra.mechanisms.mechanism import HOMES

    beside = f" and {certificate}{', signed,' if sign_key else ''}" if certificate else ""
    if release.shortfall:
        print(printable(f"Wrote {output}, an empty log{',' if beside else ''}{beside}"))
        return
    sizes = release.to_dict()["released"].items()
    counted = ", ".join(f"{size:,} {things.removesuffix('s') if size == 1 else things}" for things, size in sizes)
    promised = release.guarantee
    lines = [f"Wrote {output}{beside}: {counted}", "", promised.statement]
    if release.claimed is not None and promised.assumptions:
        lines.append("It assumes:")
    lines += [f"- {sentence}" for sentence in promised.assumptions]
    if release.claimed is not None:
        lines.append(release.claimed.comparison())
    lines += [f"- {sentence}" for sentence in promised.caveats]
    if certificate and not release.seeded and release.mechanism in HOMES:
        words = [str(certificate), str(output), *(["--key", f"{sign_key}.pub"] if sign_key else [])]
        lines += ["", f"Anyone can check this: {libra_command()} verify {shlex.join(words)}"]
    _say(lines)


def _say(lines: list[str]) -> None:
    console = people_console()
    for line in lines:
        console.print(printable(line), soft_wrap=not console.is_terminal)
