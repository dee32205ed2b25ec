"""What a level shows: bounded for any log, connected from start to end, and fair to both logs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import libra
from libra.eventlog.log import EventLog, empty_log
from libra.reporting.map_graph import DETAILS, Detail, Graph, Shown, graph_of, shown_at
from maps.tiny_logs import log_of


def reached(root: int, pairs: Iterable[tuple[int, int]]) -> set[int]:
    pairs, found = list(pairs), {root}
    while more := {target for source, target in pairs if source in found} - found:
        found |= more
    return found


def assert_connected_and_bounded(graph: Graph, shown: Shown, detail: Detail) -> None:
    pairs = [(int(graph.source[edge]), int(graph.target[edge])) for edge in shown.edges] + list(shown.bridges)
    assert reached(graph.start, pairs) >= set(shown.nodes)
    assert reached(graph.end, [(target, source) for source, target in pairs]) >= set(shown.nodes)
    assert {node for pair in pairs for node in pair} <= {*shown.nodes, graph.start, graph.end}
    assert len(shown.nodes) == min(detail.nodes, len(graph.labels))
    assert len(shown.edges) + len(shown.bridges) <= detail.edges
    assert len(set(pairs)) == len(pairs)


def many_labels(n_labels: int, seed: int) -> EventLog:
    random = np.random.default_rng(seed)
    return log_of([[f"a{label}" for label in random.zipf(1.3, size=12) % n_labels] for _ in range(300)])


LOGS = {
    "600 labels": many_labels(600, 1),
    "30 labels": many_labels(30, 2),
    "a chain of 200": log_of([[f"a{i:03}" for i in range(200)]]),
    "one event a case": log_of([[f"a{i:03}"] for i in range(90)]),
    "one event": log_of([["a"]]),
    "a loop": log_of([["a"] * 9]),
}


@pytest.mark.parametrize("detail", DETAILS, ids=lambda detail: detail.name)
@pytest.mark.parametrize("name", LOGS)
def test_every_activity_shown_lies_between_start_and_end(name: str, detail: Detail) -> None:
    for graph in (graph_of(LOGS[name]), graph_of(LOGS[name], LOGS["30 labels"]), graph_of(LOGS[name], empty_log(LOGS[name]))):
        assert_connected_and_bounded(graph, shown_at(graph, detail), detail)


@pytest.mark.parametrize("name", ["hospital", "sepsis", "bpic20"])
def test_levels_of_real_logs_are_connected(shared_logs: Path, name: str) -> None:
    graph = graph_of(libra.read(shared_logs / f"{name}.xes.gz"))
    for detail in DETAILS:
        assert_connected_and_bounded(graph, shown_at(graph, detail), detail)


def test_bridges_stand_only_where_no_shown_edge_leads() -> None:
    graph = graph_of(LOGS["30 labels"])
    assert shown_at(graph, DETAILS[2]).bridges == ()
    assert shown_at(graph_of(LOGS["a chain of 200"]), DETAILS[0]).bridges


def test_which_log_comes_first_does_not_matter() -> None:
    one, other = LOGS["30 labels"], many_labels(40, 3)
    for detail in DETAILS:
        assert shown_at(graph_of(one, other), detail) == shown_at(graph_of(other, one), detail)


def test_what_only_one_log_has_is_shown_if_it_is_heavy_there() -> None:
    many = log_of([[f"a{i}" for i in range(20)]] * 5)
    graph = graph_of(many, log_of([["new", "new"]]))
    assert graph.labels.index("new") in shown_at(graph, DETAILS[0]).nodes


def shown_pairs(graph: Graph, detail: Detail) -> set[str]:
    names = [*graph.labels, "start", "end"]
    return {f"{names[int(graph.source[edge])]} {names[int(graph.target[edge])]}" for edge in shown_at(graph, detail).edges}


def test_the_heaviest_edges_are_shown_once_all_activities_are_connected() -> None:
    graph = graph_of(log_of([["a", "b"]] * 50 + [["a", "a", "b"]] * 5 + [["b", "b"]] * 20 + [["b", "a"]] * 9))
    ways = {"start a", "a b", "b end"}
    assert shown_pairs(graph, Detail("tiny", 2, 3)) == ways
    assert shown_pairs(graph, Detail("tiny", 2, 5)) == {*ways, "start b", "b b"}
    assert shown_pairs(graph, Detail("tiny", 2, 6)) == {*ways, "start b", "b b", "a end"}
    assert shown_pairs(graph, Detail("tiny", 2, 99)) == {*ways, "start b", "b b", "a end", "b a", "a a"}


def test_an_activity_is_reached_and_left_by_its_strongest_way() -> None:
    traces = [["a", "x", "c"]] * 9 + [["b", "x", "d"]] * 2 + [["a", "d"]] * 20 + [["b", "c"]] * 20
    shown = shown_pairs(graph_of(log_of(traces)), Detail("tiny", 5, 7))
    assert {"a x", "x c"} <= shown
    assert not {"b x", "x d"} & shown


def test_edges_count_by_their_share_so_that_a_small_log_is_seen_beside_a_large_one() -> None:
    large = log_of([["a", "b"]] * 400 + [["a", "b", "b"]] * 90 + [["a", "a", "b"]] * 80)
    graph = graph_of(large, log_of([["b", "a"]]))
    assert {"start b", "b a", "a end"} <= shown_pairs(graph, Detail("tiny", 2, 6))


def test_an_empty_graph_shows_nothing() -> None:
    nothing = empty_log(LOGS["one event"])
    assert shown_at(graph_of(nothing, nothing), DETAILS[0]) == Shown((), (), ())
