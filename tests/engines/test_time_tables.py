"""The tables about times count what they say, in the bins that are public."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from adversarial_logs import BOUNDS, FIRST, LAST
from hand_written_logs import LABELS, PARTS, ZONES
from hand_written_logs import TIME_TABLES as REQUESTS
from hypothesis import given
from hypothesis import strategies as st

from libra.engines import time_tables as tables
from libra.engines.contract import FINE, Integers, Table
from libra.engines.counting.clipping import add_clipped
from libra.engines.counting.count import TABLES, count, needs_cases
from libra.eventlog.cases import Cases, to_local, to_utc, traces_of

Events = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Counting:
    """As much of an engine as counting times needs."""

    cases: Cases

    def count(self, table: Table) -> Integers:
        return count(table, self.cases)


def engine(cases: list[Events]) -> Counting:
    events = [event for case in cases for event in case]
    codes, micros = (np.array([event[i] for event in events], np.int64) for i in (0, 1))
    offsets = np.concatenate(([0], np.cumsum([len(case) for case in cases], dtype=np.int64))).astype(np.int64)
    return Counting(Cases(codes, micros, offsets, np.zeros(len(cases), np.int64), LABELS))


def at(*moments: str) -> Events:
    """Events of label 0, 1, 2, ... at these moments."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [
        (i % LABELS, (datetime.fromisoformat(moment).replace(tzinfo=UTC) - epoch) // timedelta(microseconds=1))
        for i, moment in enumerate(moments)
    ]


def test_every_request_is_tried_here() -> None:
    assert {type(request_) for request_ in REQUESTS} == {kind for kind in TABLES if kind.__module__ == tables.__name__}
    assert all(map(needs_cases, REQUESTS))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=60),
    st.floats(0.3, 40),
    st.sampled_from([1, 10, 1024]),
)
def test_clipping_keeps_the_norm_in_exact_arithmetic(pairs: list[tuple[int, int]], clip: float, scale: int) -> None:
    for number in range(4):
        own = [cell for case, cell in pairs if case == number]
        counted = add_clipped(np.zeros(len(own), np.int64), np.array(own, np.int64), 5, clip, scale)
        assert sum(int(cell) ** 2 for cell in counted) <= (Fraction(clip) * scale) ** 2
        plain = np.bincount(np.array(own, np.int64), minlength=5)
        if int(plain @ plain) <= Fraction(clip) ** 2:
            assert (counted == plain * scale).all()
        else:
            lost = np.linalg.norm(plain * (scale * clip / np.linalg.norm(plain)) - counted)
            assert lost <= 5**0.5 + 1e-6


def test_cases_are_clipped_one_by_one_and_weights_stand_for_equal_cases() -> None:
    case, cell = np.array([0, 0, 0, 1]), np.array([2, 2, 0, 0])
    once = add_clipped(case, cell, 3, 1.0, 1000)
    assert once.tolist() == [1000 + 447, 0, 894]
    assert add_clipped(case, cell, 3, 1.0, 1000, weights=np.array([5, 2])).tolist() == [2000 + 5 * 447, 0, 5 * 894]
    given_amounts = add_clipped(np.array([0, 0, 1]), np.array([2, 0, 0]), 3, 1.0, 1000, amounts=np.array([2, 1, 1]))
    assert given_amounts.tolist() == once.tolist()


def test_sums_beyond_what_floats_hold_stay_exact() -> None:
    weights = np.array([2**53, 1])
    summed = add_clipped(np.array([0, 1]), np.array([0, 0]), 1, 1.0, 1, weights=weights)
    assert summed.tolist() == [2**53 + 1]


def test_a_case_starts_with_its_earliest_event_and_lasts_until_its_latest() -> None:
    unordered = engine([at("2024-05-06T10:00:00", "2024-05-04T09:00:00", "2024-05-06T11:00:00")])
    hours = unordered.count(tables.StartHours())
    assert hours[24 + 9] == 1  # a Saturday
    assert unordered.count(tables.StartDays()).tolist() == [0, 0, 0, 0, 0, 1, 0]
    two_days_two_hours = 50 * 3600 * tables.SECOND
    bounds = tables.total_bounds()
    (cell,) = np.flatnonzero(unordered.count(tables.CaseDurations()))
    assert bounds[cell] <= two_days_two_hours < bounds[cell + 1]


