"""XES of any size to batches of events: every trace a case of its own, numbered in file order.

The file goes through the same parser as in memory, some whole traces at a time. Roles and types are found in the first traces;
what does not fit them further on is an `InputError`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from libra.eventlog.files import FileFormat
from libra.eventlog.in_parts import EventBatches
from libra.eventlog.names import ACTIVITY, CASE_ID, CASE_INDEX, CASE_NAME, CASE_PREFIX, LIFECYCLE, TIMESTAMP
from libra.eventlog.notes import OpenChoice
from libra.eventlog.options import Progress, ReadOptions
from libra.eventlog.select import Transitions
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.flat import TableRows
from libra.eventlog.tables.roles import find_roles
from libra.eventlog.tables.timestamps import zone_misfit
from libra.eventlog.xes.assemble import (
    Zones,
    bad_time,
    by_standard,
    checked_zone,
    date_key,
    flat_table,
    frames_of,
    iso_times,
    keys_of,
    mixed_zones,
    no_blank,
    placer,
    roles_of,
    two_types,
    usable,
    without_events,
)
from libra.eventlog.xes.columns import NAIVE, Columns, Piece, XesColumns, spread, texts
from libra.eventlog.xes.read import AHEAD, Document

_TRACE = "@trace"


@dataclass(frozen=True)
class FirstTraces:
    """The first traces of a file as they are in memory, and which key of the file each column of events has."""

    path: Path
    options: ReadOptions
    pieces: Sequence[Piece]
    events: pl.DataFrame
    cases: pl.DataFrame
    key_of: dict[str, str]
    notes: list[str]
    zones: Zones


class _Zone:
    """Whether the times under a key carry a zone, as the first of them show; None where times are no dates yet."""

    def __init__(self, first: FirstTraces, key: str | None) -> None:
        self.notes = [note for note in first.notes if note == NAIVE]
        place = placer(first.events, first.cases, first.path)
        self.has_zone = key is None or checked_zone(first.zones, key, self.notes, place, first.options)
        either = first.options.zone == "utc" or any(isinstance(note, OpenChoice) for note in self.notes)
        self.held = None if either else self.has_zone  # what all times have to be like; None where either will do


class StandardTraces:
    """Traces whose roles are played by the standard's keys."""

    def __init__(self, first: FirstTraces) -> None:
        self._path, self._options = first.path, first.options
        self.roles = roles_of(first.events, first.options)
        self._zone = _Zone(first, TIMESTAMP)
        self.has_zone = self._zone.has_zone
        self._transitions = Transitions(first.options.lifecycle_keep, LIFECYCLE in first.events.columns, str(first.path))
        self._notes = dict.fromkeys(self._zone.notes)
        self._used = False

    def events(self, piece: Piece, before: int) -> pl.DataFrame:
        """The events of the next traces, `before` which so many stand."""
        place = _placer(piece, self._path, before)
        height = len(piece.case_of_event)
        events = pl.DataFrame(
            [
                pl.Series(CASE_INDEX, piece.case_of_event),
                no_blank(texts(piece.event_parts, ACTIVITY, height)).alias(ACTIVITY),
                _times(piece, TIMESTAMP, place, self._options, self._zone.held).alias(TIMESTAMP),
                *([texts(piece.event_parts, LIFECYCLE, height).alias(LIFECYCLE)] if self._options.lifecycle_keep else []),
            ]
        )
        notes: list[str] = []
        events = usable(events, pl.DataFrame({CASE_NAME: no_blank(_names(piece))}), notes, place, self._options)
        self._used |= events.height > 0
        if self._options.lifecycle_keep:
            events = events.filter(self._transitions.keep(events[LIFECYCLE], None))
        if len(np.unique(piece.case_of_event)) < piece.n_cases:
            notes.append("Cases without events were left out.")
        self._notes.update(dict.fromkeys(notes))
        return events.select(
            (pl.col(CASE_INDEX) + before).alias("case"),
            pl.col(ACTIVITY).alias("activity"),
            pl.col(TIMESTAMP).to_physical().alias("micros"),
        )

    def finish(self) -> None:
        """All traces have come."""
        if self._used:
            self._transitions.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the traces so far."""
        return list(self._notes)


class FlatTraces:
    """Traces some of whose roles are played by other attributes, found as in any table."""

    def __init__(self, first: FirstTraces) -> None:
        self._path, self._options, self._key_of = first.path, first.options, first.key_of
        table = flat_table(first.events, first.cases, [], first.options)
        self.roles = find_roles(table, first.options, str(first.path))
        by_role = {role.role: role.columns for role in self.roles}
        self._by_trace = by_role["case_id"] == (CASE_ID,) and not first.options.roles.case_id
        of_rows = [replace(role, columns=(_TRACE,)) if self._by_trace and role.role == "case_id" else role for role in self.roles]
        numbers = pl.Series(_TRACE, first.events[CASE_INDEX]).cast(pl.Int64)
        place = placer(first.events, first.cases, first.path)
        self._when, self._date_key = by_role["timestamp"][0], date_key(table, self.roles, first.key_of)
        self._zone = _Zone(first, self._date_key)
        typed = first.options if self._date_key is None else replace(first.options, zone=None)
        self._rows = TableRows(table.with_columns(numbers), of_rows, typed, str(first.path), place)
        self.has_zone = self._rows.times.has_zone if self._date_key is None else self._zone.has_zone
        times = [name for name in self._rows.columns if self._is_time(name)]
        self._of_events = XesColumns(
            [self._key_of[name] for name in times if name in self._key_of], [piece.event_parts for piece in first.pieces]
        )
        of_cases = [name.removeprefix(CASE_PREFIX) for name in times if name not in self._key_of]
        self._of_cases = XesColumns(of_cases, [piece.case_parts for piece in first.pieces])

    def events(self, piece: Piece, before: int) -> pl.DataFrame:
        """The events of the next traces, `before` which so many stand."""
        place = _placer(piece, self._path, before)
        n_events = len(piece.case_of_event)
        of_events = self._of_events.frame(piece.event_parts, n_events, place)
        of_cases = self._of_cases.frame(piece.case_parts, piece.n_cases, lambda case: f"{self._path}, trace {before + case + 1}")
        columns = {}
        for name in self._rows.columns:
            key = self._key_of.get(name)
            if name == _TRACE:
                named = no_blank(_names(piece)).is_not_null().to_numpy()[piece.case_of_event]
                values = pl.Series(piece.case_of_event + before).set(pl.Series(~named), None)
            elif name == self._when and self._date_key is not None:
                values = _times(piece, self._date_key, place, self._options, self._zone.held)
            elif key is not None:
                values = of_events[key] if self._is_time(name) else texts(piece.event_parts, key, n_events)
            else:
                bare = name.removeprefix(CASE_PREFIX)
                of_case = of_cases[bare] if self._is_time(name) else texts(piece.case_parts, bare, piece.n_cases)
                values = of_case[piece.case_of_event]
            columns[name] = values
        return self._rows.events(pl.DataFrame(columns), place)

    def finish(self) -> None:
        """All traces have come."""
        self._rows.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the traces so far."""
        return [*self._zone.notes, *self._rows.notes()]

    def _is_time(self, name: str) -> bool:
        """Whether a column is read as times, by all that stands in it; everything else is text, each value by itself."""
        return name in self._rows.times_of and not (self._date_key is not None and name == self._when)


