"""Process maps: of one log as an SVG file or in a notebook, or of an original and its anonymized log side by side.

A map holds figures of its log as they are: a map of an original is as confidential as the original. Two logs
drawn on one layout have everything at the same place; what one of them lacks is there as a ghost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from libra._system.files import atomic_output
from libra.errors import LibraError, UsageError
from libra.eventlog.log import EventLog
from libra.reporting.drawing import FILLS, MAP_STYLE, palette
from libra.reporting.map_graph import DETAILS, Detail, Graph, Shown, Use, change_of_count, change_of_mean, graph_of, shown_at
from libra.reporting.map_layout import ARROW, Course, Layout, Line, Point, Sketch, layouts_of
from libra.reporting.numbers import count, duration, number, share, signed_share
from libra.reporting.text import BREAKS, numbers_behind, shown, width, wrapped, xml
from libra.targets import check_writable

LINE, LONGEST, LINES = 8.0, 13.5, 4  # em of a line in a box, of one that keeps a long word whole, and how many lines
NEARLY_ALL = 0.9  # of the cases begin or end where a level shows it
LABEL_SIZE, FIGURE_SIZE, LINE_HEIGHT = 12.0, 11.0, 15.0
CIRCLE, LEAST_BOX, PADDING = 26.0, 64.0, 11.0
SIGNED = " ▲"  # room for a triangle
HEAVIEST = 8
APART = 5.0  # of a label from its line
MARGIN, BESIDE = 8.0, 16.0  # around the map, and for the line above the start and below the end
THINNEST, WIDEST = 1.1, 6.0
SIGNS = {"more": "▲", "less": "▼", "longer": "▲", "shorter": "▼"}


@dataclass(frozen=True)
class Name:
    """What people read for a label: in words, and in a box."""

    text: str
    lines: tuple[str, ...]


def names_of(labels: Sequence[str]) -> list[Name]:
    """Names for different labels, in their order, on lines that are as narrow as their words allow."""
    texts = {label: shown(label) for label in labels}
    boxes = {}
    for label, text in texts.items():
        words = [width(word.rstrip()) for word in BREAKS.split(text)]
        boxes[label] = "\n".join(wrapped(text, max([LINE, *(word for word in words if word <= LONGEST)]), LINES))
    numbers = numbers_behind({label: (texts[label], boxes[label]) for label in labels})
    return [Name(texts[label] + numbers[label], tuple((boxes[label] + numbers[label]).split("\n"))) for label in labels]


@dataclass(frozen=True)
class EdgeRows:
    """The shown edges as text, heaviest first, and what was left out."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    said: str


def rows_of(graph: Graph, shown: Shown, names: Mapping[int, Name]) -> EdgeRows:
    """The edges that a level shows, as a table."""
    whose = ("",) if len(graph.uses) == 1 else (", original", ", anonymized")
    headings = ("from", "to", *(f"{what}{of}" for what in ("times", "mean duration") for of in whose))
    rows = tuple(
        (
            *(text_of(graph, names, int(ends[edge])) for ends in (graph.source, graph.target)),
            *(count(int(use.counts[edge])) for use in graph.uses),
            *(duration(float(use.seconds[edge])) for use in graph.uses),
        )
        for edge in sorted(shown.edges, key=lambda edge: (-graph.edge_weight[edge], edge))
    )
    some = f"The {count(len(rows))} edges of the most detailed map, of {count(len(graph.source))} in all, heaviest first."
    return EdgeRows(headings, rows, some if len(rows) < len(graph.source) else "All edges, heaviest first.")


def text_of(graph: Graph, names: Mapping[int, Name], node: int) -> str:
    """What people read for a node."""
    return "start" if node == graph.start else "end" if node == graph.end else names[node].text


