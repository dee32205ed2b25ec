"""Denoising histograms: a Polya tree whose prior is learned from the noisy counts themselves. Pure post-processing.

From the root down, the count of a node is split between its two halves. What share goes to the left is a compromise between the
noisy counts of the halves and a prior: a mixture of Beta distributions around the expected share, some narrow and some wide,
and of three points: nothing, everything, exactly what is expected. How much weight each of these has is learned (by expectation
maximisation) from all nodes of a level together.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Floats
from libra.privacy.noise import NoisyTable

CONCENTRATIONS = (1.0, 4.0, 16.0, 64.0, 256.0)
POINTS = 33  # of the numerical integral over a share
MIDDLES = (1 - np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)) / 2
WIDTHS = np.diff((1 - np.cos(np.pi * np.arange(POINTS + 1) / POINTS)) / 2)
REACH = 5.0  # standard deviations of the likelihood that it covers
ROUNDS = 30  # of expectation maximisation
UNKNOWN = 1e30  # the variance of a count that was never released
LEAST = 1e-6  # a count that is worth splitting
KNOWN = 1e-9  # the variance of a cell that is not there
TINY = 1e-300  # keeps a division by nothing finite
CERTAIN, NEIGHBOUR, POOLED = 4.5, 3.0, 4.0  # standard deviations: of a year by itself; of one beside it; of the best window
ADDED_UP = 2.0  # standard deviations of everything from the last clear bin up to some later one
YEAR_2000 = 30  # of 52 weeks each, since 1970
LAST_RESORT = 37  # bins of totals, up to 116 days: none longer is believed where nothing stands out
WINDOW = 5  # bins at most that are looked at together
CLEAR, LITTLE, STILL = 4.0, 2.0, 3.0  # standard deviations of a window, of its last bin, and of a window right after


class Level(NamedTuple):
    """The noisy counts of all nodes of one level (rows are histograms) and their variances."""

    values: Floats
    variances: Floats


def tree(values: Floats, variances: Floats | float) -> list[Level]:
    """All levels, root first, above noisy cells; their number is a power of two."""
    return up_to([Level(values, np.broadcast_to(np.asarray(variances, np.float64), values.shape))])


def up_to(levels: list[Level], nodes: int = 1) -> list[Level]:
    """The levels, and those above the first of them up to one that has so many nodes."""
    while levels[0].values.shape[1] > nodes:
        levels = [above(levels[0]), *levels]
    return levels


def unknown(rows: int, depth: int) -> list[Level]:
    """All levels of so many trees, down to this depth, of which nothing is known."""
    return [Level(np.zeros((rows, 1 << at)), np.full((rows, 1 << at), UNKNOWN)) for at in range(depth + 1)]


def above(level: Level) -> Level:
    """The level above: pairs of nodes added up."""
    return Level(level.values[:, 0::2] + level.values[:, 1::2], level.variances[:, 0::2] + level.variances[:, 1::2])


def combined(one: Level, other: Level) -> Level:
    """Two noisy counts of the same nodes as one, each weighted by its precision."""
    total = one.variances + other.variances
    weight = np.where(total > 0, other.variances / np.maximum(total, TINY), 0.5)
    return Level(weight * one.values + (1 - weight) * other.values, weight * one.variances)


def denoise(levels: list[Level], expected: Floats, totals: Floats) -> Floats:
    """Shares of the cells, never negative, that sum to 1 in every row; `totals` is the count of each row, as far as is known.

    `levels` come root first, each with twice the nodes of the one before. `expected` is the share expected of each cell, the same
    for all rows; cells of which none is expected stay without.
    """
    expected_levels = [np.asarray(expected, np.float64)]
    while len(expected_levels[0]) > 1:
        expected_levels.insert(0, expected_levels[0].reshape(-1, 2).sum(1))
    shares = np.ones((len(totals), 1))
    weights = np.ones(len(CONCENTRATIONS) + 3)
    for level, nodes in zip(levels[1:], expected_levels[1:], strict=True):
        left_expected = nodes[0::2] / np.maximum(nodes[0::2] + nodes[1::2], TINY)
        left, weights = _split(level, left_expected, shares * totals[:, None], weights / weights.sum())
        shares = np.stack((shares * left, shares * (1 - left)), axis=2).reshape(len(totals), -1)
    return shares


def _split(level: Level, expected: Floats, counts: Floats, hint: Floats) -> tuple[Floats, Floats]:
    """The share of the left half at every node, and the weights of the prior that were learned.

    `expected` is a share per node, the same for all rows; `counts` is what a node has to split, `hint` the weights learned above.
    """
    left, right = level.values[:, 0::2], level.values[:, 1::2]
    left_variance, right_variance = level.variances[:, 0::2], level.variances[:, 1::2]
    result = np.broadcast_to(expected, counts.shape).copy()
    open_node = (counts > LEAST) & (expected > 0) & (expected < 1) & (left_variance < UNKNOWN) & (right_variance < UNKNOWN)
    if not open_node.any():
        return result, hint
    row, node = np.nonzero(open_node)
    count, centre = counts[row, node], expected[node]
    precision = count**2 * (1 / left_variance[row, node] + 1 / right_variance[row, node])
    by_halves = left[row, node] / left_variance[row, node] + (count - right[row, node]) / right_variance[row, node]
    best = count * by_halves / precision
    spread = 1 / np.sqrt(precision)
    middle = np.clip(best, 0, 1)  # around it the likelihood of a share is worth looking at
    low, high = np.maximum(middle - REACH * spread, 0), np.minimum(middle + REACH * spread, 1)
    grid, masses = low[:, None] + (high - low)[:, None] * MIDDLES, (high - low)[:, None] * WIDTHS
    fit = -0.5 * ((grid - best[:, None]) / spread[:, None]) ** 2
    points = np.stack((np.zeros(len(centre)), centre, np.ones(len(centre))), axis=1)
    point_fit = -0.5 * ((points - best[:, None]) / spread[:, None]) ** 2
    highest = np.maximum(fit.max(1), point_fit.max(1))[:, None]
    fit, point_fit = np.exp(fit - highest), np.exp(point_fit - highest)
    prior = _beta_densities(grid, node, expected) * masses[:, None, :]
    joint = prior * fit[:, None, :]
    evidence = np.concatenate((joint.sum(2), point_fit), axis=1) + TINY
    weights = _learned(evidence, hint)
    density = np.einsum("ncg,c->ng", joint, weights[: len(CONCENTRATIONS)])
    atoms = point_fit * weights[len(CONCENTRATIONS) :]
    moment = (grid * density).sum(1) + (points * atoms).sum(1)
    result[row, node] = moment / (density.sum(1) + atoms.sum(1))
    return result, weights


def _beta_densities(grid: Floats, node: npt.NDArray[np.intp], expected: Floats) -> Floats:
    """The Beta densities around the expected share, one axis for the concentrations."""
    inside = np.clip(grid, 1e-12, 1 - 1e-12)
    log_left, log_right = np.log(inside), np.log1p(-inside)
    alphas, betas = np.outer(expected, CONCENTRATIONS), np.outer(1 - expected, CONCENTRATIONS)
    norms = np.array(list(map(_log_norm, alphas.ravel().tolist(), betas.ravel().tolist()))).reshape(alphas.shape)
    exponent = norms[node][:, :, None] + (alphas[node] - 1)[:, :, None] * log_left[:, None, :]
    exponent += (betas[node] - 1)[:, :, None] * log_right[:, None, :]
    np.minimum(exponent, 700, out=exponent)
    return np.asarray(np.exp(exponent, out=exponent))


@lru_cache(maxsize=100_000)
def _log_norm(alpha: float, beta: float) -> float:
    """The logarithm of what makes a Beta density sum to 1."""
    return math.lgamma(alpha + beta) - math.lgamma(alpha) - math.lgamma(beta) if alpha > 0 and beta > 0 else 0.0


def _learned(evidence: Floats, hint: Floats) -> Floats:
    """Mixture weights that explain the evidence of all nodes best, starting from a hint that counts like one node each."""
    weights: Floats = hint / hint.sum()
    for _ in range(ROUNDS):
        weights *= (1 / evidence.dot(weights)).dot(evidence)
        weights += hint
        weights /= np.add.reduce(weights)
    return weights


def active_years(years: NoisyTable) -> tuple[int, ...]:
    """The years that stand out and the neighbours that go with them.

    Where none does, the best window of up to five years, if that stands out; otherwise a public one, in which 2000 begins.
    """
    score = years.values / years.sd
    active = score >= CERTAIN
    if not active.any():
        begin, end, best = _best_window(score)
        return tuple(range(begin, end)) if best >= POOLED else (min(YEAR_2000, len(score) - 1),)
    while True:
        beside = np.convolve(active, [1, 0, 1])[1:-1] > 0
        grown = active | (beside & (score >= NEIGHBOUR))
        if (grown == active).all():
            return tuple(np.flatnonzero(active).tolist())
        active = grown


def busy_spans(years: tuple[int, ...], score: Floats) -> npt.NDArray[np.bool_]:
    """Which spans of the active years cases may start in: none before the first or after the last that stands out.

    `score` has counts in standard deviations, a row a year. Years that follow each other are looked at together; where nothing
    stands out in them, all their spans are kept, and so is what is more than noise when it is added up from there on.
    """
    busy = np.ones(score.shape, np.bool_)
    for rows in np.split(np.arange(len(years)), np.flatnonzero(np.diff(years) > 1) + 1):
        line = score[rows].ravel()
        last = last_clear(line)
        if last >= 0:
            first, last = len(line) - 1 - _drawn_out(line[::-1], last_clear(line[::-1])), _drawn_out(line, last)
            place = np.arange(len(line))
            busy[rows] = ((place >= first) & (place <= last)).reshape(len(rows), -1)
    return busy


def _drawn_out(score: Floats, last: int) -> int:
    """The last bin, or the one after it up to which all together stand out most, if they do."""
    after = np.cumsum(score[last + 1 :]) / np.sqrt(np.arange(1, len(score) - last))
    return last + 1 + int(np.argmax(after)) if len(after) and after.max() >= ADDED_UP else last


def last_believed(totals: Level, longest: NoisyTable) -> int:
    """The last bin of totals that can be believed, by the durations of cases alone or together with their longest steps.

    Where cases last long because of one long step, both tables show it, each with noise of its own.
    """
    sd = np.sqrt(totals.variances[0])
    score, other = totals.values[0] / sd, longest.values / longest.sd
    together = (score / sd + other / longest.sd) / np.hypot(1 / sd, 1 / longest.sd)
    return max(last_bin(score), last_bin(together))


def last_bin(score: Floats) -> int:
    """Where the last window of bins ends that stands out clearly, or one right after it that still does.

    `score` has counts in standard deviations. Where no window stands out, the end of the best one up to `LAST_RESORT`.
    """
    last = last_clear(score)
    return last if last >= 0 else _best_window(score[:LAST_RESORT])[1] - 1


def last_clear(score: Floats) -> int:
    """As `last_bin`; -1 where no window stands out."""
    sums = np.concatenate(([0.0], np.cumsum(score)))
    last = -1
    for width in range(1, min(WINDOW, len(score)) + 1):
        window = (sums[width:] - sums[:-width]) / np.sqrt(width)
        ends = np.flatnonzero((window >= CLEAR) & (score[width - 1 :] >= LITTLE)) + width - 1
        last = max(last, int(ends[-1]) if len(ends) else -1)
    while last >= 0:
        ends = np.arange(last + 1, min(last + WINDOW + 1, len(score)))
        after = (sums[ends + 1] - sums[last + 1]) / np.sqrt(ends - last)
        more = ends[(after >= STILL) & (score[ends] > 0)]
        if not len(more):
            break
        last = int(more[-1])
    return last


def _best_window(score: Floats) -> tuple[int, int, float]:
    """The window of bins that stands out most: where it begins and ends, and by how many standard deviations."""
    sums = np.concatenate(([0.0], np.cumsum(score)))
    found = (0, 1, -np.inf)
    for width in range(1, min(WINDOW, len(score)) + 1):
        window = (sums[width:] - sums[:-width]) / np.sqrt(width)
        begin = int(np.argmax(window))
        found = max(found, (begin, begin + width, float(window[begin])), key=lambda each: each[2])
    return found
