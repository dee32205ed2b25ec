"""The bundled example: it is what the simulator makes, it is small, and it has what the docs and tests rely on."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from libra import example
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.example.simulate import simulate


@pytest.fixture(scope="module")
def log() -> EventLog:
    return simulate()


def test_the_bundled_file_holds_exactly_what_the_simulator_makes(log: EventLog) -> None:
    assert read(example.path(), ReadOptions()).equals(log)


def test_the_bundled_file_is_small() -> None:
    assert example.path().stat().st_size < 200_000


def test_another_seed_gives_another_log() -> None:
    assert simulate(50, seed=1).equals(simulate(50, seed=1))
    assert not simulate(50, seed=1).equals(simulate(50, seed=2))


def test_a_main_path_many_variants_and_a_tail_of_unique_traces(log: EventLog) -> None:
    counts = log.variants.counts
    assert log.n_cases == 2000
    assert 0.15 <= counts[0] / log.n_cases <= 0.20
    assert 100 <= len(counts) <= 300
    assert (counts == 1).sum() >= 50
    assert 0.5 <= counts[counts >= 10].sum() / log.n_cases <= 0.75


def test_some_cases_repeat_an_activity(log: EventLog) -> None:
    per_case = log.events.group_by("@case", "concept:name").len()
    repeated = per_case.filter(pl.col("len") > 1)
    assert {"Blood test", "X-ray", "Triage again", "Review results", "Give medication"} <= set(repeated["concept:name"])
    assert repeated["@case"].n_unique() < log.n_cases / 4


def test_nights_and_weekends_are_quieter(log: EventLog) -> None:
    arrivals = log.events.filter(pl.col("concept:name") == "Arrive")["time:timestamp"]
    by_hour = np.bincount(arrivals.dt.hour().to_numpy(), minlength=24)
    by_weekday = np.bincount(arrivals.dt.weekday().to_numpy(), minlength=8)[1:]
    assert by_hour[0:6].mean() < by_hour[9:17].mean() / 3
    assert by_weekday[5:].mean() < 0.85 * by_weekday[:5].mean()


def test_the_office_works_on_weekdays_only(log: EventLog) -> None:
    sent = log.events.filter(pl.col("concept:name").is_in(["Send letter", "Send invoice"]))["time:timestamp"]
    assert sent.dt.weekday().max() == 5
    assert sent.dt.hour().is_between(8, 16).all()


def test_all_cases_arrive_within_one_year_and_time_never_runs_backwards(log: EventLog) -> None:
    first_events = log.events[log.case_offsets[:-1]]["time:timestamp"]
    assert first_events.is_between(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 12, 31, 23, 59, tzinfo=UTC)).all()
    assert first_events.dt.month().n_unique() == 12
    assert log.directly_follows.step_micros.min() >= 0


def test_staff_changes_with_the_shift(log: EventLog) -> None:
    nurses = log.events.filter(pl.col("org:resource").str.starts_with("Nurse"))
    at_night = set(nurses.filter(pl.col("time:timestamp").dt.hour() < 7)["org:resource"])
    by_day = set(nurses.filter(pl.col("time:timestamp").dt.hour().is_between(7, 14))["org:resource"])
    assert at_night
    assert by_day
    assert not at_night & by_day


def test_cases_and_events_carry_the_attributes_the_docs_speak_of(log: EventLog) -> None:
    assert set(log.cases.columns) == {"concept:name", "complaint", "acuity", "age", "insurance"}
    assert {"org:resource", "cost:total", "lifecycle:transition"} <= set(log.events.columns)
    assert log.cases["insurance"].null_count() > 0
    assert "Simulated" in str(log.metadata.attributes[1].value)


def test_finding_the_file_needs_no_data_frame_library() -> None:
    code = "import sys, libra.example; libra.example.path(); sys.exit('polars' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
