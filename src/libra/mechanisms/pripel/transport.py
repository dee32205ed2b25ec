"""The transportation problem: who gets how much from whom, so that the total distance is least.

In: distances between kinds of things, and how many of each kind there are on either side. Out: how many of one kind go to which
other kind; as many go as the smaller side has. Exact. Two solvers share the work. Where there are few things, they are assigned
one by one; a kind never needs more than its nearest ones on the other side, as many as could feed everybody. Otherwise it is a
linear program over pairs of kinds, whose best corner is whole. It begins with the nearest pairs, and its prices tell which others
would make it better, until none would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Integers

Distances: TypeAlias = npt.NDArray[np.int32]
MOST_CELLS = 25_000_000  # of the assignment one by one, 8 bytes each
AT_ONCE = 32  # pairs that a kind gets anew in a round of the linear program
TOLERANCE = 1e-7  # of its prices; distances are whole


@dataclass(frozen=True, eq=False, repr=False)
class Flows:
    """So many (`amounts`) of these kinds go to those."""

    sources: Integers
    targets: Integers
    amounts: Integers


def transported(distances: Distances, supply: Integers, capacity: Integers) -> Flows:
    """The flows of least total distance.

    Args:
        distances: From every kind on the one side to every kind on the other.
        supply: How many there are of each kind on the one side, at least one.
        capacity: How many there are of each kind on the other, at least one.

    Example:
        >>> flows = transported(np.array([[0, 1], [1, 5]], np.int32), np.array([2, 1]), np.array([2, 4]))
        >>> sorted(zip(flows.sources.tolist(), flows.targets.tolist(), flows.amounts.tolist(), strict=True))
        [(0, 0, 1), (0, 1, 1), (1, 0, 1)]
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
