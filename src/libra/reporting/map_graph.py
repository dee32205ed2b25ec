"""The directly-follows graph of one log or of two, what a level of detail shows of it, and what changed between the logs.

Aggregates only. All logs count alike, and every activity shown lies on a way from the start to the end.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from libra.eventlog.log import EventLog
from libra.measures.distances import Floats, Integers

Booleans = npt.NDArray[np.bool_]
MICROS = 1e6  # in a second
NOTABLE = 0.2  # a change below a fifth is not worth a colour
CHANCE = 2.0  # standard deviations


@dataclass(frozen=True, eq=False, repr=False)
class Use:
    """How one log uses a graph.

    `events` counts per activity, `counts` per edge. `seconds` is the mean duration of an edge's steps, `errors` the standard
    error of that mean, infinite for a single step; both are NaN where the log has no step. Edges from the start and to the end
    have no duration.
    """

    cases: int
    events: Integers
    counts: Integers
    seconds: Floats
    errors: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """The nodes and edges that the logs use together.

    Activity i has the label `labels[i]` and comes, on average, at `places[i]` of its cases: from 0, the beginning, to 1. Edge j
    goes from `source[j]` to `target[j]`, where `len(labels)` is the start and one more is the end.
    """

    labels: tuple[str, ...]
    places: Floats
    source: Integers
    target: Integers
    uses: tuple[Use, ...]

    @property
    def start(self) -> int:
        """The code of the artificial start."""
        return len(self.labels)

    @property
    def end(self) -> int:
        """The code of the artificial end."""
        return len(self.labels) + 1

    @property
    def is_step(self) -> Booleans:
        """Which edges are from activity to activity."""
        return (self.source < self.start) & (self.target < self.start)

    @cached_property
    def edge_weight(self) -> Floats:
        """For every edge its share of all steps, the first and the last of every case included, where it is larger."""
        weight: Floats = np.max([use.counts / max(int(use.counts.sum()), 1) for use in self.uses], axis=0)
        return weight


def graph_of(*logs: EventLog) -> Graph:
    """The graph that the logs use together, with one `Use` a log, in their order."""
    labels = sorted({label for log in logs for label in log.activities})
    code = {label: place for place, label in enumerate(labels)}
    codes = [np.array([code[label] for label in log.activities], np.int64) for log in logs]
    parts = [_edges(log, of, len(labels)) for log, of in zip(logs, codes, strict=True)]
    keys, position = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    source, target = np.divmod(keys, len(labels) + 2)
    found = np.split(position, np.cumsum([len(part[0]) for part in parts])[:-1])
    uses, sums, said = [], np.zeros(len(labels)), np.zeros(len(labels))
    for log, of, (_, used), where in zip(logs, codes, parts, found, strict=True):
        events, counts = np.zeros(len(labels), np.int64), np.zeros(len(keys), np.int64)
        events[of] = np.bincount(log.activity_codes, minlength=len(of))
        counts[where] = used
        uses.append(Use(log.n_cases, events, counts, *_durations(log, where, len(keys))))
        starts, lengths = log.case_offsets[:-1], np.diff(log.case_offsets)
        within = (np.arange(log.n_events) - np.repeat(starts, lengths) + 0.5) / np.repeat(lengths, lengths)
        sums[of] += np.bincount(log.activity_codes, within, minlength=len(of)) / events[of]
        said[of] += 1
    return Graph(tuple(labels), sums / np.maximum(said, 1), source, target, tuple(uses))


def _edges(log: EventLog, codes: Integers, n_labels: int) -> tuple[Integers, Integers]:
    """The keys of the edges of a log, those between activities first, and their counts."""
    edges, ends, n_codes = log.directly_follows, log.case_offsets, n_labels + 2
    first = np.bincount(log.activity_codes[ends[:-1]], minlength=len(codes))
    last = np.bincount(log.activity_codes[ends[1:] - 1], minlength=len(codes))
    keys = (
        codes[edges.source] * n_codes + codes[edges.target],
        n_labels * n_codes + codes[first > 0],
        codes[last > 0] * n_codes + n_labels + 1,
    )
    return np.concatenate(keys), np.concatenate((edges.counts, first[first > 0], last[last > 0]))


def _durations(log: EventLog, where: Integers, n_edges: int) -> tuple[Floats, Floats]:
    """The mean seconds of each edge of the graph and their standard errors; the log's edges are at these places of the graph."""
    seconds, errors = np.full(n_edges, np.nan), np.full(n_edges, np.nan)
    steps = log.directly_follows
    taken, between = steps.step_micros / MICROS, where[: len(steps)]
    mean = np.bincount(steps.step_edge, taken, minlength=len(steps)) / steps.counts
    squares = np.bincount(steps.step_edge, (taken - mean[steps.step_edge]) ** 2, minlength=len(steps))
    seconds[between] = mean
    several = np.maximum(steps.counts - 1, 1)
    errors[between] = np.where(steps.counts > 1, np.sqrt(squares / several / steps.counts), np.inf)
    return seconds, errors


