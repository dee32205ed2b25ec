"""The figures behind `libra inspect`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from libra.eventlog.log import EventLog, FoundRole, empty_log
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.measures.summary import TopVariant, TraceLength, summarize


def test_the_figures_of_a_small_log(small_log: EventLog) -> None:
    found = summarize(small_log)
    assert (found.cases, found.events, found.activities, found.variants) == (3, 8, 3, 2)
    assert (found.start, found.end) == ("2024-05-06T08:00:00+00:00", "2024-05-06T09:59:00+00:00")
    assert (found.variants_unique_share, found.cases_unique_share) == (1 / 2, 1 / 3)
    assert found.trace_length == TraceLength(2, 3.0, 3)
    assert found.median_case_duration_hours == pytest.approx(34 / 60)
    assert found.top_variants[0] == TopVariant(("register", "see doctor", "leave"), 2)


def test_attributes_carry_level_type_and_how_often_they_are_there(small_log: EventLog) -> None:
    found = summarize(small_log).attributes
    assert {(one.name, one.level, one.type, one.filled_share, one.filled_of) for one in found} == {
        ("age", "case", "int", 2 / 3, "case"),
        ("insurance", "case", "string", 1.0, "case"),
        ("org:resource", "event", "string", 5 / 8, "event"),
        ("cost", "event", "float", 5 / 8, "event"),
        ("urgent", "event", "boolean", 1.0, "case"),
    }
    assert all(one.role and one.reason and one.kind for one in found)


def test_what_is_no_attribute_to_be_released_has_no_role(small_log: EventLog) -> None:
    started = small_log.events.with_columns(pl.col("time:timestamp").alias("start_timestamp"))
    found = {one.column: one for one in summarize(EventLog(started, small_log.cases, individual="insurance")).attributes}
    assert [name for name, one in found.items() if one.role is None] == ["case:insurance", "start_timestamp"]


def test_columns_name_the_roles_and_lists_where_several_form_one(small_log: EventLog) -> None:
    roles = (FoundRole("case_id", ("id", "year"), "given"), FoundRole("activity", ("task",), "given"))
    log = EventLog(small_log.events, small_log.cases, roles=roles, notes=("A note.",))
    assert summarize(log).columns == {"case_id": ["id", "year"], "activity": "task"}
    assert summarize(log).notes == ("A note.",)


def test_an_empty_log_has_a_summary_too(small_log: EventLog) -> None:
    found = summarize(empty_log(small_log))
    assert (found.cases, found.events, found.variants, found.variants_unique_share) == (0, 0, 0, 0)
    assert (found.start, found.end, found.trace_length, found.median_case_duration_hours) == (None, None, None, None)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "cases", "events", "activities", "variants"),
    [
        ("urineweginfectie", 1_650, 6_973, 10, 50),
        ("sepsis", 1_050, 15_214, 16, 846),
        ("bpic13", 7_554, 65_533, 4, 1_511),
        ("bpic12", 13_087, 262_200, 24, 4_366),
        ("bpic20", 10_500, 56_437, 17, 99),
        ("hospital", 1_143, 150_291, 624, 981),
        ("bpic14f", 41_353, 369_485, 9, 14_948),
        ("roadtraffic", 150_370, 561_470, 11, 231),
    ],
)
def test_counts_of_the_public_logs(shared_logs: Path, name: str, cases: int, events: int, activities: int, variants: int) -> None:
    found = summarize(read(shared_logs / f"{name}.xes.gz", ReadOptions(instances="events")))
    assert (found.cases, found.events, found.activities, found.variants) == (cases, events, activities, variants)
