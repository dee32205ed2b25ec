"""How long the steps of each edge take: which cells are asked for, and the shares that noisy cells say together.

There are two looks. The first counts the steps of each edge in a few groups of bins that all edges share; the second cuts the
groups that hold enough into finer parts, so that timers stay where they are. Steps of frequent edges weigh less: one case has few
steps of rare ones. An edge with little of its own follows the others that lead to the same activity.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from libra.engines import time_tables as tables
from libra.engines.contract import FINE
from libra.engines.time_tables import DURATION_BINS, FINER, WEIGHT, EdgeCells, duration_bounds
from libra.eventlog.cases import Floats, Integers, Traces
from libra.eventlog.instances import Flags
from libra.mechanisms.libra.times.histogram import KNOWN, TINY, Level, combined, denoise, last_clear, tree, unknown
from libra.privacy.noise import LARGEST_SD, NoisyTable

WEIGHS = -0.2  # the power of its count that a step of an edge weighs
# What lost steps weigh against noise where a clip is chosen: on seven public logs the best clip leaves a share of lost steps as
# large as 30 to 60 times the noise of all edges, as a share of all steps.
OF_NOISE = 45.0
CLIPS = np.linspace(0.3, 0.99, 24)  # quantiles of the norms of cases, among which it is chosen
LARGEST = 256.0  # norm
VISIBLE = 2.0  # standard deviations that an edge needs for a row of its own
MOST_EDGES = 4000
FIRST_BINS = 2  # groups of their own: no time at all, and less than a second
DEPTH = 3  # of the tree of all other groups: there are up to eight
PLACES = 16  # of groups in a tree; those from a second on are the second half
WHOLE = (1.0, 0.5, 2.0)  # what mass, hours and width of a group weigh where groups are made alike
FINEST = 6  # a group is cut in 64 parts at most
FILLED = 2.0  # standard deviations that the mean part should hold
LIKE_TARGET = 0.9  # how much of what is expected of an edge comes from the others that lead to its activity
SURE = 0.1  # how far, relatively, the control flow may be off about the count of an edge
OF_TIMER, BESIDE_TIMER = 0.1, 4.0  # what a part with a timer holds: of its row, and of the larger part beside it
EMPTY = 0.5  # standard deviations: a cell with less, at the first estimate, is taken out


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


class Norms(NamedTuple):
    """Of every trace with steps: the norm of its counts of edges, how many steps it has, and how many cases follow it."""

    norms: Floats
    sizes: Integers
    cases: Integers

    def quantile(self, share: float) -> float:
        """The norm that this share of the cases does not exceed, from 1 / WEIGHT to `LARGEST`."""
        order = np.argsort(self.norms, kind="stable")
        until = np.cumsum(self.cases[order])
        found = float(self.norms[order][np.searchsorted(until, share * until[-1])]) if len(order) else 1.0
        return min(max(found, 1 / WEIGHT), LARGEST)

    def lost(self, clip: float) -> float:
        """The share of steps that are lost where cases are clipped to this norm."""
        kept = np.minimum(1.0, clip / np.maximum(self.norms, TINY))
        steps = self.sizes * self.cases
        return 1 - float(kept @ steps / max(steps.sum(), 1))


def norms_of(steps: Steps, counts: Integers, weights: Floats) -> Norms:
    """The norms of traces that so many cases follow, with a weight for every edge."""
    n_edges = len(weights)
    keys, times = np.unique(steps.row * np.int64(n_edges) + steps.edge, return_counts=True)
    row, edge = np.divmod(keys, n_edges)
    squares, sizes = np.bincount(row, np.square(times * weights[edge])), np.bincount(row, times)
    some = np.flatnonzero(sizes)
    some = some[counts[some] > 0]
    return Norms(np.sqrt(squares[some]), sizes[some].astype(np.int64), counts[some])


class Layout(NamedTuple):
    """Which rows edges have, and to which norm cases are clipped; to be cut in groups."""

    edges: Integers
    targets: Integers
    weights: Integers  # of every row, in parts of `WEIGHT`
    clip: float

    def cells(self, n_labels: int, ends: tuple[int, ...], parts: Integers | None = None) -> EdgeCells:
        """Cells of these groups, each in one part or in as many as said."""
        cut = np.zeros(len(self.weights) * len(ends), np.int64) if parts is None else parts.ravel()
        edges, targets, weights = (tuple(some.tolist()) for some in (self.edges, self.targets, self.weights))
        return EdgeCells(n_labels, edges, targets, weights, ends, tuple(cut.tolist()))


def drawable(clip: float, mu: float, scale: int) -> float:
    """The clip, or the largest one whose noise can be drawn exactly, at a tiny budget."""
    return min(clip, 0.999 * LARGEST_SD * mu / scale)


def layout_of(steps: Steps, counts: Integers, n_labels: int, mu: float) -> Layout:
    """The rows of a control flow in which so many cases follow each trace; `mu` is that of both looks together."""
    used = np.bincount(steps.edge, counts[steps.row], minlength=n_labels**2).astype(np.float64)
    there = used > 0
    weights = _weights(used)
    norms = norms_of(steps, counts, weights / WEIGHT)

    def error(clip: float) -> float:
        return norms.lost(clip) + OF_NOISE * _noise(clip / mu, used[there], weights[there])

    clip = drawable(min((norms.quantile(share) for share in CLIPS), key=error), mu / 2, FINE)
    sd = math.sqrt(2) * clip / mu  # of the first look
    seen = np.flatnonzero(used * weights >= VISIBLE * sd * WEIGHT)
    seen = np.sort(seen[np.argsort(-used[seen], kind="stable")[:MOST_EDGES]])
    others = used.copy()
    others[seen] = 0
    by_target = others.reshape(n_labels, n_labels).sum(0)
    targets = np.flatnonzero(by_target * _weights(by_target) >= VISIBLE * sd * WEIGHT)
    rest = np.delete(by_target, targets).sum()
    return Layout(seen, targets, _weights(np.concatenate((used[seen], by_target[targets], [rest]))), clip)


def _weights(used: Floats) -> Integers:
    """What a step weighs of an edge that is used so often, in parts of `WEIGHT`."""
    return np.clip(np.rint(WEIGHT * np.maximum(used, 1.0) ** WEIGHS), 1, WEIGHT).astype(np.int64)


def _noise(sd: float, used: Floats, weights: Integers) -> float:
    """The noise of a cell of each edge, as a share of all steps."""
    return float(np.minimum(used, sd * WEIGHT / weights).sum() / max(used.sum(), 1.0))


@lru_cache(maxsize=8)
def overall_steps(steps: NoisyTable, last: int) -> Floats:
    """The shares of all steps in each duration bin, none longer than the last bin of totals that is believed."""
    end = 2 * max(last, 1)  # bins of totals are pairs of duration bins, but for the first two
    size = 1 << (DURATION_BINS - 1).bit_length()
    values, variances, wanted = np.zeros((1, size)), np.full((1, size), KNOWN), np.zeros(size)
    values[0, :end], variances[0, :end], wanted[:end] = steps.values[:end], steps.sd**2, 1.0
    total = np.maximum(values.sum(1), steps.sd)
    return denoise(tree(values, variances), wanted, total)[0, :DURATION_BINS]


def groups_of(shares: Floats) -> tuple[int, ...]:
    """Where groups of fine bins end: of a second and more by halves of mass, of hours and of width together."""
    bounds = duration_bounds()
    middle = np.sqrt(np.maximum(bounds[:-1], 1) * np.maximum(bounds[1:], 1))
    present = np.flatnonzero(shares[FIRST_BINS:] > 0)
    end = FIRST_BINS + (int(present[-1]) + 1 if len(present) else 1)
    some = shares.copy()
    some[:FIRST_BINS] = 0.0
    parts = zip(WHOLE, (some, some * middle, (some > 0).astype(np.float64)), strict=True)
    weight = sum((by * part / part.sum() if part.sum() > 0 else part for by, part in parts), np.zeros(DURATION_BINS))
    ends = [FIRST_BINS, end]
    for _ in range(DEPTH):
        ends = [FIRST_BINS, *(cut for begin, last in pairwise(ends) for cut in (_halved(weight, begin, last), last))]
    fine = (FIRST_BINS + (at - FIRST_BINS) * FINER for at in sorted(set(ends[1:])))
    return (*range(1, FIRST_BINS + 1), *fine)


def _halved(weight: Floats, begin: int, end: int) -> int:
    """Where to cut a range of bins so that both parts weigh about the same; a range of one bin goes to the left."""
    sums = np.cumsum(weight[begin:end])
    if end - begin < 2 or sums[-1] <= 0:
        return end
    return begin + 1 + int(np.argmin(np.abs(sums[:-1] - sums[-1] / 2)))


def parts_of_groups(first: NoisyTable, cells: EdgeCells) -> Integers:
    """In how many parts, as a power of two, each group of each row is to be cut: as many as the first look says it can fill."""
    values, sd = in_steps(first, cells)
    filled = np.log2(np.maximum(values / (FILLED * sd), 1.0))
    widest = np.log2(np.diff(cells.ends, prepend=0))
    widest[:FIRST_BINS] = 0.0
    return np.floor(np.minimum(np.minimum(filled, widest), FINEST)).astype(np.int64)


def in_steps(noisy: NoisyTable, cells: EdgeCells) -> tuple[Floats, Floats]:
    """The steps of every group of every row, and the standard deviations of a cell in each row."""
    weights = np.array(cells.weights) / WEIGHT
    sums = np.add.reduceat(noisy.values, cells.first_cells[:-1])
    return sums.reshape(len(weights), -1) / weights[:, None], noisy.sd / weights[:, None]


class EdgeShares(NamedTuple):
    """The shares of the steps of each row in groups, and in 64 even parts of each group."""

    groups: Floats
    within: Floats
    ends: tuple[int, ...]

    @property
    def cells(self) -> Floats:
        """A row of shares of parts for every row."""
        return (self.groups[:, :, None] * self.within).reshape(len(self.groups), -1)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Where each part begins and ends, in microseconds."""
        fine = tables.fine_bounds()
        sizes, begins = np.diff(self.ends, prepend=0)[:, None], np.array((0, *self.ends[:-1]))[:, None]
        cuts = begins - np.arange((1 << FINEST) + 1) * -sizes // (1 << FINEST)  # rounded up
        return fine[cuts[:, :-1]].ravel(), fine[cuts[:, 1:]].ravel()

    @property
    def timers(self) -> tuple[Floats, Floats]:
        """Where the part that stands out in each row begins and ends: steps there end when time is up. Nowhere for other rows."""
        low, high = self.bounds
        wide = np.flatnonzero(high > low)  # a group of few bins has parts without any
        wide = wide[wide >= FIRST_BINS << FINEST]
        cells, low, high = self.cells[:, wide], low[wide], high[wide]
        at, rows = np.argmax(cells, axis=1), np.arange(len(cells))
        padded = np.pad(cells, ((0, 0), (1, 1)))
        beside = np.maximum(padded[rows, at], padded[rows, at + 2])
        stands_out = (cells[rows, at] >= OF_TIMER) & (cells[rows, at] >= BESIDE_TIMER * beside)
        return np.where(stands_out, low[at], np.inf), np.where(stands_out, high[at], np.inf)


