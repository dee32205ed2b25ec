"""Cases are what the log's traces are, and can be taken, repeated and put together without mixing up."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from some_cases import as_lists, cases_from

from libra.eventlog.cases import Cases, cases_of, together
from libra.eventlog.log import EventLog, empty_log
from strategies import event_logs

TRACES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=8)


@given(event_logs())
def test_the_cases_of_a_log_are_its_traces_and_times(log: EventLog) -> None:
    cases = cases_of(log)
    frames = [log.events.filter(log.events["@case"] == case) for case in range(log.n_cases)]
    labels = [tuple(frame["concept:name"].to_list()) for frame in frames]
    times = [tuple(frame["time:timestamp"].to_physical().to_list()) for frame in frames]
    found = [(tuple(log.activities[code] for code in codes), micros) for codes, micros in as_lists(cases)]
    assert found == list(zip(labels, times, strict=True))
    assert len(cases) == log.n_cases
    assert cases.n_activities == len(set().union(*labels))
    for i in range(len(cases)):
        for j in range(i):
            assert (cases.variant[i] == cases.variant[j]) == (labels[i] == labels[j])


def test_nothing_but_activities_times_and_what_is_asked_for_comes_along() -> None:
    known = ["codes", "micros", "offsets", "variant", "n_activities", "attributes", "of_events"]
    assert [field.name for field in fields(Cases)] == known
    assert cases_from([[0, 1]]).attributes == cases_from([[0, 1]]).of_events == ()


@given(TRACES, st.data())
def test_taken_cases_come_whole_and_in_the_order_asked(traces: list[list[int]], data: st.DataObject) -> None:
    cases = cases_from(traces)
    rows = data.draw(st.lists(st.integers(0, len(traces) - 1), max_size=12))
    taken = cases.take(np.array(rows, np.int64))
    whole = as_lists(cases)
    assert as_lists(taken) == [whole[row] for row in rows]
    assert taken.variant.tolist() == [cases.variant[row] for row in rows]
    assert taken.n_activities == cases.n_activities
    assert taken.lengths.tolist() == [len(traces[row]) for row in rows]


@given(st.lists(TRACES, min_size=1, max_size=4))
def test_parts_are_put_one_after_the_other(parts: list[list[list[int]]]) -> None:
    everything = cases_from([trace for part in parts for trace in part])
    bounds = np.cumsum([0, *map(len, parts)])
    split = [everything.take(np.arange(a, b)) for a, b in pairwise(bounds)]
    again = together(split)
    assert as_lists(again) == as_lists(everything)
    assert again.variant.tolist() == everything.variant.tolist()
    assert again.n_activities == everything.n_activities


def test_no_cases_are_cases_too(small_log: EventLog) -> None:
    nothing = cases_of(empty_log(small_log))
    assert len(nothing) == len(together([nothing, nothing])) == len(nothing.take(np.zeros(0, np.int64))) == 0
    assert as_lists(together([nothing, cases_of(small_log)])) == as_lists(cases_of(small_log))
