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
    """A share of a whole.

    Example:
        >>> share(0.0384), share(0.384), share(0.0005), share(0.0), share(0.9997), share(1.0), share(1.37)
        ('3.8 %', '38 %', '< 0.1 %', '0 %', '> 99.9 %', '100 %', '137 %')
    """

    def said(size: float) -> str:
        if 0 < size < 0.001:
            return "< 0.1 %"
        if 0.9995 <= size < 1:
            return "> 99.9 %"
        return "> 100 %" if 1 < size < 1.005 else f"{_percent(size)} %"

    return _said(x, said)


def signed_share(x: float | None) -> str:
    """A change as a share of what it was before."""
    if x is not None and 0 < abs(x) < 0.001:
        return "≈ 0 %"
    return ("+" if x is not None and x > 0 and math.isfinite(x) else "") + _said(x, lambda size: f"{_percent(size)} %")


def number(x: float | None) -> str:
    """Three significant digits, and whole numbers from a hundred on."""

    def said(size: float) -> str:
        return _whole(size) if size >= 99.95 else f"{size:.3g}"

    return _said(x, said)


def duration(seconds: float | None) -> str:
    """A stretch of time, in the unit that suits it.

    Example:
        >>> duration(35), duration(252), duration(11160), duration(216000), duration(5.7e7), duration(-90), duration(0.25)
        ('35 s', '4.2 min', '3.1 h', '2.5 days', '1.8 years', '−1.5 min', '0.25 s')
    """  # noqa: RUF002  the minus sign
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
    sizes = [seconds / length for length, *_ in UNITS]
    rounded = [max(float(f"{size:.2g}") if size < 100 else round(size), float(place > 0)) for place, size in enumerate(sizes)]
    value, one, many = next(
        (value, one, many) for value, (length, one, many, end) in zip(rounded, UNITS, strict=True) if value * length < end
    )
    return f"{value:,g} {one if value == 1 else many}"
