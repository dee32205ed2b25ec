"""How large the parts of a map are: what a layout has to know, and what a drawing has to keep to.

In: a graph, what a level shows of it, and names. Out: a `Picture` that gives the `Sketch` for the layout. Sizes are large
enough for the text of every log, so that one layout serves them all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from libra.charts.numbers import count
from libra.charts.text import width
from libra.maps.graph import Graph, Use
from libra.maps.layout import Line, Point, Sketch
from libra.maps.levels import Shown, larger_share
from libra.maps.names import Name
from libra.maps.words import time_of

LABEL_SIZE, FIGURE_SIZE, LINE_HEIGHT = 12.0, 11.0, 15.0
CIRCLE, LEAST_BOX, PADDING = 26.0, 64.0, 11.0
SIGNED = " ▲"  # room for a triangle
HEAVIEST = 8
APART = 5.0  # of a label from its line


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
        weight = larger_share([use.step_shares for use in graph.uses])
        most = max((float(weight[edge]) for edge in shown.edges), default=1.0)

        def line(source: int, target: int, heavy: float, label: Point) -> Line:
            upwards = place[source] > place[target] and source != graph.end and target != graph.end
            return Line(place[source], place[target], 1 + round(HEAVIEST * math.sqrt(heavy)), upwards, label)

        lines = [
            *(
                line(int(graph.source[edge]), int(graph.target[edge]), float(weight[edge]) / most, _label_size(graph, edge))
                for edge in shown.edges
            ),
            *(line(source, target, 0.0, (0.0, 0.0)) for source, target in shown.bridges),
        ]
        boxes = (self._box_size(node) for node in self.nodes[2:])
        return Sketch(((CIRCLE, CIRCLE), (CIRCLE, CIRCLE), *boxes), tuple(lines))

    @property
    def cases_width(self) -> float:
        """How much room the number of cases takes beside the start and the end."""
        return max(width(cases_of(use)) for use in self.graph.uses) * FIGURE_SIZE

    def _box_size(self, node: int) -> Point:
        lines = self.names[node].lines
        figures = [count(int(use.events[node])) + SIGNED for use in self.graph.uses]
        wide = max(max(map(width, lines)) * LABEL_SIZE, max(map(width, figures)) * FIGURE_SIZE)
        return max(LEAST_BOX, wide + 2 * PADDING), LINE_HEIGHT * (len(lines) + 1) + PADDING


def cases_of(use: Use) -> str:
    """The number of a log's cases."""
    return f"{count(use.cases)} {'case' if use.cases == 1 else 'cases'}"


def _label_size(graph: Graph, edge: int) -> Point:
    texts = [text + SIGNED for use in graph.uses for text in (count(int(use.counts[edge])), time_of(use, edge))]
    return max(map(width, texts)) * FIGURE_SIZE + APART, LINE_HEIGHT
