"""An attack on membership: was this case among those that the released log was made from?

In: cases whose membership is in question, and a released log. Out: for each case and each way to look at it a score, the lower
the more it looks like a member; and the guesses that follow, with the way to look and the threshold chosen on some of the cases
and used on the others. It does not know the mechanism. A better attack may find more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import DAY, MINUTE
from libra.eventlog.log import EventLog
from libra.measures.distances import Floats, Integers
from libra.measures.risk.copies import ANY_GAP, same_cases

CELLS = 500_000  # cases times released cases times events that are compared together
WAYS = ("gaps", "start", "gaps and start", "number of cases")
Yes = npt.NDArray[np.bool_]


def scores(targets: Integers, cases: EventLog, released: EventLog) -> Floats:
    """How much these of the cases look like members: a row for each of `WAYS`, the lower the more.

    The first three look for the released case of the same trace that is nearest: in minutes between events, in days of the start,
    on logarithmic scales and averaged, and in both. The last asks how many cases with this trace were released, given how many
    there are. Where nothing was released of a trace, the score is infinite.
    """
    same = same_cases(cases, released, ANY_GAP)
    found = np.full((len(WAYS), len(targets)), np.inf)
    if not released.n_cases:
        return found
    known = np.bincount(same.original, minlength=int(same.anonymized.max()) + 1)
    shown = np.bincount(same.anonymized, minlength=len(known))
    trace = same.original[targets]
    there = shown[trace] > 0
    found[3, there] = -(shown / np.maximum(known, 1))[trace[there]]
    by_trace, released_by_trace = np.argsort(trace, kind="stable"), np.argsort(same.anonymized, kind="stable")
    ends, released_ends = np.cumsum(np.bincount(trace, minlength=len(known))), np.cumsum(shown)
    for one in np.unique(trace[there]):
        rows = by_trace[ends[one - 1] if one else 0 : ends[one]]
        others = released_by_trace[released_ends[one] - shown[one] : released_ends[one]]
        found[:3, rows] = _nearest(_times(cases, targets[rows]), _times(released, others))
    return found


def _times(log: EventLog, cases: Integers) -> Integers:
    """The times of cases of equally many events: a row a case, its first event and then what is between one and the next."""
    begin = log.case_offsets[cases]
    length = int(log.case_offsets[cases[0] + 1] - begin[0])
    times = log.timestamps[begin[:, None] + np.arange(length)]
    return np.column_stack((times[:, 0], np.diff(times, axis=1)))


def _nearest(times: Integers, released: Integers) -> Floats:
    """For each case how far the nearest of the released ones is, by gaps, by start and by both."""
    units = np.full((times.shape[1], 1, 1), MINUTE, np.float32)
    units[0] = DAY
    parts = []
    at_once = max(CELLS // released.size, 1)
    for begin in range(0, len(times), at_once):
        apart = (times[begin : begin + at_once].T[:, :, None] - released.T[:, None]).astype(np.float32)
        apart = np.log(np.abs(apart) / units + 1)
        start, gaps = apart[0], apart[1:].sum(axis=0)
        parts.append(np.stack([way.min(axis=1) for way in (gaps, start, gaps + start)]))
    nearest: Floats = np.concatenate(parts, axis=1) / np.float64(times.shape[1])
    return nearest


def guesses(found: Floats, member: Yes, group: Integers) -> Yes:
    """Say of each case whether it was a member, having seen which cases of the other half were.

    The cases are in random order. For each half and each group, the way to look and the threshold are those that serve best in
    the other half.

    Example:
        >>> guesses(np.array([[0.1, 0.9, 0.1, 0.8]]), np.array([True, False, True, False]), np.zeros(4, np.int64)).tolist()
        [True, False, True, False]
    """
    said = np.zeros(len(member), bool)
    half = np.arange(len(member)) < len(member) // 2
    for one in np.unique(group):
        for learn, judge in _each_way(half, group == one):
            if len(learn) and len(judge):
                way, threshold = _best(found[:, learn], member[learn])
                said[judge] = found[way, judge] <= threshold
    return said


def _each_way(half: Yes, chosen: Yes) -> Iterator[tuple[Integers, Integers]]:
    one, other = np.flatnonzero(half & chosen), np.flatnonzero(~half & chosen)
    yield one, other
    yield other, one


def _best(found: Floats, member: Yes) -> tuple[int, float]:
    """The way to look and the threshold with the largest advantage; where nothing helps, a threshold that nobody reaches."""
    best, way, threshold = 0.0, 0, -np.inf
    for number, score in enumerate(found):
        order = np.argsort(score, kind="stable")
        ordered = score[order]
        yes, no = np.cumsum(member[order]), np.cumsum(~member[order])
        advantage = yes / max(yes[-1], 1) - no / max(no[-1], 1)
        advantage[:-1][ordered[:-1] == ordered[1:]] = -1  # equal scores get the same answer
        top = int(np.argmax(advantage))
        if advantage[top] > best:
            best, way, threshold = float(advantage[top]), number, float(ordered[top])
    return way, threshold
