"""How long every step takes: drawn edge by edge, then fitted to how long whole cases last.

In: noisy tables and the released control flow. Out: microseconds for every step. The steps of an edge are spread evenly over
its distribution (stratified), in random order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.engines import time_tables as tables
from libra.eventlog.ordering import stable_order
from libra.mechanisms.libra.times.edges import edge_shares
from libra.mechanisms.libra.times.histogram import TINY
from libra.mechanisms.libra.times.release import TimeFigures
from libra.mechanisms.libra.times.steps import Steps
from libra.mechanisms.libra.times.totals import Histogram
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LARGE = 0.1  # of a case's duration: a step that is stretched or shortened when the case is
MOST_STRETCH = 4.0


def draw_steps(figures: TimeFigures, steps: Steps, n_labels: int, random: Randomness) -> Floats:
    """A duration for every step, in microseconds."""
    row_of = np.full(n_labels**2, len(figures.cells.edges))
    row_of[list(figures.cells.edges)] = np.arange(len(figures.cells.edges))
    row = row_of[steps.edge]
    counts = np.bincount(row, minlength=len(figures.cells.edges) + 1)
    ordered = spread(edge_shares(figures, counts), counts, tables.duration_bounds(), random)
    order = stable_order((row.astype(np.uint64) << np.uint64(48)) + (random.words(len(row)) >> np.uint64(16)))
    drawn = np.empty(len(row))
    drawn[order] = ordered
    return drawn


def spread(shares: Floats, counts: Integers, bounds: Floats, random: Randomness) -> Floats:
    """So many values of every row's histogram, row after row, ascending within a row: evenly spread, with a random start.

    Example:
        >>> halves = spread(np.array([[0.5, 0.0, 0.5]]), np.array([4]), np.array([0.0, 0.0, 1.0, 1.0]), Randomness(seed=1))
        >>> halves.tolist()
        [0.0, 0.0, 1.0, 1.0]
    """
    cumulative = np.cumsum(shares, axis=1)
    cumulative /= np.maximum(cumulative[:, -1:], TINY)
    ends = np.floor(cumulative * counts[:, None] + random.uniform(len(counts))[:, None]).astype(np.int64)
    ends[:, -1] = counts
    cells = np.diff(np.minimum(ends, counts[:, None]), axis=1, prepend=0).ravel()
    n_bins = shares.shape[1]
    filled = np.flatnonzero(cells)
    sizes = cells[filled]
    quantile = np.arange(cells.sum(), dtype=np.float64)
    quantile -= np.repeat((np.cumsum(sizes) - sizes).astype(np.float64), sizes)
    quantile += random.uniform(len(quantile))
    quantile /= np.repeat(sizes.astype(np.float64), sizes)
    low, high = bounds[:-1], bounds[1:]
    width = np.log(np.divide(high, low, out=np.ones(n_bins), where=low > 0))
    place = _sloped(quantile, np.repeat(_slopes(shares, width).ravel()[filled], sizes))
    bins = filled % n_bins
    values = np.exp(place * np.repeat(width[bins], sizes))
    values *= np.repeat(low[bins], sizes)
    linear = low[bins] <= 0
    if linear.any():
        where = np.flatnonzero(np.repeat(linear, sizes))
        values[where] = np.repeat(high[bins[linear]], sizes[linear]) * place[where]
    return np.asarray(values)


def _slopes(shares: Floats, width: Floats) -> Floats:
    """How much denser, relatively, a cell is at its upper end than in its middle, between -1 and 1, going by both neighbours.

    Where one neighbour is denser and the other one is not, the nearer of the two counts; at a peak or in a valley, neither.
    Cells without width on a logarithmic scale have no slope.
    """
    density = np.divide(shares, width, out=np.zeros_like(shares), where=width > 0)
    step = np.diff(density, axis=1)
    before, after = np.pad(step, ((0, 0), (1, 0))), np.pad(step, ((0, 0), (0, 1)))
    nearer = np.where(before * after > 0, np.where(np.abs(before) < np.abs(after), before, after), 0.0)
    return np.asarray(np.clip(nearer / np.maximum(2 * density, TINY), -1, 1))


def _sloped(quantile: Floats, slope: Floats) -> Floats:
    """Where in a cell a quantile lies if its density grows evenly, from 1 - slope to 1 + slope.

    Example:
        >>> _sloped(np.array([0.5, 0.5, 0.25]), np.array([0.0, 1.0, -1.0])).round(3).tolist()
        [0.5, 0.707, 0.134]
    """
    begin = 1 - slope
    root = 4 * slope
    root *= quantile
    root += begin * begin
    np.sqrt(root, out=root)
    root += begin
    return np.asarray(np.divide(2 * quantile, root, out=root))


def fit_totals(totals: Histogram, drawn: Floats, case: Integers, n_cases: int, random: Randomness) -> tuple[Floats, Floats]:
    """Stretch and shorten the large steps of each case so that cases last as long as released.

    `drawn` has a duration for every step and `case` its case. Gives the new durations of steps, and what each case should last.
    """
    lasts = np.bincount(case, drawn, minlength=n_cases)
    large = np.flatnonzero(drawn >= (LARGE * lasts)[case])
    stretched = np.bincount(case[large], drawn[large], minlength=n_cases)
    wanted = np.empty(n_cases)
    wanted[stable_order(lasts)] = spread(totals.shares[None, :], np.array([n_cases]), totals.bounds, random)
    factor = np.clip((wanted - (lasts - stretched)) / np.maximum(stretched, 1), 1 / MOST_STRETCH, MOST_STRETCH)
    factor[(lasts <= 0) | (wanted <= 0)] = 1.0
    fitted = drawn.copy()
    fitted[large] *= factor[case[large]]
    return fitted, wanted


def shorten(gaps: Integers, case: Integers, grain: Integers, longest: int, wanted: Floats) -> Integers:
    """The same gaps, but in cases that last longer than the longest may, shorter: those last as long as is wanted of them.

    They are still whole multiples of the grain of their case. What is wanted is never longer than the longest.

    Example:
        >>> shorten(np.array([40, 60, 50]), np.array([0, 0, 1]), np.array([10, 10]), 60, np.array([50.0, 20.0])).tolist()
        [20, 30, 50]
    """
    totals = np.bincount(case, gaps, minlength=len(grain))
    if not (totals > longest).any():
        return gaps
    too_long = np.flatnonzero(totals[case] > longest)
    shorter = gaps.copy()
    of = case[too_long]
    shorter[too_long] = np.floor(gaps[too_long] * (wanted[of] / totals[of]) / grain[of]).astype(np.int64) * grain[of]
    return shorter
