"""A measure against epsilon as an SVG image: one line a setting, bars for the spread, each line with its name at its end.

A setting that fixes its privacy itself has a level line. Marks and dashes tell lines apart where colours do not.

In: a comparison. Out: XML of a few kB that follows the reader's choice of light or dark, with no script and nothing
from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from libra.charts.draw import at
from libra.charts.marks import LEVEL, dashes, mark
from libra.charts.numbers import number
from libra.charts.scale import Scale, scale_of
from libra.charts.style import SERIES
from libra.charts.text import xml
from libra.comparison.comparison import MEASURES, Comparison, Mean
from libra.comparison.labels import labels_of
from libra.comparison.setting import Setting
from libra.comparison.tables import AS_SET, EMPTY_LOG
from libra.errors import UsageError

WIDTH, LEFT, TOP, PLOT_WIDTH, LEAST_HEIGHT, BOTTOM = 820, 76, 62, 420, 260, 64
LABEL_HEIGHT = 17  # from one name to the next
RIGHT = LEFT + PLOT_WIDTH
NAMES = RIGHT + 46
CONFIDENTIAL = "confidential unless the log is public"
STYLE = (
    ".ground{fill:#fbfaf7}.text{fill:#2b3a42}.faint{fill:#5a6b73}.grid{stroke:#d9dedb}.axis{stroke:#8a979d}"
    ".empty{stroke:#5a6b73}%s"
    "@media (prefers-color-scheme:dark){.ground{fill:#1b2226}.text{fill:#e6ebee}.faint{fill:#a9b6bd}.grid{stroke:#39444a}"
    ".axis{stroke:#6b7a82}.empty{stroke:#a9b6bd}%s}"
)


@dataclass(frozen=True)
class Line:
    """What is drawn of a setting: points at some epsilons, or one point that is the same at all."""

    setting: Setting
    points: tuple[tuple[float | None, Mean], ...]

    @property
    def is_level(self) -> bool:
        """Whether epsilon plays no part in it."""
        return self.points[0][0] is None

    @property
    def last(self) -> Mean:
        """Where it ends."""
        return self.points[-1][1]


def plot(comparison: Comparison, log: str, measure: str) -> str:
    """The image of a measure for a log."""
    if measure not in MEASURES:
        raise UsageError(f'There is no measure "{measure}" to plot. There is: {", ".join(MEASURES)}.')
    lines = lines_of(comparison, log, measure)
    empty = getattr(comparison.log(log).empty, measure)
    seeds = f"mean of {len(comparison.seeds)} seeds" if len(comparison.seeds) > 1 else "one seed"
    said = f"{comparison.said_delta}, {seeds}; lower is closer to the original"
    return "\n".join(_image(f"{log}: {MEASURES[measure]}", said, lines, empty, comparison.epsilons)) + "\n"


def lines_of(comparison: Comparison, log: str, measure: str) -> list[Line]:
    """The lines of a plot: a setting that has no figure has none."""
    settings: dict[str, Setting] = {}
    points: dict[str, list[tuple[float | None, Mean]]] = {}
    for row in comparison.rows(log):
        found = row.measure(measure)
        if found is not None:
            settings[row.setting.label] = row.setting
            points.setdefault(row.setting.label, []).append((row.epsilon, found))
    return [Line(settings[name], tuple(sorted(of, key=lambda point: point[0] or 0))) for name, of in points.items()]


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


def _image(title: str, said: str, lines: Sequence[Line], empty: float | None, epsilons: Sequence[float]) -> Iterator[str]:
    names = labels_of([line.setting for line in lines], [f", {AS_SET}" if line.is_level else "" for line in lines])
    tall = max(LEAST_HEIGHT, LABEL_HEIGHT * (sum(map(len, names)) + 1))
    height = TOP + tall + BOTTOM
    tops = [point.mean + (point.spread or 0) for line in lines for _, point in line.points]
    values = [point.mean for line in lines for _, point in line.points] + tops + ([] if empty is None else [empty])
    across, up = scale_of(epsilons, LEFT + 24, RIGHT - 24, log=True), scale_of(values, TOP + tall, TOP)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">'
    )
    told = f"{said}. Computed from the original: {CONFIDENTIAL}."
    yield f"<title>{xml(title)} against epsilon</title><desc>{xml(told)}</desc>"
    yield f"<style>{_style(len(lines))}</style>"
    yield f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>'
    yield f'<text class="text" x="{LEFT}" y="28" font-size="16" font-weight="600">{xml(title)}</text>'
    yield f'<text class="faint" x="{LEFT}" y="47" font-size="12">{xml(said)}</text>'
    yield from _axes(across, up, epsilons, TOP + tall)
    yield from _curves(lines, names, empty, across, up)
    yield f'<text class="faint" x="{WIDTH - 14}" y="{height - 12}" font-size="11" text-anchor="end">{CONFIDENTIAL}</text>'
    yield "</svg>"


def _axes(across: Scale, up: Scale, epsilons: Sequence[float], bottom: float) -> Iterator[str]:
    for tick in up.ticks:
        y = at(up(tick))
        yield f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/>'
        yield f'<text class="faint" x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end">{_tick(tick)}</text>'
    yield f'<path class="axis" d="M{LEFT} {at(bottom)}H{RIGHT}"/>'
    for epsilon in epsilons:
        x = at(across(epsilon))
        yield f'<path class="axis" d="M{x} {at(bottom)}v5"/>'
        yield f'<text class="faint" x="{x}" y="{at(bottom + 20)}" text-anchor="middle">{epsilon:g}</text>'
    middle = LEFT + PLOT_WIDTH / 2
    scales = "both scales are logarithmic" if up.log else "log scale"
    yield (
        f'<text class="text" x="{at(middle)}" y="{at(bottom + 42)}" text-anchor="middle">epsilon '
        f'<tspan class="faint">({scales})</tspan></text>'
    )


def _curves(lines: Sequence[Line], names: Sequence[list[str]], empty: float | None, across: Scale, up: Scale) -> Iterator[str]:
    ends = [up(line.last.mean) for line in lines] + ([] if empty is None else [up(empty)])
    texts = [*names, *([] if empty is None else [[f"{EMPTY_LOG}, {number(empty)}"]])]
    wanted = [end for end, several in zip(ends, texts, strict=True) for _ in several]
    heights = iter(placed(wanted, min(up.begin, up.end) + 4, max(up.begin, up.end) - 4, LABEL_HEIGHT))
    places = [[next(heights) for _ in several] for several in texts]
    if empty is not None:
        yield f'<path class="empty" stroke-dasharray="3 4" d="M{LEFT} {at(ends[-1])}H{RIGHT}"/>'
        yield f'<path class="empty" fill="none" stroke-opacity=".55" d="{_leader(RIGHT, ends[-1], places[-1][0])}h12"/>'
        yield from _name(texts[-1], places[-1], "faint")
    for place, line in enumerate(lines):
        x = RIGHT if line.is_level else across(line.points[-1][0] or 0) + 8
        yield f'<g class="s{place % len(SERIES)}" fill="none" stroke="currentColor" stroke-width="2">'
        yield from _curve(line, place, across, up)
        yield f'<path d="{_leader(x, ends[place], places[place][0])}" stroke-width="1" stroke-opacity=".55"/>'
        yield f'<g stroke="none" fill="currentColor">{mark(place, NAMES - 12, places[place][0])}'
        yield from _name(texts[place], places[place], "name")
        yield f"</g><title>{xml(line.setting.label)}</title></g>"


def _curve(line: Line, place: int, across: Scale, up: Scale) -> Iterator[str]:
    points = [(RIGHT - 6 if epsilon is None else across(epsilon), point) for epsilon, point in line.points]
    places = [(x, up(point.mean)) for x, point in points]
    kind = LEVEL if line.is_level else dashes(place)
    dashed = f' stroke-dasharray="{kind}"' if kind else ""
    drawn = f"{LEFT} {at(places[0][1])}H{RIGHT}" if line.is_level else "L".join(f"{at(x)} {at(y)}" for x, y in places)
    yield f'<path{dashed} d="M{drawn}"/>'
    for x, point in points:
        if point.spread:
            low, high = (at(up(value)) for value in (point.mean - point.spread, point.mean + point.spread))
            yield f'<path stroke-width="1.2" d="M{at(x)} {low}V{high}m-3 0h6m-3 0V{low}m-3 0h6"/>'
    for x, y in places:
        yield mark(place, x, y, ' fill="currentColor" stroke="none"')


def _leader(x: float, y: float, height: float) -> str:
    """From the end of a line to the name that stands for it."""
    return f"M{at(x)} {at(y)}L{at(NAMES - 26)} {at(height)}h6"


def _name(texts: Sequence[str], heights: Sequence[float], kind: str) -> Iterator[str]:
    for number_of_line, (text, height) in enumerate(zip(texts, heights, strict=True)):
        x = NAMES + (10 if number_of_line else 0)
        yield f'<text class="{kind}" x="{x}" y="{at(height)}" dy="4">{xml(text)}</text>'


def _style(lines: int) -> str:
    used = range(min(lines, len(SERIES)))
    light, dark = ("".join(f".s{place}{{color:{SERIES[place][ground]}}}" for place in used) for ground in (0, 1))
    return STYLE % (light, dark)


def _tick(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