def _placer(piece: Piece, path: Path, before: int) -> Callable[[int], str]:
    events = pl.DataFrame({CASE_INDEX: piece.case_of_event})
    return placer(events, pl.DataFrame({CASE_NAME: _names(piece)}), path, before)


def _names(piece: Piece) -> pl.Series:
    """What stands as the name of every trace, null where nothing does."""
    return texts(piece.case_parts, CASE_NAME, piece.n_cases)


def _times(piece: Piece, key: str, place: Callable[[int], str], options: ReadOptions, has_zone: bool | None) -> pl.Series:
    """The time of every event; null where there is none, or none that can be read and such events are dropped.

    `has_zone` is whether all of them carry a zone, or none does; None where either will do.
    """
    parts = [part for part in piece.event_parts if part.key == key]
    for part in parts:
        if part.type != "date" and len(part.owners):
            raise two_types(key, "date", part.type, place(int(part.owners[0])))
    text = spread([part.values for part in parts], [part.owners for part in parts], len(piece.case_of_event))
    read, naive = read_iso_dates(text)
    bad = read.is_null() & text.is_not_null()
    if bad.any() and not options.drop_invalid:
        row = int(bad.arg_true()[0])
        raise bad_time(text[row], place(row))
    misfits = naive if has_zone else ~naive & read.is_not_null()
    if has_zone is not None and misfits.any():
        row = int(misfits.arg_true()[0])
        if options.zone is not None:
            raise zone_misfit(text[row], options.zone, place(row))
        raise mixed_zones(text[row], place(row), has_zone=not has_zone)
    return read


