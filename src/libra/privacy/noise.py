"""Noise for tables of whole numbers: in go a spread and a source of random words, out come whole numbers.

The promise: `rounded_gaussian` follows its distribution exactly, not up to what floats can hold. Only this package draws noise
for a release.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from libra.privacy.arguments import checked
from libra.privacy.normal import tail_bounds, upper_quantiles
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
BLOCK = 1 << 14  # draws at a time, so that they stay in the processor's cache
RELATIVE = 1e-13  # ten times what a quantile in floats can be off by
ABSOLUTE = 1e-18  # what a quantile near the centre moves by within one word, and more
LARGEST_SD = 1e10


def rounded_gaussian(sd: float, n: int, random: Randomness) -> Integers:
    """Gaussian noise of standard deviation `sd`, rounded to whole numbers; exact.

    A word of 64 random bits is a sign and the first 63 bits of a uniform number, the upper tail of the size of the noise. Its
    quantile in floats has a known error. Where that and the bits not drawn cannot matter, because no rounding boundary is near,
    the result is what infinitely many bits and exact arithmetic would give; elsewhere more bits are drawn and the tail at the
    boundary is computed to as many digits as it takes. So every result is the one of the ideal distribution.

    Example:
        >>> noise = rounded_gaussian(3.2, 100_000, Randomness(seed=1))
        >>> round(float(noise.std()), 1)
        3.2
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
