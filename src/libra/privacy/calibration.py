"""From the guarantee that is asked for to the noise that keeps it.

In: epsilon, delta, and the shares of mu^2 that go to the choice of variants and of labels. Out: a `Calibration`: mu of each
stage and the thresholds, in whole numbers. The promise: releases that add up to `mu_rest`, the choice of labels included, after
a choice of variants with these thresholds, are (epsilon, delta)-differentially private for adding and for removing one case, or
somebody with so many cases; `accounting` counts it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from libra.engines.control_flow_tables import MOST_LABELS
from libra.privacy.arguments import checked, checked_delta
from libra.privacy.gaussian import LARGEST_MU, checked_epsilon, delta_of, most, mu_of
from libra.privacy.noisy import FINE
from libra.privacy.selection import labels_show, variant_shows

SLACK = 1 - 1e-10  # of mu, for the rounding of shares that are added up again
SHOWS_PART = 0.2  # of delta, for what shows that nobody else has, where an individual has several cases
LABELS_PART = 0.25  # of what may show, for labels; the rest is for variants


@dataclass(frozen=True)
class Calibration:
    """How much noise every stage needs.

    Attributes:
        epsilon: What is promised.
        delta: Likewise.
        mu: Of everything together, for a case that shares its variant with others.
        mu_labels: Of the choice of labels; 0 where labels are public.
        mu_variants: Of the first look at the variants.
        mu_rest: Of everything after that, the choice of labels included.
        variant_threshold: Variants are kept whose noisy counts, times `scale`, reach it.
        label_threshold: Labels are kept whose noisy weights, times `scale`, reach it; None where labels are public.
        cases: How many cases of whom is protected count at most. Every mu here is that of one of them.
        scale: What counts are multiplied with before noise.

    Example:
        >>> plan = calibrate(1.0, 1e-4, variants=0.3)
        >>> round(1 / plan.mu, 2), round(plan.least_count, 1)
        (3.19, 22.7)
    """

    epsilon: float
    delta: float
    mu: float
    mu_labels: float
    mu_variants: float
    mu_rest: float
    variant_threshold: int
    label_threshold: int | None
    cases: int = 1
    scale: int = FINE

    @property
    def variant_shows(self) -> float:
        """The largest probability that a variant shows which nobody else has."""
        return variant_shows(self.mu_variants, self.variant_threshold, self.scale, self.cases)

    @property
    def labels_show(self) -> float:
        """The largest probability that labels show which nobody else has."""
        if self.label_threshold is None:
            return 0.0
        return labels_show(self.mu_labels, self.label_threshold, self.scale, MOST_LABELS, self.cases)

    @property
    def least_count(self) -> float:
        """How many cases a variant needs to be kept as often as not."""
        return self.variant_threshold / self.scale


def calibrate(epsilon: float, delta: float, variants: float, labels: float = 0.0, cases: int = 1) -> Calibration:
    """The noise for a guarantee; `variants` and `labels` are shares of mu^2, labels not being chosen where theirs is 0.

    Example:
        >>> calibrate(1.0, 1e-5, variants=0.3).label_threshold is None
        True
    """
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    variants = checked("the share of the variants", variants, lambda share: 0 < share < 1, "above 0 and below 1")
    labels = checked(
        "the share of the labels", labels, lambda share: 0 <= share < 1 - variants, "that leaves something for the rest"
    )
    if cases == 1:
        mu = mu_of(epsilon, delta) * SLACK
        mu_rest = math.sqrt(1 - variants) * mu
        shows = most(lambda q: selections_delta(mu_rest, q, epsilon) <= delta, 0.0, delta)
    else:
        shows = SHOWS_PART * delta
        mu = most(lambda mu: selections_delta(mu, shows, epsilon) <= delta, 0.0, LARGEST_MU) * SLACK / cases
        mu_rest = math.sqrt(1 - variants) * mu
    mu_variants, mu_labels = math.sqrt(variants) * mu, math.sqrt(labels) * mu
    labels_may = LABELS_PART * shows if labels > 0 else 0.0
    variants_may = (shows - labels_may) * SLACK  # together they show with less than the sum
    variant_threshold = _least_threshold(lambda at: variant_shows(mu_variants, at, FINE, cases) <= variants_may)
    label_threshold = (
        None if labels == 0 else _least_threshold(lambda at: labels_show(mu_labels, at, FINE, MOST_LABELS, cases) <= labels_may)
    )
    return Calibration(epsilon, delta, mu, mu_labels, mu_variants, mu_rest, variant_threshold, label_threshold, cases)


def selections_delta(mu: float, shows: float, epsilon: float) -> float:
    """Delta for somebody of whom something new shows with probability `shows` at most, and who otherwise costs `mu`.

    Exactly, for adding and removing: with Q = `shows`, Q + (1 - Q) delta(epsilon - ln(1 - Q)) and delta(epsilon + ln(1 - Q)).

    Example:
        >>> selections_delta(0.2, 0.0, 1.0) == delta_of(0.2, 1.0)
        True
    """
    hidden = math.log1p(-shows)
    return max(min(1.0, shows + (1 - shows) * delta_of(mu, epsilon - hidden)), delta_of(mu, epsilon + hidden))


def _least_threshold(passes_rarely: Callable[[int], bool]) -> int:
    """The smallest whole number from which a monotone condition holds."""
    high = 1
    while not passes_rarely(high):
        high *= 2
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes_rarely(middle) else (middle, high)
    return high
