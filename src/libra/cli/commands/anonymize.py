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
from libra.errors import EmptyReleaseError
from libra.keywords import MechanismKeywords, ReadKeywords

if TYPE_CHECKING:
    from libra.mechanisms.release import Release

EXAMPLES = (
    "libra anonymize log.xes.gz -o anonymized.xes.gz --mechanism libra2022",
    "libra anonymize visits.csv -o anonymized.csv --mechanism libra2022 --alpha 2 --b 2 --gamma 0.05 --delta 1e-4",
    "libra anonymize log.xes -o out.xes --mechanism libra2022 --certificate certificate.json --json",
)
PANEL = "Mechanism libra2022"
LONG_NUMBER = 20  # digits


def _parameter(*flags: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=PANEL, show_default=False)


@takes_log_options
def anonymize(
    log: LogPath,
    options: ReadKeywords,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="The file to write; its name says the format.", show_default=False),
    ],
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism", "-m", metavar="NAME", help="How to anonymize; in this version: libra2022.", show_default=False
        ),
    ] = "libra",
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="Of a mechanism with a guarantee; libra2022 takes --alpha and --b.", show_default=False),
    ] = None,
    alpha: Annotated[float | None, _parameter("--alpha", text="The order of Renyi differential privacy. Default: 10.")] = None,
    b: Annotated[float | None, _parameter("--b", text="The scale of the Laplace mechanism. Default: 2.")] = None,
    gamma: Annotated[float | None, _parameter("--gamma", text="The share of cases in a subsample. Default: 0.05.")] = None,
    delta: Annotated[
        float | None, _parameter("--delta", text="The smaller, the more cases a variant needs to be kept. Default: 1e-4.")
    ] = None,
    subsamples: Annotated[
        str | None,
        _parameter(
            "--subsamples", text="How many, or 'paper' for gamma times the cases kept. Default: 1/gamma.", metavar="N|paper"
        ),
    ] = None,
    trace_noise: Annotated[
        bool | None, _parameter("--trace-noise/--no-trace-noise", text="Whether cases are copied and deleted. Default: they are.")
    ] = None,
    signed_times: Annotated[
        bool | None, _parameter("--signed-times", text="Let noisy times between events fall below zero, as in the paper.")
    ] = None,
    omega: Annotated[
        float | None, _parameter("--omega", text="How many minutes a mean has to move for a case to be relevant. Default: 20.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Draw the same again, for tests. The result is not private.", show_default=False)
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="Write a publishable statement of what is claimed and what is not.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize a log with one of the mechanisms, and say what is claimed of the result.

    libra2022 is Libra as published: clip rare variants, subsample, add noise, keep what is relevant, combine. Exit code 1 says
    that the anonymized log is empty, and the text says which parameters would have kept something.
    """
    from libra import api
    from libra.mechanisms.mechanism import mechanism as make
    from libra.privacy.randomness import Randomness
    from libra.targets import check_certificate, check_target

    parameters: MechanismKeywords = {
        "epsilon": epsilon,
        "alpha": alpha,
        "b": b,
        "gamma": gamma,
        "delta": delta,
        "subsamples": _number(subsamples),
        "trace_noise": trace_noise,
        "signed_times": signed_times,
        "omega": omega,
    }
    make(mechanism, parameters)
    Randomness(seed)  # both refuse what cannot be meant, before any file is read
    check_target(log, output)
    if certificate is not None:
        check_certificate(log, output, certificate)
    watch = Stopwatch()
    with watch.stage("read"), progress_bar(f"reading {log.name}", quiet=quiet) as progress:
        options["progress"] = progress
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
        found = {"columns": original.role_columns, "seconds": watch.seconds, "notes": list(notes)}
        print_json(document | files | found)
    elif not quiet:
        show_release(release, output, certificate)
    if release.shortfall:
        raise EmptyReleaseError(f"{output}: this log is empty. {release.shortfall}")


def _number(said: str | None) -> int | Literal["paper"] | None:
    """What was said, as a number where it is one; the mechanism refuses other words."""
    return (
        int(said) if said is not None and said.isdecimal() and len(said) < LONG_NUMBER else cast('Literal["paper"] | None', said)
    )


def show_release(release: Release, output: Path, certificate: Path | None) -> None:
    """What was written, what is claimed of it, and why that is no guarantee."""
    beside = f" and {certificate}" if certificate else ""
    if release.shortfall:
        print(printable(f"Wrote {output}, an empty log{',' if beside else ''}{beside}"))
        return
    sizes = release.to_dict()["released"].items()
    told = ", ".join(f"{size:,} {things.removesuffix('s') if size == 1 else things}" for things, size in sizes)
    lines = [f"Wrote {output}{beside}: {told}", "", release.guarantee.statement]
    if release.claimed is not None:
        lines.append(release.claimed.comparison())
    lines += [f"- {caveat}" for caveat in release.guarantee.caveats]
    console = people_console()
    for line in lines:
        console.print(printable(line), soft_wrap=not console.is_terminal)
