"""Trace lengths, case durations and step durations of both logs, as histograms on the same bins.

Durations use one fixed set of bins, so that charts compare. A negative duration (the order of a file contradicts its clock)
counts as none in a bin, and as what it is in mean and median.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from libra.measures.distances import Integers
from libra.reporting.facts.pair import SECOND, Pair, shares
from libra.reporting.facts.tables import edges_of
from libra.reporting.numbers import count, number

Ticks = tuple[tuple[float, str], ...]
MOST_BINS = 40  # of lengths; what is longer than nearly all others shares the last one
NEARLY_ALL = 0.995  # of the cases of each log
MOST_TICKS, FEW_TICKS = 8, 6  # of lengths, and of durations that are all within one unit of time
STEPS = (  # seconds of a unit, its name, and how many of it begin a bin
    (1, "s", (1, 2, 4, 8, 15, 30)),
    (60, "min", (1, 2, 4, 8, 15, 30)),
    (3600, "h", (1, 2, 4, 8, 16)),
    (86_400, "day", (1, 2, 4)),
    (604_800, "week", (1, 2)),
    (2_629_800, "month", (1, 2, 3, 6)),
    (31_557_600, "year", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
SHORT = ("s", "min", "h")  # units without a plural
BOUNDS = (0.0, 0.0, *(float(unit * times) for unit, _, several in STEPS for times in several))  # seconds
WORDS = ("0", "0", *(f"{n:,} {unit if n == 1 or unit in SHORT else unit + 's'}" for _, unit, several in STEPS for n in several))
UNIT_OF = ("", "", *(unit for _, unit, several in STEPS for _ in several))
UNITS = tuple(place for place, word in enumerate(WORDS) if word.startswith("1 "))
N_BINS = len(BOUNDS) - 1
NEGLIGIBLE = 0.005  # of the durations of a log
_BEGIN = np.array([1, *(int(SECOND * bound) for bound in BOUNDS[2:-1])], np.int64)  # of all bins but the first, in microseconds


@dataclass(frozen=True)
class Histogram:
    """How something is distributed; for the original everything is None in public mode, for an empty log mean and median are."""

    bounds: tuple[float, ...]  # bin i goes from bounds[i] up to, not including, bounds[i + 1]; in events or seconds
    labels: tuple[str, ...]  # what each bin holds, in words
    ticks: Ticks  # where to mark the axis, counted in bins from the left, and with what
    original: tuple[float, ...] | None  # the share of each bin; all 0 where there is nothing to count
    anonymized: tuple[float, ...]
    median_original: float | None
    median_anonymized: float | None
    mean_original: float | None
    mean_anonymized: float | None


@dataclass(frozen=True)
class EdgeHistogram:
    """How long one edge takes; its counts are those of the two logs, None for the original in public mode."""

    source: str
    target: str
    count_original: int | None
    count_anonymized: int
    histogram: Histogram


@dataclass(frozen=True)
class Bins:
    """Bins of durations to show: bin i goes from the bound in place `places[i]` to the one in place `places[i + 1]`."""

    places: tuple[int, ...]

    @property
    def bounds(self) -> tuple[float, ...]:
        """In seconds; the bin of no time at all goes from 0 to 0."""
        return tuple(BOUNDS[place] for place in self.places)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each bin holds."""
        return tuple(_label(low, high) for low, high in pairwise(self.places))

    @property
    def ticks(self) -> Ticks:
        """Nothing, and the units of time that begin within: where, counted in bins, and their names."""
        zero = ((0.5, "0"),) if self.places[0] == 0 else ()
        return (*zero, *((float(column), WORDS[place]) for column, place in enumerate(self.places) if place in UNITS))

    def merged(self, counts: Integers) -> Integers:
        """What `counted` gave, on these bins."""
        return np.add.reduceat(counts[: self.places[-1]], self.places[:-1])


