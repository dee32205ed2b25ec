"""Measures against epsilon, one curve a setting: small charts for a page, and an SVG image for a file.

Colours, marks and dashes tell curves apart, and a bar shows the spread over the seeds. A setting that fixes its privacy itself is
a level line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from libra.comparison.comparison import MEASURES, Comparison
from libra.comparison.setting import Setting
from libra.errors import UsageError
from libra.reporting.comparison_tables import AS_SET, EMPTY_LOG
from libra.reporting.drawing import FONT, TICKS, Chart, Scale, at, at_most, colour, dashed, grid, mark, path, scale_of, svg, text
from libra.reporting.numbers import MISSING, number
from libra.reporting.style import SERIES
from libra.reporting.text import shown, width, wrapped, xml

Point = tuple[float | None, float, float | None]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 240, 52, 348, 24, 200  # of a chart: its size, and the edges of what is drawn
MOST_CURVES, MOST_POINTS = 40, 40
ENTRY = 36  # what the mark of a legend takes
PAINT = ' fill="currentColor" stroke="none"'
IMAGE_WIDTH, IMAGE_LEFT, IMAGE_RIGHT, IMAGE_TOP, LEAST_HEIGHT, BELOW = 820, 76, 496, 62, 260, 64
LABEL_HEIGHT, LONGEST_LABEL = 17, 32  # from one name to the next, and characters of a line
NAMES = IMAGE_RIGHT + 46
CONFIDENTIAL = "confidential unless the log is public"
IMAGE_STYLE = (
    ".ground{fill:#fbfaf7}.text{fill:#2b3a42}.faint{fill:#5a6b73}.grid{stroke:#d9dedb}.axis{stroke:#8a979d}"
    ".empty{stroke:#5a6b73}%s"
    "@media (prefers-color-scheme:dark){.ground{fill:#1b2226}.text{fill:#e6ebee}.faint{fill:#a9b6bd}.grid{stroke:#39444a}"
    ".axis{stroke:#6b7a82}.empty{stroke:#a9b6bd}%s}"
)


@dataclass(frozen=True)
class Curve:
    """A name, points (epsilon, or none if it is level; the figure; its spread, if there is one), and its look in all charts."""

    name: str
    points: tuple[Point, ...]
    look: int

    @property
    def is_level(self) -> bool:
        """Whether it does not depend on epsilon."""
        return any(epsilon is None for epsilon, _, _ in self.points)

    @property
    def called(self) -> str:
        """Its name for people, and that it is level."""
        return shown(self.name) + (f", {AS_SET}" if self.is_level else "")

    @property
    def drawn(self) -> list[Point]:
        """The points that have a place."""
        return [point for point in self.points if math.isfinite(point[1]) and (point[0] is None or math.isfinite(point[0]))]


def curves_of(comparison: Comparison, log: str, measure: str) -> list[tuple[Setting, Curve]]:
    """The curve of each setting that has a figure, from the smallest epsilon to the largest."""
    settings: dict[str, Setting] = {}
    points: dict[str, list[Point]] = {}
    for row in comparison.rows(log):
        found = row.measure(measure)
        if found is not None:
            settings[row.setting.label] = row.setting
            points.setdefault(row.setting.label, []).append((row.epsilon, found.mean, found.spread))
    ordered = {label: tuple(sorted(of, key=lambda point: point[0] or 0)) for label, of in points.items()}
    return [(settings[label], Curve(label, of, look)) for look, (label, of) in enumerate(ordered.items())]


def curves(
    title: str, lines: Sequence[Curve], *, x_ticks: Sequence[float], y_name: str, reference: tuple[str, float] | None = None
) -> Chart:
    """A small chart of at most forty curves; `reference` is a name and a figure to draw as a level hairline.

    Example:
        >>> line = Curve("libra", ((1.0, 0.04, 0.01), (2.0, 0.03, None)), look=0)
        >>> curves("sepsis", [line], x_ticks=[1.0, 2.0], y_name="dfg_l1", reference=("empty log", 1.0)).rows
        (('libra', '0.04 ± 0.01', '0.03'), ('empty log', '1', '1'))
    """
    at_most(len(lines), MOST_CURVES, "curves")
    at_most(max((len(line.points) for line in lines), default=0), MOST_POINTS, "points of a curve")
    level = None if reference is None or not math.isfinite(reference[1]) else reference[1]
    up = _height(lines, level, BOTTOM, TOP, ticks=4)
    places = [*x_ticks, *(epsilon for line in lines for epsilon, _, _ in line.drawn if epsilon is not None)]
    across = scale_of([place for place in places if math.isfinite(place) and place > 0] or [1.0], LEFT + 16, RIGHT - 16, log=True)
    parts = [text(2, 11, y_name, "faint", "small"), *grid(up, LEFT, RIGHT, number), path(f"M{LEFT} {BOTTOM}H{RIGHT}", "axis")]
    for tick in x_ticks:
        parts.append(path(f"M{at(across(tick))} {BOTTOM}v4", "axis"))
        parts.append(text(across(tick), BOTTOM + 16, f"{tick:g}", "faint", "small", "middle"))
    parts.append(text((LEFT + RIGHT) / 2, HEIGHT - 6, f"epsilon ({_scales(up)})", "faint", "small", "middle"))
    if reference is not None and level is not None:
        y = up(level)
        parts.append(path(f"M{LEFT} {at(y)}H{RIGHT}", "reference", title=f"{reference[0]}: {number(level)}"))
        parts.append(text(RIGHT, y - 4 if y > TOP + 8 else y + 12, reference[0], "faint", "small", "end"))
    for line in lines:
        if line.drawn:
            strokes, marks = _strokes(line, across, up, LEFT, RIGHT, "1")
            parts += [f'<g class="{colour(line.look)}" fill="none" stroke="currentColor" stroke-width="1.75">', *strokes]
            for (epsilon, value, spread), shape in zip(line.drawn, marks, strict=True):
                about = f"{line.called}{'' if epsilon is None else f', {epsilon:g}'}: {_figure(value, spread)}"
                parts.append(shape.replace("/>", f"><title>{xml(about)}</title></path>"))
            parts.append("</g>")
    told = f"{title}: {y_name} against epsilon for {', '.join(line.called for line in lines) or 'nothing'}."
    rows = []
    for line in lines:
        found = {epsilon: _figure(value, spread) for epsilon, value, spread in line.drawn}
        rows.append((line.called, *(found.get(tick, found.get(None, MISSING)) for tick in x_ticks)))
    if reference is not None:
        rows.append((reference[0], *(number(reference[1]) for _ in x_ticks)))
    return Chart(title, svg(WIDTH, HEIGHT, told, parts), ("", *(f"{tick:g}" for tick in x_ticks)), tuple(rows))


def legend(lines: Sequence[Curve]) -> list[str]:
    """The names of curves with their marks and dashes, each a fragment of its own, so that they flow like words."""
    at_most(len(lines), MOST_CURVES, "curves")
    found = []
    for line in lines:
        (said,) = wrapped(line.called, (WIDTH - ENTRY) / FONT, 1)
        stroke = f'<path{dashed(line.look, line.is_level)} stroke="currentColor" stroke-width="2" fill="none" d="M0 10h28"/>'
        sign = f'<g class="{colour(line.look)}">{stroke}{mark(line.look, 14, 10, PAINT)}</g>'
        found.append(svg(ENTRY + width(said) * FONT, 20, f"Legend: {line.called}", [sign, text(ENTRY, 14, said, "label")]))
    return found


def plot(comparison: Comparison, log: str, measure: str) -> str:
    """The SVG image of a measure for a log: a few kB that follow the reader's choice of light or dark."""
    if measure not in MEASURES:
        raise UsageError(f'There is no measure "{measure}" to plot. There is: {", ".join(MEASURES)}.')
    empty = getattr(comparison.log(log).empty, measure)
    seeds = f"mean of {len(comparison.seeds)} seeds" if len(comparison.seeds) > 1 else "one seed"
    said = f"{comparison.said_delta}, {seeds}; lower is closer to the original"
    found = curves_of(comparison, log, measure)
    return "\n".join(_image(f"{log}: {MEASURES[measure]}", said, found, empty, comparison.epsilons)) + "\n"


