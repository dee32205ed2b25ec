"""The accounting of the published algorithm: every reading of its parameters, consistent with each other."""

from __future__ import annotations

import json
import math

import pytest

from libra.errors import UsageError
from libra.mechanisms.libra2022.claim import accounting, default_subsamples
from libra.privacy.renyi import subsampled_laplace_epsilon


@pytest.mark.parametrize(("gamma", "subsamples"), [(0.05, 20), (1, 1), (0.7, 1), (0.3, 3), (1e-6, 1_000_000)])
def test_the_default_number_of_subsamples_gives_a_log_of_the_same_size(gamma: float, subsamples: int) -> None:
    assert default_subsamples(gamma) == subsamples


@pytest.mark.parametrize("gamma", [0, -1, 1e-7, 1.5, math.nan, True])
def test_a_rate_without_a_number_of_subsamples_is_refused(gamma: float) -> None:
    with pytest.raises(UsageError, match="gamma has to be a number from 1/1,000,000 to 1, not"):
        default_subsamples(gamma)


@pytest.mark.parametrize("alpha", [2, 10, 100, 2.5])
def test_the_noise_drawn_has_the_inverse_epsilon_as_its_scale(alpha: float) -> None:
    found = accounting(alpha, 2, 0.05, 1e-4, 20)
    assert found.noise_scale == 1 / found.laplace_epsilon
    assert found.pld_epsilon_drawn == subsampled_laplace_epsilon(found.noise_scale, 0.05, 20, 1e-4)
    assert found.renyi_epsilon == pytest.approx(20 * found.renyi_epsilon_one)


def test_a_small_alpha_is_not_the_stronger_setting_at_equal_noise() -> None:
    two, ten = accounting(2, 2, 0.05, 1e-4, 20), accounting(10, 2, 0.05, 1e-4, 20)
    assert two.renyi_epsilon < ten.renyi_epsilon
    assert two.epsilon_at_order > ten.epsilon_at_order
    assert two.pld_epsilon == ten.pld_epsilon
    assert two.pld_epsilon_drawn < ten.pld_epsilon_drawn


def test_every_step_towards_the_truth_lowers_the_figure() -> None:
    found = accounting(10, 2, 0.05, 1e-4, 20)
    figures = [found.epsilon_at_order, found.best_order_bound.epsilon, found.best_order_exact.epsilon, found.pld_epsilon]
    assert figures == sorted(figures, reverse=True)


@pytest.mark.parametrize(
    ("alpha", "b", "gamma", "delta", "subsamples"),
    [(2, 1e-100, 1, 1e-300, 1_000_000), (100_000, 1e100, 1e-12, 0.49, 1), (10, 2, 0, 1e-4, 20), (1.01, 1e-6, 0.05, 1e-4, 20)],
)
def test_extreme_parameters_give_a_document_without_infinities(
    alpha: float, b: float, gamma: float, delta: float, subsamples: int
) -> None:
    document = accounting(alpha, b, gamma, delta, subsamples).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((1, 2, 0.05, 1e-4, 20), "alpha has to be"),
        ((10, 0, 0.05, 1e-4, 20), "b has to be"),
        ((10, 2, 1.5, 1e-4, 20), "gamma has to be"),
        ((10, 2, 0.05, 0, 20), "delta has to be"),
        ((10, 2, 0.05, 1e-4, 0), "subsamples has to be"),
    ],
)
def test_wrong_parameters_are_refused_by_the_names_of_the_paper(
    arguments: tuple[float, float, float, float, int], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        accounting(*arguments)
