"""What a map says in words: the text behind every mark, and the shown edges as a table.

In: a graph and the names of its activities. Out: plain text, not yet safe for markup.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from libra.charts.numbers import MISSING, count, duration, number, share, signed_share
from libra.maps.graph import Graph, Use
from libra.maps.levels import Shown, larger_share
from libra.maps.names import Name

START, END = "start", "end"
NEARLY_ALL = 0.9


@dataclass(frozen=True)
class EdgeRows:
    """The shown edges as text, heaviest first, and what was left out."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    said: str


def rows_of(graph: Graph, shown: Shown, names: Mapping[int, Name]) -> EdgeRows:
    """The edges that a level shows, as a table."""
    weight = larger_share([use.step_shares for use in graph.uses])
    ordered = sorted(shown.edges, key=lambda edge: (-weight[edge], edge))
    both = len(graph.uses) > 1
    headings = (
        ("from", "to", "times, original", "times, anonymized", "mean duration, original", "mean duration, anonymized")
        if both
        else ("from", "to", "times", "mean duration")
    )
    rows = tuple(
        (
            text_of(graph, names, int(graph.source[edge])),
            text_of(graph, names, int(graph.target[edge])),
            *(count(int(use.counts[edge])) for use in graph.uses),
            *(time_of(use, edge) for use in graph.uses),
        )
        for edge in ordered
    )
    some = f"The {count(len(rows))} edges of the most detailed map, of {count(len(graph.source))} in all, heaviest first."
    said = some if len(rows) < len(graph.source) else "All edges, heaviest first."
    return EdgeRows(headings, rows, said)


def text_of(graph: Graph, names: Mapping[int, Name], node: int) -> str:
    """What people read for a node."""
    return START if node == graph.start else END if node == graph.end else names[node].text


def time_of(use: Use, edge: int) -> str:
    """The mean duration of an edge's steps in a log, or a dash."""
    seconds = float(use.seconds[edge])
    return MISSING if math.isnan(seconds) else duration(seconds)


def said_of_level(graph: Graph, shown: Shown) -> str:
    """How much of the logs a level shows.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.maps.graph import graph_of
        >>> from libra.maps.levels import DETAILS, shown_at
        >>> graph = graph_of(simulate(cases=50))
        >>> said_of_level(graph, shown_at(graph, DETAILS[0])).partition(" of ")[0]
        '8'
    """
    steps = graph.is_step
    edges = [edge for edge in shown.edges if steps[edge]]
    wholes = [int(use.counts[steps].sum()) for use in graph.uses]
    parts = [share(int(use.counts[edges].sum()) / whole) if whole else "" for use, whole in zip(graph.uses, wholes, strict=True)]
    whose = ("of the steps of the original", "of those of the anonymized log") if len(parts) == 2 else ("of all steps",)
    covered = " and ".join(f"{part} {of}" for part, of in zip(parts, whose, strict=True) if part)
    nodes = f"{count(len(shown.nodes))} of {count(len(graph.labels))} activities"
    said = f"{nodes} and {count(len(edges))} of {count(int(steps.sum()))} edges" + (f": {covered}" if covered else "")
    return f"{said}.{_ends(graph, shown)}"


def _ends(graph: Graph, shown: Shown) -> str:
    """How many cases begin and end where a level shows it, if not nearly all; by the first log."""
    use = graph.uses[0]
    begin, end = (
        int(use.counts[[edge for edge in shown.edges if ends[edge] == terminal]].sum()) / max(use.cases, 1)
        for ends, terminal in ((graph.source, graph.start), (graph.target, graph.end))
    )
    if not use.cases or min(begin, end) >= NEARLY_ALL:
        return ""
    return f" Of the cases, {share(begin)} begin and {share(end)} end with a step that is shown; the others with rarer ones."


def told_of_node(graph: Graph, name: str, node: int) -> str:
    """How often each log has an activity, and the change, in words."""
    return "\n".join([name, *_told(graph, [int(use.events[node]) for use in graph.uses], ["" for _ in graph.uses])])


def told_of_edge(graph: Graph, ends: str, edge: int) -> str:
    """How often each log takes an edge, how long that takes, and the change, in words."""
    times = ["" if math.isnan(use.seconds[edge]) else f", {time_of(use, edge)} on average" for use in graph.uses]
    return "\n".join([ends, *_told(graph, [int(use.counts[edge]) for use in graph.uses], times)])


def _told(graph: Graph, counts: Sequence[int], times: Sequence[str]) -> Iterator[str]:
    """A line a log, then one for the change."""
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
