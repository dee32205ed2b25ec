"""Trace lengths, case durations and step durations of both logs, as histograms on the same bins.

Durations use one fixed set of bins. A negative duration (the order of a file contradicts its clock) counts as none in a bin, and
as what it is in mean and median.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from libra.measures.distances import Integers
from libra.reporting.facts.pair import SECOND, Pair, mean_of, median_of, shares
from libra.reporting.facts.tables import edges_of
from libra.reporting.numbers import count, number


@dataclass(frozen=True)
class Histogram:
    """How something is distributed in the original and in the anonymized log."""

    # where bins begin, and where the last one ends: bin i goes from `bounds[i]` up to, not including, `bounds[i + 1]`
    bounds: tuple[float, ...]
    labels: tuple[str, ...]  # what each bin holds, in words
    original: tuple[float, ...] | None  # the share of each bin; None in public mode. All 0 where there is nothing to count
    anonymized: tuple[float, ...]  # the same of the anonymized log
    ticks: tuple[tuple[float, str], ...]  # where to mark the axis, counted in bins from the left, and with what
    unit: str  # what the bounds are in: "events" or "seconds"
    median_original: float | None  # the median; None in public mode and where there is nothing to count
    median_anonymized: float | None  # the same of the anonymized log
    mean_original: float | None  # the mean, likewise
    mean_anonymized: float | None  # the same of the anonymized log


LABELS = 6  # where no unit of time begins within
MOST_BINS = 40
NEARLY_ALL = 0.995  # of the cases of each log
TICKS = 8


def trace_lengths(pair: Pair) -> Histogram:
    """How many events cases have."""
    lengths = [np.diff(log.case_offsets) for log in pair.logs]
    bounds = _bounds([one for one in lengths if len(one)])
    counted = [shares(np.histogram(one, bounds)[0]) for one in lengths]
    labels = tuple(count(low) if high - low == 1 else f"{count(low)} to {count(high - 1)}" for low, high in pairwise(bounds))
    every = -(-len(labels) // TICKS)
    middle = 0.5 if bounds[1] - bounds[0] == 1 else 0.0  # a bin of one length is marked in its middle, others where they begin
    ticks = tuple((place + middle, count(bounds[place])) for place in range(0, len(labels), every))
    original = None if pair.is_public else lengths[0]
    return Histogram(
        bounds=tuple(map(float, bounds)),
        labels=labels,
        original=None if original is None else counted[0],
        anonymized=counted[-1],
        ticks=ticks,
        unit="events",
        median_original=None if original is None else median_of(original),
        median_anonymized=median_of(lengths[-1]),
        mean_original=None if original is None else mean_of(original),
        mean_anonymized=mean_of(lengths[-1]),
    )


def _bounds(lengths: list[Integers]) -> list[int]:
    """Where bins begin and the last one ends; one empty bin where no log has a case."""
    if not lengths:
        return [0, 1]
    shortest, longest = min(int(one.min()) for one in lengths), max(int(one.max()) for one in lengths)
    if longest - shortest < MOST_BINS:
        return list(range(shortest, longest + 2))
    common = max(int(np.quantile(one, NEARLY_ALL, method="higher")) for one in lengths)
    width = _round_up((common + 1 - shortest) / (MOST_BINS - 1))
    bounds = [shortest, *range(shortest - shortest % width + width, common + 1, width)]
    end = bounds[-1] - bounds[-1] % width + width
    return [*bounds, end, longest + 1] if longest >= end else [*bounds, end]


def _round_up(width: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while 5 * power < width:
        power *= 10
    return next(step for step in (power, 2 * power, 5 * power) if step >= width)


MINUTE, HOUR, DAY, WEEK, MONTH, YEAR = 60, 3600, 86_400, 604_800, 2_629_800, 31_557_600  # seconds
STEPS = (
    (1, "s", (1, 2, 4, 8, 15, 30)),
    (MINUTE, "min", (1, 2, 4, 8, 15, 30)),
    (HOUR, "h", (1, 2, 4, 8, 16)),
    (DAY, "day", (1, 2, 4)),
    (WEEK, "week", (1, 2)),
    (MONTH, "month", (1, 2, 3, 6)),
    (YEAR, "year", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
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
class Bins:
    """The bins to show: bin i goes from the bound in place `places[i]` to the one in place `places[i + 1]`."""

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
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Nothing, and the units of time that begin within: where, counted in bins, and their names."""
        zero = ((0.5, "0"),) if self.places[0] == 0 else ()
        return (*zero, *((float(column), WORDS[place]) for column, place in enumerate(self.places) if place in UNITS))

    def merged(self, counts: Integers) -> Integers:
        """What `counted` gave, on these bins."""
        return np.add.reduceat(counts[: self.places[-1]], self.places[:-1])


def counted(micros: Integers) -> Integers:
    """How many durations are in each of all bins.

    Example:
        >>> counted(np.array([-5, 0, 1, 999_999, 1_000_000, 60_000_000]))[:9].tolist()
        [2, 2, 1, 0, 0, 0, 0, 0, 1]
    """
    return np.bincount(np.searchsorted(_BEGIN, micros, side="right"), minlength=N_BINS)


def bins_for(*counts: Integers) -> Bins:
    """The bins that show all of these counts; one at least."""
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


def _label(low: int, high: int) -> str:
    if low < 2:
        return "0 or less" if low == 0 else f"below {WORDS[high]}"
    begin = WORDS[low].partition(" ")[0] if UNIT_OF[low] == UNIT_OF[high] else WORDS[low]
    return f"{begin} to {WORDS[high]}"


@dataclass(frozen=True)
class EdgeHistogram:
    """How long one edge takes; its counts are those of the two logs, None for the original in public mode."""

    source: str
    target: str
    count_original: int | None
    count_anonymized: int
    histogram: Histogram


def case_durations(pair: Pair) -> Histogram:
    """How long cases take, from their earliest to their latest event."""
    taken = [log.case_spans[1] - log.case_spans[0] for log in pair.logs]
    return _histogram(taken, bins_for(*map(counted, taken)), pair)


def step_durations(pair: Pair, most: int = 12) -> tuple[EdgeHistogram, ...]:
    """How long the steps of the heaviest edges take."""
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
        ticks=bins.ticks
        or tuple(
            (float(place), number(bins.bounds[place])) for place in range(0, len(bins.bounds), -(-len(bins.bounds) // LABELS))
        ),
        unit="seconds",
        median_original=None if pair.is_public else medians[0],
        median_anonymized=medians[-1],
        mean_original=None if pair.is_public else means[0],
        mean_anonymized=means[-1],
    )


def _seconds(micros: float | None) -> float | None:
    return None if micros is None else micros / SECOND
