"""Denoising histograms: a Polya tree whose prior is learned from the noisy counts themselves. Pure post-processing.

From the root down, the count of a node is split between its two halves. What share goes to the left is a compromise between the
noisy counts of the halves and a prior: a mixture of Beta distributions around the expected share, some narrow and some wide,
and of three points: nothing, everything, exactly what is expected. How much weight each of these has is learned (by expectation
maximisation) from all nodes of a level together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Floats
from libra.privacy.gaussian import upper_quantiles
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
AT_ONCE = 20_000  # nodes, to bound memory
STIRLING = 5  # from here on its series is exact enough: to eight digits
# How probable it may be that any year is taken in which no case starts: for being high by itself; for being high beside a year
# that is taken; because a window of years is high where no year is by itself; for being the highest of a window with cases in
# other years. Together they are below 1 in 1,000.
BY_ITSELF, BESIDE, IN_WINDOW, HIGHEST = 2e-4, 5e-4, 1e-4, 2e-4
AS_LIKELY = 2.0  # how much the logarithm of the likelihood of a window may be below that of the likeliest
ADDED_UP = 2.0  # standard deviations of everything from the last clear bin up to some later one
YEAR_2000 = 30  # of 52 weeks each, since 1970
LAST_RESORT = 37  # bins of totals, up to 116 days: none longer is believed where nothing stands out
WINDOW, FURTHER = 5, 10  # bins at most that are looked at together; and right after those that stand out
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

    `levels` come root first, each with twice the nodes of the one before. `expected` is the share expected of each cell, of every
    row or the same for all; cells of which none is expected stay without.
    """
    expected_levels = [np.atleast_2d(np.asarray(expected, np.float64))]
    while expected_levels[0].shape[1] > 1:
        expected_levels.insert(0, expected_levels[0][:, 0::2] + expected_levels[0][:, 1::2])
    shares = np.ones((len(totals), 1))
    weights = np.ones(len(CONCENTRATIONS) + 3)
    for level, nodes in zip(levels[1:], expected_levels[1:], strict=True):
        left_expected = nodes[:, 0::2] / np.maximum(nodes[:, 0::2] + nodes[:, 1::2], TINY)
        left, weights = _split(level, left_expected, shares * totals[:, None], weights / weights.sum())
        shares = np.stack((shares * left, shares * (1 - left)), axis=2).reshape(len(totals), -1)
    return shares


