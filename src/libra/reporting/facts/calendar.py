"""When things happen: cases by their start, events by hour of the week, and events by the time since their case began."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

import numpy as np

from libra.eventlog.cases import to_local
from libra.eventlog.log import HOUR, EventLog
from libra.measures.distances import Integers
from libra.reporting.facts.histograms import Ticks, bins_for, counted
from libra.reporting.facts.pair import SECOND, Pair, moment, shares

Grid = tuple[tuple[float, ...], ...]
DAY = 24 * HOUR
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
EVERY = ("day", "week", *MONTHS)
MOST_POINTS = 120
TO_YEAR_0 = 1970 * 12  # months, so that decades begin with round years
THURSDAY = 3  # 1970 began with one; weeks begin on Mondays
RARE = 0.001  # of the cases at either end, which may lie outside where they would make all else small
FEWEST = 10  # cases of a group of the dotted chart, unless there are fewer in all, so that no dot is a case
MOST_PIECES = 4  # of a bin


@dataclass(frozen=True)
class Series:
    """Cases by when they start; None for the original in public mode."""

    starts: tuple[datetime, ...]  # when each stretch of the calendar begins, in UTC
    every: str  # how long a stretch is: "day", "week", "month", "quarter", "year" or "decade"
    original: tuple[int, ...] | None
    anonymized: tuple[int, ...]
    outside_original: int | None  # cases before the first stretch or after the last: single ones, far from all others
    outside_anonymized: int


@dataclass(frozen=True)
class HourOfWeek:
    """Shares of events by weekday (Monday first) and hour; None for the original in public mode. `most` is the largest share."""

    original: Grid | None
    anonymized: Grid
    most: float
    time_zone: str | None


@dataclass(frozen=True)
class Dots:
    """Events per case by time since the case began (across) and by when it began (down); each case's first moment aside.

    Over the calendar every log is a diagonal. This way waiting times are columns, and from top to bottom one sees whether the
    process changes.
    """

    original: Grid | None  # one row for each group of equally many cases; None in public mode
    anonymized: Grid  # all 0 where it has no case
    most: float  # the largest value of both
    x_bounds: tuple[float, ...]  # where columns begin and the last one ends, in seconds
    x_ticks: Ticks  # where to mark the axis, counted in columns, and with what
    y_ticks: Ticks  # the same in rows


def arrivals(pair: Pair) -> Series:
    """Count the cases that start in each stretch; the finest that gives no more than some hundred points."""
    starts = [log.case_spans[0] for log in pair.logs]
    every, first, last = _stretches([one for one in starts if len(one)])
    places = [_number(one, every) - first for one in starts]
    within = [one[(one >= 0) & (one <= last - first)] for one in places]
    counts = [tuple(np.bincount(one, minlength=last - first + 1).tolist()) for one in within]
    outside = [len(one) - len(kept) for one, kept in zip(places, within, strict=True)]
    begins = tuple(_begin(number, every) for number in range(first, last + 1))
    return Series(begins, every, *pair.sides(counts), *pair.sides(outside))


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
    most = max(value for grid in grids for row in grid for value in row)
    return Dots(*pair.sides(grids), most, bounds, ticks, ((0.0, "first cases"), (float(rows), "last cases")))


def _stretches(starts: list[Integers]) -> tuple[str, int, int]:
    """How long stretches are, and the numbers of the first and the last; none where no log has a case."""
    if not starts:
        return "day", 0, -1

    def points(of: Integers, every: str) -> int:
        return int(np.diff(_number(of, every))[0]) + 1

    lows = [int(np.quantile(one, RARE, method="lower")) for one in starts]
    highs = [int(np.quantile(one, 1 - RARE, method="higher")) for one in starts]
    common = np.array([min(lows), max(highs)])
    whole = np.array([min(int(one.min()) for one in starts), max(int(one.max()) for one in starts)])
    every = next((every for every in EVERY if points(common, every) <= MOST_POINTS), EVERY[-1])
    first, last = _number(whole if points(whole, every) <= MOST_POINTS else common, every)
    return every, int(first), int(last)


def _number(micros: Integers, every: str) -> Integers:
    """Numbers that count up from stretch to stretch."""
    if every in MONTHS:
        months = micros.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
        return (months + TO_YEAR_0) // MONTHS[every]
    days = micros // DAY
    return days if every == "day" else (days + THURSDAY) // 7


def _begin(number: int, every: str) -> datetime:
    if every in MONTHS:
        month = np.datetime64(number * MONTHS[every] - TO_YEAR_0, "M")
        return moment(int(month.astype("datetime64[us]").astype(np.int64)))
    return moment(DAY * (number if every == "day" else 7 * number - THURSDAY))


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
    grid = cells.reshape(rows, columns)
    in_group = np.bincount(row, minlength=rows)
    grid[:, 0] -= in_group  # each case has its first moment in the first column
    return tuple(map(tuple, (grid / in_group[:, None]).tolist()))
