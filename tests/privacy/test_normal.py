"""The normal distribution: quantiles in floats to their stated error, tails between bounds that really hold."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libra.privacy.gaussian import tail_bounds, upper_quantiles, upper_tail, upper_tails


def exact_tail(x: object) -> mpmath.mpf:
    return mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2


def exact_quantile(tail: mpmath.mpf, start: float) -> mpmath.mpf:
    """By Newton's steps from a float."""
    x = mpmath.mpf(start)
    for _ in range(4):
        x += (exact_tail(x) - tail) / mpmath.npdf(x)
    return x


def test_quantiles_of_words_are_within_a_tenth_of_the_error_that_noise_allows_for() -> None:
    generator = np.random.default_rng(7)
    spread = [int(2**power * (1 + generator.random())) for power in np.linspace(10, 62, 300)]
    central = [2**63 - bits for bits in spread[:-1]]
    split = [int(0.075 * 2**64) + step for step in (-(2**12), 0, 2**12)]
    far = [int(float(np.exp(-25.0)) * 2**64) + step for step in (-9, 9)]
    words = np.array(spread + central + split + far, np.uint64)
    tails = (words.astype(np.float64) + 0.5) * 2.0**-64
    halves = ((np.uint64(1 << 63) - words).astype(np.float64) - 0.5) * 2.0**-64
    found = upper_quantiles(tails, halves)
    with mpmath.workdps(40):
        exact = [
            exact_quantile((int(word) + mpmath.mpf(0.5)) / mpmath.mpf(2) ** 64, start)
            for word, start in zip(words, found, strict=True)
        ]
        errors = [float(abs(value / truth - 1)) for value, truth in zip(found, exact, strict=True)]
    assert max(errors) < 1e-14


@pytest.mark.parametrize("tail", [0.4999, 0.1, 1e-4, 1e-20, 1e-300])
def test_the_tail_at_a_quantile_is_the_tail_asked_for(tail: float) -> None:
    assert upper_tail(float(upper_quantiles(np.array([tail]), np.array([0.5 - tail]))[0])) == pytest.approx(tail, rel=1e-11)


@given(st.fractions(Fraction(1, 10**6), 12), st.integers(25, 120))
@settings(max_examples=60)
def test_the_tail_lies_between_its_bounds_and_they_are_close(x: Fraction, digits: int) -> None:
    low, high = tail_bounds(x, digits)
    with mpmath.workdps(digits + 30):
        truth = exact_tail(mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(str(low)) < truth < mpmath.mpf(str(high))
    assert high - low < Decimal(10) ** (6 - digits)


def test_bounds_hold_far_out_too() -> None:
    low, high = tail_bounds(Fraction(30), 240)
    with mpmath.workdps(300):
        assert 0 < mpmath.mpf(str(low)) < exact_tail(30) < mpmath.mpf(str(high))


def test_many_tails_at_once_are_those_of_each_to_the_last_bit() -> None:
    points = np.concatenate((np.linspace(-40.0, 40.0, 4001), [0.0, -0.0, 1e-300, math.inf, -math.inf])).reshape(2, -1)
    assert upper_tails(points).tolist() == [[upper_tail(point) for point in row] for row in points.tolist()]
    assert upper_tails(np.zeros((0, 3))).shape == (0, 3)
