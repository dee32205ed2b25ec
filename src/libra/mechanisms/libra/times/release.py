"""Which tables about times are asked for, with which shares of the budget, and what they say together about durations.

The squares of the shares' mu add up to that of the mu given. Only released figures and traces decide what is asked next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import Table
from libra.engines.time_tables import DURATION_BINS, duration_bounds
from libra.eventlog.cases import Floats, Integers, Traces
from libra.mechanisms.libra.times import histogram
from libra.mechanisms.libra.times.histogram import KNOWN, UNKNOWN, Level, above, combined, denoise, last_believed, tree, unknown
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

# Shares of what is left when the years and the granularity have what they need.
OF_STARTS, OF_CASES = {"weeks": 0.11, "start_hours": 0.035, "start_days": 0.015}, {"totals": 0.065, "total_parts": 0.065}
OF_STEPS = {"steps": 0.06, "longest": 0.06, "edges": 0.46, "longest_edges": 0.09, "hours": 0.04}
SHARES = OF_STARTS | OF_CASES | OF_STEPS
YEARS_SEEN, YEARS_SHARES = 22.0, (0.03, 0.25)  # so many standard deviations for all cases; least and largest share for it
GRAIN_SEEN, GRAIN_SHARES = 6.0, (0.005, 0.08)
SINGLE_WEEKS = 1 / 3  # of the share of weeks, where single weeks are worth it
WAITED = tables.HOUR  # an event counts for the hours of its activity if it comes at least this long after the one before
LARGEST = 256.0  # norm: more would need more noise than can be drawn exactly, at a tiny budget
FINEST = 6  # a bin of totals is cut in 64 parts at most, each less than 1 % wide
ENOUGH = 2.0  # standard deviations that the mean part should hold
WINDOW = np.ones(3)  # bins that the part of longest steps is taken over
RELIABLE = 4.0  # standard deviations that such a window needs
OFF = 1.0  # how far, relatively, an estimate from longest steps may be off beside its noise
LEAST = 0.1  # below this part, longest steps say nothing about steps
CELLS = 128  # the next power of two
DEPTH, SHALLOWEST = 5, 2  # of the tree of groups: 32 of them, and 4 for the edges with the fewest
ENOUGH_PER_EDGE = 1.0  # standard deviations that the mean cell of an edge should hold
VISIBLE = 1.0  # standard deviations that an edge needs for cells of its own
WEIGHTS = (1.0, 0.5, 2.0)  # of mass, hours and width of a group
MOST_EDGES = 4000


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
    years, parts = histogram.active_years(noisy["years"]), parts_of(noisy["totals"], 1 / mus["total_parts"])
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


class Steps(NamedTuple):
    """For every step: the position of the event it leads to, its trace, its edge (source code times labels plus target code)."""

    position: Integers
    row: Integers
    edge: Integers


def steps_of(traces: Traces, n_labels: int) -> Steps:
    """The steps of traces."""
    following = np.ones(len(traces.codes), np.bool_)
    following[traces.offsets[:-1][traces.lengths > 0]] = False
    position = np.flatnonzero(following)
    return Steps(position, traces.rows[position], traces.codes[position - 1] * n_labels + traces.codes[position])


class Clip(NamedTuple):
    """The norm that counts of steps are clipped to, and what share of all steps is left then."""

    norm: float
    kept: float


def clip_of(steps: Steps, n_labels: int, counts: Integers | None = None) -> Clip:
    """The median norm of the edge counts of a case, from 1 to `LARGEST`; `counts` cases follow each trace, or one."""
    if not len(steps.edge):
        return Clip(1.0, 1.0)
    keys = np.sort(steps.row * np.int64(n_labels**2) + steps.edge)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    times, row = np.diff(first, append=len(keys)), keys[first] // n_labels**2
    squares, sizes = np.bincount(row, np.square(times, dtype=np.float64)), np.bincount(row, times)
    stepping = np.flatnonzero(sizes)
    cases = np.ones(len(stepping), np.int64) if counts is None else counts[stepping]
    if not cases.any():
        return Clip(1.0, 1.0)
    norms, sizes = np.sqrt(squares[stepping]), sizes[stepping] * cases
    norm = min(max(_median(norms, cases), 1.0), LARGEST)
    return Clip(norm, float(np.minimum(1.0, norm / norms) @ sizes / sizes.sum()))


def _median(values: Floats, times: Integers) -> float:
    """The median of values that come so many times each."""
    order = np.argsort(values, kind="stable")
    until = np.cumsum(times[order])
    middle = np.searchsorted(until, [(until[-1] - 1) // 2, until[-1] // 2], side="right")
    return float(values[order[middle]].mean())


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
    return last_believed(counted_twice(noisy["totals"], noisy["total_parts"], parts), noisy["longest"])


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


class Overall(NamedTuple):
    """Shares of all steps in each duration bin, and what part of them are longest steps of their case."""

    shares: Floats
    longest: Floats


@lru_cache(maxsize=8)
def overall_steps(steps: NoisyTable, longest: NoisyTable, last: int) -> Overall:
    """The shares of all steps, none longer than the last bin of totals that is believed; for the release and for all parts."""
    last = max(last, 1)
    end = 2 * last  # bins of totals are pairs of duration bins, but for the first two
    wanted = np.zeros(CELLS)
    wanted[:end] = 1.0
    leaves = Level(np.zeros((1, CELLS)), np.full((1, CELLS), KNOWN))
    leaves.values[0, :end], leaves.variances[0, :end] = steps.values[:end], steps.sd**2
    pairs = above(leaves)
    seen = np.concatenate(([longest.values[:2].sum()], longest.values[2 : last + 1]))
    part = np.zeros((1, CELLS // 2))
    part[0, :last] = _longest_part(pairs.values[0, :last], np.sqrt(2) * steps.sd, seen)
    guess = np.zeros((1, CELLS // 2))
    guess[0, :last] = seen
    pairs = with_longest(pairs, guess, longest.sd**2, part)
    levels = [*tree(pairs.values, pairs.variances), leaves]
    shares = denoise(levels, wanted, np.maximum(levels[0].values[:, 0], steps.sd))
    return Overall(shares[0, :DURATION_BINS], np.repeat(part[0], 2)[:DURATION_BINS])


def _longest_part(steps: Floats, sd: float, longest: Floats) -> Floats:
    """For every bin, how many longest steps there are to a step; above what is reliable it approaches 1, at the last bin."""
    all_steps, longest_ones = (np.convolve(values, WINDOW, mode="full")[1:-1] for values in (steps, longest))
    reliable = np.flatnonzero(all_steps >= RELIABLE * sd * np.sqrt(len(WINDOW)))
    part = np.zeros(len(steps))
    part[reliable] = np.clip(longest_ones[reliable] / all_steps[reliable], 0, 1)
    end = int(reliable[-1]) if len(reliable) else 0
    part[end:] = max(part[end], LEAST) ** np.linspace(1, 0, len(steps) - end)
    return part


def with_longest(steps: Level, longest: Floats, variance: float, part: Floats) -> Level:
    """Noisy counts of steps, improved by those of longest steps where these are a good part of all."""
    usable = part >= LEAST
    safe = np.where(usable, part, 1.0)
    guess = longest / safe
    variances = np.where(usable, variance / safe**2 + (OFF * np.maximum(guess, 0)) ** 2, UNKNOWN)
    return combined(steps, Level(guess, variances))


def duration_groups(shares: Floats) -> tuple[int, ...]:
    """The group of every duration bin: halves, quarters and so on of mass, of hours and of width together."""
    bounds = duration_bounds()
    middle = np.sqrt(np.maximum(bounds[:-1], 1) * np.maximum(bounds[1:], 1))
    hours = shares * middle
    present = shares > 0
    width = np.where(present, np.diff(np.log10(1 + bounds / 1e6)), 0)
    parts = zip(WEIGHTS, (shares, hours, width), strict=True)
    weight = sum((by * part / part.sum() if part.sum() > 0 else part for by, part in parts), np.zeros(DURATION_BINS))
    ends = [0, DURATION_BINS]
    for _ in range(DEPTH):
        ends = [0, *(end for begin, last in pairwise(ends) for end in (_halved(weight, begin, last), last))]
    return tuple(np.repeat(np.arange(1 << DEPTH), np.diff(ends)).tolist())


def _halved(weight: Floats, begin: int, end: int) -> int:
    """Where to cut a range of bins so that both parts weigh about the same; a range of one bin goes to the left."""
    sums = np.cumsum(weight[begin:end])
    if end - begin < 2 or sums[-1] <= 0:
        return end
    return begin + 1 + int(np.argmin(np.abs(sums[:-1] - sums[-1] / 2)))


def merged_groups(counts: Floats, sd: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The edges that are visible at all, and for each (and for all others together) how many groups, as a power of two, to merge.

    `counts` is how often each edge will be counted, as far as is known, and `sd` the noise of a cell.
    """
    edges = np.flatnonzero(counts >= VISIBLE * sd)
    if len(edges) > MOST_EDGES:
        edges = np.sort(edges[np.argsort(-counts[edges], kind="stable")[:MOST_EDGES]])
    every = np.append(counts[edges], counts.sum() - counts[edges].sum())
    depth = np.clip(np.floor(np.log2(np.maximum(every / (ENOUGH_PER_EDGE * sd), 1))).astype(np.int64), SHALLOWEST, DEPTH)
    return tuple(edges.tolist()), tuple((DEPTH - depth).tolist())
