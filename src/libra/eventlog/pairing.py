"""From a log of events to a log of activity instances, and back: what `--instances` does to a log in memory.

`pair` makes one row of a start and its completion, or takes the start from a column; `complete` keeps completions alone; `events`
keeps all. Which of them applies is said by the user or a description. Otherwise it is `pair` if the log has starts; that is an
open choice where few cases decide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from polars.dataframe.group_by import GroupBy

from libra.eventlog.instances import COMPLETE, NO_START, START, expanded, keys_of, pairs, valid_starts
from libra.eventlog.log import UTC_MICROSECONDS, EventLog, FoundRole, Pairing
from libra.eventlog.names import (
    CASE_INDEX,
    INSTANCE,
    LIFECYCLE,
    RESOURCE,
    ROLE_COLUMN,
    START_TIMESTAMP,
    TIMESTAMP,
    unnamed,
    without,
)
from libra.eventlog.notes import ENOUGH, instances_are_open
from libra.eventlog.options import ReadOptions
from libra.eventlog.select import keep_events
from libra.eventlog.tables.values import as_text

PAIRED = (
    "Start and complete events were paired into activity instances, and events in other transitions were left out. "
    "--instances complete keeps only completions, --instances events keeps every event."
)
STARTS_READ = (
    "Each row was read as an activity instance that starts at its start timestamp. --instances complete ignores the start "
    "timestamps, --instances events keeps them as an attribute."
)
STARTS_DROPPED = "The start timestamps were left out: --instances complete keeps only completions."


def transition_of(values: pl.Series) -> pl.Series:
    """Transitions in lower case and without space around them; null where there is none."""
    text = unnamed(values).cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.set(text == "", None)


def closes(transition: pl.Series) -> pl.Series:
    """Which events complete an instance, by their transition alone: one without a transition does."""
    return transition.is_null() | (transition == COMPLETE).fill_null(False)


class Deciders:
    """Whose cases show that there are activity instances: starts in a column, or start and complete events."""

    def __init__(self) -> None:
        self._by_column, self._starting, self._completing = set[int](), set[int](), set[int]()

    def add(self, whose: Sequence[pl.Series], start: pl.Series | None, transition: pl.Series | None) -> None:
        """Take in more events: whose they are, when they started and their transitions, if columns say so."""
        shown = [] if start is None else [(self._by_column, unnamed(start).is_not_null())]
        if transition is not None:
            transitions = transition_of(transition)
            shown += [(self._starting, (transitions == START).fill_null(False)), (self._completing, closes(transitions))]
        for seen, where in shown:
            if len(seen) < ENOUGH:
                ids = pl.DataFrame({str(i): unnamed(values) for i, values in enumerate(whose)}).filter(where)
                seen.update(ids.hash_rows().unique().head(ENOUGH))

    @property
    def enough(self) -> bool:
        """Whether nobody alone decides."""
        return max(len(self._by_column), min(len(self._starting), len(self._completing))) >= ENOUGH

    @property
    def note(self) -> str:
        """Why events are activity instances; empty if they are not."""
        by_events = PAIRED if self._starting and self._completing else ""
        note = STARTS_READ if self._by_column else by_events
        return note if self.enough or not note else instances_are_open(note)


def detected(
    case: Sequence[pl.Series], whose: Sequence[pl.Series], start: pl.Series | None, transition: pl.Series | None, *,
    start_is_sure: bool = False,
) -> str:  # fmt: skip
    """The note on why events are activity instances, by the content of their columns; empty if they are not.

    Args:
        case: the columns that form the id of the case.
        whose: the column of the individuals, or those of the case again.
        start: when events started, if a column says so.
        transition: their transitions, if a column says so.
        start_is_sure: whether the column of starts is known to be one; otherwise it may not be the same throughout each case.
    """
    deciders = Deciders()
    counts = start is not None and start.null_count() < start.len() and (start_is_sure or _of_events(case, start))
    deciders.add(whose, start if counts else None, transition)
    return deciders.note


def differ_within_cases(case: Sequence[pl.Series], start: pl.Series) -> pl.Series:
    """For every case with a start whether it has two different ones."""
    return _by_case(case, start).agg(pl.col("start").n_unique() > 1)["start"]


def _of_events(case: Sequence[pl.Series], start: pl.Series) -> bool:
    """Whether starts are those of events: a case has two different ones, or no case has two at all."""
    return bool(differ_within_cases(case, start).any()) or not bool((_by_case(case, start).len()["len"] > 1).any())


def _by_case(case: Sequence[pl.Series], start: pl.Series) -> GroupBy:
    keys = {f"@{i}": unnamed(values) for i, values in enumerate(case)}
    return pl.DataFrame({**keys, "start": unnamed(start)}).drop_nulls("start").group_by(*keys)


def is_sure(roles: Sequence[FoundRole]) -> bool:
    """Whether the column of starts has the standard's name or was named by the user."""
    reasons = (role.reason for role in roles if role.role == "start_timestamp")
    return any(not reason.startswith("called ") for reason in reasons)


def decided_by_values(start: pl.Series, roles: Sequence[FoundRole], options: ReadOptions) -> bool:
    """Whether the values of a column decide if it has the starts of events."""
    settled = options.instances is not None or options.described or is_sure(roles)
    return not settled and start.null_count() < len(start)


def lifecycle_of(roles: Sequence[FoundRole]) -> str | None:
    """The column of transitions; None where there is none, or where it is part of the activity and tells events apart already."""
    columns = {role.role: role.columns for role in roles}
    found = columns.get("lifecycle", (None,))[0]
    return None if found in columns.get("activity", ()) else found


