"""Checks of the numbers that come into the accounting: in goes a name and a value, out comes the value or a `UsageError`.

What passes is a finite number within its bounds. NaN, infinities, booleans and text never pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real

from libra.errors import UsageError

LARGEST_ORDER = 100_000
LARGEST_TIMES = 1_000_000


def checked(name: str, value: float, within: Callable[[float], bool], bounds: str) -> float:
    """The value as a float if it is a finite number within the bounds; `bounds` says in words what `within` tests.

    Example:
        >>> checked("b", 2, lambda b: b > 0, "above 0")
        2.0
        >>> checked("b", 0, lambda b: b > 0, "above 0")
        Traceback (most recent call last):
        libra.errors.UsageError: b has to be a number above 0, not 0.
    """
    number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not (number and within(float(value))):
        raise UsageError(f"{name} has to be a number {bounds}, not {value!r}.")
    return float(value)


def checked_whole(name: str, value: int, least: int, most: int) -> int:
    """The value as an int if it is a whole number within the bounds; 3.0 is not, and neither is True."""
    if not (isinstance(value, Integral) and not isinstance(value, bool) and least <= value <= most):
        said = repr(value)
        shown = said if len(said) <= 40 else f"{said[:40]}…"
        raise UsageError(f"{name} has to be a whole number from {least:,} to {most:,}, not {shown}.")
    return int(value)


def checked_order(value: float, name: str = "order") -> float:
    """The order of a Renyi divergence; its limit keeps the sums over all lower orders small."""
    return checked(name, value, lambda order: 1 < order <= LARGEST_ORDER, f"above 1 and at most {LARGEST_ORDER:,}")


def checked_scale(value: float, name: str = "scale") -> float:
    """The scale of Laplace noise; its limits keep squares and exponents within what a float holds."""
    return checked(name, value, lambda scale: 1e-100 <= scale <= 1e100, "above 0 (from 1e-100 to 1e100)")


def checked_rate(value: float, name: str = "rate") -> float:
    """The probability with which a case is in a subsample."""
    return checked(name, value, lambda rate: 0 <= rate <= 1, "from 0 to 1")


def checked_delta(value: float, name: str = "delta", below: float = 1) -> float:
    """The delta of an (epsilon, delta) statement."""
    return checked(name, value, lambda delta: 0 < delta < below, f"above 0 and below {below:g}")


def delta_of_guarantee(value: float) -> float:
    """The delta of a guarantee that somebody asks for: from 0.5 on it would promise next to nothing."""
    return checked_delta(value, below=0.5)


def checked_times(value: int, name: str = "times") -> int:
    """How many releases are composed."""
    return checked_whole(name, value, 1, LARGEST_TIMES)
