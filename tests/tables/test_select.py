from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.select import keep_lifecycle, sort_by_time

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def log_with(transitions: list[str | None]) -> EventLog:
    return EventLog(
        pl.DataFrame(
            {
                "@case": [0, 0, 1, 2, 2],
                "concept:name": ["a", "b", "c", "d", "e"],
                "time:timestamp": [NOON, NOON - timedelta(hours=1), NOON, NOON, NOON],
                "lifecycle:transition": transitions,
            }
        ),
        pl.DataFrame({"concept:name": ["x", "y", "z"], "age": [1, 2, 3]}),
        individual="age",
    )


def test_only_the_wanted_transitions_stay_and_empty_cases_go() -> None:
    kept = keep_lifecycle(log_with(["start", "COMPLETE", "start", "complete", None]), ["Complete"])
    assert kept.events["concept:name"].to_list() == ["b", "d"]
    assert kept.events["@case"].to_list() == [0, 1]
    assert kept.cases.rows() == [("x", 1), ("z", 3)]
    assert kept.individual == "age"


def test_a_transition_nobody_is_in_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r'^a.csv: no event is in the transition "done"\. The log has "complete", "start"\.$'):
        keep_lifecycle(log_with(["start", "complete", "start", "start", None]), ["done"], "a.csv")


def test_a_log_without_a_lifecycle_says_how_to_name_it() -> None:
    with pytest.raises(InputError, match="--lifecycle"):
        keep_lifecycle(log_with([None] * 5), ["complete"])


def test_ties_in_time_keep_file_order() -> None:
    assert sort_by_time(log_with(["start"] * 5)).events["concept:name"].to_list() == ["b", "a", "c", "d", "e"]


def test_many_events_of_one_moment_keep_their_order() -> None:
    labels = list(range(5000))
    events = pl.DataFrame(
        {
            "@case": [i // 50 for i in labels],
            "concept:name": [str(i) for i in labels],
            "time:timestamp": [NOON + timedelta(hours=i * 7 % 3) for i in labels],
        }
    )
    log = EventLog(events, pl.DataFrame({"concept:name": [str(i) for i in range(100)]}))
    by_time = sorted(labels, key=lambda i: (i // 50, i * 7 % 3))  # Python's sort is stable
    assert sort_by_time(log).events["concept:name"].to_list() == [str(i) for i in by_time]
