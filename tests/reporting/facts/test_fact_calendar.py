"""When things happen: stretches of the calendar, hours of the week, and the dotted chart."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from logs_by_hand import BEGIN, HANDLING, RELEASED, all_finite, log_of

from libra.example.simulate import simulate
from libra.reporting.facts.distributions import FEWEST, MOST_POINTS, arrivals, dotted, hours_of_week
from libra.reporting.facts.pair import Pair

DAY = 86400.0


def starting(*days: float) -> list[list[tuple[str, float]]]:
    return [[("a", day * DAY), ("b", day * DAY + 60)] for day in days]


@pytest.mark.parametrize(
    ("days", "every"),
    [(1, "day"), (100, "day"), (300, "week"), (2000, "month"), (8000, "quarter"), (30000, "year"), (200000, "decade")],
)
def test_stretches_are_as_fine_as_there_is_room_for(days: int, every: str) -> None:
    log = log_of(starting(*(days * part / 50 for part in range(51))), begin=datetime(1700, 3, 5, 13, tzinfo=UTC))
    found = arrivals(Pair(None, log))
    assert found.every == every
    assert len(found.starts) == len(found.anonymized) <= MOST_POINTS
    assert sum(found.anonymized) == 51
    assert found.outside_anonymized == 0
    moments = [*found.starts, datetime.max.replace(tzinfo=UTC)]
    expected = Counter(
        max(place for place, start in enumerate(moments) if start <= moment) for moment in log.events["time:timestamp"][::2]
    )
    assert list(found.anonymized) == [expected[place] for place in range(len(found.starts))]


def test_weeks_begin_on_mondays_and_months_on_the_first() -> None:
    weeks = arrivals(Pair(None, log_of(starting(*range(0, 400, 3)))))
    assert {(start.weekday(), start.hour) for start in weeks.starts} == {(0, 0)}
    months = arrivals(Pair(None, log_of(starting(*range(0, 2000, 30)))))
    assert {start.day for start in months.starts} == {1}
    decades = arrivals(Pair(None, log_of(starting(0, 100_000))))
    assert {start.year % 10 for start in decades.starts} == {0}


def test_both_logs_are_on_the_same_stretches() -> None:
    found = arrivals(Pair(log_of(starting(0, 1, 1)), log_of(starting(3))))
    assert found.original == (1, 2, 0, 0)
    assert found.anonymized == (0, 0, 0, 1)
    assert found.starts[0] == BEGIN.replace(hour=0)


def test_a_stray_case_does_not_flatten_all_others_and_is_counted() -> None:
    days = [part / 20 for part in range(2000)]
    found = arrivals(Pair(None, log_of(starting(-18_000, *days))))
    assert found.every == "day"
    assert found.outside_anonymized == 1
    assert sum(found.anonymized) == 2000


def test_logs_without_cases_have_no_stretches() -> None:
    found = arrivals(Pair(log_of([]), log_of([])))
    assert (found.starts, found.original, found.anonymized) == ((), (), ())
    assert arrivals(Pair(log_of(HANDLING), log_of([]))).anonymized == (0, 0)


@pytest.mark.parametrize("time_zone", [None, "UTC", "Europe/Amsterdam", "Asia/Kolkata"])
def test_hours_of_the_week_are_those_on_the_wall(time_zone: str | None) -> None:
    log = simulate(cases=60)
    found = hours_of_week(Pair(log, log), time_zone)
    local = [moment.astimezone(ZoneInfo(time_zone or "UTC")) for moment in log.events["time:timestamp"]]
    expected = Counter((moment.weekday(), moment.hour) for moment in local)
    assert found.original == found.anonymized
    for day in range(7):
        for hour in range(24):
            assert found.anonymized[day][hour] == pytest.approx(expected[day, hour] / log.n_events)
    assert found.most == max(expected.values()) / log.n_events


def test_times_without_a_zone_are_read_as_they_stand() -> None:
    log = simulate(cases=60)
    wall = replace(log, has_zone=False)
    found = hours_of_week(Pair(wall, log), "Asia/Kolkata")
    assert found.time_zone is None
    assert found.original == hours_of_week(Pair(None, log)).anonymized


def test_before_1970_mondays_are_still_mondays() -> None:
    monday = datetime(1701, 1, 3, 5, tzinfo=UTC)
    assert monday.weekday() == 0
    assert hours_of_week(Pair(None, log_of([[("a", 0)]], begin=monday))).anonymized[0][5] == 1


def test_the_dotted_chart_counts_all_events_but_the_beginnings() -> None:
    log = simulate(cases=200)
    found = dotted(Pair(log, log))
    assert found.original == found.anonymized
    assert len(found.anonymized) == 200 // FEWEST
    assert len(found.anonymized[0]) == len(found.bounds) - 1 <= 80
    per_case = sum(map(sum, found.anonymized)) / len(found.anonymized)
    assert per_case == pytest.approx((log.n_events - log.n_cases) / log.n_cases)
    assert found.most == max(value for row in found.anonymized for value in row)


def test_a_dot_lies_where_its_time_says() -> None:
    cases = [[("a", 0), ("b", 90), ("c", 90), ("d", 7000)]] * 10
    found = dotted(Pair(None, log_of(cases)))
    (row,) = found.anonymized
    columns = {place: value for place, value in enumerate(row) if value}
    assert sorted(columns.values()) == [1, 2]
    for place, value in columns.items():
        seconds = 90 if value == 2 else 7000
        assert found.bounds[place] <= seconds < found.bounds[place + 1]


def test_rows_of_the_dotted_chart_are_cases_in_the_order_of_their_start() -> None:
    early, late = [[("a", 0), ("b", 60)]] * 10, [[("a", DAY), ("b", DAY + 6000)]] * 10
    found = dotted(Pair(None, log_of([*late, *early])))
    first, last = ([place for place, value in enumerate(row) if value] for row in found.anonymized)
    assert first < last


def test_no_row_of_the_dotted_chart_is_a_single_case() -> None:
    assert len(dotted(Pair(log_of(HANDLING), log_of(RELEASED))).anonymized) == 1
    assert len(dotted(Pair(simulate(cases=400), simulate(cases=30))).anonymized) == 3


def test_events_at_the_very_beginning_are_counted_but_for_one() -> None:
    found = dotted(Pair(None, log_of([[("a", 0), ("b", 0), ("c", 0)]])))
    assert found.anonymized == ((2.0,),)
    assert dotted(Pair(log_of([]), log_of([]))).most == 0


def test_times_far_off_are_no_trouble() -> None:
    far = log_of([[("a", 0), ("b", timedelta(days=219_000).total_seconds())]], begin=datetime(1700, 1, 1, tzinfo=UTC))
    pair = Pair(far, far)
    for fact in (arrivals(pair), hours_of_week(pair, "Europe/Amsterdam"), dotted(pair)):
        assert all_finite(fact)
    assert dotted(pair).ticks[-1][1] == "1 year"
