"""A flat table, one row an event, to an `EventLog`.

`TableRows` reads case id, activity, time and individual of rows, all at once (`from_flat`) or in batches (`in_batches`). Every
event without a usable case id, activity or timestamp is an `InputError` that names its place, or left out with a note where the
user wants that. No column disappears without a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time

import polars as pl

from libra.errors import InputError
from libra.eventlog.ids import alike_notes, told_apart
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import CASE_INDEX, CASE_NAME, CASE_PREFIX, EVENT_ROLES, ROLE_COLUMN, unnamed, without
from libra.eventlog.notes import LeftOut, listed
from libra.eventlog.options import Place, ReadOptions
from libra.eventlog.tables.dates import read_clock_times
from libra.eventlog.tables.roles import FLAGS, REQUIRED, WORDS, find_roles, unused_clocks
from libra.eventlog.tables.timestamps import has_zone, quoted, read_timestamps
from libra.eventlog.tables.values import as_attributes, as_text

_FIRST_LETTER, _LAST_LETTER = "!", "~"  # of ASCII
_TIMES = ("timestamp", "start_timestamp")
_WIDE = (pl.UInt64, pl.Int128, pl.UInt128)  # what 64 bits and a sign may not hold


class TableRows:
    """The rows of a table on their way to events: what each says depends on that row and on `read_times` alone."""

    def __init__(
        self,
        columns: Mapping[str, tuple[str, ...]],
        options: ReadOptions,
        source: str,
        read_times: Callable[[pl.DataFrame, Place], pl.Series],
    ) -> None:
        self._columns, self._options, self._source, self._read_times = columns, options, source, read_times
        self._seen = self._unusable = 0
        self._lacking: list[str] = []

    def required(self, frame: pl.DataFrame, place: Place) -> dict[str, pl.Series]:
        """What every event must have, null where it has not. Equal values of "case_id" are one case: whole numbers, or text."""
        return {
            "case_id": self._case(frame, place),
            "activity": self.joined(frame, "activity", place),
            "timestamp": unnamed(self._read_times(frame, place)),
        }

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
            if word not in self._lacking:
                self._lacking.append(word)
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
            raise InputError(f'no value in "{values.name}"', place=place(int(lacking.arg_true()[0])), remedy=_one_value())
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

    @property
    def any_used(self) -> bool:
        """Whether an event was usable so far."""
        return self._unusable < self._seen

    def notes(self) -> list[str]:
        """What was left out so far."""
        most = 2 * self._unusable > self._seen
        return [LeftOut(f"Some events without a usable {word} were left out.", most=most) for word in self._lacking]

    def _case(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        """A value for each case: as it is where it is a whole number, else text; lengths keep joined columns apart."""
        names = self._columns["case_id"]
        if len(names) == 1 and frame[names[0]].dtype.is_integer():
            return unnamed(frame[names[0]])
        parts = [label(frame[name], "case_id", place).alias(str(i)) for i, name in enumerate(names)]
        if len(parts) == 1:
            return parts[0]
        lengths = [pl.format("{}:{}", pl.col(str(i)).str.len_bytes(), pl.col(str(i))) for i in range(len(parts))]
        return pl.DataFrame(parts).select(pl.concat_str(lengths)).to_series()


def label(values: pl.Series, role: str, place: Place) -> pl.Series:
    """A column as text; for the roles every event must have, blank text is missing."""
    what = f'"{values.name}" is of the type {values.dtype} and holds no text to serve as {WORDS.get(role, role)}'
    remedy = f"Name another column with {FLAGS[role]}"
    if values.dtype.is_nested():
        raise InputError(what, place=place(0), remedy=remedy)
    try:
        text = as_text(values)
    except pl.exceptions.PolarsError as error:
        raise InputError(what, place=place(0), remedy=remedy) from error
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


def _one_value() -> str:
    return f"Choose a column with one value for all events of a case for {FLAGS['individual']}"


def from_flat(
    frame: pl.DataFrame,
    options: ReadOptions,
    *,
    place: Place,
    source: str,
    roles: Sequence[FoundRole] | None = None,
    metadata: LogMetadata | None = None,
    notes: Sequence[str] = (),
) -> EventLog:
    """Make a flat table a log; the roles of its columns are found unless they are given.

    Cases stand in order of first appearance, their events in the order of the table.

    Example:
        >>> table = pl.DataFrame(
        ...     {"Case ID": [7, 8, 7], "Activity": ["a", "a", "b"], "Time": ["2024-05-06", "2024-05-06", "2024-05-07"]}
        ... )
        >>> log = from_flat(table, ReadOptions(), place="row {}".format, source="table")
        >>> log.cases["concept:name"].to_list(), log.events["concept:name"].to_list()
        (['7', '8'], ['a', 'b', 'a'])
    """
    roles = find_roles(frame, options, source) if roles is None else roles
    said = list(notes)
    columns = {role.role: role.columns for role in roles}
    rows = TableRows(columns, options, source, lambda frame, place: _moments(frame, "timestamp", columns, options, place, said))
    if not frame.height:
        rows.finish()
    clocks = listed(unused_clocks(frame, roles, options))
    if clocks:
        said.append(
            f"The timestamps are dates only. If {clocks} holds times of day, join it with the dates in one column to use it."
        )
    required = rows.required(frame, place)
    playing = {ROLE_COLUMN[role]: values for role, values in required.items() if role != "case_id"}
    for role in columns:
        if role == "start_timestamp":
            playing[ROLE_COLUMN[role]] = _moments(frame, role, columns, options, place, said)
        elif role in ROLE_COLUMN and role not in required:
            playing[ROLE_COLUMN[role]] = rows.joined(frame, role, place)
    attributes = _attributes(frame, columns, said)
    usable = rows.usable(required, place)
    said.extend(rows.notes())
    rows.finish()

    position, index, firsts = _grouped(required["case_id"], usable)
    in_order = position.len() == frame.height and position.is_sorted()
    events = pl.DataFrame([values.alias(name) for name, values in playing.items()])
    if not in_order:
        events, attributes = events[position], attributes[position] if attributes.width else attributes
    split = _Split(index, firsts)
    first_rows = position[firsts]
    ids = [label(frame[name][first_rows], "case_id", place) for name in columns["case_id"]]
    whose = rows.individual(frame, usable, place)[position] if "individual" in columns else None
    whose_ids = {} if whose is None else {columns["individual"][0]: whose[firsts]}
    said.extend(alike_notes(whose_ids, dict(zip(columns["case_id"], ids, strict=True))))
    cases, individual = pl.DataFrame({CASE_NAME: _case_ids(ids, said)}), None
    if whose is not None:
        individual = _name_of_individual(columns)
        if individual != CASE_NAME:
            if (changes := split.varies(whose)).any():
                what = f'"{columns["individual"][0]}" changes within a case'
                raise InputError(what, place=place(int(position[int(changes.arg_true()[0])])), remedy=_one_value())
            cases = cases.with_columns(whose[firsts].alias(individual))
        attributes = without(attributes, columns["individual"][0], CASE_PREFIX + individual)
    events, cases = _with_attributes(events, cases, attributes, split, said)
    return EventLog(
        events.insert_column(0, index.alias(CASE_INDEX)),
        cases,
        metadata or LogMetadata(),
        tuple(roles),
        tuple(said),
        individual,
        has_zone=has_zone(said, options, columns["timestamp"][0]),
    )


@dataclass(frozen=True)
class _Split:
    """Where the cases are in a frame grouped by case."""

    index: pl.Series
    firsts: pl.Series

    def varies(self, values: pl.Series) -> pl.Series:
        """For every row whether its value differs from that of the case's first row."""
        values = unnamed(values)
        return values.ne_missing(values[self.firsts][self.index])


