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
from libra.comparison.plan import Setting
from libra.errors import UsageError
from libra.reporting import drawing
from libra.reporting.drawing import FONT, Chart, Scale, at, box, dashed, mark, path, scale_of, svg, text
from libra.reporting.numbers import MISSING, number
from libra.reporting.text import shown, width, wrapped, xml

Point = tuple[float | None, float, float | None]
AS_SET, EMPTY_LOG = "as set", "empty log"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 240, 52, 348, 24, 200  # of a chart: its size, and the edges of what is drawn
ENTRY = 36  # what the mark of a legend takes
PAINT = ' fill="currentColor" stroke="none"'
IMAGE_WIDTH, IMAGE_LEFT, IMAGE_RIGHT, IMAGE_TOP, LEAST_HEIGHT, BELOW = 820, 76, 496, 62, 260, 64
LABEL_HEIGHT, LONGEST_LABEL = 17, 32  # from one name to the next, and characters of a line
NAMES = IMAGE_RIGHT + 46
CONFIDENTIAL = "confidential unless the log is public"


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
        return [point for point in self.points if math.isfinite(point[1])]


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


def curves(title: str, lines: Sequence[Curve], *, epsilons: Sequence[float], y_name: str, empty: float | None = None) -> Chart:
    """A small chart of curves; the figure of an empty log is a level hairline."""
    across, up = scale_of(epsilons, LEFT + 16, RIGHT - 16, log=True), _height(lines, empty, BOTTOM, TOP, ticks=4)
    parts = [text(2, 11, y_name, "faint", "small"), *_axes(across, up, epsilons, LEFT, RIGHT)]
    if empty is not None:
        y = up(empty)
        parts.append(path(f"M{LEFT} {at(y)}H{RIGHT}", "reference", title=f"{EMPTY_LOG}: {number(empty)}"))
        parts.append(text(RIGHT, y - 4 if y > TOP + 8 else y + 12, EMPTY_LOG, "faint", "small", "end"))
    for line in lines:
        parts += [*_curve(line, across, up, LEFT, RIGHT), "</g>"] if line.drawn else []
    told = f"{title}: {y_name} against epsilon for {', '.join(line.called for line in lines) or 'nothing'}."
    rows = []
    for line in lines:
        found = {epsilon: _figure(value, spread) for epsilon, value, spread in line.drawn}
        rows.append((line.called, *(found.get(epsilon, found.get(None, MISSING)) for epsilon in epsilons)))
    rows += [] if empty is None else [(EMPTY_LOG, *(number(empty) for _ in epsilons))]
    return Chart(title, svg(WIDTH, HEIGHT, told, parts), ("", *(f"{epsilon:g}" for epsilon in epsilons)), tuple(rows))


def legend(lines: Sequence[Curve]) -> list[str]:
    """The names of curves with their marks and dashes, each a fragment of its own, so that they flow like words."""
    found = []
    for line in lines:
        (said,) = wrapped(line.called, (WIDTH - ENTRY) / FONT, 1)
        stroke = f'<path{dashed(line.look, line.is_level)} stroke="currentColor" stroke-width="2" fill="none" d="M0 10h28"/>'
        sign = f'<g class="{_colour(line.look)}">{stroke}{mark(line.look, 14, 10, PAINT)}</g>'
        found.append(svg(ENTRY + width(said) * FONT, 20, f"Legend: {line.called}", [sign, text(ENTRY, 14, said, "label")]))
    return found


def plot(comparison: Comparison, log: str, measure: str) -> str:
    """The SVG image of a measure for a log: some kB that follow the reader's choice of light or dark."""
    if measure not in MEASURES:
        raise UsageError(f'There is no measure "{measure}" to plot. Choose one of: {", ".join(MEASURES)}.')
    found, empty = curves_of(comparison, log, measure), getattr(comparison.log(log).empty, measure)
    lines, title = [line for _, line in found], f"{log}: {MEASURES[measure]}"
    seeds = f"mean of {len(comparison.seeds)} seeds" if len(comparison.seeds) > 1 else "one seed"
    said = f"{comparison.said_delta}, {seeds}; lower is closer to the original"
    names = labels_of([setting for setting, _ in found], [f", {AS_SET}" if line.is_level else "" for line in lines])
    bottom = IMAGE_TOP + max(LEAST_HEIGHT, LABEL_HEIGHT * (sum(map(len, names)) + 1))
    across = scale_of(comparison.epsilons, IMAGE_LEFT + 24, IMAGE_RIGHT - 24, log=True)
    up, height = _height(lines, empty, bottom, IMAGE_TOP), bottom + BELOW
    parts = [
        box(0, 0, IMAGE_WIDTH, height, "ground"),
        text(IMAGE_LEFT, 28, title, "title"),
        text(IMAGE_LEFT, 47, said, "faint"),
        *_axes(across, up, comparison.epsilons, IMAGE_LEFT, IMAGE_RIGHT),
        *_named_curves(lines, names, empty, across, up),
        text(IMAGE_WIDTH - 14, height - 12, CONFIDENTIAL, "faint", "small", "end"),
    ]
    classes = {"lc", *re.findall(r"lc-[\w-]+", "".join(parts))}
    rules = (rule for rule in drawing.STYLE.splitlines() if classes.issuperset(re.findall(r"lc[\w-]*", rule.partition("{")[0])))
    head = f"<desc>{xml(said)}. Computed from the original: {CONFIDENTIAL}.</desc><title>{xml(title)} against epsilon</title>"
    style = f"<style>{drawing.palette('.lc')}{''.join(rules)}</style>"
    image = svg(IMAGE_WIDTH, height, MEASURES[measure], [head, style, *parts])
    return image.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n"


