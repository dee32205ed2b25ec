"""Bounds: a true claim is refuted no more often than said, by exact enumeration; and the runs that are said to be needed are."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, norm

from libra.measures.audit.events import MOST_RUNS, Bound, Event, bound_of, runs_needed
from libra.measures.distances import Floats
from libra.measures.intervals import clopper_pearson
from libra.privacy.gaussian import mu_of

SIZES = ((25, 25), (12, 60), (60, 12))
shares = st.floats(0.0, 1.0)


def runs_with(hits: int, n: int) -> Floats:
    """Runs of which so many have a figure of 1."""
    return (np.arange(n) < hits).astype(np.float64)[:, None]


def bound(hits: int, n: int, other_hits: int, other_n: int, mistaken: float, *, with_canary: bool = True) -> Bound:
    event = Event((1.0,), 0.5, above=True, with_canary=with_canary)
    sides = runs_with(hits, n), runs_with(other_hits, other_n)
    return bound_of(event, *(sides if with_canary else sides[::-1]), mistaken)


@cache
def all_bounds(n: int, other_n: int, mistaken: float, with_canary: bool) -> list[list[Bound]]:
    """What every possible outcome proves."""
    return [
        [bound(hits, n, others, other_n, mistaken, with_canary=with_canary) for others in range(other_n + 1)]
        for hits in range(n + 1)
    ]


def chance_of_refuting(
    n: int, other_n: int, mistaken: float, p: float, q: float, claim: tuple[float, float], side: bool
) -> float:
    """How likely it is that a claim is refuted if these are the probabilities of the event."""
    epsilon, delta = claim
    refutes = [[one.epsilon(delta) > epsilon for one in row] for row in all_bounds(n, other_n, mistaken, side)]
    weights = np.outer(binom.pmf(np.arange(n + 1), n, p), binom.pmf(np.arange(other_n + 1), other_n, q))
    return float(weights[np.array(refutes)].sum())


@pytest.mark.parametrize("side", [True, False])
@pytest.mark.parametrize(("n", "other_n"), SIZES)
@pytest.mark.parametrize("mistaken", [0.2, 0.05])
def test_a_true_claim_is_refuted_no_more_often_than_said(n: int, other_n: int, mistaken: float, side: bool) -> None:
    for epsilon, delta in ((0.0, 0.0), (0.3, 0.0), (1.0, 0.01), (0.1, 0.3), (2.0, 0.05)):
        for q in (0.0, 0.02, 0.2, 0.5, 0.9):
            p = min(math.exp(epsilon) * q + delta, 1.0)
            assert chance_of_refuting(n, other_n, mistaken, p, q, (epsilon, delta), side) <= mistaken


@pytest.mark.parametrize("side", [True, False])
def test_a_claim_that_is_far_from_true_is_refuted(side: bool) -> None:
    assert chance_of_refuting(60, 12, 0.2, 0.95, 0.05, (0.3, 0.01), side) > 0.9
    assert chance_of_refuting(12, 60, 0.2, 0.95, 0.05, (0.3, 0.01), side) > 0.9


def test_a_delta_alone_is_refuted_by_what_never_happens_otherwise() -> None:
    assert chance_of_refuting(60, 12, 0.2, 0.9, 0.0, (0.1, 0.3), True) > 0.99
    assert chance_of_refuting(60, 12, 0.2, 0.3, 0.0, (0.1, 0.3), True) < 0.1


@given(st.data(), st.integers(1, 80), st.integers(1, 80), st.sampled_from([0.2, 0.01, 6e-4]), st.booleans())
def test_each_side_gets_half_of_the_mistakes(data: st.DataObject, n: int, other_n: int, mistaken: float, side: bool) -> None:
    hits, others = data.draw(st.integers(0, n)), data.draw(st.integers(0, other_n))
    found = bound(hits, n, others, other_n, mistaken, with_canary=side)
    assert (found.hits, found.runs, found.other_hits, found.other_runs) == (hits, n, others, other_n)
    assert found.p_low == pytest.approx(beta.ppf(mistaken / 2, hits, n - hits + 1) if hits else 0.0, abs=1e-9)
    assert found.q_high == pytest.approx(
        beta.isf(mistaken / 2, others + 1, other_n - others) if others < other_n else 1.0, abs=1e-9
    )


def test_without_runs_nothing_is_proved() -> None:
    nothing = bound(0, 0, 0, 0, 0.01)
    assert (nothing.p_low, nothing.q_high) == (0.0, 1.0)
    assert (nothing.epsilon(0.01), nothing.delta(1.0), nothing.delta(3000.0)) == (0.0, 0.0, 0.0)


@given(shares, st.floats(1e-6, 1.0), shares, st.floats(0.0, 20.0))
def test_epsilon_and_delta_refute_the_same_claims(p_low: float, q_high: float, delta: float, epsilon: float) -> None:
    found = Bound(1, 1, 1, 1, p_low, q_high)
    gap = p_low - math.exp(epsilon) * q_high - delta
    if abs(gap) > 1e-9 * (1 + math.exp(epsilon)):  # further from equality than floats round
        assert (found.epsilon(delta) > epsilon) == (gap > 0)
        assert (found.delta(epsilon) > delta) == (gap > 0)


@given(shares, st.floats(1e-6, 1.0), shares)
def test_epsilon_and_delta_are_inverse_where_something_is_proved(p_low: float, q_high: float, delta: float) -> None:
    found = Bound(1, 1, 1, 1, p_low, q_high)
    epsilon = found.epsilon(delta)
    assert 0 <= epsilon < math.inf
    if epsilon > 0:
        assert found.delta(epsilon) == pytest.approx(delta, abs=1e-9)
    assert found.delta(0.0) == pytest.approx(max(0.0, p_low - q_high))


def test_at_a_larger_delta_less_epsilon_is_proved() -> None:
    found = bound(90, 100, 1, 100, 0.01)
    proved = [found.epsilon(delta) for delta in (0.0, 0.01, 0.2, 0.5, 0.9)]
    assert proved == sorted(proved, reverse=True)
    assert proved[0] > proved[1] > proved[2] > proved[3] > proved[4] == 0


@cache
def low(hits: int, n: int, mistaken: float) -> float:
    return clopper_pearson(hits, n, mistaken)[0]


@cache
def high(hits: int, n: int, mistaken: float) -> float:
    return clopper_pearson(hits, n, mistaken)[1]


def power(n: int, claim: tuple[float, float], p: float, q: float, mistaken: float) -> float:
    """How often so many runs a side refute a claim, from two thousand audits."""
    epsilon, delta = claim
    random = np.random.default_rng(1)
    pairs: npt.NDArray[np.int64] = np.stack((random.binomial(n, p, 2000), random.binomial(n, q, 2000)), axis=1)
    refuted = [
        low(hits, n, mistaken / 2) - delta > math.exp(epsilon) * high(others, n, mistaken / 2) for hits, others in pairs.tolist()
    ]
    return float(np.mean(refuted))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (3.0, 0.1), (5.0, 0.3), (0.5, 0.3)])
def test_so_many_runs_find_an_overspend_of_a_quarter_nine_times_of_ten(epsilon: float, delta: float) -> None:
    """With the noise of a Gaussian mechanism that spends a quarter more, and the event that tells most."""
    mistaken = 0.01
    n, mu = runs_needed(epsilon, delta, mistaken), mu_of(1.25 * epsilon, delta)
    best = 1.25 * epsilon / mu + mu / 2
    events = [(float(norm.sf(at - mu)), float(norm.sf(at))) for at in (best - 0.4, best - 0.2, best, best + 0.2)]
    found = max(power(n, (epsilon, delta), p, q, mistaken) for p, q in events)
    assert 0.85 < found < 0.97
    assert max(power(n // 4, (epsilon, delta), p, q, mistaken) for p, q in events) < 0.6


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (0.5, 0.3)])
def test_so_many_runs_hardly_ever_refute_what_is_true(epsilon: float, delta: float) -> None:
    n = runs_needed(epsilon, delta, 0.01)
    for q in (0.01, 0.2):
        assert power(n, (epsilon, delta), math.exp(epsilon) * q + delta, q, 0.01) < 0.01


def test_a_larger_overspend_or_more_mistakes_take_fewer_runs_and_more_power_takes_more() -> None:
    overspends = [runs_needed(1.0, 0.01, 0.01, overspend) for overspend in (1.05, 1.1, 1.25, 1.5, 2.0, 4.0)]
    mistakes = [runs_needed(1.0, 0.01, mistaken) for mistaken in (1e-6, 1e-3, 0.01, 0.1)]
    powers = [runs_needed(1.0, 0.01, 0.01, power=power) for power in (0.99, 0.9, 0.5)]
    for falling in (overspends, mistakes, powers):
        assert all(more > fewer for more, fewer in pairwise(falling))


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 0.01), (100.0, 0.01), (1.0, 1e-12), (1.0, 0.99)])
def test_however_extreme_the_claim_it_is_a_number_of_runs(epsilon: float, delta: float) -> None:
    assert 10 < runs_needed(epsilon, delta, 0.01) <= MOST_RUNS
