"""Private choice, outcome by outcome to 50 digits: all that the choice of variants or labels tells, with and without a case."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]  # ships no types
import pytest
from exact_arithmetic import DIGITS, Distribution, hockey_stick, realised_delta, rounded_gaussian_pmf, thresholded

from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import calibrate, selections_delta
from libra.privacy.gaussian import delta_of
from libra.privacy.ledger import LABEL_SELECTION, VARIANT_SELECTION, Entry, Ledger
from libra.privacy.selection import labels_show, variant_shows

NOTHING: Distribution = {None: mpmath.mpf(1)}  # of a variant that nobody follows
CHOICES = [(1.0, 90, 16), (0.25, 12, 1), (0.25, 20, 1), (0.5, 90, 16), (2.0, 40, 16)]  # mu, threshold, scale
EPSILONS = [1e-5, 0.05, 0.3, 1.0, 2.5]


def told(count: int, mu: float, threshold: int, scale: int) -> Distribution:
    """What the choice tells of a variant: that it does not show, or its noisy count."""
    return thresholded(rounded_gaussian_pmf(scale / mu), scale * count, threshold) if count else NOTHING


@pytest.mark.parametrize(("mu", "threshold", "scale"), CHOICES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_case_whose_variant_is_new_costs_the_probability_to_show_and_no_more(
    mu: float, threshold: int, scale: int, epsilon: float
) -> None:
    without, with_case = told(0, mu, threshold, scale), told(1, mu, threshold, scale)
    shows = variant_shows(mu, threshold, scale)
    stated = selections_delta(0.0, shows, epsilon)
    with mpmath.workdps(DIGITS):
        ratio = mpmath.exp(mpmath.mpf(epsilon))
        removing, adding = hockey_stick(with_case, without, ratio), hockey_stick(without, with_case, ratio)
        hidden = with_case[None]
        assert abs(removing - (1 - hidden)) < mpmath.mpf(10) ** -40
        assert abs(adding - max(0, 1 - ratio * hidden)) < mpmath.mpf(10) ** -40
        assert adding <= removing <= stated <= removing * (1 + mpmath.mpf("1e-10"))


@pytest.mark.parametrize(("mu", "threshold", "scale"), CHOICES)
@pytest.mark.parametrize("others", [1, 2, 5, 30])
def test_a_case_whose_variant_others_have_costs_no_more_than_its_gaussian_noise(
    mu: float, threshold: int, scale: int, others: int
) -> None:
    without, with_case = told(others, mu, threshold, scale), told(others + 1, mu, threshold, scale)
    for epsilon in EPSILONS:
        realised = realised_delta(with_case, without, epsilon)
        assert realised <= delta_of(mu, epsilon)
        if others * scale > threshold + 6 * scale / mu:
            assert realised >= 0.75 * delta_of(mu, epsilon), "it shows almost surely, so all of the noise is seen"


@pytest.mark.parametrize(("mu", "threshold", "scale"), CHOICES)
def test_the_accountant_covers_the_choice_for_new_and_for_known_variants(mu: float, threshold: int, scale: int) -> None:
    ledger = Ledger((Entry("variants", VARIANT_SELECTION, 1.0, 1 / mu, shows=variant_shows(mu, threshold, scale)),))
    for epsilon in EPSILONS:
        realised = max(
            realised_delta(told(count + 1, mu, threshold, scale), told(count, mu, threshold, scale), epsilon)
            for count in (0, 1, 5, 40)
        )
        assert realised <= delta_of_ledger(ledger, epsilon)
        assert realised >= 0.75 * delta_of_ledger(ledger, epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-3), (1.0, 1e-5), (3.0, 1e-8)])
def test_with_the_calibrated_threshold_the_variant_of_one_case_shows_as_rarely_as_planned(epsilon: float, delta: float) -> None:
    """On the plan's own scale: the two tails that the choice consists of, to 50 digits."""
    plan = calibrate(epsilon, delta, 0.2)
    with mpmath.workdps(DIGITS):
        sd = mpmath.mpf(plan.scale) / mpmath.mpf(plan.mu_variants)
        shows = mpmath.erfc((plan.variant_threshold - plan.scale - mpmath.mpf(0.5)) / sd / mpmath.sqrt(2)) / 2
        hidden = 1 - shows
        removing = shows + hidden * _delta_of(plan.mu_rest, mpmath.mpf(epsilon) - mpmath.log(hidden))
        adding = _delta_of(plan.mu_rest, mpmath.mpf(epsilon) + mpmath.log(hidden))
        assert max(removing, adding) <= delta
        assert removing > 0.99 * delta


def _delta_of(mu: float, epsilon: Any) -> Any:
    near, far = (epsilon / mpmath.mpf(mu) + sign * mpmath.mpf(mu) / 2 for sign in (-1, 1))
    return (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.exp(epsilon) * mpmath.erfc(far / mpmath.sqrt(2))) / 2


def kept_labels(weights: Sequence[int | None], mu: float, threshold: int, scale: int) -> Distribution:
    """The probability of each set of kept labels, 0 being none; None is the weight of a label that does not occur."""
    with mpmath.workdps(DIGITS):
        sd = mpmath.mpf(scale) / mpmath.mpf(mu)
        passes = [
            mpmath.mpf(0) if weight is None else mpmath.erfc((threshold - weight - mpmath.mpf(0.5)) / sd / mpmath.sqrt(2)) / 2
            for weight in weights
        ]
        return {
            number: math.prod(one if kept else 1 - one for one, kept in zip(passes, chosen, strict=True))
            for number, chosen in enumerate(itertools.product((False, True), repeat=len(weights)))
        }


@pytest.mark.parametrize(("labels", "own"), [(1, 1), (2, 1), (2, 2), (4, 1), (4, 3), (4, 4), (6, 6)])
@pytest.mark.parametrize("others", [1, 4, 20])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_case_with_labels_of_its_own_and_labels_of_others_costs_no_more_than_stated(
    labels: int, own: int, others: int, epsilon: float
) -> None:
    mu, threshold, scale = 0.5, 9_000, 1024
    weight = math.isqrt(scale * scale // labels)
    before: list[int | None] = [None] * own + [others * scale] * (labels - own)
    after = [(one or 0) + weight for one in before]
    without, with_case = (kept_labels(weights, mu, threshold, scale) for weights in (before, after))
    shows = labels_show(mu, threshold, scale, labels)
    stated = selections_delta(mu, shows, epsilon)
    ledger = Ledger((Entry("labels", LABEL_SELECTION, 1.0, 1 / mu, shows=shows),))
    assert realised_delta(without, with_case, epsilon) <= stated == delta_of_ledger(ledger, epsilon)
    with mpmath.workdps(DIGITS):
        none_shows = sum(chance for outcome, chance in with_case.items() if without[outcome] > 0)
        assert 1 - none_shows <= shows


@pytest.mark.parametrize(("mu", "threshold"), [(0.5, 9_000), (0.2, 30_000)])
def test_the_most_labels_that_a_case_can_show_are_those_of_the_worst_number(mu: float, threshold: int) -> None:
    most, scale = 6, 1024
    with mpmath.workdps(DIGITS):
        shows = [1 - kept_labels([math.isqrt(scale * scale // m)] * m, mu, threshold, scale)[0] for m in range(1, most + 1)]
        assert max(shows) <= labels_show(mu, threshold, scale, most) <= max(shows) * (1 + mpmath.mpf("1e-10"))