SAMPLE = 50_000  # events to decide on


def xes_batches(path: Path, fmt: FileFormat, options: ReadOptions) -> EventBatches:
    """The events of an XES file.

    Example:
        >>> from libra import example
        >>> next(iter(xes_batches(example.path(), FileFormat("xes", "gz"), ReadOptions()))).columns
        ['case', 'activity', 'micros']
    """
    reading = _XesFile(path, fmt, options)
    roles, has_zone = ((), True) if reading.traces is None else (reading.traces.roles, reading.traces.has_zone)
    has_individual = any(role.role == "individual" for role in roles)
    return EventBatches(roles, reading.notes, has_individual, reading.height, has_zone, reading.batches)


class _XesFile:
    """One file: what its first traces say about it, and a way through all of them."""

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions) -> None:
        self.path, self.fmt, self.options = path, fmt, options
        self.document = Document(path, fmt, options.encoding)
        done: list[tuple[int, int]] = [(0, 1)]
        pieces: list[Piece] = []
        seen = 0
        with closing(self._pieces(lambda *step: done.append(step))) as all_pieces:
            for piece in all_pieces:
                pieces.append(piece)
                seen += len(piece.case_of_event)
                if seen >= SAMPLE:
                    break
        read, size = done[-1]
        under_way = 1 if read == size else 1 + AHEAD / max(len(pieces), 1)  # some more than what was seen has been read
        self.height = int(seen * size / max(read, 1) * under_way)
        if not seen and not options.allow_empty:
            raise without_events(path)
        self._first = self._decided(pieces) if seen else None
        self.traces = self._fresh()

    def batches(self) -> Iterator[pl.DataFrame]:
        """All events."""
        self.traces = traces = self._fresh()
        if traces is None:
            return
        before = 0
        with closing(self._pieces(self.options.progress)) as pieces:
            for piece in pieces:
                if len(piece.case_of_event):
                    events = traces.events(piece, before)
                    if events.height:
                        yield events
                before += piece.n_cases
        traces.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        return tuple(dict.fromkeys([*self.document.notes(), *([] if self.traces is None else self.traces.notes())]))

    def _pieces(self, progress: Progress) -> Generator[Piece]:
        self.document = Document(self.path, self.fmt, self.options.encoding)
        return self.document.pieces(progress)

    def _decided(self, pieces: list[Piece]) -> FirstTraces:
        """The first traces as they are in memory."""
        cases, events = Columns(), Columns()
        case_of_event = []
        for piece in pieces:
            case_of_event.append(piece.case_of_event + cases.height)
            cases.add(piece.case_parts, piece.n_cases)
            events.add(piece.event_parts, len(piece.case_of_event))
        content = self.document.content(cases, events, np.concatenate(case_of_event))
        notes = list(content.notes)
        of_events, of_cases = frames_of(content, notes)
        key_of = keys_of(of_events, content)
        of_events = iso_times(of_events, content, placer(of_events, of_cases, self.path), self.options)
        return FirstTraces(self.path, self.options, pieces, of_events, of_cases, key_of, notes, content.zones)

    def _fresh(self) -> StandardTraces | FlatTraces | None:
        first = self._first
        if first is None:
            return None
        standard = by_standard(first.events, first.cases, self.options, self.path)
        return StandardTraces(first) if standard else FlatTraces(first)
