"""The privacy loss distribution: known values, closed forms, a simulation, and an upper bound for any sensible parameters."""

from __future__ import annotations

import math
import subprocess
import sys

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from libra.errors import UsageError
from libra.privacy.renyi import best_order, compose, subsampled_laplace, subsampled_laplace_epsilon


@pytest.mark.parametrize(("delta", "epsilon"), [(1e-4, 0.2996), (1e-5, 0.3672)])
def test_the_known_figures_come_out_to_the_printed_digits(delta: float, epsilon: float) -> None:
    assert round(subsampled_laplace_epsilon(2, 0.05, 20, delta), 4) == epsilon


def _one_release(scale: float, rate: float, delta: float) -> float:
    """Epsilon of one release in closed form: delta is rate times that of Laplace noise, 1 - e^((epsilon - 1/scale)/2)."""
    unsampled = 1 / scale + 2 * math.log1p(-delta / rate) if delta < rate else 0.0
    return max(0.0, math.log1p(rate * math.expm1(max(0.0, unsampled))))


@given(
    st.floats(-2.8, 3).map(lambda power: 10.0**power),
    st.floats(-4, 0).map(lambda power: 10.0**power),
    st.floats(-8, -0.1).map(lambda power: 10.0**power),
)
@example(0.005, 0.05, 0.04)
@example(1 / 690, 0.5, 0.4)
@settings(max_examples=40)
def test_one_release_agrees_with_its_closed_form_from_above(scale: float, rate: float, delta: float) -> None:
    exact = _one_release(scale, rate, delta)
    found = subsampled_laplace_epsilon(scale, rate, 1, delta)
    assert exact * (1 - 1e-12) <= found
    assert found <= exact + 0.002 * math.log1p(rate * math.expm1(1 / scale)) + 2e-7


@pytest.mark.parametrize(("scale", "rate", "times"), [(2, 0.05, 20), (1, 0.5, 5), (0.5, 0.2, 3)])
def test_a_simulation_finds_this_delta_for_removing_and_no_more_for_adding(scale: float, rate: float, times: int) -> None:
    delta, runs = 0.01, 400_000
    epsilon = subsampled_laplace_epsilon(scale, rate, times, delta)
    generator = np.random.default_rng(20)
    noise = generator.laplace(0, scale, (times, runs))
    sampled = generator.random((times, runs)) < rate

    def excess(outputs: NDArray[np.float64], sign: int) -> NDArray[np.float64]:
        """(1 - e^(epsilon - loss))+, whose mean is delta; the loss compares the mixture with the release without the case."""
        losses = np.log1p(rate * np.expm1((np.abs(outputs) - np.abs(outputs - 1)) / scale)).sum(axis=0)
        gained: NDArray[np.float64] = np.maximum(0, -np.expm1(epsilon - sign * losses))
        return gained

    removing, adding = excess(noise + sampled, 1), excess(noise, -1)
    error = 4 * removing.std() / math.sqrt(runs)
    assert removing.mean() == pytest.approx(delta, abs=error)
    assert error < delta / 10
    assert adding.mean() <= delta + 4 * adding.std() / math.sqrt(runs)


@pytest.mark.parametrize(
    ("scale", "rate", "times"), [(2, 0.05, 10_000), (2, 0.05, 1000), (10, 0.001, 10_000), (0.3, 0.5, 10_000)]
)
def test_the_coarse_grid_of_many_releases_stays_just_above_a_fine_one(scale: float, rate: float, times: int) -> None:
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    step = math.log1p(rate * math.expm1(1 / scale)) / 300
    fine = from_laplace_mechanism(scale, sensitivity=1, sampling_prob=rate, value_discretization_interval=step)
    expected = fine.self_compose(times).get_epsilon_for_delta(1e-4)
    found = subsampled_laplace_epsilon(scale, rate, times, 1e-4)
    assert expected * (1 - 1e-4) <= found <= expected * (1 + 1e-3)


@pytest.mark.parametrize("scale", [2, 0.2, 0.1])
def test_the_grid_of_few_releases_is_fine_enough_for_five_digits(scale: float) -> None:
    """Against one that is sixteen times as fine."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    step = math.log1p(0.05 * math.expm1(1 / scale)) / 16_000
    fine = from_laplace_mechanism(scale, sensitivity=1, sampling_prob=0.05, value_discretization_interval=step)
    expected = fine.self_compose(20).get_epsilon_for_delta(0.01)
    found = subsampled_laplace_epsilon(scale, 0.05, 20, 0.01)
    assert expected * (1 - 1e-9) <= found <= expected * (1 + 5e-6)


@pytest.mark.parametrize(("rate", "times"), [(0.05, 20), (0.01, 100)])
def test_a_little_of_delta_is_set_aside_for_rounding(rate: float, times: int) -> None:
    """What the library may lose of the mass of a distribution must not lower the figure: 2e-13 for each release."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    step = math.log1p(rate * math.expm1(1)) / 16_000
    fine = from_laplace_mechanism(1, sensitivity=1, sampling_prob=rate, value_discretization_interval=step).self_compose(times)
    less, all_of_it = (fine.get_epsilon_for_delta(share * times) for share in (0.5e-13, 2.5e-13))
    assert less > all_of_it * 1.01
    assert subsampled_laplace_epsilon(1, rate, times, 2.5e-13 * times) >= less * (1 - 1e-5)