def trace_lengths(pair: Pair) -> Histogram:
    """How many events cases have."""
    lengths = [np.diff(log.case_offsets) for log in pair.logs]
    bounds = _bounds([one for one in lengths if len(one)])
    labels = tuple(count(low) if high - low == 1 else f"{count(low)} to {count(high - 1)}" for low, high in pairwise(bounds))
    middle = 0.5 if bounds[1] - bounds[0] == 1 else 0.0  # a bin of one length is marked in its middle, others where they begin
    every = -(-len(labels) // MOST_TICKS)
    ticks = tuple((place + middle, count(bounds[place])) for place in range(0, len(labels), every))
    counts = [np.histogram(one, bounds)[0] for one in lengths]
    return _histogram(pair, lengths, counts, tuple(map(float, bounds)), labels, ticks)


def case_durations(pair: Pair) -> Histogram:
    """How long cases take, from their earliest to their latest event."""
    taken = [log.case_spans[1] - log.case_spans[0] for log in pair.logs]
    return _durations(pair, taken, bins_for(*map(counted, taken)))


def step_durations(pair: Pair, most: int = 12) -> tuple[EdgeHistogram, ...]:
    """How long the steps of the heaviest edges take, all on the same bins."""
    edges = edges_of(pair)
    uses = (edges.use.original, edges.use.anonymized)[-len(pair.logs) :]
    shown = [place for place in edges.heaviest[:most].tolist() if edges.leading[place]]
    taken = [[use.step_micros[use.step_edge == place] for use in uses] for place in shown]
    bins = bins_for(*(counted(one) for both in taken for one in both))
    return tuple(
        EdgeHistogram(source, target, *edges.counts(place), _durations(pair, both, bins))
        for place, both in zip(shown, taken, strict=True)
        for source, target in [edges.names[place]]
    )


def counted(micros: Integers) -> Integers:
    """How many durations are in each of all bins.

    Example:
        >>> counted(np.array([-5, 0, 1, 999_999, 1_000_000, 60_000_000]))[:9].tolist()
        [2, 2, 1, 0, 0, 0, 0, 0, 1]
    """
    return np.bincount(np.searchsorted(_BEGIN, micros, side="right"), minlength=N_BINS)


def bins_for(*counts: Integers) -> Bins:
    """The bins that show all of these counts; short durations that next to nobody has are put together into one."""
    used = np.flatnonzero(sum(counts, np.zeros(N_BINS, np.int64)))
    if not len(used):
        return Bins((0, 1))
    first, last = int(used[0]), int(used[-1]) + 1
    below = np.max([np.cumsum(one[1:last]) / max(int(one.sum()), 1) for one in counts], axis=0)  # short ones, none aside
    telling = 1 + int(np.searchsorted(below, NEGLIGIBLE, side="right"))
    unit = max((place for place in UNITS if place <= min(telling, last)), default=1)
    if first >= unit:
        return Bins(tuple(range(first, last + 1)))
    return Bins(tuple(sorted({min(first, 1), 1, *range(unit, last + 1)})))


def _durations(pair: Pair, taken: Sequence[Integers], bins: Bins) -> Histogram:
    every = -(-len(bins.bounds) // FEW_TICKS)
    ticks = bins.ticks or tuple((float(at), number(bins.bounds[at])) for at in range(0, len(bins.bounds), every))
    counts = [bins.merged(counted(one)) for one in taken]
    return _histogram(pair, taken, counts, bins.bounds, bins.labels, ticks, SECOND)


def _histogram(
    pair: Pair,
    values: Sequence[Integers],
    counts: Sequence[Integers],
    bounds: tuple[float, ...],
    labels: tuple[str, ...],
    ticks: Ticks,
    unit: int = 1,
) -> Histogram:
    medians = [float(np.median(one)) / unit if len(one) else None for one in values]
    means = [float(one.mean()) / unit if len(one) else None for one in values]
    return Histogram(
        bounds, labels, ticks, *pair.sides([shares(one) for one in counts]), *pair.sides(medians), *pair.sides(means)
    )


def _bounds(lengths: list[Integers]) -> list[int]:
    """Where bins of lengths begin and the last one ends; one empty bin where no log has a case."""
    if not lengths:
        return [0, 1]
    shortest, longest = min(int(one.min()) for one in lengths), max(int(one.max()) for one in lengths)
    if longest - shortest < MOST_BINS:
        return list(range(shortest, longest + 2))
    common = max(int(np.quantile(one, NEARLY_ALL, method="higher")) for one in lengths)
    least = (common + 1 - shortest) / (MOST_BINS - 1)
    width = next(step * 10**power for power in range(20) for step in (1, 2, 5) if step * 10**power >= least)
    bounds = [shortest, *range(shortest - shortest % width + width, common + 1, width)]
    end = bounds[-1] - bounds[-1] % width + width
    return [*bounds, end, longest + 1] if longest >= end else [*bounds, end]


def _label(low: int, high: int) -> str:
    if low < 2:
        return "0 or less" if low == 0 else f"below {WORDS[high]}"
    begin = WORDS[low].partition(" ")[0] if UNIT_OF[low] == UNIT_OF[high] else WORDS[low]
    return f"{begin} to {WORDS[high]}"
