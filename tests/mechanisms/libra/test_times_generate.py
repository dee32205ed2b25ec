"""Generated times look like the original's, never run backwards, and stay sane whatever comes in."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timed import MONDAY, Counting, counting, gaps, office, released, traces_of_engine

from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.engines.contract import Integers
from libra.eventlog.cases import Traces, cases_of, traces_of
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.measures.edges import pair_edges
from libra.measures.utility import arrival_w1_days, step_durations
from libra.mechanisms.libra.times import calendar
from libra.mechanisms.libra.times.calendar import nudge
from libra.mechanisms.libra.times.generate import generate_times, in_utc, shorten, spread
from libra.mechanisms.libra.times.release import last_total

DAY, HOUR, SECOND = tables.DAY, tables.HOUR, tables.SECOND


def durations(micros: Integers, traces: Traces) -> Integers:
    present = traces.lengths > 0
    return micros[traces.offsets[1:][present] - 1] - micros[traces.offsets[:-1][present]]


def hours_of(micros: Integers) -> Integers:
    return micros // HOUR % 24


DEGENERATE = {
    "one event": counting(np.array([0]), np.array([0]), np.array([1]), 1),
    "all at once": counting(np.zeros(3000, np.int64), np.full(3000, MONDAY), np.full(1000, 3), 1),
    "far past": counting(np.tile([0, 1], 300), np.tile([-9 * 10**15, -8 * 10**15], 300), np.full(300, 2), 2),
    "far future": counting(np.tile([0, 1], 300), np.tile([9 * 10**15, 91 * 10**14], 300), np.full(300, 2), 2),
    "hundreds of labels": counting(np.arange(1400) % 700, MONDAY + np.arange(1400) * SECOND, np.full(20, 70), 700),
    "one giant": counting(np.arange(5000) % 3, MONDAY + np.arange(5000) * DAY, np.array([5000]), 3),
    "ten cases": office(10),
    "without steps": counting(np.zeros(500, np.int64), MONDAY + np.arange(500) * HOUR, np.ones(500, np.int64), 1),
    "backwards": counting(np.tile([0, 1, 2], 200), np.tile([MONDAY, MONDAY - DAY, MONDAY - 2 * DAY], 200), np.full(200, 3), 3),
}


@pytest.mark.parametrize("mu", [0.005, 0.2, 3.0])
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Amsterdam"])
def test_every_log_gets_times_that_do_not_decrease_and_stay_within_the_calendar(name: str, mu: float, zone: str) -> None:
    engine = DEGENERATE[name]
    figures, micros = released(engine, mu, time_zone=zone)
    traces = traces_of_engine(engine)
    assert len(micros) == len(traces.codes)
    assert (gaps(micros, traces) >= 0).all()
    assert micros.min() >= -DAY
    assert micros[traces.offsets[:-1]].max() <= tables.FIRST_MONDAY + tables.YEARS * tables.WEEKS_A_YEAR * tables.WEEK
    last = last_total(figures.noisy, figures.parts)
    assert durations(micros, traces).max() <= tables.total_bounds()[last + 1] + (0 if zone == "UTC" else 2 * HOUR)


@settings(max_examples=20)
@given(
    st.lists(st.lists(st.integers(0, 4), max_size=8), max_size=12),
    st.floats(0.005, 3),
    st.integers(0, 5),
)
def test_any_control_flow_gets_times_from_any_log(lists: list[list[int]], mu: float, seed: int) -> None:
    """Also one with traces that have no events."""
    engine = counting(np.tile(np.arange(5), 40), MONDAY + np.arange(200) * HOUR, np.full(40, 5), 5)
    traces = traces_of(lists)
    _, micros = released(engine, mu, seed, traces=traces)
    assert len(micros) == len(traces.codes)
    assert (gaps(micros, traces) >= 0).all()


def test_starts_come_from_active_years_only() -> None:
    engine = office(2000)
    for seed in range(10):
        figures, micros = released(engine, 0.2, seed)
        starts = micros[engine.cases.offsets[:-1]]
        years = (starts - tables.FIRST_MONDAY) // tables.WEEK // tables.WEEKS_A_YEAR
        assert set(years.tolist()) <= set(figures.years)
        assert set(figures.years) <= {53, 54, 55, 56}  # 2023-11 to 2025-11, and a neighbour


def test_no_case_starts_in_the_years_between_two_active_ones() -> None:
    starts = np.repeat(np.array([MONDAY - 9 * 365 * DAY, MONDAY]), 500)
    engine = counting(np.zeros(1000, np.int64), starts, np.ones(1000, np.int64), 1)
    figures, micros = released(engine, 0.5)
    years = (micros - tables.FIRST_MONDAY) // tables.WEEK // tables.WEEKS_A_YEAR
    assert set(years.tolist()) <= set(figures.years)
    assert 0.4 < np.mean(np.abs(micros - MONDAY) < 30 * DAY) < 0.6
    assert np.mean(np.abs(micros - starts[0]) < 30 * DAY) > 0.35


def test_clocks_that_are_set_do_not_turn_the_order_of_a_case() -> None:
    skipped = 1_711_852_200_000_000  # 2024-03-31 02:30, which Amsterdam never saw
    local = np.array([skipped, skipped + 40 * tables.MINUTE, skipped])
    micros = in_utc(local, traces_of([[0, 0], [], [0]]), "Europe/Amsterdam")
    assert micros.tolist() == [skipped - HOUR, skipped - HOUR, skipped - HOUR]


def test_how_many_cases_are_generated_changes_nothing_but_their_number() -> None:
    engine = office(3000)
    figures, few = released(engine, 0.5)
    traces = traces_of_engine(engine)
    many = traces.take(np.tile(np.arange(len(traces)), 5))
    micros = generate_times(figures, many, 4, "UTC", Randomness(seed=7))
    for quantile in (0.1, 0.5, 0.9):
        starts = [np.quantile(times.reshape(-1, 4)[:, 0], quantile) / DAY for times in (few, micros)]
        days = [np.quantile(times.reshape(-1, 4)[:, 2] - times.reshape(-1, 4)[:, 1], quantile) / DAY for times in (few, micros)]
        assert abs(starts[0] - starts[1]) < 8
        assert abs(days[0] - days[1]) < 0.1


def test_durations_follow_their_edge() -> None:
    engine = office(5000)
    _, micros = released(engine, 0.5)
    steps = gaps(micros, traces_of_engine(engine)).reshape(-1, 3)
    minutes, days, none = steps.T
    assert np.quantile(minutes, 0.95) <= 2 * HOUR
    assert 12 * HOUR <= np.median(days) <= 4 * DAY
    assert np.mean(none < SECOND) > 0.97
    original = gaps(engine.cases.micros, traces_of_engine(engine)).reshape(-1, 3)
    assert abs(steps[:, 1].mean() / original[:, 1].mean() - 1) < 0.25


def test_case_durations_get_better_with_the_budget_and_do_not_pile_up() -> None:
    n = 8000
    random = np.random.default_rng(1)
    lasts = np.where(random.random(n) < 0.4, 31 * DAY, random.integers(DAY, 20 * DAY, n)) + random.integers(0, HOUR, n)
    start = MONDAY + random.integers(0, 300 * DAY, n)
    engine = counting(np.tile([0, 1], n), np.stack((start, start + lasts), axis=1).ravel(), np.full(n, 2), 2)

    def error(mu: float) -> float:
        found = [np.sort(durations(released(engine, mu, seed)[1], traces_of_engine(engine))) for seed in (1, 2)]
        assert all((each == each[-1]).sum() <= 5 for each in found)
        return float(np.mean([np.abs(each - np.sort(lasts)).mean() / DAY for each in found]))

    assert error(1.5) < min(0.5 * error(0.05), 0.35)


def working(hours_worked: Integers) -> Integers:
    """The moments after so many hours of work, from 8 to 17 on weekdays."""
    day, into_day = np.divmod(hours_worked, 9 * HOUR)
    return np.asarray(MONDAY + (day // 5 * 7 + day % 5) * DAY + 8 * HOUR + into_day, np.int64)


def test_hardly_anybody_works_at_night_or_at_weekends_where_nobody_did() -> None:
    n = 5000
    random = np.random.default_rng(1)
    steps = np.where(random.random((n, 3)) < 0.5, random.exponential(6 * HOUR, (n, 3)), random.exponential(30 * HOUR, (n, 3)))
    steps = np.concatenate((random.integers(0, 200 * 9 * HOUR, (n, 1)), steps), axis=1).astype(np.int64)
    engine = counting(np.tile(np.arange(4), n), working(np.cumsum(steps, axis=1)).ravel(), np.full(n, 4), 4)
    _, micros = released(engine, 0.5)
    assert ((hours_of(micros) < 8) | (hours_of(micros) >= 17)).mean() < 0.06
    assert ((micros - tables.FIRST_MONDAY) // DAY % 7 >= 5).mean() < 0.03


def test_no_case_starts_long_after_the_last_one() -> None:
    engine = office(3000)
    starts = engine.cases.micros[engine.cases.offsets[:-1]]
    for seed in range(8):
        _, micros = released(engine, 0.2, seed)
        found = micros[engine.cases.offsets[:-1]]
        outside = (found < starts.min() - 8 * tables.WEEK) | (found > starts.max() + 8 * tables.WEEK)
        assert outside.mean() < 0.003


def test_activities_happen_in_their_hours_and_rarely_at_weekends() -> None:
    engine = office(5000)
    _, micros = released(engine, 0.5)
    waited_for = micros.reshape(-1, 4)[:, 2]
    office_hours = (hours_of(waited_for) >= 9) & (hours_of(waited_for) < 17)
    assert office_hours.mean() > 0.85
    starts = micros.reshape(-1, 4)[:, 0]
    weekend = (starts - tables.FIRST_MONDAY) // DAY % 7 >= 5
    assert weekend.mean() < 0.02


@pytest.mark.parametrize("grain", [DAY, HOUR, tables.MINUTE, SECOND])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_granularity_is_kept(grain: int, zone: str) -> None:
    engine = office(2000, grain=grain)
    shifted = counting(
        engine.cases.codes, engine.cases.micros - (345 * tables.MINUTE if zone != "UTC" else 0), engine.cases.lengths, 4
    )
    _, micros = released(shifted, 0.5, time_zone=zone)
    local = micros + (345 * tables.MINUTE if zone != "UTC" else 0)
    assert not (local % grain).any()
    finer = {DAY: None, HOUR: DAY, tables.MINUTE: HOUR, SECOND: tables.MINUTE}[grain]
    assert finer is None or (local % finer != 0).mean() > 0.5


def test_noise_that_drowns_everything_does_not_stretch_time() -> None:
    engine = office(50)
    for seed in range(10):
        _, micros = released(engine, 0.01, seed)
        assert durations(micros, traces_of_engine(engine)).max() < 30 * 366 * DAY


def test_more_budget_gives_smaller_errors() -> None:
    engine = office(3000)
    traces = traces_of_engine(engine)

    def error(mu: float) -> float:
        wanted = np.sort(np.log10(1 + gaps(engine.cases.micros, traces).reshape(-1, 3) / SECOND), axis=0)
        runs = [
            np.sort(np.log10(1 + gaps(released(engine, mu, seed)[1], traces).reshape(-1, 3) / SECOND), axis=0)
            for seed in (1, 2, 3)
        ]
        return float(np.mean([np.abs(run - wanted).mean() for run in runs]))

    assert error(2.0) < error(0.1) < error(0.01)


def test_values_are_spread_evenly_over_a_histogram() -> None:
    shares = np.array([[0.25, 0.0, 0.75], [1.0, 0.0, 0.0]])
    bounds = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 100.0])
    values = spread(shares, np.array([400, 3]), bounds, Randomness(seed=1))
    assert len(values) == 403
    assert (np.diff(values[:400]) >= 0).all()
    assert abs((values[:400] == 0).sum() - 100) <= 1
    assert abs((values[:400] > 10).sum() - 150) <= 2  # evenly on a logarithmic scale
    assert not values[400:].any()


def test_a_case_is_never_longer_than_believed_and_keeps_its_grain() -> None:
    gaps_, case = np.array([7 * DAY, 3 * DAY, 2 * DAY]), np.array([0, 0, 1])
    shorter = shorten(gaps_, case, np.array([DAY, DAY]), 6 * DAY, np.array([5.0 * DAY, DAY]))
    assert shorter.tolist() == [3 * DAY, DAY, 2 * DAY]


def test_events_move_within_half_of_their_wait_and_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 4000
    traces = Traces(np.tile([0, 1], n), np.arange(0, 2 * n + 1, 2))
    wait = np.random.default_rng(1).integers(0, 100 * HOUR, n)
    gaps_ = np.stack((np.zeros(n, np.int64), wait), axis=1).ravel()
    shares = np.zeros((2, 48))
    shares[:, 8:16] = 1 / 8  # weekdays, 8 to 16
    starts = MONDAY + np.arange(n) * 7 * tables.MINUTE
    monkeypatch.setattr(calendar, "TRIES", 0)
    moved = nudge(starts, gaps_, traces, np.ones(n, np.int64), shares, gaps_ >= HOUR, Randomness(seed=1))[1::2]
    assert (np.abs(moved - wait) <= np.minimum(wait / 2, 36 * HOUR) + 1).all()
    assert (moved[wait < HOUR] == wait[wait < HOUR]).all()
    far = wait > 80 * HOUR
    found = hours_of(starts + moved)[far]
    assert ((found >= 8) & (found < 16)).mean() > 0.95


def test_exchanged_waits_stay_within_their_edge_and_help() -> None:
    n = 6000
    random = np.random.default_rng(1)
    before = MONDAY + random.integers(0, 5, n) * DAY + random.integers(8 * HOUR, 16 * HOUR, n)
    wait, edge = random.integers(HOUR, 48 * HOUR, n), np.sort(random.integers(0, 3, n))
    shares = np.zeros((1, 48))
    shares[0, 8:16] = 1 / 8  # weekdays, 8 to 16
    week, code = calendar.Week(shares), np.zeros(n, np.int64)

    def into(waits: Integers) -> Integers:
        return (before + waits - tables.FIRST_MONDAY) % tables.WEEK

    def closed(waits: Integers) -> float:
        return float((week.common(code, into(waits)) == 0).mean())

    waits = calendar.Waits(before, wait, edge, code)
    found = calendar.exchanged(waits, into(wait), week.common(code, into(wait)), week, Randomness(seed=1))

    for kind in range(3):
        assert (np.sort(found[edge == kind]) == np.sort(wait[edge == kind])).all()
    assert closed(found) < 0.95 * closed(wait)


@pytest.mark.parametrize(
    ("name", "log_error", "days"),
    [("bpic13", 0.09, 4.0), ("bpic20", 0.08, 5.0), ("sepsis", 0.42, 30.0), ("urineweginfectie", 0.2, 40.0)],
)
def test_real_logs_keep_their_durations_and_arrivals(read_public: ReadPublic, name: str, log_error: float, days: float) -> None:
    log = read_public(name)
    engine = Counting(cases_of(log), tuple(log.activities))
    errors, arrivals = [], []
    for seed in (1, 2, 3):
        _, micros = released(engine, 0.21, seed)
        times = pl.Series("time:timestamp", micros).cast(UTC_MICROSECONDS)
        anonymized = EventLog(log.events.select("@case", "concept:name").with_columns(times), log.cases.select("concept:name"))
        errors.append(step_durations(pair_edges(log, anonymized))[2] or 0.0)
        arrivals.append(arrival_w1_days(log, anonymized) or 0.0)
    assert 0 < np.mean(errors) <= log_error
    assert 0 < np.mean(arrivals) <= days
