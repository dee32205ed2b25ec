"""Counting times: in which cells of a table of `time_tables` the cases of a block count, or their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import Integers
from libra.engines.counting.clipping import add_clipped, counted
from libra.eventlog.cases import Cases, Traces, to_local


class Steps(NamedTuple):
    """Of every event that is not the first of its case: position, case, the time since the event before and its fine bin."""

    position: Integers
    case: Integers
    micros: Integers
    bins: Integers


Derived = TypeVar("Derived")
_derived: WeakKeyDictionary[Cases, dict[str, Any]] = WeakKeyDictionary()


def _once(derive: Callable[[Cases], Derived]) -> Callable[[Cases], Derived]:
    """What several tables need is computed once, and forgotten with the cases."""

    def remembered(cases: Cases) -> Derived:
        known = _derived.setdefault(cases, {})
        if derive.__name__ not in known:
            known[derive.__name__] = derive(cases)
        found: Derived = known[derive.__name__]
        return found

    return remembered


@_once
def _steps(cases: Cases) -> Steps:
    following = np.ones(len(cases.codes), np.bool_)
    following[cases.offsets[:-1][cases.lengths > 0]] = False
    gaps = np.diff(cases.micros, prepend=0)
    micros = np.maximum(gaps[following], 0)
    case = np.repeat(np.arange(len(cases)), np.maximum(cases.lengths - 1, 0))
    return Steps(np.flatnonzero(following), case, micros, tables.fine_bins(micros))


def _step_rows(cases: Cases, cells: tables.EdgeCells) -> Integers:
    """The row of every step."""
    edge = cases.codes[:-1] * cells.n_labels + cases.codes[1:]
    return cells.row_of.take(edge.take(_steps(cases).position - 1))


def _edge_durations(cases: Cases, table: tables.EdgeDurations) -> Integers:
    """A step counts the weight of its row."""
    steps, row, cells = _steps(cases), _step_rows(cases, table.cells), table.shape[0]
    if not len(row):
        return np.zeros(cells, np.int64)
    cell = table.cells.cell_of.take(row * tables.FINE_BINS + steps.bins)
    case, cell, times = counted(steps.case, cell, cells)
    weights = np.repeat(table.cells.weights, len(table.cells.ends)).repeat(np.diff(table.cells.first_cells))
    amounts = times * weights.take(cell)
    return add_clipped(case, cell, cells, table.clip * tables.WEIGHT, table.scale // tables.WEIGHT, amounts=amounts)


def _slow_pairs(cases: Cases, table: tables.SlowPairs) -> Integers:
    steps, row, cells = _steps(cases), _step_rows(cases, table.cells), len(table.pairs)
    if not cells or len(row) < 2:
        return np.zeros(cells, np.int64)
    first = np.flatnonzero(np.diff(steps.case) == 0)
    position, n_labels = steps.position[first], table.cells.n_labels
    pair = (cases.codes[position - 1] * n_labels + cases.codes[position]) * n_labels + cases.codes[position + 1]
    pairs = np.array(table.pairs, np.int64)
    place = np.minimum(np.searchsorted(pairs, pair), cells - 1)
    found = np.flatnonzero(pairs[place] == pair)
    slow, share = (np.array(figures, np.int64).take(row) for figures in (table.slow, table.shares))
    beyond = tables.WEIGHT * (steps.bins >= slow) - share
    first = first[found]
    case, cell, amounts = counted(steps.case[first], place[found], cells, beyond[first] * beyond[first + 1])
    return add_clipped(case, cell, cells, table.clip * table.scale, 1, amounts=amounts)


def _weeks(local: Integers) -> Integers:
    last = tables.YEARS * tables.WEEKS_A_YEAR - 1
    return np.clip((local - tables.FIRST_MONDAY) // tables.WEEK, 0, last)


def _days(local: Integers) -> Integers:
    return (local - tables.FIRST_MONDAY) // tables.DAY % 7


def _hour_cells(local: Integers) -> Integers:
    return np.where(_days(local) >= 5, 24, 0) + local // tables.HOUR % 24


def _starts(cases: Cases, table: tables.StartYears | tables.StartWeeks | tables.StartHours | tables.StartDays) -> Integers:
    return to_local(cases.spans[0], table.time_zone)


def _durations(cases: Cases) -> Integers:
    earliest, latest = cases.spans
    return latest - earliest


def _grouped_totals(cases: Cases, table: tables.GroupedTotals) -> Integers:
    row = table.rows_of(Traces(cases.codes, cases.offsets))[cases.lengths > 0]
    group = np.array(table.groups, np.int64).take(tables.part_bins(_durations(cases), table.parts))
    return row * table.shape[1] + group


def _start_weeks(cases: Cases, table: tables.StartWeeks) -> Integers:
    years, week = np.divmod(_weeks(_starts(cases, table)), tables.WEEKS_A_YEAR)
    row = np.full(tables.YEARS, -1)
    row[list(table.years)] = np.arange(len(table.years))
    cells: Integers = row[years] * table.shape[1] + week // table.width
    return cells[row[years] >= 0]


def _granularity(cases: Cases, table: tables.Granularity) -> Integers:
    """The coarsest grain that all times of a case are whole multiples of."""
    local = to_local(cases.micros, table.time_zone)
    first = cases.offsets[:-1][cases.lengths > 0]
    grain = np.zeros(len(local), np.uint8)
    for coarser in tables.GRAINS[:-1]:  # each a multiple of the next, so the finest of a case is the finest of its events
        grain += local // coarser * coarser != local
    return np.maximum.reduceat(grain, first) if len(first) else np.zeros(0, np.int64)


def _activity_hours(cases: Cases, table: tables.ActivityHours) -> tuple[Integers, Integers]:
    steps = _steps(cases)
    waited = np.flatnonzero(steps.micros >= table.after)
    position = steps.position[waited]
    hours = _hour_cells(to_local(cases.micros[position], table.time_zone))
    return steps.case[waited], cases.codes[position] * tables.HOUR_CELLS + hours


CELLS: dict[type, Callable[[Any, Any], Integers]] = {  # of the cases that count, each in one
    tables.StartYears: lambda cases, table: _weeks(_starts(cases, table)) // tables.WEEKS_A_YEAR,
    tables.StartWeeks: _start_weeks,
    tables.StartHours: lambda cases, table: _hour_cells(_starts(cases, table)),
    tables.StartDays: lambda cases, table: _days(_starts(cases, table)),
    tables.CaseDurations: lambda cases, table: tables.total_bins(tables.duration_bins(tables.fine_bins(_durations(cases)))),
    tables.CaseDurationParts: lambda cases, table: tables.part_bins(_durations(cases), table.parts),
    tables.Granularity: _granularity,
    tables.GroupedTotals: _grouped_totals,
}
OCCURRENCES: dict[type, Callable[[Any, Any], tuple[Integers, Integers]]] = {  # the case and the cell of every step that counts
    tables.StepDurations: lambda cases, table: (_steps(cases).case, tables.duration_bins(_steps(cases).bins)),
    tables.ActivityHours: _activity_hours,
}
COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {tables.EdgeDurations: _edge_durations, tables.SlowPairs: _slow_pairs}
