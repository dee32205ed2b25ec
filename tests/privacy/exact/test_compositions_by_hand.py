"""Ledger totals against compositions that are worked out here, loss by loss, and against the accountants of dp-accounting."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
import pytest
from loss_grid import Losses, gaussian, laplace, sampled_gaussian

from libra.privacy.accounting import delta_of_ledger, epsilon_of_ledger
from libra.privacy.ledger import LAPLACE, ROUNDED_GAUSSIAN, VARIANT_SELECTION, Entry, Group, Ledger

EPSILONS = [0.2, 0.5, 1.0, 2.0]


def noise(mu: float, group: Group = "all") -> Entry:
    return Entry("a table", ROUNDED_GAUSSIAN, 2.0, 2.0 / mu, group)


def together(*parts: Losses) -> Losses:
    return reduce(mul, parts)


def around(delta: tuple[float, float], stated: float) -> bool:
    """Whether a figure that is exact lies where it must."""
    return delta[0] <= stated <= delta[1]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mus", [(0.4,), (0.3, 0.4), (0.1, 0.5, 0.2, 0.3)])
def test_gaussian_releases_add_up_as_their_losses_do(mus: tuple[float, ...], epsilon: float) -> None:
    low, high = together(*map(gaussian, mus)).delta(epsilon)
    assert around((low, high), delta_of_ledger(Ledger(tuple(map(noise, mus))), epsilon))
    assert high < low * 1.03 or high < 1e-9, "the two figures are near each other, so the test can fail"


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_gaussians_and_a_laplace_add_up_as_their_losses_do(epsilon: float) -> None:
    ledger = Ledger((noise(0.3), Entry("a count", LAPLACE, 3.0, 12.0), noise(0.2)))
    low, high = together(gaussian(0.3), gaussian(0.2), laplace(4.0)).delta(epsilon)
    assert around((low, high + 1e-11), delta_of_ledger(ledger, epsilon))
    assert high < low * 1.03


@pytest.mark.parametrize("kept", [0.1, 0.25, 0.4])
def test_a_case_pays_for_all_and_for_the_dearer_of_kept_and_tail(kept: float) -> None:
    """Twice by hand: for a case that follows a kept variant, and for one of the tail."""
    entries = (noise(0.3), noise(kept, "kept"), noise(0.2, "tail"), noise(0.15, "tail"))
    for epsilon in EPSILONS:
        of_kept = together(gaussian(0.3), gaussian(kept)).delta(epsilon)
        of_tail = together(gaussian(0.3), gaussian(0.2), gaussian(0.15)).delta(epsilon)
        assert around(max(of_kept, of_tail), delta_of_ledger(Ledger(entries), epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shows", [1e-6, 1e-3, 0.05])
def test_a_choice_of_variants_and_what_follows_add_up_for_new_and_for_known_variants(shows: float, epsilon: float) -> None:
    """New: it shows, or else only the rest differs. P' = shows once and for all, (1 - shows) rest' otherwise; P = rest."""
    ledger = Ledger((Entry("variants", VARIANT_SELECTION, 1.0, 5.0, shows=shows), noise(0.3), noise(0.25, "tail")))
    rest = together(gaussian(0.3), gaussian(0.25))
    hidden = 1 - shows
    known = (rest * gaussian(0.2)).delta(epsilon)
    removing = tuple(shows + hidden * one for one in rest.delta(epsilon - math.log(hidden)))
    adding = rest.delta(epsilon + math.log(hidden))
    stated = delta_of_ledger(ledger, epsilon)
    assert max(known[0], removing[0], adding[0]) <= stated <= max(known[1], removing[1], adding[1])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_choice_beside_laplace_noise_costs_at_least_what_both_kinds_of_cases_pay(epsilon: float) -> None:
    shows = 1e-3
    count = Entry("a count", LAPLACE, 1.0, 4.0)
    ledger = Ledger((Entry("variants", VARIANT_SELECTION, 1.0, 5.0, shows=shows), noise(0.3), count))
    rest = together(gaussian(0.3), laplace(4.0))
    known = (rest * gaussian(0.2)).delta(epsilon)
    new = shows + (1 - shows) * rest.delta(epsilon - math.log(1 - shows))[0]
    stated = delta_of_ledger(ledger, epsilon)
    assert max(known[0], new) <= stated <= shows + known[1]


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("mu", [0.5, 1.5])
def test_one_run_on_a_subsample_costs_what_removing_a_case_costs_and_adding_one_less(mu: float, epsilon: float) -> None:
    removing, adding = (losses.delta(epsilon) for losses in sampled_gaussian(mu, 0.1))
    stated = delta_of_ledger(Ledger((noise(mu * 0.6), noise(mu * 0.8)), rate=0.1), epsilon)
    assert around(removing, stated)
    assert adding[0] <= stated


def worst_mechanism(epsilon: float, each_epsilon: float, each_delta: float, times: int) -> float:
    """Delta of so many runs that each tell all with probability delta, or else lie with odds of 1 to e^epsilon: by outcomes."""
    true = 1 / (1 + math.exp(-each_epsilon))
    silent = (1 - each_delta) ** times
    beyond = 1 - silent
    for lies in range(times + 1):
        with_case, without = (
            silent * math.comb(times, lies) * one ** (times - lies) * (1 - one) ** lies for one in (true, 1 - true)
        )
        beyond += max(0.0, with_case - math.exp(epsilon) * without)
    return beyond


@pytest.mark.parametrize("epsilon", [0.7, 1.5, 3.0])
@pytest.mark.parametrize("mu", [0.4, 0.8])
def test_five_runs_on_subsamples_cost_no_less_than_the_truth_and_what_the_worst_mechanism_costs(
    mu: float, epsilon: float
) -> None:
    """By hand: each run at its best (epsilon, delta), and of all mechanisms with that guarantee the worst, five times."""
    times, rate = 5, 0.1
    stated = delta_of_ledger(Ledger((noise(mu),), rate, times), epsilon)
    for direction in sampled_gaussian(mu, rate):
        assert together(*[direction] * times).delta(epsilon)[0] <= stated
    one_run, _ = sampled_gaussian(mu, rate)
    bounds = [
        [worst_mechanism(epsilon, each, one_run.delta(each)[side], times) for each in np.linspace(epsilon / times, epsilon, 200)]
        for side in (0, 1)
    ]
    assert min(bounds[0]) * 0.995 <= stated <= min(bounds[1]) * (1 + 1e-6)


def accountants(event: Any) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Epsilon by Renyi divergences of whole orders, and by privacy loss distributions."""
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    renyi, losses = RdpAccountant(orders=list(range(2, 300))), PLDAccountant(value_discretization_interval=1e-4)
    renyi.compose(event)
    losses.compose(event)
    return renyi.get_epsilon, losses.get_epsilon


