"""Counting times: from raw cases to the tables of `time_tables`.

In: a block of cases and a request. Out: `scale` times the counts, whole numbers, of which one case makes up an L2 norm
of at most `clip * scale`. Only `privacy.gate` may look at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import Integers
from libra.engines.counting.clipping import add_clipped
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
def _spans(cases: Cases) -> tuple[Integers, Integers]:
    """Of every case that has events, the earliest time and the latest."""
    first = cases.offsets[:-1][cases.lengths > 0]
    if not len(first):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.minimum.reduceat(cases.micros, first), np.maximum.reduceat(cases.micros, first)


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


def _local_starts(cases: Cases, time_zone: str) -> Integers:
    return to_local(_spans(cases)[0], time_zone)


def _start_years(cases: Cases, table: tables.StartYears) -> Integers:
    """Count the years of start."""
    years = _weeks(_local_starts(cases, table.time_zone)) // tables.WEEKS_A_YEAR
    return np.bincount(years, minlength=tables.YEARS)


def _start_weeks(cases: Cases, table: tables.StartWeeks) -> Integers:
    """Count the weeks of start, in spans."""
    years, week = np.divmod(_weeks(_local_starts(cases, table.time_zone)), tables.WEEKS_A_YEAR)
    row = np.full(tables.YEARS, -1)
    row[list(table.years)] = np.arange(len(table.years))
    spans = tables.WEEKS_A_YEAR // table.width
    cell = row[years] * spans + week // table.width
    return np.bincount(cell[row[years] >= 0], minlength=len(table.years) * spans)


def _start_hours(cases: Cases, table: tables.StartHours) -> Integers:
    """Count the hours of start."""
    return np.bincount(_hour_cells(_local_starts(cases, table.time_zone)), minlength=tables.HOUR_CELLS)


def _start_days(cases: Cases, table: tables.StartDays) -> Integers:
    """Count the days of the week of start."""
    return np.bincount(_days(_local_starts(cases, table.time_zone)), minlength=7)


def _case_durations(cases: Cases, table: tables.CaseDurations) -> Integers:
    """Count how long cases last."""
    earliest, latest = _spans(cases)
    bins = tables.total_bins(tables.duration_bins(latest - earliest))
    return np.bincount(bins, minlength=tables.TOTAL_BINS)


def _case_duration_parts(cases: Cases, table: tables.CaseDurationParts) -> Integers:
    """Count how long cases last, in parts of bins."""
    earliest, latest = _spans(cases)
    return np.bincount(tables.part_bins(latest - earliest, table.parts), minlength=table.shape[0])


def _granularity(cases: Cases, table: tables.Granularity) -> Integers:
    """Count the coarsest grain that all times of a case are whole multiples of."""
    local = to_local(cases.micros, table.time_zone)
    first = cases.offsets[:-1][cases.lengths > 0]
    if not len(first):
        return np.zeros(len(tables.GRAINS), np.int64)
    grain = np.zeros(len(local), np.uint8)
    for coarser in tables.GRAINS[:-1]:  # each a multiple of the next, so the finest of a case is the finest of its events
        grain += local // coarser * coarser != local
    return np.bincount(np.maximum.reduceat(grain, first), minlength=len(tables.GRAINS))


def _step_durations(cases: Cases, table: tables.StepDurations) -> Integers:
    """Count how long steps take."""
    steps = _steps(cases)
    return add_clipped(steps.case, steps.bins, tables.DURATION_BINS, table.clip, table.scale)


def _longest_steps(cases: Cases, table: tables.LongestSteps) -> Integers:
    """Count how long the longest step of a case takes."""
    return np.bincount(tables.total_bins(_longest(cases).bins), minlength=tables.TOTAL_BINS)


def _edge_durations(cases: Cases, table: tables.EdgeDurations) -> Integers:
    """Count how long the steps of each edge take."""
    steps = _steps(cases)
    cell = _edge_cells(cases, steps, table.cells)
    return add_clipped(steps.case, cell, table.cells.size, table.clip, table.scale)


def _longest_edges(cases: Cases, table: tables.LongestEdges) -> Integers:
    """Count the edges and durations of longest steps."""
    cell = _edge_cells(cases, _longest(cases), table.cells)
    return np.bincount(cell, minlength=table.cells.size)


def _activity_hours(cases: Cases, table: tables.ActivityHours) -> Integers:
    """Count the hours in which activities happen that had been waited for."""
    steps = _steps(cases)
    waited = np.flatnonzero(steps.micros >= table.after)
    position = steps.position[waited]
    cell = cases.codes[position] * tables.HOUR_CELLS + _hour_cells(to_local(cases.micros[position], table.time_zone))
    return add_clipped(steps.case[waited], cell, table.n_labels * tables.HOUR_CELLS, table.clip, table.scale)


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {
    tables.StartYears: _start_years,
    tables.StartWeeks: _start_weeks,
    tables.StartHours: _start_hours,
    tables.StartDays: _start_days,
    tables.CaseDurations: _case_durations,
    tables.CaseDurationParts: _case_duration_parts,
    tables.Granularity: _granularity,
    tables.StepDurations: _step_durations,
    tables.LongestSteps: _longest_steps,
    tables.EdgeDurations: _edge_durations,
    tables.LongestEdges: _longest_edges,
    tables.ActivityHours: _activity_hours,
}
