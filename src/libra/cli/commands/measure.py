"""`libra measure`: how far a log is from its original, each figure with its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.input_options import takes_log_options
from libra.cli.output import Json, Quiet, print_json, print_notes
from libra.cli.progress import Stages
from libra.cli.risk import show_release_risk
from libra.cli.tables import figure, table
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.measures import Utility

EXAMPLES = (
    "libra measure log.xes.gz anonymized.xes.gz",
    "libra measure log.csv anonymized.csv --json",
    "libra measure log.xes.gz anonymized.xes.gz --risk --certificate certificate.json",
)
MEANINGS = {
    "emd_freq": "directly-follows frequencies, blind to labels (EMD Freq)",
    "emd_time": "hours spent per directly-follows edge, blind to labels (EMD Time)",
    "dfg_l1": "difference of directly-follows counts, relative to the original",
    "dfg_tv": "difference of directly-follows shares (0 equal, 1 disjoint)",
    "variant_tv": "difference of variant shares (0 equal, 1 disjoint)",
    "unseen_variant_share": "share of cases whose variant the original never had",
    "length_w1": "trace length, mean shift in events",
    "case_duration_w1_hours": "case duration, mean shift in hours",
    "edge_duration_w1_hours": "time between two events, mean shift in hours per edge",
    "edge_duration_w1_relative": "the same, relative to the original's mean",
    "edge_duration_w1_log": "the same on log10(1 + seconds): 1 is a factor of ten",
    "arrival_w1_days": "when cases start, mean shift in days",
}


@takes_log_options
def measure(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="The log as it was.", show_default=False)],
    anonymized: Annotated[Path, typer.Argument(metavar="ANONYMIZED", help="The log to judge; may be empty.", show_default=False)],
    options: ReadKeywords,
    *,
    risk: Annotated[bool, typer.Option("--risk", help="Also what an attacker gets from the anonymized log.")] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="With --risk: attack the mechanism that this certificate names, on halves of the original.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare a log with its original: frequencies, variants, lengths, durations, arrivals.

    All flags apply to both logs, but --description to the original alone. Where the anonymized one lacks a column that is named,
    that role is found there by itself.
    """
    from libra import api

    options["progress"] = Stages(quiet=quiet)
    utility = api.measure(original, anonymized, risk=risk, certificate=certificate, **options)
    if as_json:
        print_json(utility.to_dict() | {"notes": list(utility.notes)})
    else:
        show_utility(original, anonymized, utility)
    print_notes(utility.notes, quiet=quiet)


def show_utility(original: Path, anonymized: Path, utility: Utility) -> None:
    """One line a figure: what it is, its value, and what an empty log would score."""
    figures = utility.to_dict()
    empty = figures["empty"]
    rows = [(name, figure(figures[name]), figure(empty[name]) if name in empty else "", text) for name, text in MEANINGS.items()]
    title = f"{anonymized.name} against {original.name}: 0 is equal, lower is closer"
    table(title, ("figure", "value", "empty log", "meaning"), rows, right=(1, 2))
    if utility.risk is not None:
        show_release_risk(anonymized, utility.risk)