def is_joined(roles: Sequence[FoundRole]) -> bool:
    """Whether transitions are part of the activity, and so tell events apart already."""
    return any(role.role == "lifecycle" for role in roles) and lifecycle_of(roles) is None


def with_instances(log: EventLog, options: ReadOptions, *, detect: bool = True) -> EventLog:
    """The log as the user wants its activity instances; with `detect`, a log with starts is paired unless the user says else."""

    def known(role: str) -> bool:
        there = ROLE_COLUMN[role] in log.events.columns
        return there and (not options.described or any(found.role == role for found in log.roles))

    mode, note = options.instances, ""
    start = log.events[START_TIMESTAMP] if known("start_timestamp") else None
    transition = log.events[LIFECYCLE] if known("lifecycle") and not is_joined(log.roles) else None
    if mode is None:
        if not options.described and detect:
            case = log.events[CASE_INDEX]
            whose = case if log.individual is None else log.cases[log.individual][case]
            note = detected([case], [whose], start, transition, start_is_sure=is_sure(log.roles))
        if not note:
            return log
        mode, log = "pair", log.with_notes(note)
    if mode == log.instances:
        return log
    if log.instances == "pair" and mode == "events":
        return replace(as_events(log), instances=mode)
    if mode == "events":
        return replace(log, instances=mode)
    if mode == "complete":
        return _completed(log, start, transition)
    return _paired(log, start, transition, by_resource=known("resource"))


def _completed(log: EventLog, start: pl.Series | None, transition: pl.Series | None) -> EventLog:
    """Only the completions of a log."""
    if transition is not None:
        log = keep_events(log, closes(transition_of(transition)))
    if start is not None:
        log = replace(log, events=without(log.events, START_TIMESTAMP)).with_notes(STARTS_DROPPED)
    return replace(log, instances="complete", pairing=None)


def _paired(log: EventLog, start: pl.Series | None, transition: pl.Series | None, *, by_resource: bool) -> EventLog:
    """A log of activity instances."""
    is_start = np.zeros(log.n_events, bool)
    left_out: dict[str, int] = {}
    if transition is not None:
        transitions = transition_of(transition)
        is_start = (transitions == START).fill_null(False).to_numpy()
        kept = closes(transitions) | pl.Series(is_start)
        left_out = dict(transitions.filter(~kept).value_counts(sort=True).rows())
        is_start, log = is_start[kept.to_numpy()], keep_events(log, kept)
    events, case = log.events, log.events[CASE_INDEX].to_numpy()
    own_start = None
    if start is not None and START_TIMESTAMP in events.columns:
        micros = events[START_TIMESTAMP].to_physical().fill_null(NO_START).to_numpy()
        own_start = valid_starts(micros, log.timestamps)
    resource = as_text(events[RESOURCE]) if by_resource and RESOURCE in events.columns else None
    instance = as_text(events[INSTANCE]) if INSTANCE in events.columns else None
    key = keys_of(instance, resource, events.height).to_numpy()
    found = pairs(case, log.activity_codes.astype(np.int64), key, log.timestamps, is_start)
    own, of_start = events[found.ends], pl.Series(found.starts)
    of_start = of_start.set(of_start < 0, None)
    lacking = [name for name in events.columns if own[name].null_count()]
    filled = {name: (unnamed(own[name]), unnamed(events[name]).gather(of_start)) for name in lacking}
    instances = own.with_columns(mine.zip_with(mine.is_not_null(), its).alias(name) for name, (mine, its) in filled.items())
    instances = instances.with_columns(_moments(found.start_micros(log.timestamps, own_start)))
    unpaired = int(is_start[found.ends].sum())
    starts = int(is_start.sum()) - unpaired
    pairing = Pairing(2 * starts, len(is_start) - int(is_start.sum()) - starts, unpaired, left_out)
    if start is not None and not is_start.any():  # a column says when rows started, and nothing else does
        pairing = Pairing(None, None, None, left_out)
    return replace(log, events=without(instances, LIFECYCLE, INSTANCE), instances="pair", pairing=pairing)


def _moments(micros: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    values = pl.Series(START_TIMESTAMP, micros)
    return values.set(values == NO_START, None).cast(UTC_MICROSECONDS)


def as_events(log: EventLog) -> EventLog:
    """The start and complete events of a log of activity instances, for formats in which an event has one time.

    Each event has the attributes of its instance, its transition, and the number of the instance in its case.

    Example:
        >>> from libra.eventlog.log import EventLog
        >>> paired = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["a"], "time:timestamp": [7], "start_timestamp": [3]}).with_columns(
        ...         pl.col("time:timestamp", "start_timestamp").cast(UTC_MICROSECONDS)),
        ...     pl.DataFrame({"concept:name": ["ann"]}), instances="pair",
        ... )
        >>> as_events(paired).events.select("time:timestamp", "lifecycle:transition").to_series(1).to_list()
        ['start', 'complete']
    """
    events, case = log.events, log.events[CASE_INDEX].to_numpy()
    start = events[START_TIMESTAMP].to_physical().fill_null(NO_START).to_numpy()
    whole = expanded(case, log.timestamps, start)
    number = np.arange(1, len(case) + 1) - log.case_offsets[case]
    loose = without(events, START_TIMESTAMP, LIFECYCLE, INSTANCE)[whole.rows].with_columns(
        pl.Series(TIMESTAMP, whole.micros).cast(UTC_MICROSECONDS),
        pl.Series(LIFECYCLE, np.where(whole.is_start, START, COMPLETE)).cast(pl.String),
        pl.Series(INSTANCE, number[whole.rows]).cast(pl.String),
    )
    return replace(log, events=loose, instances=None, pairing=None)
