"""An event log holds what it was given, in one form, and refuses what is none."""

from __future__ import annotations

import dataclasses
import itertools
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.eventlog.cases import cases_of
from libra.eventlog.log import EventLog, empty_log

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def log_of(traces: list[list[str]], minutes: list[list[int]] | None = None) -> EventLog:
    """A log with these traces, its events at these minutes after noon."""
    when = minutes or [list(range(len(trace))) for trace in traces]
    return EventLog(
        pl.DataFrame(
            {
                "@case": [i for i, trace in enumerate(traces) for _ in trace],
                "concept:name": [label for trace in traces for label in trace],
                "time:timestamp": [NOON + timedelta(minutes=m) for case in when for m in case],
            },
            schema={"@case": pl.UInt32, "concept:name": pl.String, "time:timestamp": pl.Datetime("us", "UTC")},
        ),
        pl.DataFrame({"concept:name": [str(i) for i in range(len(traces))]}, schema={"concept:name": pl.String}),
    )


traces = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=5), min_size=0, max_size=12)


def test_a_log_cannot_be_changed(small_log: EventLog) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        small_log.notes = ("changed",)  # type: ignore[misc]  # what must not work


def test_what_is_shared_cannot_be_changed(small_log: EventLog) -> None:
    small_log.activities.append("another")
    assert "another" not in small_log.activities
    steps = small_log.directly_follows
    shared = (small_log.case_offsets, small_log.timestamps, small_log.activity_codes, small_log.variants.of_case, steps.counts)
    assert not any(array.flags.writeable for array in (*shared, *small_log.case_spans, steps.step_micros))


def test_short_forms_tell_no_figure(small_log: EventLog) -> None:
    assert not any(character.isdigit() for character in repr(small_log))
    for derived in (small_log.variants, small_log.directly_follows):
        assert "[" not in repr(derived)
        assert "shape" not in repr(derived)


@given(traces)
def test_variants_count_equal_traces(cases: list[list[str]]) -> None:
    log = log_of(cases)
    expected: dict[tuple[str, ...], int] = {}
    for trace in cases:
        expected[tuple(trace)] = expected.get(tuple(trace), 0) + 1
    found = {tuple(log.activities[code] for code in codes): count for codes, count in log.variants.traces.iter_rows()}
    assert found == expected
    assert [tuple(log.activities[c] for c in log.variants.traces["trace"][int(v)]) for v in log.variants.of_case] == [
        tuple(trace) for trace in cases
    ]
    assert (np.diff(log.variants.counts) <= 0).all()


@given(traces)
def test_directly_follows_counts_neighbours_within_cases_only(cases: list[list[str]]) -> None:
    log = log_of(cases)
    expected: dict[tuple[str, str], int] = {}
    for trace in cases:
        for pair in itertools.pairwise(trace):
            expected[pair] = expected.get(pair, 0) + 1
    edges = log.directly_follows
    found = {
        (log.activities[s], log.activities[t]): c
        for s, t, c in zip(edges.source, edges.target, edges.counts.tolist(), strict=True)
    }
    assert found == expected
    assert (edges.step_micros == 60_000_000).all()


def test_variants_of_equal_count_stand_in_order_of_first_appearance() -> None:
    labels = [f"{i:03}" for i in range(300)]
    log = log_of([[label] for label in reversed(labels)])
    assert [log.activities[trace[0]] for trace in log.variants.traces["trace"]] == labels[::-1]


