"""Levels of detail: which activities and edges a map shows.

In: a graph. Out: `Shown`, at most as many nodes and edges as the level allows, whatever the log. The promise: all logs count
alike (what matters is the larger of the shares that an activity or edge has in them), and on the map every activity lies on a way
from the start to the end. Where such a way leads through activities that are not shown, a *bridge* stands for it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from libra.maps.graph import Booleans, Graph
from libra.measures.distances import Floats, Integers


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
    """What a level shows of a graph.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.maps.graph import graph_of
        >>> shown = shown_at(graph_of(simulate(cases=50)), DETAILS[0])
        >>> len(shown.nodes) <= 8, len(shown.edges) + len(shown.bridges) <= 16
        (True, True)
    """
    node_weight = larger_share([use.event_shares for use in graph.uses])
    edge_weight = larger_share([use.step_shares for use in graph.uses])
    nodes = np.argsort(-node_weight, kind="stable")[: detail.nodes]
    if not len(nodes):
        return Shown((), (), ())
    seen = np.zeros(graph.end + 1, bool)
    seen[[*nodes, graph.start, graph.end]] = True
    onward = _Ways(graph.source, graph.target, edge_weight, len(seen))
    back = _Ways(graph.target, graph.source, edge_weight, len(seen))
    edges_in, bridges_in = onward.connecting(graph.start, seen, nodes.tolist())
    edges_out, bridges_out = back.connecting(graph.end, seen, nodes.tolist())
    edges = dict.fromkeys((*edges_in, *edges_out))
    bridges = dict.fromkeys((*bridges_in, *((to, origin) for origin, to in bridges_out)))
    possible = np.flatnonzero(seen[graph.source] & seen[graph.target])
    for edge in possible[np.argsort(-edge_weight[possible], kind="stable")][: detail.edges].tolist():
        if len(edges) + len(bridges) < detail.edges:
            edges[edge] = None
    return Shown(tuple(sorted(nodes.tolist())), tuple(sorted(edges)), tuple(bridges))


def larger_share(shares: Iterable[Floats]) -> Floats:
    """For every node or edge the larger of its shares in the logs.

    Example:
        >>> larger_share([np.array([0.1, 0.9]), np.array([0.3, 0.7])]).tolist()
        [0.3, 0.9]
    """
    larger: Floats = np.stack(list(shares)).max(axis=0)
    return larger


class _Ways:
    """The strongest ways from one node to all others: those whose weakest edge is as heavy as can be."""

    def __init__(self, source: Integers, target: Integers, weight: Floats, n_nodes: int) -> None:
        self._order = np.argsort(source, kind="stable")
        self._first = np.searchsorted(source[self._order], np.arange(n_nodes + 1))
        self._source, self._target, self._weight = source, target, weight

    def connecting(self, root: int, seen: Booleans, wanted: Iterable[int]) -> tuple[list[int], list[tuple[int, int]]]:
        """Edges and bridges by which the root reaches the nodes wanted, one for each; bridges where there is no other way."""
        missing, came_by = set(wanted), {root: -1}
        edges: list[int] = []
        bridges: list[tuple[int, int]] = []
        open_edges = list(self._leaving(root, seen))
        heapq.heapify(open_edges)
        while missing and open_edges:
            edge = heapq.heappop(open_edges)[-1]
            node, origin = int(self._target[edge]), int(self._source[edge])
            if node in came_by:
                continue
            came_by[node] = edge
            if node in missing:
                missing.remove(node)
                if seen[origin]:
                    edges.append(edge)
                else:
                    while not seen[origin]:
                        origin = int(self._source[came_by[origin]])
                    bridges.append((origin, node))
            for leaving in self._leaving(node, seen):
                heapq.heappush(open_edges, leaving)
        return edges, bridges

    def _leaving(self, node: int, seen: Booleans) -> Iterator[tuple[bool, float, int]]:
        """The edges that leave a node, as what to take first: those between nodes that are seen, and the heavy ones."""
        of = self._order[self._first[node] : self._first[node + 1]]
        hidden = ~(seen[self._source[of]] & seen[self._target[of]])
        return zip(hidden.tolist(), (-self._weight[of]).tolist(), of.tolist(), strict=True)
