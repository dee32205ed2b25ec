"""`libra anonymize`: a log in, an anonymized log out, with what is promised of it and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from libra.cli.columns import columns_taken
from libra.cli.input_options import OUTPUT, LogPath, takes_log_options
from libra.cli.output import Json, Quiet, people_console, print_json, print_notes, printable
from libra.cli.progress import progress_bar
from libra.cli.stopwatch import Stopwatch
from libra.errors import EmptyReleaseError, UsageError
from libra.keywords import MechanismKeywords, ReadKeywords

if TYPE_CHECKING:
    from libra.mechanisms.mechanism import Mechanism
    from libra.mechanisms.release import Release

EXAMPLES = (
    "libra anonymize log.xes.gz -o anonymized.xes.gz",
    "libra anonymize visits.csv -o anonymized.csv --epsilon 0.5 --delta 1e-6 --time-zone Europe/Amsterdam",
    "libra anonymize log.xes --epsilon 0.1 --explain",
    "libra anonymize log.xes -o out.xes --certificate certificate.json --json",
    "libra anonymize log.xes -o out.xes --mechanism libra2022 --alpha 2 --b 2 --gamma 0.05 --delta 1e-4",
)
SOUND, BOTH, PUBLISHED = "Mechanism libra", "Mechanisms libra and libra2022", "Mechanism libra2022"
LONG_NUMBER = 20  # digits


def _parameter(*flags: str, text: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel, show_default=False)


@takes_log_options
def anonymize(
    log: LogPath,
    options: ReadKeywords,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT", help="The file to write; its name says the format.", show_default=False),
    ] = None,
    mechanism: Annotated[
        str,
        typer.Option("--mechanism", "-m", metavar="NAME", help="How to anonymize: libra, or libra2022 as published."),
    ] = "libra",
    epsilon: Annotated[
        float | None, _parameter("--epsilon", text="Of the guarantee; smaller is more private. Default: 1.", panel=SOUND)
    ] = None,
    delta: Annotated[
        float | None,
        _parameter("--delta", text="Of the guarantee. Default: 1e-5. Of the clipping of libra2022. Default: 1e-4.", panel=BOTH),
    ] = None,
    tail: Annotated[
        str | None,
        _parameter(
            "--tail",
            text="Rare cases: model (new traces like them), nearest (to a kept variant) or drop. Default: model.",
            metavar="HOW",
            panel=SOUND,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        _parameter("--budget", text="Shares. Default: control=0.55,times=0.45.", metavar="SHARES", panel=SOUND),
    ] = None,
    private_labels: Annotated[
        bool | None,
        _parameter("--private-labels", text="Choose the labels privately too, rather than take them as public.", panel=SOUND),
    ] = None,
    time_zone: Annotated[
        str | None,
        _parameter("--time-zone", text="Whose hours and days to keep. Default: UTC.", metavar="ZONE", panel=SOUND),
    ] = None,
    cases: Annotated[
        int | None,
        _parameter("--cases", text="How many cases to generate. Default: about as many as there are.", panel=SOUND),
    ] = None,
    explain: Annotated[
        bool,
        _parameter("--explain", text="Say what is released and what survives; without -o, only that.", panel=SOUND),
    ] = False,
    gamma: Annotated[
        float | None,
        _parameter("--gamma", text="The share of cases in a subsample. Default: 1; of libra2022: 0.05.", panel=BOTH),
    ] = None,
    subsamples: Annotated[
        str | None,
        _parameter(
            "--subsamples",
            text="How many. Default: 1; of libra2022: 1/gamma, or 'paper' for gamma times the cases kept.",
            metavar="N|paper",
            panel=BOTH,
        ),
    ] = None,
    alpha: Annotated[
        float | None, _parameter("--alpha", text="The order of Renyi differential privacy. Default: 10.", panel=PUBLISHED)
    ] = None,
    b: Annotated[float | None, _parameter("--b", text="The scale of the Laplace mechanism. Default: 2.", panel=PUBLISHED)] = None,
    trace_noise: Annotated[
        bool | None,
        _parameter(
            "--trace-noise/--no-trace-noise", text="Whether cases are copied and deleted. Default: they are.", panel=PUBLISHED
        ),
    ] = None,
    signed_times: Annotated[
        bool | None,
        _parameter("--signed-times", text="Let noisy times between events fall below zero, as in the paper.", panel=PUBLISHED),
    ] = None,
    omega: Annotated[
        float | None,
        _parameter("--omega", text="How many minutes a mean moves for a case to be relevant. Default: 20.", panel=PUBLISHED),
    ] = None,
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
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize a log, and say what is promised of the result.

    libra, the default, makes a log that is (epsilon, delta)-differentially private for adding or removing one case. libra2022 is
    Libra as published, for research; where it leaves nothing of a log the exit code is 1, and the text says what would have kept
    something.
    """
    from libra import api
    from libra.mechanisms.mechanism import mechanism as make
    from libra.privacy.randomness import Randomness
    from libra.targets import check_certificate, check_target

    parameters: MechanismKeywords = {
        "epsilon": epsilon,
        "delta": delta,
        "tail": tail,
        "budget": budget,
        "private_labels": private_labels,
        "time_zone": time_zone,
        "cases": cases,
        "gamma": gamma,
        "subsamples": _number(subsamples),
        "alpha": alpha,
        "b": b,
        "trace_noise": trace_noise,
        "signed_times": signed_times,
        "omega": omega,
    }
    made = make(mechanism, parameters)
    Randomness(seed)  # both refuse what cannot be meant, before any file is read
    explained = _explained(made) if explain else []
    if output is None:
        if not explain:
            raise UsageError("Say where the anonymized log goes: -o OUT.")
        _show_explained(explained, as_json=as_json)
        return
    check_target(log, output)
    if certificate is not None:
        check_certificate(log, output, certificate)
    if explain and not as_json:
        _show_explained(explained, as_json=False)
    watch = Stopwatch()
    with watch.stage("read"), progress_bar(f"reading {log.name}", quiet=quiet) as progress:
        options["progress"] = progress
        if mechanism == api.SOUND:
            options["allow_empty"] = True
        original = api.read(log, **options)
    with watch.stage("anonymize"), progress_bar(f"anonymizing {log.name}", quiet=quiet) as progress:
        release = api.anonymize(original, mechanism=mechanism, seed=seed, progress=progress, **parameters)
    with watch.stage("account"):
        document = release.to_dict() if as_json else {}
    with watch.stage("write"), progress_bar(f"writing {output.name}", quiet=quiet) as progress:
        left_out = release.write(output, certificate=certificate, progress=progress)
    notes = (*original.notes, *release.notes, *left_out)
    print_notes((*(() if as_json else columns_taken(original, options)), *notes), quiet=quiet)
    if as_json:
        files = {"output": str(output), "certificate": None if certificate is None else str(certificate)}
        found = {"columns": original.role_columns, "seconds": watch.seconds | dict(release.seconds), "notes": list(notes)}
        print_json(document | files | found | ({"plan": explained} if explain else {}))
    elif not quiet:
        show_release(release, output, certificate)
    if release.shortfall:
        raise EmptyReleaseError(f"{output}: this log is empty. {release.shortfall}")


