"""Noise from a table: whole numbers with weights that add up to 2^64, drawn by looking up a random word.

In: the parameters of a truncated geometric or a discrete Laplace distribution. Out: a `NoiseTable`. The promise: the table says
how far it is from the distribution it stands for, in total variation, so that this can be added to delta. The sound mechanism
draws none of it; it is for mechanisms that release counts with such noise, and the accountant counts it already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

import numpy as np
import numpy.typing as npt

from libra.errors import UsageError
from libra.privacy.arguments import checked, checked_delta
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.randomness import Randomness

WORD = 1 << 64
DIGITS = 60
SMALLEST_SCALE, LARGEST_SCALE = 0.025, 2000.0  # with less, a word would hold no other noise than 0
LARGEST_BOUND = 100_000
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class NoiseTable:
    """A distribution on consecutive whole numbers.

    Attributes:
        first: The smallest of them.
        cumulative: The weights added up, without the last sum, which is 2^64.
        distance: The total variation distance from the distribution that the table stands for, rounded up.

    Example:
        >>> coin = NoiseTable(0, np.array([1 << 63], np.uint64), 0.0)
        >>> coin.pmf().tolist()
        [0.5, 0.5]
    """

    first: int
    cumulative: Words
    distance: float

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """What can be drawn."""
        return np.arange(len(self.cumulative) + 1) + self.first

    def draw(self, n: int, random: Randomness) -> npt.NDArray[np.int64]:
        """So many independent draws."""
        return np.searchsorted(self.cumulative, random.words(n), side="right") + self.first

    def pmf(self) -> npt.NDArray[np.float64]:
        """The probability of each value; exact but for the rounding to floats."""
        return np.diff(self.cumulative, prepend=np.uint64(0), append=np.uint64(0)).astype(np.float64) / WORD


def truncated_geometric(epsilon: float, delta: float) -> NoiseTable:
    """Two-sided geometric noise on [-k, k], k being the smallest number that comes with probability `delta` at most.

    One more or less of a count changes no probability by more than e^epsilon, but for one end of weight delta.

    Example:
        >>> truncated_geometric(1.0, 1e-4).first
        -9
    """
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    with localcontext(Context(prec=DIGITS)):
        ratio = (-Decimal(epsilon)).exp()
        k = max(1, math.ceil(math.log((math.expm1(epsilon) + 2 * delta) / ((math.exp(epsilon) + 1) * delta)) / epsilon) - 1)
        if k > LARGEST_BOUND:
            raise UsageError(f"Truncated geometric noise for epsilon {epsilon:g} and delta {delta:g} needs too large a table.")
        while (1 - ratio) * ratio**k > Decimal(delta) * (1 + ratio - 2 * ratio ** (k + 1)):
            k += 1
        peak = (1 - ratio) / (1 + ratio - 2 * ratio ** (k + 1))
        if peak * ratio**k * WORD < 1:
            raise UsageError(
                f"Truncated geometric noise for epsilon {epsilon:g} and delta {delta:g} has probabilities below 2^-64, which are "
                "too small for a table. Ask for a smaller epsilon or a larger delta."
            )
        return _table(ratio, peak, k)


def discrete_laplace(scale: float) -> NoiseTable:
    """Two-sided geometric noise without bounds, P(z) proportional to e^(-|z| / scale), cut where a word holds no more of it.

    Example:
        >>> round(float(discrete_laplace(2.0).pmf().max()), 4)
        0.2449
    """
    bounds = f"from {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}"
    scale = checked("scale", scale, lambda scale: SMALLEST_SCALE <= scale <= LARGEST_SCALE, bounds)
    with localcontext(Context(prec=DIGITS)):
        ratio = (-1 / Decimal(scale)).exp()
        return _table(ratio, (1 - ratio) / (1 + ratio), math.ceil(45 * scale))


def _table(ratio: Decimal, peak: Decimal, k: int) -> NoiseTable:
    """Weights peak * ratio^|z| on [-k, k], each rounded down; what is left over goes to 0. Outer weights of 0 are left out."""
    sizes, one = [], peak * WORD
    for _ in range(k + 1):
        sizes.append(one)
        one *= ratio
    whole = [int(size) for size in sizes]
    reach = max(z for z in range(k + 1) if whole[z] > 0)
    weights = whole[reach:0:-1] + whole[: reach + 1]
    left_over = WORD - sum(weights)
    weights[reach] += left_over
    cumulative = np.cumsum(np.array(weights, np.uint64))[:-1]
    return NoiseTable(-reach, cumulative, math.nextafter(left_over / WORD, 1))
