"""What a ledger adds up to: composition of Gaussian, discrete and selected releases, subsampled and repeated.

Whole-numbered noise has so few values that its privacy losses are written down, each with its probability. The promise: delta is
never below the truth, and within 1e-6 of it; without Gaussian noise beside it, within 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from libra._system.arguments import checked, checked_delta, checked_times
from libra.errors import UsageError
from libra.eventlog.cases import Floats
from libra.privacy.calibration import selections_delta
from libra.privacy.gaussian import LARGEST_EPSILON, SMALLEST_EPSILON, checked_epsilon, delta_of, least, most, mu_of, upper_tails
from libra.privacy.ledger import (
    DISCRETE_LAPLACE,
    GAUSSIAN,
    LABEL_SELECTION,
    LAPLACE,
    ROUNDED_GAUSSIAN,
    TRUNCATED_GEOMETRIC,
    VALUE_SELECTION,
    VARIANT_SELECTION,
    Entry,
    Ledger,
)
from libra.privacy.noise import table_distance

MOST_VALUES = 2_000
SAME = 1e-13  # losses that are as near as that, relative to the largest, are taken for the largest of them
MASS_ROUNDING = 1e-14  # of delta, for every release: what sums of floats may lose
Curve = Callable[[float], float]
STEPS = 40
FINER = 6  # rounds, each between the neighbours of the best so far: as near as calibration, which looks for the same
SLACK = 1 - 1e-12  # of an epsilon that is multiplied again
ROUNDING = 1 + 1e-9  # for sums of floats
LARGEST_DELTA = 0.5  # a run of which less than that is asked may as well have it
SELECTIONS = (VARIANT_SELECTION, LABEL_SELECTION, VALUE_SELECTION)
LARGEST = 1000.0  # epsilons are looked for up to here
INTERVAL = 1e-4  # of the grid for privacy losses
LARGEST_EXPONENT = 700.0  # e^epsilon in floats; by then tables are off by more than any delta
FARTHEST, INTERVALS = 8.5, 200  # standard deviations of a loss, and the intervals that they are divided into
LOST = 1e-12  # of a distribution's mass, to the library's floats


@dataclass(frozen=True, eq=False, repr=False)
class Losses:
    """What a release with the case says for it: the logarithms of how much likelier outcomes are, and how likely these are."""

    values: Floats  # the losses, ascending
    chances: Floats  # their probabilities
    certain: float = 0.0  # the probability of outcomes that never come without the case
    releases: int = 0  # how many releases there are

    def and_also(self, other: Losses) -> Losses:
        """The losses of both releases together."""
        values = np.add.outer(self.values, other.values).ravel()
        chances = np.multiply.outer(self.chances, other.chances).ravel()
        order = np.argsort(values)
        values, chances = values[order], chances[order]
        last = np.append(np.diff(values) > SAME * np.abs(values).max(), True)
        first = np.flatnonzero(np.append(True, last[:-1]))
        certain = self.certain + other.certain - self.certain * other.certain
        return Losses(values[last], np.add.reduceat(chances, first), certain, self.releases + other.releases)

    def delta(self, mu: float, epsilon: float) -> float:
        """The delta at `epsilon` of these releases and of Gaussian ones that are mu-GDP."""
        beyond = np.array([delta_of(mu, epsilon - value) for value in self.values.tolist()])
        return min(1.0, self.certain + float(self.chances @ beyond) + MASS_ROUNDING * (self.releases + 1))


def losses_of(entries: Sequence[Entry]) -> Losses | None:
    """The losses of all these releases together; None where other noise is among them, or where there are too many values."""
    together = Losses(np.zeros(1), np.ones(1))
    for entry in entries:
        if entry.mechanism not in (DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC) or entry.sensitivity > MOST_VALUES:
            return None
        together = together.and_also(_one(entry))
        if len(together.values) > MOST_VALUES:
            return None
    return together


def _one(entry: Entry) -> Losses:
    """The case moves the count from 0 to the sensitivity: all outcomes from there on say the same for it, all up to 0 against."""
    decay, s = 1 / entry.noise, int(entry.sensitivity)
    ratio, fall = math.exp(-decay), -math.expm1(-decay)
    if entry.mechanism == DISCRETE_LAPLACE:
        between = np.arange(1, s)
        losses = np.concatenate(([-s], 2 * between - s, [s])) * decay
        chances = np.concatenate(([ratio**s], fall * np.exp(-decay * (s - between)), [1.0])) / (1 + ratio)
        return Losses(losses, chances, releases=1)
    k = entry.bound or 0
    whole = 1 + ratio - 2 * ratio ** (k + 1)
    inside = -math.expm1(-decay * k)
    return Losses(np.array([-decay, decay]), np.array([ratio * inside, inside]) / whole, fall * ratio**k / whole, 1)


def subsampled(curve: Curve, rate: float) -> Curve:
    """The curve of a run on a Poisson subsample: delta at ln(1 + rate (e^epsilon - 1)) is rate times what it was at epsilon."""
    rate = _checked_rate(rate)
    return curve if rate == 1 else lambda epsilon: rate * curve(_inside(epsilon, rate))


def repeated(curve: Curve, times: int) -> Curve:
    """The curve of so many independent runs, by the best single (epsilon, delta) of one run."""
    times = checked_times(times)
    if times == 1:
        return curve

    def whole(epsilon: float) -> float:
        low, high, smallest = 1.0, float(times), 1.0
        for _ in range(FINER):
            factors = np.geomspace(low, high, STEPS)
            each = [float(factor) * epsilon / times * SLACK for factor in factors]
            deltas = [composed_delta(epsilon, one, curve(one), times) for one in each]
            best = int(np.argmin(deltas))
            smallest = min(smallest, deltas[best])
            low, high = factors[max(best - 1, 0)], factors[min(best + 1, STEPS - 1)]
        return smallest

    return whole


def composed_delta(epsilon: float, each_epsilon: float, each_delta: float, times: int) -> float:
    """The smallest delta at `epsilon` of so many runs, each (each_epsilon, each_delta)-DP: Kairouz, Oh and Viswanath (2015)."""
    if each_delta >= 1:
        return 1.0
    against = np.arange(times + 1)  # how many of the runs speak against the case
    steps = np.log(np.arange(times, 0, -1) / np.arange(1, times + 1))
    choose = np.concatenate(([0.0], np.cumsum(steps)))
    weights = np.exp(choose - against * each_epsilon - times * math.log1p(math.exp(-each_epsilon)))
    pure = float(np.sum(weights * np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - (times - 2 * against) * each_epsilon)))))
    return min(1.0, -math.expm1(times * math.log1p(-each_delta) + math.log1p(-min(pure, 1 - 1e-16))) * ROUNDING)


def before_subsampling(epsilon: float, delta: float, rate: float, times: int = 1) -> tuple[float, float]:
    """The (epsilon, delta) that one run may have, so that all runs on their subsamples have at most the one given.

    Where there is a choice, the one with the largest mu for Gaussian noise.
    """
    epsilon, delta, rate, times = checked_epsilon(epsilon), checked_delta(delta), _checked_rate(rate), checked_times(times)
    best = (0.0, 0.0, 0.0)
    for part in (1.0,) if times == 1 else np.linspace(0.05, 1, 20):
        each_delta = float(part) * delta / times
        each = epsilon if times == 1 else _each_epsilon(epsilon, delta, each_delta, times)
        inside = min(_inside(each, rate), LARGEST_EPSILON), min(each_delta / rate, LARGEST_DELTA)
        if inside[0] >= SMALLEST_EPSILON:
            best = max(best, (mu_of(*inside), *inside))
    if not best[0]:
        raise UsageError(f"Epsilon {epsilon:g} leaves too little for each of {times:,} runs. Ask for a larger one or fewer runs.")
    return best[1], best[2]


def _each_epsilon(epsilon: float, delta: float, each_delta: float, times: int) -> float:
    """The largest epsilon that each run may have; epsilon over the number of runs is always allowed."""

    def fits(each: float) -> bool:
        return composed_delta(epsilon, each, each_delta, times) <= delta

    each = max(epsilon / times, most(fits, 0.0, epsilon)) if fits(0.0) else epsilon / times
    return each * SLACK


def _inside(epsilon: float, rate: float) -> float:
    """The epsilon of the run whose subsample has this epsilon: ln(1 + (e^epsilon - 1) / rate)."""
    if epsilon > LARGEST_EPSILON:
        return epsilon - math.log(rate)
    return math.log1p(math.expm1(epsilon) / rate)


def _checked_rate(rate: float) -> float:
    return checked("rate", rate, lambda rate: 0 < rate <= 1, "above 0 and at most 1")


class UnknownReleaseError(Exception):
    """A ledger has an entry that the accountant cannot count: a mistake in the program, never in its use."""


def delta_of_ledger(ledger: Ledger, epsilon: float) -> float:
    """The delta at `epsilon` of everything in the ledger."""
    return _curve(ledger)(epsilon)


def epsilon_of_ledger(ledger: Ledger, delta: float) -> float:
    """The epsilon at `delta` of everything in the ledger; infinite where no epsilon has such a delta."""
    delta = checked_delta(delta)
    curve = _curve(ledger)
    high = 0.01
    while curve(high) > delta:
        high *= 2
        if high > LARGEST:
            return math.inf
    return least(lambda epsilon: curve(epsilon) <= delta, 0.0, high)


def _curve(ledger: Ledger) -> Curve:
    """Delta as a function of epsilon."""
    entries = [*ledger.entries, *(entry for each in ledger.otherwise for entry in each)]
    for entry in entries:
        _refuse_unknown(entry)
    if ledger.most_cases > 1 and any(entry.mechanism not in GAUSSIAN for entry in entries):
        raise UnknownReleaseError("Other than Gaussian noise is counted for one case alone; here somebody has several.")
    return repeated(subsampled(_one_run(ledger), ledger.rate), ledger.times)


def _refuse_unknown(entry: Entry) -> None:
    if entry.mechanism not in (*GAUSSIAN, LAPLACE, DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC):
        raise UnknownReleaseError(f'The accountant does not know how to count "{entry.mechanism}".')
    if entry.mechanism == DISCRETE_LAPLACE and not (entry.sensitivity > 0 and float(entry.sensitivity).is_integer()):
        raise UnknownReleaseError(f'"{entry.purpose}" has whole-numbered noise, and a sensitivity of {entry.sensitivity}.')
    if entry.mechanism == TRUNCATED_GEOMETRIC and (entry.bound is None or entry.sensitivity != 1):
        raise UnknownReleaseError(f'"{entry.purpose}" is a truncated geometric without bound, or not of sensitivity 1.')


def _one_run(ledger: Ledger) -> Curve:
    if ledger.otherwise:
        return _after_a_look(ledger)
    others = [entry for entry in ledger.entries if entry.mechanism not in GAUSSIAN]
    selections = [entry for entry in ledger.entries if entry.mechanism in SELECTIONS]
    mu = ledger.most_cases * ledger.mu
    if others:
        return _with_other_noise(mu, -math.expm1(_log_hidden(selections)), others)
    shows = -math.expm1(_log_hidden(selections))
    if ledger.most_cases == 1 and _variants_first(selections):
        without = Ledger(tuple(entry for entry in ledger.entries if entry is not selections[0])).mu
        return lambda epsilon: max(delta_of(mu, epsilon), selections_delta(without, shows, epsilon))
    return lambda epsilon: selections_delta(mu, shows, epsilon)


def _after_a_look(ledger: Ledger) -> Curve:
    """The curve where the first release, a Gaussian one, decides which of several sets of releases follows.

    Its loss is normal, and given that what follows costs at most the dearest of them. The sum over intervals of the loss takes
    the largest in each, so it is never below the integral.
    """
    if not ledger.entries:
        raise UnknownReleaseError("There is no release that decides what follows.")
    look, *taken = ledger.entries
    if look.mechanism != ROUNDED_GAUSSIAN or look.group != "all" or ledger.most_cases > 1 or not look.mu:
        raise UnknownReleaseError(f'"{look.purpose}" is not a look at all cases that may decide what follows.')
    mu, parts = look.mu, (tuple(taken), *ledger.otherwise)
    curves = [_one_run(replace(ledger, entries=part, otherwise=())) for part in parts]
    points = np.linspace(-FARTHEST, FARTHEST, INTERVALS + 1)
    tails = upper_tails(points)
    masses = np.append(1.0, tails[1:-1]) - tails[1:]  # the first interval begins at minus infinity
    losses = mu**2 / 2 + mu * points[1:]

    distance = max(
        sum(_table_distance(entry) for entry in part if entry.mechanism in (DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC))
        for part in parts
    )

    def dearest(epsilon: float) -> float:
        return max(curve(epsilon) for curve in curves)

    def whole(epsilon: float) -> float:
        each = np.array([dearest(epsilon - loss) for loss in losses.tolist()])
        summed = float(masses @ each) * ROUNDING + float(tails[-1]) + MASS_ROUNDING
        rising = (1 + math.exp(min(epsilon, LARGEST_EXPONENT))) * distance  # what of the curves does not fall as the loss falls
        return min(1.0, max(dearest(epsilon), summed + rising))

    return whole


def _variants_first(selections: list[Entry]) -> bool:
    """Whether variants were chosen first, of whole traces, and labels only from cases of none that was kept.

    Then a case either shares its variant, and with it all its labels, or costs nothing in the choice of variants.
    """
    first = [(VARIANT_SELECTION, "all")]
    found = [(entry.mechanism, entry.group) for entry in selections]
    return found[:1] == first and all(one == (LABEL_SELECTION, "tail") for one in found[1:])


def _log_hidden(selections: list[Entry]) -> float:
    """The logarithm of the probability that no selection shows anything new."""
    return sum(math.log1p(-entry.shows) for entry in selections)


def _with_other_noise(mu: float, shows: float, others: list[Entry]) -> Curve:
    """The curve where not all noise is Gaussian; entries that are not all count, whatever their group."""
    few = losses_of(others)
    whole = _on_a_grid(mu, others) if few is None else partial(few.delta, mu)
    distance = sum(_table_distance(entry) for entry in others)

    def curve(epsilon: float) -> float:
        tables = (1 + math.exp(min(epsilon, LARGEST_EXPONENT))) * distance
        return min(1.0, max(shows + whole(epsilon), whole(epsilon + math.log1p(-shows))) + tables)

    return curve


def _on_a_grid(mu: float, others: list[Entry]) -> Curve:
    """The curve by privacy loss distributions, where losses are too many to be written down."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    whole: Any = pld.identity(value_discretization_interval=INTERVAL)
    if mu > 0:
        whole = whole.compose(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=INTERVAL))
    for entry in others:
        whole = whole.compose(_loss(entry))
    lost = LOST * (len(others) + 1)
    return lambda epsilon: float(whole.get_delta_for_epsilon(epsilon)) + lost


def _loss(entry: Entry) -> Any:  # a type of dp-accounting
    from dp_accounting.pld import privacy_loss_distribution as pld

    if entry.mechanism == LAPLACE:
        return pld.from_laplace_mechanism(entry.noise, entry.sensitivity, value_discretization_interval=INTERVAL)
    if entry.mechanism == DISCRETE_LAPLACE:
        return pld.from_discrete_laplace_mechanism(
            1 / entry.noise, int(entry.sensitivity), value_discretization_interval=INTERVAL
        )
    k, epsilon = entry.bound or 0, 1 / entry.noise
    peak = math.log(-math.expm1(-epsilon)) - math.log1p(math.exp(-epsilon) - 2 * math.exp(-epsilon * (k + 1)))
    here = {z: peak - epsilon * abs(z) for z in range(-k, k + 1)}
    above = {z + 1: weight for z, weight in here.items()}
    return pld.from_two_probability_mass_functions(here, above, value_discretization_interval=INTERVAL)


def _table_distance(entry: Entry) -> float:
    """How far the table that noise is drawn from is from its distribution; the one count that a case moves is drawn from it."""
    if entry.mechanism == LAPLACE:
        return 0.0
    return table_distance(entry.bound or math.ceil(45 * entry.noise))
