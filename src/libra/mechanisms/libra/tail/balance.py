"""Balance: weights for candidates such that the weighted traces match all noisy figures at once, each trusted by its noise.

In: for every figure its noisy value, the standard deviation of its noise, and how much each candidate counts in it; and prior
weights. Out: the weights x that minimise

    tau * KL(x || prior) + 1/2 * sum of squares of (counted with x - noisy value) / sd

found in the dual, x = prior * exp(A' lambda), where it is smooth and convex. Pure post-processing of released figures. No sum
here depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Integers, order_of

Floats = npt.NDArray[np.float64]
# Trust in the prior. Chosen on the eight public logs, three seeds: with a fifth of it the mean error of the edges is 14 % larger
# (the steps are too few then), with five times as much 7 %.
TAU = 0.01
STEPS = 80  # at most: a bound on time
ENOUGH = 0.05  # what a step has to gain, in the unit of the sum of squares
MEMORY = 10  # steps that the curvature is estimated from, as is usual
LARGEST_EXPONENT = 30.0  # no weight becomes more than e^30 times its prior: nothing overflows
BACKTRACKS = 25  # of one step: by then it is too short to matter


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """One table of noisy figures and what candidates count in it.

    Attributes:
        target: The noisy values.
        sd: The standard deviation of their noise.
        candidate: With `cell` and `amount`: candidate i counts so much in that cell.
        cell: A position in `target`.
        amount: How much.
    """

    target: Floats
    sd: float
    candidate: Integers
    cell: Integers
    amount: Floats


def balance(tables: list[Figures], prior: Floats) -> Floats:
    """The weights of the candidates.

    Example:
        >>> two_lengths = Figures(np.array([30.0, 10.0]), 1.0, np.arange(3), np.array([0, 0, 1]), np.ones(3))
        >>> balance([two_lengths], prior=np.ones(3)).round().tolist()
        [15.0, 15.0, 10.0]
    """
    system = _System(tables, len(prior))
    whole = system.curvature(prior) + TAU
    unit = 1 / np.sqrt(whole)  # each multiplier in the unit in which its curvature is 1, at first

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        scaled = multipliers * unit
        weights = prior * np.exp(np.minimum(system.transposed(scaled), LARGEST_EXPONENT))
        value = weights.sum() + ((TAU / 2 * scaled - system.target) * scaled).sum()
        return float(value), (system.counted(weights) + TAU * scaled - system.target) * unit

    found = minimum(dual, np.zeros(len(system.target)))
    return prior * np.exp(np.minimum(system.transposed(found * unit), LARGEST_EXPONENT))


class _System:
    """All figures in units of their noise: a sparse matrix with a row a figure and a column a candidate, held both ways.

    No row and no column is empty: every figure is one that some candidate counts in, and every candidate counts as a case.
    """

    def __init__(self, tables: list[Figures], n_candidates: int) -> None:
        begins = np.cumsum([0, *(len(table.target) for table in tables)])
        self.target = np.concatenate([table.target / table.sd for table in tables])
        row = np.concatenate([table.cell + begin for table, begin in zip(tables, begins, strict=False)])
        column = np.concatenate([table.candidate for table in tables])
        value = np.concatenate([table.amount / table.sd for table in tables])
        by_row, by_column = order_of(row), order_of(column)
        self._column, self._row_values = column[by_row], value[by_row]
        self._row, self._column_values = row[by_column], value[by_column]
        self._row_begins = np.searchsorted(row[by_row], np.arange(len(self.target)))
        self._column_begins = np.searchsorted(column[by_column], np.arange(n_candidates))
        self._products = np.empty(len(value))

    def counted(self, weights: Floats) -> Floats:
        """What the weighted candidates count in every figure."""
        return self._summed(weights, self._column, self._row_values, self._row_begins)

    def transposed(self, multipliers: Floats) -> Floats:
        """For every candidate, the multipliers of its figures, weighted by how much it counts in each."""
        return self._summed(multipliers, self._row, self._column_values, self._column_begins)

    def curvature(self, weights: Floats) -> Floats:
        """How fast each figure moves with its own multiplier."""
        return self._summed(weights, self._column, self._row_values**2, self._row_begins)

    def _summed(self, factors: Floats, where: Integers, values: Floats, begins: Integers) -> Floats:
        np.take(factors, where, out=self._products, mode="clip")
        np.multiply(self._products, values, out=self._products)
        return np.add.reduceat(self._products, begins)


def minimum(function: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Where a smooth convex function, given with its gradient, is smallest (L-BFGS with backtracking; Nocedal 1980).

    Example:
        >>> minimum(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2)).round(3).tolist()
        [3.0, 3.0]
    """
    point = start
    value, gradient = function(point)
    history: list[tuple[Floats, Floats, float]] = []
    for _ in range(STEPS):
        direction = -_curved(gradient, history)
        slope = float((gradient * direction).sum())
        if slope >= 0:
            direction, history = -gradient, []
            slope = -float((gradient * gradient).sum())
        length = 1.0 if history else 1 / max(1.0, float(np.abs(gradient).sum()))
        for _ in range(BACKTRACKS):
            further = point + length * direction
            new_value, new_gradient = function(further)
            if new_value <= value + 1e-4 * length * slope:
                break
            length *= 0.4
        else:
            return point
        step, change = further - point, new_gradient - gradient
        curvature = float((step * change).sum())
        if curvature > 1e-12:
            history = [*history[1 - MEMORY :], (step, change, curvature)]
        gained = value - new_value
        point, value, gradient = further, new_value, new_gradient
        if gained < ENOUGH:
            break
    return point


def _curved(gradient: Floats, history: list[tuple[Floats, Floats, float]]) -> Floats:
    """The gradient times an estimate of the inverse curvature, from the last steps (the two-loop recursion)."""
    direction = gradient.copy()
    shares = []
    for step, change, curvature in reversed(history):
        share = float((step * direction).sum()) / curvature
        shares.append(share)
        direction -= share * change
    if history:
        _, change, curvature = history[-1]
        direction *= curvature / float((change * change).sum())
    for (step, change, curvature), share in zip(history, reversed(shares), strict=True):
        direction += step * (share - float((change * direction).sum()) / curvature)
    return direction