def test_negative_steps_count_as_no_time() -> None:
    unordered = engine([at("2024-05-06T10:00:00", "2024-05-04T09:00:00")])
    assert unordered.count(tables.StepDurations(1.0))[0] == FINE


def test_hours_and_days_are_those_of_the_zone() -> None:
    late_sunday = engine([at("2024-05-05T23:30:00")])
    assert late_sunday.count(tables.StartHours())[24 + 23] == 1
    assert late_sunday.count(tables.StartHours("Europe/Amsterdam"))[1] == 1  # half past one on Monday
    assert late_sunday.count(tables.StartDays("Europe/Amsterdam"))[0] == 1


def test_starts_outside_the_calendar_count_at_its_ends() -> None:
    outside = engine([[(0, FIRST)], [(0, LAST)]])
    years = outside.count(tables.StartYears())
    assert years[0] == years[-1] == 1
    assert outside.count(tables.StartWeeks((0, 130)))[[0, 1], [0, -1]].tolist() == [1, 1]


def test_starts_in_other_years_count_nowhere() -> None:
    assert engine([at("2024-05-06T10:00:00")]).count(tables.StartWeeks((0, 130))).sum() == 0


SECOND, MINUTE = tables.SECOND, tables.MINUTE
PLAIN = tables.EdgeCells(LABELS, (6,), (1,), (32, 64, 1), (1, 2, 82, tables.FINE_BINS), (0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0))


def test_an_edge_counts_in_its_row_or_in_that_of_its_target_or_in_the_last_each_with_its_weight() -> None:
    some = engine([at("2024-05-06T10:00:00", "2024-05-06T10:00:01", "2024-05-06T10:00:08", "2024-05-06T10:00:08")])
    counts = some.count(tables.EdgeDurations(2.0, PLAIN))  # edges 1, 6 and 11
    first = PLAIN.first_cells.reshape(-1)[:-1].reshape(3, 4)
    assert first[:, 3].tolist() == [4, 8, 12]
    found = {int(cell): int(counts[cell]) for cell in np.flatnonzero(counts)}
    assert found == {int(first[0, 2]) + 1: FINE // 2, int(first[1, 2]): FINE, int(first[2, 0]): FINE // 64}


def test_groups_are_cut_evenly_and_what_is_longer_than_all_counts_in_the_last_part() -> None:
    cells = tables.EdgeCells(1, (0,), (), (64, 64), (1, 2, 10, 12), (0, 0, 2, 1, 0, 0, 0, 0))
    in_first_row = cells.cell_of[: tables.FINE_BINS]
    assert in_first_row[:13].tolist() == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7]
    assert set(in_first_row[12:].tolist()) == {7}


def test_slow_steps_after_slow_ones_add_up_and_a_fast_one_between_takes_away() -> None:
    slow_from = int(tables.fine_bins(np.array([MINUTE]))[0])
    cells = tables.EdgeCells(2, (), (), (64,), (1, 2, tables.FINE_BINS), (0, 0, 0))
    pairs = tables.SlowPairs(9.0, cells, (slow_from,), (16,), (1 * 2 + 0, 2 * 2 + 1))  # 0, 1, 0 and 1, 0, 1

    def sums(*waits: int) -> list[int]:
        times = np.cumsum((0, *waits)).tolist()
        found: list[int] = engine([[(i % 2, time) for i, time in enumerate(times)]]).count(pairs).tolist()
        return found

    assert sums(MINUTE, MINUTE) == [48 * 48, 0]
    assert sums(MINUTE, SECOND) == [-48 * 16, 0]
    assert sums(SECOND, SECOND, SECOND, SECOND) == [2 * 16 * 16, 16 * 16]
    assert sums(MINUTE) == [0, 0]