def _explained(made: Mechanism) -> list[str]:
    """What a mechanism says of its plan, before any case is looked at."""
    from libra.mechanisms.libra import Libra

    if not isinstance(made, Libra):
        raise UsageError(f"{made.name} has no plan to explain. Leave out --explain, or --mechanism.")
    return made.plan.explain()


def _show_explained(explained: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"plan": explained})
        return
    console = people_console()
    for line in explained:
        console.print(printable(f"- {line}"), soft_wrap=not console.is_terminal)


def _number(said: str | None) -> int | Literal["paper"] | None:
    """What was said, as a number where it is one; the mechanism refuses other words."""
    return (
        int(said) if said is not None and said.isdecimal() and len(said) < LONG_NUMBER else cast('Literal["paper"] | None', said)
    )


def show_release(release: Release, output: Path, certificate: Path | None) -> None:
    """What was written, what is promised of it, and what that does not cover."""
    beside = f" and {certificate}" if certificate else ""
    if release.shortfall:
        print(printable(f"Wrote {output}, an empty log{',' if beside else ''}{beside}"))
        return
    sizes = release.to_dict()["released"].items()
    told = ", ".join(f"{size:,} {things.removesuffix('s') if size == 1 else things}" for things, size in sizes)
    lines = [f"Wrote {output}{beside}: {told}", "", release.guarantee.statement]
    if release.claimed is not None:
        lines.append(release.claimed.comparison())
    lines += [f"- {sentence}" for sentence in (*release.guarantee.assumptions, *release.guarantee.caveats)]
    console = people_console()
    for line in lines:
        console.print(printable(line), soft_wrap=not console.is_terminal)
