"""Counting attributes: into which cell each case of a block falls, and what the block adds to a table of `attribute_tables`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from libra.engines import attribute_tables as tables
from libra.engines.attribute_tables import Coding, HasActivity, LengthGroup, OfAttribute, Pair, Side
from libra.engines.contract import Integers
from libra.eventlog.cases import MISSING, Cases

MOST = np.iinfo(np.int64).max  # the largest number: there is none after it


def coded(values: Integers, coding: Coding) -> Integers:
    """The cell of every value.

    Example:
        >>> coded(np.array([MISSING, 5, 7, 100]), Coding(atoms=(7,), bounds=(50,))).tolist()
        [0, 2, 1, 3]
    """
    atoms, bounds = coding.arrays
    edges = np.unique(np.concatenate(([MISSING + 1], bounds, atoms, atoms + 1)))  # from each to the next, one cell
    begins = np.concatenate(([MISSING], edges))
    cells = np.minimum(1 + len(atoms) + np.searchsorted(bounds, begins, side="right"), coding.n_plain - 1)
    cells[np.searchsorted(begins, atoms)] = 1 + np.arange(len(atoms))
    cells[0] = 0
    cells = cells if coding.groups is None else np.array(coding.groups)[cells]
    low = int(edges[min(1, len(edges) - 1)]) - 1  # all that are lower are alike, and so are all from the last edge on
    high = max(min(int(edges[-1]), int(values.max(initial=MISSING))), low)
    if high - low > 2 * len(values) or high == MOST:
        return cells[np.searchsorted(edges, values, side="right")]
    every = cells[np.searchsorted(edges, np.arange(low, high + 1), side="right")]
    found: Integers = every[np.clip(values, low, high) - low]
    found[values == MISSING] = cells[0]
    return found


def cells_of(cases: Cases, sides: Iterable[Side]) -> dict[Side, Integers]:
    """For every side the cell of every case."""
    return {side: _cells_of(cases, side) for side in dict.fromkeys(sides)}


def _cells_of(cases: Cases, side: Side) -> Integers:
    if isinstance(side, OfAttribute):
        return coded(cases.attributes[side.number], side.coding)
    if isinstance(side, HasActivity):
        return has_any(cases, [side.code])
    values = cases.lengths if isinstance(side, LengthGroup) else durations(cases)
    cells = np.zeros(len(cases), np.int64)
    for bound in side.bounds:  # so few that this is faster than a search
        cells += values >= bound
    return cells


def has_any(cases: Cases, codes: Sequence[int]) -> Integers:
    """1 for every case that has an event of one of these labels, 0 for all others."""
    has = np.zeros(len(cases), np.int64)
    for code in codes:
        has[cases.by_label[code]] = 1
    return has


def value_counts(cases: Cases, number: int) -> tuple[Integers, Integers]:
    """The distinct values of an attribute of cases, ascending, and how many cases have each."""
    values, counts = _counted(cases, number)
    return values[values != MISSING], counts[values != MISSING]


_known: WeakKeyDictionary[Cases, dict[int, tuple[Integers, Integers]]] = WeakKeyDictionary()


def _counted(cases: Cases, number: int) -> tuple[Integers, Integers]:
    """The same with missing values, computed once and forgotten with the cases."""
    known = _known.setdefault(cases, {})
    if number not in known:
        values = cases.attributes[number]
        low, high = (int(values[values != MISSING].min(initial=MOST)), int(values.max(initial=MISSING)))
        if low <= high < low + 4 * len(values):
            times = np.bincount(np.where(values == MISSING, 0, values - (low - 1)))
            there = np.flatnonzero(times)
            known[number] = np.where(there == 0, MISSING, there + (low - 1)), times[there]
        else:
            known[number] = np.unique(values, return_counts=True)
    return known[number]


def durations(cases: Cases) -> Integers:
    """How long each case takes, in microseconds; every case has events."""
    earliest, latest = cases.spans
    return latest - earliest


def _pair_tables(cases: Cases, pairs: tuple[Pair, ...]) -> list[Integers]:
    """For every pair of sides, how many cases fall into each pair of cells."""
    cells = cells_of(cases, (side for pair in pairs for side in pair))
    features = [side for side in cells if not isinstance(side, OfAttribute)]
    first, _, combined = combinations([cells[side] for side in features], [side.n_cells for side in features], len(cases))
    seen: dict[Side, Integers] = {}
    found = []
    for one, other in pairs:
        if one in features or other not in features or one.n_cells * other.n_cells * len(first) > len(cases):
            both = np.bincount(cells[one] * other.n_cells + cells[other], minlength=one.n_cells * other.n_cells)
        else:  # the combinations of features are few: they are counted once for each attribute
            if one not in seen:
                counted = np.bincount(cells[one] * len(first) + combined, minlength=one.n_cells * len(first))
                seen[one] = counted.reshape(one.n_cells, len(first))
            both = seen[one] @ np.eye(other.n_cells, dtype=np.int64)[cells[other][first]]
        found.append(both.reshape(one.n_cells, other.n_cells))
    return found


def combinations(columns: Sequence[Integers], sizes: Sequence[int], n: int) -> tuple[Integers, Integers, Integers]:
    """A row of each distinct combination in some columns of n rows, how many rows have it, and for every row which one it has.

    Example:
        >>> [part.tolist() for part in combinations([np.array([2, 0, 2]), np.array([1, 1, 1])], [3, 2], 3)]
        [[1, 2], [1, 2], [1, 0, 1]]
    """
    key, most = np.zeros(n, np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if most * size > 4 * n:
            key, most = _numbered(key, most)
        key *= size
        key += column
        most *= size
    key, most = _numbered(key, most)
    first = np.zeros(most, np.int64)
    first[key] = np.arange(n)
    return first, np.bincount(key, minlength=most), key


def _numbered(key: Integers, most: int) -> tuple[Integers, int]:
    """The numbers below `most` that occur, numbered one after the other in their order, and how many there are."""
    if most > 4 * len(key):
        seen, found = np.unique(key, return_inverse=True)
        return found, len(seen)
    there = np.zeros(most, bool)
    there[key] = True
    return (np.cumsum(there) - 1)[key], int(np.count_nonzero(there))


def _value_counts(cases: Cases, table: tables.ValueCounts) -> Integers:
    values, counts = _counted(cases, table.side.number)
    return table.side.n_cells * _summed(coded(values, table.side.coding), counts, table.side.n_cells) - len(cases)


def _grains(cases: Cases, table: tables.ValueGrains) -> Integers:
    values, counts = _counted(cases, table.side.number)
    among = (values != 0) & (coded(values, table.side.coding) > len(table.side.coding.atoms))
    return _summed(grains_of(values[among]), counts[among], len(tables.GRAINS))


def _summed(cells: Integers, counts: Integers, n_cells: int) -> Integers:
    """The sums of counts in each cell, which floats hold exactly."""
    return np.bincount(cells, counts, n_cells).astype(np.int64)


def grains_of(values: Integers) -> Integers:
    """How round each of some numbers is: the place among `GRAINS` of the largest that divides it.

    Example:
        >>> grains_of(np.array([7, 15, 20])).tolist()
        [0, 1, 2]
    """
    return sum((values % grain == 0).astype(np.int64) for grain in tables.GRAINS[1:]) if len(values) else values


def interactions_of(counts: Sequence[Integers], table: tables.Interactions) -> Integers:
    """The interactions of pairs, given how many cases fall into each pair of cells.

    A case adds (1 or 0 - 1/K) (1 or 0 - 1/S), times the scale, rounded toward zero, to each pair of cells.
    """
    added = []
    for both in counts:
        k, s = both.shape
        one, other, whole = both.sum(axis=1, keepdims=True), both.sum(axis=0, keepdims=True), both.sum()
        in_both, in_one, in_other, in_none = (table.scale * part // (k * s) for part in ((k - 1) * (s - 1), k - 1, s - 1, 1))
        apart = (one - both) * in_one + (other - both) * in_other
        added.append(both * in_both - apart + (whole - one - other + both) * in_none)
    return np.concatenate([part.ravel() for part in added]) if added else np.zeros(0, np.int64)


def _interactions(cases: Cases, table: tables.Interactions) -> Integers:
    return interactions_of(_pair_tables(cases, table.pairs), table)


def _pair_counts(cases: Cases, table: tables.PairCounts) -> Integers:
    return np.concatenate([part.ravel() for part in _pair_tables(cases, table.pairs)])


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {
    tables.ValueCounts: _value_counts,
    tables.ValueGrains: _grains,
    tables.PairCounts: _pair_counts,
    tables.Interactions: _interactions,
}
