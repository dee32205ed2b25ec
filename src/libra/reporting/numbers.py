"""How figures are written: counts, shares, numbers, durations and dates.

A figure that is missing or not finite is a dash; "0 %" and "100 %" are never roundings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime

MISSING = "–"  # noqa: RUF001  a dash where a figure would stand
MINUS = "−"  # noqa: RUF001  the sign, not a hyphen
HUGE = 1e15  # from which on digits are not spelled out
UNITS = (  # how long, one, several, up to where
    (1.0, "s", "s", 60.0),
    (60.0, "min", "min", 3600.0),
    (3600.0, "h", "h", 86400.0),
    (86400.0, "day", "days", 365 * 86400.0),
    (31557600.0, "year", "years", math.inf),
)


def count(n: float | None) -> str:
    """A whole number."""
    return _said(n, _whole)


def share(x: float | None) -> str:
    """A share of a whole, such as 3.8 %, or < 0.1 % where it would round to nothing."""
    return _said(x, _share)


def of_hundred(x: float) -> str:
    """How many of a hundred: a whole number that is 0 or 100 only where it is meant.

    Example:
        >>> of_hundred(0.321), of_hundred(0.0), of_hundred(0.001), of_hundred(0.998)
        ('32', '0', 'fewer than 1', 'more than 99')
    """
    if 0 < x < 0.01:
        return "fewer than 1"
    return "more than 99" if 0.99 < x < 1 else f"{100 * x:.0f}"


def signed_share(x: float | None) -> str:
    """A change as a share of what it was before."""
    if x is not None and 0 < abs(x) < 0.001:
        return "≈ 0 %"
    return ("+" if x is not None and x > 0 and math.isfinite(x) else "") + _said(x, lambda size: f"{_percent(size)} %")


def number(x: float | None) -> str:
    """Three significant digits, and whole numbers from a hundred on."""
    return _said(x, lambda size: _whole(size) if size >= 99.95 else f"{size:.3g}")


def duration(seconds: float | None) -> str:
    """A stretch of time, in the unit that suits it, such as 3.1 h."""
    return _said(seconds, _duration)


def date(moment: datetime) -> str:
    """The day of a moment, by its own clock."""
    return moment.date().isoformat()


def _said(x: float | None, said: Callable[[float], str]) -> str:
    """Sizes said by a function, with a true minus sign before what is below zero."""
    if x is None or not math.isfinite(x):
        return MISSING
    text = said(abs(x))
    return MINUS + text if x < 0 and text.strip("0.,% s") else text


def _whole(size: float) -> str:
    return f"{size:,.0f}" if size < HUGE else f"{size:.3g}"


def _share(size: float) -> str:
    if 0 < size < 0.001:
        return "< 0.1 %"
    if 0.9995 <= size < 1:
        return "> 99.9 %"
    return "> 100 %" if 1 < size < 1.005 else f"{_percent(size)} %"


def _percent(size: float) -> str:
    """Two digits below ten per cent, whole ones above, and none that rounds to a hundred."""
    percent = 100 * size
    if percent == 0 or percent >= 100:
        return _whole(percent)
    if percent >= 99.5:
        return f"{math.floor(percent * 10) / 10:.1f}"
    return f"{percent:.0f}" if percent >= 9.95 else f"{percent:.1f}" if percent >= 0.995 else f"{percent:.2f}"


def _duration(seconds: float) -> str:
    """In the first unit of which there are not too many; having passed the one before, there is at least one."""
    for length, one, many, end in UNITS:
        size = seconds / length
        value = max(float(f"{size:.2g}") if size < 100 else round(size), float(length > 1))
        if value * length < end:
            return f"{value:,g} {one if value == 1 else many}"
    raise AssertionError("years have no end")
