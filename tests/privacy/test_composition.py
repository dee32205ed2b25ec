"""Subsamples and repetitions: against the output distributions of small mechanisms, enumerated."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from libra.errors import UsageError
from libra.privacy.accounting import before_subsampling, composed_delta, repeated, subsampled
from libra.privacy.gaussian import delta_of, mu_of
from libra.privacy.noise import discrete_laplace, truncated_geometric

Floats = NDArray[np.float64]


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(0, first - math.exp(epsilon) * second).sum())


def both_ways(first: Floats, second: Floats, epsilon: float) -> float:
    return max(hockey_stick(first, second, epsilon), hockey_stick(second, first, epsilon))


def pairs() -> list[tuple[Floats, Floats]]:
    """What small mechanisms give without and with a case: two symmetric ones, and one that shows a case it may not show."""
    geometric, laplace = truncated_geometric(1.0, 1e-2).pmf(), discrete_laplace(0.5).pmf()
    shifted = [(np.append(one, 0.0), np.insert(one, 0, 0.0)) for one in (geometric, laplace)]
    return [*shifted, (np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.7, 0.1]))]


@pytest.mark.parametrize("rate", [0.01, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 2.0])
def test_a_subsample_is_as_private_as_its_curve_says_and_removing_reaches_it(rate: float, epsilon: float) -> None:
    for without, with_case in pairs():
        curve = subsampled(lambda loss, a=without, b=with_case: both_ways(a, b, loss), rate)  # type: ignore[misc]
        mixture = (1 - rate) * without + rate * with_case
        assert both_ways(mixture, without, epsilon) <= curve(epsilon) + 1e-15
        inside = math.log1p(math.expm1(epsilon) / rate)
        assert hockey_stick(mixture, without, epsilon) == pytest.approx(
            rate * hockey_stick(with_case, without, inside), abs=1e-15
        )


@pytest.mark.parametrize(("each_epsilon", "each_delta", "times"), [(0.5, 0.01, 1), (0.5, 0.01, 3), (1.0, 0.0, 4), (0.1, 0.1, 5)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 1.7])
def test_repetitions_cost_what_the_worst_mechanism_costs(
    each_epsilon: float, each_delta: float, times: int, epsilon: float
) -> None:
    """The worst (epsilon, delta)-DP mechanism shows the truth with probability delta and answers at random otherwise."""
    odds = 1 / (1 + math.exp(-each_epsilon))
    hidden = 1 - each_delta
    without = np.array([each_delta, hidden * odds, hidden * (1 - odds), 0.0])
    with_case = without[::-1]
    first, second = (
        np.array([math.prod(cells) for cells in itertools.product(one, repeat=times)]) for one in (without, with_case)
    )
    exact = hockey_stick(first, second, epsilon)
    assert exact <= composed_delta(epsilon, each_epsilon, each_delta, times) <= exact * (1 + 1e-8) + 1e-15


@pytest.mark.parametrize("times", [2, 5, 20])
def test_repeated_gaussians_are_bounded_by_the_optimal_composition(times: int) -> None:
    whole = repeated(lambda epsilon: delta_of(0.1, epsilon), times)
    for epsilon in (0.5, 1.0, 2.0):
        assert delta_of(0.1 * math.sqrt(times), epsilon) <= whole(epsilon) <= 1


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("times", [1, 3, 20])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-4), (1.0, 1e-6), (5.0, 1e-10)])
def test_what_a_run_may_have_keeps_the_whole_within_its_target(rate: float, times: int, epsilon: float, delta: float) -> None:
    each_epsilon, each_delta = before_subsampling(epsilon, delta, rate, times)
    amplified = math.log1p(rate * math.expm1(each_epsilon))
    assert composed_delta(epsilon, amplified, rate * each_delta, times) <= delta * (1 + 1e-8)
    basic = math.log1p(math.expm1(epsilon / times) / rate), delta / times / rate
    assert mu_of(each_epsilon, each_delta) >= mu_of(*basic) * (1 - 1e-9)


@pytest.mark.parametrize(("epsilon", "times"), [(25.02983703228959, 5), (1.1, 3), (0.7, 7), (60.1, 7)])
def test_runs_without_a_delta_add_up_to_none_whatever_a_division_rounds_to(epsilon: float, times: int) -> None:
    assert repeated(lambda one: 0.0, times)(epsilon) == 0


def test_many_small_repetitions_are_better_than_adding_up() -> None:
    each_epsilon, _ = before_subsampling(0.5, 1e-5, 1.0, 400)
    assert each_epsilon > 2 * 0.5 / 400


@pytest.mark.parametrize("rate", [0.0, 1.1, float("nan")])
def test_rates_that_are_none_are_refused(rate: float) -> None:
    with pytest.raises(UsageError, match="rate"):
        before_subsampling(1.0, 1e-5, rate)
    with pytest.raises(UsageError, match="rate"):
        subsampled(lambda epsilon: 0.0, rate)
