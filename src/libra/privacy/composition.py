"""Several runs on subsamples: what they cost together, and what each may cost.

A run is described by its curve, the smallest delta for every epsilon. In: such a curve, the rate of the Poisson subsamples and
how many there are; out: the curve of the whole, an upper bound. `before_subsampling` goes the other way, for calibration.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from libra.errors import UsageError
from libra.privacy.arguments import checked, checked_delta, checked_times
from libra.privacy.gaussian import LARGEST_EPSILON, SMALLEST_EPSILON, checked_epsilon, most, mu_of

Curve = Callable[[float], float]
STEPS = 40
FINER = 6  # rounds, each between the neighbours of the best so far: as near as calibration, which looks for the same
SLACK = 1 - 1e-12  # of an epsilon that is multiplied again
ROUNDING = 1 + 1e-9  # for sums of floats
LARGEST_DELTA = 0.5  # a run of which less than that is asked may as well have it


def subsampled(curve: Curve, rate: float) -> Curve:
    """The curve of a run on a Poisson subsample: delta at ln(1 + rate (e^epsilon - 1)) is rate times what it was at epsilon.

    Example:
        >>> from libra.privacy.gaussian import delta_of
        >>> inside = subsampled(lambda epsilon: delta_of(1.0, epsilon), 0.1)
        >>> math.isclose(inside(math.log1p(0.1 * math.expm1(2.0))), 0.1 * delta_of(1.0, 2.0))
        True
    """
    rate = _checked_rate(rate)
    return curve if rate == 1 else lambda epsilon: rate * curve(_inside(epsilon, rate))


def repeated(curve: Curve, times: int) -> Curve:
    """The curve of so many independent runs, by the best single (epsilon, delta) of one run.

    Example:
        >>> from libra.privacy.gaussian import delta_of
        >>> one = lambda epsilon: delta_of(0.1, epsilon)
        >>> one(0.4) < repeated(one, 4)(0.4) < 1
        True
    """
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
    """The smallest delta at `epsilon` of so many runs, each (each_epsilon, each_delta)-DP: Kairouz, Oh and Viswanath (2015).

    Example:
        >>> composed_delta(2.0, 1.0, 0.0, 2) == 0.0 < composed_delta(1.0, 1.0, 0.0, 2)
        True
    """
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

    Example:
        >>> [round(value, 5) for value in before_subsampling(1.0, 1e-5, 0.1)]
        [2.90048, 0.0001]
        >>> before_subsampling(1.0, 1e-5, 1.0)
        (1.0, 1e-05)
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
