"""What a sample says about the truth behind it: bounds for a probability from hits, and for a mean from a few repetitions.

In: how often something happened in independent tries, or what independent repetitions gave. Out: bounds from below and above.
Those of Clopper and Pearson are exact: each is wrong with at most the probability asked for, whatever the truth is. The binomial
tail is integrated to about twelve digits, and the bounds are moved outwards by more than that. Those of Student for a mean take
it that what is repeated is about normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist, fmean, stdev

import numpy as np

from libra.errors import UsageError
from libra.measures.distances import Floats

NODES = 64
STEPS = 40  # of Newton's method; a handful do as a rule
LARGEST_LOG_ODDS = 700.0
NEGLIGIBLE = 45.0  # what is e^-45 of the largest is not added up
OUTWARDS = 1e-11  # of the odds: more than the arithmetic may be off by


def clopper_pearson(hits: int, n: int, mistaken: float) -> tuple[float, float]:
    """Bounds from below and above for the probability of something that happened `hits` times in `n` independent tries.

    Each bound on its own is wrong with probability at most `mistaken`, so both hold with probability 1 - 2 mistaken at least.

    Example:
        >>> lowest, highest = clopper_pearson(hits=7, n=10, mistaken=0.025)
        >>> f"{lowest:.4f} {highest:.4f}"
        '0.3475 0.9333'
        >>> clopper_pearson(hits=0, n=0, mistaken=0.025)
        (0.0, 1.0)
    """
    if not 0 <= hits <= n:
        raise UsageError(f"There cannot be {hits} hits in {n} tries.")
    if not 0 < mistaken <= 0.5:
        raise UsageError(f"The probability of a mistake is above 0 and at most a half, not {mistaken}.")
    lowest, _ = _least(hits, n, mistaken)
    _, highest = _least(n - hits, n, mistaken)
    return lowest, highest


def student(values: Sequence[float], mistaken: float) -> tuple[float, float]:
    """Bounds from below and above for the mean of what these values are independent repetitions of, each wrong with `mistaken`.

    Example:
        >>> lowest, highest = student([0.1, 0.2, 0.3], mistaken=0.025)
        >>> f"{lowest:.4f} {highest:.4f}"
        '-0.0484 0.4484'
    """
    if len(values) < 2:
        raise UsageError("One value alone says nothing about how much such values vary.")
    away = _student_quantile(len(values) - 1, mistaken) * stdev(values) / math.sqrt(len(values))
    return fmean(values) - away, fmean(values) + away


def _student_quantile(freedom: int, upper: float) -> float:
    """What Student's t exceeds with this probability, at most one half; by halving over the angle whose tangent it is, scaled."""
    nodes, weights = _legendre()
    size = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        rest = math.pi / 2 - angle
        tail = size * rest * float(np.sin(rest * nodes) ** (freedom - 1) @ weights)
        low, high = (angle, high) if tail > upper else (low, angle)
    return math.sqrt(freedom) * math.tan(high)


def _least(hits: int, n: int, mistaken: float) -> tuple[float, float]:
    """The smallest p for which `hits` or more in n tries have probability `mistaken`; and 1 - p, with all its digits.

    By Newton's method on the logarithm of that probability over the log-odds of p, which is concave and grows: from the first
    step on it stays below the solution and comes closer. Short steps are Halley's, which knows how the curve bends.
    """
    if hits == 0:
        return 0.0, 1.0
    a, b = hits, n - hits + 1
    choices = math.lgamma(n + 1) - math.lgamma(hits + 1) - math.lgamma(n - hits + 1)
    least = (math.log(mistaken) - choices) / hits - 1e-6  # a union bound over which tries are hits
    log_odds, spread = max(_guess(a, b, -NormalDist().inv_cdf(mistaken)), least), math.sqrt(1 / a + 1 / b)
    for _ in range(STEPS):
        p, q = _chances(log_odds)
        tail, slope = _log_tail(hits, n, p, q)
        step = (math.log(mistaken) - tail) / slope
        if abs(step) < spread:
            step /= 1 + step * (a * q - b * p - slope) / 2
        log_odds = max(log_odds + step, least)
        if abs(step) <= 1e-5 * spread:
            return _chances(log_odds - OUTWARDS)
    return _chances(_halved(hits, n, mistaken, least) - OUTWARDS)


def _halved(hits: int, n: int, mistaken: float, low: float) -> float:
    """The same log-odds by halving, from below: slower, and sure to end where Newton's steps go to and fro."""
    high = max(low, 0.0) + 1.0
    while _log_tail(hits, n, *_chances(high))[0] < math.log(mistaken) and high < LARGEST_LOG_ODDS:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_tail(hits, n, *_chances(middle))[0] < math.log(mistaken) else (low, middle)
    return low


def _chances(log_odds: float) -> tuple[float, float]:
    """A probability and its complement from their log-odds."""
    if log_odds > 0:
        other, one = _chances(-log_odds)
        return one, other
    odds = math.exp(log_odds)
    return odds / (1 + odds), 1 / (1 + odds)


def _guess(a: int, b: int, z: float) -> float:
    """The log-odds of a quantile of the beta distribution, nearly, from the normal one (Abramowitz and Stegun, 26.5.22)."""
    one, other = 1 / (2 * a - 1), 1 / (2 * b - 1)
    h = 2 / (one + other)
    lam = (z * z - 3) / 6
    w = z * math.sqrt(max(h + lam, 0.0)) / h - (other - one) * (lam + 5 / 6 - 2 / (3 * h))
    return math.log(a / b) - 2 * w


def _log_tail(hits: int, n: int, p: float, q: float) -> tuple[float, float]:
    """The logarithm of the probability of `hits` or more (one at least), and its slope over the log-odds of p = 1 - q.

    The probability is an integral over the density of a beta distribution, from 0 to p. The density falls from p on at least as
    fast as a parabola on a log scale says, so the integral can end where nothing is left.
    """
    bend = (hits - 1) / p / p
    fall = (hits - 1) / p - (n - hits) / q
    width = (math.sqrt(fall * fall + 2 * bend * NEGLIGIBLE) - fall) / bend if bend else p
    nodes, weights = _legendre()
    back = nodes * min(width, p)
    relative = np.exp((hits - 1) * np.log1p(-back / p) + (n - hits) * np.log1p(back / q))
    integral = float(relative @ weights) * min(width, p)
    return math.log(integral * hits / p) + _log_binomial(hits, n, p, q), q * p / integral


def _log_binomial(hits: int, n: int, p: float, q: float) -> float:
    """The logarithm of the probability of exactly `hits`, without large terms that cancel (Loader 2000)."""
    if hits == n:
        return n * math.log(p)
    off = (hits * q - (n - hits) * p) / n
    apart = hits * math.log1p(off / p) + (n - hits) * math.log1p(-off / q)
    sizes = math.log(n / (2 * math.pi * hits * (n - hits))) / 2
    return sizes + _beyond_stirling(n) - _beyond_stirling(hits) - _beyond_stirling(n - hits) - apart


def _beyond_stirling(k: int) -> float:
    """What the logarithm of k! is more than Stirling's formula says."""
    if k < 16:
        return math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - math.log(2 * math.pi) / 2
    square = 1 / (k * k)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - square / 1188) * square) * square) * square) / k


@cache
def _legendre() -> tuple[Floats, Floats]:
    """Where to look and what it weighs, to integrate over the unit interval."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2
