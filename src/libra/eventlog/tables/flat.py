"""A flat table, one row an event, to an `EventLog`: at once (`from_flat`), or row by row for batches (`TableRows`).

Every event without a usable case id, activity or timestamp is an `InputError` that names its place, or left out with a note where
the user wants that. No column disappears without a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import time

import polars as pl

from libra.errors import InputError
from libra.eventlog.attributes import changes_within, checked_columns, plain_values
from libra.eventlog.ids import alike_notes, told_apart
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import (
    CASE_ID,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    EVENT_ROLES,
    INSTANCE,
    ROLE_COLUMN,
    START_TIMESTAMP,
    unnamed,
    without,
)
from libra.eventlog.notes import LeftOut, listed, starts_are_open, zones_differ
from libra.eventlog.options import InstanceMode, Place, ReadOptions
from libra.eventlog.pairing import decided_by_values, detected, is_sure, lifecycle_of
from libra.eventlog.tables.dates import read_clock_times
from libra.eventlog.tables.roles import FLAGS, REQUIRED, WORDS, find_roles, unused_clocks
from libra.eventlog.tables.timestamps import has_zone, quoted, read_timestamps, stripped
from libra.eventlog.tables.values import as_attributes, as_text

_FIRST_LETTER, _LAST_LETTER = "!", "~"  # of ASCII
_TIMES = ("timestamp", "start_timestamp")
_WIDE = (pl.UInt64, pl.Int128, pl.UInt128)  # what 64 bits and a sign may not hold
Columns = Mapping[str, tuple[str, ...]]
"""The columns that play each role."""
ReadTimes = Callable[[pl.DataFrame, Place], pl.Series]
ONE_VALUE = f"Choose a column with one value for all events of a case for {FLAGS['individual']}"


class TableRows:
    """The rows of a table on their way to events: what each says depends on that row and on `read_times` alone."""

    def __init__(self, columns: Columns, options: ReadOptions, source: str, read_times: ReadTimes) -> None:
        self._columns, self._options, self._source, self._read_times = columns, options, source, read_times
        self._seen = self._unusable = 0
        self._lacking: dict[str, None] = {}

    def required(self, frame: pl.DataFrame, place: Place) -> dict[str, pl.Series]:
        """What every event must have, null where it has not.

        Equal values of "case_id" are one case: whole numbers, or text in which lengths keep joined columns apart.
        """
        first, *more = self._columns["case_id"]
        if not more and frame[first].dtype.is_integer():
            case = unnamed(frame[first])
        else:
            ids = [label(frame[name], "case_id", place).alias(str(i)) for i, name in enumerate((first, *more))]
            lengths = [pl.format("{}:{}", pl.col(part.name).str.len_bytes(), part.name) for part in ids]
            case = pl.DataFrame(ids).select(pl.concat_str(lengths)).to_series() if more else ids[0]
        activity = self.joined(frame, "activity", place)
        return {"case_id": case, "activity": activity, "timestamp": unnamed(self._read_times(frame, place))}

    def usable(self, required: Mapping[str, pl.Series], place: Place) -> pl.Series | None:
        """Which events have all they must have, None where all have; others are an error, or counted where they are dropped."""
        usable = None
        for role, values in required.items():
            if not values.null_count():
                continue
            word = WORDS.get(role, role)
            if not self._options.drop_invalid:
                remedy = "Fill it in, or drop such events with --drop-invalid"
                raise InputError(f"no {word}", place=place(int(values.is_null().arg_true()[0])), remedy=remedy)
            self._lacking[word] = None
            usable = values.is_not_null() if usable is None else usable & values.is_not_null()
        self._seen += required["case_id"].len()
        self._unusable += 0 if usable is None else int((~usable).sum())
        return usable

    def individual(self, frame: pl.DataFrame, usable: pl.Series | None, place: Place) -> pl.Series:
        """Whose case each event belongs to; an error where a usable event does not say it."""
        values = frame[self._columns["individual"][0]]
        whose = identity(values, place)
        lacking = whose.is_null() if usable is None else whose.is_null() & usable
        if lacking.any():
            raise InputError(f'no value in "{values.name}"', place=place(int(lacking.arg_true()[0])), remedy=ONE_VALUE)
        return whose

    def joined(self, frame: pl.DataFrame, role: str, place: Place) -> pl.Series:
        """The labels of a role; those of several columns are joined by +."""
        parts = [label(frame[name], role, place).alias(str(i)) for i, name in enumerate(self._columns[role])]
        return parts[0] if len(parts) == 1 else pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator="+")).to_series()

    def finish(self) -> None:
        """All rows have come: there must be events among them, unless none will do."""
        if self._options.allow_empty:
            return
        if not self._seen:
            raise InputError("there are no events", place=self._source, remedy="Check that the export is complete")
        if self._unusable == self._seen:
            remedy = f"Check the columns named with {', '.join(FLAGS[role] for role in REQUIRED)}"
            what = "no event has a case id, an activity and a timestamp that can be used"
            raise InputError(what, place=self._source, remedy=remedy)

    def notes(self) -> list[str]:
        """What was left out so far."""
        most = 2 * self._unusable > self._seen
        return [LeftOut(f"Some events without a usable {word} were left out.", most=most) for word in self._lacking]


def label(values: pl.Series, role: str, place: Place) -> pl.Series:
    """A column as text; for the roles every event must have, blank text is missing."""
    try:
        text = None if values.dtype.is_nested() else as_text(values)
    except pl.exceptions.PolarsError:
        text = None
    if text is None:
        what = f'"{values.name}" is of the type {values.dtype} and holds no text to serve as {WORDS.get(role, role)}'
        remedy = f"Name another column with {FLAGS[role]}" if role in FLAGS else "Write it as text, or leave it out"
        raise InputError(what, place=place(0), remedy=remedy)
    if role not in REQUIRED or not ((text < _FIRST_LETTER) | (text > _LAST_LETTER)).any():  # then none begins with white space
        return text
    return text.set(text.str.strip_chars() == "", None)


def identity(values: pl.Series, place: Place) -> pl.Series:
    """A column that says whose case it is: whole numbers as they are, else text. Different values stay different."""
    if isinstance(values.dtype, pl.Duration):
        return unnamed(values).to_physical()
    if values.dtype.is_integer() and values.dtype not in _WIDE:
        return unnamed(values).cast(pl.Int64)
    return label(values, "individual", place)


def deciding(frame: pl.DataFrame, columns: Columns, options: ReadOptions) -> pl.DataFrame:
    """The rows that may decide if there are activity instances: without those that are dropped, and no start that is none."""
    starts = [name for name in (*columns.get("start_timestamp", ()), START_TIMESTAMP) if name in frame.columns]
    texts = [name for name in dict.fromkeys(starts) if frame[name].dtype == pl.String]
    frame = frame.with_columns(stripped(frame[name], name, str).alias(name) for name in texts)
    if not options.drop_invalid:
        return frame
    rows = TableRows(columns, options, "", lambda frame, place: _moments(frame, columns, options, place, []))
    with suppress(InputError):  # what is wrong is told where it is read
        if "start_timestamp" in columns:
            frame = frame.with_columns(_starts(frame, columns, options, str, [], count=True).alias(starts[0]))
        usable = rows.usable(rows.required(frame, str), str)
        return frame if usable is None else frame.filter(usable)
    return frame


def decided(frame: pl.DataFrame, roles: Sequence[FoundRole], options: ReadOptions) -> tuple[InstanceMode | None, str]:
    """What becomes of the rows of a flat table, and the note where its content says so rather than the user."""
    columns, lifecycle = {role.role: role.columns for role in roles}, lifecycle_of(roles)
    if options.instances is not None or options.described or not (lifecycle or "start_timestamp" in columns):
        return options.instances, ""
    frame = deciding(frame, columns, options)
    transition = None if lifecycle is None else as_text(frame[lifecycle])
    if options.lifecycle_keep and transition is not None:
        wanted = [name.strip().lower() for name in options.lifecycle_keep]
        kept = transition.str.to_lowercase().is_in(wanted).fill_null(False)
        frame, transition = frame.filter(kept), transition.filter(kept)
    case = [frame[name] for name in columns.get("case_id", (CASE_ID,)) if name in frame.columns]
    whose = [frame[name] for name in columns.get("individual", ())] or case
    start = frame[columns["start_timestamp"][0]] if "start_timestamp" in columns else None
    note = detected(case, whose, start, transition, start_is_sure=is_sure(roles))
    return "pair" if note else None, note


def from_flat(
    frame: pl.DataFrame, options: ReadOptions, *, place: Place, source: str, roles: Sequence[FoundRole] | None = None,
    metadata: LogMetadata | None = None, notes: Sequence[str] = (),
) -> EventLog:  # fmt: skip
    """Make a flat table a log; the roles of its columns are found unless they are given.

    Cases stand in order of first appearance, their events in the order of the table.
    """
    roles = find_roles(frame, options, source) if roles is None else roles
    said = list(notes)
    columns = {role.role: role.columns for role in roles}
    starts = columns.get("start_timestamp", ())
    paired = decided(frame, roles, options)[0] == "pair"
    starts_count = bool(starts) and paired
    if paired and lifecycle_of(roles) and INSTANCE in frame.columns and (INSTANCE,) not in columns.values():
        frame = frame.with_columns(label(frame[INSTANCE], "instance", place).alias(INSTANCE))
    rows = TableRows(columns, options, source, lambda frame, place: _moments(frame, columns, options, place, said))
    if not frame.height:
        rows.finish()
    clocks = listed(unused_clocks(frame, roles, options))
    if clocks:
        joining = f"If {clocks} holds times of day, join it with the dates in one column to use it."
        said.append(f"The timestamps are dates only. {joining}")
    required = rows.required(frame, place)
    playing = {ROLE_COLUMN[role]: values for role, values in required.items() if role != "case_id"}
    for role in columns:
        if role == "start_timestamp":
            playing[ROLE_COLUMN[role]] = _starts(frame, columns, options, place, said, count=starts_count)
        elif role in ROLE_COLUMN and role not in required:
            playing[ROLE_COLUMN[role]] = rows.joined(frame, role, place)
    attributes = _attributes(frame, columns, said)
    usable = rows.usable(required, place)
    said.extend(rows.notes())
    rows.finish()

    # The usable rows grouped by case (cases by first appearance), the number of each row's case, and which are the first.
    numbered = pl.DataFrame({"case": required["case_id"]}).with_row_index("row")
    groups = (numbered if usable is None else numbered.filter(usable)).group_by("case", maintain_order=True).agg("row")
    index = groups.select(pl.int_range(pl.len(), dtype=pl.UInt32).repeat_by(pl.col("row").list.len()).explode()).to_series()
    position, firsts = groups["row"].explode(), (index.diff().fill_null(1) > 0).arg_true()

    def varies(values: pl.Series) -> pl.Series:
        """For every row whether its value differs from that of the case's first row."""
        values = unnamed(values)
        return values.ne_missing(values[firsts][index])

    events = pl.DataFrame([values.alias(name) for name, values in playing.items()])
    if position.len() != frame.height or not position.is_sorted():
        events, attributes = events[position], attributes[position] if attributes.width else attributes
    ids = {name: label(frame[name][position[firsts]], "case_id", place) for name in columns["case_id"]}
    whose = rows.individual(frame, usable, place)[position] if "individual" in columns else None
    said.extend(alike_notes({} if whose is None else {columns["individual"][0]: whose[firsts]}, ids))
    named = pl.DataFrame([part.alias(str(i)) for i, part in enumerate(ids.values())])
    joined = named.select(pl.concat_str(pl.all(), separator="+")).to_series()
    if not joined.is_unique().all():  # different combinations that join to the same id
        joined = told_apart(joined)
        said.append("Some case ids became equal when their columns were joined; they are told apart by a number, such as (2).")
    cases, individual = pl.DataFrame({CASE_NAME: joined}), None
    if whose is not None:  # it is an attribute of the case under the name that it has there, or the case id itself
        source_of, individual = columns["individual"][0], CASE_NAME
        if columns["individual"] != columns["case_id"]:
            bare = source_of.removeprefix(CASE_PREFIX) or source_of
            individual = f"individual:{bare}" if bare == CASE_NAME else bare
            if (changes := varies(whose)).any():
                row = int(position[int(changes.arg_true()[0])])
                raise InputError(f'"{source_of}" changes within a case', place=place(row), remedy=ONE_VALUE)
            cases = cases.with_columns(whose[firsts].alias(individual))
        attributes = without(attributes, source_of, CASE_PREFIX + individual)

    # Of the case is what says so in its name and is the same throughout each case.
    reserved = {CASE_INDEX, *EVENT_ROLES}
    places = (lambda row: place(int(position[row]))), (lambda row: place(int(position[firsts[row]])))
    taken, declared = {*reserved, *attributes.columns}, {one.name: one for one in options.attributes}
    of_events = {one.name for one in options.attributes if one.level == "event"}
    for values in attributes:
        name, bare = values.name, values.name.removeprefix(CASE_PREFIX)
        if name in declared and declared[name].in_cases and bare not in cases.columns:
            if (changes := varies(plain_values(values, declared[name], places[0]))).any():
                raise changes_within(declared[name], places[0](int(changes.arg_true()[0])))
            cases = cases.with_columns(values[firsts].alias(bare))
            continue
        if bare == name or not bare:
            kept = _free_name(name, taken) if name in reserved else name
            if kept != name:
                said.append(f'The column "{name}" is kept as "{kept}".')
        elif bare not in cases.columns and bare not in of_events and not varies(values).any():
            cases = cases.with_columns(values[firsts].alias(bare))
            continue
        else:
            kept = _free_name(bare, taken) if bare in taken or bare == INSTANCE else bare  # by which no other case is paired
            said.append(f'"{name}" differs within some cases and is kept as the event attribute "{kept}".')
            taken.add(kept)
        events = events.with_columns(values.alias(kept))
    events, cases = checked_columns(events, cases, options.attributes, source, places)
    events, zoned = events.insert_column(0, index.alias(CASE_INDEX)), has_zone(said, options, columns["timestamp"][0])
    if starts and decided_by_values(frame[starts[0]], roles, options):
        said.append(starts_are_open(starts[0]))
    if starts_count and frame[starts[0]].null_count() < frame.height:
        said += zones_apart(starts[0], has_zone(said, options, starts[0]), columns["timestamp"][0], zoned)
    found = tuple(roles), tuple(said), individual, zoned
    return EventLog(events, cases, metadata or LogMetadata(), *found, declared=options.attributes)