def said_of_level(graph: Graph, shown: Shown) -> str:
    """How much of the logs a level shows; where cases begin and end that it does not show is told of the first log."""
    steps, first = graph.is_step, graph.uses[0]
    edges = [edge for edge in shown.edges if steps[edge]]
    wholes = [int(use.counts[steps].sum()) for use in graph.uses]
    parts = [share(int(use.counts[edges].sum()) / whole) if whole else "" for use, whole in zip(graph.uses, wholes, strict=True)]
    whose = ("of the steps of the original", "of those of the anonymized log") if len(parts) == 2 else ("of all steps",)
    covered = " and ".join(f"{part} {of}" for part, of in zip(parts, whose, strict=True) if part)
    nodes = f"{count(len(shown.nodes))} of {count(len(graph.labels))} activities"
    said = f"{nodes} and {count(len(edges))} of {count(int(steps.sum()))} edges{covered and f': {covered}'}."
    begin, end = (
        int(first.counts[[edge for edge in shown.edges if ends[edge] == terminal]].sum()) / max(first.cases, 1)
        for ends, terminal in ((graph.source, graph.start), (graph.target, graph.end))
    )
    if first.cases and min(begin, end) < NEARLY_ALL:
        said += f" Of the cases, {share(begin)} begin and {share(end)} end with a step that is shown; the others with rarer ones."
    return said


@dataclass(frozen=True)
class Picture:
    """All that is drawn on a level, whichever log it is drawn for."""

    graph: Graph
    shown: Shown
    names: Mapping[int, Name]

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The nodes in the order of the layout: the start, the end, then the activities as they come in their cases."""
        places = self.graph.places
        return (self.graph.start, self.graph.end, *sorted(self.shown.nodes, key=lambda node: (places[node], node)))

    @cached_property
    def sketch(self) -> Sketch:
        """What the layout has to know."""
        graph, shown = self.graph, self.shown
        place = {node: i for i, node in enumerate(self.nodes)}
        most = max((float(graph.edge_weight[edge]) for edge in shown.edges), default=1.0)

        def line(source: int, target: int, heavy: float, label: Point) -> Line:
            upwards = place[source] > place[target] and source != graph.end and target != graph.end
            return Line(place[source], place[target], 1 + round(HEAVIEST * math.sqrt(heavy)), upwards, label)

        lines = []
        for edge in shown.edges:
            texts = [count(int(use.counts[edge])) for use in graph.uses] + [
                duration(float(use.seconds[edge])) for use in graph.uses
            ]
            size = max(width(text + SIGNED) for text in texts) * FIGURE_SIZE + APART, LINE_HEIGHT
            lines.append(line(int(graph.source[edge]), int(graph.target[edge]), float(graph.edge_weight[edge]) / most, size))
        lines += [line(source, target, 0.0, (0.0, 0.0)) for source, target in shown.bridges]
        boxes = []
        for node in self.nodes[2:]:
            names, figures = self.names[node].lines, [count(int(use.events[node])) + SIGNED for use in graph.uses]
            wide = max(max(map(width, names)) * LABEL_SIZE, max(map(width, figures)) * FIGURE_SIZE)
            boxes.append((max(LEAST_BOX, wide + 2 * PADDING), LINE_HEIGHT * (len(names) + 1) + PADDING))
        return Sketch(((CIRCLE, CIRCLE), (CIRCLE, CIRCLE), *boxes), tuple(lines))


def cases_of(use: Use) -> str:
    """The number of a log's cases."""
    return f"{count(use.cases)} {'case' if use.cases == 1 else 'cases'}"


def drawing(picture: Picture, layout: Layout, which: int, looks: str) -> str:
    """The map of one of the graph's logs as a fragment of SVG, in the colours of "original" or "anonymized"."""
    graph, shown = picture.graph, picture.shown
    cases, half = cases_of(graph.uses[which]), max(width(cases_of(use)) for use in graph.uses) * FIGURE_SIZE / 2
    left = min(0.0, *(x - half for x, _ in layout.nodes[:2])) - MARGIN
    right = max(layout.width, *(x + half for x, _ in layout.nodes[:2])) + MARGIN
    top, wide, tall = -MARGIN - BESIDE, right - left, layout.height + 2 * (MARGIN + BESIDE)
    steps = sum(bool(graph.is_step[edge]) for edge in shown.edges)
    whose = f"the {looks} log" if len(graph.uses) == 2 else "a log"
    said = f"Process map of {whose}: {count(len(shown.nodes))} activities, {count(steps)} edges, {cases}"
    lines = [_line(picture, line, course, which) for line, course in enumerate(layout.courses)]
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="lm lm-{looks}" role="img" aria-label="{xml(said)}" '
            f'viewBox="{left:.0f} {top:.0f} {wide:.0f} {tall:.0f}" width="{wide:.0f}" height="{tall:.0f}">',
            *(marks for marks, _ in lines),
            *(labels for _, labels in lines),
            *(_terminal(i == 0, layout.nodes[i], cases) for i in range(2)),
            *(_box(picture, i, layout.nodes[i], which) for i in range(2, len(picture.nodes))),
            "</svg>",
        ]
    )


