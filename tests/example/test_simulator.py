"""The simulator: its logs follow the process, whole or in slices, by case or by time, and are the same for a seed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import libra
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.example import process
from libra.example import simulate as simulator
from libra.example.process import ACTIVITIES, COMPLAINTS
from libra.example.simulate import LABELS, Department, crowd, simulate, walk
from libra.example.stream import simulate as to_file
from libra.measures.within_cases import starts_of, waiting_times

CASES = 20_000


@pytest.fixture(scope="module")
def log() -> EventLog:
    return simulate(CASES, seed=5)


def expected_shares() -> dict[str, float]:
    """How many times each activity happens per case, by the probabilities of the process."""
    shares = dict.fromkeys(("Arrive", "Triage", "Register"), 1.0) | dict.fromkeys(
        set(ACTIVITIES) - {"Arrive", "Triage", "Register"}, 0.0
    )
    for complaint in COMPLAINTS:
        for acuity, part in enumerate(complaint.acuity, start=1):
            people, urgent = complaint.share * part, acuity <= 2
            unseen = 0.05 if acuity >= 4 else 0
            seen = people * (1 - unseen)
            shares["Triage again"] += people * 0.04 / 0.96 if acuity >= 4 else 0
            shares["Leave unseen"] += people * unseen
            shares["See doctor"] += seen
            for test, probability in complaint.tests.items():
                shares[test] += seen * probability / 0.98
            shares["Consult specialist"] += seen * 0.04 if urgent else 0
            if complaint.treatment:
                shares[complaint.treatment] += 0.75 * seen
            observed = seen * (0.08 / 0.92 if urgent else 0.01 / 0.99)
            shares["Give medication"] += observed
            shares["Check vital signs"] += observed
            admitted = seen * complaint.admitted * (3 if acuity == 1 else 1)
            shares["Admit to ward"] += admitted
            shares["Transfer"] += 0.01 * (seen - admitted)
            shares["Discharge"] += 0.99 * (seen - admitted)
            shares["Send letter"] += 0.99 * (seen - admitted) * complaint.letter
            shares["Send invoice"] += seen * 0.19
    return shares


def test_every_activity_is_as_frequent_as_the_process_says(log: EventLog) -> None:
    found = dict(log.events["concept:name"].value_counts().iter_rows())
    assert set(found) == set(ACTIVITIES)
    expected = expected_shares()
    expected["Review results"] = found["Review results"] / CASES  # a round of tests, of which there are a few more
    assert 0.93 < expected["Review results"] < 1.03
    for name, share in expected.items():
        assert found[name] / CASES == pytest.approx(share, abs=5 * np.sqrt(2 * share / CASES)), name


def test_an_activity_takes_as_long_as_the_process_says(log: EventLog) -> None:
    wait = pl.col("time:timestamp").diff().over("@case").dt.total_seconds().alias("wait")
    waits = log.events.with_columns(wait).drop_nulls("wait").group_by("concept:name").agg(pl.col("wait").median(), pl.len())
    steady = {name: 60 * work.minutes for name, work in ACTIVITIES.items() if name not in (*process.QUEUED, *process.OFFICE)}
    found = {name: median for name, median, n in waits.iter_rows() if n > 1000 and name in steady}
    assert len(found) > 8
    assert found == pytest.approx({name: steady[name] for name in found}, rel=0.08)


def test_arrivals_follow_the_hours_and_the_days(log: EventLog) -> None:
    arrivals = log.events[log.case_offsets[:-1]]["time:timestamp"]
    by_hour, by_day = (np.bincount(getattr(arrivals.dt, part)().to_numpy()) for part in ("hour", "weekday"))
    assert by_hour / CASES == pytest.approx(np.array(process.HOUR_LOAD) / sum(process.HOUR_LOAD), abs=0.008)
    assert by_day[1:] / CASES == pytest.approx(np.array(process.WEEKDAY_LOAD) / sum(process.WEEKDAY_LOAD), abs=0.008)
    by_month = np.bincount(arrivals.dt.month().to_numpy(), minlength=13)
    assert 1.2 < (by_month[1] + by_month[12]) / (by_month[6] + by_month[7]) < 1.7
    assert arrivals.is_between(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)).all()
    assert arrivals.is_sorted()


def test_some_patients_are_old_some_ages_are_unknown_and_complaints_have_theirs(log: EventLog) -> None:
    ages = log.cases["age"]
    assert ages.null_count() / CASES == pytest.approx(process.AGE_UNKNOWN, abs=0.004)
    assert 0 <= ages.min() < ages.max() <= 98  # type: ignore[operator]
    means = dict(log.cases.group_by("complaint").agg(pl.col("age").mean()).iter_rows())
    assert means["breathlessness"] == pytest.approx(64, abs=2)
    assert means["injury"] == pytest.approx(37, abs=2)  # a little above 36, since nobody is younger than 0


def test_whoever_begins_with_a_patient_goes_on_in_that_shift(log: EventLog) -> None:
    hour = pl.col("time:timestamp").dt.hour()
    shift = pl.when(hour.is_between(7, 14)).then(0).when(hour.is_between(15, 22)).then(1).otherwise(2)
    role = pl.col("org:resource").str.extract(r"^(\S+) \d\d$")
    people = log.events.drop_nulls("org:resource").group_by("@case", role.alias("role"), shift.alias("shift"))
    assert people.agg(pl.col("org:resource").n_unique())["org:resource"].max() == 1
    on_duty = log.events.group_by(shift.alias("shift"), role.alias("role")).agg(pl.col("org:resource").n_unique()).drop_nulls()
    assert {(name, at): n for at, name, n in on_duty.iter_rows()} == {
        (name, at): n for name, numbers in process.STAFF.items() for at, n in enumerate(numbers)
    }


def test_the_office_works_on_weekdays_and_no_two_events_of_a_case_are_at_once() -> None:
    log = Department(CASES, seed=5).part(0)
    sent = log.events.filter(pl.col("concept:name").is_in(["Send letter", "Send invoice"]))["time:timestamp"]
    assert sent.dt.weekday().max() == 5
    assert sent.dt.hour().is_between(8, 16).all()
    assert log.directly_follows.step_micros.min() >= 0
    assert set(np.unique(np.diff(log.timestamps)[np.diff(log.events["@case"].to_numpy()) == 0] == 0)) == {False}


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "SLICE_CASES", 700)


@pytest.mark.usefixtures("small_slices")
def test_rows_are_in_order_of_time_over_all_slices_with_cases_interleaved() -> None:
    frames = list(Department(5000, seed=1).in_order_of_time())
    rows = pl.concat(frames)
    assert len(frames) == 9
    assert rows["time:timestamp"].is_sorted()
    assert rows["case:concept:name"].n_unique() == 5000
    changes = (rows["case:concept:name"] != rows["case:concept:name"].shift(1)).sum()
    assert changes > 0.6 * rows.height
    assert "ED-700" in set(frames[0]["case:concept:name"]) | set(frames[1]["case:concept:name"])
    assert set(frames[0]["case:concept:name"]) & set(frames[1]["case:concept:name"])  # cases that reach beyond their slice


@pytest.mark.usefixtures("small_slices")
def test_both_orders_hold_the_same_cases() -> None:
    department = Department(5000, seed=2)
    by_time = pl.concat(department.in_order_of_time())
    log = department.case_by_case()
    assert log.n_parts == 8
    assert log.n_events == by_time.height == log.events.height
    assert log.activities == sorted(by_time["concept:name"].unique())
    number = pl.col("case:concept:name").str.slice(3).cast(pl.Int64)
    assert by_time.sort(number, maintain_order=True).equals(log.to_polars().sort(number, maintain_order=True))


@pytest.mark.usefixtures("small_slices")
def test_a_seed_says_everything() -> None:
    one, again, other = (pl.concat(Department(1500, seed=seed).in_order_of_time()) for seed in (1, 1, 2))
    assert one.equals(again)
    assert not one.equals(other)
    with_slices = Department(1500, seed=1).case_by_case()
    assert with_slices.part(1).cases["concept:name"][0] == "ED-701"


def test_very_many_cases_take_several_years(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "CASES_A_YEAR", 1000)
    rows = pl.concat(Department(2500, seed=1).in_order_of_time())
    arrivals = rows.filter(pl.col("concept:name") == "Arrive")["time:timestamp"]
    assert {2024, 2025, 2026} <= set(arrivals.dt.year())
    assert arrivals.is_sorted()


def test_a_single_case_is_a_log_too() -> None:
    rows = pl.concat(Department(1, seed=1).in_order_of_time())
    assert rows["concept:name"].to_list()[:2] == ["Arrive", "Triage"]


def test_walks_are_those_of_the_complaint() -> None:
    people = crowd(5000, Randomness(seed=1))
    ordered = {complaint.name: set(complaint.tests) for complaint in COMPLAINTS}
    tests = set.union(*ordered.values())
    for code, rows in walk(people, Randomness(seed=2)):
        if LABELS[code] in tests:
            assert all(LABELS[code] in ordered[COMPLAINTS[complaint].name] for complaint in np.unique(people.complaint[rows]))
        if LABELS[code] in ("Triage again", "Leave unseen"):
            assert (people.acuity[rows] >= 4).all()
        if LABELS[code] == "Consult specialist":
            assert (people.acuity[rows] <= 2).all()


def test_starts_leave_the_log_as_it_is() -> None:
    plain, log = simulate(300, seed=5), simulate(300, seed=5, starts=True)
    assert log.instances == "pair"
    assert log.events.drop("start_timestamp").equals(plain.events.drop("lifecycle:transition"))
    assert log.cases.equals(plain.cases)


def test_starts_come_after_the_arrival_and_some_overlap() -> None:
    log = simulate(2000, seed=5, starts=True)
    waiting = waiting_times(log)
    assert 0.02 < (waiting < 0).mean() < 0.1
    arrivals = np.repeat(log.timestamps[log.case_offsets[:-1]], np.diff(log.case_offsets))
    assert (starts_of(log) >= arrivals).all()
    assert 0.05 < log.events["start_timestamp"].null_count() / log.n_events < 0.2
    assert log.in_time_order


@pytest.mark.parametrize("name", ["log.xes", "log.parquet"])
def test_starts_are_written(name: str, tmp_path: Path) -> None:
    done = to_file(tmp_path / name, 50, starts=True)
    log = libra.read(tmp_path / name)
    assert (log.instances, log.n_events, done.order) == ("pair", done.events, "case")
    with pytest.raises(UsageError, match="--order time"):
        to_file(tmp_path / "log.csv", 50, starts=True, order="time")
