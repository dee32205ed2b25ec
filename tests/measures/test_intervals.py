"""Bounds from samples: SciPy's, on the safe side in exact arithmetic, and with the coverage that is promised."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath  # type: ignore[import-untyped]  # it has no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, t

from libra.errors import UsageError
from libra.measures.intervals import clopper_pearson, student

SIZES = (1, 2, 3, 10, 63, 64, 65, 129, 1000, 10**4, 10**6)


@pytest.mark.parametrize("mistaken", [0.45, 0.05, 0.025, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("n", SIZES)
def test_bounds_are_those_of_scipy(n: int, mistaken: float) -> None:
    for hits in sorted({0, 1, 2, n // 100, n // 10, n // 3, n // 2, n - 1, n} & set(range(n + 1))):
        lowest, highest = clopper_pearson(hits, n, mistaken)
        below = float(beta.ppf(mistaken, hits, n - hits + 1)) if hits else 0.0
        above = float(beta.isf(mistaken, hits + 1, n - hits)) if hits < n else 1.0
        assert lowest == pytest.approx(below, abs=1e-9, rel=1e-9)
        assert highest == pytest.approx(above, abs=1e-9, rel=1e-9)


@given(st.data(), st.integers(1, 10**6), st.floats(-200, -0.31).map(lambda power: 10.0**power))
@settings(max_examples=200)
def test_bounds_are_ordered_and_mirrored_however_extreme(data: st.DataObject, n: int, mistaken: float) -> None:
    hits = data.draw(st.integers(0, n))
    lowest, highest = clopper_pearson(hits, n, mistaken)
    assert 0 <= lowest <= 1
    assert 0 <= highest <= 1
    assert lowest <= hits / n <= highest
    below, above = clopper_pearson(n - hits, n, mistaken)
    assert (1 - above, 1 - below) == pytest.approx((lowest, highest), abs=1e-12)


@given(st.data(), st.integers(1, 60), st.sampled_from([0.3, 0.025, 1e-4]))
@settings(max_examples=60)
def test_bounds_are_on_the_safe_side_in_exact_arithmetic(data: st.DataObject, n: int, mistaken: float) -> None:
    hits = data.draw(st.integers(1, n))
    p = Fraction(clopper_pearson(hits, n, mistaken)[0])
    tail = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(hits, n + 1))
    assert mistaken * (1 - 1e-8) < tail <= mistaken


@pytest.mark.parametrize("mistaken", [0.45, 0.025, 1e-6, 1e-12])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 129, 1000])
def test_both_bounds_are_on_the_safe_side_with_many_digits(n: int, mistaken: float) -> None:
    for hits in {1, 2, n // 10, n // 2, n - 1, n} & set(range(1, n + 1)):
        lowest, highest = clopper_pearson(hits, n, mistaken)[0], clopper_pearson(n - hits, n, mistaken)[1]
        with mpmath.workdps(30):
            for p in (mpmath.mpf(lowest), 1 - mpmath.mpf(highest)):
                assert mpmath.betainc(hits, n - hits + 1, 0, p, regularized=True) <= mistaken


@pytest.mark.parametrize("truth", [0.003, 0.2, 0.5])
def test_each_bound_is_wrong_no_more_often_than_promised(truth: float) -> None:
    n, mistaken = 80, 0.05
    bounds = [clopper_pearson(hits, n, mistaken) for hits in range(n + 1)]
    too_high = sum(float(binom.pmf(hits, n, truth)) for hits, (lowest, _) in enumerate(bounds) if lowest > truth)
    too_low = sum(float(binom.pmf(hits, n, truth)) for hits, (_, highest) in enumerate(bounds) if highest < truth)
    assert max(too_high, too_low) <= mistaken


def test_without_a_try_nothing_is_known() -> None:
    assert clopper_pearson(0, 0, 0.025) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "n", "mistaken"), [(-1, 3, 0.1), (4, 3, 0.1), (1, 3, 0.0), (1, 3, 1.0)])
def test_what_cannot_be_meant_is_refused(hits: int, n: int, mistaken: float) -> None:
    with pytest.raises(UsageError):
        clopper_pearson(hits, n, mistaken)


@pytest.mark.parametrize("mistaken", [0.3, 0.025, 1e-3])
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.1, -0.2, 0.4], [0.3] * 4 + [0.31], [float(i % 7) for i in range(40)]])
def test_bounds_of_a_mean_are_those_of_scipy(values: list[float], mistaken: float) -> None:
    n, mean = len(values), sum(values) / len(values)
    spread = (sum((value - mean) ** 2 for value in values) / (n - 1) / n) ** 0.5
    away = float(t.isf(mistaken, n - 1)) * spread
    assert student(values, mistaken) == pytest.approx((mean - away, mean + away), abs=1e-9)


def test_one_repetition_gives_no_bounds() -> None:
    with pytest.raises(UsageError):
        student([0.5], 0.025)