def _terminal(is_start: bool, middle: Point, cases: str) -> str:
    x, y = middle
    mark = f"M{x - 3.5:.1f} {y - 5.5:.1f}l9.5 5.5l-9.5 5.5z" if is_start else f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9z"
    line = y - CIRCLE / 2 - 6 if is_start else y + CIRCLE / 2 + 14
    return (
        f'<g class="lm-end"><title>{"start" if is_start else "end"}: {cases}</title>'
        f'<circle cx="{x:g}" cy="{y:g}" r="{CIRCLE / 2:g}"/><path d="{mark}"/>'
        f'<text class="lm-count" x="{x:g}" y="{line:.1f}">{cases}</text></g>'
    )


def _box(picture: Picture, place: int, middle: Point, which: int) -> str:
    graph, node, (x, y) = picture.graph, picture.nodes[place], middle
    wide, tall = picture.sketch.sizes[place]
    events = [int(use.events[node]) for use in graph.uses]
    change = change_of_count(*events, *(use.cases for use in graph.uses)) if len(events) == 2 else ""
    most = int(graph.uses[which].events[list(picture.shown.nodes)].max())
    step = min(int(FILLS * math.sqrt(events[which] / most)), FILLS - 1) if most else 0
    name, below = picture.names[node], y - tall / 2 + PADDING / 2 + 11
    texts = [
        f'<text class="lc-label" x="{x:g}" y="{below + LINE_HEIGHT * row:.1f}">{xml(line)}</text>'
        for row, line in enumerate(name.lines)
    ]
    below += LINE_HEIGHT * len(texts)
    texts.append(f'<text class="lm-count" x="{x:g}" y="{below:.1f}">{count(events[which])}{_sign(which, events, change)}</text>')
    told = "\n".join(_told(graph, name.text, events))
    return (
        f'<g class="lm-node lm-fill-{step}{_classes(which, events, change)}"><title>{xml(told)}</title>'
        f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="7"/>{"".join(texts)}</g>'
    )


def _line(picture: Picture, place: int, course: Course, which: int) -> tuple[str, str]:
    """A line as its marks, and what goes on top of all lines: its labels and its title."""
    graph, shown, line = picture.graph, picture.shown, picture.sketch.lines[place]
    ends = " → ".join(text_of(graph, picture.names, picture.nodes[node]) for node in (line.source, line.target))
    if place >= len(shown.edges):
        return _marks("lm-edge lm-bridge", f"{ends}\nby way of activities that are not shown", course, 1.5)
    edge, use = shown.edges[place], graph.uses[which]
    counts = [int(of.counts[edge]) for of in graph.uses]
    often = long = labels = ""
    if len(counts) == 2:
        before, after = graph.uses
        often = change_of_count(counts[0], counts[1], before.cases, after.cases)
        long = change_of_mean(*(float(of[edge]) for of in (before.seconds, after.seconds, before.errors, after.errors)))
    most = max(int(use.counts[list(shown.edges)].max()), 1)
    thick = THINNEST + (WIDEST - THINNEST) * math.sqrt(counts[which] / most)
    times = ["" if math.isnan(of.seconds[edge]) else duration(float(of.seconds[edge])) for of in graph.uses]
    if counts[which] and course.label is not None:
        at = f'x="{course.label[0]:g}" y="{course.label[1] + 4:.1f}"'
        labels = f'<text class="lm-frequency" {at}>{count(counts[which])}{_sign(which, counts, often)}</text>'
        if times[which]:
            labels += f'<text class="lm-duration" {at}>{times[which]}{_sign(which, counts, long)}</text>'
    told = "\n".join(_told(graph, ends, counts, [time and f", {time} on average" for time in times]))
    return _marks(f"lm-edge{_classes(which, counts, often, long)}", told, course, thick, labels)


