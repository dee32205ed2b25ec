"""Privacy losses of whole-numbered noise: so few values that they can be written down, each with its probability.

In: ledger entries with discrete Laplace or truncated geometric noise. Out: `Losses`, from which delta follows at every epsilon,
Gaussian noise beside it included, without a grid. The promise: never below the truth, and within 1e-6 of
it; without Gaussian noise beside it, within 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.privacy.gaussian import delta_of
from libra.privacy.ledger import DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC, Entry

Floats = npt.NDArray[np.float64]
MOST_VALUES = 2_000
SAME = 1e-13  # losses that are as near as that, relative to the largest, are taken for the largest of them
ROUNDING = 1e-14  # of delta, for every release: what sums of floats may lose


@dataclass(frozen=True, eq=False, repr=False)
class Losses:
    """What a release with the case says for it: the logarithms of how much likelier the outcomes are, and how likely these are.

    Attributes:
        values: The losses, ascending.
        chances: Their probabilities.
        certain: The probability of outcomes that never come without the case.
        releases: How many releases there are.
    """

    values: Floats
    chances: Floats
    certain: float = 0.0
    releases: int = 0

    def and_also(self, other: Losses) -> Losses:
        """The losses of both releases together."""
        values = np.add.outer(self.values, other.values).ravel()
        chances = np.multiply.outer(self.chances, other.chances).ravel()
        order = np.argsort(values)
        values, chances = values[order], chances[order]
        last = np.append(np.diff(values) > SAME * np.abs(values).max(), True)
        first = np.flatnonzero(np.append(True, last[:-1]))
        certain = self.certain + other.certain - self.certain * other.certain
        return Losses(values[last], np.add.reduceat(chances, first), certain, self.releases + other.releases)

    def delta(self, mu: float, epsilon: float) -> float:
        """The delta at `epsilon` of these releases and of Gaussian ones that are mu-GDP.

        Example:
            >>> answer = Losses(np.array([-1.0, 1.0]), np.array([0.27, 0.73]))
            >>> round(answer.delta(0.0, 0.5), 4), round(answer.delta(0.0, 1.0), 4)
            (0.2872, 0.0)
        """
        beyond = np.array([delta_of(mu, epsilon - value) for value in self.values.tolist()])
        return min(1.0, self.certain + float(self.chances @ beyond) + ROUNDING * (self.releases + 1))


def losses_of(entries: Sequence[Entry]) -> Losses | None:
    """The losses of all these releases together; None where other noise is among them, or where there are too many values.

    Example:
        >>> geometric = Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 1.0, bound=9)
        >>> found = losses_of([geometric, geometric])
        >>> found is not None and found.values.tolist()
        [-2.0, 0.0, 2.0]
    """
    together = Losses(np.zeros(1), np.ones(1))
    for entry in entries:
        if entry.mechanism not in (DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC) or entry.sensitivity > MOST_VALUES:
            return None
        together = together.and_also(_one(entry))
        if len(together.values) > MOST_VALUES:
            return None
    return together


def _one(entry: Entry) -> Losses:
    """The case moves the count from 0 to the sensitivity: all outcomes from there on say the same for it, all up to 0 against."""
    decay, s = 1 / entry.noise, int(entry.sensitivity)
    ratio, fall = math.exp(-decay), -math.expm1(-decay)
    if entry.mechanism == DISCRETE_LAPLACE:
        between = np.arange(1, s)
        losses = np.concatenate(([-s], 2 * between - s, [s])) * decay
        chances = np.concatenate(([ratio**s], fall * np.exp(-decay * (s - between)), [1.0])) / (1 + ratio)
        return Losses(losses, chances, releases=1)
    k = entry.bound or 0
    whole = 1 + ratio - 2 * ratio ** (k + 1)
    inside = -math.expm1(-decay * k)
    return Losses(np.array([-decay, decay]), np.array([ratio * inside, inside]) / whole, fall * ratio**k / whole, 1)
