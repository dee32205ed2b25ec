"""Counting attributes of events: in which cells the events of a block count, and how much cases say for each value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from libra.engines import event_tables as tables
from libra.engines.contract import FINE, Integers
from libra.engines.control_flow_tables import MOST_LABELS, NORM_BINS
from libra.engines.counting.attributes import coded, grains_of
from libra.engines.counting.clipping import add_clipped, counted
from libra.engines.event_tables import OfEvents
from libra.eventlog.cases import MISSING, Cases

Occurrences = tuple[Integers, Integers]  # for each, its case and its cell


def _values(cases: Cases, side: OfEvents) -> tuple[Integers, Integers, Integers]:
    """The case, the row and the cell of every event that counts; 0 is the cell of events without a value."""
    row = np.array((*side.rows, tables.NOWHERE), np.int64)[cases.codes]
    there = np.flatnonzero(row >= 0)
    return cases.rows[there], row[there], coded(cases.of_events[side.number][there], side.coding)


def _fills(cases: Cases, side: OfEvents) -> Occurrences:
    case, row, cell = _values(cases, side)
    return case, row * 2 + (cell > 0)


def _in_rows(cases: Cases, side: OfEvents) -> Occurrences:
    case, row, cell = _values(cases, side)
    there = np.flatnonzero(cell > 0)
    return case[there], row[there] * side.n_values + cell[there] - 1


def _following(cases: Cases, side: OfEvents) -> Occurrences:
    """Every value with the next one of its case."""
    case, _, cell = _values(cases, side)
    case, cell = case[cell > 0], cell[cell > 0] - 1
    same = np.flatnonzero(np.diff(case) == 0)
    return case[same], cell[same] * side.n_values + cell[same + 1]


def _round_ones(cases: Cases, side: OfEvents) -> Occurrences:
    """Every number that is no single value, and how round it is."""
    row = np.array((*side.rows, tables.NOWHERE), np.int64)[cases.codes]
    values = cases.of_events[side.number]
    there = np.flatnonzero((row >= 0) & (values != 0) & (coded(values, side.coding) > len(side.coding.atoms)))
    return cases.rows[there], grains_of(values[there])


def _norms(cases: Cases, table: tables.EventNorms) -> Integers:
    """How many cases have which squared norm; one without such occurrences has 0."""
    cells = (table.side.n_values if table.following else table.side.n_rows) * table.side.n_values
    case, cell = (_following if table.following else _in_rows)(cases, table.side)
    amounts = np.zeros(0, np.int64)
    if len(case):
        case, _, amounts = counted(case, cell, cells)
    squares = np.bincount(case, np.square(amounts, dtype=np.float64), minlength=len(cases))
    return np.bincount(np.searchsorted(NORM_BINS, squares, side="right") - 1, minlength=len(NORM_BINS))


def value_weights(cases: Cases, number: int) -> tuple[Integers, Integers]:
    """The distinct values of an attribute of events to which cases give weight, ascending, and how much, times `FINE`.

    Of m values a case gives each 1 / sqrt(m), of norm 1. A case of more than `MOST_LABELS` gives its weight to so many of them,
    spread evenly over the order in which they first occur: which of many count does not depend on the values of other cases. A
    value without weight is as one that is not there: noise on it alone could show what only one case has.

    Example:
        >>> events, values = np.zeros(3, np.int64), (np.array([7, 9, 7]),)
        >>> cases = Cases(events, events, np.array([0, 2, 3]), np.zeros(2, np.int64), 1, of_events=values)
        >>> [part.tolist() for part in value_weights(cases, 0)]
        [[7, 9], [1748, 724]]
    """
    values = cases.of_events[number]
    events = np.flatnonzero(values != MISSING)
    found, place = np.unique(values[events], return_inverse=True)
    pairs = np.searchsorted(cases.offsets, events, side="right") * np.int64(max(len(found), 1)) + place
    pairs = pairs[np.sort(np.unique(pairs, return_index=True)[1])]
    case, place = np.divmod(pairs, max(len(found), 1))
    many = np.bincount(case)[case] if len(case) else case
    nth = np.arange(len(case)) - np.searchsorted(case, case)
    chosen = (many <= MOST_LABELS) | (nth * MOST_LABELS % np.maximum(many, 1) < MOST_LABELS)
    weights = add_clipped(case[chosen], place[chosen], len(found), 1.0, FINE)
    return found[weights > 0], weights[weights > 0]


OCCURRENCES: dict[type, Callable[[Cases, Any], Occurrences]] = {
    tables.EventFills: lambda cases, table: _fills(cases, table.side),
    tables.EventCounts: lambda cases, table: _in_rows(cases, table.side),
    tables.NextCounts: lambda cases, table: _following(cases, table.side),
    tables.EventGrains: lambda cases, table: _round_ones(cases, table.side),
}
COUNTERS: dict[type, Callable[[Cases, Any], Integers]] = {tables.EventNorms: _norms}
