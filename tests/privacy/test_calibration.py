"""The clip inequality, by an independent route: both output distributions of the mechanism, cell by cell, compared both ways."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from libra.errors import UsageError
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import Calibration, calibrate, selections_delta
from libra.privacy.gaussian import delta_of
from libra.privacy.ledger import LABEL_SELECTION, ROUNDED_GAUSSIAN, VARIANT_SELECTION, Entry, Ledger
from libra.privacy.selection import variant_shows

Floats = NDArray[np.float64]
Labels = frozenset[int]
MOST = 31
GRID = list(itertools.product((0.05, 0.3, 1.0, 3.0, 10.0), (1e-3, 1e-6, 1e-10), (0.1, 0.3, 0.5)))


def rounded(mean: float, sd: float, cells: NDArray[np.int64]) -> Floats:
    """The probabilities of whole numbers under a rounded Gaussian; from the side that does not cancel."""
    low, high = (cells - 0.5 - mean) / sd, (cells + 0.5 - mean) / sd
    found: Floats = np.where(low > 0, norm.sf(low) - norm.sf(high), norm.cdf(high) - norm.cdf(low))
    return found


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(0, first - math.exp(epsilon) * second).sum())


def first_look(count: int, plan: Calibration) -> Floats:
    """What the choice of variants tells of one variant: at index 0 that it does not show, then its noisy counts in few cells."""
    sd = plan.scale / plan.mu_variants
    top = plan.variant_threshold + MOST * plan.scale + 9 * sd
    bins = np.concatenate((np.linspace(plan.variant_threshold - 0.5, top, 500), [np.inf]))
    upper = norm.sf((bins - plan.scale * count) / sd)
    hidden = norm.cdf((plan.variant_threshold - 0.5 - plan.scale * count) / sd) if count else 1.0
    return np.concatenate(([hidden], upper[:-1] - upper[1:] if count else np.zeros(500)))


def rest(present: bool, plan: Calibration) -> Floats:
    """A count in steps of a fortieth of its noise, as the releases after the first look give it."""
    step = plan.mu_rest * 40
    cells = np.arange(-400, 400 + math.ceil(step))
    return rounded(step if present else 0.0, 40.0, cells)


@pytest.mark.parametrize(("epsilon", "delta", "share"), GRID)
def test_a_case_with_a_new_variant_is_hidden_in_both_directions(epsilon: float, delta: float, share: float) -> None:
    plan = calibrate(epsilon, delta, share)
    without = np.outer(first_look(0, plan), rest(False, plan))
    with_case = np.outer(first_look(1, plan), rest(True, plan))
    removing, adding = hockey_stick(with_case, without, epsilon), hockey_stick(without, with_case, epsilon)
    assert max(removing, adding) <= delta * (1 + 1e-9)
    assert removing >= 0.9 * delta


@pytest.mark.parametrize(("epsilon", "delta", "share"), GRID)
@pytest.mark.parametrize("others", [1, 3, MOST - 1])
def test_a_case_with_a_known_variant_is_hidden_in_both_directions(
    epsilon: float, delta: float, share: float, others: int
) -> None:
    plan = calibrate(epsilon, delta, share)
    without = np.outer(first_look(others, plan), rest(False, plan))
    with_case = np.outer(first_look(others + 1, plan), rest(True, plan))
    assert hockey_stick(with_case, without, epsilon) <= delta * (1 + 1e-9)
    assert hockey_stick(without, with_case, epsilon) <= delta * (1 + 1e-9)


@pytest.mark.parametrize(("epsilon", "delta", "share"), GRID)
def test_the_worst_of_all_is_the_target(epsilon: float, delta: float, share: float) -> None:
    plan = calibrate(epsilon, delta, share)
    known, new = delta_of(plan.mu, epsilon), selections_delta(plan.mu_rest, plan.variant_shows, epsilon)
    assert max(known, new) <= delta
    assert known > delta * (1 - 1e-5)
    assert new > 0.99 * delta
    assert plan.mu_variants**2 + plan.mu_rest**2 == pytest.approx(plan.mu**2, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "share"), GRID)
def test_a_lower_threshold_would_break_the_promise(epsilon: float, delta: float, share: float) -> None:
    plan = calibrate(epsilon, delta, share)
    shows = variant_shows(plan.mu_variants, plan.variant_threshold - 1, plan.scale)
    assert selections_delta(plan.mu_rest, shows, epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-4), (1.0, 1e-5), (5.0, 1e-8)])
def test_private_labels_keep_the_promise_and_cost_little(epsilon: float, delta: float) -> None:
    plan, public = calibrate(epsilon, delta, variants=0.3, labels=(0.03, 0.07)), calibrate(epsilon, delta, variants=0.3)
    shows = 1 - (1 - plan.variant_shows) * (1 - plan.labels_show(0)) * (1 - plan.labels_show(1))
    assert min(plan.variant_shows, plan.labels_show(0), plan.labels_show(1)) > 0
    assert 0.99 * delta < selections_delta(plan.mu_rest, shows, epsilon) <= delta
    assert (plan.mu, plan.mu_rest) == (public.mu, public.mu_rest)
    assert public.least_count < plan.least_count < 1.1 * public.least_count
    assert plan.mu_labels**2 == pytest.approx(0.1 * plan.mu**2, rel=1e-12)


def label_rounds(present: bool, own: int, thresholds: Sequence[float], mu: float) -> Floats:
    """The probability of every course of the rounds: a case with two labels, the first `own` of which nobody else has.

    In each round a case gives 1/sqrt(m) to each of its m labels that are not known yet; others give 8 to theirs. A label to
    which nobody gives weight does not occur, and is never kept.
    """
    courses: dict[Labels, dict[tuple[Labels, ...], float]] = {frozenset(): {(): 1.0}}
    for threshold in thresholds:
        after: dict[Labels, dict[tuple[Labels, ...], float]] = {}
        for known, pasts in courses.items():
            unknown = [label for label in range(2) if label not in known]
            weights = [8.0 * (label >= own) + present / math.sqrt(len(unknown)) for label in unknown]
            passes = [float(norm.sf((threshold - weight) * mu)) if weight else 0.0 for weight in weights]
            for chosen in itertools.product((False, True), repeat=len(unknown)):
                shown = frozenset(label for label, kept in zip(unknown, chosen, strict=True) if kept)
                chance = math.prod(one if kept else 1 - one for one, kept in zip(passes, chosen, strict=True))
                told = after.setdefault(known | shown, {})
                for past, before in pasts.items():
                    told[(*past, shown)] = told.get((*past, shown), 0.0) + before * chance
        courses = after
    together = {course: chance for told in courses.values() for course, chance in told.items()}
    return np.array([together[course] for course in sorted(together, key=lambda one: [sorted(labels) for labels in one])])


@pytest.mark.parametrize("own", [0, 1, 2])
@pytest.mark.parametrize("variant_known", [False, True])
@pytest.mark.parametrize("thresholds", [(9.0,), (10.0, 8.5)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_variants_then_labels_of_the_tail_cost_no_more_than_the_accountant_says(
    own: int, variant_known: bool, thresholds: tuple[float, ...], epsilon: float
) -> None:
    """Every outcome of a small mechanism, both ways: its variant is kept or not, then its labels have a say, then a count."""
    mu_variants, mu_labels, mu_rest, threshold = 0.5, 0.3, 0.4, 6.0
    others = 3 if variant_known else 0
    if variant_known:
        own = 0  # who shares a variant shares its labels
    cells = np.arange(-60, 80)

    def outcomes(present: bool) -> Floats:
        count = others + present
        noisy = rounded(count, 1 / mu_variants, cells) * (cells >= threshold) if count else np.zeros(len(cells))
        after = rounded(10 * mu_rest * present, 10.0, cells)
        told = label_rounds(present, own, thresholds, mu_labels)
        return np.concatenate((np.outer(noisy, after).ravel(), (1 - noisy.sum()) * np.outer(told, after).ravel()))

    without, with_case = outcomes(False), outcomes(True)
    assert without.sum() == pytest.approx(with_case.sum(), abs=1e-6) == pytest.approx(1, abs=1e-6)

    def shows(at: float) -> float:
        return max(-math.expm1(m * math.log1p(-float(norm.sf((at - m**-0.5) * mu_labels)))) for m in (1, 2))

    entries = (
        Entry("v", VARIANT_SELECTION, mu_variants, 1.0, shows=variant_shows(mu_variants, int(threshold), 1)),
        *(Entry("l", LABEL_SELECTION, mu_labels, 1.0, "tail", shows(at)) for at in thresholds),
        Entry("r", ROUNDED_GAUSSIAN, mu_rest, 1.0),
    )
    realised = max(hockey_stick(with_case, without, epsilon), hockey_stick(without, with_case, epsilon))
    assert 0 < realised <= delta_of_ledger(Ledger(entries), epsilon)


def test_labels_chosen_before_variants_are_counted_by_the_general_bound() -> None:
    """Then which variants are new follows from a release, and a case may cost both choices."""
    variants = Entry("v", VARIANT_SELECTION, 0.25, 1.0, shows=1e-6)
    labels, rest = Entry("l", LABEL_SELECTION, 0.2, 1.0, "tail", 1e-6), Entry("r", ROUNDED_GAUSSIAN, 0.3, 1.0, "tail")
    general = selections_delta(math.sqrt(0.25**2 + 0.2**2 + 0.3**2), 1 - (1 - 1e-6) ** 2, 1.0)
    assert delta_of_ledger(Ledger((labels, variants, rest)), 1.0) == pytest.approx(general, rel=1e-9)
    assert delta_of_ledger(Ledger((variants, replace(labels, group="all"), rest)), 1.0) == pytest.approx(general, rel=1e-9)
    assert delta_of_ledger(Ledger((variants, labels, rest)), 1.0) < general


def test_the_worst_mixture_of_selections_is_within_its_bound() -> None:
    """Labels first, then a variant that is new or known as the labels fall: enumerated, the worst choice for each outcome."""
    epsilon, mu_labels, mu_variants, mu_rest, shows = 0.7, 0.2, 0.25, 0.3, 0.004
    losses = np.linspace(-9, 9, 1201)
    weights = rounded(0, 1201 / 18, np.arange(-600, 601))
    log_ratio = mu_labels * losses - mu_labels**2 / 2  # of a shifted against a plain Gaussian, at the plain one's points
    label = weights * np.exp(log_ratio), weights

    def inner(first: bool, budget: float) -> float:
        known = math.sqrt(mu_variants**2 + mu_rest**2)
        return delta_of(known, budget) if first else shows + (1 - shows) * delta_of(mu_rest, budget - math.log1p(-shows))

    worst = sum(
        one * max(inner(True, epsilon - loss), inner(False, epsilon - loss))
        for one, loss in zip(label[0], log_ratio, strict=True)
    )
    bound = shows + delta_of(math.sqrt(mu_labels**2 + mu_variants**2 + mu_rest**2), epsilon)
    assert worst <= bound * (1 + 1e-6)
    assert worst > 0.5 * bound


@pytest.mark.parametrize(("variants", "labels"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.5), (0.3, -0.1), (float("nan"), 0.0)])
def test_shares_that_leave_nothing_are_refused(variants: float, labels: float) -> None:
    with pytest.raises(UsageError, match="share of the"):
        calibrate(1.0, 1e-5, variants, (labels,) if labels else ())


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-5), (1.0, 0.0), (1.0, 1.0)])
def test_targets_that_cannot_be_met_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(UsageError, match="has to be a number above 0"):
        calibrate(epsilon, delta, 0.3)