def _told(graph: Graph, name: str, counts: Sequence[int], times: Sequence[str] = ("", "")) -> Iterator[str]:
    """What a title says: the name, a line a log for how often and how long, then one for the change."""
    yield name
    both = len(counts) == 2
    for who, times_taken, use, time in zip(("original: ", "anonymized: "), counts, graph.uses, times, strict=False):
        per_case = f" ({number(times_taken / use.cases)} per case)" if times_taken else ""
        yield f"{who if both else ''}{count(times_taken)} {'time' if times_taken == 1 else 'times'}{per_case}{time}"
    if both:
        before, after = (times_taken / max(use.cases, 1) for times_taken, use in zip(counts, graph.uses, strict=True))
        if before and after:
            yield f"change per case: {signed_share(after / before - 1)}"
        else:
            yield "only in the original" if before else "only in the anonymized log"


def _marks(classes: str, told: str, course: Course, thick: float, labels: str = "") -> tuple[str, str]:
    """A spline with the head of its arrow, and, to go on top, a broad line that only the pointer finds."""
    (x, y), *others = course.points
    curve = f"M{x:g} {y:g}C" + " ".join(f"{x:g} {y:g}" for x, y in others)
    near = f"M{x:.0f} {y:.0f}C" + " ".join(f"{x:.0f} {y:.0f}" for x, y in others)
    (x, y), (tip_x, tip_y) = course.points[-1], course.tip  # the head goes from where the spline ends to the tip
    length, half = math.hypot(tip_x - x, tip_y - y) or ARROW, 2.4 + 0.75 * thick
    out_x, out_y = -(tip_y - y) / length * half, (tip_x - x) / length * half
    head = f"M{tip_x:g} {tip_y:g}L{x + out_x:.1f} {y + out_y:.1f}L{x - out_x:.1f} {y - out_y:.1f}z"
    return (
        f'<g class="{classes}"><path class="lm-line" stroke-width="{thick:.1f}" d="{curve}"/>'
        f'<path class="lm-head" d="{head}"/></g>',
        f'<g class="{classes}"><title>{xml(told)}</title><path class="lm-hit" d="{near}"/>{labels}</g>',
    )


def _classes(which: int, counts: list[int], *changes: str) -> str:
    """Classes of a mark: the original is drawn in its own colour, but for what was lost."""
    seen = [change for change in changes if change and (which == len(counts) - 1 or change in ("lost", "false"))]
    return "".join(f" lm-{change}" for change in seen) + ("" if counts[which] else " lm-ghost")


def _sign(which: int, counts: list[int], change: str) -> str:
    """A triangle for those who do not see colours."""
    sign = SIGNS.get(change, "") if which == len(counts) - 1 else ""
    return f'<tspan class="lm-sign" dx="3">{sign}</tspan>' if sign else ""


View = Literal["frequency", "duration"]
NAMES = tuple(detail.name for detail in DETAILS)
SECONDS = 8.0  # for a layout: a fraction of one is usual, and a busy machine is no reason to go without a map


@dataclass(frozen=True)
class MapLevel:
    """One level of detail, drawn; `original` is None where there is only an anonymized log."""

    name: str
    said: str
    original: str | None
    anonymized: str


@dataclass(frozen=True)
class MapPair:
    """The levels that could be drawn, simplest first, the shown edges as a table, and why a drawing is missing, if one is."""

    levels: tuple[MapLevel, ...]
    table: EdgeRows
    note: str


def map_pair(original: EventLog | None, anonymized: EventLog, *, has_times: bool = True, seconds: float = SECONDS) -> MapPair:
    """The maps of two logs, or of the anonymized one alone, with so many seconds for Graphviz.

    `has_times` says whether the anonymized log's timestamps mean anything; otherwise no duration of it is shown.
    """
    logs = [log for log in (original, anonymized) if log is not None]
    found, table, note = laid_out(logs, DETAILS, seconds, last_has_times=has_times)
    levels = tuple(
        MapLevel(
            name,
            said_of_level(picture.graph, picture.shown),
            drawing(picture, layout, 0, "original") if original is not None else None,
            drawing(picture, layout, len(logs) - 1, "anonymized"),
        )
        for name, picture, layout in found
    )
    return MapPair(levels, table, note)


