"""Traces of an XES file to events, some traces at a time, by the standard's keys or by columns that the user gives roles.

In: the first traces to decide on, then pieces. Out: frames with "case" (the number of the trace), "activity", "micros" and
perhaps "individual". Both ways see what `xes.assemble` sees of the whole file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from libra.errors import InputError
from libra.eventlog.batches.table_rows import TableRows
from libra.eventlog.batches.transitions import Transitions
from libra.eventlog.batches.xes_columns import XesColumns
from libra.eventlog.names import ACTIVITY, CASE_ID, CASE_INDEX, CASE_NAME, CASE_PREFIX, LIFECYCLE, TIMESTAMP
from libra.eventlog.open_choices import OpenChoice
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.moments import zone_misfit
from libra.eventlog.tables.roles import find_roles
from libra.eventlog.xes.assemble import bad_time, by_iso, flat_table, no_blank, placer, roles_of, usable
from libra.eventlog.xes.columns import NAIVE, read_iso_dates, values_with_zone
from libra.eventlog.xes.parts import Part, Piece

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
    has_zone: bool


class StandardTraces:
    """Traces whose roles are played by the standard's keys."""

    def __init__(self, first: FirstTraces) -> None:
        self._path, self._options = first.path, first.options
        self.roles = roles_of(first.events, first.options)
        self.has_zone = first.has_zone
        keys = [ACTIVITY, LIFECYCLE] if first.options.lifecycle_keep else [ACTIVITY]
        self._columns = XesColumns(keys, [piece.event_parts for piece in first.pieces])
        self._transitions = Transitions(first.options.lifecycle_keep, LIFECYCLE in first.events.columns, str(first.path))
        self._notes = dict.fromkeys(_on_zone(first))
        self._held_zone = _held_zone(first)
        self._used = False

    def events(self, piece: Piece, before: int) -> pl.DataFrame:
        """The events of the next traces, `before` which so many stand."""
        place = _placer(piece, self._path, before)
        height = len(piece.case_of_event)
        labels = self._columns.frame(piece.event_parts, height, place)
        events = pl.DataFrame(
            [
                pl.Series(CASE_INDEX, piece.case_of_event),
                no_blank(labels[ACTIVITY].cast(pl.String)).alias(ACTIVITY),
                _times(piece, place, self._options, self._held_zone).alias(TIMESTAMP),
                *([labels[LIFECYCLE].cast(pl.String)] if self._options.lifecycle_keep else []),
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
        of_rows = [
            replace(role, columns=(_TRACE,))
            if self._by_trace and role.columns == (CASE_ID,) and role.role in ("case_id", "individual")
            else role
            for role in self.roles
        ]
        numbers = pl.Series(_TRACE, first.events[CASE_INDEX]).cast(pl.Int64)
        place = placer(first.events, first.cases, first.path)
        self._by_iso = by_iso(table, first.options) and by_role["timestamp"] == (TIMESTAMP,)
        typed = replace(first.options, zone=None) if self._by_iso else first.options
        self._rows = TableRows(table.with_columns(numbers), of_rows, typed, str(first.path), place)
        self.has_zone = first.has_zone if self._by_iso else self._rows.times.has_zone
        self._on_zone, self._held_zone = _on_zone(first), _held_zone(first)
        of_events, of_cases = self._keys()
        self._of_events = XesColumns(of_events, [piece.event_parts for piece in first.pieces])
        self._of_cases = XesColumns(of_cases, [piece.case_parts for piece in first.pieces])

    def events(self, piece: Piece, before: int) -> pl.DataFrame:
        """The events of the next traces, `before` which so many stand."""
        place = _placer(piece, self._path, before)
        of_events = self._of_events.frame(piece.event_parts, len(piece.case_of_event), place)
        of_cases = self._of_cases.frame(piece.case_parts, piece.n_cases, lambda case: f"{self._path}, trace {before + case + 1}")
        columns = {}
        for name in self._rows.columns:
            if name == _TRACE:
                named = no_blank(_names(piece)).is_not_null().to_numpy()[piece.case_of_event]
                values = pl.Series(piece.case_of_event + before).set(pl.Series(~named), None)
            elif name == TIMESTAMP and self._by_iso:
                values = _times(piece, place, self._options, self._held_zone)
            elif name.startswith(CASE_PREFIX):
                values = of_cases[name.removeprefix(CASE_PREFIX)][piece.case_of_event]
            else:
                values = of_events[self._key_of[name]]
            columns[name] = values
        return self._rows.events(pl.DataFrame(columns), place)

    def finish(self) -> None:
        """All traces have come."""
        self._rows.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the traces so far."""
        return [*self._on_zone, *self._rows.notes()]

    def _keys(self) -> tuple[list[str], list[str]]:
        """The keys that are needed, of events and of traces."""
        names = [name for name in self._rows.columns if name != _TRACE and not (self._by_iso and name == TIMESTAMP)]
        of_cases = [name.removeprefix(CASE_PREFIX) for name in names if name.startswith(CASE_PREFIX)]
        return [self._key_of[name] for name in names if not name.startswith(CASE_PREFIX)], of_cases


def _on_zone(first: FirstTraces) -> list[str]:
    return [note for note in first.notes if note == NAIVE or isinstance(note, OpenChoice)]


def _held_zone(first: FirstTraces) -> bool | None:
    """Whether all times have to carry a zone, or none; None where some do and some do not, or the user does not mind."""
    mixed = first.options.zone == "utc" or any(isinstance(note, OpenChoice) for note in first.notes)
    return None if mixed else first.has_zone


def _placer(piece: Piece, path: Path, before: int) -> Callable[[int], str]:
    events = pl.DataFrame({CASE_INDEX: piece.case_of_event})
    return placer(events, pl.DataFrame({CASE_NAME: _names(piece)}), path, before)


def _names(piece: Piece) -> pl.Series:
    """What stands as the name of every trace, null where nothing does."""
    return _spread([part for part in piece.case_parts if part.key == CASE_NAME], piece.n_cases)


def _times(piece: Piece, place: Callable[[int], str], options: ReadOptions, has_zone: bool | None) -> pl.Series:
    """The time of every event; null where there is none, or none that can be read and such events are dropped.

    `has_zone` is whether all of them carry a zone, or none does; None where either will do.
    """
    parts = [part for part in piece.event_parts if part.key == TIMESTAMP]
    for part in parts:
        if part.type != "date" and len(part.owners):
            what = f'"{TIMESTAMP}" is declared as {part.type} here, and as date before'
            raise InputError(what, place=place(int(part.owners[0])), remedy="Declare it with one type throughout the file")
    text = _spread(parts, len(piece.case_of_event))
    read, naive = read_iso_dates(text)
    bad = read.is_null() & text.is_not_null()
    if bad.any() and not options.drop_invalid:
        row = int(bad.arg_true()[0])
        raise bad_time(text[row], place(row))
    if has_zone is not None and (naive or not has_zone):
        misfit = read.is_not_null() & (values_with_zone(text) != has_zone)
        if misfit.any():
            row = int(misfit.arg_true()[0])
            if options.zone is not None:
                raise zone_misfit(text[row], options.zone, place(row))
            carries, others = ("no", "those before it do") if has_zone else ("a", "those before it do not")
            what = f'timestamp "{text[row]}" carries {carries} time zone, and {others}'
            raise InputError(what, place=place(row), remedy="Write all times with their zone")
    return read


def _spread(parts: Sequence[Part], height: int) -> pl.Series:
    """The values of some parts, each at its owner; null where there is none."""
    values = [part.values for part in parts]
    together = pl.concat(values) if values else pl.Series([], dtype=pl.String)
    source = np.full(height, len(together), np.int64)
    for part, start in zip(parts, np.cumsum([0, *(len(part.owners) for part in parts)])[:-1], strict=True):
        source[part.owners] = np.arange(len(part.owners)) + start
    return together.extend_constant(None, 1)[source]