def _moments(frame: pl.DataFrame, columns: Columns, options: ReadOptions, place: Place, said: list[str]) -> pl.Series:
    """The times of all events, with those of day from another column where they stand there; notes go to `said`."""
    name, *clocks = columns["timestamp"]
    moments, more = read_timestamps(frame[name], options, name, place, _beside(frame, columns, "start_timestamp"))
    moments = with_clocks(moments, frame, columns["timestamp"], options, place)
    said.extend(clock_note(clock, name) for clock in clocks)
    said.extend(more)
    return moments


def _starts(
    frame: pl.DataFrame, columns: Columns, options: ReadOptions, place: Place, said: list[str], *, count: bool
) -> pl.Series:
    """When events started; only where starts count, what is open about them is, and the zone that the user names is theirs."""
    (name,) = columns["start_timestamp"]
    ours = options if count or options.zone is None else replace(options, zone="utc")
    moments, more = read_timestamps(frame[name], ours, name, place, _beside(frame, columns, "timestamp"), optional=True)
    said.extend(more if count else map(str, more))
    return moments


def _beside(frame: pl.DataFrame, columns: Columns, role: str) -> dict[str, pl.Series]:
    """The other column of times, which may show how one is written."""
    return {name: frame[name] for name in columns.get(role, ())[:1]}


