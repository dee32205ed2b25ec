"""Which case of the original each released trace takes after: all matched so that the total edit distance is least.

In: traces with counts, and cases. Out: for every case to come the row of an original, -1 for none. A case is matched once at
most, so where more traces are asked for than there are cases some have none. Equal traces are matched first: for a metric no
better solution is lost by that. What is left is a transportation problem between distinct variants, not between cases. Among the
cases of a variant the draw decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Cases, Integers, Traces
from libra.mechanisms.variant_queries import Counted, counted_of
from libra.privacy.randomness import Randomness

MOST_DISTANCES = 20_000_000  # between variants, some 40 bytes each while they are sorted
ROOM = 0.5
Words = npt.NDArray[np.uint64]
Distances = npt.NDArray[np.int32]
BITS = 64
ONE, TOP = np.uint64(1), np.uint64(BITS - 1)
ALL = np.uint64(2**64 - 1)
AT_A_TIME = 500_000  # pairs: their words fit into the caches and a few megabytes
MOST_CELLS = 25_000_000  # of the assignment one by one, 8 bytes each
AT_ONCE = 32  # pairs that a kind gets anew in a round of the linear program
TOLERANCE = 1e-7  # of its prices; distances are whole


class TooLargeError(Exception):
    """More variants than there is memory to match."""


def matched(asked: Counted, cases: Cases, random: Randomness) -> Integers:
    """For every case of `asked`, in the order of its traces, the row of the case that it is matched to.

    Raises:
        TooLargeError: There are too many variants to be matched.
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
    """How many cases of which variant go to which trace."""
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
    """Whether these can be matched, and others that are a little more as well."""
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


