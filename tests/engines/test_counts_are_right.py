"""Every control-flow table against a plain count in Python, one case at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from some_engines import Scene, counted_plainly, edges_plainly, engine_from, scenes

from libra.engines.control_flow_tables import BaseEdges, DoubtfulEdges, NearestCounts, Together, VariantCounts, label_sets
from libra.eventlog.cases import traces_of


@given(scenes())
@settings(max_examples=80)
def test_a_case_counts_where_a_plain_count_puts_it(scene: Scene) -> None:
    engine = engine_from([scene.canary], scene.n_labels)
    for table in scene.tables:
        if isinstance(table, NearestCounts):
            continue
        found = engine.count(table)
        assert found.shape == table.shape
        plain = counted_plainly(table, scene.canary, scene.n_labels)
        square = sum(times * times for times in plain.values())
        beyond = square > Fraction(table.clip) ** 2
        cells = dict(enumerate(found.ravel().tolist()))
        assert {cell for cell, count in cells.items() if count} <= set(plain)
        for cell, times in plain.items():
            if beyond:
                ideal = abs(times) * table.scale * table.clip / math.sqrt(square)
                assert ideal - 1.001 < math.copysign(cells[cell], times * cells[cell]) <= ideal, table.purpose
            else:
                assert cells[cell] == times * table.scale, table.purpose


@given(scenes())
@settings(max_examples=80)
def test_a_case_counts_for_itself_or_for_the_variant_with_the_most_similar_edges(scene: Scene) -> None:
    table = NearestCounts(traces_of(scene.kept), scene.n_labels)
    found = engine_from([scene.canary], scene.n_labels).count(table)
    if not scene.kept:
        assert found.tolist() == []
        return
    assert sorted(found.tolist()) == [0] * (len(scene.kept) - 1) + [1]
    chosen = int(np.argmax(found))
    if scene.canary in scene.kept:
        assert scene.kept[chosen] == scene.canary
        return
    own = edges_plainly(scene.canary, scene.n_labels)
    cosines = []
    for variant in scene.kept:
        theirs = edges_plainly(variant, scene.n_labels)
        product = sum(times * theirs[edge] for edge, times in own.items())
        cosines.append(product / math.sqrt(sum(times * times for times in theirs.values())))
    assert cosines[chosen] >= max(cosines) * (1 - 1e-12)


def test_of_kept_variants_with_the_same_edges_a_case_counts_for_its_own() -> None:
    table = NearestCounts(traces_of([(0, 1, 0, 2, 0), (0, 2, 0, 1, 0)]), 3)
    assert engine_from([(0, 2, 0, 1, 0)], 3).count(table).tolist() == [0, 1]
    assert engine_from([(0, 1, 0, 2, 0)], 3).count(table).tolist() == [1, 0]


def test_nearest_counts_are_the_same_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from libra.engines.counting import control_flow

    traces = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)] * 2
    table = NearestCounts(traces_of([(0, 1, 2), (3, 3), (1,)]), 4)
    whole = engine_from(traces, 4).count(table)
    monkeypatch.setattr(control_flow, "CHUNK", 7)
    assert engine_from(traces, 4).count(table).tolist() == whole.tolist()
    assert whole.sum() == len(traces)


def test_products_are_the_same_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from libra.engines.counting import control_flow

    traces = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)] * 2
    table = Together(4, np.arange(4), np.array([3, 8, 16, 0]), 0.5)
    whole = engine_from(traces, 4).count(table)
    monkeypatch.setattr(control_flow, "CHUNK", 7)
    assert engine_from(traces, 4).count(table).tolist() == whole.tolist()
    assert whole.any()


def test_sets_of_labels_are_told_apart_by_every_label_however_many_there_are() -> None:
    for n_labels in (1, 63, 64, 65, 130):
        traces = traces_of([(label,) for label in range(n_labels)] + [tuple(range(n_labels))] * 2 + [(0, 0)])
        sets, kind = label_sets(traces, np.arange(n_labels), n_labels)
        assert sets[kind].tolist() == [[int(label in trace) for label in range(n_labels)] for trace in traces.to_lists()]
        assert len(sets) == len({tuple(row) for row in sets.tolist()})


def test_where_labels_are_independent_products_add_up_to_nothing_and_where_one_entails_the_other_to_a_lot() -> None:
    """Half of the cases have 0, half have 1, and so on: what is usual is 8 of 16 parts."""
    table = Together(3, np.arange(3), np.full(3, 8), 5.0)
    independent = [trace for trace in ((2,), (0, 2), (1, 2), (0, 1, 2)) for _ in range(10)]
    assert (engine_from(independent, 3).count(table) / table.scale).tolist() == [0.0, 0.0, 0.0]
    entailing = [trace for trace in ((2,), (0, 1, 2)) for _ in range(20)]
    assert (engine_from(entailing, 3).count(table) / table.scale).tolist() == [10.0, 0.0, 0.0]


def test_variants_that_no_case_follows_count_nothing_even_where_there_is_no_case() -> None:
    table = VariantCounts(traces_of([(0, 1), (1,)]))
    assert engine_from([], 2).count(table).tolist() == [0, 0]
    assert engine_from([(1,), (1,), (0,)], 2).count(table).tolist() == [0, 2]


def test_a_variant_is_found_by_its_whole_trace() -> None:
    """Prefixes, traces with the same labels in another order, and repeated ones are other variants."""
    traces = [(0, 1), (1, 0), (0, 1, 1), (0,), (0, 1, 0), (256, 0), (0, 256)]
    engine = engine_from(traces, 300)
    rows = engine.block.rows_of(traces_of(traces))
    assert sorted(rows.tolist()) == list(range(len(traces)))
    assert [tuple(engine.traces.to_lists()[row]) for row in rows] == traces
    assert engine.block.rows_of(traces_of([(1, 1), (2,), (0, 1, 1, 1)])).tolist() == [-1, -1, -1]


def test_fingerprints_of_equal_traces_are_equal_and_of_others_differ() -> None:
    traces = [(a,) * n + (b,) * m for a in range(3) for b in range(3) for n in range(8) for m in range(8)]
    prints = traces_of(traces).fingerprints()
    by_trace: dict[tuple[int, ...], int] = {}
    for trace, print_ in zip(traces, prints.tolist(), strict=True):
        assert by_trace.setdefault(trace, print_) == print_
    assert len(set(by_trace.values())) == len(by_trace)
    assert traces_of(traces[::-1]).fingerprints().tolist() == prints.tolist()[::-1]


def test_events_around_one_that_is_dropped_follow_each_other_but_not_directly() -> None:
    engine = engine_from([(0, 1, 2), (0, 1, 2), (0, 2), (1,), (2, 1)], 3).with_labels(("label 000", "label 002"))
    all_edges = np.arange(9)  # of labels 0 and 2, now 0 and 1; 2 is the start and the end
    joined, direct = (engine.count(BaseEdges(2, 9.0, direct=told)).ravel() / 1024 for told in (False, True))
    assert dict(enumerate(joined.tolist())) == {0: 0, 1: 3, 2: 0, 3: 0, 4: 0, 5: 4, 6: 3, 7: 1, 8: 0}
    assert dict(enumerate(direct.tolist())) == {0: 0, 1: 1, 2: 0, 3: 0, 4: 0, 5: 3, 6: 3, 7: 1, 8: 0}
    again = engine.count(DoubtfulEdges(2, all_edges)) / 1024
    assert (again > 0).tolist() == (direct > 0).tolist()
    whole = engine_from([(0, 1, 2), (0, 2)], 3)
    assert whole.count(BaseEdges(3, 9.0, direct=True)).tolist() == whole.count(BaseEdges(3, 9.0)).tolist()
