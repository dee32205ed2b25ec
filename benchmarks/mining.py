"""What process mining finds in a release, beside what it finds in a fresh sample of the original.

For each public log, a few releases at epsilon 1 and delta 1e-4, with a seed each; the figures are means over them. Beside each
stands a fresh sample: as many cases as the original, drawn from it with replacement. The columns are

- the figures of `libra measure` on what ties a case together, and on where time goes; for figures that have a value for each log,
  that of the copy, which is to be read beside that of the original;
- `top ten`: how many of the ten edges that take most time in the original are among those of the copy;
- `mean durations`: Spearman's rank correlation of the mean durations of edges, for edges that the copy has and that have 20
  steps or more in the original;
- `next activity`: what follows most often after the last two activities, or whether the case ends; learnt from the copy of one
  half of the original's cases and tried on the other half. Right answers, as a share of those of the half that was copied;
- `remaining time`: the median remaining time after the last activity, by its place in the case (1, 2, 3-4, 5-8 and so on), learnt
  and tried likewise. The mean absolute error, divided by that of the half that was copied: 1 is as good, higher is worse.

After what was never seen, a model says what it learnt of the last activity alone, or of all. Use public logs: nothing here is
private.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from statistics import fmean

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

import libra
from benchmarks.measured import logs, tell
from libra import example
from libra.eventlog.cases import cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX
from libra.measures import measure
from libra.measures.edges import PairedEdges, pair_edges
from libra.mechanisms.fresh_log import log_of
from libra.reporting.facts.yardsticks import sample_of

NAMES = ("urineweginfectie", "sepsis", "bpic13", "bpic20", "bpic12", "hospital", "bpic14f", "roadtraffic")
SEEDS = range(3)
EPSILON, DELTA = 1.0, 1e-4
MOST, FEWEST_STEPS = 10, 20
OF_COPY = (
    *("edge_time_share_l1", "edge_duration_p90_log", "path_duration_eta2.anonymized", "cooccurrence_slope"),
    "pair_duration_correlation.anonymized",
)
HEADINGS = (
    *("time share", "p90 log", "path eta2", "cooccurrence", "pair correlation", "top ten", "mean durations"),
    *("next activity", "remaining time"),
)
END = ""  # after the last activity of a case
HOUR = 3_600_000_000
Figures = Sequence[float | None]


def main() -> None:
    """Print the table."""
    table = Table("log", "", title=f"what process mining finds (mean of {len(SEEDS)} releases)")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for path in dict.fromkeys((example.path(), *logs(*NAMES))):
        name, log = path.name.partition(".")[0], libra.read(path)
        drawn = np.random.Generator(np.random.PCG64(0)).permutation(log.n_cases)
        learnt, tried = (of_rows(log, np.sort(rows)) for rows in np.split(drawn, [log.n_cases // 2]))
        copies: dict[str, Callable[[EventLog, int], EventLog]] = {
            "original": lambda some, _: some,
            "fresh sample": lambda some, seed: sample_of(some, some.n_cases, seed),
            "release": lambda some, seed: libra.anonymize(some, epsilon=EPSILON, delta=DELTA, seed=seed).log,
        }
        states = states_of(tried)
        least = answers(states, states_of(learnt))
        for what, copy in copies.items():
            found = [
                (*of_edges_and_cases(log, copy(log, seed)), *relative(answers(states, states_of(copy(learnt, seed))), least))
                for seed in (SEEDS[:1] if what == "original" else SEEDS)
            ]
            table.add_row(name if what == "original" else "", what, *map(cell, zip(*found, strict=True)))
        tell(f"{name}: measured")
    Console(width=170).print(table)


def of_rows(log: EventLog, rows: np.ndarray) -> EventLog:
    """Some cases of a log."""
    return log_of(cases_of(log).take(rows), log.activities, seeded=True)


def of_edges_and_cases(original: EventLog, copy: EventLog) -> Figures:
    """The figures of `libra measure`, and which edges take most time."""
    utility, edges = measure(original, copy), pair_edges(original, copy)
    return (*(attrgetter(name)(utility) for name in OF_COPY), top(edges), ranks(edges))


def top(edges: PairedEdges) -> float | None:
    """The share of the edges with most time in the original that are among those of the copy."""
    both = []
    for use in (edges.original, edges.anonymized):
        times = np.bincount(use.step_edge, use.step_micros.clip(min=0), minlength=len(use.counts))
        both.append({edge for edge in np.argsort(-times, kind="stable")[:MOST].tolist() if times[edge]})
    return len(both[0] & both[1]) / len(both[0]) if both[0] else None


def ranks(edges: PairedEdges) -> float | None:
    """The rank correlation of the mean durations of the edges that are frequent in the original and that the copy has, too."""
    compared = (edges.original.counts >= FEWEST_STEPS) & (edges.anonymized.counts > 0)
    means = [
        np.bincount(use.step_edge, use.step_micros, minlength=len(use.counts)) / np.maximum(use.counts, 1)
        for use in (edges.original, edges.anonymized)
    ]
    one, other = (of_edges[compared] for of_edges in means)
    return float(spearmanr(one, other).statistic) if min(len(set(one)), len(set(other))) > 1 else None


def states_of(log: EventLog) -> pl.DataFrame:
    """After each event: the last two activities, the place in the case, what comes next, and how many hours remain."""
    case = log.events[CASE_INDEX].to_numpy()
    place, latest = np.arange(log.n_events) - log.case_offsets[case], log.case_spans[1][case]
    return log.events.select(
        last=pl.col(ACTIVITY),
        before=pl.col(ACTIVITY).shift(1, fill_value=END).over(CASE_INDEX),
        next=pl.col(ACTIVITY).shift(-1, fill_value=END).over(CASE_INDEX),
        place=pl.Series(np.ceil(np.log2(place + 1)).astype(np.int64)),
        hours=pl.Series((latest - log.timestamps) / HOUR),
        any=pl.lit(0),
    )


def answers(tried: pl.DataFrame, learnt: pl.DataFrame) -> tuple[float, float]:
    """How often the next activity is right, and by how many hours the remaining time is off; a model of nothing says nothing."""
    following = predicted(tried, learnt, ("before", "last"), pl.col("next").mode().sort().first())
    remaining = predicted(tried, learnt, ("last", "place"), pl.col("hours").median())
    right = (following == tried["next"]).fill_null(value=False).mean()
    off = (remaining.fill_null(0.0) - tried["hours"]).abs().mean()
    return float(right), float(off)  # type: ignore[arg-type]


def predicted(tried: pl.DataFrame, learnt: pl.DataFrame, state: Sequence[str], of: pl.Expr) -> pl.Series:
    """What is learnt of a state; of its last activity, and then of any, where the state is new."""
    models = [(keys, learnt.group_by(keys).agg(of.alias("said"))) for keys in (state, ("last",), ("any",))]
    said = [tried.join(model, on=keys, how="left", maintain_order="left")["said"] for keys, model in models]
    return pl.select(pl.coalesce(said)).to_series()


def relative(found: tuple[float, float], least: tuple[float, float]) -> Figures:
    """Answers as a share of those of a model of the original."""
    return [one / other if other else None for one, other in zip(found, least, strict=True)]


def cell(values: Figures) -> str:
    """The mean of a figure; a dash if one of them is not defined."""
    known = [value for value in values if value is not None]
    return f"{fmean(known):.3f}" if len(known) == len(values) else "-"


if __name__ == "__main__":
    main()
