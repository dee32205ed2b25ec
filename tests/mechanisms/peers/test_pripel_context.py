"""PRIPEL's context: events take after events of the same activity, and what is missing comes from the log."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from cases_for_peers import DAY, HOUR, MINUTE, START, cases_from, log_from
from hypothesis import given
from hypothesis import strategies as st

from libra.eventlog.cases import Cases, Integers, traces_of
from libra.eventlog.log import EventLog
from libra.mechanisms.pripel import gaps_of, own_times, randomized_times, taken_after
from libra.mechanisms.pripel.values import (
    bounded_scale,
    random_words,
    randomized_attributes,
    randomized_response,
    released_attributes,
)
from libra.privacy.randomness import Randomness

MANY = 4000


def test_the_second_of_an_activity_takes_after_the_second() -> None:
    cases = cases_from([[0, 1, 0], [1, 1, 0]])
    found = taken_after(traces_of([[1, 0, 0, 1], [0, 0, 0], [2, 1]]), np.array([1, 0, -1]), cases)
    assert found.tolist() == [3, 5, -1, 4, 0, 2, -1, -1, -1]


@given(
    traces=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=4),
    original=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=4, max_size=6),
)
def test_what_an_event_takes_after_is_of_its_activity_and_its_case_and_comes_once(
    traces: list[list[int]], original: list[list[int]]
) -> None:
    cases, wanted = replace(cases_from(original), n_activities=3), traces_of(traces)
    rows = np.arange(len(traces))[::-1].copy()
    after = taken_after(wanted, rows, cases)
    matched = after >= 0
    assert len(np.unique(after[matched])) == matched.sum()
    assert (cases.codes[after[matched]] == wanted.codes[matched]).all()
    assert (np.searchsorted(cases.offsets, after[matched], side="right") - 1 == rows[wanted.rows[matched]]).all()
    for row, trace in enumerate(traces):  # as many as both have
        of_case = original[rows[row]]
        expected = sum(min(trace.count(code), of_case.count(code)) for code in range(3))
        assert matched[wanted.rows == row].sum() == expected


def test_times_are_taken_over_in_order_and_drawn_where_they_are_not() -> None:
    cases = cases_from([[0, 1, 2], [0, 1, 2]], [[HOUR, HOUR], [MINUTE, 3 * HOUR]])
    traces = traces_of([[0, 1, 2], [2, 1]])
    after = taken_after(traces, np.array([0, 1]), cases)
    times = own_times(traces, after, cases, gaps_of(cases), Randomness(seed=1))
    assert times[:3].tolist() == cases.micros[:3].tolist()
    assert times[3] == cases.micros[5]
    assert times[4] - times[3] in (MINUTE, HOUR, 3 * HOUR)  # 1 never follows 2 in the log: any gap will do


def test_a_drawn_gap_is_one_of_the_same_two_activities() -> None:
    cases = cases_from([[0, 1, 2]] * 2, [[HOUR, 5 * HOUR], [2 * HOUR, 7 * HOUR]])
    traces = traces_of([[0, 1, 2]] * 200)
    times = own_times(traces, np.full(600, -1), cases, gaps_of(cases), Randomness(seed=1)).reshape(-1, 3)
    assert set((times[:, 1] - times[:, 0]).tolist()) == {HOUR, 2 * HOUR}
    assert set((times[:, 2] - times[:, 1]).tolist()) == {5 * HOUR, 7 * HOUR}
    assert set(times[:, 0].tolist()) == set(cases.micros.tolist())


def test_noisy_times_stay_in_order_and_within_the_log_and_no_gap_is_left_as_it_was() -> None:
    draws = np.random.default_rng(1)
    gaps = draws.integers(MINUTE, DAY, (MANY, 3))
    cases = cases_from([[0, 1, 0, 2]] * MANY, gaps.tolist())
    span = int(cases.micros.min()), int(cases.micros.max())
    noisy = randomized_times(cases, gaps_of(cases), span, 1.0, Randomness(seed=1))
    times = noisy.micros.reshape(-1, 4)
    assert (np.diff(times) > 0).all()
    assert times.min() >= span[0]
    assert times.max() <= span[1] + 4000  # each gap is a millisecond at least
    assert np.mean(np.diff(times) == gaps) < 0.01
    assert np.corrcoef(times[:, 0], cases.micros[0::4])[0, 1] > 0.05  # and yet something is left
    calm = randomized_times(cases, gaps_of(cases), span, 1e6, Randomness(seed=1)).micros.reshape(-1, 4)
    assert np.abs(np.diff(calm) - gaps).max() < MINUTE


def test_a_case_as_long_as_the_log_and_cases_of_one_event_can_be_shifted() -> None:
    cases = Cases(np.array([0, 1, 0] * 500), START + np.array([0, DAY, HOUR] * 500), _offsets(500), np.arange(1000) % 2, 2)
    times = randomized_times(cases, gaps_of(cases), (START, START + DAY), 1.0, Randomness(seed=1)).micros.reshape(-1, 3) - START
    assert times.min() >= 0
    assert times[:, [0, 2]].max() <= DAY
    assert np.mean(times[:, [0, 2]] != [0, HOUR]) > 0.99
    assert 0.3 * DAY < np.median(times[:, 0]) < 0.7 * DAY  # it may begin at any time of the log, and then ends after it
    alone = Cases(np.array([0]), np.array([START]), np.array([0, 1]), np.array([0]), 1)
    assert randomized_times(alone, gaps_of(alone), (START, START), 1.0, Randomness(seed=1)).micros.tolist() == [START]


def _offsets(n: int) -> Integers:
    """Those of n cases of two events, each with one of one event after it."""
    return np.append((3 * np.arange(n)[:, None] + [0, 2]).ravel(), 3 * n)


def test_a_case_that_would_end_after_the_log_is_not_drawn_back_by_noise_that_is_next_to_none() -> None:
    cases = cases_from([[0, 1]], [[DAY]])
    span = START - DAY, START + DAY // 2
    calm = randomized_times(cases, gaps_of(cases), span, 1e9, Randomness(seed=1))
    assert np.abs(calm.micros - cases.micros).max() < MINUTE
    many = cases_from([[0, 1]], [[DAY]]).take(np.zeros(MANY, np.int64))
    starts = randomized_times(many, gaps_of(cases), span, 1.0, Randomness(seed=1)).micros[0::2]
    assert span[0] <= starts.min() < starts.max() <= START  # and noise never takes it further out


def test_no_gap_becomes_shorter_than_the_shortest_of_the_log() -> None:
    cases = cases_from([[0, 1]] * 2, [[HOUR], [20 * HOUR]]).take(np.arange(MANY) % 2)
    noisy = randomized_times(cases, gaps_of(cases), (START, START + 9 * DAY), 0.1, Randomness(seed=1)).micros
    gaps = noisy[1::2] - noisy[0::2]
    assert HOUR <= gaps.min() < 2 * HOUR
    assert np.median(gaps) > 3 * HOUR


def test_gaps_of_two_activities_are_as_far_apart_as_those_of_the_same_two() -> None:
    cases = cases_from([[0, 1, 2]] * 2, [[HOUR, 5 * HOUR], [HOUR + MINUTE, 9 * HOUR]])
    gaps, overall = gaps_of(cases), 8 * HOUR
    assert gaps.ranges(traces_of([[0, 1, 2]]))[1:].tolist() == [MINUTE, 4 * HOUR]
    assert gaps.ranges(traces_of([[2, 1, 0]]))[1:].tolist() == [overall, overall]
    assert gaps_of(cases_from([[0]])).ranges(traces_of([[0, 0]])).tolist() == [0, 0]
    many = cases.take(np.zeros(MANY, np.int64))
    noisy = np.diff(randomized_times(many, gaps, (START, START + 90 * DAY), 1.0, Randomness(seed=1)).micros.reshape(-1, 3))
    assert np.median(np.abs(noisy[:, 0] - HOUR)) < 5 * MINUTE  # noise is scaled by the minute, not by eight hours
    assert np.median(np.abs(noisy[:, 1] - 5 * HOUR)) > HOUR


def test_ids_times_and_what_has_no_mechanism_are_left_out() -> None:
    n = 80
    events = pl.DataFrame(
        {
            "@case": [event // 2 for event in range(n)],
            "concept:name": ["a", "b"] * (n // 2),
            "time:timestamp": pl.Series(range(n)).cast(pl.Datetime("us", "UTC")),
            "offer": [f"offer {event // 2}" for event in range(n)],
            "of four cases": [f"person {event // 8}" for event in range(n)],
            "mostly blank": [f"person {event // 8}" if event < n // 4 else " " for event in range(n)],
            "of five cases": [f"team {event // 10}" for event in range(n)],
            "order": list(range(1000, 1000 + n)),
            "mostly new": [f"{event}" if event % 3 else "same" for event in range(n)],
            "due": pl.Series(range(n)).cast(pl.Datetime("us", "UTC")),
            "ward": ["a", "b", "c", "d"] * (n // 4),
            "cost": [0.5 + event for event in range(n)],
            "urgent": [True, False] * (n // 2),
            "age": [20, 30] * (n // 2),
        }
    )
    cases = pl.DataFrame({"concept:name": [f"case {row}" for row in range(n // 2)]})
    assert set(released_attributes(EventLog(events, cases))) == {"of five cases", "ward", "cost", "urgent", "age"}


def test_neither_the_individual_nor_what_few_individuals_share_is_released() -> None:
    n = 80
    log = log_from({"ab": n // 2}, patient=["everybody"] * n, room=[f"room {event // 20}" for event in range(n)], ward=["w"] * n)
    assert set(released_attributes(log)) == {"patient", "room", "ward"}
    cases = log.cases.with_columns(pl.Series("patient", [f"person {row // 10}" for row in range(n // 2)]))
    assert released_attributes(EventLog(log.events, cases, individual="patient")) == []
    cases = cases.with_columns(pl.Series("patient", [f"person {row % 8}" for row in range(n // 2)]))
    assert set(released_attributes(EventLog(log.events, cases, individual="patient"))) == {"room", "ward"}


def attributes(epsilon: float, after: int = 0, **columns: list[object]) -> pl.DataFrame:
    """Many events that all take after the same one of two events of activities 0 and 1, or after none."""
    events, codes = pl.DataFrame(columns, strict=False), np.array([0, 1])
    return randomized_attributes(events, codes, np.zeros(MANY, np.int64), np.full(MANY, after), epsilon, Randomness(seed=1))


def test_values_go_through_the_mechanism_of_their_type() -> None:
    made = attributes(1.0, urgent=[True, False], ward=["x", "y"], cost=[0.0, 8.0], age=[20, 60])
    assert abs(made["urgent"].to_numpy().mean() - np.e / (1 + np.e)) < 0.03
    assert abs((made["ward"] == "x").to_numpy().mean() - 1 / (1 + np.exp(-0.5))) < 0.03
    cost = made["cost"].to_numpy()
    assert 0 <= cost.min() <= cost.max() <= 8
    assert abs((cost < 4).mean() - (1 - np.exp(-0.5)) / (1 - np.exp(-1))) < 0.03
    assert made["age"].dtype == pl.Int64
    assert set(range(20, 61)) == set(made["age"].to_list())


def test_a_large_epsilon_leaves_values_as_they_are_and_missing_ones_stay_missing() -> None:
    made = attributes(1e3, urgent=[True, False], ward=["x", None], cost=[None, 8.0], age=[20, 60], odd=[float("nan"), 1.5])
    assert set(made["ward"].to_list()) == {"x"}
    assert set(made["age"].to_list()) == {20}
    assert "cost" in made.columns
    assert made["cost"].null_count() == made["odd"].null_count() == MANY


def test_an_event_that_takes_after_none_draws_from_its_activity() -> None:
    made = attributes(1e3, after=-1, ward=["x", "y"], age=[20, 60])
    assert set(made["ward"].to_list()) == {"x"}
    assert set(made["age"].to_list()) == {20}


def test_the_largest_numbers_get_noise_within_their_range() -> None:
    largest = float(np.finfo(float).max)
    for epsilon in (1.0, 1e-3):
        made = attributes(
            epsilon, cost=[-largest, largest], half=[0.0, 1e308], tiny=[0.0, 5e-324], whole=[-(2**63) + 1, 2**63 - 1]
        )
        assert made.null_count().row(0) == (0, 0, 0, 0)
        assert made["cost"].is_finite().all()
        assert 0.2 < (made["cost"] > 0).to_numpy().mean() < 0.6
        assert made["half"].is_between(0, 1e308).all()
        assert made["half"].n_unique() > MANY // 2
        assert made["whole"].n_unique() > MANY // 2
    same = attributes(1.0, whole=[2**63 - 1, 2**63 - 1])["whole"]
    assert set(same.to_list()) == {2**63 - 1024}  # the largest float below
    calm = attributes(1e3, cost=[0.1, 0.3])["cost"].to_numpy()
    assert np.abs(calm - 0.1).max() < 0.01


def test_a_truth_value_is_turned_and_a_word_replaced_as_often_as_epsilon_says() -> None:
    random = Randomness(seed=1)
    kept = randomized_response(np.ones(20_000, bool), 1.0, random).mean()
    assert kept == pytest.approx(math.e / (math.e + 1), abs=0.01)
    drawn = np.bincount(random_words(np.zeros(20_000, np.int64), 3, 2.0, random)) / 20_000
    assert drawn == pytest.approx([math.e / (math.e + 2), 1 / (math.e + 2), 1 / (math.e + 2)], abs=0.01)


def test_noise_that_is_cut_to_a_domain_has_the_scale_that_the_cut_asks_for() -> None:
    assert bounded_scale(np.array([10.0, 1.0]), np.array([10.0, 10.0]), 0.5) == pytest.approx([20.0, 3.528], abs=1e-3)