def _grouped(case: pl.Series, usable: pl.Series | None) -> tuple[pl.Series, pl.Series, pl.Series]:
    """The usable rows grouped by case (cases by first appearance), the number of each row's case, and which are the first."""
    rows = pl.DataFrame({"case": case}).with_row_index("row")
    groups = (rows if usable is None else rows.filter(usable)).group_by("case", maintain_order=True).agg("row")
    index = groups.select(pl.int_range(pl.len(), dtype=pl.UInt32).repeat_by(pl.col("row").list.len()).explode()).to_series()
    return groups["row"].explode(), index, (index.diff().fill_null(1) > 0).arg_true()


def _moments(
    frame: pl.DataFrame, role: str, columns: Mapping[str, tuple[str, ...]], options: ReadOptions, place: Place, said: list[str]
) -> pl.Series:
    """The times of a whole column, with those of day from another one where they stand there; notes go to `said`."""
    name, *clocks = columns[role]
    beside = {columns[other][0]: frame[columns[other][0]] for other in _TIMES if other in columns and other != role}
    ours = options if role == "timestamp" or options.zone is None else replace(options, zone="utc")
    optional = role not in REQUIRED
    moments, more = read_timestamps(frame[name], ours, column=name, place=place, optional=optional, beside=beside)
    moments = with_clocks(moments, frame, columns[role], options, place)
    said.extend(clock_note(clock, name) for clock in clocks)
    said.extend(map(str, more) if optional else more)  # only the timestamp counts in a release
    return moments


