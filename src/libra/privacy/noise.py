"""Noise for tables of whole numbers, and the noisy tables, the only thing that later steps accept.

The promise: `rounded_gaussian` follows its distribution exactly, not up to what floats can hold; a `NoiseTable` says how far it
is from its distribution, in total variation, so that this can be added to delta. Only this package draws noise for a release. A
`NoisyTable` knows its noise, and nothing of the raw counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from libra._system.arguments import checked, checked_delta
from libra._system.ordering import Floats, Integers
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.privacy.gaussian import checked_epsilon, tail_bounds, upper_quantiles

Words = npt.NDArray[np.uint64]
BLOCK = 1 << 14  # draws at a time, so that they stay in the processor's cache
RELATIVE = 1e-13  # ten times what a quantile in floats can be off by
ABSOLUTE = 1e-18  # what a quantile near the centre moves by within one word, and more
LARGEST_SD = 1e10
WORD = 1 << 64
DIGITS = 60
SMALLEST_SCALE, LARGEST_SCALE = 0.025, 2000.0  # with less, a word would hold no other noise than 0
LARGEST_BOUND = 100_000


def rounded_gaussian(sd: float, n: int, random: Randomness) -> Integers:
    """Gaussian noise of standard deviation `sd`, rounded to whole numbers; exact.

    A word of 64 random bits is a sign and the first 63 bits of a uniform number, the upper tail of the size of the noise. Its
    quantile in floats has a known error. Where that and the bits not drawn cannot matter, because no rounding boundary is near,
    the result is what infinitely many bits and exact arithmetic would give; elsewhere more bits are drawn and the tail at the
    boundary is computed to as many digits as it takes. So every result is the one of the ideal distribution.
    """
    sd = checked("sd", sd, lambda sd: 0 < sd <= LARGEST_SD, f"above 0 (up to {LARGEST_SD:g})")
    words = random.words(n)
    noise = np.empty(n, np.int64)
    for begin in range(0, n, BLOCK):
        block = words[begin : begin + BLOCK]
        sizes, certain = _sizes(block >> np.uint64(1), sd)
        for row in np.flatnonzero(~certain):
            sizes[row] = _exact_size(int(block[row]) >> 1, sd, random)
        noise[begin : begin + BLOCK] = np.where(block & np.uint64(1), sizes, -sizes)
    return noise


def _sizes(bits: Words, sd: float) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The size of the noise for tails of `bits` / 2^64, and whether it is certain whatever bits follow."""
    tails = bits.astype(np.float64) + 0.5
    halves = ((np.uint64(1 << 63) - bits).astype(np.float64) - 0.5) * 2.0**-64
    points = upper_quantiles(tails * 2.0**-64, halves)
    margins = sd * (points * (RELATIVE + 1 / tails) + ABSOLUTE)
    points *= sd
    sizes = np.rint(points)
    certain = np.abs(points - sizes) < 0.5 - margins
    return sizes.astype(np.int64), certain & (tails > 1000)


def _exact_size(bits: int, sd: float, random: Randomness) -> int:
    """The size of the noise for a tail that begins with `bits` / 2^64, by drawing what further bits it takes."""
    tail = _Tail(bits, random)
    size = round(sd * tail.point())
    while tail.reaches(size, sd):
        size += 1
    while size > 0 and not tail.reaches(size - 1, sd):
        size -= 1
    return size


class _Tail:
    """A uniform number below one half, known to as many bits as were needed so far: between `bits` and one more over 2^known."""

    def __init__(self, bits: int, random: Randomness) -> None:
        self.bits, self.known, self.random = bits, 64, random
        self.refine()
        while self.bits.bit_length() < 64:
            self.refine()

    def refine(self) -> None:
        """Draw 64 bits more."""
        self.bits = self.bits << 64 | int(self.random.words(1)[0])
        self.known += 64

    def point(self) -> float:
        """The point that this is the upper tail of, in floats."""
        spare = self.bits.bit_length() - 64
        tail = max(math.ldexp(self.bits >> spare, spare - self.known), 1e-300)
        return float(upper_quantiles(np.array([tail]), np.array([0.5 - tail]))[0])

    def reaches(self, size: int, sd: float) -> bool:
        """Whether the noise rounds to more than `size`: whether this is below the tail at (size + 1/2) / sd."""
        boundary = Fraction(2 * size + 1, 2) / Fraction(sd)
        while True:
            smaller_than = self.known - self.bits.bit_length() + 1  # this is at least 2 to the minus that
            if smaller_than < 0.72 * boundary * boundary:  # and the tail is below e^(-boundary^2 / 2) / 2
                return False
            low, high = (Fraction(bound) * (1 << self.known) for bound in tail_bounds(boundary, int(0.302 * self.known) + 8))
            if self.bits + 1 <= low:
                return True
            if self.bits >= high:
                return False
            self.refine()


