"""Counting times: from the raw cases of an engine to the tables of `time_tables`.

In: an engine (its `cases`) and a request. Out: `scale` times the counts, whole numbers, of which one case makes up an L2 norm
of at most `clip * scale`. Only `privacy.gate` may look at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import Integers
from libra.engines.polars.clipping import add_clipped
from libra.eventlog.cases import Cases
from libra.eventlog.local_time import to_local


class HasCases(Protocol):
    """What counting needs of an engine."""

    @property
    def cases(self) -> Cases:
        """The raw cases."""


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
    position = np.flatnonzero(following)
    micros = np.maximum(cases.micros[position] - cases.micros[position - 1], 0)
    case = np.repeat(np.arange(len(cases)), cases.lengths)[position]
    return Steps(position, case, micros, tables.duration_bins(micros))


@_once
def _longest(cases: Cases) -> Steps:
    """Of every case with a step, the longest, and the first of these."""
    steps = _steps(cases)
    if not len(steps.case):
        return steps
    first = np.flatnonzero(np.diff(steps.case, prepend=-1))
    longest = np.repeat(np.maximum.reduceat(steps.micros, first), np.diff(first, append=len(steps.case)))
    reached = np.flatnonzero(steps.micros == longest)
    chosen = reached[np.searchsorted(reached, first)]
    return Steps(*(part[chosen] for part in steps))


def _edge_cells(cases: Cases, steps: Steps, cells: tables.EdgeCells) -> Integers:
    """The cell of every step."""
    row_of = np.full(cells.n_labels**2, len(cells.edges))
    row_of[list(cells.edges)] = np.arange(len(cells.edges))
    row = row_of.take(cases.codes[steps.position - 1] * cells.n_labels + cases.codes[steps.position])
    group = np.array(cells.groups).take(steps.bins)
    return np.asarray(cells.first_cells.take(row) + (group >> np.array(cells.merged).take(row)))


def _weeks(local: Integers) -> Integers:
    last = tables.YEARS * tables.WEEKS_A_YEAR - 1
    return np.clip((local - tables.FIRST_MONDAY) // tables.WEEK, 0, last)


def _days(local: Integers) -> Integers:
    return (local - tables.FIRST_MONDAY) // tables.DAY % 7


def _hour_cells(local: Integers) -> Integers:
    return np.where(_days(local) >= 5, 24, 0) + local // tables.HOUR % 24


def _local_starts(engine: HasCases, time_zone: str) -> Integers:
    return to_local(_spans(engine.cases)[0], time_zone)


def _start_years(engine: HasCases, table: tables.StartYears) -> Integers:
    """Count the years of start."""
    years = _weeks(_local_starts(engine, table.time_zone)) // tables.WEEKS_A_YEAR
    return np.bincount(years, minlength=tables.YEARS)


def _start_weeks(engine: HasCases, table: tables.StartWeeks) -> Integers:
    """Count the weeks of start, in spans."""
    years, week = np.divmod(_weeks(_local_starts(engine, table.time_zone)), tables.WEEKS_A_YEAR)
    row = np.full(tables.YEARS, -1)
    row[list(table.years)] = np.arange(len(table.years))
    spans = tables.WEEKS_A_YEAR // table.width
    cell = row[years] * spans + week // table.width
    return np.bincount(cell[row[years] >= 0], minlength=len(table.years) * spans)


def _start_hours(engine: HasCases, table: tables.StartHours) -> Integers:
    """Count the hours of start."""
    return np.bincount(_hour_cells(_local_starts(engine, table.time_zone)), minlength=tables.HOUR_CELLS)


def _start_days(engine: HasCases, table: tables.StartDays) -> Integers:
    """Count the days of the week of start."""
    return np.bincount(_days(_local_starts(engine, table.time_zone)), minlength=7)


def _case_durations(engine: HasCases, table: tables.CaseDurations) -> Integers:
    """Count how long cases last."""
    earliest, latest = _spans(engine.cases)
    bins = tables.total_bins(tables.duration_bins(latest - earliest))
    return np.bincount(bins, minlength=tables.TOTAL_BINS)


def _case_duration_parts(engine: HasCases, table: tables.CaseDurationParts) -> Integers:
    """Count how long cases last, in parts of bins."""
    earliest, latest = _spans(engine.cases)
    return np.bincount(tables.part_bins(latest - earliest, table.parts), minlength=table.shape[0])


def _granularity(engine: HasCases, table: tables.Granularity) -> Integers:
    """Count the coarsest grain that all times of a case are whole multiples of."""
    cases = engine.cases
    local = to_local(cases.micros, table.time_zone)
    first = cases.offsets[:-1][cases.lengths > 0]
    if not len(first):
        return np.zeros(len(tables.GRAINS), np.int64)
    grain = np.zeros(len(first), np.int64)
    for coarser in tables.GRAINS[:-1]:
        grain += np.logical_or.reduceat(local % coarser != 0, first)
    return np.bincount(grain, minlength=len(tables.GRAINS))


def _step_durations(engine: HasCases, table: tables.StepDurations) -> Integers:
    """Count how long steps take."""
    steps = _steps(engine.cases)
    return add_clipped(steps.case, steps.bins, tables.DURATION_BINS, table.clip, table.scale)


def _longest_steps(engine: HasCases, table: tables.LongestSteps) -> Integers:
    """Count how long the longest step of a case takes."""
    return np.bincount(tables.total_bins(_longest(engine.cases).bins), minlength=tables.TOTAL_BINS)


def _edge_durations(engine: HasCases, table: tables.EdgeDurations) -> Integers:
    """Count how long the steps of each edge take."""
    steps = _steps(engine.cases)
    cell = _edge_cells(engine.cases, steps, table.cells)
    return add_clipped(steps.case, cell, table.cells.size, table.clip, table.scale)


def _longest_edges(engine: HasCases, table: tables.LongestEdges) -> Integers:
    """Count the edges and durations of longest steps."""
    cell = _edge_cells(engine.cases, _longest(engine.cases), table.cells)
    return np.bincount(cell, minlength=table.cells.size)


def _activity_hours(engine: HasCases, table: tables.ActivityHours) -> Integers:
    """Count the hours in which activities happen that had been waited for."""
    steps, cases = _steps(engine.cases), engine.cases
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
