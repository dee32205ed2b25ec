"""From the guarantee that is asked for to the noise that keeps it.

In: epsilon, delta, and the shares of mu^2 that go to the choice of variants and of labels. Out: a `Calibration`: mu of each
stage and the thresholds, in whole numbers. The promise: releases that add up to `mu_rest`, after selections with these
thresholds, are (epsilon, delta)-differentially private for adding and for removing one case, or somebody with so many cases;
`accounting` counts it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from libra.privacy.arguments import checked, checked_delta
from libra.privacy.gaussian import LARGEST_MU, checked_epsilon, delta_of, most, mu_of
from libra.privacy.noisy import FINE
from libra.privacy.selection import labels_show, variant_shows

MOST_LABELS = 64  # how many labels of a case count where labels are private
SLACK = 1 - 1e-10  # of mu, for the rounding of shares that are added up again
VARIANTS_PART = 0.2  # of delta, for a variant that shows; where it is not the only thing, parts of delta are set in advance
LABELS_PART = 0.1  # of delta, for a label that shows


@dataclass(frozen=True)
class Calibration:
    """How much noise every stage needs.

    Attributes:
        epsilon: What is promised.
        delta: Likewise.
        mu: Of everything together, for a case that shares its variant with others.
        mu_labels: Of the choice of labels; 0 where labels are public.
        mu_variants: Of the first look at the variants.
        mu_rest: Of everything after that.
        variant_threshold: Variants are kept whose noisy counts, times `scale`, reach it.
        label_threshold: Labels are kept whose noisy weights, times `scale`, reach it; None where labels are public.
        cases: How many cases of whom is protected count at most. Every mu here is that of one of them.
        scale: What counts are multiplied with before noise.
        most_labels: How many labels of a case count.

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
    most_labels: int = MOST_LABELS

    @property
    def variant_shows(self) -> float:
        """The largest probability that a variant shows which nobody else has."""
        return variant_shows(self.mu_variants, self.variant_threshold, self.scale, self.cases)

    @property
    def labels_show(self) -> float:
        """The largest probability that labels show which a single case has."""
        if self.label_threshold is None:
            return 0.0
        return labels_show(self.mu_labels, self.label_threshold, self.scale, self.most_labels)

    @property
    def least_count(self) -> float:
        """How many cases a variant needs to be kept as often as not."""
        return self.variant_threshold / self.scale


def calibrate(epsilon: float, delta: float, variants: float, labels: float = 0.0, cases: int = 1) -> Calibration:
    """The noise for a guarantee; `variants` and `labels` are shares of mu^2, labels being public where theirs is 0.

    With more than one case of whom is protected, labels have to be public: see docs/guarantees.md.

    Example:
        >>> calibrate(1.0, 1e-5, variants=0.3).label_threshold is None
        True
    """
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    variants = checked("the share of the variants", variants, lambda share: 0 < share < 1, "above 0 and below 1")
    labels = checked(
        "the share of the labels", labels, lambda share: 0 <= share < 1 - variants, "that leaves something for the rest"
    )
    if labels > 0 and cases > 1:
        raise ValueError("private labels are proved for one case alone")
    if labels == 0 and cases == 1:
        mu = mu_of(epsilon, delta) * SLACK
        mu_rest = math.sqrt(1 - variants) * mu
        shows = most(lambda q: one_selection_delta(mu_rest, q, epsilon) <= delta, 0.0, delta)
    else:
        shows, labels_may = VARIANTS_PART * delta, LABELS_PART * delta if labels > 0 else 0.0
        either = shows + labels_may
        mu = most(lambda mu: selections_delta(mu, either, epsilon) <= delta, 0.0, LARGEST_MU) * SLACK
        mu_rest = math.sqrt(1 - variants - labels) * mu
    mu, mu_rest = mu / cases, mu_rest / cases
    mu_variants, mu_labels = math.sqrt(variants) * mu, math.sqrt(labels) * mu
    variant_threshold = _least_threshold(lambda at: variant_shows(mu_variants, at, FINE, cases) <= shows)
    label_threshold = (
        None if labels == 0 else _least_threshold(lambda at: labels_show(mu_labels, at, FINE, MOST_LABELS) <= labels_may)
    )
    return Calibration(epsilon, delta, mu, mu_labels, mu_variants, mu_rest, variant_threshold, label_threshold, cases)


def one_selection_delta(mu_rest: float, shows: float, epsilon: float) -> float:
    """Delta for a case whose variant is new: it shows with probability `shows`, and otherwise costs `mu_rest`.

    Exactly, for adding and removing: with Q = `shows`, Q + (1 - Q) delta(epsilon - ln(1 - Q)) and delta(epsilon + ln(1 - Q)).

    Example:
        >>> one_selection_delta(0.2, 0.0, 1.0) == delta_of(0.2, 1.0)
        True
    """
    hidden = math.log1p(-shows)
    return max(shows + (1 - shows) * delta_of(mu_rest, epsilon - hidden), delta_of(mu_rest, epsilon + hidden))


def selections_delta(mu: float, shows: float, epsilon: float) -> float:
    """Delta where any number of selections show something new with probability `shows` at most, and all of it costs `mu`.

    Example:
        >>> selections_delta(0.2, 0.0, 1.0) == delta_of(0.2, 1.0)
        True
    """
    return max(min(1.0, shows + delta_of(mu, epsilon)), delta_of(mu, epsilon + math.log1p(-shows)))


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
