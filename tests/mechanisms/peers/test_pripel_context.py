"""PRIPEL's context: events take after events of the same activity, and what is missing comes from the log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from cases_for_peers import DAY, HOUR, MINUTE, START, cases_from
from hypothesis import given
from hypothesis import strategies as st

from libra.eventlog.cases import Cases
from libra.eventlog.traces import traces_of
from libra.mechanisms.pripel.attributes import randomized_attributes, released_attributes
from libra.mechanisms.pripel.context import own_times, taken_after
from libra.mechanisms.pripel.gaps import gaps_of
from libra.mechanisms.pripel.times import randomized_times
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
    cases = Cases(np.array([0, 1, 0]), START + np.array([0, DAY, HOUR]), np.array([0, 2, 3]), np.array([0, 1]), 2)
    noisy = randomized_times(cases, gaps_of(cases), (START, START + DAY), 1.0, Randomness(seed=1))
    assert len(noisy) == 2
    alone = Cases(np.array([0]), np.array([START]), np.array([0, 1]), np.array([0]), 1)
    assert randomized_times(alone, gaps_of(alone), (START, START), 1.0, Randomness(seed=1)).micros.tolist() == [START]


def test_ids_times_and_what_has_no_mechanism_are_left_out() -> None:
    n = 40
    events = pl.DataFrame(
        {
            "@case": [event // 2 for event in range(n)],
            "concept:name": ["a", "b"] * (n // 2),
            "time:timestamp": pl.Series(range(n)).cast(pl.Datetime("us", "UTC")),
            "offer": [f"offer {event // 2}" for event in range(n)],
            "order": list(range(1000, 1000 + n)),
            "mostly new": [f"{event}" if event % 3 else "same" for event in range(n)],
            "due": pl.Series(range(n)).cast(pl.Datetime("us", "UTC")),
            "ward": ["a", "b", "c", "d"] * (n // 4),
            "cost": [0.5 + event for event in range(n)],
            "urgent": [True, False] * (n // 2),
            "age": [20, 30] * (n // 2),
        }
    )
    assert released_attributes(events) == ["ward", "cost", "urgent", "age"]


def attributes(epsilon: float, after: int = 0, **columns: list[object]) -> pl.DataFrame:
    """Many events that all take after the same one of two events of activities 0 and 1, or after none."""
    events = pl.DataFrame({"@case": [0, 1], **columns}, strict=False)
    events = pl.concat([events, events.with_columns(pl.col("@case") + 2)])
    taken = np.full(MANY, after)
    return randomized_attributes(events, np.array([0, 1] * 2), np.zeros(MANY, np.int64), taken, epsilon, Randomness(seed=1))


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