@dataclass(frozen=True)
class Detail:
    """A level of detail: its name and the most that it shows. Ways in and out take up to two edges a node."""

    name: str
    nodes: int
    edges: int


DETAILS = (Detail("overview", 8, 16), Detail("main paths", 16, 32), Detail("detailed", 30, 60))


@dataclass(frozen=True)
class Shown:
    """What is shown: activities and edges of a graph, both by their place there, and bridges as pairs of nodes."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    bridges: tuple[tuple[int, int], ...]


def shown_at(graph: Graph, detail: Detail) -> Shown:
    """What a level shows of a graph."""
    weight = np.max([use.events / max(int(use.events.sum()), 1) for use in graph.uses], axis=0)  # shares of all events
    nodes = np.argsort(-weight, kind="stable")[: detail.nodes]
    if not len(nodes):
        return Shown((), (), ())
    seen = np.zeros(graph.end + 1, bool)
    seen[[*nodes, graph.start, graph.end]] = True
    edges_in, bridges_in = _ways(graph.start, graph.source, graph.target, graph.edge_weight, seen, nodes.tolist())
    edges_out, bridges_out = _ways(graph.end, graph.target, graph.source, graph.edge_weight, seen, nodes.tolist())
    edges = dict.fromkeys((*edges_in, *edges_out))
    bridges = dict.fromkeys((*bridges_in, *((to, origin) for origin, to in bridges_out)))
    possible = np.flatnonzero(seen[graph.source] & seen[graph.target])
    for edge in possible[np.argsort(-graph.edge_weight[possible], kind="stable")][: detail.edges].tolist():
        if len(edges) + len(bridges) < detail.edges:
            edges[edge] = None
    return Shown(tuple(sorted(nodes.tolist())), tuple(sorted(edges)), tuple(bridges))


def _ways(
    root: int, source: Integers, target: Integers, weight: Floats, seen: Booleans, wanted: Iterable[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Edges and bridges by which the root reaches the nodes wanted, one for each; bridges where there is no other way.

    Ways are the strongest ones, whose weakest edge is as heavy as can be; those between nodes that are seen come first.
    """
    order = np.argsort(source, kind="stable")
    first = np.searchsorted(source[order], np.arange(len(seen) + 1))

    def leaving(node: int) -> Iterator[tuple[bool, float, int]]:
        of = order[first[node] : first[node + 1]]
        hidden = ~(seen[source[of]] & seen[target[of]])
        return zip(hidden.tolist(), (-weight[of]).tolist(), of.tolist(), strict=True)

    missing, came_by = set(wanted), {root: -1}
    edges: list[int] = []
    bridges: list[tuple[int, int]] = []
    open_edges = list(leaving(root))
    heapq.heapify(open_edges)
    while missing and open_edges:
        edge = heapq.heappop(open_edges)[-1]
        node, origin = int(target[edge]), int(source[edge])
        if node in came_by:
            continue
        came_by[node] = edge
        if node in missing:
            missing.remove(node)
            if seen[origin]:
                edges.append(edge)
            else:
                while not seen[origin]:
                    origin = int(source[came_by[origin]])
                bridges.append((origin, node))
        for one in leaving(node):
            heapq.heappush(open_edges, one)
    return edges, bridges


def change_of_count(before: int, after: int, cases_before: int, cases_after: int) -> str:
    """The change of a count in view of the cases of both logs: same, more, less, lost or false (only in the anonymized log).

    More and less are changes of the count per case by more than a fifth, and by more than twice the square root of what the
    original predicts for so many cases: about as far as chance takes a count.
    """
    if not before or not after:
        return "lost" if before else "false" if after else "same"
    expected = before * cases_after / cases_before
    moved = after - expected
    if abs(moved) <= max(NOTABLE * expected, CHANCE * math.sqrt(expected)):
        return "same"
    return "more" if moved > 0 else "less"


def change_of_mean(before: float, after: float, error_before: float, error_after: float) -> str:
    """The change of a mean duration: longer, shorter, or nothing where it is about the same or one of the logs has none.

    Longer and shorter are changes by more than a fifth, and by more than twice the standard error of the difference.
    """
    moved = after - before
    if math.isnan(moved) or abs(moved) <= max(NOTABLE * abs(before), CHANCE * math.hypot(error_before, error_after)):
        return ""
    return "longer" if moved > 0 else "shorter"