@pytest.mark.parametrize("mus", [(0.3,), (0.1, 0.2, 0.05), (1.0, 0.7), (0.05,) * 20])
def test_renyi_divergences_of_gaussian_releases_say_more_by_a_fifth_at_most(mus: tuple[float, ...]) -> None:
    """They lose when they are turned into an epsilon, the closed form does not: so they are an upper bound, and a near one."""
    from dp_accounting import ComposedDpEvent, GaussianDpEvent

    renyi, losses = accountants(ComposedDpEvent([GaussianDpEvent(1 / mu) for mu in mus]))
    ledger = Ledger(tuple(noise(mu) for mu in mus))
    for delta in (1e-3, 1e-6, 1e-10):
        ours = epsilon_of_ledger(ledger, delta)
        assert ours <= renyi(delta) <= 1.2 * ours
        assert losses(delta) == pytest.approx(ours, rel=1e-4)


def test_one_run_on_a_subsample_costs_what_loss_distributions_say_and_less_than_renyi_divergences_say() -> None:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent

    renyi, losses = accountants(PoissonSampledDpEvent(0.1, GaussianDpEvent(2.0)))
    for delta in (1e-3, 1e-5, 1e-8):
        ours = epsilon_of_ledger(Ledger((noise(0.5),), rate=0.1), delta)
        assert losses(delta) == pytest.approx(ours, rel=1e-4)
        assert ours <= renyi(delta) <= 2 * ours


def test_several_runs_on_subsamples_cost_no_less_than_loss_distributions_say_and_no_more_than_adding_up() -> None:
    """Ours holds for any mechanism of the same (epsilon, delta), theirs for Gaussian noise alone.

    So both others are lower here. Between ours and theirs by Renyi divergences nothing has to hold: each gives something away,
    the one the shape of the curve, the other the way back to epsilon. Both have to be above the truth.
    """
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent

    times = 5
    renyi, losses = accountants(SelfComposedDpEvent(PoissonSampledDpEvent(0.1, GaussianDpEvent(2.0)), times))
    for delta in (1e-3, 1e-5):
        truth = losses(delta)
        ours = epsilon_of_ledger(Ledger((noise(0.5),), 0.1, times), delta)
        added_up = times * epsilon_of_ledger(Ledger((noise(0.5),), 0.1), delta / times)
        assert truth * (1 - 1e-4) <= renyi(delta)
        assert truth * (1 - 1e-4) <= ours <= added_up * (1 + 1e-6)