def laid_out(
    logs: Sequence[EventLog], details: Sequence[Detail], seconds: float, *, last_has_times: bool = True
) -> tuple[list[tuple[str, Picture, Layout]], EdgeRows, str]:
    """The levels that the logs have together, without those that show no more than the one before, as far as laid out in time.

    With them the edges of the most detailed level, and why a level is missing, if one is.
    """
    graph = graph_of(*logs)
    if not last_has_times:
        nothing = np.full(len(graph.source), np.nan)
        graph = replace(graph, uses=(*graph.uses[:-1], replace(graph.uses[-1], seconds=nothing, errors=nothing)))
    shown: dict[Shown, str] = {}
    for detail in details:
        shown.setdefault(shown_at(graph, detail), detail.name)
    largest = list(shown)[-1]
    names = dict(zip(largest.nodes, names_of([graph.labels[node] for node in largest.nodes]), strict=True))
    table = rows_of(graph, largest, names)
    if not graph.labels:
        return [], table, "There is no map, because there is no event."
    pictures = [Picture(graph, part, names) for part in shown]
    layouts, why = layouts_of([picture.sketch for picture in pictures], seconds)
    lacking = " and ".join(list(shown.values())[len(layouts) :]) if layouts else ""
    note = f"The map{lacking and f' ({lacking})'} is not drawn: {why}. The table has its edges." if why else ""
    return list(zip(shown.values(), pictures, layouts, strict=False)), table, note


@dataclass(frozen=True, repr=False)
class ProcessMap:
    """A process map that notebooks show by themselves.

    `said` tells how much of the log it shows, `table` has its edges as text, `note` says why there is no drawing, if so.
    """

    said: str
    table: EdgeRows
    note: str
    _drawn: str = field(default="")

    def svg(self) -> str:
        """The map as an SVG file, in colours that follow the reader's choice of light or dark; a LibraError says why not."""
        if not self._drawn:
            raise LibraError(self.note)
        opening, _, rest = self._drawn.partition(">")
        x, y, wide, tall = opening.partition('viewBox="')[2].partition('"')[0].split()
        ground = f'<rect class="lm-ground" x="{x}" y="{y}" width="{wide}" height="{tall}"/>'
        return f"{opening}><style>{palette('.lm')}{MAP_STYLE}</style>{ground}{rest}\n"

    def save(self, path: str | Path) -> Path:
        """Write the map to an SVG file, whole or not at all; a LibraError says why not and what to do."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise UsageError(f"{target}: the map is written as SVG. End its name in .svg.")
        drawn = self.svg()
        check_writable("", target)
        with atomic_output(target) as stream:
            stream.write(drawn.encode())
        return target

    def _repr_html_(self) -> str:
        """The map in a notebook, or its edges as a table where nothing could be drawn."""
        if self._drawn:
            return f'<figure class="lm-figure">{self.svg()}<figcaption>{xml(self.said)}</figcaption></figure>'
        rows = (f"<tr>{''.join(f'<td>{xml(cell)}</td>' for cell in row)}</tr>" for row in self.table.rows)
        heads = "".join(f"<th>{xml(heading)}</th>" for heading in self.table.headings)
        return f"<p>{xml(self.note)}</p><table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def __repr__(self) -> str:
        """A short form without any figure of the log: it may end up in a log file."""
        return "ProcessMap(drawn)" if self._drawn else "ProcessMap(not drawn)"


def process_map(
    log: EventLog, *, level: int | str = "main paths", view: View = "frequency", seconds: float = SECONDS
) -> ProcessMap:
    """The process map of a log at a level of detail ("overview", "main paths" or "detailed", or 0, 1 or 2).

    The view is what the edges are labelled with: how often, or how long on average.
    """
    wanted = level if isinstance(level, int) and level in range(len(NAMES)) else NAMES.index(level) if level in NAMES else None
    if wanted is None:
        raise UsageError(f"There is no map level {level!r}. Choose one of: {', '.join(NAMES)}.")
    if view not in get_args(View):
        raise UsageError(f"There is no map view {view!r}. Choose one of: {', '.join(get_args(View))}.")
    levels, table, note = laid_out([log], [DETAILS[wanted]], seconds)
    if not levels:
        return ProcessMap("", table, note)
    _, picture, layout = levels[0]
    looks = "anonymized lm-show-duration" if view == "duration" else "anonymized"
    return ProcessMap(said_of_level(picture.graph, picture.shown), table, "", drawing(picture, layout, 0, looks))
