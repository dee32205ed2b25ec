"""Process maps: of one log as an SVG file or in a notebook, or of an original and its anonymized log side by side.

A map holds figures of its log as they are: a map of an original is as confidential as the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from libra._system.files import atomic_output
from libra.errors import LibraError, UsageError
from libra.eventlog.log import EventLog
from libra.reporting.drawing import MAP_STYLE, palette
from libra.reporting.map_drawing import EdgeRows, Picture, drawing, names_of, rows_of, said_of_level
from libra.reporting.map_graph import DETAILS, Detail, Shown, graph_of, shown_at
from libra.reporting.map_layout import Layout, layouts_of
from libra.reporting.text import xml
from libra.targets import check_writable

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
