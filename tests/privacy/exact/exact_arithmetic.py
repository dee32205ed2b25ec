"""Arithmetic that proofs can be checked with: fractions, bounds of e^x, outcomes with their probabilities, and how far apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import mpmath  # type: ignore[import-untyped]  # ships no types

from libra.privacy.noise import WORD, NoiseTable

Outcome: TypeAlias = int | None  # a noisy count, or that nothing shows
Distribution: TypeAlias = Mapping[Outcome, Any]  # probabilities: fractions, or numbers of 50 digits
DIGITS = 50
UNIT = 1 << 256


def exponential_bounds(x: float) -> tuple[Fraction, Fraction]:
    """Two fractions that e^x lies between, for x from 0 to 100: the series, every term once rounded down and once up."""
    numerator, denominator = Fraction(x).as_integer_ratio()
    low, high, n = [UNIT], [UNIT], 0
    while high[-1] > 1 or n < 2 * x + 2:
        n += 1
        low.append(low[-1] * numerator // (denominator * n))
        high.append(-(-high[-1] * numerator // (denominator * n)))
    return Fraction(sum(low), UNIT), Fraction(sum(high) + 2 * high[-1], UNIT)


def table_weights(table: NoiseTable) -> dict[Outcome, int]:
    """How many of all words of 64 bits draw each number."""
    sums = [0, *table.cumulative.tolist(), WORD]
    return dict(zip(table.values.tolist(), (after - before for before, after in itertools.pairwise(sums)), strict=True))


def table_pmf(table: NoiseTable) -> dict[Outcome, Fraction]:
    """The probabilities of what is drawn, exactly."""
    return {z: Fraction(weight, WORD) for z, weight in table_weights(table).items()}


@cache
def rounded_gaussian_pmf(sd: float) -> dict[Outcome, Any]:
    """The probabilities of a rounded Gaussian to 50 digits; the ends hold all that is beyond them, less than 1e-40."""
    reach = math.ceil(14 * sd)
    with mpmath.workdps(DIGITS + 60):  # the difference of two tails loses as many digits as the tails have zeros
        width = mpmath.sqrt(2) * mpmath.mpf(sd)
        tails = [mpmath.erfc((z - mpmath.mpf(0.5)) / width) / 2 for z in range(reach + 1)]
        tails.append(mpmath.mpf(0))
        upper: dict[Outcome, Any] = {z: tails[z] - tails[z + 1] for z in range(1, reach + 1)}
        return {-z: upper[z] for z in range(reach, 0, -1)} | {0: 1 - 2 * tails[1]} | upper


def shifted(noise: Distribution, count: int) -> dict[Outcome, Any]:
    """A count with this noise."""
    return {count + z: chance for z, chance in noise.items() if z is not None}


def thresholded(noise: Distribution, count: int, least: int) -> dict[Outcome, Any]:
    """What is told of a count with this noise where it shows only from `least` on."""
    shows: dict[Outcome, Any] = {z: chance for z, chance in shifted(noise, count).items() if z is not None and z >= least}
    with mpmath.workdps(DIGITS):
        return {None: sum(noise.values()) - sum(shows.values())} | shows


def hockey_stick(first: Distribution, second: Distribution, ratio: Any) -> Any:
    """The largest P(S) - ratio Q(S) over all sets of outcomes: what is left of P, outcome by outcome."""
    return sum(max(chance - ratio * second.get(outcome, 0), 0 * chance) for outcome, chance in first.items())


def realised_delta(one: Distribution, other: Distribution, epsilon: float) -> Any:
    """The delta at epsilon of two distributions in both directions, never less than the truth."""
    low, _ = exponential_bounds(epsilon)
    exact = all(isinstance(chance, int | Fraction) for chance in one.values())
    with mpmath.workdps(DIGITS):
        ratio = low if exact else mpmath.mpf(low.numerator) / low.denominator * (1 - mpmath.mpf(10) ** (2 - DIGITS))
        return max(hockey_stick(one, other, ratio), hockey_stick(other, one, ratio))
