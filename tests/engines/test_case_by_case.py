"""Subsampling, the tail and dropping labels act on each case by itself: who the others are changes nothing for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from some_engines import Scene, Trace, cases_in, engine_from, names, scenes

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import LabelWeights, Size
from libra.eventlog.cases import traces_of


class Drawn(Randomness):
    """A randomness whose words are known, as numbers between 0 and 1."""

    def __init__(self, numbers: Sequence[float]) -> None:
        super().__init__(seed=1)
        self.numbers = numbers

    def words(self, n: int) -> NDArray[np.uint64]:
        """The first n of them."""
        return np.array([int(number * 2**64) for number in self.numbers[:n]], np.uint64)


class Words(Randomness):
    """A randomness whose words are known."""

    def __init__(self, known: Sequence[int]) -> None:
        super().__init__(seed=1)
        self.known = known

    def words(self, n: int) -> NDArray[np.uint64]:
        """All of them."""
        assert n == len(self.known)
        return np.array(self.known, np.uint64)


numbers = st.lists(st.floats(0.01, 0.99), min_size=20, max_size=20)


@given(scenes(), numbers, st.sampled_from((0.05, 0.5, 0.9)))
@settings(max_examples=50)
def test_a_subsample_holds_the_cases_whose_number_is_small_and_no_others(scene: Scene, drawn: list[float], rate: float) -> None:
    engine = engine_from(scene.traces, scene.n_labels)
    part = engine.subsampled(rate, Drawn(drawn))
    chosen = [case for case, number in zip(cases_in(engine), drawn, strict=False) if number < rate]
    assert cases_in(part) == chosen
    traces = [trace for trace, _ in chosen]
    assert part.counts.sum() == len(chosen)
    same = engine_from(traces, scene.n_labels)
    for table in scene.tables:
        assert part.count(table).tolist() == same.count(table).tolist(), table.purpose


@given(scenes(), numbers)
@settings(max_examples=50)
def test_one_case_more_changes_nothing_about_which_others_are_drawn(scene: Scene, drawn: list[float]) -> None:
    without, with_case = (
        cases_in(engine_from(traces, scene.n_labels).subsampled(0.5, Drawn(drawn)))
        for traces in (scene.traces, [*scene.traces, scene.canary])
    )
    assert with_case[: len(without)] == without
    assert len(with_case) - len(without) == (drawn[len(scene.traces)] < 0.5)


@given(scenes(), numbers)
@settings(max_examples=40)
def test_the_tail_of_a_subsample_is_the_subsample_of_the_tail(scene: Scene, drawn: list[float]) -> None:
    engine, kept = engine_from(scene.traces, scene.n_labels), traces_of(scene.kept)
    of_tail = [number for trace, number in zip(scene.traces, drawn, strict=False) if trace not in scene.kept]
    first = engine.subsampled(0.5, Drawn(drawn)).tail(kept)
    second = engine.tail(kept).subsampled(0.5, Drawn(of_tail))
    assert cases_in(first) == cases_in(second)
    for table in scene.tables:
        assert first.count(table).tolist() == second.count(table).tolist(), table.purpose


@pytest.mark.parametrize("rate", [0.03, 0.5, 0.97])
def test_every_case_is_drawn_with_the_rate(rate: float) -> None:
    engine, random = engine_from([(0,), (1, 0)] * 500, 2), Randomness(seed=4)
    sizes = [int(engine.subsampled(rate, random).count(Size())[0]) for _ in range(100)]
    assert np.mean(sizes) == pytest.approx(1000 * rate, abs=5 * np.sqrt(1000 * rate * (1 - rate) / 100))
    assert np.var(sizes) == pytest.approx(1000 * rate * (1 - rate), rel=0.6)


@pytest.mark.parametrize("rate", [1e-6, 0.1, 0.5, 0.97, 1 - 2**-53, 1.0])
def test_the_probability_to_be_drawn_is_the_rate_or_the_last_number_of_64_bits_below_it(rate: float) -> None:
    """The guarantee counts with the rate, so that more would be too much."""
    boundary = int(Fraction(rate) * 2**64)
    words = [boundary - 2, boundary - 1, min(boundary, 2**64 - 1)]
    engine = engine_from([(0,), (0, 0), (0, 0, 0)], 1)
    drawn = [trace for trace, _ in cases_in(engine.subsampled(rate, Words(words)))]
    assert drawn == ([(0,), (0, 0)] if rate < 1 else [(0,)])


@given(scenes())
@settings(max_examples=50)
def test_the_tail_holds_the_cases_of_all_other_variants_with_their_times(scene: Scene) -> None:
    engine = engine_from(scene.traces, scene.n_labels)
    tail = engine.tail(traces_of(scene.kept))
    assert cases_in(tail) == [case for case in cases_in(engine) if case[0] not in scene.kept]


@given(scenes(), st.sets(st.integers(0, 8)))
@settings(max_examples=50)
def test_without_some_labels_a_case_is_what_is_left_of_it_if_anything(scene: Scene, chosen: set[int]) -> None:
    stay = sorted(code for code in chosen if code < scene.n_labels)
    engine = engine_from(scene.traces, scene.n_labels)
    fewer = engine.with_labels(tuple(names(9)[code] for code in stay))

    def left(trace: Trace, micros: tuple[int, ...]) -> tuple[Trace, tuple[int, ...]]:
        rest = [(stay.index(code), time) for code, time in zip(trace, micros, strict=True) if code in chosen]
        return tuple(code for code, _ in rest), tuple(time for _, time in rest)

    some = [case for case in (left(*case) for case in cases_in(engine)) if case[0]]
    assert cases_in(fewer) == some
    assert fewer.count(Size()).tolist() == [len(some)] == [sum(fewer.variants()[1].tolist())]


def test_labels_keep_their_names_and_a_case_each_of_its_labels_once() -> None:
    engine = engine_from([(2, 0, 2), (1,), (0, 0)], 3)
    swapped = engine.with_labels((names(3)[2], names(3)[0]))
    assert [trace for trace, _ in cases_in(swapped)] == [(0, 1, 0), (1, 1)]
    assert swapped.count(LabelWeights(2, np.zeros(0, np.int64))).tolist() == [724, 724 + 1024]