def _split(level: Level, expected: Floats, counts: Floats, hint: Floats) -> tuple[Floats, Floats]:
    """The share of the left half at every node, and the weights of the prior that were learned.

    `expected` is a share per node, of every row or the same for all; `counts` is what a node has to split, `hint` the weights
    learned above.
    """
    left, right = level.values[:, 0::2], level.values[:, 1::2]
    left_variance, right_variance = level.variances[:, 0::2], level.variances[:, 1::2]
    result = np.broadcast_to(expected, counts.shape).copy()
    open_node = (counts > LEAST) & (result > 0) & (result < 1) & (left_variance < UNKNOWN) & (right_variance < UNKNOWN)
    if not open_node.any():
        return result, hint
    row, node = np.nonzero(open_node)
    count, centre = counts[row, node], result[row, node]
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
    fit, point_fit = masses * np.exp(fit - highest), np.exp(point_fit - highest)
    evidence, moment = np.empty((len(centre), len(CONCENTRATIONS) + 3)), np.empty((len(centre), len(CONCENTRATIONS) + 3))
    for begin in range(0, len(centre), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        joint = _beta_densities(grid[some], centre[some]) * fit[some, None, :]
        evidence[some, :-3], moment[some, :-3] = joint.sum(2), np.einsum("ncg,ng->nc", joint, grid[some])
    evidence[:, -3:], moment[:, -3:] = point_fit, points * point_fit
    evidence += TINY
    weights = _learned(evidence, hint)
    result[row, node] = (moment @ weights) / (evidence @ weights)
    return result, weights


def _beta_densities(grid: Floats, expected: Floats) -> Floats:
    """The Beta densities around the share expected of each row, one axis for the concentrations."""
    inside = np.clip(grid, 1e-12, 1 - 1e-12)
    log_left, log_right = np.log(inside), np.log1p(-inside)
    alphas, betas = np.outer(expected, CONCENTRATIONS), np.outer(1 - expected, CONCENTRATIONS)
    norms = log_gamma(alphas + betas) - log_gamma(alphas) - log_gamma(betas)
    exponent = norms[:, :, None] + (alphas - 1)[:, :, None] * log_left[:, None, :]
    exponent += (betas - 1)[:, :, None] * log_right[:, None, :]
    np.minimum(exponent, 700, out=exponent)
    return np.asarray(np.exp(exponent, out=exponent))


def log_gamma(values: Floats) -> Floats:
    """The logarithm of the gamma function of positive numbers, by Stirling's series; SciPy takes long to load.

    Example:
        >>> log_gamma(np.array([0.5, 5.0])).round(6).tolist()
        [0.572365, 3.178054]
    """
    product, large = np.ones_like(values), values + STIRLING
    for step in range(STIRLING):
        product *= values + step
    series = 1 / (12 * large) - 1 / (360 * large**3) + 1 / (1260 * large**5) + math.log(2 * math.pi) / 2
    return np.asarray((large - 0.5) * np.log(large) - large + series - np.log(product))


def _learned(evidence: Floats, hint: Floats) -> Floats:
    """Mixture weights that explain the evidence of all nodes best, starting from a hint that counts like one node each."""
    weights: Floats = hint / hint.sum()
    for _ in range(ROUNDS):
        weights *= (1 / evidence.dot(weights)).dot(evidence)
        weights += hint
        weights /= np.add.reduce(weights)
    return weights


def active_years(years: NoisyTable) -> tuple[int, ...]:
    """The years that cases start in: those that stand out or, where none does, a public one, in which 2000 begins."""
    return years_standing_out(years) or (min(YEAR_2000, years.counts.size - 1),)


def years_standing_out(years: NoisyTable) -> tuple[int, ...]:
    """The years that stand out by themselves, and the neighbours that go with them.

    Where none does, but a window of up to five years, it is the highest year of that window. Less than 1 in 1,000 releases takes
    any year in which no case starts: noise is independent from year to year, so whether a false year is taken does not depend on
    the noise of the true ones.
    """
    score = years.values / years.sd
    active = score >= _needed(BY_ITSELF, len(score))
    if not active.any():
        begin, end, best = _best_window(score)
        highest = begin + int(np.argmax(score[begin:end]))
        if best < _needed(IN_WINDOW, WINDOW * len(score)) or score[highest] < _needed(HIGHEST, WINDOW - 1):
            return ()
        active[highest] = True
    ends = 2 * int(np.count_nonzero(np.diff(active, prepend=False) & active))  # of runs of years, where one more is tested
    needed = _needed(BESIDE, ends)
    while True:
        beside = np.convolve(active, [1, 0, 1])[1:-1] > 0
        grown = active | (beside & (score >= needed))
        if (grown == active).all():
            return tuple(np.flatnonzero(active).tolist())
        active = grown


def _needed(probability: float, tests: int) -> float:
    """The standard deviations that noise reaches in any of so many tests with this probability at most."""
    tail = np.array([probability / max(tests, 1)])
    return float(upper_quantiles(tail, 0.5 - tail)[0])


def busy_spans(years: tuple[int, ...], score: Floats) -> npt.NDArray[np.bool_]:
    """Which spans of the active years cases may start in: none before the first or after the last that stands out.

    `score` has counts in standard deviations, a row a year. Years that follow each other are looked at together. What is more
    than noise when it is added up from there on stays as well. Where no few spans stand out, a window of any width that is
    likely to hold all of them counts.
    """
    busy = np.ones(score.shape, np.bool_)
    for rows in np.split(np.arange(len(years)), np.flatnonzero(np.diff(years) > 1) + 1):
        line = score[rows].ravel()
        last = last_clear(line)
        if last >= 0:
            first, last = len(line) - 1 - _drawn_out(line[::-1], last_clear(line[::-1])), _drawn_out(line, last)
        else:
            first, last = _widest_likely(line)
        place = np.arange(len(line))
        busy[rows] = ((place >= first) & (place <= last)).reshape(len(rows), -1)
    return busy


def _widest_likely(score: Floats) -> tuple[int, int]:
    """The first and the last bin of the widest window that is about as likely as any to hold evenly all that there is."""
    sums = np.concatenate(([0.0], np.cumsum(score)))
    windows = [(sums[width:] - sums[:-width]) / np.sqrt(width) for width in range(1, len(score) + 1)]
    most = max(float(window.max()) for window in windows)
    least = np.sqrt(max(most**2 - 2 * AS_LIKELY, 0.0))
    width = max(width for width, window in enumerate(windows, 1) if window.max() >= least)
    first = int(np.argmax(windows[width - 1]))
    return first, first + width - 1


def _drawn_out(score: Floats, last: int) -> int:
    """The last bin, or the one after it up to which all together stand out most, if they do."""
    after = np.cumsum(score[last + 1 :]) / np.sqrt(np.arange(1, len(score) - last))
    return last + 1 + int(np.argmax(after)) if len(after) and after.max() >= ADDED_UP else last


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
        ends = np.arange(last + 1, min(last + FURTHER + 1, len(score)))
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
