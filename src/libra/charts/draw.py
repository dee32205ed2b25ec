"""The few things all charts are drawn from: a frame, text, swatches, hairlines and bounds on how much may be drawn.

Out: fragments of markup that carry classes and places only, so that they obey a page which allows no style, script, link or id.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from libra.charts.scale import Scale
from libra.charts.text import shown, width, xml

FONT, SMALL = 12, 11  # pixels
ORIGINAL, ANONYMIZED = "original", "anonymized"
LEGEND_HEIGHT = 24
LONGEST_TICK = 24  # characters


def at(value: float) -> str:
    """A place on paper, to a tenth of a pixel.

    Example:
        >>> at(12.0), at(3.14159), at(float("nan"))
        ('12', '3.1', '0')
    """
    said = f"{value:.1f}".removesuffix(".0") if math.isfinite(value) else "0"
    return "0" if said == "-0" else said


def svg(wide: float, tall: float, told: str, parts: Iterable[str]) -> str:
    """A whole fragment: its size, what it shows in words, and what is in it.

    Example:
        >>> svg(20, 10, "Nothing", [])
        '<svg class="lc" viewBox="0 0 20 10" width="20" height="10" role="img" aria-label="Nothing"></svg>'
    """
    size = f'viewBox="0 0 {at(wide)} {at(tall)}" width="{at(wide)}" height="{at(tall)}"'
    return f'<svg class="lc" {size} role="img" aria-label="{xml(told)}">{"".join(parts)}</svg>'


def text(x: float, y: float, said: str, *looks: str) -> str:
    """Text on its base line; looks are names of classes without their prefix.

    Example:
        >>> text(4, 10, "a < b", "faint", "end")
        '<text class="lc-faint lc-end" x="4" y="10">a &lt; b</text>'
    """
    named = f' class="{" ".join(f"lc-{look}" for look in looks)}"' if looks else ""
    return f'<text{named} x="{at(x)}" y="{at(y)}">{xml(said)}</text>'


def path(way: str, *looks: str, title: str = "") -> str:
    """A line or an area, with words that show when one points at it.

    Example:
        >>> path("M0 0H9", "grid")
        '<path class="lc-grid" d="M0 0H9"/>'
    """
    named = f'<path class="{" ".join(f"lc-{look}" for look in looks)}" d="{way}"'
    return f"{named}><title>{xml(title)}</title></path>" if title else f"{named}/>"


def box(x: float, y: float, wide: float, tall: float, *looks: str, title: str = "") -> str:
    """A rectangle, with words that show when one points at it.

    Example:
        >>> box(0, 0, 4, 3, "bar", title="12 cases")
        '<rect class="lc-bar" x="0" y="0" width="4" height="3"><title>12 cases</title></rect>'
    """
    said = f"<title>{xml(title)}</title>" if title else ""
    size = f'x="{at(x)}" y="{at(y)}" width="{at(max(wide, 0))}" height="{at(max(tall, 0))}"'
    return f'<rect class="{" ".join(f"lc-{look}" for look in looks)}" {size}>{said}</rect>'


def sound(value: float) -> float:
    """A figure as it can be drawn: 0 where it is below, or no finite number.

    Example:
        >>> sound(2.5), sound(-1.0), sound(float("nan"))
        (2.5, 0.0, 0.0)
    """
    return max(value, 0.0) if math.isfinite(value) else 0.0


def at_most(found: int, most: int, what: str) -> None:
    """Refuse more than a chart can show: whoever calls it decides what to leave out.

    Example:
        >>> at_most(3, 2, "names")
        Traceback (most recent call last):
        ValueError: A chart shows at most 2 names, and these are 3: leave some out.
    """
    if found > most:
        raise ValueError(f"A chart shows at most {most:,} {what}, and these are {found:,}: leave some out.")


def legend(x: float, right: float, unit: str, *, both: bool, line: bool = False) -> list[str]:
    """The first line of a chart: what outline and filling stand for, and what is counted, if there is room."""
    parts: list[str] = []
    for name in (ORIGINAL, ANONYMIZED) if both else ():
        parts.append(path(f"M{at(x)} 7h16", name, "line") if line else box(x + 0.5, 2.5, 12, 9, name, "bar"))
        parts.append(text(x + 21, 11, name, "small"))
        x += 21 + width(name) * SMALL + 18
    if x + width(unit) * SMALL <= right:
        parts.append(text(right, 11, unit, "faint", "small", "end"))
    return parts


def grid(scale: Scale, left: float, right: float, said: Callable[[float], str]) -> list[str]:
    """Level hairlines at the ticks of a scale, with their figures to the left."""
    lines = path("".join(f"M{at(left)} {at(scale(tick))}H{at(right)}" for tick in scale.ticks), "grid")
    return [lines, *(text(left - 6, scale(tick) + 4, said(tick), "faint", "small", "end") for tick in scale.ticks)]


def ticks(places: Iterable[tuple[float, str]], y: float, wide: float) -> list[str]:
    """Marks below a level axis with their words; words stay on the paper, and those that would run into others are left out.

    Example:
        >>> [part[:5] for part in ticks([(50, "2013"), (52, "2014"), (90, "2015")], 100, 100)]
        ['<path', '<text', '<path', '<path', '<text']
    """
    parts, free = [], 0.0
    for x, label in places:
        said = shown(label, LONGEST_TICK)
        half = width(said) * SMALL / 2
        middle = min(max(x, half + 1), wide - half - 1)
        parts.append(path(f"M{at(x)} {at(y)}v4", "axis"))
        if middle - half >= free:
            parts.append(text(middle, y + 17, said, "faint", "small", "middle", "label"))
            free = middle + half + 6
    return parts


def both_of(original: str | None, anonymized: str) -> str:
    """Two figures in words, or the one there is."""
    return anonymized if original is None else f"{ORIGINAL} {original}, {ANONYMIZED} {anonymized}"