def labels_of(settings: Sequence[Setting], endings: Sequence[str] | None = None) -> list[list[str]]:
    """The name of each setting in short lines, no two alike; an ending is put behind the label.

    A label that is too long leaves out what all settings of its mechanism share.

    Example:
        >>> several = [Setting("libra", {"labels": "public", "subsamples": 20, "gamma": gamma}) for gamma in (0.05, 0.5)]
        >>> labels_of([*several, Setting("travas")])
        [['libra:…:gamma=0.05'], ['libra:…:gamma=0.5'], ['travas']]
    """
    found = []
    for setting, ending in zip(settings, endings or [""] * len(settings), strict=True):
        label, alike = setting.label, [other for other in settings if other.mechanism == setting.mechanism]
        if len(label) + len(ending) > LONGEST_LABEL and len(alike) > 1:
            shared = set(alike[0].words).intersection(*(other.words for other in alike))
            different = [word for word in setting.words if word not in shared]
            label = ":".join((setting.mechanism, *(["…"] if shared else []), *different))
        found.append(_broken(label + ending))
    return found


def placed(wanted: Sequence[float], top: float, bottom: float, apart: float) -> list[float]:
    """Heights as near as possible to those wanted, in the same order, apart from each other and between top and bottom.

    Example:
        >>> placed([50.0, 52.0, 99.0], 0.0, 100.0, 10.0)
        [46.0, 56.0, 99.0]
    """
    groups: list[list[int]] = []
    middles: list[float] = []
    for index in sorted(range(len(wanted)), key=lambda index: (wanted[index], index)):
        groups.append([index])
        middles.append(wanted[index])
        while True:
            half = apart * (len(groups[-1]) - 1) / 2
            middles[-1] = min(max(middles[-1], top + half), bottom - half)
            if len(groups) == 1 or middles[-1] - half - (middles[-2] + apart * (len(groups[-2]) - 1) / 2) >= apart:
                break
            middles.pop()
            groups[-2:] = [groups[-2] + groups[-1]]
            middles[-1] = sum(wanted[one] for one in groups[-1]) / len(groups[-1])
    heights = [0.0] * len(wanted)
    for group, middle in zip(groups, middles, strict=True):
        for place, index in enumerate(group):
            heights[index] = middle + apart * (place - (len(group) - 1) / 2)
    return heights


