"""Times relative to each other: from cases to starts and gaps, and from starts and gaps to cases whose events are in order.

In: cases. Out: for a first event its distance from the first start of all, for every other its distance from the event before, in
microseconds; noise goes on these. Back again, times are whole milliseconds, an event comes a millisecond after the one before at
least (unless `signed` lets gaps be negative), and at either end of the years that a log may have each leaves room for the others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Cases, Integers
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR

MILLISECOND = 1000  # microseconds
EARLIEST = np.datetime64(f"{FIRST_YEAR}-01-01", "ms").astype(np.int64)
LATEST = np.datetime64(f"{LAST_YEAR + 1}-01-01", "ms").astype(np.int64) - 1


def relative_times(cases: Cases) -> Integers:
    """The start of each case and the gaps between its events, in microseconds; there has to be a case.

    Example:
        >>> cases = Cases(*map(np.array, ([0, 1, 2], [70, 90, 50], [0, 2, 3], [0, 1])), n_activities=3)
        >>> relative_times(cases).tolist()
        [20, 20, 0]
    """
    first = cases.offsets[:-1]
    relative = np.diff(cases.micros, prepend=0)
    relative[first] = cases.micros[first] - cases.micros.min()
    return relative


def at_relative_times(cases: Cases, relative: npt.NDArray[np.float64], origin: int, *, signed: bool = False) -> Cases:
    """The cases with these starts, counted from an origin, and these gaps.

    Example:
        >>> cases = Cases(*map(np.array, ([0, 1, 2], [0, 0, 0], [0, 2, 3], [0, 1])), n_activities=3)
        >>> at_relative_times(cases, np.array([5000.0, -7.0, 0.0]), origin=10_000).micros.tolist()
        [15000, 16000, 10000]
    """
    first = cases.offsets[:-1]
    if not signed:
        least = np.full(len(relative), float(MILLISECOND))
        least[first] = -np.inf
        relative = np.maximum(relative, least)
    span = LATEST - EARLIEST
    millis = np.clip(np.rint(relative / MILLISECOND), -span, span).astype(np.int64)
    total = np.cumsum(millis)
    of_case = total - np.repeat(total[first] - millis[first], cases.lengths)
    before = np.arange(len(total)) - np.repeat(first, cases.lengths)
    after = np.repeat(cases.lengths - 1, cases.lengths) - before
    since_1970 = np.clip(of_case + origin // MILLISECOND, EARLIEST + before, LATEST - after)
    return replace(cases, micros=since_1970 * MILLISECOND)
