"""Which tables about times are asked for, with which shares of the budget, and what they say together about how long cases last.

The squares of the shares' mu add up to that of the mu given. Only released figures and traces decide what is asked next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import FINE, Table
from libra.eventlog.cases import Floats, Integers, Traces, traces_of
from libra.mechanisms.libra.times import durations, histogram, ties
from libra.mechanisms.libra.times.histogram import Level, combined, denoise, last_bin, tree, unknown
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

# Shares of what is left when the years and the granularity have what they need.
OF_STARTS = {"weeks": 0.11, "start_hours": 0.035, "start_days": 0.015}
OF_STEPS = {"steps": 0.03, "edges": 0.27, "again": 0.27, "pairs": 0.05, "hours": 0.04}
SHARES = OF_STARTS | OF_STEPS | {"grouped": 0.05}
YEARS_SEEN, YEARS_SHARES = 22.0, (0.03, 0.25)  # so many standard deviations for all cases; least and largest share for it
GRAIN_SEEN, GRAIN_SHARES = 6.0, (0.005, 0.08)
TOTALS_SEEN, TOTALS_SHARES = 100.0, (0.065, 0.09)  # of each of the two looks
SINGLE_WEEKS = 1 / 3  # of the share of weeks, where single weeks are worth it
WAITED = tables.HOUR  # an event counts for the hours of its activity if it comes at least this long after the one before
OF_ALL_STEPS = 0.6  # the quantile of norms that cases are clipped to where all steps are counted together
FINEST = 6  # a bin of totals is cut in 64 parts at most, each less than 1 % wide
ENOUGH = 2.0  # standard deviations that the mean part should hold
OF_PAIRS = ("clip", "slow", "shares", "pairs")  # fields that are released; their rows are those of the first look


@dataclass(frozen=True, eq=False, repr=False)
class TimeFigures:
    """What was released about times."""

    noisy: Mapping[str, NoisyTable]  # the noisy tables by name
    years: tuple[int, ...]  # the years in which cases start
    parts: tuple[int, ...]  # in how many parts, as a power of two, each bin of case durations was counted
    cells: tuple[tables.EdgeCells, ...]  # of the durations of edges, in the first look and in the second
    pairs: tables.SlowPairs | None = None  # which pairs of edges were asked about
    uses: tuple[int, ...] = ()  # how often each of these is in the control flow
    grouped: tables.GroupedTotals | None = None  # which cases have totals of their own

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        pairs, grouped = self.pairs, self.grouped
        return {
            "noisy": {name: table.to_dict() for name, table in self.noisy.items()},
            "years": list(self.years),
            "parts": list(self.parts),
            "cells": [asdict(cells) for cells in self.cells],
            "pairs": None if pairs is None else {name: getattr(pairs, name) for name in OF_PAIRS},
            "uses": list(self.uses),
            "grouped": None if grouped is None else _plain(grouped),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TimeFigures:
        """The figures of a JSON document."""
        noisy = {name: NoisyTable.from_dict(table) for name, table in plain["noisy"].items()}
        cells = tuple(tables.EdgeCells(**_tuples(one)) for one in plain["cells"])
        parts, pairs, grouped = tuple(plain["parts"]), plain["pairs"], plain["grouped"]
        if pairs is not None:
            pairs = tables.SlowPairs(cells=cells[0], **_tuples(pairs))
        if grouped is not None:
            variants = traces_of(grouped["variants"])
            grouped = tables.GroupedTotals(variants, tuple(grouped["lengths"]), parts, tuple(grouped["groups"]))
        return cls(noisy, tuple(plain["years"]), parts, cells, pairs, tuple(plain["uses"]), grouped)


def _plain(grouped: tables.GroupedTotals) -> dict[str, Any]:
    return {"variants": grouped.variants.to_lists(), "lengths": grouped.lengths, "groups": grouped.groups}


def _tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


def release_times(
    gate: Gate, traces: Traces, n_labels: int, mu: float, time_zone: str = "UTC", counts: Integers | None = None
) -> TimeFigures:
    """Ask the gate for everything about times, in four rounds; for a control flow without events, for nothing.

    `traces` are the control flow that is released: a row a case or, with `counts` of cases that follow each, distinct traces.
    """
    followed = np.ones(len(traces), np.int64) if counts is None else counts
    if not (followed @ traces.lengths):
        return TimeFigures({}, (), (), ())
    n_cases = int(followed.sum())
    for_years = _enough(YEARS_SEEN, YEARS_SHARES, n_cases, mu)
    for_grain = _enough(GRAIN_SEEN, GRAIN_SHARES, n_cases, mu)
    for_totals = _enough(TOTALS_SEEN, TOTALS_SHARES, n_cases, mu)
    rest = mu * math.sqrt((1 - for_years - for_grain - 2 * for_totals) / sum(SHARES.values()))
    mus = {name: rest * math.sqrt(share) for name, share in SHARES.items()}
    mus |= {"years": mu * math.sqrt(for_years), "granularity": mu * math.sqrt(for_grain)}
    mus |= dict.fromkeys(("totals", "total_parts"), mu * math.sqrt(for_totals))
    steps = durations.steps_of(traces, n_labels)
    plain = durations.norms_of(steps, followed, np.ones(n_labels**2))
    first: dict[str, Table] = {
        "years": tables.StartYears(time_zone),
        "granularity": tables.Granularity(time_zone),
        "start_hours": tables.StartHours(time_zone),
        "start_days": tables.StartDays(time_zone),
        "totals": tables.CaseDurations(),
        "steps": tables.StepDurations(durations.drawable(max(plain.quantile(OF_ALL_STEPS), 1.0), mus["steps"], FINE)),
        "hours": tables.ActivityHours(1.0, n_labels, WAITED, time_zone),
    }
    noisy: dict[str, NoisyTable] = {}

    def ask(**asked: Table) -> None:
        gate.look_ahead(*asked.values())
        noisy.update({name: gate.release(table, mus[name]) for name, table in asked.items()})

    ask(**first)
    years, parts = histogram.active_years(noisy["years"]), parts_of(noisy["totals"], 1 / mus["total_parts"])
    weeks, mus_of_weeks = _weeks(years, n_cases, mus["weeks"], time_zone)
    mus |= mus_of_weeks
    ask(total_parts=tables.CaseDurationParts(parts), **weeks)
    last = last_total(noisy, parts)
    overall = durations.overall_steps(noisy["steps"], last)
    totals = total_histogram(noisy["totals"], noisy["total_parts"], parts, last).shares
    layout = durations.layout_of(steps, followed, n_labels, math.hypot(mus["edges"], mus["again"]))
    ends = durations.groups_of(overall)
    once = layout.cells(n_labels, ends)
    grouped = ties.grouped_totals(traces, followed, parts, totals, mus["grouped"])
    if grouped is None:
        mus["again"] = math.hypot(mus["again"], mus["grouped"])
    ask(edges=tables.EdgeDurations(layout.clip, once), **({} if grouped is None else {"grouped": grouped}))
    again = layout.cells(n_labels, ends, durations.parts_of_groups(noisy["edges"], once))
    shares = durations.first_shares(noisy["edges"], once, overall)
    pairs = ties.slow_pairs(steps, followed, once, shares, mus["pairs"])
    if pairs is None:
        mus["again"] = math.hypot(mus["again"], mus["pairs"])
    ask(again=tables.EdgeDurations(layout.clip, again), **({} if pairs is None else {"pairs": pairs}))
    uses = () if pairs is None else ties.uses_of(pairs, steps, followed)
    return TimeFigures(noisy, years, parts, (once, again), pairs, uses, grouped)


def _enough(seen: float, shares: tuple[float, float], n_cases: int, mu: float) -> float:
    """The share with which all cases together stand out by so many standard deviations, within bounds."""
    return min(max((seen / (n_cases * mu)) ** 2, shares[0]), shares[1])


def _weeks(years: tuple[int, ...], n_cases: int, mu: float, time_zone: str) -> tuple[dict[str, Table], dict[str, float]]:
    """Starts in blocks of four weeks; in single weeks too, where their counts would not drown in noise. And the mu of each."""
    blocks = tables.StartWeeks(years, tables.WEEKS_A_BLOCK, time_zone)
    for_single = mu * math.sqrt(SINGLE_WEEKS)
    if n_cases * for_single < len(years) * tables.WEEKS_A_YEAR:
        return {"blocks": blocks}, {"blocks": mu}
    single = tables.StartWeeks(years, 1, time_zone)
    return {"blocks": blocks, "weeks": single}, {"blocks": mu * math.sqrt(1 - SINGLE_WEEKS), "weeks": for_single}


class Histogram(NamedTuple):
    """Shares of cells, and where these begin and end."""

    shares: Floats
    bounds: Floats


def parts_of(totals: NoisyTable, sd: float) -> tuple[int, ...]:
    """In how many parts, as a power of two, each bin is to be counted when the noise of a part has this standard deviation."""
    filled = np.maximum(totals.values / (ENOUGH * sd), 1)
    parts = np.clip(np.floor(np.log2(filled)).astype(np.int64), 0, FINEST)
    parts[:2] = 0
    return tuple(parts.tolist())


def counted_twice(totals: NoisyTable, cut: NoisyTable, parts: tuple[int, ...]) -> Level:
    """The best counts of the bins of totals, from both tables."""
    first = tables.CaseDurationParts(parts).first_cells
    again = np.add.reduceat(cut.values, first[:-1])
    sizes = np.diff(first)
    once = Level(totals.values[None, :], np.full((1, len(parts)), totals.sd**2))
    return combined(once, Level(again[None, :], sizes[None, :] * cut.sd**2))


def last_total(noisy: Mapping[str, NoisyTable], parts: tuple[int, ...]) -> int:
    """The last bin of totals that can be believed."""
    totals = counted_twice(noisy["totals"], noisy["total_parts"], parts)
    return last_bin(totals.values[0] / np.sqrt(totals.variances[0]))


def total_histogram(totals: NoisyTable, cut: NoisyTable, parts: tuple[int, ...], last: int) -> Histogram:
    """The shares of cases in each part of each bin of totals, none above the last bin given."""
    bins = counted_twice(totals, cut, parts)
    size = 1 << (len(parts) - 1).bit_length()
    values, variances, wanted = np.zeros((1, size)), np.ones((1, size)), np.zeros(size)
    values[:, : last + 1], variances[:, : last + 1] = bins.values[:, : last + 1], bins.variances[:, : last + 1]
    wanted[: last + 1] = 1.0
    total = np.array([max(float(values.sum()), totals.sd)])
    shares = denoise(tree(values, variances), wanted, total)[0, : len(parts)]
    first = tables.CaseDurationParts(parts).first_cells
    trees = unknown(len(parts), FINEST)  # one a bin, each as deep as all can be; below its parts nothing is known
    for row in range(len(parts)):
        for level, own in zip(trees, tree(cut.values[None, first[row] : first[row + 1]], cut.sd**2), strict=False):
            level.values[row], level.variances[row] = own.values[0], own.variances[0]
    within = denoise(trees, np.ones(1 << FINEST), shares * total)
    cells = [of_bin.reshape(1 << part, -1).sum(1) for of_bin, part in zip(shares[:, None] * within, parts, strict=True)]
    return Histogram(np.concatenate(cells), tables.part_bounds(parts))
