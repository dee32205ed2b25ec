"""The normal distribution as noise needs it, and what Gaussian noise is worth: mu, epsilon and delta.

`upper_tail` and `upper_quantiles` are floats, good to 1e-14 of their value. `tail_bounds` gives two decimals that the true tail
lies between, as close together as one asks: with it a decision that floats cannot make is made exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from libra._system.arguments import checked, checked_delta
from libra._system.ordering import Floats

CENTRE = 0.425  # Wichura's split: quantiles of probabilities within this of one half come from the first approximation

# Wichura (1988), algorithm AS 241, PPND16: numerators and denominators from the highest power down. All coefficients and all
# arguments are positive, so nothing cancels in floats.
# fmt: off
_CENTRAL = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)
_MIDDLE = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)
# fmt: on
ROOT_TWO = math.sqrt(2)
LARGEST_EPSILON = 100.0
SMALLEST_EPSILON = 1e-6
LARGEST_MU = 1e3
BISECTIONS = 100
LARGEST_EXPONENT = 700.0  # a smaller exponent only makes delta larger
ROUNDING = 4e-16  # what each step in floats loses at most, relative


def upper_tail(x: float) -> float:
    """The probability that a standard normal number is above `x`."""
    return 0.5 * math.erfc(x / ROOT_TWO)


def upper_tails(points: Floats) -> Floats:
    """The same for many points at once, to the last bit."""
    tails = np.array(list(map(math.erfc, (points / ROOT_TWO).ravel().tolist())), np.float64)
    return 0.5 * tails.reshape(points.shape)


def upper_quantiles(tails: Floats, halves: Floats) -> Floats:
    """The points with these upper tails, from 1e-300 to one half; `halves` are one half minus the tails, without cancellation."""
    found = halves * _rational(_CENTRAL, CENTRE**2 - halves * halves)
    outside = np.flatnonzero(halves > CENTRE)
    if len(outside):
        root = np.sqrt(-np.log(tails[outside]))
        found[outside] = _rational(_MIDDLE, root - 1.6)
        far = np.flatnonzero(root > 5)
        if len(far):
            found[outside[far]] = _rational(_FAR, root[far] - 5)
    return found


def tail_bounds(x: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Two numbers that the upper tail at a positive `x` lies between, some 10^-digits apart.

    The tail is 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...). All terms are positive. With u = 10^(1-digits), the n-th has an error
    below 3 n u of itself, adding N of them loses N u at most, phi loses (x^2 + 10) u, and x itself, rounded, moves the tail by
    less than x u. What is left out of the series is less than its last term. All is at most 1/2, so the errors are absolute.
    """
    with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        unit = Decimal(10) ** (1 - digits)
        point = Decimal(x.numerator) / Decimal(x.denominator)
        square = point * point
        term = total = point
        n = 0
        while term > unit or square > n:
            n += 1
            term = term * square / (2 * n + 1)
            total += term
        inside = total * (-square / 2).exp() / (2 * _pi(digits)).sqrt()
        error = (5 * n + square + point + 30) * unit
        return Decimal("0.5") - inside - error, Decimal("0.5") - inside + error


def _rational(parts: tuple[tuple[float, ...], tuple[float, ...]], argument: Floats) -> Floats:
    numerator, denominator = (_polynomial(coefficients, argument) for coefficients in parts)
    numerator /= denominator
    return numerator


def _polynomial(coefficients: tuple[float, ...], argument: Floats) -> Floats:
    value = coefficients[0] * argument
    for coefficient in coefficients[1:-1]:
        value += coefficient
        value *= argument
    value += coefficients[-1]
    return value


@lru_cache(maxsize=16)
def _pi(digits: int) -> Decimal:
    """Pi to so many digits, by Machin's formula in whole numbers."""
    one = 10 ** (digits + 10)

    def arctangent(inverse: int) -> int:
        power: int = one // inverse
        total = power
        n, sign = 1, 1
        while power:
            power //= inverse * inverse
            n, sign = n + 2, -sign
            total += sign * (power // n)
        return total

    return Decimal(4 * (4 * arctangent(5) - arctangent(239))).scaleb(-digits - 10)


def delta_of(mu: float, epsilon: float) -> float:
    """The smallest delta with which mu-GDP is (epsilon, delta)-differential privacy; epsilon may be negative here."""
    if mu <= 0:
        return max(0.0, -math.expm1(min(epsilon, 0.0)))
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first, second = upper_tail(near), math.exp(min(epsilon, LARGEST_EXPONENT)) * upper_tail(far)
    rounding = ROUNDING * ((4 + near * near) * first + (4 + far * far + abs(epsilon)) * second)
    return min(1.0, max(0.0, first - second) + rounding)


def epsilon_of(mu: float, delta: float) -> float:
    """The smallest epsilon at which mu-GDP has this delta; 0 where that is enough."""
    delta = checked_delta(delta)
    return least(lambda epsilon: delta_of(mu, epsilon) <= delta, 0.0, mu * (mu / 2 + 40))


def mu_of(epsilon: float, delta: float) -> float:
    """The largest mu that is (epsilon, delta)-differentially private; never more than that."""
    epsilon, delta = checked_epsilon(epsilon), checked_delta(delta)
    return most(lambda mu: delta_of(mu, epsilon) <= delta, 0.0, LARGEST_MU)


def checked_epsilon(value: float, name: str = "epsilon") -> float:
    """The epsilon of an (epsilon, delta) statement."""
    bounds = f"above 0 (from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g})"
    return checked(name, value, lambda epsilon: SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON, bounds)


def least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest float from which a monotone condition holds; it holds there."""
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
    """The largest float up to which a monotone condition holds; it holds there."""
    return -least(lambda x: holds(-x), -high, -low)
