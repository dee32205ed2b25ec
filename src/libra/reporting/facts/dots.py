"""The dotted chart as a grid: how far along their cases are when events happen, over cases in the order of their start.

In: two logs. Out: `Dots`, the mean number of events of a case in each cell. Across is the time since the case began, on the bins
of `duration_bins`, cut finer; down are groups of equally many cases, those that begin first on top. Time since the beginning
tells more than the calendar here: over the calendar every log is a diagonal, and when cases arrive is shown elsewhere; this way
one sees waiting times as columns, and from top to bottom whether the process changes. A group has ten cases at least,
unless there are fewer in all, so no dot is a case.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from libra.eventlog.log import EventLog
from libra.measures.distances import Integers
from libra.reporting.facts.duration_bins import SECOND, Bins, bins_for, counted
from libra.reporting.facts.pair import Pair

FEWEST = 10  # cases of a group
MOST_PIECES = 4  # of a bin
Grid = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Dots:
    """Events per case by time since the case began (across) and by when it began (down); each case's first moment aside.

    Attributes:
        original: One row for each group of cases; None in public mode.
        anonymized: The same of the anonymized log; all 0 where it has no case.
        most: The largest value of both.
        x_bounds: Where columns begin and the last one ends, in seconds.
        x_ticks: Where to mark the axis, counted in columns, and with what.
        y_ticks: The same in rows.
        x_name: What is across.
        y_name: What is down.
    """

    original: Grid | None
    anonymized: Grid
    most: float
    x_bounds: tuple[float, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_name: str = "time since the case began"
    y_name: str = "cases by their start"


def dotted(pair: Pair, rows: int = 30, columns: int = 60) -> Dots:
    """Count events on the grid; at most so many rows and columns.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = dotted(Pair(None, simulate(cases=50)))
        >>> len(found.anonymized), len(found.x_bounds) - 1 == len(found.anonymized[0])
        (5, True)
    """
    since = [_since_start(log) for log in pair.logs]
    bins = bins_for(*map(counted, since))
    bounds, ticks = _columns(bins, columns)
    fewest = min((log.n_cases for log in pair.logs if log.n_cases), default=0)
    rows = max(min(rows, fewest // FEWEST), 1)
    grids = [_grid(log, one, rows, bounds) for log, one in zip(pair.logs, since, strict=True)]
    most = max(value for grid in grids for row in grid for value in row)
    y_ticks = ((0.0, "first cases"), (float(rows), "last cases"))
    return Dots(None if pair.is_public else grids[0], grids[-1], most, bounds, ticks, y_ticks)


def _since_start(log: EventLog) -> Integers:
    """For every event the microseconds since its case began."""
    if not log.n_cases:
        return np.zeros(0, np.int64)
    return log.timestamps - np.repeat(log.case_spans[0], np.diff(log.case_offsets))


def _columns(bins: Bins, columns: int) -> tuple[tuple[float, ...], tuple[tuple[float, str], ...]]:
    """The bins in equal pieces on a logarithmic scale, as far as there is room; and where the units of time are among them."""
    places = list(pairwise(bins.bounds))
    pieces = max(min(columns // len(places), MOST_PIECES), 1)
    cut = [[low] if low == 0 else [low * (high / low) ** (piece / pieces) for piece in range(pieces)] for low, high in places]
    begin = [0, *accumulate(map(len, cut))]
    ticks = tuple((begin[int(place)] + place % 1, label) for place, label in bins.ticks)
    return (*(bound for several in cut for bound in several), bins.bounds[-1]), ticks


def _grid(log: EventLog, since: Integers, rows: int, bounds: tuple[float, ...]) -> Grid:
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
    per_case = grid / in_group[:, None]
    return tuple(map(tuple, per_case.tolist()))
