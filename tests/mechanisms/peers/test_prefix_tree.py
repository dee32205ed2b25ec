"""The tree of prefixes: exact counts at every level, and a size that is known before it is grown."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libra._system.randomness import Randomness
from libra.engines.counting.control_flow import continuations
from libra.errors import UsageError
from libra.eventlog.cases import Integers, traces_of
from libra.mechanisms.prefix_tree import (
    MOST_CELLS,
    Growth,
    discrete_tail,
    grow,
    refuse_runaway,
    smallest_threshold,
    truncated_laplace,
    truncated_tail,
)
from libra.privacy.noise import discrete_laplace

logs = st.dictionaries(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), st.integers(1, 9), min_size=1, max_size=12)


@given(logs, st.integers(0, 5), st.data())
def test_every_case_counts_where_its_prefix_goes_on_and_nowhere_else(
    log: dict[tuple[int, ...], int], depth: int, data: st.DataObject
) -> None:
    some = st.lists(st.integers(0, 3), min_size=depth, max_size=depth).map(tuple)
    own = sorted({trace[:depth] for trace in log if len(trace) >= depth})
    prefixes = list(dict.fromkeys(data.draw(st.lists(st.one_of(some, *(st.just(prefix) for prefix in own))))))
    expected: Counter[tuple[int, int]] = Counter()
    for trace, count in log.items():
        if len(trace) >= depth and trace[:depth] in prefixes:
            expected[prefixes.index(trace[:depth]), 4 if len(trace) == depth else trace[depth]] += count
    matrix = np.array(prefixes, np.int64).reshape(len(prefixes), depth)
    found = continuations(traces_of(list(log)), np.array(list(log.values())), matrix, n_labels=4)
    assert found.shape == (len(prefixes), 5)
    assert {(int(row), int(column)): int(found[row, column]) for row, column in np.argwhere(found)} == dict(expected)


@given(logs, st.integers(1, 8))
def test_without_noise_a_tree_gives_back_the_traces_that_fit_and_the_beginnings_of_the_others(
    log: dict[tuple[int, ...], int], levels: int
) -> None:
    traces, counts = traces_of(list(log)), np.array(list(log.values()))
    ended, going_on = grow(lambda prefixes, last: continuations(traces, counts, prefixes, 4), n_labels=4, levels=levels)
    finished, still_open = (
        dict(zip(map(tuple, part.traces.to_lists()), part.counts.tolist(), strict=True)) for part in (ended, going_on)
    )
    begun: Counter[tuple[int, ...]] = Counter()
    for trace, count in log.items():
        if len(trace) >= levels:
            begun[trace[:levels]] += count
    assert finished == {trace: count for trace, count in log.items() if len(trace) < levels}
    assert still_open == begun


def test_the_last_level_is_told_and_no_trace_without_events_comes_out() -> None:
    lasts = []

    def level(prefixes: Integers, last: bool) -> Integers:
        lasts.append(last)
        return np.ones((len(prefixes), 3), np.int64)

    finished, still_open = grow(level, n_labels=2, levels=3)
    assert lasts == [False, False, True]
    assert finished.traces.lengths.tolist() == [1, 1, 2, 2, 2, 2]
    assert len(still_open) == 8


def test_a_tree_that_outgrows_memory_all_the_same_is_stopped() -> None:
    with pytest.raises(UsageError, match="prune"):
        grow(lambda prefixes, last: np.ones((len(prefixes), 101), np.int64), n_labels=100, levels=9)


@pytest.mark.parametrize(("scale", "least"), [(0.3, 1), (1.0, 1), (2.0, 3), (7.0, 10), (30.0, 2)])
def test_noise_alone_reaches_a_threshold_as_often_as_is_predicted(scale: float, least: int) -> None:
    noise = truncated_laplace(scale, 400_000, Randomness(seed=1))
    assert (noise >= least).mean() == pytest.approx(truncated_tail(scale, least), abs=0.004)
    table = discrete_laplace(scale)
    assert table.pmf()[table.values >= least].sum() == pytest.approx(discrete_tail(scale, least), rel=1e-9, abs=1e-12)


growths = st.builds(
    Growth,
    st.sampled_from((truncated_tail, discrete_tail)),
    st.floats(0.1, 200.0),
    st.integers(1, 500),
    st.integers(1, 700),
    st.integers(1, 200),
    st.none() | st.integers(0, 1_000_000),
)


@given(growths)
@settings(max_examples=300)
def test_the_threshold_that_is_named_is_the_smallest_that_works(growth: Growth) -> None:
    enough = smallest_threshold(growth)
    assert not replace(growth, least=enough).runs_away
    assert enough == 1 or replace(growth, least=enough - 1).runs_away
    named: list[int] = []

    def remedy(least: int) -> str:
        named.append(least)
        return "."

    if growth.runs_away:
        with pytest.raises(UsageError):
            refuse_runaway(growth, remedy)
        assert named == [enough]
    else:
        refuse_runaway(growth, remedy)
        assert not named


def test_it_is_refused_where_each_prefix_would_become_more_than_one_and_not_before() -> None:
    """The boundary is at half the labels times e^(-epsilon P) = 1."""
    for n_labels, epsilon in ((16, 1.0), (24, 0.5), (624, 0.1)):
        boundary = math.log(n_labels / 2) / epsilon
        above = Growth(truncated_tail, 1 / epsilon, math.ceil(boundary), n_labels, 10)
        assert not above.runs_away
        assert replace(above, least=math.ceil(boundary) - 1).runs_away


@pytest.mark.parametrize(("scale", "least"), [(1.0, 2), (2.0, 4), (4.0, 5)])
def test_a_tree_has_no_more_cells_than_predicted(scale: float, least: int) -> None:
    """Mean of many trees over a log of rare and frequent variants; the prediction knows neither."""
    random = Randomness(seed=2)
    cells: list[int] = []
    log = traces_of([[0, 1, 2], [0, 1, 3, 4], *([a, b, c] for a in range(5) for b in range(5) for c in range(5))])
    counts = np.concatenate(([300, 200], np.ones(125, np.int64)))
    growth = Growth(truncated_tail, scale, least, n_labels=5, levels=5, n_cases=float(counts.sum()))

    def level(prefixes: Integers, last: bool) -> Integers:
        true = continuations(log, counts, prefixes, 5)
        cells[-1] += true.size
        noisy = true + truncated_laplace(scale, true.size, random).reshape(true.shape)
        return np.where(noisy >= least, noisy, 0)

    for _ in range(60):
        cells.append(0)
        grow(level, n_labels=5, levels=5)
    assert growth.made_up <= 1
    assert np.mean(cells) <= growth.cells <= MOST_CELLS