def test_totals_count_by_variant_and_otherwise_by_length() -> None:
    groups = tuple(int(i > 30) for i in range(tables.CaseDurationParts(PARTS).shape[0]))
    table = tables.GroupedTotals(traces_of([[0, 1], [2]]), (2, 4), PARTS, groups)
    cases = [[(0, 0), (1, 5)], [(2, 0)], [(3, 0)], [(1, 0), (0, tables.DAY)], [(0, 0)] * 4, []]
    assert engine(cases).count(table).tolist() == [[1, 0], [1, 0], [1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("times", "grain"),
    [
        (("2024-05-06T00:00:00", "2024-05-09T00:00:00"), tables.DAY),
        (("2024-05-06T00:00:00", "2024-05-09T04:00:00"), tables.HOUR),
        (("2024-05-06T00:00:00", "2024-05-09T04:30:00"), tables.MINUTE),
        (("2024-05-06T00:00:01", "2024-05-09T04:30:00"), tables.SECOND),
        (("2024-05-06T00:00:00.250", "2024-05-09T00:00:00"), 1000),
        (("2024-05-06T00:00:00.000250", "2024-05-09T00:00:00"), 1),
    ],
)
def test_granularity_is_that_of_the_finest_time_of_a_case(times: tuple[str, ...], grain: int) -> None:
    counts = engine([at(*times)]).count(tables.Granularity())
    assert tables.GRAINS[int(np.argmax(counts))] == grain
    assert counts.sum() == 1


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda table: type(table).__name__)
def test_cases_without_events_count_nowhere(request_: Table) -> None:
    assert not engine([[], []]).count(request_).any()
    alone, among = (
        engine([at("2024-05-06T10:00:00", "2024-05-06T12:00:00")]),
        engine([[], at("2024-05-06T10:00:00", "2024-05-06T12:00:00"), []]),
    )
    assert (alone.count(request_) == among.count(request_)).all()


durations = st.integers(0, 10**18) | st.sampled_from(BOUNDS).flatmap(lambda bound: st.integers(max(bound - 2, 0), bound + 2))


@given(durations)
def test_a_duration_lies_within_the_bounds_of_its_bin(micros: int) -> None:
    bounds = tables.duration_bounds().tolist()
    found = int(tables.duration_bins(tables.fine_bins(np.array([micros])))[0])
    fine, fine_bounds = int(tables.fine_bins(np.array([micros]))[0]), tables.fine_bounds().tolist()
    if micros:
        assert bounds[found] <= micros
        assert found == tables.DURATION_BINS - 1 or micros < bounds[found + 1]
        assert fine_bounds[fine] <= micros
        assert fine == tables.FINE_BINS - 1 or micros < fine_bounds[fine + 1]
    else:
        assert found == fine == 0


@given(durations)
def test_a_part_lies_within_its_bin_and_a_duration_within_its_part(micros: int) -> None:
    one = engine([[(0, FIRST), (1, FIRST + micros)]])
    (cell,) = np.flatnonzero(one.count(tables.CaseDurationParts(PARTS)))
    (found,) = np.flatnonzero(one.count(tables.CaseDurations()))
    first = tables.CaseDurationParts(PARTS).first_cells
    assert first[found] <= cell < first[found + 1]
    bounds = tables.part_bounds(PARTS).tolist()
    assert len(bounds) == first[-1] + 1
    assert bounds[cell] <= micros
    assert micros == 0 or cell == len(bounds) - 2 or micros < bounds[cell + 1]


@pytest.mark.parametrize("zone", ZONES)
def test_wall_clock_and_back(zone: str) -> None:
    micros = np.arange(-(10**15), 4 * 10**15, 987_654_321_987)
    local = to_local(micros, zone)
    back = to_utc(local, zone)
    assert (np.abs(back - micros) <= tables.HOUR).all()
    assert (back == micros).mean() > 0.99


def test_a_wall_clock_time_that_is_skipped_is_an_hour_later() -> None:
    skipped = at("2024-03-31T02:30:00")[0][1]
    assert to_utc(np.array([skipped]), "Europe/Amsterdam").tolist() == [at("2024-03-31T01:30:00")[0][1]]