def test_steps_keep_their_sign_and_case_spans_their_extremes() -> None:
    log = log_of([["a", "b", "c"], ["a"]], [[5, 3, 9], [1]])
    assert (log.directly_follows.step_micros // 60_000_000).tolist() == [-2, 6]
    first, last = log.case_spans
    assert ((last - first) // 60_000_000).tolist() == [6, 0]
    assert not log.in_time_order


def test_what_is_derived_is_computed_once(small_log: EventLog) -> None:
    assert small_log.variants is small_log.variants
    assert small_log.with_notes("more").variants is small_log.variants


def test_an_empty_log_has_no_figures_to_trip_over(small_log: EventLog) -> None:
    nothing = empty_log(small_log)
    assert (nothing.n_cases, nothing.n_events, len(nothing.variants), len(nothing.directly_follows)) == (0, 0, 0, 0)
    assert nothing.case_offsets.tolist() == [0]
    assert nothing.in_time_order


def test_columns_that_are_null_throughout_vanish() -> None:
    log = log_of([["a"]])
    with_null = EventLog(log.events.with_columns(pl.lit(None, pl.String).alias("x")), log.cases)
    assert with_null.equals(log)


def test_equality_looks_at_values_and_not_at_column_order(small_log: EventLog) -> None:
    turned = EventLog(small_log.events.select(reversed(small_log.events.columns)), small_log.cases)
    assert turned.equals(small_log)
    assert not small_log.equals(log_of([["a"]]))


@pytest.mark.parametrize(
    ("events", "cases", "says"),
    [
        ({"@case": [0, 1, 0]}, {"concept:name": ["1", "2"]}, "grouped by case"),
        ({"@case": [0, 0, 0]}, {"concept:name": ["1", "2"]}, "every case with at least one event"),
        ({"@case": [0, 0, 2]}, {"concept:name": ["1", "2"]}, "every case with at least one event"),
        ({"@case": [0, 1, 1]}, {"concept:name": ["1", "1"]}, "unique"),
        ({"concept:name": ["a", None, "b"]}, {"concept:name": ["1", "2"]}, "null"),
        ({"x": [[1], [2], [3]]}, {"concept:name": ["1", "2"]}, "type"),
        ({"concept:name": [1, 2, 3]}, {"concept:name": ["1", "2"]}, "must be String"),
        ({"time:timestamp": ["now"] * 3}, {"concept:name": ["1", "2"]}, "must be Datetime"),
        ({}, {"name": ["1", "2"]}, "needs the column concept:name"),
    ],
)
def test_what_is_no_log_is_refused(events: dict[str, list[object]], cases: dict[str, list[str]], says: str) -> None:
    good = {"@case": [0, 0, 1], "concept:name": ["a", "b", "c"], "time:timestamp": [NOON] * 3}
    with pytest.raises(ValueError, match=says):
        EventLog(pl.DataFrame({**good, **events}), pl.DataFrame(cases))


def test_the_individual_is_a_column_of_the_cases_and_counts_for_equality(small_log: EventLog) -> None:
    whose = EventLog(small_log.events, small_log.cases, individual="insurance")
    assert not whose.equals(small_log)
    with pytest.raises(ValueError, match="individual"):
        EventLog(small_log.events, small_log.cases, individual="nobody")


def test_an_attribute_of_the_case_may_be_called_like_our_index(small_log: EventLog) -> None:
    named = EventLog(small_log.events, small_log.cases.with_columns(pl.Series("@case", ["x", "y", "z"])))
    assert named.to_polars()["case:@case"].to_list()[:4] == ["x", "x", "x", "y"]


def test_the_flat_form_follows_the_convention_of_pm4py(small_log: EventLog) -> None:
    flat = small_log.to_polars()
    assert flat.columns[:3] == ["case:concept:name", "case:age", "case:insurance"]
    assert flat.filter(pl.col("case:concept:name") == "p2")["concept:name"].to_list() == ["register", "leave"]


def test_cases_are_taken_in_the_order_asked_for_also_twice() -> None:
    taken = cases_of(log_of([["a", "b"], ["c"]])).take(np.array([1, 0, 1]))
    assert (taken.codes.tolist(), taken.offsets.tolist(), taken.variant.tolist()) == ([2, 0, 1, 2], [0, 1, 3, 4], [1, 0, 1])