def zones_apart(start: str, start_has_zone: bool, end: str, end_has_zone: bool) -> list[str]:
    """What is open where only one of two columns of times carries a zone."""
    return [] if start_has_zone == end_has_zone else [zones_differ(start, end, start_has_zone=start_has_zone)]


def with_clocks(moments: pl.Series, frame: pl.DataFrame, columns: Sequence[str], options: ReadOptions, place: Place) -> pl.Series:
    """Dates, with the times of day from the columns after the first; a date that tells a time of day itself is an error."""
    when, *clocks = columns
    if clocks and not (at_midnight := (unnamed(moments).dt.time() == time()).fill_null(True)).all():
        row = int((~at_midnight).arg_true()[0])
        what = f'timestamp {quoted(frame[when][row])} tells a time of day, and the others have theirs from "{clocks[0]}"'
        raise InputError(what, place=place(row), remedy="Name the column to use with --timestamp")
    for clock in clocks:
        moments += read_clock_times(frame[clock], options, place=place)
    return moments


def clock_note(clock: str, date: str) -> str:
    """What is said where dates have their times of day from another column."""
    return f'The times of day in "{clock}" were added to the dates in "{date}".'


def _attributes(frame: pl.DataFrame, columns: Columns, said: list[str]) -> pl.DataFrame:
    """The columns that play no role, or are joined with others, in the types of an event log."""
    alone = (role for role, names in columns.items() if (len(names) == 1 and role != "individual") or role in _TIMES)
    used = {name for role in alone for name in columns[role]}
    taken = {ROLE_COLUMN[role] for role in columns if role in ROLE_COLUMN} - used
    pushed_out = [name for name in frame.columns if name in taken]
    if pushed_out:
        said += [f'Column "{name}" was ignored because another column is used for its role.' for name in pushed_out]
    attributes, more = as_attributes(without(frame, *used, *pushed_out))
    said.extend(more)
    return attributes


def _free_name(name: str, taken: set[str]) -> str:
    name = f"event:{name}"
    return _free_name(name, taken) if name in taken else name
