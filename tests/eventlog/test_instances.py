"""Starts and completions are paired first in, first out within a case, an activity and a key, and expanded again."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from libra.eventlog.instances import (
    NO_START,
    SEPARATOR,
    STARTED,
    expanded,
    keys_of,
    label_texts,
    pairs,
    split_label,
    started,
    valid_starts,
)

Event = tuple[int, int, int, int, bool]  # case, activity, key, time, whether it is a start
events = st.lists(
    st.tuples(*(st.integers(0, most) for most in (3, 2, 1, 6)), st.booleans()), max_size=40
).map(lambda found: sorted(found, key=lambda event: event[0]))  # fmt: skip


def slowly(events: list[Event], *, in_order: bool) -> list[tuple[int, int]]:
    """The same as `pairs`, event by event."""
    waiting, found = defaultdict[tuple[int, int, int], deque[int]](deque), dict[int, int]()
    order = list(range(len(events)))
    if not in_order:
        order.sort(key=lambda i: (events[i][0], events[i][3], i))
    for i in order:
        case, activity, key, _, is_start = events[i]
        queue = waiting[case, activity, key]
        if is_start:
            queue.append(i)
        else:
            found[i] = queue.popleft() if queue else -1
    found |= {i: -1 for queue in waiting.values() for i in queue}
    early = {end: start if start >= 0 and events[start][3] < events[end][3] else -1 for end, start in found.items()}
    return [(end, early[end]) for end in order if end in early]


@given(events, st.booleans())
def test_pairing_is_first_in_first_out(events: list[Event], in_order: bool) -> None:
    case, activity, key, micros = (np.array([event[i] for event in events], np.int64) for i in range(4))
    is_start = np.array([event[4] for event in events], bool)
    found = pairs(case, activity, key.astype(np.uint64), micros, is_start, in_order=in_order)
    assert list(zip(found.ends.tolist(), found.starts.tolist(), strict=True)) == slowly(events, in_order=in_order)
    start = found.start_micros(micros)
    assert ((start == NO_START) == (found.starts < 0)).all()
    assert (start[found.starts >= 0] < micros[found.ends][found.starts >= 0]).all()


@given(events)
def test_without_a_key_all_of_an_activity_pair(events: list[Event]) -> None:
    case, activity, _, micros = (np.array([event[i] for event in events], np.int64) for i in range(4))
    is_start = np.array([event[4] for event in events], bool)
    one, other = (pairs(case, activity, key, micros, is_start) for key in (None, np.full(len(case), 7, np.uint64)))
    assert one.ends.tolist() == other.ends.tolist()
    assert one.starts.tolist() == other.starts.tolist()


@given(events, events)
def test_a_case_is_paired_whatever_other_cases_hold(events: list[Event], others: list[Event]) -> None:
    def paired(events: list[Event]) -> list[tuple[Event, Event | None]]:
        case, activity, key, micros = (np.array([event[i] for event in events], np.int64) for i in range(4))
        found = pairs(case, activity, key.astype(np.uint64), micros, np.array([event[4] for event in events], bool))
        both = zip(found.ends.tolist(), found.starts.tolist(), strict=True)
        return [(events[end], events[start] if start >= 0 else None) for end, start in both]

    more = [(event[0] + 1000, *event[1:]) for event in others]
    assert paired(events + more)[: len(paired(events))] == paired(events)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 12)), max_size=30))
def test_expanding_orders_by_time_with_completions_first(found: list[tuple[int, int, int]]) -> None:
    found.sort()
    case, micros, start = (np.array([one[i] for one in found], np.int64) for i in range(3))
    start = valid_starts(start, micros)
    whole = expanded(case, micros, start)
    loose = [(case[i], micros[i], False, i) for i in range(len(found))]
    loose += [(case[i], start[i], True, i) for i in range(len(found)) if start[i] != NO_START]
    loose.sort()
    assert [int(one[3]) for one in loose] == whole.rows.tolist()
    assert [one[2] for one in loose] == whole.is_start.tolist()
    assert [int(one[1]) for one in loose] == whole.micros.tolist()


@given(events)
def test_pairing_what_was_expanded_keeps_times_of_starts_and_completions(events: list[Event]) -> None:
    case, activity, key, micros = (np.array([event[i] for event in events], np.int64) for i in range(4))
    first = pairs(case, activity, key.astype(np.uint64), micros, np.array([event[4] for event in events], bool))
    case, activity, end, start = case[first.ends], activity[first.ends], micros[first.ends], first.start_micros(micros)
    whole = expanded(case, end, start)
    again = pairs(case[whole.rows], activity[whole.rows], None, whole.micros, whole.is_start, in_order=True)
    assert not whole.is_start[again.ends].any()  # every start is completed
    assert whole.micros[again.ends].tolist() == end.tolist()
    assert sorted(again.start_micros(whole.micros).tolist()) == sorted(start.tolist())


def test_a_start_that_is_not_before_its_completion_is_none() -> None:
    assert valid_starts(np.array([1, 5, 9]), np.array([5, 5, 5])).tolist() == [1, NO_START, NO_START]


def test_a_key_is_the_instance_or_else_the_resource() -> None:
    keys = keys_of(pl.Series(["5", None, None, "5", None]), pl.Series(["ann", "5", "5", None, None]), 5).to_list()
    assert keys[0] == keys[3]
    assert keys[1] == keys[2]
    assert len({keys[0], keys[1], keys[4]}) == 3
    assert keys_of(None, None, 2).to_list() == [0, 0]
    assert keys_of(pl.Series([7, None]), None, 2)[1] == 0


def test_labels_come_apart_again() -> None:
    labels = label_texts(pl.Series(["A", "B", f"x{SEPARATOR}y"]), pl.Series(["START", None, "complete"]))
    assert [split_label(label) for label in labels] == [("A", "START"), ("B", None), ("x\ufffdy", "complete")]
    assert split_label(started("A")) == ("A", STARTED.removeprefix(SEPARATOR))
    assert label_texts(pl.Series(["A", f"x{SEPARATOR}y"])).to_list() == ["A", "x\ufffdy"]
