"""What charts and process maps are drawn with: colours, style sheets, scales, text, lines and marks.

Fragments of SVG carry classes and places only, no style, script, link or id. Text has a contrast of at least 4.5 to 1, marks of
at least 3 to 1. Colour never stands alone: the original is an outline, what increased or decreased carries a triangle, what only
one log has is dashed. Maps show mean durations where an ancestor has the class `lm-show-duration`, or where a box
`lm-by-duration` is checked within `lm-views`; otherwise they show counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

from libra.reporting.text import xml

SERIES = 10  # colours for the curves of a comparison
FILLS = 5  # depths of the fill of a box, from the rarest activity to the most frequent
FONT, SMALL = 12, 11  # pixels
FAR_APART = 30  # ratio of the largest to the smallest figure from which a scale is logarithmic
FARTHEST = 1e6  # what is smaller yet is put at the end
NOTHING = 1e-300  # not worth a scale
ROOM = 16  # that a tick of a logarithm needs
STEPS = ((1, 2, 5), (1, 3), (1,))  # of a decade, the finest first
DASHES = ("", "7 4", "2 3", "9 3 2 3")
LEVEL = "14 6"  # dashes of what does not depend on epsilon
MARKS = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4 -4h8v8h-8z", "M0 -5l5 9h-10z", "M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z")


def resource(name: str) -> str:
    """A file among the templates of this package."""
    return (files("libra.reporting") / "templates" / name).read_text(encoding="utf-8")


def palette(selector: str = ":root") -> str:
    """The custom properties of all colours on a selector, for light ground, and for dark ground on screens."""
    return "".join(resource("palette.css").splitlines()).replace(":root", selector) + "\n"


PALETTE, STYLE, MAP_STYLE = palette(), resource("charts.css"), resource("maps.css")


@dataclass(frozen=True)
class Chart:
    """A caption (plain text), an image (safe markup), the figures as text, and a line below (plain text)."""

    title: str
    svg: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Scale:
    """A function from figures to places; figures beyond the ends are put at the ends."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    ticks: tuple[float, ...] = ()

    def __call__(self, value: float) -> float:
        """The place of a figure."""
        value = min(max(value, self.low), self.high)
        low, high, at = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return self.begin + (self.end - self.begin) * ((at - low) / (high - low) if high > low else 0.5)


def scale_of(values: Sequence[float], begin: float, end: float, *, log: bool | None = None, ticks: int = 5) -> Scale:
    """A scale for figures of 0 or above, from `begin` to `end`; figures that are not finite are ignored.

    With `log` it is logarithmic and has no ticks; without, that is chosen by how far apart the figures are, unless it is False.
    """
    finite = [value for value in values if math.isfinite(value)]
    largest, smallest = max(finite, default=1.0), min(finite, default=0.0)
    if log:
        return Scale(smallest, largest, begin, end, log=True)
    if log is None and smallest > 0 and largest / smallest > FAR_APART:
        marks = _decades(max(smallest, largest / FARTHEST), largest, abs(end - begin))
        return Scale(marks[0], marks[-1], begin, end, log=True, ticks=marks)
    top = largest if largest > NOTHING else 1.0
    power = 10.0 ** math.floor(math.log10(top / ticks))
    step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= top / ticks * (1 - 1e-9))
    marks = tuple(step * place for place in range(math.ceil(top / step - 1e-9) + 1))
    return Scale(0.0, marks[-1], begin, end, ticks=marks)


def _decades(smallest: float, largest: float, length: float) -> tuple[float, ...]:
    """Round figures from below the smallest to above the largest, as many as there is room for."""
    exponents = range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1)
    ticks: tuple[float, ...] = ()
    for steps in STEPS:
        every = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
        first = max((place for place, tick in enumerate(every) if tick <= smallest), default=0)
        last = next((place for place, tick in enumerate(every) if tick >= largest), len(every) - 1)
        ticks = tuple(every[first : last + 1])
        nearest = min(math.log(after / before) for before, after in pairwise(ticks))
        if length * nearest / math.log(ticks[-1] / ticks[0]) >= ROOM:
            break
    return ticks


def at(value: float) -> str:
    """A place on paper, to a tenth of a pixel; 0 for what is no finite number."""
    said = f"{value:.1f}".removesuffix(".0") if math.isfinite(value) else "0"
    return "0" if said == "-0" else said


def sound(value: float) -> float:
    """A figure as it can be drawn: 0 where it is below, or no finite number."""
    return max(value, 0.0) if math.isfinite(value) else 0.0


def svg(wide: float, tall: float, told: str, parts: Iterable[str]) -> str:
    """A whole fragment: its size, what it shows in words, and what is in it."""
    size = f'viewBox="0 0 {at(wide)} {at(tall)}" width="{at(wide)}" height="{at(tall)}"'
    return f'<svg class="lc" {size} role="img" aria-label="{xml(told)}">{"".join(parts)}</svg>'


def text(x: float, y: float, said: str, *looks: str) -> str:
    """Text on its base line; looks are names of classes without their prefix.

    Example:
        >>> text(4, 10, "a < b", "faint", "end")
        '<text class="lc-faint lc-end" x="4" y="10">a &lt; b</text>'
    """
    named = f' class="{_classes(looks)}"' if looks else ""
    return f'<text{named} x="{at(x)}" y="{at(y)}">{xml(said)}</text>'


def path(way: str, *looks: str, title: str = "") -> str:
    """A line or an area, with words that show when one points at it."""
    named = f'<path class="{_classes(looks)}" d="{way}"'
    return f"{named}><title>{xml(title)}</title></path>" if title else f"{named}/>"


def box(x: float, y: float, wide: float, tall: float, *looks: str, title: str = "") -> str:
    """A rectangle, with words that show when one points at it."""
    said = f"<title>{xml(title)}</title>" if title else ""
    size = f'x="{at(x)}" y="{at(y)}" width="{at(max(wide, 0))}" height="{at(max(tall, 0))}"'
    return f'<rect class="{_classes(looks)}" {size}>{said}</rect>'


def _classes(looks: Iterable[str]) -> str:
    return " ".join(f"lc-{look}" for look in looks)


def grid_lines(scale: Scale, left: float, right: float, said: Callable[[float], str]) -> list[str]:
    """Level hairlines at the ticks of a scale, with their figures to the left."""
    lines = path("".join(f"M{at(left)} {at(scale(tick))}H{at(right)}" for tick in scale.ticks), "grid")
    return [lines, *(text(left - 6, scale(tick) + 4, said(tick), "faint", "small", "end") for tick in scale.ticks)]


def dashed(look: int, is_level: bool) -> str:
    """The attribute that makes a curve dashed, if it is."""
    kind = LEVEL if is_level else DASHES[look // len(MARKS) % len(DASHES)]
    return f' stroke-dasharray="{kind}"' if kind else ""


def mark(look: int, x: float, y: float, paint: str = "") -> str:
    """The mark of a curve at a place."""
    return f'<path transform="translate({at(x)} {at(y)})"{paint} d="{MARKS[look % len(MARKS)]}"/>'