def with_clocks(moments: pl.Series, frame: pl.DataFrame, columns: Sequence[str], options: ReadOptions, place: Place) -> pl.Series:
    """Dates, with the times of day from the columns after the first; a date that tells a time of day itself is an error."""
    when, *clocks = columns
    if clocks and not (at_midnight := (unnamed(moments).dt.time() == time()).fill_null(True)).all():
        row = int((~at_midnight).arg_true()[0])
        raise InputError(
            f'timestamp {quoted(frame[when][row])} tells a time of day, and the others have theirs from "{clocks[0]}"',
            place=place(row),
            remedy="Name the column to use with --timestamp",
        )
    for clock in clocks:
        moments += read_clock_times(frame[clock], options, place=place)
    return moments


def clock_note(clock: str, date: str) -> str:
    """What is said where dates have their times of day from another column."""
    return f'The times of day in "{clock}" were added to the dates in "{date}".'


def _attributes(frame: pl.DataFrame, columns: Mapping[str, tuple[str, ...]], said: list[str]) -> pl.DataFrame:
    """The columns that play no role, or are joined with others, in the types of an event log."""
    used = {
        name for role, names in columns.items() if (len(names) == 1 and role != "individual") or role in _TIMES for name in names
    }
    taken = {ROLE_COLUMN[role] for role in columns if role in ROLE_COLUMN} - used
    pushed_out = [name for name in frame.columns if name in taken]
    if pushed_out:
        said.append(f"Another column plays the part of {listed(pushed_out)}, which was left out.")
    attributes, more = as_attributes(without(frame, *used, *pushed_out))
    said.extend(more)
    return attributes


def _with_attributes(
    events: pl.DataFrame, cases: pl.DataFrame, attributes: pl.DataFrame, split: _Split, said: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Events and cases with their attributes: of the case is what says so in its name and is the same throughout each case."""
    taken = {CASE_INDEX, *EVENT_ROLES, *attributes.columns}
    for values in attributes:
        bare = values.name.removeprefix(CASE_PREFIX)
        if bare == values.name or not bare:
            kept = values.name if values.name not in (CASE_INDEX, *EVENT_ROLES) else _free_name(values.name, taken)
            if kept != values.name:
                said.append(f'The column "{values.name}" is kept as "{kept}".')
            events = events.with_columns(values.alias(kept))
        elif bare not in cases.columns and not split.varies(values).any():
            cases = cases.with_columns(values[split.firsts].alias(bare))
        else:
            kept = bare if bare not in taken else _free_name(bare, taken)
            said.append(f'"{values.name}" differs within some cases and is kept as the event attribute "{kept}".')
            events = events.with_columns(values.alias(kept))
            taken.add(kept)
    return events, cases


def _free_name(name: str, taken: set[str]) -> str:
    name = f"event:{name}"
    return _free_name(name, taken) if name in taken else name


def _case_ids(parts: Sequence[pl.Series], said: list[str]) -> pl.Series:
    """One id a case; different combinations that join to the same id are told apart by a number."""
    named = pl.DataFrame([part.alias(str(i)) for i, part in enumerate(parts)])
    ids = named.select(pl.concat_str(pl.all(), separator="+")).to_series()
    if ids.is_unique().all():
        return ids
    said.append("Some case ids became equal when their columns were joined; they are told apart by a number, such as (2).")
    return told_apart(ids)


def _name_of_individual(columns: Mapping[str, tuple[str, ...]]) -> str:
    """What the column of the cases is called that says whose they are."""
    source = columns["individual"][0]
    if (source,) == columns["case_id"]:
        return CASE_NAME
    name = source.removeprefix(CASE_PREFIX) or source
    return f"individual:{name}" if name == CASE_NAME else name
