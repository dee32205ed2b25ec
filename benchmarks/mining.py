"""What process mining finds in a release, beside what it finds in samples of the original: `make bench-mining`.

    python -m benchmarks.mining                               releases of libra
    python -m benchmarks.mining --all > table.md              all mechanisms, one seed each: docs/mining.md

For each public log, a few releases at epsilon 1 and delta 1e-4, with a seed each; the figures are means over them. Beside them
stand a fresh sample, as many cases as the original, drawn from it with replacement, and a half of the cases. The columns are

- the figures of `libra measure` on what ties a case together, and on where time goes; for figures that have a value for each log,
  that of the copy, which is to be read beside that of the original;
- `variants`: how many of the ten most frequent variants of the original are among those of the copy;
- `top ten`: how many of the ten edges that take most time in the original are among those of the copy;
- `mean durations`: Spearman's rank correlation of the mean durations of edges, for edges that the copy has and that have 20
  steps or more in the original;
- `next activity`: what follows most often after the last two activities, or whether the case ends; learnt from the copy of one
  half of the original's cases and tried on the other half. Right answers, as a share of those of the half that was copied;
- `remaining time`: the median remaining time after the last activity, by its place in the case (1, 2, 3-4, 5-8 and so on), learnt
  and tried likewise. The mean absolute error, divided by that of the half that was copied: 1 is as good, higher is worse.

After what was never seen, a model says what it learnt of the last activity alone, or of all. Use public logs: nothing here is
private. The table is Markdown and goes to stdout.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from statistics import fmean

import numpy as np
import polars as pl
from scipy.stats import spearmanr

import libra
from benchmarks.measured import logs, tell
from libra import example
from libra._system.randomness import Randomness
from libra.comparison.plan import asked, settings_of
from libra.eventlog.cases import cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX
from libra.eventlog.options import no_progress
from libra.measures import measure
from libra.measures.edges import PairedEdges, pair_edges
from libra.measures.utility import paired_variants
from libra.mechanisms.fresh_log import log_of
from libra.mechanisms.mechanism import Mechanism, mechanism
from libra.reporting.facts.yardsticks import sample_of

NAMES = ("urineweginfectie", "sepsis", "bpic13", "bpic20", "bpic12", "hospital", "bpic14f", "roadtraffic")
PEERS = "libra2022,travas:times=model,sacofa,prefix-laplace,pripel,amun"
SEEDS = range(3)
EPSILON, DELTA = 1.0, 1e-4
SECONDS = 60  # for a copy of a peer and all of its figures
MOST, FEWEST_STEPS = 10, 20
OF_COPY = (
    *("edge_time_share_l1", "edge_duration_p90_log", "path_duration_eta2.anonymized", "cooccurrence_slope"),
    "pair_duration_correlation.anonymized",
)
HEADINGS = (
    *("log", "", "time share", "p90 log", "path eta2", "cooccurrence", "pair correlation", "variants", "top ten"),
    *("mean durations", "next activity", "remaining time"),
)
END = ""  # after the last activity of a case
HOUR = 3_600_000_000
Figures = Sequence[float | None]
Copy = Callable[[EventLog, int], EventLog]


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mining", description="What process mining finds in releases.")
    parser.add_argument("--all", action="store_true", help="the other mechanisms as well")
    said = parser.parse_args(words)
    for cells in rows(PEERS if said.all else ""):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()


def rows(peers: str) -> Iterator[Sequence[str]]:
    """Heading, rule, and for each log a row for each copy."""
    yield HEADINGS
    yield ("---", "---") + ("---:",) * (len(HEADINGS) - 2)
    settings = settings_of(peers) if peers else ()
    for path in dict.fromkeys((example.path(), *logs(*NAMES))):
        name, log = path.name.partition(".")[0], libra.read(path)
        drawn = np.random.Generator(np.random.PCG64(0)).permutation(log.n_cases)
        learnt, tried = (of_rows(log, np.sort(half)) for half in np.split(drawn, [log.n_cases // 2]))
        least = answers(states_of(tried), states_of(learnt))

        def figures(copy: Copy, seed: int, halves: tuple[EventLog, EventLog] = (learnt, tried)) -> Figures:
            found = answers(states_of(halves[1]), states_of(copy(halves[0], seed)))
            return (*of_edges_and_cases(log, copy(log, seed)), *relative(found, least))  # noqa: B023  # used at once

        copies: dict[str, tuple[Copy, range]] = {
            "original": (lambda some, _: some, SEEDS[:1]),
            "fresh sample": (lambda some, seed: sample_of(some, some.n_cases, seed), SEEDS),
            "half": (half_of, SEEDS),
            "`libra`": (lambda some, seed: libra.anonymize(some, epsilon=EPSILON, delta=DELTA, seed=seed).log, SEEDS),
        }
        for what, (copy, seeds) in copies.items():
            yield name if what == "original" else "", what, *map(cell, zip(*(figures(copy, seed) for seed in seeds), strict=True))
        for setting in settings:
            copy = peer_copy(mechanism(setting.mechanism, asked(setting, EPSILON, DELTA)))
            yield "", f"`{setting.label}`", *peer_cells(partial(figures, copy, 0))
        tell(f"{name}: measured")


def peer_copy(made: Mechanism) -> Copy:
    """How a mechanism copies a log."""
    return lambda some, seed: made.anonymize(some, Randomness(seed), no_progress).log


def peer_cells(figures: Callable[[], Figures]) -> Sequence[str]:
    """The figures; dashes where a mechanism refuses, and where it takes too long."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        return [cell([value]) for value in figures()]
    except (libra.LibraError, TimeoutError, MemoryError) as error:
        tell(f"no figures: {type(error).__name__}")
        return ["-"] * (len(HEADINGS) - 2)
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError


def half_of(log: EventLog, seed: int) -> EventLog:
    """Half of the cases, drawn at random."""
    return of_rows(log, np.sort(np.random.Generator(np.random.PCG64(seed)).permutation(log.n_cases)[: log.n_cases // 2]))


def of_rows(log: EventLog, rows: np.ndarray) -> EventLog:
    """Some cases of a log."""
    return log_of(cases_of(log).take(rows), log.activities, seeded=True)


def of_edges_and_cases(original: EventLog, copy: EventLog) -> Figures:
    """The figures of `libra measure`, and which edges take most time."""
    utility, edges = measure(original, copy), pair_edges(original, copy)
    return (*(attrgetter(name)(utility) for name in OF_COPY), top_variants(original, copy), top(edges), ranks(edges))


def top_variants(original: EventLog, copy: EventLog) -> float | None:
    """The share of the most frequent variants of the original that are among those of the copy."""
    both = paired_variants(original, copy).sort("trace")
    ours, theirs = (both.filter(pl.col(log) > 0).sort(log, descending=True, maintain_order=True) for log in both.columns[1:])
    found = set(map(tuple, theirs["trace"].head(MOST).to_list()))
    first = [tuple(trace) for trace in ours["trace"].head(MOST).to_list()]
    return sum(trace in found for trace in first) / len(first) if first else None


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