def _height(lines: Sequence[Curve], level: float | None, bottom: float, top: float, ticks: int = TICKS) -> Scale:
    points = [point for line in lines for point in line.drawn]
    values = [value + (spread or 0) for _, value, spread in points] + [value for _, value, _ in points]
    return scale_of(values + ([] if level is None else [level]), bottom, top, ticks=ticks)


def _scales(up: Scale) -> str:
    return "both scales are logarithmic" if up.log else "log scale"


def _figure(value: float, spread: float | None) -> str:
    return number(value) + (f" ± {number(spread)}" if spread else "")


def _strokes(line: Curve, across: Scale, up: Scale, left: int, right: int, thin: str) -> tuple[list[str], list[str]]:
    """A curve with the bars of its spread, and a mark for each point."""
    places = [(right - 6 if epsilon is None else across(epsilon), value, spread) for epsilon, value, spread in line.drawn]
    points = "L".join(f"{at(x)} {at(up(value))}" for x, value, _ in places)
    way = f"{left} {at(up(places[0][1]))}H{right}" if line.is_level else points
    strokes = [f'<path{dashed(line.look, line.is_level)} d="M{way}"/>']
    for x, value, spread in places:
        if spread:
            low, high = at(up(value - spread)), at(up(value + spread))
            strokes.append(f'<path stroke-width="{thin}" d="M{at(x)} {low}V{high}m-3 0h6m-3 0V{low}m-3 0h6"/>')
    return strokes, [mark(line.look, x, up(value), PAINT) for x, value, _ in places]


def _image(
    title: str, said: str, found: Sequence[tuple[Setting, Curve]], empty: float | None, epsilons: Sequence[float]
) -> Iterator[str]:
    lines = [line for _, line in found]
    names = labels_of([setting for setting, _ in found], [f", {AS_SET}" if line.is_level else "" for line in lines])
    bottom = IMAGE_TOP + max(LEAST_HEIGHT, LABEL_HEIGHT * (sum(map(len, names)) + 1))
    height = bottom + BELOW
    across, up = scale_of(epsilons, IMAGE_LEFT + 24, IMAGE_RIGHT - 24, log=True), _height(lines, empty, bottom, IMAGE_TOP)
    size = f'viewBox="0 0 {IMAGE_WIDTH} {height}" width="{IMAGE_WIDTH}" height="{height}"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>'
    told = f"{said}. Computed from the original: {CONFIDENTIAL}."
    yield f"<title>{xml(title)} against epsilon</title><desc>{xml(told)}</desc>"
    used = range(min(len(lines), len(SERIES)))
    light, dark = ("".join(f".s{place}{{color:{SERIES[place][ground]}}}" for place in used) for ground in (0, 1))
    yield f"<style>{IMAGE_STYLE % (light, dark)}</style>"
    yield f'<rect class="ground" width="{IMAGE_WIDTH}" height="{height}" rx="10"/>'
    yield f'<text class="text" x="{IMAGE_LEFT}" y="28" font-size="16" font-weight="600">{xml(title)}</text>'
    yield f'<text class="faint" x="{IMAGE_LEFT}" y="47" font-size="12">{xml(said)}</text>'
    yield from _axes(across, up, epsilons, bottom)
    yield from _named_curves(lines, names, empty, across, up)
    yield f'<text class="faint" x="{IMAGE_WIDTH - 14}" y="{height - 12}" font-size="11" text-anchor="end">{CONFIDENTIAL}</text>'
    yield "</svg>"


