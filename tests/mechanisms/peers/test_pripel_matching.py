"""PRIPEL's matching: edit distances are those of the textbook, and the total is the least that any matching has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cases_for_peers import cases_from
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from libra._system.randomness import Randomness
from libra.eventlog.cases import traces_of
from libra.mechanisms.pripel.matching import TooLargeError, edit_distances, least_flows, matched, transported
from libra.mechanisms.variant_queries import Counted, counted_of

TRACE = st.lists(st.integers(0, 3), max_size=9)
SOME = st.lists(TRACE.filter(len).map(tuple), min_size=1, max_size=6, unique=True)


def textbook(one: list[int], other: list[int]) -> int:
    """The Levenshtein distance by its table."""
    above = list(range(len(other) + 1))
    for row, symbol in enumerate(one, 1):
        line = [row]
        for column, letter in enumerate(other, 1):
            line.append(min(above[column] + 1, line[-1] + 1, above[column - 1] + (symbol != letter)))
        above = line
    return above[-1]


@given(one=st.lists(TRACE, min_size=1, max_size=5), other=st.lists(TRACE, min_size=1, max_size=5))
def test_edit_distances_are_those_of_the_table(one: list[list[int]], other: list[list[int]]) -> None:
    found = edit_distances(traces_of(one), traces_of(other))
    assert found.tolist() == [[textbook(trace, to) for to in other] for trace in one]


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 200])
def test_traces_longer_than_a_word_are_no_exception(length: int) -> None:
    draws = np.random.default_rng(length)
    one = [draws.integers(0, 3, length).tolist(), [0] * length]
    other = [draws.integers(0, 3, size).tolist() for size in (0, 1, 64, length - 1, length, 2 * length)]
    found = edit_distances(traces_of(one), traces_of(other))
    assert found.tolist() == [[textbook(trace, to) for to in other] for trace in one]


def test_no_batch_of_pairs_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.pripel.matching.AT_A_TIME", 7)
    traces = [list(trace) for trace in itertools.product(range(2), repeat=4)]
    found = edit_distances(traces_of(traces), traces_of(traces[:5]))
    assert found.tolist() == [[textbook(trace, to) for to in traces[:5]] for trace in traces]


@pytest.mark.parametrize("most_cells", [25_000_000, 0], ids=["one by one", "by kind"])
def test_both_solvers_find_the_least_total(monkeypatch: pytest.MonkeyPatch, most_cells: int) -> None:
    monkeypatch.setattr("libra.mechanisms.pripel.matching.MOST_CELLS", most_cells)
    draws = np.random.default_rng(1)
    for _ in range(40):
        rows, columns = draws.integers(1, 50, 2)
        distances = draws.integers(0, 9, (rows, columns)).astype(np.int32)
        supply, capacity = draws.integers(1, 5, rows), draws.integers(1, 5, columns)
        flows = transported(distances, supply, capacity)
        each = distances[np.ix_(np.repeat(np.arange(rows), supply), np.repeat(np.arange(columns), capacity))]
        assert (distances[flows.sources, flows.targets] * flows.amounts).sum() == each[linear_sum_assignment(each)].sum()
        assert flows.amounts.sum() == min(supply.sum(), capacity.sum())
        assert (np.bincount(flows.sources, flows.amounts, rows) <= supply).all()
        assert (np.bincount(flows.targets, flows.amounts, columns) <= capacity).all()


@given(asked=SOME, there=SOME, data=st.data())
def test_equal_traces_first_loses_nothing(
    asked: list[tuple[int, ...]], there: list[tuple[int, ...]], data: st.DataObject
) -> None:
    counts = st.integers(1, 3)
    want = Counted(traces_of(asked), np.array([data.draw(counts) for _ in asked]))
    have = Counted(traces_of(there), np.array([data.draw(counts) for _ in there]))
    distances = edit_distances(want.traces, have.traces)
    flows = least_flows(want, have)
    each = edit_distances(want.repeated(), have.repeated())
    assert (distances[flows.sources, flows.targets] * flows.amounts).sum() == each[linear_sum_assignment(each)].sum()
    assert flows.amounts.sum() == min(want.n_cases, have.n_cases)


def test_a_case_is_matched_once_and_the_draw_decides_which_of_a_variant() -> None:
    cases = cases_from([[0, 1]] * 20 + [[0, 2]] * 5 + [[3]])
    asked = Counted(traces_of([[0, 2, 2], [0, 1], [3, 3]]), np.array([4, 12, 1]))
    found = [matched(asked, cases, Randomness(seed)) for seed in (1, 1, 2)]
    for rows in found:
        assert len(set(rows.tolist())) == asked.n_cases
        assert set(rows[:4].tolist()) <= set(range(20, 25))
        assert set(rows[4:16].tolist()) <= set(range(20))
        assert rows[16] == 25
    assert found[0].tolist() == found[1].tolist() != found[2].tolist()


def test_where_more_traces_are_asked_for_than_there_are_cases_the_farthest_have_none() -> None:
    cases = cases_from([[0, 1]] * 3)
    rows = matched(Counted(traces_of([[2, 2, 2, 2], [0, 1, 2], [0, 1]]), np.array([2, 2, 2])), cases, Randomness(seed=1))
    assert rows[:2].tolist() == [-1, -1]
    assert sorted(rows[4:].tolist() + [row for row in rows[2:4].tolist() if row >= 0]) == [0, 1, 2]
    assert rows[2:4].tolist().count(-1) == 1


def test_too_many_variants_are_refused_before_any_distance_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.pripel.matching.MOST_DISTANCES", 3)
    monkeypatch.setattr("libra.mechanisms.pripel.matching.edit_distances", lambda *_: pytest.fail("distances were computed"))
    cases = cases_from([[0, 1], [0, 2]])
    with pytest.raises(TooLargeError):
        least_flows(Counted(traces_of([[1], [2]]), np.array([1, 1])), counted_of(cases))
