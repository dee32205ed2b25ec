"""From generated sequences to what is released: instances with a start and a completion, or events with transitions.

Which of the two follows from the labels, which are released, and so does what columns the log has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from libra.engines.counting.blocks import offsets_of
from libra.engines.sequences import starts_among
from libra.eventlog.cases import Cases, Integers, Traces
from libra.eventlog.instances import NO_START, SEPARATOR, STARTED, Flags, pairs, split_label
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import LIFECYCLE, START_TIMESTAMP
from libra.eventlog.options import InstanceMode


def mode_of(labels: Sequence[str]) -> InstanceMode | None:
    """What the events of a log with these labels are: instances, events with transitions, or neither."""
    if any(label.endswith(STARTED) for label in labels):
        return "pair"
    return "events" if any(SEPARATOR in label for label in labels) else None


def released_traces(traces: Traces, labels: Sequence[str]) -> tuple[Traces, list[str]]:
    """The traces of the log: without starts, in codes of activities, which are the second part."""
    if mode_of(labels) is None:
        return traces, list(labels)
    names, code_of, _ = _activities(labels)
    ends = (starts_among(labels) < 0)[traces.codes]
    return Traces(code_of[traces.codes[ends]], offsets_of(np.bincount(traces.rows[ends], minlength=len(traces)))), names


def within_instances(traces: Traces, completion: Integers) -> Flags:
    """For every event whether some instance is open during the step that leads to it.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> within_instances(traces_of([[1, 2, 0, 2]]), np.array([-1, 0, -1])).tolist()
        [False, True, True, False]
    """
    is_start = (completion >= 0)[traces.codes]
    activity = np.where(is_start, completion[traces.codes], traces.codes)
    order = np.arange(len(activity))
    found = pairs(traces.rows, activity, None, order, is_start, in_order=True)
    paired = found.starts >= 0
    change = np.bincount(found.starts[paired], minlength=len(order)) - np.bincount(found.ends[paired], minlength=len(order))
    within: Flags = np.cumsum(change) - change > 0
    return within


def as_released(cases: Cases, labels: Sequence[str]) -> tuple[Cases, list[str], pl.DataFrame | None]:
    """Cases of instances, or of events, the activities that their codes stand for, and their further columns.

    Times never fall within a case, and starts that nothing completes are left out.

    Example:
        >>> case = Cases(*map(np.array, ([1, 0], [0, 60_000_000], [0, 2], [0])), n_activities=2)
        >>> made, activities, columns = as_released(case, ["admit", "admit" + STARTED])
        >>> made.codes.tolist(), activities[0], columns["start_timestamp"].dt.minute().to_list()
        ([0], 'admit', [0])
    """
    mode = mode_of(labels)
    if mode is None:
        return cases, list(labels), None
    if mode == "pair":
        return _paired(cases, labels)
    names, code_of, transitions = _activities(labels)
    said = pl.Series(LIFECYCLE, transitions, dtype=pl.String).gather(pl.Series(cases.codes, dtype=pl.UInt32))
    return replace(cases, codes=code_of[cases.codes], n_activities=len(names)), names, pl.DataFrame([said])


def _activities(labels: Sequence[str]) -> tuple[list[str], Integers, list[str | None]]:
    """The activities of labels, sorted, and for each label the code of its activity and its transition."""
    parts = [split_label(label) for label in labels]
    names = sorted({activity for activity, _ in parts})
    code = {name: i for i, name in enumerate(names)}
    return names, np.array([code[activity] for activity, _ in parts], np.int64), [transition for _, transition in parts]


def _paired(cases: Cases, labels: Sequence[str]) -> tuple[Cases, list[str], pl.DataFrame]:
    case, completion = cases.rows, starts_among(labels)[cases.codes]
    is_start = completion >= 0
    found = pairs(case, np.where(is_start, completion, cases.codes), None, cases.micros, is_start, in_order=True)
    completed = ~is_start[found.ends]
    ends, start = found.ends[completed], found.start_micros(cases.micros)[completed]
    offsets = offsets_of(np.bincount(case[ends], minlength=len(cases)))
    of_events = tuple(values[ends] for values in cases.of_events)
    made = replace(cases, codes=cases.codes[ends], micros=cases.micros[ends], offsets=offsets, of_events=of_events)
    times = pl.Series(START_TIMESTAMP, start, dtype=pl.Int64)
    return made, list(labels), pl.DataFrame([times.set(times == NO_START, None).cast(UTC_MICROSECONDS)])
