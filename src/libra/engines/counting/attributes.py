"""Counting attributes: into which cell each case of a block falls, and what the block adds to a table of `attribute_tables`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from libra.engines import attribute_tables as tables
from libra.engines.attribute_tables import Coding, HasActivity, LengthGroup, OfAttribute, Pair, Side
from libra.engines.contract import Integers
from libra.eventlog.cases import MISSING, Cases


def coded(values: Integers, coding: Coding) -> Integers:
    """The cell of every value.

    Example:
        >>> coded(np.array([MISSING, 5, 7, 100]), Coding(atoms=(7,), bounds=(50,))).tolist()
        [0, 2, 1, 3]
    """
    atoms, bounds = coding.arrays
    found = 1 + len(atoms) + np.searchsorted(bounds, values, side="right")
    if len(atoms):
        place = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
        found = np.where(atoms[place] == values, 1 + place, found)
    found = np.where(values == MISSING, 0, found)
    return found if coding.groups is None else np.array(coding.groups, np.int64)[found]


def cells_of(cases: Cases, side: Side) -> Integers:
    """The cell of every case on a side."""
    if isinstance(side, OfAttribute):
        return coded(cases.attributes[side.number], side.coding)
    if isinstance(side, HasActivity):
        return has_any(cases, np.array([side.code]))
    if isinstance(side, LengthGroup):
        return np.searchsorted(side.bounds, cases.lengths, side="right")
    return np.searchsorted(side.bounds, durations(cases), side="right")


def value_counts(cases: Cases, number: int) -> tuple[Integers, Integers]:
    """The distinct values of an attribute of cases, ascending, and how many cases have each."""
    values = cases.attributes[number]
    return np.unique(values[values != MISSING], return_counts=True)


def has_any(cases: Cases, codes: Integers) -> Integers:
    """1 for every case that has an event of one of these labels, 0 for all others; every case has events."""
    if not len(cases):
        return np.zeros(0, np.int64)
    here = cases.codes == codes[0] if len(codes) == 1 else np.isin(cases.codes, codes)
    return np.logical_or.reduceat(here, cases.offsets[:-1]).astype(np.int64)


def durations(cases: Cases) -> Integers:
    """How long each case takes, in microseconds; every case has events."""
    first = cases.offsets[:-1]
    if not len(first):
        return np.zeros(0, np.int64)
    return np.maximum.reduceat(cases.micros, first) - np.minimum.reduceat(cases.micros, first)


def _pair_tables(cases: Cases, pairs: tuple[Pair, ...]) -> list[Integers]:
    """For every pair of sides, how many cases fall into each pair of cells."""
    cells = {side: cells_of(cases, side) for side in dict.fromkeys(side for pair in pairs for side in pair)}
    found = []
    for one, other in pairs:
        both = np.bincount(cells[one] * other.n_cells + cells[other], minlength=one.n_cells * other.n_cells)
        found.append(both.reshape(one.n_cells, other.n_cells))
    return found


def _value_counts(cases: Cases, table: tables.ValueCounts) -> Integers:
    n_cells = table.side.n_cells
    return n_cells * np.bincount(cells_of(cases, table.side), minlength=n_cells) - len(cases)


def _grains(cases: Cases, table: tables.ValueGrains) -> Integers:
    values = cases.attributes[table.side.number]
    values = values[(values != 0) & (coded(values, table.side.coding) > len(table.side.coding.atoms))]
    return np.bincount(grains_of(values), minlength=len(tables.GRAINS))


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