def first_shares(first: NoisyTable, cells: EdgeCells, overall: Floats) -> Floats:
    """What the first look alone says: the shares of the steps of each row in groups."""
    values, sd = in_steps(first, cells)
    return _group_shares(Level(values, np.broadcast_to(sd**2, values.shape)), None, cells, overall)


def edge_shares(
    looks: tuple[NoisyTable, NoisyTable], cells: tuple[EdgeCells, EdgeCells], overall: Floats, counts: Integers, working: Flags
) -> EdgeShares:
    """What both looks say together.

    `counts` says how many steps of the control flow each row has. How many of them were counted follows from what the noisy cells
    say, and what the control flow does, in proportion. Of rows that are `working` time, nothing is believed beyond the last group
    that stands out: a few steps that seem to last for days would be most of all hours that are worked.
    """
    (first, first_sd), (again, again_sd) = (in_steps(noisy, those) for noisy, those in zip(looks, cells, strict=True))
    parts = np.array(cells[1].parts, np.int64).reshape(first.shape)
    both = combined(Level(first, np.broadcast_to(first_sd**2, first.shape)), Level(again, again_sd**2 * (1 << parts)))
    values, variances = both.values.copy(), both.variances.copy()
    for row in np.flatnonzero(working):
        last = last_clear(values[row] / np.sqrt(variances[row]))
        if last >= 0:
            values[row, last + 1 :], variances[row, last + 1 :] = 0.0, KNOWN
    groups = _group_shares(Level(values, variances), counts, cells[0], overall)
    within = _within_groups(looks[1], cells[1], parts, groups * np.maximum(values.sum(1), 1.0)[:, None], overall)
    return EdgeShares(groups, within, cells[0].ends)


