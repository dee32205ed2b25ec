"""Steps: which edge each one is, how much its cases weigh in a clipped table, and how the bins of durations are grouped.

Only released figures and traces go in.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.time_tables import DURATION_BINS, duration_bounds
from libra.eventlog.cases import Floats, Integers, Traces
from libra.mechanisms.libra.times.histogram import KNOWN, UNKNOWN, Level, above, combined, denoise, last_believed, tree, unknown
from libra.privacy.noise import NoisyTable

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
    within = denoise(_trees(cut, parts), np.ones(1 << FINEST), shares * total)
    cells = [row.reshape(1 << part, -1).sum(1) for row, part in zip(shares[:, None] * within, parts, strict=True)]
    return Histogram(np.concatenate(cells), tables.part_bounds(parts))


def _trees(cut: NoisyTable, parts: tuple[int, ...]) -> list[Level]:
    """A tree a bin, each as deep as all can be; below its parts nothing is known."""
    first = tables.CaseDurationParts(parts).first_cells
    levels = unknown(len(parts), FINEST)
    for row in range(len(parts)):
        for level, own in zip(levels, tree(cut.values[None, first[row] : first[row + 1]], cut.sd**2), strict=False):
            level.values[row], level.variances[row] = own.values[0], own.variances[0]
    return levels


class Overall(NamedTuple):
    """Shares of all steps in each duration bin, and what part of them are longest steps of their case."""

    shares: Floats
    longest: Floats


def overall_steps(steps: NoisyTable, longest: NoisyTable, last: int) -> Overall:
    """The shares of all steps, none longer than the last bin of totals that is believed."""
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