def _axes(across: Scale, up: Scale, epsilons: Sequence[float], bottom: float) -> Iterator[str]:
    for tick in up.ticks:
        y, figure = at(up(tick)), f"{tick:,.0f}" if abs(tick) >= 1000 else f"{tick:g}"
        yield f'<path class="grid" d="M{IMAGE_LEFT} {y}H{IMAGE_RIGHT}"/>'
        yield f'<text class="faint" x="{IMAGE_LEFT - 8}" y="{y}" dy="4" text-anchor="end">{figure}</text>'
    yield f'<path class="axis" d="M{IMAGE_LEFT} {at(bottom)}H{IMAGE_RIGHT}"/>'
    for epsilon in epsilons:
        x = at(across(epsilon))
        yield f'<path class="axis" d="M{x} {at(bottom)}v5"/>'
        yield f'<text class="faint" x="{x}" y="{at(bottom + 20)}" text-anchor="middle">{epsilon:g}</text>'
    yield (
        f'<text class="text" x="{at((IMAGE_LEFT + IMAGE_RIGHT) / 2)}" y="{at(bottom + 42)}" text-anchor="middle">epsilon '
        f'<tspan class="faint">({_scales(up)})</tspan></text>'
    )


def _named_curves(
    lines: Sequence[Curve], names: Sequence[list[str]], empty: float | None, across: Scale, up: Scale
) -> Iterator[str]:
    """The curves, each with a leader from its end to its name, and the level of an empty log."""
    ends = [up(line.points[-1][1]) for line in lines] + ([] if empty is None else [up(empty)])
    texts = [*names, *([] if empty is None else [[f"{EMPTY_LOG}, {number(empty)}"]])]
    wanted = [end for end, several in zip(ends, texts, strict=True) for _ in several]
    heights = iter(placed(wanted, min(up.begin, up.end) + 4, max(up.begin, up.end) - 4, LABEL_HEIGHT))
    places = [[next(heights) for _ in several] for several in texts]
    if empty is not None:
        yield f'<path class="empty" stroke-dasharray="3 4" d="M{IMAGE_LEFT} {at(ends[-1])}H{IMAGE_RIGHT}"/>'
        yield f'<path class="empty" fill="none" stroke-opacity=".55" d="{_leader(IMAGE_RIGHT, ends[-1], places[-1][0])}h12"/>'
        yield from _name(texts[-1], places[-1], "faint")
    for place, line in enumerate(lines):
        x = IMAGE_RIGHT if line.is_level else across(line.points[-1][0] or 0) + 8
        yield f'<g class="s{place % len(SERIES)}" fill="none" stroke="currentColor" stroke-width="2">'
        for parts in _strokes(line, across, up, IMAGE_LEFT, IMAGE_RIGHT, "1.2"):
            yield from parts
        yield f'<path d="{_leader(x, ends[place], places[place][0])}" stroke-width="1" stroke-opacity=".55"/>'
        yield f'<g stroke="none" fill="currentColor">{mark(place, NAMES - 12, places[place][0])}'
        yield from _name(texts[place], places[place], "name")
        yield f"</g><title>{xml(line.name)}</title></g>"


def _leader(x: float, y: float, height: float) -> str:
    return f"M{at(x)} {at(y)}L{at(NAMES - 26)} {at(height)}h6"


def _name(lines: Sequence[str], heights: Sequence[float], kind: str) -> Iterator[str]:
    for place, (line, height) in enumerate(zip(lines, heights, strict=True)):
        yield f'<text class="{kind}" x="{NAMES + (10 if place else 0)}" y="{at(height)}" dy="4">{xml(line)}</text>'


def _broken(label: str) -> list[str]:
    """A label in lines, broken behind a colon where it can be."""
    lines = [""]
    for piece in re.split("(?<=:)", label):
        left = piece
        if len(lines[-1]) + len(left) > LONGEST_LABEL and lines[-1]:
            lines.append("")
        while len(left) > LONGEST_LABEL:
            lines[-1], left = left[:LONGEST_LABEL], left[LONGEST_LABEL:]
            lines.append("")
        lines[-1] += left
    return lines
