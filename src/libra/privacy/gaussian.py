"""Gaussian differential privacy in closed form: what mu-GDP means in (epsilon, delta), and back.

A release with L2 sensitivity D and Gaussian noise of standard deviation s is mu-GDP with mu = D / s; releases one after the other
add up their mu^2. The promise: `delta_of` is never below the true figure and within 1e-7 of it (relative, down to 1e-15), and
what `epsilon_of` and `mu_of` give back satisfies it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from libra.privacy.arguments import checked, checked_delta
from libra.privacy.normal import upper_tail

LARGEST_EPSILON = 100.0
SMALLEST_EPSILON = 1e-6
LARGEST_MU = 1e3
BISECTIONS = 100
LARGEST_EXPONENT = 700.0  # a smaller exponent only makes delta larger
ROUNDING = 4e-16  # what each step in floats loses at most, relative


def delta_of(mu: float, epsilon: float) -> float:
    """The smallest delta with which mu-GDP is (epsilon, delta)-differential privacy; epsilon may be negative here.

    Example:
        >>> f"{delta_of(1 / 3.19, 1.0):.1e}"
        '9.8e-05'
    """
    if mu <= 0:
        return max(0.0, -math.expm1(min(epsilon, 0.0)))
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first, second = upper_tail(near), math.exp(min(epsilon, LARGEST_EXPONENT)) * upper_tail(far)
    rounding = ROUNDING * ((4 + near * near) * first + (4 + far * far + abs(epsilon)) * second)
    return min(1.0, max(0.0, first - second) + rounding)


def epsilon_of(mu: float, delta: float) -> float:
    """The smallest epsilon at which mu-GDP has this delta; 0 where that is enough.

    Example:
        >>> round(epsilon_of(1 / 3.19, 1e-4), 2)
        1.0
    """
    delta = checked_delta(delta)
    return least(lambda epsilon: delta_of(mu, epsilon) <= delta, 0.0, mu * (mu / 2 + 40))


def mu_of(epsilon: float, delta: float) -> float:
    """The largest mu that is (epsilon, delta)-differentially private; never more than that.

    Example:
        >>> [round(1 / mu_of(epsilon, 1e-4), 2) for epsilon in (0.1, 0.5, 1, 2, 5)]
        [24.51, 5.89, 3.19, 1.73, 0.8]
    """
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    return most(lambda mu: delta_of(mu, epsilon) <= delta, 0.0, LARGEST_MU)


def checked_epsilon(value: float, name: str = "epsilon") -> float:
    """The epsilon of an (epsilon, delta) statement.

    Example:
        >>> checked_epsilon(0)
        Traceback (most recent call last):
        libra.errors.UsageError: epsilon has to be a number above 0 (from 1e-06 to 100), not 0.
    """
    bounds = f"above 0 (from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g})"
    return checked(name, value, lambda epsilon: SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON, bounds)


def least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest float from which a monotone condition holds; it holds there.

    Example:
        >>> round(least(lambda x: x * x >= 2, 0, 10), 6)
        1.414214
    """
    if holds(low):
        return low
    if not holds(high):
        raise ValueError(f"the condition does not hold at {high}")
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def most(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest float up to which a monotone condition holds; it holds there.

    Example:
        >>> round(most(lambda x: x * x <= 2, 0, 10), 6)
        1.414214
    """
    return -least(lambda x: holds(-x), -high, -low)
