"""Smaller or reordered logs from a log: some transitions or activities only, events by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_INDEX, LIFECYCLE, TIMESTAMP
from libra.eventlog.notes import listed

_SHOWN = 20
OUT_OF_ORDER = "Some cases have events out of time order. File order is kept; --sort-by-time orders them by time."


class Transitions:
    """The user's choice of transitions."""

    def __init__(self, kept: Sequence[str], known: bool, source: str) -> None:
        """`known` is whether the source says in which transition an event is; `source` names it in errors."""
        self._asked, self._source, self._found = kept, source, False
        self._kept, self._there = [name.strip().lower() for name in kept], set[str]()
        if kept and not known:
            remedy = "Name it with --lifecycle, or leave --lifecycle-keep out"
            raise InputError("there is no lifecycle column to choose transitions by", place=source, remedy=remedy)

    def keep(self, transitions: pl.Series, usable: pl.Series | None) -> pl.Series:
        """For every event whether it is usable and in one of the transitions to be kept."""
        kept = transitions.str.to_lowercase().is_in(self._kept).fill_null(False)
        kept = kept if usable is None else kept & usable
        self._found = self._found or bool(kept.any())
        if not self._found and len(self._there) < _SHOWN:
            self._there.update(transitions.drop_nulls().unique().to_list())
        return kept

    def finish(self) -> None:
        """All events have come: some must be kept, if any are to be."""
        if self._kept and not self._found:
            what, there = f"no event is in the transition {listed(self._asked)}", listed(sorted(self._there)[:_SHOWN])
            raise InputError(what, place=self._source, remedy=f"The log has {there}")


def keep_lifecycle(log: EventLog, transitions: Sequence[str], source: str = "") -> EventLog:
    """Keep only the events in these transitions, whatever their case of letters; `source` names the log in errors."""
    chosen = Transitions(transitions, LIFECYCLE in log.events.columns, source)
    kept = chosen.keep(log.events[LIFECYCLE], None)
    if log.n_events:
        chosen.finish()
    return keep_events(log, kept)


def keep_events(log: EventLog, kept: pl.Series) -> EventLog:
    """Only these events, and the cases that have some."""
    if kept.all():
        return log
    events = log.events.filter(kept)
    left = events[CASE_INDEX].unique().sort()
    return replace(log, events=events.with_columns((pl.col(CASE_INDEX).rle_id()).alias(CASE_INDEX)), cases=log.cases[left])


def sort_by_time(log: EventLog) -> EventLog:
    """The events of each case by time; events of the same moment keep their order."""
    return replace(log, events=log.events.sort(CASE_INDEX, TIMESTAMP, maintain_order=True))
