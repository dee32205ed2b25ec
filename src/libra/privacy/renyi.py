"""The paper's equations: Renyi differential privacy of Laplace noise on Poisson subsamples.

All of it is for one release of sensitivity 1 and for adding or removing one case. Every figure is an upper bound, finite and
never negative, for all orders up to 100,000: sums run over logarithms, and differences of nearly equal numbers are replaced by
sums of positive terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from libra._system.arguments import (
    LARGEST_ORDER,
    checked,
    checked_delta,
    checked_order,
    checked_rate,
    checked_scale,
    checked_times,
    checked_whole,
)
from libra._system.ordering import Floats

SERIES_BELOW = 0.5
SERIES_TERMS = 14
LARGEST_EXPONENT = 700.0
FINEST_INTERVAL = 1e-7
POINTS = 1000
POINTS_COMPOSED = 1_000_000
ROUNDING = 2e-13  # what the library's floats were seen to lose of a distribution's mass, for each release composed


@dataclass(frozen=True)
class BestOrder:
    """The order at which a Renyi curve says the most about (epsilon, delta), and what it says there."""

    order: int
    renyi_epsilon: float
    epsilon: float


def laplace_epsilon(order: float, scale: float) -> float:
    """Renyi epsilon of Laplace noise with sensitivity 1 (the paper's Eq. 2, Mironov 2017)."""
    return float(_laplace_epsilons(np.array([checked_order(order)]), checked_scale(scale))[0])


def subsampled_bound(order: float, scale: float, rate: float) -> float:
    """Renyi epsilon of one release from a Poisson subsample, by the bound for any mechanism (the paper's Eq. 3).

    It is Zhu and Wang's (2019). The paper's first term is a misprint; here it is (1 - rate)^(order - 1) (order rate - rate + 1).
    The figure is never above that of the release without subsampling, by quasi-convexity.
    """
    return _subsampled(order, scale, rate, factor=3.0)


def subsampled_laplace(order: float, scale: float, rate: float) -> float:
    """Renyi epsilon of one release from a Poisson subsample, for Laplace noise itself: the same sum without its factor 3.

    At whole orders it is exact for removing a case (the mixture against the release without the case). Adding one never costs
    more with noise such as Laplace's (Zhu and Wang 2019); the tests check that by integration.
    """
    return _subsampled(order, scale, rate, factor=1.0)


def compose(epsilon: float, times: int) -> float:
    """Renyi epsilon of several independent releases: at a fixed order they add up."""
    return _checked_epsilon(epsilon) * checked_times(times)


def to_epsilon(order: float, renyi_epsilon: float, delta: float, *, tight: bool = False) -> float:
    """The epsilon of (epsilon, delta) that a Renyi epsilon at one order implies.

    Mironov's conversion is the well-known one; the tight one is by Canonne, Kamath and Steinke (2020).
    """
    order, epsilon, delta = checked_order(order), _checked_epsilon(renyi_epsilon), checked_delta(delta)
    if not tight:
        return epsilon - math.log(delta) / (order - 1)
    return max(0.0, epsilon + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1))


def best_order(renyi: Callable[[int], float], delta: float, *, largest: int = 1000) -> BestOrder:
    """The whole order from 2 to `largest` whose tight conversion gives the smallest epsilon."""
    orders = range(2, checked_whole("largest", largest, 2, LARGEST_ORDER) + 1)
    curve = ((order, renyi(order)) for order in orders)
    converted = (BestOrder(order, epsilon, to_epsilon(order, epsilon, delta, tight=True)) for order, epsilon in curve)
    return min(converted, key=lambda best: best.epsilon)


def _checked_epsilon(value: float) -> float:
    return checked("a Renyi epsilon", value, lambda epsilon: epsilon >= 0, "not below 0")


def _laplace_epsilons(orders: Floats, scale: float) -> Floats:
    """Eq. 2 for many orders. Where the logarithm's argument is near 1, its linear terms are left out, since they cancel."""
    loss = 1 / scale
    exponent = (orders - 1) * loss
    near_one = orders * _exp_less_line(np.minimum(exponent, 1)) + (orders - 1) * _exp_less_line(-orders * loss)
    far = exponent + np.log(orders / (2 * orders - 1)) + np.log1p((orders - 1) / orders * np.exp(-(2 * orders - 1) * loss))
    moments = np.where(exponent < 1, np.log1p(near_one / (2 * orders - 1)), far)
    return np.clip(moments / (orders - 1), 0, loss)


