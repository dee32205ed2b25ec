"""How a budget is divided: noise of the choice of variants and of labels, and what is left for everything after it.

There are two forms: variants are chosen with Gaussian noise and counted a second time, or counted once with truncated geometric
noise. Which one is used follows from what was asked for, and where it depends on the number of rare cases, from a noisy count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from libra.engines.contract import Unit
from libra.errors import UsageError
from libra.eventlog.attributes import Attribute
from libra.mechanisms.libra.attributes.shares import private_values
from libra.privacy.calibration import Calibration, calibrate, calibrate_geometric
from libra.privacy.noise import geometric_sd

if TYPE_CHECKING:
    from libra.mechanisms.libra.plan import Budget, Labels, Tail

# Of control flow, for the choice of variants. With a model of the tail, 0.1 and 0.35 are as good on the eight public logs (within
# 5 %); without one, what the choice leaves is for the counts of kept variants alone, and a lower threshold is worth more.
FIRST_LOOK = {"model": 0.2, "nearest": 0.6, "drop": 0.6}
SMALLEST_MU = 1e-5  # of a stage: with less, noise would outgrow what can be drawn exactly, and any log
# Of everything, for the choice of labels, in rounds: the first finds those that most cases have, so that in the second a case
# gives its weight to the few that are left. Chosen on the public logs among some ten splits, most of them within the noise.
LABELS = (0.02, 0.06)

# What follows is for budgets of which nearly all is for control flow: there, counts may have truncated geometric noise.
NEARLY_ALL = 0.9
LOOK = 0.02  # of everything, for the number of cases of rare variants, which decides whether there is a tail to model
HARDLY_ANY, SOME = 2.0, 80.0  # standard deviations of that number: up to there rare cases get nothing, or little where it helps
MOST_SOME = 600  # cases: where some may be more, they are as well modelled as many, or logs like Sepsis lose most of theirs
FIRST_LOOK_BESIDE = 0.4  # what `FIRST_LOOK` is beside a tail: on the public logs 0.2 keeps fewer variants, 0.6 models less
GEOMETRIC_BESIDE = 0.92  # of control flow, for counts with geometric noise where there is a tail
CLEARLY_LESS = 0.5  # of the noise of counts is what geometric noise has to come to, for a tail to get little
TIMES_BESIDE = 0.125  # of their share is what times get where no tail is asked for: Gaussian noise is dear beside geometric
MOST_BOUND = 1_000  # of geometric noise: as much as a certificate takes


class Divided(NamedTuple):
    """What a budget comes to."""

    calibration: Calibration  # of the choice of variants and labels
    mu_second: float  # for a second look at kept variants, and as much for the tail, the choice of its labels included
    mu_times: float  # for times
    mu_attributes: float = 0.0  # for attributes

    @property
    def noise_of_counts(self) -> float:
        """The standard deviation of the counts of kept variants, by both looks together."""
        geometric = self.calibration.geometric
        first = self.calibration.mu_variants if geometric is None else 1 / geometric_sd(geometric.epsilon)
        return 1 / math.hypot(self.mu_second, first)

    def or_rather(self, other: Divided | None, noise: float = 1.0) -> Divided:
        """The other one if variants need no more cases with it and the noise of counts is at most so large a part, or this."""
        if other is None or other.calibration.least_count > self.calibration.least_count:
            return self
        return other if other.noise_of_counts <= noise * self.noise_of_counts else self


class Look(NamedTuple):
    """A look at how many cases rare variants have, before anything else."""

    mu: float  # of its noise
    most: int  # cases that a rare variant has, about
    simple: Divided  # how the budget is divided if it finds hardly any: all but times and this look goes to counts
    some: Divided | None  # the same if it finds some, where that is otherwise than for many

    @property
    def limits(self) -> tuple[float, float]:
        """Up to so many cases of rare variants are hardly any, and some."""
        return HARDLY_ANY / self.mu, SOME / self.mu


def divided(
    epsilon: float, delta: float, budget: Budget, tail: Tail, labels: Labels, unit: Unit, runs: int,
    attributes: Sequence[Attribute],
) -> tuple[Divided, Look | None]:  # fmt: skip
    """How the budget of a run is divided, and a look that may change that."""
    private = labels == "private" and tail == "model"  # without a model those of kept variants are all
    usual = _with_gaussian(epsilon, delta, budget, FIRST_LOOK[tail], LABELS if private else (), unit, attributes)
    if budget.control < NEARLY_ALL or attributes or unit.most_cases not in (None, 1) or tail == "nearest":
        return usual, None
    if tail == "drop":
        return usual.or_rather(_with_geometric(epsilon, delta, budget.times * TIMES_BESIDE)), None
    rounds = LABELS if private else ()
    if runs > 1:  # what a look decides is counted for a single run
        return _with_gaussian(epsilon, delta, budget, FIRST_LOOK_BESIDE, rounds, unit, ()), None
    found = _with_gaussian(epsilon, delta, budget, FIRST_LOOK_BESIDE, rounds, unit, (), LOOK)
    mu = found.calibration.mu
    times, second = (found.mu_times / mu) ** 2, budget.control * (1 - GEOMETRIC_BESIDE) - LOOK
    simple = _with_geometric(epsilon, delta, times, look=LOOK)
    some = _with_geometric(epsilon, delta, times, second, [share * second for share in rounds], LOOK)
    if simple is None or simple.calibration.geometric is None or found.or_rather(simple) is found:
        return usual, None
    bound, simple = simple.calibration.geometric.bound, simple._replace(mu_times=found.mu_times)
    if some is not None:
        few = SOME / (mu * math.sqrt(LOOK)) <= MOST_SOME
        some = some._replace(mu_times=found.mu_times) if few and found.or_rather(some, CLEARLY_LESS) is not found else None
    return found, Look(mu * math.sqrt(LOOK), bound, simple, some)


def _with_gaussian(
    epsilon: float, delta: float, budget: Budget, first: float, rounds: Sequence[float], unit: Unit,
    attributes: Sequence[Attribute], look: float = 0.0,
) -> Divided:  # fmt: skip
    """With Gaussian noise alone; `first` is the share of control flow for the choice of variants."""
    control, times, rest = (share * (1 - sum(rounds)) for share in (budget.control, budget.times, budget.attributes))
    control -= look
    values = [share._replace(square=share.square * rest) for share in private_values(attributes).values()]
    first *= control
    noise = calibrate(epsilon, delta, variants=first, labels=rounds, cases=unit.most_cases or 1, values=values)
    second, times, rest = (noise.mu * math.sqrt(share) for share in (control - first + sum(rounds), times, rest))
    chosen = [each.mu for each in (*noise.label_rounds, *noise.value_choices)]
    if min(second, times, noise.mu_variants, *chosen, *([rest] if attributes else [])) < SMALLEST_MU:
        raise UsageError(
            "So small an epsilon, delta or share of the budget would drown every log in noise. Ask for a larger one."
        )
    return Divided(noise, second, times, rest)


def _with_geometric(
    epsilon: float, delta: float, times: float, second: float = 0.0, rounds: Sequence[float] = (), look: float = 0.0
) -> Divided | None:
    """With truncated geometric noise for the counts of variants, beside these shares; None where it would be too large."""
    try:
        noise = calibrate_geometric(epsilon, delta, times + second + look, rounds)
    except UsageError:
        return None
    found = Divided(noise, noise.mu * math.sqrt(second), noise.mu * math.sqrt(times))
    least = min([found.mu_times, *(each.mu for each in noise.label_rounds)])
    return None if least < SMALLEST_MU or noise.least_count > MOST_BOUND + 1 else found
