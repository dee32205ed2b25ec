"""The graph behind a map: counts and means are those of the log, and two logs share one list."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

import libra
from libra.eventlog.log import empty_log
from libra.reporting.map_graph import Graph, graph_of
from maps.tiny_logs import log_of


def counted(graph: Graph, which: int) -> dict[tuple[str, str], int]:
    names = [*graph.labels, "<start>", "<end>"]
    ends = zip(graph.source.tolist(), graph.target.tolist(), graph.uses[which].counts.tolist(), strict=True)
    return {(names[source], names[target]): times for source, target, times in ends if times}


def by_hand(traces: Sequence[Sequence[str]]) -> dict[tuple[str, str], int]:
    whole = [("<start>", *trace, "<end>") for trace in traces]
    return dict(Counter(pair for trace in whole for pair in pairwise(trace)))


def test_every_edge_is_counted_as_by_hand_in_both_logs() -> None:
    first, second = [["a", "b", "b"], ["a", "c"], ["b"]], [["b", "a"], ["d"]]
    graph = graph_of(log_of(first), log_of(second))
    assert counted(graph, 0) == by_hand(first)
    assert counted(graph, 1) == by_hand(second)
    assert graph.labels == ("a", "b", "c", "d")
    assert [use.events.tolist() for use in graph.uses] == [[2, 3, 1, 0], [1, 1, 0, 1]]
    assert [use.cases for use in graph.uses] == [3, 2]


def test_mean_durations_are_those_of_the_steps_and_may_be_negative() -> None:
    graph = graph_of(log_of([["a", "b"]], minutes=10), log_of([["a", "b"]], minutes=-3))
    step = graph.is_step.tolist().index(True)
    assert [use.seconds[step] for use in graph.uses] == [600.0, -180.0]
    assert all(math.isnan(use.seconds[edge]) for use in graph.uses for edge in range(3) if edge != step)


def test_a_mean_of_one_step_is_never_certain() -> None:
    graph = graph_of(log_of([["a", "b"]]))
    assert math.isinf(graph.uses[0].errors[graph.is_step.tolist().index(True)])


def test_an_empty_log_uses_nothing() -> None:
    full = log_of([["a", "b"]])
    graph = graph_of(full, empty_log(full))
    assert graph.uses[1].counts.tolist() == [0, 0, 0]
    assert graph_of(empty_log(full), full).edge_weight.tolist() == [1 / 3] * 3
    assert graph_of(empty_log(full), empty_log(full)).labels == ()


@pytest.mark.parametrize("name", ["sepsis", "bpic13"])
def test_steps_of_real_logs_add_up(shared_logs: Path, name: str) -> None:
    log = libra.read(shared_logs / f"{name}.xes.gz")
    graph = graph_of(log)
    assert int(graph.uses[0].counts.sum()) == log.n_events + log.n_cases
    assert int(graph.uses[0].events.sum()) == log.n_events
