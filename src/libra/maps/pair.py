"""Process maps of an original and its anonymized log side by side, or of the anonymized log alone.

In: two logs, or one. Out: a `MapPair`: levels of detail, each with a drawing a log on one layout, and the edges as a table, which
is there even where nothing can be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from libra.eventlog.log import EventLog
from libra.maps.draw import drawing
from libra.maps.graph import graph_of
from libra.maps.layout import Layout, layouts_of
from libra.maps.levels import DETAILS, Detail, Shown, shown_at
from libra.maps.names import names_of
from libra.maps.sketch import Picture
from libra.maps.words import EdgeRows, rows_of, said_of_level

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


@dataclass(frozen=True)
class LaidOut:
    """Levels with their positions, as many as were found in time; the edges of the most detailed one are in the table."""

    levels: tuple[tuple[str, Picture, Layout], ...]
    table: EdgeRows
    note: str


def map_pair(original: EventLog | None, anonymized: EventLog, *, has_times: bool = True, seconds: float = SECONDS) -> MapPair:
    """The maps of two logs, or of the anonymized one alone.

    Args:
        original: The original; None leaves it out, and all comparison with it.
        anonymized: The anonymized log.
        has_times: Whether the anonymized log's timestamps mean anything; otherwise no duration of it is shown.
        seconds: How long Graphviz may take for all levels together.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> maps = map_pair(log, log)
        >>> [level.name for level in maps.levels]
        ['overview', 'main paths', 'detailed']
    """
    found = laid_out([log for log in (original, anonymized) if log is not None], DETAILS, seconds, last_has_times=has_times)
    levels = tuple(
        MapLevel(
            name,
            said_of_level(picture.graph, picture.shown),
            drawing(picture, layout, 0, "original") if original is not None else None,
            drawing(picture, layout, len(picture.graph.uses) - 1, "anonymized"),
        )
        for name, picture, layout in found.levels
    )
    return MapPair(levels, found.table, found.note)


def laid_out(logs: Sequence[EventLog], details: Sequence[Detail], seconds: float, *, last_has_times: bool = True) -> LaidOut:
    """The levels of the map that the logs have together, without those that show no more than the one before.

    Example:
        >>> from libra.example.simulate import simulate
        >>> [name for name, _, _ in laid_out([simulate(cases=50)], DETAILS[:1], 30).levels]
        ['overview']
    """
    graph = graph_of(*logs)
    if not last_has_times:
        graph = replace(graph, uses=(*graph.uses[:-1], graph.uses[-1].without_times()))
    shown: dict[Shown, str] = {}
    for detail in details:
        shown.setdefault(shown_at(graph, detail), detail.name)
    largest = list(shown)[-1]
    names = dict(zip(largest.nodes, names_of([graph.labels[node] for node in largest.nodes]), strict=True))
    table = rows_of(graph, largest, names)
    if not graph.labels:
        return LaidOut((), table, "There is no map, because there is no event.")
    pictures = [Picture(graph, part, names) for part in shown]
    layouts, why = layouts_of([picture.sketch for picture in pictures], seconds)
    levels = tuple(zip(shown.values(), pictures, layouts, strict=False))
    lacking = " and ".join(list(shown.values())[len(layouts) :]) if layouts else ""
    note = f"The map{lacking and f' ({lacking})'} is not drawn: {why}. The table has its edges." if why else ""
    return LaidOut(levels, table, note)
