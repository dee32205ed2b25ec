"""From the guarantee that is asked for to the noise that keeps it.

The promise: releases that add up to `mu_rest`, the choice of labels included, after a choice of variants with these thresholds,
are (epsilon, delta)-differentially private for adding and for removing one case, or somebody with so many cases; `accounting`
counts it again.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from libra._system.arguments import checked, checked_delta
from libra.engines.contract import FINE
from libra.engines.control_flow_tables import MOST_LABELS
from libra.errors import UsageError
from libra.privacy.gaussian import LARGEST_MU, checked_epsilon, delta_of, most, mu_of
from libra.privacy.noise import bound_of_geometric, table_distance
from libra.privacy.selection import labels_show, variant_shows

SLACK = 1 - 1e-10  # of mu, for the rounding of shares that are added up again
SHOWS_PART = 0.2  # of delta, for what shows that nobody else has, where an individual has several cases
LABELS_PART = 0.25  # of what may show, for each round in which labels are chosen; the rest is for variants
LABELS_SHOW = 0.2  # of delta, for labels that nobody else has, where variants are counted with truncated geometric noise
ROOM = 0.999  # of delta: the rest is for tables of noise, which are not quite the distributions that they stand for
EPSILONS = 400  # parts of epsilon, for truncated geometric noise, of which the best is taken
LEAST_LEFT, LEAST_END = 0.01, 1e-17  # of delta, and by itself, for the end of truncated geometric noise
FARTHEST = 42.0  # of epsilon times the bound: with more, its end would be less than a table holds
NEARLY = 1.05  # times the smallest bound that noise may have: a little more of it leaves more epsilon
VALUES_PART = 0.3  # of what may show, for all choices of values of attributes, in even parts


class Choice(NamedTuple):
    """One choice of labels or values: its mu, and what noisy weights or counts, times the scale, have to reach."""

    mu: float
    threshold: int


class Geometric(NamedTuple):
    """Truncated geometric noise: the epsilon of what is within its bound, and the bound."""

    epsilon: float
    bound: int


class Share(NamedTuple):
    """What a choice of values gets of mu^2, and whether a case may have several of these values, as of an attribute of events."""

    square: float
    several: bool = False


@dataclass(frozen=True)
class Calibration:
    """How much noise every stage needs."""

    epsilon: float  # what is promised
    delta: float  # likewise
    mu: float  # of everything together, for a case that shares its variant with others
    mu_variants: float  # of the first look at the variants; 0 where that has other noise
    mu_rest: float  # of everything after that, the choice of labels included
    variant_threshold: int  # variants are kept whose noisy counts, times `scale`, reach it
    label_rounds: tuple[Choice, ...] = ()  # how labels are chosen, round by round; none where they are public
    value_choices: tuple[Choice, ...] = ()  # how values are chosen, for each attribute whose values are private
    several: tuple[bool, ...] = ()  # for each of these, whether a case may have several values
    cases: int = 1  # how many cases of whom is protected count at most. Every mu here is that of one of them
    scale: int = FINE  # what counts are multiplied with before noise
    geometric: Geometric | None = None  # the noise of the first look at the variants, where it is not Gaussian

    @property
    def variant_shows(self) -> float:
        """The largest probability that a variant shows which nobody else has."""
        return variant_shows(self.mu_variants, self.variant_threshold, self.scale, self.cases)

    @property
    def mu_labels(self) -> float:
        """The mu of all rounds in which labels are chosen."""
        return math.hypot(*(one.mu for one in self.label_rounds))

    def labels_show(self, number: int) -> float:
        """The largest probability that labels show in a round which nobody else has."""
        mu, threshold = self.label_rounds[number]
        return labels_show(mu, threshold, self.scale, MOST_LABELS, self.cases)

    def values_show(self, number: int) -> float:
        """The largest probability that a value shows in a choice which nobody else has."""
        return values_show(*self.value_choices[number], self.cases, several=self.several[number])

    @property
    def least_count(self) -> float:
        """How many cases a variant needs to be kept as often as not."""
        return self.variant_threshold / self.scale


def calibrate(
    epsilon: float, delta: float, variants: float, labels: Sequence[float] = (), cases: int = 1, values: Sequence[Share] = ()
) -> Calibration:
    """The noise for a guarantee; `variants`, one of `labels` a round, and one of `values` an attribute, are shares of mu^2."""
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    variants = checked("the share of the variants", variants, lambda share: 0 < share < 1, "above 0 and below 1")
    rest = 1 - variants - sum(share.square for share in values)
    checked("the share of the labels", sum(labels), lambda share: 0 <= share < rest, "that leaves something for the rest")
    if cases == 1 and not values:
        mu = mu_of(epsilon, delta) * SLACK
        mu_rest = math.sqrt(1 - variants) * mu
        shows = most(lambda q: selections_delta(mu_rest, q, epsilon) <= delta, 0.0, delta)
    else:
        shows = SHOWS_PART * delta
        mu = most(lambda mu: selections_delta(mu, shows, epsilon) <= delta, 0.0, LARGEST_MU) * SLACK / cases
        mu_rest = math.sqrt(1 - variants) * mu
    mu_variants = math.sqrt(variants) * mu
    part = min(LABELS_PART, 1 / (1 + len(labels)))  # for each round; together all show with less than the sum
    others_may = shows * (1 - VALUES_PART) if values else shows
    variants_may = (1 - part * len(labels)) * others_may
    variant_threshold = _least_threshold(lambda at: variant_shows(mu_variants, at, FINE, cases) <= variants_may)

    def label_round(mu: float) -> Choice:
        may_show = part * others_may * SLACK
        return Choice(mu, _least_threshold(lambda at: labels_show(mu, at, FINE, MOST_LABELS, cases) <= may_show))

    def value_choice(mu: float, several: bool) -> Choice:
        may_show = VALUES_PART * shows / len(values) * SLACK
        return Choice(mu, _least_threshold(lambda at: values_show(mu, at, cases, several=several) <= may_show))

    rounds = tuple(label_round(math.sqrt(share) * mu) for share in labels)
    chosen = tuple(value_choice(math.sqrt(share.square) * mu, share.several) for share in values)
    several = tuple(share.several for share in values)
    return Calibration(epsilon, delta, mu, mu_variants, mu_rest, variant_threshold, rounds, chosen, several, cases)


def calibrate_geometric(epsilon: float, delta: float, rest: float, labels: Sequence[float] = ()) -> Calibration:
    """The noise for a guarantee where variants are counted once, with truncated geometric noise; `rest` is a share of mu^2.

    That of Gaussian releases after it. `labels` are shares of mu^2 within the rest, one a round.
    """
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    checked("the share of the labels", sum(labels), lambda share: 0 <= share < rest, "that leaves something for the rest")
    mu = mu_of(epsilon, delta) * SLACK
    mu_rest = math.sqrt(rest) * mu
    may_show = LABELS_SHOW * delta / max(len(labels), 1) * SLACK

    def label_round(mu: float) -> Choice:
        return Choice(mu, _least_threshold(lambda at: labels_show(mu, at, FINE, MOST_LABELS) <= may_show))

    rounds = tuple(label_round(math.sqrt(share) * mu) for share in labels)
    hidden = math.fsum(math.log1p(-labels_show(*each, FINE, MOST_LABELS)) for each in rounds)
    geometric = least_noise(epsilon + hidden, (delta + math.expm1(hidden)) * ROOM, mu_rest)
    at = (geometric.bound + 1) * FINE
    return Calibration(epsilon, delta, mu, 0.0, mu_rest, at, rounds, geometric=geometric)


def least_noise(epsilon: float, delta: float, mu: float) -> Geometric:
    """Truncated geometric noise that stays, together with Gaussian releases that are mu-GDP, within (epsilon, delta).

    Of what does, that with nearly the smallest bound, and then with the largest epsilon.
    """
    found = []
    for step in range(1, EPSILONS):
        of_noise = epsilon * step / EPSILONS
        odds = 1 / (1 + math.exp(-of_noise))
        left = delta - odds * delta_of(mu, epsilon - of_noise) - (1 - odds) * delta_of(mu, epsilon + of_noise)
        if left > max(LEAST_LEFT * delta, LEAST_END):
            one = Geometric(of_noise, bound_of_geometric(of_noise, left))
            if of_noise * one.bound < FARTHEST and math.exp(epsilon) * table_distance(one.bound) < (1 - ROOM) * delta:
                found.append(one)
    if not found:
        raise UsageError("So small a share of the budget, or so large an epsilon, leaves no truncated geometric noise.")
    least_bound = min(one.bound for one in found)
    return max(one for one in found if one.bound <= math.floor(NEARLY * least_bound))


def values_show(mu: float, threshold: int, cases: int, *, several: bool) -> float:
    """The largest probability that a value shows in a choice which nobody else has."""
    if several:
        return labels_show(mu, threshold, FINE, MOST_LABELS, cases)
    return variant_shows(mu, threshold, FINE, cases)


def selections_delta(mu: float, shows: float, epsilon: float) -> float:
    """Delta for somebody of whom something new shows with probability `shows` at most, and who otherwise costs `mu`.

    Exactly, for adding and removing: with Q = `shows`, Q + (1 - Q) delta(epsilon - ln(1 - Q)) and delta(epsilon + ln(1 - Q)).
    """
    hidden = math.log1p(-shows)
    return max(min(1.0, shows + (1 - shows) * delta_of(mu, epsilon - hidden)), delta_of(mu, epsilon + hidden))


def _least_threshold(passes_rarely: Callable[[int], bool]) -> int:
    """The smallest whole number from which a monotone condition holds."""
    high = 1
    while not passes_rarely(high):
        high *= 2
    return bisect_left(range(high), True, lo=1, key=passes_rarely)