def edit_distances(one: Traces, other: Traces) -> Distances:
    """How far each trace of one set is from each of the other: how many events to insert, delete or replace (Levenshtein).

    A column of the usual table is held as the bits of a word, 64 events of the first trace at a time, and moves on by an event of
    the second trace with a few operations on words (Myers 1999, Hyyro 2003); these run on all pairs at once. The time is that of
    the number of pairs times the length of the second, and of the first by 64.
    """
    found = np.zeros((len(one), len(other)), np.int32)
    by_length = np.argsort(-other.lengths, kind="stable")
    texts = other.take(by_length)
    rows = max(AT_A_TIME // max(len(other), 1), 1)
    for begin in range(0, len(one), rows):
        part = one.take(np.arange(begin, min(begin + rows, len(one))))
        found[begin : begin + rows, by_length] = _from_longest(part, texts)
    return found


def _from_longest(patterns: Traces, texts: Traces) -> Distances:
    """The distances, the texts being ordered from the longest down."""
    masks = _masks(patterns, int(max(patterns.codes.max(initial=-1), texts.codes.max(initial=-1))) + 1)
    n_blocks = masks.shape[1]
    end = patterns.lengths - 1
    block_of_end, bit_of_end = np.maximum(end, 0) // BITS, (np.maximum(end, 0) % BITS).astype(np.uint64)[:, None]
    ends_in = [np.flatnonzero((block_of_end == block) & (end >= 0)) for block in range(n_blocks)]
    up = np.full((n_blocks, len(patterns), len(texts)), ALL)
    down = np.zeros_like(up)
    score = np.repeat(patterns.lengths[:, None], len(texts), axis=1).astype(np.int32)
    score[end < 0] = texts.lengths
    still = len(texts)
    for position in range(int(texts.lengths.max(initial=0))):
        still = int(np.searchsorted(-texts.lengths[:still], -position))
        symbols = texts.codes[texts.offsets[:still] + position]
        rises, falls = np.full((len(patterns), still), ONE), np.zeros((len(patterns), still), np.uint64)
        for block in range(n_blocks):
            equal = masks[:, block, symbols]
            was_up, was_down = up[block, :, :still], down[block, :, :still]
            sideways = equal | was_down
            equal |= falls
            across = (((equal & was_up) + was_up) ^ was_up) | equal
            higher = was_down | ~(across | was_up)
            lower = was_up & across
            ending = ends_in[block]
            if len(ending):
                bit = bit_of_end[ending]
                score[ending, :still] += ((higher[ending] >> bit) & ONE).astype(np.int32)
                score[ending, :still] -= ((lower[ending] >> bit) & ONE).astype(np.int32)
            carried_up, carried_down = higher >> TOP, lower >> TOP
            higher, lower = (higher << ONE) | rises, (lower << ONE) | falls
            up[block, :, :still] = lower | ~(sideways | higher)
            down[block, :, :still] = higher & sideways
            rises, falls = carried_up, carried_down
    return score


def _masks(patterns: Traces, n_symbols: int) -> Words:
    """For every trace, block of 64 events and symbol, the events of the block that are this symbol."""
    n_blocks = max(-(-int(patterns.lengths.max(initial=0)) // BITS), 1)
    masks = np.zeros((len(patterns), n_blocks, n_symbols), np.uint64)
    position = np.arange(len(patterns.codes)) - np.repeat(patterns.offsets[:-1], patterns.lengths)
    bits = ONE << (position % BITS).astype(np.uint64)
    np.bitwise_or.at(masks, (patterns.rows, position // BITS, patterns.codes), bits)
    return masks


@dataclass(frozen=True, eq=False, repr=False)
class Flows:
    """So many (`amounts`) of these kinds go to those."""

    sources: Integers
    targets: Integers
    amounts: Integers


def transported(distances: Distances, supply: Integers, capacity: Integers) -> Flows:
    """The flows of least total distance between kinds of things; as many go as the smaller side has. Exact.

    Two solvers share the work. Where there are few things, they are assigned one by one; a kind never needs more than its nearest
    ones on the other side, as many as could feed everybody. Otherwise it is a linear program over pairs of kinds, whose best
    corner is whole. It begins with the nearest pairs, and its prices tell which others would make it better, until none would.
    """
    if not supply.sum() or not capacity.sum():
        return Flows(*(np.zeros(0, np.int64) for _ in range(3)))
    if supply.sum() > capacity.sum():
        turned = transported(distances.T, capacity, supply)
        return Flows(turned.targets, turned.sources, turned.amounts)
    near = _near_enough(distances, capacity, int(supply.sum()))
    room = np.minimum(capacity[near], supply.sum())
    if int(supply.sum()) * int(room.sum()) > MOST_CELLS:
        return _by_kind(distances, supply, capacity)
    flows = _one_by_one(distances[:, near], supply, room)
    return Flows(flows.sources, near[flows.targets], flows.amounts)


def _near_enough(distances: Distances, capacity: Integers, total: int) -> Integers:
    """The targets that are among the nearest of some source, as many as could take in everything."""
    order = np.argsort(distances, axis=1, kind="stable")
    before = np.cumsum(capacity[order], axis=1) - capacity[order]
    return np.unique(order[before < total])


def _one_by_one(distances: Distances, supply: Integers, room: Integers) -> Flows:
    from scipy.optimize import linear_sum_assignment

    source, target = np.repeat(np.arange(len(supply)), supply), np.repeat(np.arange(len(room)), room)
    rows, columns = linear_sum_assignment(distances[np.ix_(source, target)])
    pairs, amounts = np.unique(source[rows] * len(room) + target[columns], return_counts=True)
    return Flows(pairs // len(room), pairs % len(room), amounts)


def _by_kind(distances: Distances, supply: Integers, capacity: Integers) -> Flows:
    known = _lowest(distances, np.ones_like(distances, bool))
    while True:
        sources, targets = np.nonzero(known)
        amounts, prices = _solved(distances, supply, capacity, sources, targets)
        better = (prices < -TOLERANCE) & ~known
        if not better.any():
            used = np.flatnonzero(amounts)
            return Flows(sources[used], targets[used], amounts[used])
        known |= _lowest(prices, better)


def _lowest(values: npt.NDArray[Any], allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Of each row the lowest that are allowed, a few at a time."""
    few = min(AT_ONCE, values.shape[1])
    lowest = np.zeros(values.shape, bool)
    np.put_along_axis(lowest, np.argpartition(np.where(allowed, values, np.inf), few - 1, axis=1)[:, :few], True, axis=1)
    return lowest & allowed


def _solved(
    distances: Distances, supply: Integers, capacity: Integers, sources: Integers, targets: Integers
) -> tuple[Integers, npt.NDArray[np.float64]]:
    """The best amounts for these pairs alone, and what a unit on each pair of all would change at their prices.

    Whatever finds no place goes nowhere, farther than any target: so there is always a solution.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    n_sources, n_pairs = len(supply), len(sources)
    places, nowhere = np.arange(n_pairs + n_sources), np.arange(n_sources)
    shape = (len(capacity), len(places))
    given = sparse.csc_matrix((np.ones(len(places)), (np.append(sources, nowhere), places)), shape=(n_sources, len(places)))
    taken = sparse.csc_matrix((np.ones(n_pairs), (targets, places[:n_pairs])), shape=shape)
    costs = np.append(distances[sources, targets], np.full(n_sources, float(distances.max()) + 1))
    found = linprog(costs, A_ub=taken, b_ub=capacity, A_eq=given, b_eq=supply, method="highs-ds")
    if not found.success:
        raise AssertionError(f"a transportation problem has a solution: {found.message}")
    prices = distances - found.eqlin.marginals[:, None] - found.ineqlin.marginals
    return np.rint(found.x[:n_pairs]).astype(np.int64), prices
