"""How both logs are distributed, on the same bins: trace lengths, durations, arrivals, hours of the week and dotted charts.

Durations use one fixed set of bins, so that charts compare. A negative duration (the order of a file contradicts its clock)
counts as none in a bin, and as what it is in mean and median. What is about the original is None in public mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

import numpy as np
import polars as pl

from libra.eventlog.cases import to_local
from libra.eventlog.log import HOUR, UTC_MICROSECONDS, EventLog
from libra.measures.distances import Integers
from libra.reporting.facts.pair import SECOND, Pair, shares
from libra.reporting.facts.tables import edges_of
from libra.reporting.numbers import count

Ticks = tuple[tuple[float, str], ...]
Axis = tuple[tuple[float, ...], tuple[str, ...], Ticks]
Grid = tuple[tuple[float, ...], ...]
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
EVERY = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y", "decade": "10y"}
MOST_POINTS = 120
THURSDAY = 3  # 1970 began with one; weeks begin on Mondays
RARE = 0.001  # of the cases at either end, which may lie outside where they would make all else small
FEWEST = 10  # cases of a group of the dotted chart, unless there are fewer in all, so that no dot is a case
MOST_PIECES = 4  # of a bin


@dataclass(frozen=True)
class Histogram:
    """How something is distributed; mean and median are None for an empty log too."""

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
        """Nothing, and the units of time that begin within, or else some bounds: where, counted in bins, and their names."""
        zero = ((0.5, "0"),) if self.places[0] == 0 else ()
        marks = [(float(column), WORDS[place]) for column, place in enumerate(self.places)]
        units = [mark for mark, place in zip(marks, self.places, strict=True) if place in UNITS]
        return (*zero, *units) or tuple(marks[:: -(-len(marks) // FEW_TICKS)])

    def merged(self, counts: Integers) -> Integers:
        """What `counted` gave, on these bins."""
        return np.add.reduceat(counts[: self.places[-1]], self.places[:-1])


def trace_lengths(pair: Pair) -> Histogram:
    """How many events cases have."""
    lengths = [np.diff(log.case_offsets) for log in pair.logs]
    bounds = _length_bounds([one for one in lengths if len(one)])
    labels = tuple(count(low) if high - low == 1 else f"{count(low)} to {count(high - 1)}" for low, high in pairwise(bounds))
    middle = 0.5 if bounds[1] - bounds[0] == 1 else 0.0  # a bin of one length is marked in its middle, others where they begin
    every = -(-len(labels) // MOST_TICKS)
    ticks = tuple((place + middle, count(bounds[place])) for place in range(0, len(labels), every))
    counts = [np.histogram(one, bounds)[0] for one in lengths]
    return _histogram(pair, lengths, counts, (tuple(map(float, bounds)), labels, ticks))


def case_durations(pair: Pair) -> Histogram:
    """How long cases take, from their earliest to their latest event."""
    taken = [log.case_spans[1] - log.case_spans[0] for log in pair.logs]
    return _durations(pair, taken, bins_for(*map(counted, taken)))


def step_durations(pair: Pair, most: int = 12) -> tuple[tuple[str, str, Histogram], ...]:
    """How long the steps of the heaviest edges take, all on the same bins: from which activity, to which, and the histogram."""
    edges = edges_of(pair)
    shown = [place for place in edges.heaviest[:most].tolist() if edges.leading[place]]
    taken = [[use.step_micros[use.step_edge == place] for use in edges.uses] for place in shown]
    bins = bins_for(*(counted(one) for both in taken for one in both))
    return tuple((*edges.paired.name(place), _durations(pair, both, bins)) for place, both in zip(shown, taken, strict=True))


def counted(micros: Integers) -> Integers:
    """How many durations are in each of all bins."""
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
    counts = [bins.merged(counted(one)) for one in taken]
    return _histogram(pair, taken, counts, (bins.bounds, bins.labels, bins.ticks), SECOND)


def _histogram(pair: Pair, values: Sequence[Integers], counts: Sequence[Integers], bins: Axis, unit: int = 1) -> Histogram:
    sides = [shares(one) for one in counts]
    medians = [float(np.median(one)) / unit if len(one) else None for one in values]
    means = [float(one.mean()) / unit if len(one) else None for one in values]
    return Histogram(*bins, *pair.sides(sides), *pair.sides(medians), *pair.sides(means))


def _length_bounds(lengths: list[Integers]) -> list[int]:
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


@dataclass(frozen=True)
class Series:
    """Cases by when they start."""

    starts: tuple[datetime, ...]  # when each stretch of the calendar begins, in UTC
    every: str  # how long a stretch is: "day", "week", "month", "quarter", "year" or "decade"
    original: tuple[int, ...] | None
    anonymized: tuple[int, ...]
    outside_original: int | None  # cases before the first stretch or after the last: single ones, far from all others
    outside_anonymized: int


def arrivals(pair: Pair) -> Series:
    """Count the cases that start in each stretch; the finest that gives no more than some hundred points."""
    starts = [log.case_spans[0] for log in pair.logs]
    every, begins = _stretches([one for one in starts if len(one)])
    bounds = np.append(begins.to_physical(), begins.tail(1).dt.offset_by(EVERY[every]).to_physical())
    places = [np.searchsorted(bounds, one, side="right") - 1 for one in starts]
    within = [one[(one >= 0) & (one < len(begins))] for one in places]
    counts = [tuple(np.bincount(one, minlength=len(begins)).tolist()) for one in within]
    outside = [len(one) - len(kept) for one, kept in zip(places, within, strict=True)]
    return Series(tuple(begins), every, *pair.sides(counts), *pair.sides(outside))


def _stretches(starts: list[Integers]) -> tuple[str, pl.Series]:
    """How long stretches are, and when each begins; none where no log has a case."""
    if not starts:
        return "day", pl.Series([], dtype=UTC_MICROSECONDS)

    def between(low: int, high: int, every: str) -> pl.Series:
        first, last = pl.Series([low, high]).cast(UTC_MICROSECONDS).dt.truncate(EVERY[every])
        return pl.datetime_range(first, last, EVERY[every], eager=True)

    whole = min(int(one.min()) for one in starts), max(int(one.max()) for one in starts)
    low = min(int(np.quantile(one, RARE, method="lower")) for one in starts)
    high = max(int(np.quantile(one, 1 - RARE, method="higher")) for one in starts)
    every = next((every for every in EVERY if len(between(low, high, every)) <= MOST_POINTS), "decade")
    begins = between(*whole, every)
    return every, begins if len(begins) <= MOST_POINTS else between(low, high, every)


@dataclass(frozen=True)
class HourOfWeek:
    """Shares of events by weekday (Monday first) and hour. `most` is the largest share."""

    original: Grid | None
    anonymized: Grid
    most: float
    time_zone: str | None


def hours_of_week(pair: Pair, time_zone: str | None = None) -> HourOfWeek:
    """Shares of the hours of a week: of this time zone if both logs know theirs, otherwise read off as they stand."""
    known = all(log.has_zone for log in pair.logs)
    zone = time_zone if known and time_zone is not None else "UTC"
    hours = [shares(week_counts(log, zone)) for log in pair.logs]
    weeks = [tuple(of[24 * day : 24 * day + 24] for day in range(7)) for of in hours]
    return HourOfWeek(*pair.sides(weeks), max(map(max, hours)), zone if known else None)


def week_counts(log: EventLog, time_zone: str = "UTC") -> Integers:
    """Events in each of the 168 hours of a week, which begins on Monday."""
    hours = (to_local(log.timestamps, time_zone) // HOUR + 24 * THURSDAY) % 168
    return np.bincount(hours, minlength=168).astype(np.int64)


@dataclass(frozen=True)
class Dots:
    """Events per case by time since the case began (across) and by when it began (down); each case's first moment aside.

    Over the calendar every log is a diagonal. This way waiting times are columns, and from top to bottom one sees whether the
    process changes.
    """

    original: Grid | None  # one row for each group of equally many cases
    anonymized: Grid  # all 0 where it has no case
    most: float  # the largest value of both
    bounds: tuple[float, ...]  # where columns begin and the last one ends, in seconds
    ticks: Ticks  # where to mark the axis, counted in columns, and with what


def dotted(pair: Pair, rows: int = 30, columns: int = 60) -> Dots:
    """Count events on the grid; at most so many rows and columns."""
    since = [log.timestamps - np.repeat(log.case_spans[0], np.diff(log.case_offsets)) for log in pair.logs]
    bins = bins_for(*map(counted, since))
    places = list(pairwise(bins.bounds))
    pieces = max(min(columns // len(places), MOST_PIECES), 1)  # of each bin, equal on a logarithmic scale
    cut = [[low] if low == 0 else [low * (high / low) ** (piece / pieces) for piece in range(pieces)] for low, high in places]
    begin = [0, *accumulate(map(len, cut))]
    ticks = tuple((begin[int(place)] + place % 1, label) for place, label in bins.ticks)
    bounds = (*(bound for several in cut for bound in several), bins.bounds[-1])
    fewest = min((log.n_cases for log in pair.logs if log.n_cases), default=0)
    rows = max(min(rows, fewest // FEWEST), 1)
    grids = [_grid(log, one, rows, bounds) for log, one in zip(pair.logs, since, strict=True)]
    return Dots(*pair.sides(grids), max(value for grid in grids for row in grid for value in row), bounds, ticks)


def _grid(log: EventLog, since: Integers, rows: int, bounds: tuple[float, ...]) -> Grid:
    """The mean number of events of a case in each cell."""
    columns = len(bounds) - 1
    if not log.n_cases:
        return ((0.0,) * columns,) * rows
    first = np.array([int(SECOND * bound) if bound else 1 for bound in bounds[1:-1]], np.int64)
    column = np.searchsorted(first, since, side="right")
    rank = np.empty(log.n_cases, np.int64)
    rank[np.argsort(log.case_spans[0], kind="stable")] = np.arange(log.n_cases)
    row = rank * rows // log.n_cases
    cells = np.bincount(np.repeat(row, np.diff(log.case_offsets)) * columns + column, minlength=rows * columns)
    grid, in_group = cells.reshape(rows, columns), np.bincount(row, minlength=rows)
    grid[:, 0] -= in_group  # each case has its first moment in the first column
    return tuple(map(tuple, (grid / in_group[:, None]).tolist()))
