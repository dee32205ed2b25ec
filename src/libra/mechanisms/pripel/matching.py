"""Which case of the original each released trace takes after: all matched so that the total edit distance is least.

A case is matched once at most, so where more traces are asked for than there are cases some have none. Equal traces are matched
first: for a metric no better solution is lost by that. What is left is a transportation problem between distinct variants, not
between cases. Among the cases of a variant the draw decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from libra._system.ordering import ranks
from libra._system.randomness import Randomness
from libra.eventlog.cases import Cases, Integers, Traces
from libra.mechanisms.variant_queries import Counted, counted_of

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
    """For every case of `asked`, in the order of its traces, the row of the case that it is matched to; -1 for none."""
    sources, targets, amounts = least_flows(asked, counted_of(cases))
    wanted, given = np.repeat(sources, amounts), np.repeat(targets, amounts)
    order, sizes = np.argsort(given, kind="stable"), np.bincount(given, minlength=1)
    _, group = np.unique(cases.variant, return_inverse=True)
    shuffled = random.permutation(len(cases))
    by_variant = shuffled[np.argsort(group[shuffled], kind="stable")]
    begins = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=len(sizes)))))[: len(sizes)]
    row = np.empty(len(order), np.int64)
    row[order] = by_variant[np.repeat(begins, sizes) + ranks(sizes)]
    rows = np.full(asked.n_cases, -1)
    by_trace, of_trace = np.argsort(wanted, kind="stable"), np.bincount(wanted, minlength=len(asked))
    rows[np.repeat(np.cumsum(asked.counts) - asked.counts, of_trace) + ranks(of_trace)] = row[by_trace]
    return rows


def least_flows(asked: Counted, there: Counted) -> Flows:
    """How many cases of which variant go to which trace; a `TooLargeError` where there are too many variants."""
    equal, supply, capacity = _after_equal_ones(asked, there)
    rest, room = np.flatnonzero(supply), np.flatnonzero(capacity)
    if len(rest) * len(room) > MOST_DISTANCES:
        raise TooLargeError
    flows = transported(edit_distances(asked.traces.take(rest), there.traces.take(room)), supply[rest], capacity[room])
    both = zip(equal, Flows(rest[flows.sources], room[flows.targets], flows.amounts), strict=True)
    return Flows(*(np.concatenate(parts) for parts in both))


def fits_well(asked: Counted, there: Counted) -> bool:
    """Whether these can be matched, and others that are a little more as well."""
    _, supply, capacity = _after_equal_ones(asked, there)
    return int(np.count_nonzero(supply)) * int(np.count_nonzero(capacity)) <= ROOM * MOST_DISTANCES


def _after_equal_ones(asked: Counted, there: Counted) -> tuple[Flows, Integers, Integers]:
    """What equal traces give each other, and what is left on both sides."""
    row = {trace: number for number, trace in enumerate(there.traces.as_bytes())}
    same = np.array([row.get(trace, -1) for trace in asked.traces.as_bytes()], np.int64)
    known = np.flatnonzero(same >= 0)
    amounts = np.minimum(asked.counts[known], there.counts[same[known]])
    supply, capacity = asked.counts.copy(), there.counts.copy()
    supply[known] -= amounts
    capacity[same[known]] -= amounts
    return Flows(known, same[known], amounts), supply, capacity


def edit_distances(one: Traces, other: Traces) -> Distances:
    """How far each trace of one set is from each of the other: how many events to insert, delete or replace (Levenshtein).

    A column of the usual table is held as the bits of a word, 64 events of the first trace at a time, and moves on by an event of
    the second trace with a few operations on words (Myers 1999, Hyyro 2003); these run on all pairs at once.
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
    position = ranks(patterns.lengths)
    bits = ONE << (position % BITS).astype(np.uint64)
    np.bitwise_or.at(masks, (patterns.rows, position // BITS, patterns.codes), bits)
    return masks


class Flows(NamedTuple):
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
    nearest = np.argsort(distances, axis=1, kind="stable")
    before = np.cumsum(capacity[nearest], axis=1) - capacity[nearest]
    near = np.unique(nearest[before < supply.sum()])
    room = np.minimum(capacity[near], supply.sum())
    if int(supply.sum()) * int(room.sum()) > MOST_CELLS:
        return _by_kind(distances, supply, capacity)
    from scipy.optimize import linear_sum_assignment

    source, target = np.repeat(np.arange(len(supply)), supply), np.repeat(np.arange(len(room)), room)
    rows, columns = linear_sum_assignment(distances[np.ix_(source, near[target])])
    pairs, amounts = np.unique(source[rows] * len(room) + target[columns], return_counts=True)
    return Flows(pairs // len(room), near[pairs % len(room)], amounts)


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
