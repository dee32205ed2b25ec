"""Which case of the original each released trace takes after: all matched so that the total edit distance is least.

In: traces with counts, and cases. Out: for every case to come the row of an original, -1 for none. A case is matched once at
most, so where more traces are asked for than there are cases some have none. Equal traces are matched first: for a metric no
better solution is lost by that. What is left is a transportation problem between distinct variants (`transport`), not between
cases. Among the cases of a variant the draw decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.cases import Cases, Integers
from libra.mechanisms.peers.counted import Counted, counted_of
from libra.mechanisms.pripel.edit_distance import edit_distances
from libra.mechanisms.pripel.transport import Flows, transported
from libra.privacy.randomness import Randomness

MOST_DISTANCES = 20_000_000  # between variants, some 40 bytes each while they are sorted
ROOM = 0.5


class TooLargeError(Exception):
    """More variants than there is memory to match."""


def matched(asked: Counted, cases: Cases, random: Randomness) -> Integers:
    """For every case of `asked`, in the order of its traces, the row of the case that it is matched to.

    Raises:
        TooLargeError: There are too many variants to be matched.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> cases = Cases(*map(np.array, ([0, 1, 0, 2], [0, 1, 0, 1], [0, 2, 4], [0, 1])), n_activities=3)
        >>> matched(Counted(traces_of([[0, 2], [1, 1]]), np.array([1, 2])), cases, Randomness(seed=1)).tolist()
        [1, 0, -1]
    """
    flows = least_flows(asked, counted_of(cases))
    wanted, order = np.repeat(flows.sources, flows.amounts), np.argsort(np.repeat(flows.targets, flows.amounts), kind="stable")
    sizes = np.bincount(np.repeat(flows.targets, flows.amounts), minlength=1)
    _, group = np.unique(cases.variant, return_inverse=True)
    shuffled = random.permutation(len(cases))
    by_variant = shuffled[np.argsort(group[shuffled], kind="stable")]
    begins = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=len(sizes)))))[: len(sizes)]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row = np.empty(len(order), np.int64)
    row[order] = by_variant[np.repeat(begins, sizes) + rank]
    rows = np.full(asked.n_cases, -1)
    by_trace = np.argsort(wanted, kind="stable")
    of_trace = np.bincount(wanted, minlength=len(asked))
    place = np.arange(len(order)) - np.repeat(np.cumsum(of_trace) - of_trace, of_trace)
    rows[np.repeat(np.cumsum(asked.counts) - asked.counts, of_trace) + place] = row[by_trace]
    return rows


def least_flows(asked: Counted, there: Counted) -> Flows:
    """How many cases of which variant go to which trace.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> asked = Counted(traces_of([[0, 2], [1]]), np.array([2, 1]))
        >>> flows = least_flows(asked, Counted(traces_of([[0, 1, 2], [0, 2]]), np.array([5, 1])))
        >>> flows.sources.tolist(), flows.targets.tolist(), flows.amounts.tolist()
        ([0, 0, 1], [1, 0, 0], [1, 1, 1])
    """
    left = _after_equal_ones(asked, there)
    if left.n_distances > MOST_DISTANCES:
        raise TooLargeError
    distances = edit_distances(asked.traces.take(left.rest), there.traces.take(left.room))
    flows = transported(distances, left.supply[left.rest], left.capacity[left.room])
    return Flows(
        np.concatenate((left.equal.sources, left.rest[flows.sources])),
        np.concatenate((left.equal.targets, left.room[flows.targets])),
        np.concatenate((left.equal.amounts, flows.amounts)),
    )


def fits_well(asked: Counted, there: Counted) -> bool:
    """Whether these can be matched, and others that are a little more as well.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> one = Counted(traces_of([[0]]), np.array([1]))
        >>> fits_well(one, one)
        True
    """
    return _after_equal_ones(asked, there).n_distances <= ROOM * MOST_DISTANCES


@dataclass(frozen=True, eq=False, repr=False)
class _Left:
    """What equal traces give each other, what is left on both sides, and of which traces there is something left."""

    equal: Flows
    supply: Integers
    capacity: Integers

    @property
    def rest(self) -> Integers:
        return np.flatnonzero(self.supply)

    @property
    def room(self) -> Integers:
        return np.flatnonzero(self.capacity)

    @property
    def n_distances(self) -> int:
        return len(self.rest) * len(self.room)


def _after_equal_ones(asked: Counted, there: Counted) -> _Left:
    row = {trace: number for number, trace in enumerate(there.traces.as_bytes())}
    same = np.array([row.get(trace, -1) for trace in asked.traces.as_bytes()], np.int64)
    known = np.flatnonzero(same >= 0)
    amounts = np.minimum(asked.counts[known], there.counts[same[known]])
    supply, capacity = asked.counts.copy(), there.counts.copy()
    supply[known] -= amounts
    capacity[same[known]] -= amounts
    return _Left(Flows(known, same[known], amounts), supply, capacity)
