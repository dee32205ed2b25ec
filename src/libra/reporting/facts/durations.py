"""How long cases and steps take, in both logs, on the bins of `duration_bins`.

In: two logs. Out: a histogram of cases, and one for each of the heaviest edges, these all on the same bins. A step's duration may
be negative where a file's order contradicts its clock; it then counts as none in a bin, and as what it is in mean and median.
"""

from __future__ import annotations

from dataclasses import dataclass

from libra.measures.distances import Integers
from libra.reporting.facts.duration_bins import SECOND, Bins, bins_for, counted
from libra.reporting.facts.edges import edges_of
from libra.reporting.facts.histogram import Histogram, mean_of, median_of, shares
from libra.reporting.facts.pair import Pair


@dataclass(frozen=True)
class EdgeHistogram:
    """How long one edge takes; its counts are those of the two logs, None for the original in public mode."""

    source: str
    target: str
    count_original: int | None
    count_anonymized: int
    histogram: Histogram


def case_durations(pair: Pair) -> Histogram:
    """How long cases take, from their earliest to their latest event.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = case_durations(Pair(None, simulate(cases=50)))
        >>> found.unit, len(found.labels) == len(found.anonymized) == len(found.bounds) - 1
        ('seconds', True)
    """
    taken = [log.case_spans[1] - log.case_spans[0] for log in pair.logs]
    return _histogram(taken, bins_for(*map(counted, taken)), pair)


def step_durations(pair: Pair, most: int = 12) -> tuple[EdgeHistogram, ...]:
    """How long the steps of the heaviest edges take.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = step_durations(Pair(None, simulate(cases=50)), most=2)
        >>> len(found), found[0].count_anonymized >= found[1].count_anonymized
        (2, True)
    """
    edges = edges_of(pair)
    uses = (edges.use.anonymized,) if pair.is_public else (edges.use.original, edges.use.anonymized)
    shown = [place for place in edges.heaviest[:most].tolist() if edges.leading[place]]
    taken = [[use.step_micros[use.step_edge == place] for use in uses] for place in shown]
    bins = bins_for(*(counted(one) for both in taken for one in both))
    return tuple(
        EdgeHistogram(source, target, *edges.counts(place), _histogram(both, bins, pair))
        for place, both in zip(shown, taken, strict=True)
        for source, target in [edges.names[place]]
    )


def _histogram(taken: list[Integers], bins: Bins, pair: Pair) -> Histogram:
    """Durations of the original, if it is shown, and of the anonymized log."""
    parts = [shares(bins.merged(counted(one))) for one in taken]
    medians, means = ([_seconds(middle(one)) for one in taken] for middle in (median_of, mean_of))
    return Histogram(
        bounds=bins.bounds,
        labels=bins.labels,
        original=None if pair.is_public else parts[0],
        anonymized=parts[-1],
        ticks=bins.ticks,
        unit="seconds",
        median_original=None if pair.is_public else medians[0],
        median_anonymized=medians[-1],
        mean_original=None if pair.is_public else means[0],
        mean_anonymized=means[-1],
    )


def _seconds(micros: float | None) -> float | None:
    return None if micros is None else micros / SECOND