def _exp_less_line(y: Floats) -> Floats:
    """e^y - 1 - y, which is never negative, by its series where the difference would cancel."""
    near = np.clip(y, -SERIES_BELOW, SERIES_BELOW)
    series = np.ones_like(near)
    for k in range(SERIES_TERMS, 2, -1):
        series = 1 + near * series / k
    return np.where(np.abs(y) < SERIES_BELOW, near * near / 2 * series, np.expm1(y) - y)


def _subsampled(order: float, scale: float, rate: float, *, factor: float) -> float:
    """The subsampled epsilon at any order: (order - 1) epsilon is convex in the order and 0 at 1, so a chord lies above it."""
    order, scale, rate = checked_order(order), checked_scale(scale), checked_rate(rate)
    unsampled = laplace_epsilon(order, scale)
    if rate in (0, 1):
        return rate * unsampled
    whole = math.floor(order)
    moment = _log_moment(whole, scale, rate, factor)
    if order > whole:
        moment += (order - whole) * (_log_moment(whole + 1, scale, rate, factor) - moment)
    return min(moment / (order - 1), unsampled)


def _log_moment(order: int, scale: float, rate: float, factor: float) -> float:
    """The logarithm in Eq. 3, where a case is sampled j of `order` times with binomial probability p_j.

    The p_j sum to 1, so the sum of p_j w_j e^((j-1) epsilon(j)) is 1 plus the sum over j >= 2 of p_j (w_j e^(...) - 1), and every
    term of that is positive. The factors w_j are 1 up to j = 2 and `factor` beyond.
    """
    sampled = np.arange(1.0, order + 1)
    log_binomials = np.cumsum(np.log((order + 1 - sampled) / sampled))
    log_probabilities = log_binomials + sampled * math.log(rate) + (order - sampled) * math.log1p(-rate)
    terms = log_probabilities[1:] + _log_gains(order.bit_length(), scale, factor)[: order - 1]
    return float(np.logaddexp(0.0, np.logaddexp.reduce(terms)))


@lru_cache(maxsize=64)
def _log_gains(bits: int, scale: float, factor: float) -> Floats:
    """ln(w_j e^((j-1) epsilon(j)) - 1) for all j from 2 to 2^bits, kept because every order up to there needs them."""
    sampled = np.arange(2.0, 2**bits + 1)
    growth = (sampled - 1) * _laplace_epsilons(sampled, scale) + np.where(sampled > 2, math.log(factor), 0.0)
    gains: Floats = growth + np.log(-np.expm1(-growth))
    gains.setflags(write=False)
    return gains


def subsampled_laplace_epsilon(scale: float, rate: float, times: int, delta: float) -> float:
    """Epsilon at `delta` of `times` Laplace releases, each from a Poisson subsample of its own, for adding or removing one case.

    The loss of one release is put on a grid in such a way that it only grows ("connect the dots"), so the result stays an upper
    bound, and a little of delta is set aside for rounding. Two bounds hold without any grid, and are taken where they are better
    or where the library's floats end: with probability at least 1 - rate * times the case is in no subsample at all, and no
    release loses more than ln(1 + rate (e^(1/scale) - 1)).
    """
    scale = checked("scale", scale, lambda scale: 1e-300 <= scale <= 1e300, "above 0 (from 1e-300 to 1e300)")
    rate, times, delta = checked_rate(rate), checked_times(times), checked_delta(delta)
    if rate * times <= delta:
        return 0.0
    largest_loss = _largest_loss(1 / scale, rate)
    at_most = times * largest_loss
    if 1 / scale > LARGEST_EXPONENT or delta <= times * ROUNDING:
        return at_most
    return min(_on_a_grid(scale, rate, times, delta, largest_loss), at_most)


@lru_cache(maxsize=100)
def _on_a_grid(scale: float, rate: float, times: int, delta: float, largest_loss: float) -> float:
    """The epsilon of all releases by the grid, kept because a certificate is checked by computing it again."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    points = max(1, min(POINTS, POINTS_COMPOSED // times))
    interval = max(largest_loss / points, FINEST_INTERVAL)
    single = from_laplace_mechanism(scale, sensitivity=1, sampling_prob=rate, value_discretization_interval=interval)
    return float(single.self_compose(times).get_epsilon_for_delta(delta - times * ROUNDING))


def _largest_loss(loss: float, rate: float) -> float:
    """ln(1 + rate (e^loss - 1)), also where e^loss is no float."""
    if loss <= LARGEST_EXPONENT:
        return math.log1p(rate * math.expm1(loss))
    return loss + math.log(rate + (1 - rate) * math.exp(-loss))
