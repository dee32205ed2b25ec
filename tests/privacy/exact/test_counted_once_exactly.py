"""Variants counted once, and a look that decides what follows: whole mechanisms enumerated, both ways, against the accountant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from libra.mechanisms.libra.plan import Budget, Plan, make_plan
from libra.privacy.accounting import UnknownReleaseError, delta_of_ledger
from libra.privacy.calibration import calibrate_geometric
from libra.privacy.gate import geometric_entry
from libra.privacy.gaussian import delta_of, upper_tail
from libra.privacy.ledger import LABEL_SELECTION, ROUNDED_GAUSSIAN, Entry, Group, Ledger
from libra.privacy.noise import geometric_within

PLANS = [(0.1, 1e-4), (1.0, 1e-4), (1.0, 1e-7), (5.0, 1e-4), (8.0, 1e-9)]


def gaussian(mu: float, group: Group = "all") -> Entry:
    return Entry("a table", ROUNDED_GAUSSIAN, mu, 1.0, group)


def outcomes(n: int, epsilon: float, bound: int) -> dict[int, float]:
    """Of a variant of n cases: the chance of each noisy count that shows, and under -1 that none does."""
    if n == 0:
        return {-1: 1.0}
    chances = geometric_within(epsilon, bound).pmf().tolist()
    found = {n + z: chance for z, chance in zip(range(-bound, bound + 1), chances, strict=True)}
    hidden = math.fsum(chance for y, chance in found.items() if y <= bound)
    return ({-1: hidden} if hidden else {}) | {y: chance for y, chance in found.items() if y > bound}


def hockey_stick(n: int, noise: tuple[float, int], mu: dict[bool, float], epsilon: float) -> tuple[float, float]:
    """What removing and adding a case cost whose variant n others follow: `mu` of what comes after, if it shows and if not."""
    without, with_case = outcomes(n, *noise), outcomes(n + 1, *noise)

    def cost(one: dict[int, float], other: dict[int, float]) -> float:
        total = 0.0
        for y, chance in one.items():
            against = other.get(y, 0.0)
            total += chance if not against else chance * delta_of(mu[y >= 0], epsilon - math.log(chance / against))
        return total

    return cost(with_case, without), cost(without, with_case)


@pytest.mark.parametrize(("epsilon", "delta"), PLANS)
@pytest.mark.parametrize("rest", [0.003, 0.1])
def test_no_number_of_cases_costs_more_than_is_counted_and_some_nearly_do(epsilon: float, delta: float, rest: float) -> None:
    noise = calibrate_geometric(epsilon, delta, rest)
    assert noise.geometric is not None
    of_kept, of_tail = 0.3 * noise.mu_rest, 0.8 * noise.mu_rest
    of_all = math.sqrt(noise.mu_rest**2 - of_tail**2)
    ledger = Ledger((geometric_entry(*noise.geometric), gaussian(of_all), gaussian(of_kept, "kept"), gaussian(of_tail, "tail")))
    mu = {True: math.hypot(of_all, of_kept), False: math.hypot(of_all, of_tail)}
    bound = noise.geometric.bound
    numbers = sorted({0, 1, 2, bound - 1, bound, bound + 1, 2 * bound, 2 * bound + 1, 3 * bound})
    for at in (0.5 * epsilon, epsilon, 1.2 * epsilon):
        counted = delta_of_ledger(ledger, at)
        worst = max(cost for n in numbers for cost in hockey_stick(n, noise.geometric, mu, at))
        assert worst <= counted * (1 + 1e-10)  # each term is rounded up
        assert worst > 0.4 * counted
    assert delta_of_ledger(ledger, epsilon) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), PLANS)
def test_less_noise_than_is_calibrated_costs_more_than_was_asked_for(epsilon: float, delta: float) -> None:
    """Each by itself: a smaller bound, or a larger epsilon within it."""
    noise = calibrate_geometric(epsilon, delta, 0.1)
    assert noise.geometric is not None
    mu = dict.fromkeys((True, False), noise.mu_rest)
    of_noise, bound = noise.geometric
    for other in ((of_noise, bound - 2), (1.1 * of_noise, bound)):
        if other[1] > 0:
            assert max(max(hockey_stick(n, other, mu, epsilon)) for n in (0, 2 * bound)) > delta


def test_labels_that_nobody_else_has_count_beside_geometric_noise() -> None:
    noise = calibrate_geometric(1.0, 1e-4, 0.1, (0.002, 0.006))
    assert noise.geometric is not None
    labels = [
        Entry("labels", LABEL_SELECTION, one.mu, 1.0, "tail", noise.labels_show(i)) for i, one in enumerate(noise.label_rounds)
    ]
    rest = math.sqrt(noise.mu_rest**2 - noise.mu_labels**2)
    ledger = Ledger((geometric_entry(*noise.geometric), *labels, gaussian(rest, "tail")))
    assert 0.8e-4 < delta_of_ledger(ledger, 1.0) <= 1e-4
    unseen = replace(ledger, entries=tuple(replace(entry, shows=0.0) for entry in ledger.entries))
    assert delta_of_ledger(ledger, 1.0) >= delta_of_ledger(unseen, 1.0) + 1.5e-5


def branches(plan: Plan) -> tuple[list[Callable[[float], float]], Ledger]:
    """What each course of events costs after the look, by how many rare cases it found, the fewest first; and their ledger."""
    ledger = plan.spent()
    parts = [*ledger.otherwise, ledger.entries[1:]]
    return [partial(delta_of_ledger, replace(ledger, entries=part, otherwise=())) for part in parts], ledger


def looked(rare: int, other: int, mu: float, reach: int) -> Iterator[tuple[int, float, float]]:
    """Each value that the look may have where there are so many rare cases, its chance, and its loss against another number."""
    for value in range(rare - reach, rare + reach + 1):
        chances = [upper_tail((value - n - 0.5) * mu) - upper_tail((value - n + 0.5) * mu) for n in (rare, other)]
        if min(chances) > 0:
            yield value, chances[0], math.log(chances[0] / chances[1])


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-4), (5.0, 1e-4)])
def test_a_look_that_decides_what_follows_costs_no_more_than_is_counted(epsilon: float, delta: float) -> None:
    """Wherever the number of rare cases lies beside the limit, with one more or one less; value by value."""
    plan = make_plan(epsilon, delta, Budget(0.98, 0.02))
    assert plan.look is not None
    courses, ledger = branches(plan)
    limits = [limit for limit, _ in plan.instead]
    counted, sd = delta_of_ledger(ledger, epsilon), 1 / plan.look.mu
    assert counted <= delta
    worst = 0.0
    assert len(courses) == len(limits) + 1 == (3 if epsilon > 1 else 2)
    for rare in (0, 10_000, *(round(limit + step * sd) for limit in limits for step in (-1, 0, 2))):
        for other in (rare + 1, max(rare - 1, 0), rare):
            cost = sum(
                chance * courses[sum(value > limit for limit in limits)](epsilon - loss)
                for value, chance, loss in looked(rare, other, plan.look.mu, math.ceil(5 * sd))
            )
            worst = max(worst, cost)
    assert worst <= counted
    assert worst > 0.5 * counted
    assert counted >= max(course(epsilon) for course in courses)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
@pytest.mark.parametrize(("look", "after"), [(0.05, 0.4), (0.1, 0.3), (0.02, 1.2)])
def test_a_look_that_both_courses_follow_alike_adds_up_like_any_gaussian_release(
    look: float, after: float, epsilon: float
) -> None:
    """Never to less, and to hardly more."""
    together = delta_of(math.hypot(look, after), epsilon)
    counted = delta_of_ledger(Ledger((gaussian(look), gaussian(after)), otherwise=((gaussian(after),),)), epsilon)
    assert together <= counted <= 1.1 * together + 1e-12
    dearer = delta_of_ledger(Ledger((gaussian(look), gaussian(after)), otherwise=((gaussian(0.5 * after),),)), epsilon)
    assert dearer == pytest.approx(counted, rel=1e-9)
    swapped = delta_of_ledger(Ledger((gaussian(look), gaussian(0.5 * after)), otherwise=((gaussian(after),),)), epsilon)
    assert swapped == pytest.approx(counted, rel=1e-9)


def test_a_look_and_geometric_noise_add_up_as_in_another_accountant() -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    noise = (0.7, 12)
    ledger = Ledger(
        (gaussian(0.1), geometric_entry(*noise), gaussian(0.1)), otherwise=((geometric_entry(*noise), gaussian(0.1)),)
    )
    chances = geometric_within(*noise).pmf().tolist()
    here = {z: math.log(chance) for z, chance in zip(range(-12, 13), chances, strict=True)}
    above = {z + 1: chance for z, chance in here.items()}
    whole = pld.from_two_probability_mass_functions(here, above, value_discretization_interval=1e-4)
    whole = whole.compose(pld.from_gaussian_mechanism(1 / math.hypot(0.1, 0.1), value_discretization_interval=1e-4))
    for epsilon in (0.5, 1.0, 1.3):
        expected = whole.get_delta_for_epsilon(epsilon)
        assert 0.99 * expected <= delta_of_ledger(ledger, epsilon) <= 1.1 * expected + 1e-9


@pytest.mark.parametrize(
    "ledger",
    [
        Ledger((), otherwise=((gaussian(0.1),),)),
        Ledger((geometric_entry(0.5, 10), gaussian(0.1)), otherwise=((gaussian(0.1),),)),
        Ledger((gaussian(0.1, "tail"), gaussian(0.1)), otherwise=((gaussian(0.1),),)),
        Ledger((gaussian(0.1), gaussian(0.1)), most_cases=2, otherwise=((gaussian(0.1),),)),
    ],
)
def test_only_a_gaussian_look_at_all_cases_may_decide(ledger: Ledger) -> None:
    with pytest.raises(UnknownReleaseError):
        delta_of_ledger(ledger, 1.0)


def test_the_sum_over_intervals_of_a_loss_is_never_below_a_finer_one() -> None:
    plan = make_plan(1.0, 1e-4, Budget(0.98, 0.02))
    assert plan.look is not None
    courses, ledger = branches(plan)
    mu, points = plan.look.mu, np.linspace(-8.0, 8.0, 4_001)
    density = np.exp(-(points**2) / 2) / math.sqrt(2 * math.pi)
    each = [max(course(1 - loss) for course in courses) for loss in (mu**2 / 2 + mu * points).tolist()]
    integral = float(np.trapezoid(density * np.array(each), points))
    assert integral <= delta_of_ledger(ledger, 1.0) <= 1.05 * integral
