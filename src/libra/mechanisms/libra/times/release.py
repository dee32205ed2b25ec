"""Which tables about times are asked for, with which shares of the budget; their squares add up to that of the mu given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from libra.engines import time_tables as tables
from libra.eventlog.cases import Integers, Traces
from libra.mechanisms.libra.times import steps as of_steps
from libra.mechanisms.libra.times.histogram import active_years
from libra.mechanisms.libra.times.steps import last_total, overall_steps, steps_of
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

SHARES = {  # of what is left when the years and the granularity have what they need
    "weeks": 0.11,
    "start_hours": 0.035,
    "start_days": 0.015,
    "totals": 0.065,
    "total_parts": 0.065,
    "steps": 0.06,
    "longest": 0.06,
    "edges": 0.46,
    "longest_edges": 0.09,
    "hours": 0.04,
}
YEARS_SEEN, YEARS_SHARES = 22.0, (0.03, 0.25)  # so many standard deviations for all cases; least and largest share for it
GRAIN_SEEN, GRAIN_SHARES = 6.0, (0.005, 0.08)
SINGLE_WEEKS = 1 / 3  # of the share of weeks, where single weeks are worth it
WAITED = tables.HOUR  # an event counts for the hours of its activity if it comes at least this long after the one before


@dataclass(frozen=True, eq=False, repr=False)
class TimeFigures:
    """What was released about times."""

    noisy: Mapping[str, NoisyTable]  # the noisy tables by name
    years: tuple[int, ...]  # the years in which cases start
    parts: tuple[int, ...]  # in how many parts, as a power of two, each bin of case durations was counted
    cells: tables.EdgeCells  # the edges with durations of their own, and the groups of bins they were counted in

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        noisy = {name: table.to_dict() for name, table in self.noisy.items()}
        return {"noisy": noisy, "years": list(self.years), "parts": list(self.parts), "cells": asdict(self.cells)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TimeFigures:
        """The figures of a JSON document."""
        noisy = {name: NoisyTable.from_dict(table) for name, table in plain["noisy"].items()}
        cells = plain["cells"]
        edges, groups, merged = (tuple(cells[name]) for name in ("edges", "groups", "merged"))
        made = tables.EdgeCells(edges, cells["n_labels"], groups, merged)
        return cls(noisy, tuple(plain["years"]), tuple(plain["parts"]), made)


def release_times(
    gate: Gate, traces: Traces, n_labels: int, mu: float, time_zone: str = "UTC", counts: Integers | None = None
) -> TimeFigures:
    """Ask the gate for everything about times, in three rounds; for a control flow without events, for nothing.

    `traces` are the control flow that is released: a row a case or, with `counts` of cases that follow each, distinct traces.
    """
    followed = np.ones(len(traces), np.int64) if counts is None else counts
    if not (followed @ traces.lengths):
        return TimeFigures({}, (), (), tables.EdgeCells((), n_labels, (), ()))
    steps, n_cases = steps_of(traces, n_labels), int(followed.sum())
    clip = of_steps.clip_of(steps, n_labels, followed)
    for_years = _enough(YEARS_SEEN, YEARS_SHARES, n_cases, mu)
    for_grain = _enough(GRAIN_SEEN, GRAIN_SHARES, n_cases, mu)
    rest = mu * math.sqrt((1 - for_years - for_grain) / sum(SHARES.values()))
    mus = {name: rest * math.sqrt(share) for name, share in SHARES.items()}
    mus |= {"years": mu * math.sqrt(for_years), "granularity": mu * math.sqrt(for_grain)}
    first: dict[str, tables.TimeTable] = {
        "years": tables.StartYears(time_zone),
        "granularity": tables.Granularity(time_zone),
        "start_hours": tables.StartHours(time_zone),
        "start_days": tables.StartDays(time_zone),
        "totals": tables.CaseDurations(),
        "longest": tables.LongestSteps(),
        "steps": tables.StepDurations(clip.norm),
        "hours": tables.ActivityHours(1.0, n_labels, WAITED, time_zone),
    }
    noisy: dict[str, NoisyTable] = {}

    def ask(name: str, table: tables.TimeTable) -> None:
        noisy[name] = gate.release(table, mus[name])

    gate.look_ahead(*first.values())
    for name in ("years", "granularity", "start_hours", "start_days", "totals"):
        ask(name, first[name])
    years, parts = active_years(noisy["years"]), of_steps.parts_of(noisy["totals"], 1 / mus["total_parts"])
    weeks, total_parts = _weeks(years, n_cases, mus["weeks"], time_zone), tables.CaseDurationParts(parts)
    gate.look_ahead(total_parts, *(table for table, _ in weeks.values()))
    ask("total_parts", total_parts)
    for name in ("longest", "steps", "hours"):
        ask(name, first[name])
    noisy |= {name: gate.release(table, mu_weeks) for name, (table, mu_weeks) in weeks.items()}
    overall = overall_steps(noisy["steps"], noisy["longest"], last_total(noisy, parts))
    used = np.bincount(steps.edge, followed[steps.row], minlength=n_labels**2).astype(np.float64) * clip.kept
    edges, merged = of_steps.merged_groups(used, clip.norm / mus["edges"])
    cells = tables.EdgeCells(edges, n_labels, of_steps.duration_groups(overall.shares), merged)
    of_edges, longest_edges = tables.EdgeDurations(clip.norm, cells), tables.LongestEdges(cells)
    gate.look_ahead(of_edges, longest_edges)
    ask("edges", of_edges)
    ask("longest_edges", longest_edges)
    return TimeFigures(noisy, years, parts, cells)


def _enough(seen: float, shares: tuple[float, float], n_cases: int, mu: float) -> float:
    """The share with which all cases together stand out by so many standard deviations, within bounds."""
    return min(max((seen / (n_cases * mu)) ** 2, shares[0]), shares[1])


def _weeks(years: tuple[int, ...], n_cases: int, mu: float, time_zone: str) -> dict[str, tuple[tables.StartWeeks, float]]:
    """Starts in blocks of four weeks; in single weeks too, where their counts would not drown in noise."""
    blocks = tables.StartWeeks(years, tables.WEEKS_A_BLOCK, time_zone)
    for_single = mu * math.sqrt(SINGLE_WEEKS)
    if n_cases * for_single < len(years) * tables.WEEKS_A_YEAR:
        return {"blocks": (blocks, mu)}
    single = tables.StartWeeks(years, 1, time_zone)
    return {"blocks": (blocks, mu * math.sqrt(1 - SINGLE_WEEKS)), "weeks": (single, for_single)}
