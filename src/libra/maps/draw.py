"""A map as SVG: our own drawing on the positions of a layout, one log at a time.

In: a picture and its layout. Out: a fragment of SVG without style, script, link or id; its looks come from the classes of
`libra.maps.style`. Two logs drawn on one layout have everything at the same place. What a log lacks and the other one has is
there as a ghost.
"""

from __future__ import annotations

import math

from libra.charts.numbers import count
from libra.charts.text import xml
from libra.maps.change import change_of_count, change_of_mean
from libra.maps.graph import Use
from libra.maps.layout import ARROW, Course, Layout, Point
from libra.maps.sketch import CIRCLE, LINE_HEIGHT, PADDING, Picture, cases_of
from libra.maps.style import FILLS
from libra.maps.words import text_of, time_of, told_of_edge, told_of_node

MARGIN, BESIDE = 8.0, 16.0  # around the map, and for the line above the start and below the end
THINNEST, WIDEST = 1.1, 6.0
SIGNS = {"more": "▲", "less": "▼", "longer": "▲", "shorter": "▼"}


def drawing(picture: Picture, layout: Layout, which: int, looks: str) -> str:
    """The map of one of the graph's logs as a fragment of SVG.

    Args:
        picture: What is drawn.
        layout: Where.
        which: The place of the log among those of the graph.
        looks: Whose colours it has: "original" or "anonymized".
    """
    use, shown = picture.graph.uses[which], picture.shown
    left = min(0.0, *(x - picture.cases_width / 2 for x, _ in layout.nodes[:2])) - MARGIN
    right = max(layout.width, *(x + picture.cases_width / 2 for x, _ in layout.nodes[:2])) + MARGIN
    top, wide, tall = -MARGIN - BESIDE, right - left, layout.height + 2 * (MARGIN + BESIDE)
    steps = [edge for edge in shown.edges if picture.graph.is_step[edge]]
    whose = f"the {looks} log" if len(picture.graph.uses) == 2 else "a log"
    said = f"Process map of {whose}: {count(len(shown.nodes))} activities, {count(len(steps))} edges, {cases_of(use)}"
    lines = [_line(picture, line, course, which) for line, course in enumerate(layout.courses)]
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="lm lm-{looks}" role="img" aria-label="{xml(said)}" '
            f'viewBox="{left:.0f} {top:.0f} {wide:.0f} {tall:.0f}" width="{wide:.0f}" height="{tall:.0f}">',
            *(marks for marks, _ in lines),
            *(labels for _, labels in lines),
            *(_terminal(i == 0, layout.nodes[i], cases_of(use)) for i in range(2)),
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
    step = min(int(len(FILLS) * math.sqrt(events[which] / most)), len(FILLS) - 1) if most else 0
    name, below = picture.names[node], y - tall / 2 + PADDING / 2 + 11
    texts = [
        f'<text class="lc-label" x="{x:g}" y="{below + LINE_HEIGHT * row:.1f}">{xml(line)}</text>'
        for row, line in enumerate(name.lines)
    ]
    below += LINE_HEIGHT * len(texts)
    texts.append(f'<text class="lm-count" x="{x:g}" y="{below:.1f}">{count(events[which])}{_sign(which, events, change)}</text>')
    return (
        f'<g class="lm-node lm-fill-{step}{_classes(which, events, change)}">'
        f"<title>{xml(told_of_node(graph, name.text, node))}</title>"
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
    often = long = ""
    if len(counts) == 2:
        before, after = graph.uses
        often = change_of_count(counts[0], counts[1], before.cases, after.cases)
        long = change_of_mean(*(float(of[edge]) for of in (before.seconds, after.seconds, before.errors, after.errors)))
    most = max(int(use.counts[list(shown.edges)].max()), 1)
    width = THINNEST + (WIDEST - THINNEST) * math.sqrt(counts[which] / most)
    labels = _labels(use, edge, course, _sign(which, counts, often), _sign(which, counts, long)) if counts[which] else ""
    return _marks(f"lm-edge{_classes(which, counts, often, long)}", told_of_edge(graph, ends, edge), course, width, labels)


def _labels(use: Use, edge: int, course: Course, often: str, long: str) -> str:
    if course.label is None:
        return ""
    x, y = course.label
    place = f'x="{x:g}" y="{y + 4:.1f}"'
    timed = f'<text class="lm-duration" {place}>{time_of(use, edge)}{long}</text>' if not math.isnan(use.seconds[edge]) else ""
    return f'<text class="lm-frequency" {place}>{count(int(use.counts[edge]))}{often}</text>{timed}'


def _marks(classes: str, told: str, course: Course, width: float, labels: str = "") -> tuple[str, str]:
    """A spline with the head of its arrow, and, to go on top, a broad line that only the pointer finds."""
    (x, y), *others = course.points
    curve = f"M{x:g} {y:g}C" + " ".join(f"{x:g} {y:g}" for x, y in others)
    near = f"M{x:.0f} {y:.0f}C" + " ".join(f"{x:.0f} {y:.0f}" for x, y in others)
    return (
        f'<g class="{classes}"><path class="lm-line" stroke-width="{width:.1f}" d="{curve}"/>'
        f'<path class="lm-head" d="{_head(course, width)}"/></g>',
        f'<g class="{classes}"><title>{xml(told)}</title><path class="lm-hit" d="{near}"/>{labels}</g>',
    )


def _head(course: Course, width: float) -> str:
    """A triangle from where the spline ends to the tip, as broad as the line asks for."""
    (x, y), (tip_x, tip_y) = course.points[-1], course.tip
    length = math.hypot(tip_x - x, tip_y - y) or ARROW
    across_x, across_y = -(tip_y - y) / length, (tip_x - x) / length
    half = 2.4 + 0.75 * width
    return (
        f"M{tip_x:g} {tip_y:g}L{x + across_x * half:.1f} {y + across_y * half:.1f}"
        f"L{x - across_x * half:.1f} {y - across_y * half:.1f}z"
    )


def _classes(which: int, counts: list[int], *changes: str) -> str:
    """Classes of a mark: the original is drawn in its own colour, but for what was lost."""
    seen = [change for change in changes if change and (which == len(counts) - 1 or change in ("lost", "false"))]
    return "".join(f" lm-{change}" for change in seen) + ("" if counts[which] else " lm-ghost")


def _sign(which: int, counts: list[int], change: str) -> str:
    """A triangle for those who do not see colours."""
    sign = SIGNS.get(change, "") if which == len(counts) - 1 else ""
    return f'<tspan class="lm-sign" dx="3">{sign}</tspan>' if sign else ""