def _group_shares(level: Level, counts: Integers | None, cells: EdgeCells, overall: Floats) -> Floats:
    """Shares of groups; rows that say little follow all that lead to the same activity, and these follow all steps."""
    of_bins = np.searchsorted(cells.ends, FIRST_BINS + (np.arange(FIRST_BINS, DURATION_BINS) - FIRST_BINS) * FINER, side="right")
    of_bins = np.concatenate((np.arange(FIRST_BINS), np.minimum(of_bins, len(cells.ends) - 1)))
    all_steps = np.bincount(of_bins, overall, minlength=len(cells.ends)) / max(overall.sum(), TINY)
    present = all_steps > 0
    values, variances = np.where(present, level.values, 0.0), np.where(present, level.variances, KNOWN)
    totals, known = values.sum(1), variances.sum(1)
    if counts is not None:
        guess = counts.astype(np.float64) * (max(float(totals.sum()), 1.0) / max(int(counts.sum()), 1))
        totals = combined(Level(totals, known), Level(guess, np.square(SURE * guess + 1))).values
    target = np.concatenate((np.array(cells.edges, np.int64) % cells.n_labels, cells.targets, [cells.n_labels])).astype(np.int64)
    to_target, place = np.unique(target, return_inverse=True)
    summed = [np.zeros((len(to_target), len(all_steps))) for _ in range(2)]
    for into, what in zip(summed, (values, variances), strict=True):
        np.add.at(into, place, what)
    same = np.broadcast_to(all_steps, summed[0].shape)
    by_target = _denoised(Level(*summed), same, summed[0].sum(1))
    expected = LIKE_TARGET * by_target[place] + (1 - LIKE_TARGET) * all_steps
    expected[-1] = all_steps
    shares = _denoised(Level(values, variances), expected, totals)
    empty = shares * np.maximum(totals, 1.0)[:, None] < EMPTY * np.sqrt(variances)
    level = Level(np.where(empty, 0.0, values), np.where(empty, KNOWN, variances))
    return _denoised(level, expected, totals)


