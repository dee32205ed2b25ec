"""The true (epsilon, delta) of subsampled Laplace releases, by their privacy loss distribution.

In come the scale of the noise, the rate of the Poisson subsamples, how many releases there are, and delta; out comes epsilon for
adding or removing one case, each release having sensitivity 1. The promise: the figure is an upper bound, never infinite, and
close to the truth (a thousandth above it at most, up to 10,000 releases of scale 1 or so). dp-accounting does the work and is
loaded on the first call, which takes a second or two.
"""

from __future__ import annotations

import math

from libra.privacy.arguments import checked, checked_delta, checked_rate, checked_times

LARGEST_EXPONENT = 700.0
FINEST_INTERVAL = 1e-7
POINTS = 1000
POINTS_COMPOSED = 1_000_000
ROUNDING = 2e-13  # what the library's floats were seen to lose of a distribution's mass, for each release composed


def subsampled_laplace_epsilon(scale: float, rate: float, times: int, delta: float) -> float:
    """Epsilon at `delta` of `times` Laplace releases, each from a Poisson subsample of its own, for adding or removing one case.

    The loss of one release is put on a grid in such a way that it only grows ("connect the dots"), so the result stays an upper
    bound, and a little of delta is set aside for rounding. The grid has a thousand points for one release, and fewer where many
    are composed. Two bounds hold without any grid, and are taken where they are better or where the library's floats end: with
    probability at least 1 - rate * times the case is in no subsample at all, and no release loses more than
    ln(1 + rate (e^(1/scale) - 1)).

    Example:
        >>> from libra.privacy.loss_distribution import subsampled_laplace_epsilon
        >>> round(subsampled_laplace_epsilon(2, 0.05, times=20, delta=1e-4), 4)
        0.2996
    """
    scale = checked("scale", scale, lambda scale: 1e-300 <= scale <= 1e300, "above 0 (from 1e-300 to 1e300)")
    rate, times, delta = checked_rate(rate), checked_times(times), checked_delta(delta)
    if rate * times <= delta:
        return 0.0
    largest_loss = _largest_loss(1 / scale, rate)
    at_most = times * largest_loss
    if 1 / scale > LARGEST_EXPONENT or delta <= times * ROUNDING:
        return at_most
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    points = max(1, min(POINTS, POINTS_COMPOSED // times))
    interval = max(largest_loss / points, FINEST_INTERVAL)
    single = from_laplace_mechanism(scale, sensitivity=1, sampling_prob=rate, value_discretization_interval=interval)
    return min(float(single.self_compose(times).get_epsilon_for_delta(delta - times * ROUNDING)), at_most)


def _largest_loss(loss: float, rate: float) -> float:
    """ln(1 + rate (e^loss - 1)), also where e^loss is no float."""
    if loss <= LARGEST_EXPONENT:
        return math.log1p(rate * math.expm1(loss))
    return loss + math.log(rate + (1 - rate) * math.exp(-loss))
