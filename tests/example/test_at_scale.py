"""The emergency department at scale: the process of the bundled log, in order of time, in slices, the same for a seed."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog
from libra.example import at_scale
from libra.example.at_scale import LABELS, Department, crowd, walk
from libra.example.simulate import COMPLAINTS, simulate
from libra.measures.edges import pair_edges

CASES = 20_000


@pytest.fixture(scope="module")
def looped() -> EventLog:
    """The process as the bundled simulator makes it, patient by patient."""
    return simulate(CASES, seed=5)


@pytest.fixture(scope="module")
def log() -> EventLog:
    (only,) = Department(CASES, seed=5).case_by_case().parts()
    return only


def shares(log: EventLog) -> dict[str, float]:
    counts = log.events["concept:name"].value_counts()
    return {name: count / log.n_cases for name, count in counts.iter_rows()}


def test_every_activity_is_as_frequent_as_in_the_bundled_process(looped: EventLog, log: EventLog) -> None:
    expected, found = shares(looped), shares(log)
    assert set(found) == set(expected)
    for name, share in expected.items():
        noise = np.sqrt(2 * share / CASES)
        assert found[name] == pytest.approx(share, abs=5 * noise + 1e-9), name
    assert log.n_events == pytest.approx(looped.n_events, rel=0.005)


def most_frequent(log: EventLog) -> set[tuple[str, ...]]:
    names = np.array(log.activities)
    return {tuple(names[trace.to_list()]) for trace in log.variants.traces["trace"].head(25)}


def test_variants_are_as_frequent_and_as_many(looped: EventLog, log: EventLog) -> None:
    for one in (looped, log):
        assert one.variants.counts[0] == pytest.approx(0.16 * CASES, rel=0.1)
        assert (one.variants.counts == 1).sum() > 200
    assert log.n_variants == pytest.approx(looped.n_variants, rel=0.15)
    assert len(most_frequent(looped) & most_frequent(log)) >= 20


def test_steps_follow_each_other_as_often(looped: EventLog, log: EventLog) -> None:
    pair = pair_edges(looped, log)
    expected, found = pair.original.counts, pair.anonymized.counts
    assert (np.abs(expected - found) <= 6 * np.sqrt(expected + found) + 1e-9).all()


def waits(log: EventLog) -> dict[str, float]:
    """The median wait for every activity that is frequent enough to say, in seconds."""
    wait = pl.col("time:timestamp").diff().over("@case").dt.total_seconds().alias("wait")
    medians = log.events.with_columns(wait).drop_nulls("wait").group_by("concept:name").agg(pl.col("wait").median(), pl.len())
    return dict(medians.filter(pl.col("len") > 1000).select("concept:name", "wait").iter_rows())


def test_cases_and_waits_last_as_long(looped: EventLog, log: EventLog) -> None:
    for quantile in (0.1, 0.5, 0.9):
        lasts = [np.quantile(np.subtract(*each.case_spans[::-1]), quantile) for each in (looped, log)]
        assert lasts[1] == pytest.approx(lasts[0], rel=0.06)
    expected, found = waits(looped), waits(log)
    assert len(expected) > 12
    assert found == pytest.approx(expected, rel=0.08, abs=31)  # of the bundled process times are whole minutes


def test_arrivals_follow_the_hours_and_the_days_of_the_bundled_process(looped: EventLog, log: EventLog) -> None:
    def arrivals(each: EventLog) -> pl.Series:
        return each.events[each.case_offsets[:-1]]["time:timestamp"]

    for part, size in (("hour", 24), ("weekday", 8), ("month", 13)):
        expected, found = (np.bincount(getattr(arrivals(each).dt, part)().to_numpy(), minlength=size) for each in (looped, log))
        assert (np.abs(expected - found) <= 5 * np.sqrt(expected + found) + 1e-9).all(), part
    assert arrivals(log).is_between(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)).all()
    assert arrivals(log).is_sorted()


def test_the_office_works_on_weekdays_and_no_two_events_of_a_case_are_at_once(log: EventLog) -> None:
    sent = log.events.filter(pl.col("concept:name").is_in(["Send letter", "Send invoice"]))["time:timestamp"]
    assert sent.dt.weekday().max() == 5
    assert sent.dt.hour().is_between(8, 16).all()
    assert log.directly_follows.step_micros.min() >= 0
    assert set(np.unique(np.diff(log.timestamps)[np.diff(log.events["@case"].to_numpy()) == 0] == 0)) == {False}


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_scale, "SLICE_CASES", 700)


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
    monkeypatch.setattr(at_scale, "CASES_A_YEAR", 1000)
    rows = pl.concat(Department(2500, seed=1).in_order_of_time())
    arrivals = rows.filter(pl.col("concept:name") == "Arrive")["time:timestamp"]
    assert {2024, 2025, 2026} <= set(arrivals.dt.year())
    assert arrivals.is_sorted()


def test_a_single_case_is_a_log_too() -> None:
    rows = pl.concat(Department(1, seed=1).in_order_of_time())
    assert rows["concept:name"].to_list()[:2] == ["Arrive", "Triage"]


def test_walks_are_those_of_the_complaint() -> None:
    people = crowd(5000, Randomness(seed=1))
    ordered = {complaint.name: {*complaint.tests, *(test for test, _ in complaint.extra)} for complaint in COMPLAINTS}
    tests = set.union(*ordered.values())
    for code, rows in walk(people, Randomness(seed=2)):
        if LABELS[code] in tests:
            assert all(LABELS[code] in ordered[COMPLAINTS[complaint].name] for complaint in np.unique(people.complaint[rows]))
        if LABELS[code] in ("Triage again", "Leave unseen"):
            assert (people.acuity[rows] >= 4).all()
        if LABELS[code] == "Consult specialist":
            assert (people.acuity[rows] <= 2).all()
