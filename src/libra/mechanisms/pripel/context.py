"""Which event of the original each released event takes after, and when it happens before noise.

In: traces, and the case that each is matched to. Out: for every event the one it takes after, -1 for none: the first "leave" of a
trace takes after the first "leave" of its case, the second after the second. It happens when that one did, unless this is before
the event that precedes it now; then, and where there is none to take after, a gap of the log for these two activities is drawn. A
trace that begins with an event of its own begins at the time of some event of the log.
"""

from __future__ import annotations

import numpy as np

from libra.eventlog.cases import Cases, Integers, Traces
from libra.mechanisms.pripel.gaps import Gaps
from libra.privacy.randomness import Randomness


def taken_after(traces: Traces, rows: Integers, cases: Cases) -> Integers:
    """For every event of the traces the event that it takes after, by its place among the events of the cases.

    Args:
        traces: What is released, a trace a case.
        rows: The case that each is matched to, no case twice; -1 for none.
        cases: The original.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> cases = Cases(*map(np.array, ([0, 1, 1], [10, 20, 30], [0, 3], [0])), n_activities=3)
        >>> taken_after(traces_of([[1, 0, 1, 1]]), np.array([0]), cases).tolist()
        [1, 0, 2, -1]
    """
    if not len(cases.codes):
        return np.full(len(traces.codes), -1)
    of_event = np.repeat(np.arange(len(cases)), cases.lengths) * cases.n_activities + cases.codes
    wanted = np.where(rows[traces.rows] < 0, -1, rows[traces.rows] * cases.n_activities + traces.codes)
    order = np.argsort(of_event, kind="stable")
    keys, begins, sizes = np.unique(of_event[order], return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    which = _occurrence(wanted)
    found = (keys[place] == wanted) & (which < sizes[place])
    return np.where(found, order[np.where(found, begins[place] + which, 0)], -1)


def _occurrence(keys: Integers) -> Integers:
    """How many equal keys there are before each."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=keys.min(initial=0) - 1))
    sizes = np.diff(np.append(begins, len(keys)))
    which = np.empty(len(keys), np.int64)
    which[order] = np.arange(len(keys)) - np.repeat(begins, sizes)
    return which


def own_times(traces: Traces, after: Integers, cases: Cases, gaps: Gaps, random: Randomness) -> Integers:
    """When every event of the traces happens, in microseconds since 1970; no event comes before the one before it.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> from libra.mechanisms.pripel.gaps import gaps_of
        >>> cases = Cases(*map(np.array, ([0, 1, 1], [10, 20, 30], [0, 3], [0])), n_activities=2)
        >>> own_times(traces_of([[0, 1, 1]]), np.array([0, 1, -1]), cases, gaps_of(cases), Randomness()).tolist()
        [10, 20, 30]
    """
    elsewhere = cases.micros[random.below(len(cases.micros), len(traces))]
    drawn = gaps.draw(traces, random)
    micros = np.where(after >= 0, cases.micros[after], -1)
    first = traces.offsets[:-1]
    micros[first] = np.where(after[first] >= 0, micros[first], elsewhere)
    for events in by_position(traces)[1:]:
        before = micros[events - 1]
        in_order = (after[events] >= 0) & (micros[events] >= before)
        micros[events] = np.where(in_order, micros[events], before + drawn[events])
    return micros


def by_position(traces: Traces) -> list[Integers]:
    """The first events of all traces, then the second ones, and so on; traces have an event at least.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> [events.tolist() for events in by_position(traces_of([[7, 8], [9]]))]
        [[0, 2], [1]]
    """
    position = np.arange(len(traces.codes)) - np.repeat(traces.offsets[:-1], traces.lengths)
    order = np.argsort(position, kind="stable")
    return np.split(order, np.cumsum(np.bincount(position))[:-1]) if len(order) else []
