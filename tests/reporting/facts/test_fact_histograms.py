"""Trace lengths and durations, in bins: nothing is lost, everything is where its bounds say, and both logs share the bins."""

from __future__ import annotations

from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs_by_hand import HANDLING, RELEASED, Cases, log_of, steps

from libra.reporting.facts.distributions import (
    BOUNDS,
    MOST_BINS,
    N_BINS,
    WORDS,
    Histogram,
    bins_for,
    case_durations,
    counted,
    step_durations,
    trace_lengths,
)
from libra.reporting.facts.pair import SECOND, Pair

YEAR = 31_557_600


def share_within(values: list[float], low: float, high: float) -> float:
    return sum(low <= value < high for value in values) / len(values)


def of_lengths(*lengths: int) -> Cases:
    return [[("a", float(at)) for at in range(length)] for length in lengths]


def test_lengths_are_shares_of_cases_by_whole_numbers() -> None:
    found = trace_lengths(Pair(log_of(HANDLING), log_of(RELEASED)))
    assert found.bounds == (2, 3, 4, 5)
    assert found.labels == ("2", "3", "4")
    assert found.original == pytest.approx((0.4, 0.4, 0.2))
    assert found.anonymized == pytest.approx((0.75, 0.25, 0.0))
    assert (found.median_original, found.median_anonymized) == (3, 2)
    assert (found.mean_original, found.mean_anonymized) == pytest.approx((14 / 5, 9 / 4))
    assert found.ticks == ((0.5, "2"), (1.5, "3"), (2.5, "4"))


def test_long_traces_share_bins_and_the_longest_have_one_of_their_own() -> None:
    lengths = [*range(1, 201), *range(1, 201), 5000]
    found = trace_lengths(Pair(None, log_of(of_lengths(*lengths))))
    assert len(found.labels) <= MOST_BINS + 1
    assert (found.bounds[0], found.bounds[-1]) == (1, 5001)
    assert "to 5,000" in found.labels[-1]
    for low, high, share in zip(found.bounds[:-1], found.bounds[1:], found.anonymized, strict=True):
        assert share == pytest.approx(share_within(list(map(float, lengths)), low, high))


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.lists(st.integers(1, 400), max_size=30))
def test_every_length_has_a_bin(lengths: list[int], others: list[int]) -> None:
    found = trace_lengths(Pair(log_of(of_lengths(*lengths)), log_of(of_lengths(*others))))
    assert sum(found.original or ()) == pytest.approx(1)
    assert sum(found.anonymized) == pytest.approx(1 if others else 0)
    assert len(found.labels) == len(found.anonymized) == len(found.bounds) - 1 <= MOST_BINS + 1
    assert all(low < high for low, high in zip(found.bounds[:-1], found.bounds[1:], strict=True))


def test_logs_without_cases_have_an_empty_histogram() -> None:
    for found in (trace_lengths(Pair(log_of([]), log_of([]))), case_durations(Pair(log_of([]), log_of([])))):
        assert found.original == found.anonymized == (0.0,)
        assert found.median_original is found.mean_anonymized is None


def test_every_duration_is_in_the_bin_whose_bounds_hold_it() -> None:
    moments = [-SECOND, -1, 0, 1, *(int(SECOND * bound) + off for bound in BOUNDS[2:] for off in (-1, 0, 1))]
    for micros in moments:
        place = int(np.flatnonzero(counted(np.array([micros])))[0])
        seconds = micros / SECOND
        if seconds <= 0:
            assert place == 0
        else:
            assert BOUNDS[place] <= seconds
            assert seconds < BOUNDS[place + 1] or place == N_BINS - 1
    assert list(BOUNDS) == sorted(BOUNDS)
    assert len(WORDS) == len(BOUNDS)


