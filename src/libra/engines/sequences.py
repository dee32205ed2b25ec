"""What engines count of activity instances: the sequence of starts and completions of each case.

A start is an event of its own, with the label of its activity's start, so every table about events is one about starts and
completions as well. The sequence of a case follows from that case alone. Each activity has both labels, whether or not it is ever
started. Where single events are released, their transitions are part of their labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.engines.contract import Integers
from libra.engines.counting.blocks import codes_among, offsets_of
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import MISSING, Cases, cases_of
from libra.eventlog.instances import (
    NO_START,
    REPLACEMENT,
    SEPARATOR,
    STARTED,
    Instances,
    expanded,
    label_texts,
    pairs,
    started,
    valid_starts,
)
from libra.eventlog.log import EventLog, Variants, variants_of
from libra.eventlog.names import ACTIVITY, LIFECYCLE, START_TIMESTAMP
from libra.eventlog.pairing import is_joined

TRANSITIONS = (  # of the standard's model; the labels of a list have each of these, or none
    *("schedule", "assign", "reassign", "start", "suspend", "resume", "complete", "autoskip", "manualskip", "withdraw"),
    *("ate_abort", "pi_abort", "unknown"),
)


def both_forms(activities: Iterable[str]) -> tuple[str, ...]:
    r"""The labels of completions and starts of these activities, sorted.

    Example:
        >>> both_forms(["admit", "leave"])
        ('admit', 'admit\x1f+start', 'leave', 'leave\x1f+start')
    """
    return tuple(sorted(label for activity in activities for label in (activity, started(activity))))


def with_transitions(activities: Iterable[str]) -> tuple[str, ...]:
    """The labels of single events of these activities, sorted: without a transition, and in each of the standard's."""
    endings = ("", *(SEPARATOR + transition for transition in TRANSITIONS))
    return tuple(sorted(activity + ending for activity in activities for ending in endings))


def starts_among(labels: Sequence[str]) -> Integers:
    """For the code of every label of a start the code of its activity's label, -1 for all others.

    Example:
        >>> starts_among(both_forms(["admit", "leave"])).tolist()
        [-1, 0, -1, 2]
    """
    code = {label: i for i, label in enumerate(labels)}
    return np.array([code.get(label.removesuffix(STARTED), -1) if label.endswith(STARTED) else -1 for label in labels], np.int64)


def event_labels(activity: pl.Series, transition: pl.Series) -> pl.Series:
    r"""The labels of single events, with their transitions, of which those of the standard are in lower case.

    Example:
        >>> event_labels(pl.Series(["admit", "leave"]), pl.Series(["COMPLETE", None])).to_list()
        ['admit\x1fcomplete', 'leave']
    """
    lower = transition.str.to_lowercase().str.strip_chars_start("+")  # so no label is that of a start of an instance
    plain = transition.str.replace_all(SEPARATOR, REPLACEMENT, literal=True).str.strip_chars_start("+")
    return label_texts(activity, lower.zip_with(lower.is_in(TRANSITIONS).fill_null(False), plain))


def forms_among(activities: Sequence[str], labels: Sequence[str]) -> Integers:
    """The codes of these activities' completions (the first row) and starts (the second) among these labels."""
    return np.stack((codes_among(activities, labels), codes_among(list(map(started, activities)), labels)))


def in_sequence(instances: Cases, start: Integers, forms: Integers, n_labels: int) -> Cases:
    """Cases of instances as sequences of starts and completions, in other codes.

    The times of `instances` are those of completions, and `start` is when each instance starts, or `NO_START`. `forms` are the
    codes that completions (the first row) and starts (the second) of each activity get.

    Example:
        >>> case = Cases(*map(np.array, ([0, 1], [30, 40], [0, 2], [0])), n_activities=2)
        >>> found = in_sequence(case, np.array([10, 20]), np.array([[0, 2], [1, 3]]), 4)
        >>> found.codes.tolist(), found.micros.tolist()
        ([1, 3, 0, 2], [10, 20, 30, 40])
    """
    case = np.repeat(np.arange(len(instances)), instances.lengths)
    found = expanded(case, instances.micros, valid_starts(start, instances.micros))
    codes = forms[found.is_start.astype(np.int64), instances.codes[found.rows]]
    offsets = offsets_of(np.bincount(case[found.rows], minlength=len(instances)))
    of_events = tuple(np.where(found.is_start, MISSING, values[found.rows]) for values in instances.of_events)
    return Cases(codes, found.micros, offsets, instances.variant, n_labels, instances.attributes, of_events)


