"""Counting times: in which cells of a table of `time_tables` the cases of a block count, or their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import Integers
from libra.eventlog.cases import Cases, to_local


class Steps(NamedTuple):
    """Of every event that is not the first of its case: position, case, the time since the event before and its duration bin."""

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
    return Steps(np.flatnonzero(following), case, micros, tables.duration_bins(micros))


@_once
def _longest(cases: Cases) -> Steps:
    """Of every case with a step, the longest, and the first of these."""
    steps = _steps(cases)
    if not len(steps.case):
        return steps
    n_steps = np.maximum(cases.lengths - 1, 0)
    n_steps = n_steps[n_steps > 0]
    longest = np.repeat(np.maximum.reduceat(steps.micros, np.cumsum(n_steps) - n_steps), n_steps)
    reached = np.flatnonzero(steps.micros == longest)
    chosen = reached[np.diff(steps.case[reached], prepend=-1) != 0]
    return Steps(*(part[chosen] for part in steps))


def _edge_cells(cases: Cases, steps: Steps, cells: tables.EdgeCells) -> Integers:
    """The cell of every step."""
    row_of = np.full(cells.n_labels**2, len(cells.edges))
    row_of[list(cells.edges)] = np.arange(len(cells.edges))
    merged = np.array(cells.merged, np.int64)[:, None]
    cell_of = cells.first_cells[:-1, None] + (np.array(cells.groups, np.int64) >> merged)
    edge = cases.codes[:-1] * cells.n_labels + cases.codes[1:]
    row = row_of.take(edge.take(steps.position - 1))
    return cell_of.ravel().take(row * tables.DURATION_BINS + steps.bins)


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
    tables.CaseDurations: lambda cases, table: tables.total_bins(tables.duration_bins(_durations(cases))),
    tables.CaseDurationParts: lambda cases, table: tables.part_bins(_durations(cases), table.parts),
    tables.Granularity: _granularity,
    tables.LongestSteps: lambda cases, table: tables.total_bins(_longest(cases).bins),
    tables.LongestEdges: lambda cases, table: _edge_cells(cases, _longest(cases), table.cells),
}
OCCURRENCES: dict[type, Callable[[Any, Any], tuple[Integers, Integers]]] = {  # the case and the cell of every step that counts
    tables.StepDurations: lambda cases, table: (_steps(cases).case, _steps(cases).bins),
    tables.EdgeDurations: lambda cases, table: (_steps(cases).case, _edge_cells(cases, _steps(cases), table.cells)),
    tables.ActivityHours: _activity_hours,
}
