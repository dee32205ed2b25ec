"""`libra simulate`: a log of any size, for trying things out at scale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from libra.cli.output import Json, Quiet, print_notes, print_result
from libra.cli.progress import Stages

EXAMPLES = (
    "libra simulate --cases 1_000_000 -o large.parquet",
    "libra simulate --cases 20000 -o log.xes.gz --seed 7",
    "libra simulate --cases 500000 -o like-ours.parquet --model model.json",
)


def simulate(
    *,
    cases: Annotated[int, typer.Option("--cases", help="How many cases to make.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="The file to write; its name says the format.", show_default=False),
    ],
    seed: Annotated[
        int | None, typer.Option("--seed", help="Another seed makes another log; the same one the same.", show_default=False)
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Generate from a released model, which libra anonymize --model writes. Default: an emergency department.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        Literal["time", "case"] | None,
        typer.Option(
            "--order",
            help="By time cases are interleaved, as in a data lake. Default: time; case for XES and models.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a realistic log of any size, in memory that does not grow with it: of no real patient and no real hospital."""
    from libra.example.stream import simulate

    stages = Stages(quiet=quiet)
    with stages.stage("simulate", output.name) as progress:
        done = simulate(output, cases, seed=seed, model=model, order=order, progress=progress)
    print_notes(done.notes, quiet=quiet)
    document = {"output": str(output), "cases": done.cases, "events": done.events, "order": done.order}
    told = f"Wrote {output}: {done.cases:,} cases, {done.events:,} events"
    print_result(document | {"notes": list(done.notes), "seconds": stages.seconds}, [told], as_json=as_json, quiet=quiet)