def labels_of(settings: Sequence[Setting], endings: Sequence[str] | None = None) -> list[list[str]]:
    """The name of each setting in short lines, no two alike; an ending is put behind the label.

    A label that is too long leaves out what all settings of its mechanism share.
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
    """Heights as near as possible to those wanted, in the same order, apart from each other and between top and bottom."""
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


def _height(lines: Sequence[Curve], empty: float | None, bottom: float, top: float, ticks: int = 5) -> Scale:
    points = [point for line in lines for point in line.drawn]
    values = [value + (spread or 0) for _, value, spread in points] + [value for _, value, _ in points]
    return scale_of(values + ([] if empty is None else [empty]), bottom, top, ticks=ticks)


def _axes(across: Scale, up: Scale, epsilons: Sequence[float], left: int, right: int) -> list[str]:
    bottom, scales = up.begin, "both scales are logarithmic" if up.log else "log scale"
    parts = [*drawing.grid_lines(up, left, right, number), path(f"M{left} {at(bottom)}H{right}", "axis")]
    for epsilon in epsilons:
        parts.append(path(f"M{at(across(epsilon))} {at(bottom)}v4", "axis"))
        parts.append(text(across(epsilon), bottom + 16, f"{epsilon:g}", "faint", "small", "middle"))
    return [*parts, text((left + right) / 2, bottom + 34, f"epsilon ({scales})", "faint", "small", "middle")]


def _curve(line: Curve, across: Scale, up: Scale, left: int, right: int) -> Iterator[str]:
    """A curve with the bars of its spread and a mark for each point, in a group that is left open."""
    places = [right - 6 if epsilon is None else across(epsilon) for epsilon, _, _ in line.drawn]
    points = "L".join(f"{at(x)} {at(up(value))}" for x, (_, value, _) in zip(places, line.drawn, strict=True))
    way = f"{left} {at(up(line.drawn[0][1]))}H{right}" if line.is_level else points
    yield f'<g class="{_colour(line.look)}" fill="none" stroke="currentColor" stroke-width="1.75">'
    yield f'<path{dashed(line.look, line.is_level)} d="M{way}"/>'
    for x, (_, value, spread) in zip(places, line.drawn, strict=True):
        if spread:
            low, high = at(up(value - spread)), at(up(value + spread))
            yield f'<path stroke-width="1" d="M{at(x)} {low}V{high}m-3 0h6m-3 0V{low}m-3 0h6"/>'
    for x, (epsilon, value, spread) in zip(places, line.drawn, strict=True):
        about = f"{line.called}{'' if epsilon is None else f', {epsilon:g}'}: {_figure(value, spread)}"
        yield mark(line.look, x, up(value), PAINT).replace("/>", f"><title>{xml(about)}</title></path>")


def _figure(value: float, spread: float | None) -> str:
    return number(value) + (f" ± {number(spread)}" if spread else "")


def _colour(look: int) -> str:
    return f"lc-series-{look % drawing.SERIES}"


def _named_curves(
    lines: Sequence[Curve], names: Sequence[list[str]], empty: float | None, across: Scale, up: Scale
) -> Iterator[str]:
    """The curves, each with a leader from its end to its name, and the level of an empty log."""
    ends = [up(line.points[-1][1]) for line in lines] + ([] if empty is None else [up(empty)])
    texts = [*names, *([] if empty is None else [[f"{EMPTY_LOG}, {number(empty)}"]])]
    wanted = [end for end, several in zip(ends, texts, strict=True) for _ in several]
    heights = iter(placed(wanted, up.end + 4, up.begin - 4, LABEL_HEIGHT))
    places = [[next(heights) for _ in several] for several in texts]
    if empty is not None:
        yield path(f"M{IMAGE_LEFT} {at(ends[-1])}H{IMAGE_RIGHT}", "reference")
        yield path(f"{_leader(IMAGE_RIGHT, ends[-1], places[-1][0])}h12", "leader")
        yield from _name(texts[-1], places[-1], "faint")
    for place, line in enumerate(lines):
        x = IMAGE_RIGHT if line.is_level else across(line.points[-1][0] or 0) + 8
        yield from _curve(line, across, up, IMAGE_LEFT, IMAGE_RIGHT)
        yield f'<path d="{_leader(x, ends[place], places[place][0])}" stroke-width="1" stroke-opacity=".55"/>'
        yield mark(line.look, NAMES - 12, places[place][0], PAINT)
        yield from _name(texts[place], places[place], "own")
        yield f"<title>{xml(line.name)}</title></g>"


def _leader(x: float, y: float, height: float) -> str:
    return f"M{at(x)} {at(y)}L{at(NAMES - 26)} {at(height)}h6"


def _name(lines: Sequence[str], heights: Sequence[float], look: str) -> Iterator[str]:
    for place, (line, height) in enumerate(zip(lines, heights, strict=True)):
        yield text(NAMES + (10 if place else 0), height + 4, line, "name", look)


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
