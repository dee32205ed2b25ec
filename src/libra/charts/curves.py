"""Curves of a comparison, small enough to stand in a row: one line a mechanism, a mark at each point, a bar for its spread.

What has no place on the axis below, since it fixes its privacy itself, is a level line. Names stand in a legend that all share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import FONT, at, at_most, grid, path, svg, text
from libra.charts.marks import LEVEL, colour, dashes, mark
from libra.charts.scale import Scale, scale_of
from libra.charts.text import shown, width, wrapped, xml

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 240, 52, 12, 24, 40
MOST_CURVES, MOST_POINTS = 40, 40
ENTRY = 36  # what the mark of a legend takes
LEVEL_NAME = "as set"
PAINT = ' fill="currentColor" stroke="none"'
SCALES = {
    (False, False): "",
    (True, False): " (log scale)",
    (False, True): " (height: log scale)",
    (True, True): " (both scales are logarithmic)",
}


@dataclass(frozen=True)
class Curve:
    """A name, points (x, or none if it is level; y; spread, if there is one), and which look it has in all charts."""

    name: str
    points: tuple[tuple[float | None, float, float | None], ...]
    look: int

    @property
    def is_level(self) -> bool:
        """Whether it has no place on the axis below."""
        return any(x is None for x, _, _ in self.points)

    @property
    def called(self) -> str:
        """Its name for people, and that it is level."""
        return shown(self.name) + (f", {LEVEL_NAME}" if self.is_level else "")

    @property
    def dashed(self) -> str:
        """The attribute that makes its line dashed, if it is."""
        kind = LEVEL if self.is_level else dashes(self.look)
        return f' stroke-dasharray="{kind}"' if kind else ""

    @property
    def drawn(self) -> list[tuple[float | None, float, float | None]]:
        """The points that have a place."""
        return [point for point in self.points if math.isfinite(point[1]) and (point[0] is None or math.isfinite(point[0]))]


def curves(
    title: str,
    lines: Sequence[Curve],
    *,
    x_ticks: Sequence[float],
    x_name: str = "epsilon",
    y_name: str,
    log_x: bool = True,
    reference: tuple[str, float] | None = None,
) -> Chart:
    """One chart, of at most forty curves.

    Args:
        title: The caption.
        lines: The curves.
        x_ticks: The figures to mark below.
        x_name: What they are.
        y_name: What the height is.
        log_x: Whether the axis below goes by logarithm.
        reference: A name and a figure to draw as a level hairline.

    Example:
        >>> line = Curve("libra", ((1.0, 0.04, 0.01), (2.0, 0.03, None)), look=0)
        >>> curves("sepsis", [line], x_ticks=[1.0, 2.0], y_name="dfg_l1", reference=("empty log", 1.0)).rows
        (('libra', '0.04 ± 0.01', '0.03'), ('empty log', '1', '1'))
    """
    at_most(len(lines), MOST_CURVES, "curves")
    at_most(max((len(line.points) for line in lines), default=0), MOST_POINTS, "points of a curve")
    points = [point for line in lines for point in line.drawn]
    heights = [y + (spread or 0) for _, y, spread in points] + [y for _, y, _ in points]
    heights += [reference[1]] if reference is not None and math.isfinite(reference[1]) else []
    places = [*x_ticks, *(x for x, _, _ in points if x is not None)]
    up = scale_of(heights, HEIGHT - BOTTOM, TOP, ticks=4)
    across = _across(places, log=log_x)
    right = WIDTH - RIGHT
    parts = [text(2, 11, y_name, "faint", "small"), *grid(up, LEFT, right, numbers.number)]
    parts.append(path(f"M{LEFT} {HEIGHT - BOTTOM}H{right}", "axis"))
    for tick in x_ticks:
        parts.append(path(f"M{at(across(tick))} {HEIGHT - BOTTOM}v4", "axis"))
        parts.append(text(across(tick), HEIGHT - BOTTOM + 16, f"{tick:g}", "faint", "small", "middle"))
    said = f"{x_name}{SCALES[across.log, up.log]}"
    parts.append(text((LEFT + right) / 2, HEIGHT - 6, said, "faint", "small", "middle"))
    if reference is not None and math.isfinite(reference[1]):
        y, about = up(reference[1]), f"{reference[0]}: {numbers.number(reference[1])}"
        parts.append(path(f"M{LEFT} {at(y)}H{right}", "reference", title=about))
        parts.append(text(right, y - 4 if y > TOP + 8 else y + 12, reference[0], "faint", "small", "end"))
    parts += [part for line in lines for part in _curve(line, across, up)]
    told = f"{title}: {y_name} against {x_name} for {', '.join(line.called for line in lines) or 'nothing'}."
    return Chart(
        title, svg(WIDTH, HEIGHT, told, parts), ("", *(f"{tick:g}" for tick in x_ticks)), _table(lines, x_ticks, reference)
    )


def legend(lines: Sequence[Curve]) -> list[str]:
    """The names of curves with their marks and dashes, each a fragment of its own, so that they flow like words.

    Example:
        >>> [svg.count("<text") for svg in legend([Curve("libra", (), look=0), Curve("travas", (), look=1)])]
        [1, 1]
    """
    at_most(len(lines), MOST_CURVES, "curves")
    found = []
    for line in lines:
        (said,) = wrapped(line.called, (WIDTH - ENTRY) / FONT, 1)
        drawn = f'<path{line.dashed} stroke="currentColor" stroke-width="2" fill="none" d="M0 10h28"/>'
        sign = f'<g class="{colour(line.look)}">{drawn}{mark(line.look, 14, 10, PAINT)}</g>'
        parts = [sign, text(ENTRY, 14, said, "label")]
        found.append(svg(ENTRY + width(said) * FONT, 20, f"Legend: {line.called}", parts))
    return found


def _across(places: Sequence[float], *, log: bool) -> Scale:
    usable = [place for place in places if math.isfinite(place) and (place > 0 or not log)]
    if log:
        return scale_of(usable or [1.0], LEFT + 16, WIDTH - RIGHT - 16, log=True)
    return Scale(min(usable, default=0.0), max(usable, default=1.0), LEFT + 16, WIDTH - RIGHT - 16, log=False, ticks=())


def _curve(line: Curve, across: Scale, up: Scale) -> list[str]:
    drawn = line.drawn
    if not drawn:
        return []
    places = [(WIDTH - RIGHT - 6 if x is None else across(x), up(y), up(y - (s or 0)), up(y + (s or 0)), s) for x, y, s in drawn]
    way = f"{LEFT} {at(places[0][1])}H{WIDTH - RIGHT}" if line.is_level else "L".join(f"{at(x)} {at(y)}" for x, y, *_ in places)
    looks = f'class="{colour(line.look)}" fill="none" stroke="currentColor" stroke-width="1.75"'
    parts = [f'<g {looks}><path{line.dashed} d="M{way}"/>']
    parts += [
        f'<path stroke-width="1" d="M{at(x)} {at(low)}V{at(high)}m-3 0h6m-3 0V{at(low)}m-3 0h6"/>'
        for x, _, low, high, spread in places
        if spread
    ]
    for (x, y, *_), (of, value, spread) in zip(places, drawn, strict=True):
        about = f"{line.called}{'' if of is None else f', {of:g}'}: {_figure(value, spread)}"
        shape = mark(line.look, x, y, PAINT)
        parts.append(shape.replace("/>", f"><title>{xml(about)}</title></path>"))
    return [*parts, "</g>"]


def _figure(value: float, spread: float | None) -> str:
    return numbers.number(value) + (f" ± {numbers.number(spread)}" if spread else "")


def _table(lines: Sequence[Curve], x_ticks: Sequence[float], reference: tuple[str, float] | None) -> tuple[tuple[str, ...], ...]:
    rows = []
    for line in lines:
        found = {x: _figure(y, spread) for x, y, spread in line.drawn}
        level = found.get(None, numbers.MISSING)
        rows.append((line.called, *(found.get(tick, level) for tick in x_ticks)))
    return tuple(rows) + (((reference[0], *(numbers.number(reference[1]) for _ in x_ticks)),) if reference is not None else ())
