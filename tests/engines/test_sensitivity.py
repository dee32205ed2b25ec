"""One case more or less moves each table by no more than its clip, in exact arithmetic, whatever the log and the other cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from adversarial_logs import REQUESTS, Neighbours, Released, neighbours, trace_of
from hand_written_logs import ALL_TABLES, LOGS
from hypothesis import given, settings
from hypothesis import strategies as st
from some_engines import Case, Scene, Trace, engine_from, largest_square, log_from, names, scenes, square_norm

from libra.engines import control_flow_tables, time_tables
from libra.engines.control_flow_tables import (
    BaseEdges,
    Contexts,
    DoubtfulEdges,
    ExcessEdges,
    Occurring,
    OneCell,
    RareCases,
    Together,
    VariantCounts,
)
from libra.engines.counting.clipping import add_clipped
from libra.engines.polars import PolarsEngine, engine_of
from libra.engines.time_tables import ActivityHours, EdgeCells, EdgeDurations, SlowPairs, StepDurations
from libra.eventlog.cases import traces_of
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.frames import from_frame

TABLES = {
    found
    for module in (control_flow_tables, time_tables)
    for found in vars(module).values()
    if isinstance(found, type) and hasattr(found, "purpose")
}


class View(NamedTuple):
    """A way to look at the cases, as the gate has it: what of them is counted, and what a table may be made from."""

    of: Callable[[PolarsEngine], PolarsEngine]
    released: Released


def engine(cases: list[Case], n_labels: int) -> PolarsEngine:
    return engine_of(log_from(cases, n_labels), labels=names(n_labels))


def left(trace: Trace, labels: list[int]) -> Trace:
    """A trace without the events of all other labels."""
    return tuple(labels.index(code) for code in trace if code in labels)


def views(two: Neighbours) -> dict[str, View]:
    """All cases, the tail, and both without the events of some labels."""
    chosen = tuple(names(two.n_labels)[code] for code in two.labels)
    kept, kept_left = two.kept, list(dict.fromkeys(left(trace, two.labels) for trace in two.kept))
    whole, fewer = Released(two.n_labels, kept), Released(len(chosen), [trace for trace in kept_left if trace])
    return {
        "all": View(lambda one: one, whole),
        "tail": View(lambda one: one.tail(traces_of(kept)), whole),
        "fewer labels": View(lambda one: one.with_labels(chosen), fewer),
        "tail with fewer labels": View(lambda one: one.tail(traces_of(kept)).with_labels(chosen), fewer),
    }


def parameters(table: Any) -> list[Any]:
    """All that a table is made from, as plain lists."""
    values = [getattr(table, one.name) for one in fields(table)]
    return [
        value.tolist() if isinstance(value, np.ndarray) else getattr(value, "to_lists", lambda v=value: v)() for value in values
    ]


def test_every_table_has_a_strategy_and_no_other() -> None:
    assert set(REQUESTS) == TABLES


@given(neighbours(), st.sampled_from(("all", "tail", "fewer labels", "tail with fewer labels")), st.data())
@settings(max_examples=200)
def test_one_case_moves_a_table_by_its_clip_at_most_and_by_the_same_in_any_company(
    two: Neighbours, view: str, data: st.DataObject
) -> None:
    of, released = views(two)[view]
    without, with_case, alone, backwards = (
        of(engine(cases, two.n_labels)) for cases in (two.cases, two.with_added, [two.added], two.with_added[::-1])
    )
    assert without.labels == with_case.labels == alone.labels
    for request in REQUESTS.values():
        table = data.draw(request(released))
        asked = parameters(table)
        change = with_case.count(table) - without.count(table)
        assert change.shape == table.shape
        assert square_norm(change) <= math.floor(largest_square(table)), table.purpose
        assert isinstance(table, RareCases) or change.tolist() == alone.count(table).tolist(), table.purpose
        assert backwards.count(table).tolist() == with_case.count(table).tolist(), table.purpose
        assert parameters(table) == asked


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_number_of_rare_cases_rises_and_falls_by_one_case_as_a_variant_becomes_frequent(most: int) -> None:
    """The one table that is no sum over cases: how much a case adds depends on how many follow its variant."""
    of_one = [int(engine_from([(0,)] * n + [(0, 1)] * 3, 2).count(RareCases(most))[0]) for n in range(2 * most + 4)]
    others = of_one[0]
    assert [found - others for found in of_one] == [*range(most), *range(most, 0, -1), 0, 0, 0, 0]
    assert others == max(0, min(3, 2 * most - 3))


@given(neighbours(), st.data())
@settings(max_examples=60)
def test_one_case_moves_one_number_of_a_table_that_whole_noise_is_for(two: Neighbours, data: st.DataObject) -> None:
    """What discrete Laplace noise rests on: a sum of changes, not a norm."""
    without, with_case = (engine(cases, two.n_labels) for cases in (two.cases, two.with_added))
    for kind, request in REQUESTS.items():
        if issubclass(kind, OneCell):
            table = data.draw(request(Released(two.n_labels, two.kept)))
            assert np.abs(with_case.count(table) - without.count(table)).sum() <= 1, table.purpose


@pytest.mark.parametrize("name", LOGS)
def test_giants_and_other_hand_written_cases_move_no_table_by_more_than_its_clip(name: str) -> None:
    two = LOGS[name]
    assert {type(table) for table in ALL_TABLES} == TABLES
    for view in ("all", "tail"):
        without, with_case, alone = (
            views(two)[view].of(engine(cases, two.n_labels)) for cases in (two.cases, two.with_added, [two.added])
        )
        for table in ALL_TABLES:
            change = with_case.count(table) - without.count(table)
            assert square_norm(change) <= math.floor(largest_square(table)), table.purpose
            assert isinstance(table, RareCases) or np.array_equal(change, alone.count(table)), table.purpose


@given(neighbours(), st.integers(0, 2**32), st.data())
@settings(max_examples=15)
def test_how_the_events_of_cases_alternate_in_a_file_changes_nothing(two: Neighbours, seed: int, data: st.DataObject) -> None:
    """Only the order of the events of one case is that of the file."""
    log = log_from(two.with_added, two.n_labels)
    turns = np.random.default_rng(seed).permutation(log.events["@case"].to_numpy())
    rows = np.empty(len(turns), np.int64)
    rows[np.argsort(turns, kind="stable")] = np.arange(len(turns))
    alternating = engine_of(from_frame(log.to_polars()[rows], ReadOptions()), labels=names(two.n_labels))
    grouped = engine(two.with_added, two.n_labels)
    for request in REQUESTS.values():
        table = data.draw(request(Released(two.n_labels, two.kept)))
        assert alternating.count(table).tolist() == grouped.count(table).tolist(), table.purpose


@given(neighbours(), st.sampled_from(("all", "tail", "fewer labels", "tail with fewer labels")))
@settings(max_examples=40)
def test_one_case_is_one_more_of_one_variant_and_a_new_one_is_followed_by_it_alone(two: Neighbours, view: str) -> None:
    """What the choice of variants rests on: each occurs once, with at least one case, and a case is in one of them or in none."""
    counts = []
    for cases in (two.cases, two.with_added, [two.added]):
        traces, followed = views(two)[view].of(engine(cases, two.n_labels)).variants()
        found = [tuple(trace) for trace in traces.to_lists()]
        assert len(set(found)) == len(found) == len(followed)
        assert (followed >= 1).all()
        assert all(found)
        counts.append(Counter(dict(zip(found, followed.tolist(), strict=True))))
    without, with_case, alone = counts
    assert with_case == without + alone
    own = trace_of(two.added) if "labels" not in view else left(trace_of(two.added), two.labels)
    hidden = own == () or ("tail" in view and trace_of(two.added) in two.kept)
    assert alone == ({} if hidden else {own: 1})


@given(scenes())
@settings(max_examples=60)
def test_given_the_kept_variants_a_case_moves_their_counts_or_the_tail_and_never_both(scene: Scene) -> None:
    kept = traces_of(scene.kept)
    engines = [engine_from(traces, scene.n_labels) for traces in (scene.traces, [*scene.traces, scene.canary])]
    counts = [engine.count(VariantCounts(kept)) for engine in engines]
    tails = [[engine.tail(kept).count(table) for table in scene.tables] for engine in engines]
    moves_kept = bool((counts[0] != counts[1]).any())
    moves_tail = any((one != other).any() for one, other in zip(*tails, strict=True))
    assert (moves_kept, moves_tail) == ((True, False) if scene.canary in scene.kept else (False, True))


@pytest.mark.parametrize("clip", [2.0, 3.0, 5**0.5, 10**0.5, 1000.0])
def test_the_clip_is_reached_so_the_noise_is_not_for_nothing(clip: float) -> None:
    loop, many = engine_from([(0,) * 5000], 1), engine_from([tuple(range(9)) * 3], 9)
    cells = EdgeCells(1, (0,), (), (time_tables.WEIGHT, 1), (1, 2, time_tables.FINE_BINS), (0,) * 6)
    tables: list[tuple[PolarsEngine, Any]] = [
        (loop, ExcessEdges(1, clip, np.arange(4))),
        (many, BaseEdges(9, min(clip, 5.0))),
        (many, DoubtfulEdges(9, np.arange(100))),
        (many, Contexts(9, np.arange(100), min(clip, 5.0))),
        (many, Occurring(9, np.arange(9), min(clip, 3.0))),
        (many, Together(9, np.arange(9), np.zeros(9, np.int64), min(clip, 6.0))),
        (many, Together(9, np.arange(9), np.full(9, 6), min(clip, 2.3))),
        (loop, StepDurations(clip)),
        (loop, EdgeDurations(clip, cells)),
        (loop, SlowPairs(clip, cells, (time_tables.FINE_BINS, 1), (time_tables.WEIGHT, 0), (0,))),
        (loop, ActivityHours(min(clip, 200.0), 1, time_tables.HOUR)),
    ]
    for one, table in tables:
        reached = square_norm(one.count(table)) / largest_square(table)
        assert Fraction(99, 100) < reached <= 1, table.purpose


@pytest.mark.parametrize("toward", [0.0, None, math.inf])
def test_a_case_that_is_beyond_its_clip_by_less_than_floats_can_tell_is_scaled_down(toward: float | None) -> None:
    """So many cells once each: a norm of sqrt(square), and a clip that is the nearest float or the one beside it."""
    for square in range(2, 200):
        clip = math.sqrt(square) if toward is None else math.nextafter(math.sqrt(square), toward)
        counted = add_clipped(np.zeros(square, np.int64), np.arange(square), square, clip, 1024)
        assert square_norm(counted) <= math.floor((Fraction(clip) * 1024) ** 2), square
        assert (counted == 1024).all() == (square <= Fraction(clip) ** 2), square


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(-(10**7), 10**7).filter(bool)),
        min_size=1,
        max_size=6,
        unique_by=lambda one: one[0],
    ),
    st.floats(0.5, 1e4),
    st.sampled_from((1, 16, 1024)),
    st.integers(1, 10**6),
)
def test_clipping_keeps_within_the_norm_for_amounts_and_clips_of_any_size(
    amounts: list[tuple[int, int]], clip: float, scale: int, weight: int
) -> None:
    cells, times = (np.array(part, np.int64) for part in zip(*amounts, strict=True))
    zeros = np.zeros(len(cells), np.int64)
    single = add_clipped(zeros, cells, 6, clip, scale, amounts=times)
    assert square_norm(single) <= (Fraction(clip) * scale) ** 2
    assert (np.abs(single[cells]) <= np.abs(times) * scale).all()
    assert (single[cells] * times >= 0).all()
    if sum(x * x for x in times.tolist()) <= Fraction(clip) ** 2:
        assert single[cells].tolist() == (times * scale).tolist()
    assert add_clipped(zeros, cells, 6, clip, scale, amounts=-times).tolist() == (-single).tolist()
    weighted = add_clipped(zeros, cells, 6, clip, scale, weights=np.array([weight]), amounts=times)
    assert weighted.tolist() == [weight * one for one in single.tolist()]