def instances_of(events: Cases, said: Mapping[str, npt.NDArray[Any]]) -> tuple[Cases, Integers, Instances]:
    """The instances of cases, when each starts, or `NO_START`, and the events that they are made of.

    `said` may have for every event `is_start` and the `key` that starts and completions have in common, and `start`: when it
    started, if it says so itself.
    """
    case, is_start = np.repeat(np.arange(len(events)), events.lengths), said.get("is_start", np.zeros(len(events.codes)))
    found = pairs(case, events.codes, said.get("key"), events.micros, is_start.astype(bool))
    own = valid_starts(said["start"], events.micros) if "start" in said else None
    offsets = offsets_of(np.bincount(case[found.ends], minlength=len(events)))
    of_events = tuple(values[_with_value(found, values != MISSING)] for values in events.of_events)
    codes, micros = events.codes[found.ends], events.micros[found.ends]
    paired = replace(events, codes=codes, micros=micros, offsets=offsets, of_events=of_events)
    return paired, found.start_micros(events.micros, own), found


def _with_value(instances: Instances, has_value: npt.NDArray[np.bool_]) -> Integers:
    """For every instance the event whose value of an attribute is its own: the one that ends it, or else the one that starts it.

    So it is in a log in memory, where they are one row.
    """
    ends, starts = instances.ends, instances.starts
    return np.where((starts >= 0) & ~has_value[ends], starts, ends)


def as_counted(cases: Cases, attributes: Sequence[Attribute]) -> Cases:
    """Cases with what is counted of these attributes of events: increments of counters, seconds from an event to a moment.

    What a counter says first is its first increment, and one that falls grows by nothing.

    Example:
        >>> events, values = np.zeros(3, np.int64), (np.array([5, MISSING, 7]),)
        >>> case = Cases(events, events, np.array([0, 3]), np.zeros(1, np.int64), 1, of_events=values)
        >>> paid = as_counted(case, [Attribute("paid", "number", "event", counter=True)]).of_events[0]
        >>> paid.tolist() == [5, MISSING, 2]
        True
    """
    found = list(cases.of_events)
    for number, attribute in enumerate(attributes):
        if attribute.kind == "date":
            found[number] = since(cases.micros, found[number], attribute)
        elif attribute.counter:
            there = np.flatnonzero(found[number] != MISSING)
            said, first = found[number][there], np.diff(np.searchsorted(cases.offsets, there, side="right"), prepend=-1) != 0
            grown = np.where(first, said, np.maximum(np.diff(said, prepend=0), 0))
            found[number] = np.full(len(cases.codes), MISSING)
            found[number][there] = grown
    return replace(cases, of_events=tuple(found))


def since(starts: Integers, moments: Integers, attribute: Attribute) -> Integers:
    """The whole seconds, or days, from each of some starts to a date, within its bounds; `MISSING` where there is none.

    Example:
        >>> day = 86_400_000_000
        >>> since(np.array([day - 1]), np.array([day]), Attribute("due", "date", unit="days")).tolist()
        [1]
    """
    grains = (moments - attribute.begins(starts)) // attribute.grain
    return np.where(moments == MISSING, MISSING, np.clip(grains, *attribute.bounds))


def rows_with_values(offsets: Integers, has_value: npt.NDArray[np.bool_], instances: Instances | None = None) -> Integers:
    """For every case the event whose value of an attribute is that of the case: the first that has one; -1 where none has.

    Of instances, in their order, it is the event that ends one or else the event that starts it.

    Example:
        >>> rows_with_values(np.array([0, 2, 3, 5]), np.array([False, True, False, True, True])).tolist()
        [1, -1, 3]
    """
    case = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rows = np.arange(len(case))
    if instances is not None:
        rows = _with_value(instances, has_value)
    rows = rows[has_value[rows]]
    rows = rows[np.diff(case[rows], prepend=-1) != 0]
    found = np.full(len(offsets) - 1, -1)
    found[case[rows]] = rows
    return found


def with_event_labels(log: EventLog) -> EventLog:
    """The log with activities that no label of a start can be mistaken for; where transitions are kept, with these in them."""
    if log.instances == "events" and LIFECYCLE in log.events.columns and not is_joined(log.roles):
        labels = event_labels(log.events[ACTIVITY], log.events[LIFECYCLE])
    elif any(SEPARATOR in label for label in log.activities):
        labels = label_texts(log.events[ACTIVITY])
    else:
        return log
    return replace(log, events=log.events.with_columns(labels.alias(ACTIVITY)))


def sequences_of(log: EventLog, of_events: tuple[Integers, ...] = ()) -> tuple[Cases, Variants, tuple[str, ...]]:
    """What is counted of a log in memory, with these values of its events: cases, their variants, and the labels of codes."""
    whole = replace(cases_of(log), of_events=of_events)
    if log.instances != "pair":
        return whole, log.variants, tuple(log.activities)
    start = log.events[START_TIMESTAMP].to_physical().fill_null(NO_START).to_numpy()
    labels = both_forms(log.activities)
    cases = in_sequence(whole, start, forms_among(log.activities, labels), len(labels))
    variants = variants_of(cases.codes.astype(np.uint32), cases.offsets)
    return replace(cases, variant=variants.of_case), variants, labels
