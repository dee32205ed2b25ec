"""One case more or less moves each control-flow table by no more than its clip, in exact arithmetic, whatever the log."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from some_engines import Scene, control_flow_tables, engine_from, largest_square, scenes, square_norm

from libra.engines.control_flow_tables import BaseEdges, ExcessEdges, VariantCounts
from libra.engines.polars.clipping import add_clipped
from libra.eventlog.traces import traces_of

NOTHING = np.zeros(0, np.int64)
GIANT = Scene(2, [(0, 1)] * 30, (0,) * 20_000, [(0, 1)], control_flow_tables(2, [(0, 1)], np.arange(9), np.array([0, 1, 6]), 2.0))
ALL_DIFFERENT = Scene(
    3,
    [(a, b, c) for a in range(3) for b in range(3) for c in range(3)],
    (0, 0, 0, 0),
    [(0, 0, 0)],
    control_flow_tables(3, [(0, 0, 0)], np.arange(16), np.array([0, 1, 2, 12]), 5**0.5),
)
NOBODY = Scene(1, [], (0,), [], control_flow_tables(1, [], NOTHING, NOTHING, 1.0))


@given(scenes(), st.integers(0, 12))
@example(GIANT, 3)
@example(ALL_DIFFERENT, 0)
@example(NOBODY, 0)
@settings(max_examples=100)
def test_one_case_moves_a_table_by_its_clip_at_most(scene: Scene, position: int) -> None:
    more = [*scene.traces[:position], scene.canary, *scene.traces[position:]]
    without, with_case = engine_from(scene.traces, scene.n_labels), engine_from(more, scene.n_labels)
    for table in scene.tables:
        change = with_case.count(table) - without.count(table)
        assert square_norm(change) <= largest_square(table), table.purpose


@given(scenes())
@settings(max_examples=60)
def test_a_table_is_the_sum_of_what_its_cases_add_by_themselves(scene: Scene) -> None:
    """What a case adds does not depend on the others: neither on who they are nor on their order."""
    traces = [*scene.traces, scene.canary]
    together, reverse = engine_from(traces, scene.n_labels), engine_from(traces[::-1], scene.n_labels)
    alone = {trace: engine_from([trace], scene.n_labels) for trace in set(traces)}
    for table in scene.tables:
        single = {trace: engine.count(table) for trace, engine in alone.items()}
        summed = np.sum([single[trace] for trace in traces], axis=0)
        assert together.count(table).tolist() == summed.tolist() == reverse.count(table).tolist(), table.purpose


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


@given(scenes())
@settings(max_examples=40)
def test_in_the_tail_too_one_case_moves_a_table_by_its_clip_at_most(scene: Scene) -> None:
    kept = traces_of(scene.kept)
    without, with_case = (
        engine_from(traces, scene.n_labels).tail(kept) for traces in (scene.traces, [*scene.traces, scene.canary])
    )
    for table in scene.tables:
        assert square_norm(with_case.count(table) - without.count(table)) <= largest_square(table), table.purpose


@pytest.mark.parametrize("clip", [2.0, 3.0, 5**0.5, 10**0.5, 1000.0])
def test_the_clip_is_reached_so_the_noise_is_not_for_nothing(clip: float) -> None:
    loop, many = engine_from([(0,) * 5000], 1), engine_from([tuple(range(9)) * 3], 9)
    for engine, table in ((loop, ExcessEdges(1, clip, np.arange(4))), (many, BaseEdges(9, min(clip, 5.0)))):
        reached = square_norm(engine.count(table)) / largest_square(table)
        assert Fraction(99, 100) < reached <= 1


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 10**7)), min_size=1, max_size=6, unique_by=lambda one: one[0]),
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
    assert (single[cells] <= times * scale).all()
    if sum(x * x for x in times.tolist()) <= Fraction(clip) ** 2:
        assert single[cells].tolist() == (times * scale).tolist()
    weighted = add_clipped(zeros, cells, 6, clip, scale, weights=np.array([weight]), amounts=times)
    assert weighted.tolist() == [weight * one for one in single.tolist()]
