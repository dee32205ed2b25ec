"""Which tables about times are asked for, with which shares of the budget.

In: the gate and the control flow that is released. Out: `TimeFigures`, noisy tables and the released facts they were asked
with; all that the generation of times sees. The squares of the shares' mu add up to the mu that was given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import Table
from libra.eventlog.cases import Integers, Traces
from libra.mechanisms.libra.times.histogram import active_years
from libra.mechanisms.libra.times.steps import (
    clip_of,
    duration_groups,
    last_total,
    merged_groups,
    overall_steps,
    parts_of,
    steps_of,
)
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
    """What was released about times.

    Attributes:
        noisy: The noisy tables by name.
        years: The years in which cases start.
        parts: In how many parts, as a power of two, each bin of case durations was counted.
        cells: The edges with durations of their own, and the groups of bins they were counted in.
    """

    noisy: Mapping[str, NoisyTable]
    years: tuple[int, ...]
    parts: tuple[int, ...]
    cells: tables.EdgeCells

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
        return cls(
            noisy, tuple(plain["years"]), tuple(plain["parts"]), tables.EdgeCells(edges, cells["n_labels"], groups, merged)
        )


def release_times(
    gate: Gate, traces: Traces, n_labels: int, mu: float, time_zone: str = "UTC", counts: Integers | None = None
) -> TimeFigures:
    """Ask the gate for everything about times, in three rounds; for a control flow without events, for nothing.

    Args:
        gate: Where to ask.
        traces: The control flow that is released, a row a case, or distinct traces.
        n_labels: How many labels there are.
        mu: What may be spent: the squares of all requests add up to its square.
        time_zone: Whose hours and days are counted.
        counts: How many cases follow each trace, where they are distinct.

    Example:
        >>> from libra.engines.polars import engine_of
        >>> from libra.example.simulate import simulate
        >>> from libra._system.randomness import Randomness
        >>> engine = engine_of(simulate(cases=200))
        >>> traces = Traces(engine.cases.codes, engine.cases.offsets)
        >>> figures = release_times(Gate(engine, Randomness()), traces, len(engine.labels), mu=1.0)
        >>> sorted(figures.noisy)[:4], figures.noisy["years"].counts.shape
        (['blocks', 'edges', 'granularity', 'hours'], (131,))
    """
    followed = np.ones(len(traces), np.int64) if counts is None else counts
    if not (followed @ traces.lengths):
        return TimeFigures({}, (), (), tables.EdgeCells((), n_labels, (), ()))
    steps, n_cases = steps_of(traces, n_labels), int(followed.sum())
    clip = clip_of(steps, n_labels, followed)
    for_years = _enough(YEARS_SEEN, YEARS_SHARES, n_cases, mu)
    for_grain = _enough(GRAIN_SEEN, GRAIN_SHARES, n_cases, mu)
    rest = mu * math.sqrt((1 - for_years - for_grain) / sum(SHARES.values()))
    mus = {name: rest * math.sqrt(share) for name, share in SHARES.items()}
    mus |= {"years": mu * math.sqrt(for_years), "granularity": mu * math.sqrt(for_grain)}
    first: dict[str, Table] = {
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

    def ask(name: str, table: Table) -> None:
        noisy[name] = gate.release(table, mus[name])

    gate.look_ahead(*first.values())
    for name in ("years", "granularity", "start_hours", "start_days", "totals"):
        ask(name, first[name])
    years, parts = active_years(noisy["years"]), parts_of(noisy["totals"], 1 / mus["total_parts"])
    weeks, total_parts = _weeks(years, n_cases, mus["weeks"], time_zone), tables.CaseDurationParts(parts)
    gate.look_ahead(total_parts, *(table for table, _ in weeks.values()))
    ask("total_parts", total_parts)
    for name in ("longest", "steps", "hours"):
        ask(name, first[name])
    noisy |= {name: gate.release(table, mu_weeks) for name, (table, mu_weeks) in weeks.items()}
    overall = overall_steps(noisy["steps"], noisy["longest"], last_total(noisy, parts))
    used = np.bincount(steps.edge, followed[steps.row], minlength=n_labels**2).astype(np.float64) * clip.kept
    edges, merged = merged_groups(used, clip.norm / mus["edges"])
    cells = tables.EdgeCells(edges, n_labels, duration_groups(overall.shares), merged)
    last: dict[str, Table] = {
        "edges": tables.EdgeDurations(clip.norm, cells),
        "longest_edges": tables.LongestEdges(cells),
    }
    gate.look_ahead(*last.values())
    for name, table in last.items():
        ask(name, table)
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