def _denoised(level: Level, expected: Floats, totals: Floats) -> Floats:
    """Shares of groups, of which those of less than a second are in the first half of a tree."""
    at = np.concatenate((np.arange(FIRST_BINS), PLACES // 2 + np.arange(level.values.shape[1] - FIRST_BINS)))
    laid = [np.full((len(totals), PLACES), other) for other in (0.0, KNOWN, 0.0)]
    for into, what in zip(laid, (*level, expected), strict=True):
        into[:, at] = what
    return denoise(tree(laid[0], laid[1]), laid[2], np.maximum(totals, 1.0))[:, at]


def _within_groups(again: NoisyTable, cells: EdgeCells, parts: Integers, counts: Floats, overall: Floats) -> Floats:
    """The shares of 64 parts in each group of each row, as far as the second look says; otherwise as in all steps."""
    fine = np.concatenate((overall[:FIRST_BINS], np.repeat(overall[FIRST_BINS:] / FINER, FINER)))
    usual = np.zeros((len(cells.ends), 1 << FINEST))
    for number, (begin, end) in enumerate(pairwise((0, *cells.ends))):
        place = (np.arange(end - begin) << FINEST) // (end - begin)
        mass = fine[begin:end] if fine[begin:end].sum() > 0 else np.ones(end - begin)
        usual[number] = np.bincount(place, mass / mass.sum(), minlength=1 << FINEST)
    within = np.broadcast_to(usual, (*parts.shape, 1 << FINEST)).copy()
    row, group = np.nonzero(parts)
    if not len(row):
        return within
    trees, power = unknown(len(row), FINEST), parts[row, group]
    weights = np.array(cells.weights)[row] / WEIGHT
    for depth in np.unique(power).tolist():
        some = np.flatnonzero(power == depth)
        begins = cells.first_cells[row[some] * len(cells.ends) + group[some]]
        found, by = again.values[begins[:, None] + np.arange(1 << depth)], weights[some, None]
        for level, own in zip(trees, tree(found / by, np.broadcast_to((again.sd / by) ** 2, found.shape)), strict=False):
            level.values[some], level.variances[some] = own
    within[row, group] = denoise(trees, usual[group], counts[row, group])
    return within
