"""Gaussian differential privacy: known values, a high-precision route, dp-accounting, and calibration on the safe side."""

from __future__ import annotations

import itertools

import mpmath  # type: ignore[import-untyped]  # ships no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libra.errors import UsageError
from libra.privacy.gaussian import delta_of, epsilon_of, mu_of


def exact_delta(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        shift, loss = mpmath.mpf(mu), mpmath.mpf(epsilon)
        near, far = loss / shift - shift / 2, loss / shift + shift / 2
        return (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.exp(loss) * mpmath.erfc(far / mpmath.sqrt(2))) / 2


GRID = list(itertools.product((1e-3, 0.05, 0.1, 0.5, 1, 2, 5, 10, 50), (0.1, 1e-3, 1e-4, 1e-6, 1e-10, 1e-15)))


@pytest.mark.parametrize(("epsilon", "inverse"), [(0.1, 24.51), (0.5, 5.89), (1, 3.19), (2, 1.73), (5, 0.80)])
def test_the_known_noise_for_delta_one_in_ten_thousand_comes_out(epsilon: float, inverse: float) -> None:
    assert round(1 / mu_of(epsilon, 1e-4), 2) == inverse


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_calibration_meets_the_target_from_below_and_closely(epsilon: float, delta: float) -> None:
    mu = mu_of(epsilon, delta)
    assert delta_of(mu, epsilon) <= delta
    assert delta * (1 - 1e-7) < exact_delta(mu, epsilon) <= delta


@given(st.floats(1e-4, 8), st.floats(-1, 50))
@settings(max_examples=200)
def test_delta_is_never_below_the_truth_and_close_to_it(mu: float, epsilon: float) -> None:
    truth = exact_delta(mu, epsilon)
    found = delta_of(mu, epsilon)
    assert found >= truth or truth < 1e-290
    if truth > 1e-15:
        assert found <= truth * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_epsilon_and_mu_are_inverse(epsilon: float, delta: float) -> None:
    assert epsilon_of(mu_of(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)


@given(st.floats(0.01, 20), st.floats(-12, -1).map(lambda power: 10.0**power))
@settings(max_examples=50)
def test_more_epsilon_or_delta_allows_more(epsilon: float, delta: float) -> None:
    assert mu_of(epsilon, delta) < mu_of(epsilon * 1.01, delta)
    assert mu_of(epsilon, delta) < mu_of(epsilon, delta * 1.01)


def test_large_mu_has_a_delta_of_one_and_no_error() -> None:
    assert delta_of(100.0, 50.0) == pytest.approx(1)
    assert epsilon_of(60.0, 1e-5) > 1000


def test_no_release_costs_nothing() -> None:
    assert delta_of(0.0, 1.0) == 0
    assert delta_of(0.0, -0.1) == pytest.approx(0.0951625820)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-5), (-1, 1e-5), (1, 0), (1, 1), (float("nan"), 0.1), (1000, 1e-5)])
def test_targets_that_cannot_be_met_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(UsageError, match="has to be a number above 0"):
        mu_of(epsilon, delta)
