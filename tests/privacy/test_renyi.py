"""The paper's equations: their known values, brute force in high precision, and no order or rate where they break."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad

from libra.errors import UsageError
from libra.privacy.renyi import best_order, compose, laplace_epsilon, subsampled_bound, subsampled_laplace, to_epsilon

ORDERS = st.one_of(st.integers(2, 1000), st.floats(1, 1000, exclude_min=True))
SCALES = st.floats(-6, 9).map(lambda power: 10.0**power)
RATES = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-12, 1 - 1e-12), st.floats(-12, 0).map(lambda power: 10.0**power))
CLOSE = 1 + 1e-9


@pytest.mark.parametrize(
    ("order", "one", "sampled", "twenty", "converted"),
    [
        (2, "0.2003", "0.00055", "0.011", "9.2"),
        (10, "0.4287", "0.0073", "0.145", "1.17"),
        (100, "0.4930", "0.0320", "0.640", "0.73"),
    ],
)
def test_the_known_figures_come_out_to_the_printed_digits(
    order: int, one: str, sampled: str, twenty: str, converted: str
) -> None:
    release = subsampled_bound(order, 2, 0.05)
    composed = compose(release, 20)
    found = (laplace_epsilon(order, 2), release, composed, to_epsilon(order, composed, 1e-4))
    for value, printed in zip(found, (one, sampled, twenty, converted), strict=True):
        assert f"{value:.{len(printed.split('.')[1])}f}" == printed


def test_the_best_order_for_the_papers_parameters() -> None:
    exact = best_order(lambda order: compose(subsampled_laplace(order, 2, 0.05), 20), 1e-4)
    bound = best_order(lambda order: compose(subsampled_bound(order, 2, 0.05), 20), 1e-4)
    assert (exact.order, round(exact.epsilon, 4)) == (34, 0.3355)
    assert exact.renyi_epsilon == 20 * subsampled_laplace(34, 2, 0.05)
    assert exact.epsilon < bound.epsilon < to_epsilon(10, 20 * subsampled_bound(10, 2, 0.05), 1e-4)


def _log_moment(order: float, scale: float) -> Any:
    a, loss = mpmath.mpf(order), 1 / mpmath.mpf(scale)
    return mpmath.log(a / (2 * a - 1) * mpmath.exp((a - 1) * loss) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * loss))


@pytest.mark.parametrize("scale", [1e-6, 0.01, 0.3, 2, 77, 1e9])
@pytest.mark.parametrize("order", [1 + 1e-9, 1.3, 2, 10, 100, 1000, 100_000])
def test_laplace_agrees_with_the_equation_in_high_precision(order: float, scale: float) -> None:
    with mpmath.workdps(80):
        expected = float(_log_moment(order, scale) / (mpmath.mpf(order) - 1))
    assert laplace_epsilon(order, scale) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("order", "scale", "rate"),
    [(2, 2, 0.05), (3, 0.5, 0.3), (10, 2, 0.05), (34, 1e3, 1e-3), (100, 0.1, 0.9), (1000, 2, 0.05), (1000, 1e9, 1e-12)],
)
def test_subsampling_agrees_with_the_equation_in_high_precision(order: int, scale: float, rate: float) -> None:
    with mpmath.workdps(80):
        gamma = mpmath.mpf(rate)
        first = (1 - gamma) ** (order - 1) * (order * gamma - gamma + 1)
        terms = [
            mpmath.binomial(order, j) * gamma**j * (1 - gamma) ** (order - j) * mpmath.exp(_log_moment(j, scale))
            for j in range(2, order + 1)
        ]
        exact = mpmath.log(first + sum(terms)) / (order - 1)
        bound = mpmath.log(first + terms[0] + 3 * sum(terms[1:])) / (order - 1)
        unsampled = _log_moment(order, scale) / (order - 1)
        expected = float(exact), float(min(bound, unsampled))
    assert (subsampled_laplace(order, scale, rate), subsampled_bound(order, scale, rate)) == pytest.approx(
        expected, rel=1e-9, abs=0
    )


def _integrated(order: float, scale: float, rate: float, *, adding: bool) -> float:
    """The Renyi divergence of the mixture and the release without the case, in either direction, by integration.

    The mixture's density is 1 + t times the other's, where t has mean 0: so the linear term may be taken off before integrating.
    """
    power, loss = (1 - order if adding else order), 1 / scale

    def beyond_line(log_ratio: float) -> float:
        t = rate * math.expm1(log_ratio)
        return math.expm1(power * math.log1p(t)) - power * t

    between, _ = quad(lambda z: beyond_line((2 * z - 1) * loss) * math.exp(-z * loss) * loss / 2, 0, 1, epsabs=0, epsrel=1e-9)
    return math.log1p(beyond_line(-loss) / 2 + between + beyond_line(loss) * math.exp(-loss) / 2) / (order - 1)


@pytest.mark.parametrize("order", [1.1, 1.5, 2, 2.5, 3, 5, 10, 33.5, 34])
@pytest.mark.parametrize("scale", [0.2, 0.5, 1, 2, 5, 50])
@pytest.mark.parametrize("rate", [0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
def test_subsampled_laplace_bounds_removing_and_adding_a_case(order: float, scale: float, rate: float) -> None:
    found = subsampled_laplace(order, scale, rate)
    assert _integrated(order, scale, rate, adding=True) <= found * CLOSE
    removing = _integrated(order, scale, rate, adding=False)
    assert removing <= found * CLOSE
    if isinstance(order, int):
        assert found == pytest.approx(removing, rel=1e-6, abs=0)


@given(ORDERS, SCALES, RATES)
@example(1000, 1e-6, 1e-12)
@example(1000, 1e-6, 1 - 1e-12)
@example(1000, 1e9, 1e-12)
@example(1 + 2**-52, 1e9, 0.5)
@example(100_000, 1e-100, 0.5)
@example(100_000, 1e100, 5e-324)
def test_nothing_overflows_or_goes_negative_and_the_bounds_are_in_order(order: float, scale: float, rate: float) -> None:
    exact, bound = subsampled_laplace(order, scale, rate), subsampled_bound(order, scale, rate)
    unsampled = laplace_epsilon(order, scale)
    assert 0 <= exact <= bound <= unsampled <= 1 / scale
    assert (exact > 0) == (rate > 1e-100)
    assert math.isfinite(unsampled)


@given(ORDERS, SCALES, RATES, RATES)
def test_a_higher_rate_never_costs_less(order: float, scale: float, first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert subsampled_laplace(order, scale, low) <= subsampled_laplace(order, scale, high) * CLOSE
    assert subsampled_bound(order, scale, low) <= subsampled_bound(order, scale, high) * CLOSE


@given(ORDERS, ORDERS, SCALES, RATES)
def test_a_higher_order_never_costs_less(first: float, second: float, scale: float, rate: float) -> None:
    low, high = sorted((first, second))
    assert laplace_epsilon(low, scale) <= laplace_epsilon(high, scale) * CLOSE
    assert subsampled_laplace(low, scale, rate) <= subsampled_laplace(high, scale, rate) * CLOSE


@given(ORDERS, SCALES)
def test_a_rate_of_1_is_no_subsampling_and_a_rate_of_0_costs_nothing(order: float, scale: float) -> None:
    for subsampled in (subsampled_bound, subsampled_laplace):
        assert subsampled(order, scale, 1) == laplace_epsilon(order, scale)
        assert subsampled(order, scale, 0) == 0


def test_below_order_2_the_subsampled_figure_is_that_of_order_2() -> None:
    assert subsampled_bound(1.5, 2, 0.05) == pytest.approx(subsampled_bound(2, 2, 0.05), rel=1e-12)


def test_between_whole_orders_the_figure_lies_on_the_chord() -> None:
    below, above = 2 * subsampled_bound(3, 2, 0.05), 3 * subsampled_bound(4, 2, 0.05)
    assert 2.25 * subsampled_bound(3.25, 2, 0.05) == pytest.approx(0.75 * below + 0.25 * above, rel=1e-12)


@given(ORDERS, st.floats(0, 1e6), st.floats(1e-300, 1, exclude_max=True))
def test_the_tight_conversion_is_never_above_the_plain_one_and_never_negative(order: float, epsilon: float, delta: float) -> None:
    tight = to_epsilon(order, epsilon, delta, tight=True)
    assert 0 <= tight <= to_epsilon(order, epsilon, delta) * CLOSE


def test_the_tight_conversion_is_the_published_formula() -> None:
    expected = 0.2 + math.log(4 / 5) - (math.log(1e-6) + math.log(5)) / 4
    assert to_epsilon(5, 0.2, 1e-6, tight=True) == pytest.approx(expected)


def test_the_best_order_is_the_best_of_those_allowed() -> None:
    def curve(order: int) -> float:
        return 0.01 * order

    best = best_order(curve, 1e-5, largest=40)
    converted = [to_epsilon(order, curve(order), 1e-5, tight=True) for order in range(2, 41)]
    assert (best.epsilon, best.order) == (min(converted), 2 + int(np.argmin(converted)))
    assert best_order(curve, 1e-5, largest=2).order == 2
    assert best_order(lambda order: 50.0 if order < 7 else 0.0, 1e-5, largest=7).order == 7


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda bad: laplace_epsilon(bad, 2), "order has to be a number above 1 and at most 100,000, not"),
        (lambda bad: laplace_epsilon(2, bad), "scale has to be a number above 0"),
        (lambda bad: subsampled_bound(2, 2, bad), "rate has to be a number from 0 to 1, not"),
        (lambda bad: subsampled_laplace(bad, 2, 0.5), "order has to be"),
        (lambda bad: to_epsilon(2, 1, bad), "delta has to be a number above 0 and below 1, not"),
        (lambda bad: to_epsilon(2, bad, 0.1), "a Renyi epsilon has to be a number not below 0, not"),
        (lambda bad: compose(bad, 1), "a Renyi epsilon has to be"),
        (lambda bad: compose(1, bad), "times has to be a whole number from 1 to 1,000,000, not"),
        (lambda bad: best_order(float, 0.1, largest=bad), "largest has to be a whole number from 2 to 100,000, not"),
    ],
)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1, True, "2", None, np.True_, 2j])
def test_wrong_arguments_are_refused_in_a_sentence(call: Callable[[Any], float], told: str, bad: Any) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        call(bad)
    assert str(caught.value).endswith(f"not {bad!r}.")


@pytest.mark.parametrize(
    "call",
    [
        lambda: laplace_epsilon(1, 2),
        lambda: laplace_epsilon(100_001, 2),
        lambda: laplace_epsilon(2, 0),
        lambda: subsampled_bound(2, 2, 1.01),
        lambda: to_epsilon(2, 1, 0),
        lambda: to_epsilon(2, 1, 1),
        lambda: compose(1, 0),
        lambda: compose(1, 2.0),  # type: ignore[arg-type]  # what is tested
        lambda: best_order(float, 0.1, largest=1),
    ],
)
def test_arguments_at_the_wrong_side_of_a_bound_are_refused(call: Callable[[], float]) -> None:
    with pytest.raises(UsageError):
        call()


def test_numbers_of_numpy_are_numbers() -> None:
    assert laplace_epsilon(np.float64(2), np.float64(3)) == laplace_epsilon(2, 3)
    assert compose(np.float64(0.5), np.int64(2)) == 1  # type: ignore[arg-type]  # no int for mypy
