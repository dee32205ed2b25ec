"""Denoising histograms: a Polya tree whose prior is learned from the noisy counts themselves.

In: noisy counts of the nodes of a binary tree over the cells, for one histogram or many alike, and what is expected of them.
Out: shares of the cells, never negative, that sum to 1 in every row. Pure post-processing.

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

Floats = npt.NDArray[np.float64]
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


class Level(NamedTuple):
    """The noisy counts of all nodes of one level (rows are histograms) and their variances."""

    values: Floats
    variances: Floats


def tree(values: Floats, variances: Floats | float) -> list[Level]:
    """All levels, root first, above noisy cells; their number is a power of two.

    Example:
        >>> [level.values.tolist() for level in tree(np.array([[1.0, 2.0, 3.0, 4.0]]), 1.0)]
        [[[10.0]], [[3.0, 7.0]], [[1.0, 2.0, 3.0, 4.0]]]
    """
    levels = [Level(values, np.broadcast_to(np.asarray(variances, np.float64), values.shape))]
    while levels[0].values.shape[1] > 1:
        levels.insert(0, above(levels[0]))
    return levels


def above(level: Level) -> Level:
    """The level above: pairs of nodes added up."""
    return Level(level.values[:, 0::2] + level.values[:, 1::2], level.variances[:, 0::2] + level.variances[:, 1::2])


def combined(one: Level, other: Level) -> Level:
    """Two noisy counts of the same nodes as one, each weighted by its precision.

    Example:
        >>> both = combined(Level(np.array([[1.0]]), np.array([[1.0]])), Level(np.array([[4.0]]), np.array([[2.0]])))
        >>> both.values.tolist(), round(float(both.variances[0, 0]), 3)
        ([[2.0]], 0.667)
    """
    total = one.variances + other.variances
    weight = np.where(total > 0, other.variances / np.maximum(total, TINY), 0.5)
    return Level(weight * one.values + (1 - weight) * other.values, weight * one.variances)


def denoise(levels: list[Level], expected: Floats, totals: Floats) -> Floats:
    """Shares of the cells.

    Args:
        levels: The noisy counts, root first, each level with twice the nodes of the one before.
        expected: What share of each cell is expected; the same for all rows. Cells with none expected stay without.
        totals: The count of each row, best known.

    Example:
        >>> cells = np.array([[0.0, 5.0, 400.0, 395.0]])
        >>> shares = denoise(tree(cells, 25.0), np.full(4, 0.25), np.array([800.0]))
        >>> shares.round(2).tolist()
        [[0.0, 0.0, 0.5, 0.5]]
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
    best = (
        count * (left[row, node] / left_variance[row, node] + (count - right[row, node]) / right_variance[row, node]) / precision
    )
    spread = 1 / np.sqrt(precision)
    grid, masses = _grid(best, spread)
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


def _grid(best: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Where the likelihood of a share is worth looking at: points, denser toward the ends, and the width each stands for."""
    centre = np.clip(best, 0, 1)
    low, high = np.maximum(centre - REACH * spread, 0), np.minimum(centre + REACH * spread, 1)
    width = (high - low)[:, None]
    return low[:, None] + width * MIDDLES, width * WIDTHS


def _beta_densities(grid: Floats, node: npt.NDArray[np.intp], expected: Floats) -> Floats:
    """The Beta densities around the expected share, one axis for the concentrations."""
    inside = np.clip(grid, 1e-12, 1 - 1e-12)
    log_left, log_right = np.log(inside), np.log1p(-inside)
    densities = np.empty((len(grid), len(CONCENTRATIONS), grid.shape[1]))
    for i, concentration in enumerate(CONCENTRATIONS):
        alphas, betas = expected * concentration, (1 - expected) * concentration
        norms = np.array([_log_norm(a, b) for a, b in zip(alphas.tolist(), betas.tolist(), strict=True)])
        exponent = norms[node][:, None] + (alphas[node] - 1)[:, None] * log_left + (betas[node] - 1)[:, None] * log_right
        densities[:, i] = np.exp(np.minimum(exponent, 700))
    return densities


@lru_cache(maxsize=100_000)
def _log_norm(alpha: float, beta: float) -> float:
    """The logarithm of what makes a Beta density sum to 1."""
    return math.lgamma(alpha + beta) - math.lgamma(alpha) - math.lgamma(beta) if alpha > 0 and beta > 0 else 0.0


def _learned(evidence: Floats, hint: Floats) -> Floats:
    """Mixture weights that explain the evidence of all nodes best, starting from a hint that counts like one node each."""
    weights: Floats = hint / hint.sum()
    for _ in range(ROUNDS):
        responsible = weights * ((1 / (evidence @ weights)) @ evidence)
        weights = responsible + hint
        weights /= weights.sum()
    return weights