@pytest.mark.parametrize("scale", [3e6, 1e8])
@pytest.mark.parametrize(("rate", "times"), [(1, 1), (0.5, 1), (0.05, 20)])
def test_losses_below_the_finest_grid_still_get_the_plain_bound(scale: float, rate: float, times: int) -> None:
    found = subsampled_laplace_epsilon(scale, rate, times, 1e-9)
    assert 0 < found <= times * math.log1p(rate * math.expm1(1 / scale)) * (1 + 1e-12)


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5, 0.9, 2, 1e6])
@pytest.mark.parametrize("rate", [1e-12, 1e-6, 0.05, 1 - 1e-12])
def test_the_plain_bound_is_exact_also_at_tiny_rates(scale: float, rate: float) -> None:
    with mpmath.workdps(50):
        expected = float(mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(1 / mpmath.mpf(scale))))
    assert subsampled_laplace_epsilon(scale, rate, 1, 1e-13) == pytest.approx(expected, rel=1e-13, abs=0)


@pytest.mark.parametrize(("scale", "rate", "times"), [(2, 0.05, 20), (1, 0.01, 100), (5, 0.5, 10), (0.5, 1, 3), (20, 0.1, 1000)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_no_renyi_order_says_less(scale: float, rate: float, times: int, delta: float) -> None:
    best = best_order(lambda order: compose(subsampled_laplace(order, scale, rate), times), delta, largest=300)
    assert 0 < subsampled_laplace_epsilon(scale, rate, times, delta) <= best.epsilon


def test_more_releases_more_cases_less_noise_and_less_delta_cost_more() -> None:
    base = subsampled_laplace_epsilon(2, 0.05, 20, 1e-4)
    assert base < subsampled_laplace_epsilon(2, 0.05, 21, 1e-4)
    assert base < subsampled_laplace_epsilon(2, 0.06, 20, 1e-4)
    assert base < subsampled_laplace_epsilon(1.9, 0.05, 20, 1e-4)
    assert base < subsampled_laplace_epsilon(2, 0.05, 20, 9e-5)


@pytest.mark.parametrize("rate", [0.0, 4e-6])
def test_a_case_that_is_almost_surely_in_no_subsample_costs_nothing(rate: float) -> None:
    assert subsampled_laplace_epsilon(1e-6, rate, 20, 1e-4) == 0


@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1.4e-3, 1.5e-3, 0.01, 1e3, 1e9, 1e300])
@pytest.mark.parametrize(("rate", "times"), [(1e-12, 1_000_000), (0.05, 10_000), (1 - 1e-12, 20), (1.0, 10_000)])
@pytest.mark.parametrize("delta", [1e-300, 1e-5, 0.9])
def test_extreme_parameters_give_a_finite_figure_within_the_plain_bound(
    scale: float, rate: float, times: int, delta: float
) -> None:
    found = subsampled_laplace_epsilon(scale, rate, times, delta)
    assert 0 <= found <= times / scale * (1 + 1e-12)
    assert math.isfinite(found)


def test_a_delta_beyond_the_librarys_floats_gets_the_bound_without_delta() -> None:
    assert subsampled_laplace_epsilon(2, 0.05, 20, 1e-14) == pytest.approx(20 * math.log1p(0.05 * math.expm1(0.5)))


@pytest.mark.parametrize(
    "arguments", [(0, 0.05, 20, 1e-4), (2, 1.5, 20, 1e-4), (2, 0.05, 0, 1e-4), (2, 0.05, 20, 0), (math.nan, 0.05, 20, 1e-4)]
)
def test_wrong_arguments_are_refused(arguments: tuple[float, float, int, float]) -> None:
    with pytest.raises(UsageError, match="has to be a"):
        subsampled_laplace_epsilon(*arguments)


def test_the_library_is_loaded_by_the_first_call_only() -> None:
    code = (
        "import sys, libra.mechanisms.libra2022.claim\n"
        "from libra.privacy.renyi import subsampled_laplace_epsilon as epsilon\n"
        "epsilon(2, 0, 20, 0.1); before = 'dp_accounting' in sys.modules\n"
        "epsilon(2, 0.05, 20, 0.1); print(before, 'dp_accounting' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert (answer.stdout, answer.stderr) == ("False True\n", "")