@given(st.lists(st.integers(-(10**9), 600 * YEAR * SECOND), max_size=40), st.lists(st.integers(0, 10**12), max_size=40))
def test_bins_to_show_hold_all_durations(some: list[int], others: list[int]) -> None:
    counts = [counted(np.array(one, np.int64)) for one in (some, others)]
    bins = bins_for(*counts)
    assert [int(bins.merged(one).sum()) for one in counts] == [len(some), len(others)]
    assert len(bins.labels) == len(set(bins.labels)) == len(bins.bounds) - 1
    assert all(0 <= place <= len(bins.labels) for place, _ in bins.ticks)


def test_a_stray_second_does_not_stretch_the_scale() -> None:
    days = np.array([SECOND, *[int(3 * 86400 * SECOND)] * 999])
    assert bins_for(counted(days)).labels == ("below 1 day", "1 to 2 days", "2 to 4 days")
    seconds = np.array([SECOND] * 10 + [int(3 * 86400 * SECOND)] * 990)
    assert bins_for(counted(seconds)).labels[0] == "1 to 2 s"


def test_durations_within_one_unit_of_time_are_marked_with_it() -> None:
    assert bins_for(counted(np.array([3 * SECOND]))).ticks == ((0.0, "2 s"), (1.0, "4 s"))
    hours = np.array([3, 5, 9]) * 3600 * SECOND
    assert [label for _, label in bins_for(counted(hours)).ticks] == ["2 h", "4 h", "8 h", "16 h"]


def test_units_of_time_are_marked_where_they_begin() -> None:
    found = case_durations(Pair(None, log_of(HANDLING)))
    for place, label in found.ticks:
        if label != "0":
            assert WORDS[BOUNDS.index(found.bounds[int(place)])] == label
    assert {label: place for place, label in found.ticks}["0"] == 0.5


def check(found: Histogram, original: list[float], anonymized: list[float]) -> None:
    assert found.original is not None
    sides = ((original, found.original, "original"), (anonymized, found.anonymized, "anonymized"))
    for values, shares, log in sides:
        if values:
            assert getattr(found, f"median_{log}") == pytest.approx(median(values))
            assert getattr(found, f"mean_{log}") == pytest.approx(fmean(values))
        for place, share in enumerate(shares):
            low, high = found.bounds[place], found.bounds[place + 1]
            hits = [value for value in values if (low <= value < high and value > 0) or (high == 0 >= value)]
            assert share == pytest.approx(len(hits) / len(values) if values else 0)


def test_case_durations_are_from_the_earliest_to_the_latest_event() -> None:
    taken = [[max(at for _, at in case) - min(at for _, at in case) for case in cases] for cases in (HANDLING, RELEASED)]
    check(case_durations(Pair(log_of(HANDLING), log_of(RELEASED))), *taken)


def test_step_durations_are_those_of_the_heaviest_edges_on_the_same_bins() -> None:
    found = step_durations(Pair(log_of(HANDLING), log_of(RELEASED)), most=3)
    expected, others = steps(HANDLING), steps(RELEASED)
    assert [len(expected[source, target]) for source, target, _ in found] == sorted(
        (len(one) for one in expected.values()), reverse=True
    )[:3]
    assert len({histogram.bounds for _, _, histogram in found}) == 1
    for source, target, histogram in found:
        check(histogram, expected[source, target], others.get((source, target), []))


def test_negative_durations_count_as_none_in_bins_and_as_they_are_in_means() -> None:
    backwards = log_of([[("a", 10), ("b", 0)], [("a", 0), ("b", 4)]])
    ((*_, found),) = step_durations(Pair(None, backwards))
    assert found.labels[0] == "0 or less"
    assert found.anonymized[0] == 0.5
    assert found.mean_anonymized == -3


def test_cases_of_one_event_have_no_steps() -> None:
    single = log_of([[("a", 0)], [("b", 5)]])
    assert step_durations(Pair(single, single)) == ()
    assert case_durations(Pair(single, single)).labels == ("0 or less",)


def test_in_public_mode_there_is_nothing_of_the_original() -> None:
    pair = Pair(None, log_of(RELEASED))
    for found in (trace_lengths(pair), case_durations(pair), step_durations(pair)[0][-1]):
        assert (found.original, found.median_original, found.mean_original) == (None, None, None)