@dataclass(frozen=True, eq=False, repr=False)
class NoiseTable:
    """A distribution on consecutive whole numbers."""

    first: int  # the smallest of them
    cumulative: Words  # the weights added up, without the last sum, which is 2^64
    distance: float  # the total variation distance from the distribution that the table stands for, rounded up

    @property
    def values(self) -> Integers:
        """What can be drawn."""
        return np.arange(len(self.cumulative) + 1) + self.first

    def draw(self, n: int, random: Randomness) -> Integers:
        """So many independent draws."""
        return np.searchsorted(self.cumulative, random.words(n), side="right") + self.first

    def pmf(self) -> Floats:
        """The probability of each value; exact but for the rounding to floats."""
        return np.diff(self.cumulative, prepend=np.uint64(0), append=np.uint64(0)).astype(np.float64) / WORD


def truncated_geometric(epsilon: float, delta: float) -> NoiseTable:
    """Two-sided geometric noise on [-k, k], k being the smallest number that comes with probability `delta` at most.

    One more or less of a count changes no probability by more than e^epsilon, but for one end of weight delta.
    """
    return geometric_within(epsilon, bound_of_geometric(epsilon, delta))


def bound_of_geometric(epsilon: float, delta: float) -> int:
    """The smallest k such that two-sided geometric noise on [-k, k] is k with probability `delta` at most."""
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    k = max(1, math.ceil(math.log((math.expm1(epsilon) + 2 * delta) / ((math.exp(epsilon) + 1) * delta)) / epsilon) - 1)
    if k > LARGEST_BOUND:
        raise UsageError(f"Truncated geometric noise for epsilon {epsilon:g} and delta {delta:g} needs too large a table.")
    with localcontext(Context(prec=DIGITS)):
        ratio = (-Decimal(epsilon)).exp()
        while (1 - ratio) * ratio**k > Decimal(delta) * (1 + ratio - 2 * ratio ** (k + 1)):
            k += 1
    return k


def table_distance(bound: int) -> float:
    """How far a table of numbers up to `bound` may be from its distribution, in total variation, and more."""
    return (2 * bound + 3) / WORD


def geometric_within(epsilon: float, k: int) -> NoiseTable:
    """Two-sided geometric noise on [-k, k], P(z) proportional to e^(-epsilon |z|)."""
    with localcontext(Context(prec=DIGITS)):
        ratio = (-Decimal(epsilon)).exp()
        peak = (1 - ratio) / (1 + ratio - 2 * ratio ** (k + 1))
        if peak * ratio**k * WORD < 1:
            raise UsageError(
                f"Truncated geometric noise for epsilon {epsilon:g}, up to {k:,}, has probabilities below 2^-64, which are too "
                "small for a table. Ask for a smaller epsilon or a larger delta."
            )
        return _table(ratio, peak, k)


def geometric_sd(epsilon: float) -> float:
    """The standard deviation of two-sided geometric noise without bounds, P(z) proportional to e^(-epsilon |z|)."""
    return 1 / (math.sqrt(2) * math.sinh(epsilon / 2))


def discrete_laplace(scale: float) -> NoiseTable:
    """Two-sided geometric noise without bounds, P(z) proportional to e^(-|z| / scale), cut where a word holds no more of it."""
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


@dataclass(frozen=True, eq=False, repr=False)
class NoisyTable:
    """A table with noise."""

    counts: Integers  # noisy whole numbers, `scale` times the counts
    scale: int  # what counts were multiplied with
    sd: float  # the standard deviation of the noise, in counts

    @property
    def values(self) -> Floats:
        """The noisy counts."""
        return self.counts / self.scale

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {"counts": self.counts.ravel().tolist(), "shape": list(self.counts.shape), "scale": self.scale, "sd": self.sd}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> NoisyTable:
        """The table of a JSON document."""
        return cls(np.array(plain["counts"], np.int64).reshape(plain["shape"]), plain["scale"], plain["sd"])
