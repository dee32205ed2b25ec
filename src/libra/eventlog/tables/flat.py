"""A flat table, one row an event, to an `EventLog`.

In: a frame under its source's column names, what the user said, and a function that says where a row came from. Out: a log whose
cases stand in order of first appearance with their events in table order. Every event without a usable case id, activity or
timestamp is an `InputError` that names its place, or left out with a note where the user wants that. No column disappears
without a note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from libra.errors import InputError
from libra.eventlog.alike_ids import alike_notes
from libra.eventlog.case_ids import told_apart
from libra.eventlog.columns import unnamed, without
from libra.eventlog.left_out import LeftOut
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import CASE_INDEX, CASE_NAME, CASE_PREFIX, EVENT_ROLES, ROLE_COLUMN
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.attributes import as_attributes, as_text
from libra.eventlog.tables.clock_times import read_clock_times
from libra.eventlog.tables.moments import has_zone
from libra.eventlog.tables.roles import FLAGS, REQUIRED, WORDS, find_roles, unused_clocks
from libra.eventlog.tables.timestamps import read_timestamps

Place = Callable[[int], str]
_ROW = "@row"
_FIRST_LETTER, _LAST_LETTER = "!", "~"  # of ASCII
_TIMES = ("timestamp", "start_timestamp")
_WIDE = (pl.UInt64, pl.Int128, pl.UInt128)  # what 64 bits and a sign may not hold


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

    Example:
        >>> table = pl.DataFrame(
        ...     {"Case ID": [7, 8, 7], "Activity": ["a", "a", "b"], "Time": ["2024-05-06", "2024-05-06", "2024-05-07"]}
        ... )
        >>> log = from_flat(table, ReadOptions(), place="row {}".format, source="table")
        >>> log.cases["concept:name"].to_list(), log.events["concept:name"].to_list()
        (['7', '8'], ['a', 'b', 'a'])
    """
    roles = find_roles(frame, options, source) if roles is None else roles
    columns = {role.role: role.columns for role in roles}
    said = list(notes)
    if not frame.height and not options.allow_empty:
        raise InputError("there are no events", place=source, remedy="Check that the export is complete")
    clocks = ", ".join(f'"{name}"' for name in unused_clocks(frame, roles, options))
    if clocks:
        said.append(
            f"The timestamps are dates only. If {clocks} holds times of day, join it with the dates in one column to use it."
        )
    playing, attributes = _columns_by_use(frame, columns, options, place, said)
    playing = _valid(playing, columns, options, place, source, said)
    index, order = _group(playing, [f"case_id{i}" for i in range(len(columns["case_id"]))])
    playing = playing if order.is_sorted() else playing[order]
    rows = playing[_ROW]
    if attributes.width and not (rows.len() == frame.height and order.is_sorted()):
        attributes = attributes[rows]
    firsts = (index.diff().fill_null(1) > 0).arg_true()

    ids = playing[firsts]
    whose = {columns["individual"][0]: ids["individual"]} if "individual" in columns else {}
    said.extend(alike_notes(whose, {name: ids[f"case_id{i}"] for i, name in enumerate(columns["case_id"])}))
    events = playing.select(ROLE_COLUMN[role] for role in columns if role in ROLE_COLUMN and role != "case_id")
    cases = pl.DataFrame({CASE_NAME: _case_ids(ids, len(columns["case_id"]), said)})
    split = _Split(index, firsts)
    individual = None
    if "individual" in columns:
        cases, individual = _with_individual(cases, split, columns, playing, lambda row: place(int(rows[row])))
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


def _columns_by_use(
    frame: pl.DataFrame, columns: dict[str, tuple[str, ...]], options: ReadOptions, place: Place, said: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns that play a role, under the names of the field, and all others as attributes."""
    playing = [pl.int_range(frame.height, eager=True).alias(_ROW)]
    for i, name in enumerate(columns["case_id"]):
        playing.append(label(frame[name], "case_id", place).alias(f"case_id{i}"))
    for role, names in columns.items():
        if role in _TIMES:
            beside = {columns[other][0]: frame[columns[other][0]] for other in _TIMES if other in columns and other != role}
            ours = options if role == "timestamp" or options.zone is None else replace(options, zone="utc")
            moments, more = read_timestamps(
                frame[names[0]], ours, column=names[0], place=place, optional=role not in REQUIRED, beside=beside
            )
            for clock in names[1:]:
                moments += read_clock_times(frame[clock], options, place=place)
                said.append(f'The times of day in "{clock}" were added to the dates in "{names[0]}".')
            playing.append(moments.alias(ROLE_COLUMN[role]))
            said.extend(more if role == "timestamp" else map(str, more))  # only the timestamp counts in a release
        elif role == "individual":
            playing.append(identity(frame[names[0]], place).alias("individual"))
        elif role != "case_id":
            parts = pl.DataFrame([label(frame[name], role, place).alias(str(i)) for i, name in enumerate(names)])
            playing.append(parts.select(pl.concat_str(pl.all(), separator="+").alias(ROLE_COLUMN[role])).to_series())
    used = {
        name for role, names in columns.items() if (len(names) == 1 and role != "individual") or role in _TIMES for name in names
    }
    taken = {ROLE_COLUMN[role] for role in columns if role in ROLE_COLUMN} - used
    pushed_out = [name for name in frame.columns if name in taken]
    if pushed_out:
        listed = ", ".join(f'"{name}"' for name in pushed_out)
        said.append(f"Another column plays the part of {listed}, which was left out.")
    attributes, more = as_attributes(without(frame, *used, *pushed_out))
    said.extend(more)
    return pl.DataFrame(playing), attributes


def label(values: pl.Series, role: str, place: Place) -> pl.Series:
    """A column as text; for the roles every event must have, blank text is missing.

    Example:
        >>> label(pl.Series([" ", "triage"]), "activity", str).to_list()
        [None, 'triage']
    """
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
    """A column that says whose case it is: whole numbers as they are, else text. Different values stay different.

    Example:
        >>> from decimal import Decimal
        >>> identity(pl.Series([Decimal(10**17), Decimal(10**17 + 1)]), str).n_unique()
        2
    """
    if isinstance(values.dtype, pl.Duration):
        return unnamed(values).to_physical()
    if values.dtype.is_integer() and values.dtype not in _WIDE:
        return unnamed(values).cast(pl.Int64)
    return label(values, "individual", place)


def _valid(
    playing: pl.DataFrame,
    columns: dict[str, tuple[str, ...]],
    options: ReadOptions,
    place: Place,
    source: str,
    said: list[str],
) -> pl.DataFrame:
    """Only events with a case id, an activity and a timestamp."""
    usable = pl.repeat(True, playing.height, eager=True)
    for role in REQUIRED:
        parts = [f"case_id{i}" for i in range(len(columns[role]))] if role == "case_id" else [ROLE_COLUMN[role]]
        lacking = playing.select(pl.any_horizontal(pl.col(parts).is_null())).to_series()
        if not lacking.any():
            continue
        word = WORDS.get(role, role)
        if not options.drop_invalid:
            remedy = "Fill it in, or drop such events with --drop-invalid"
            raise InputError(f"no {word}", place=place(int(lacking.arg_true()[0])), remedy=remedy)
        usable &= ~lacking
        said.append(LeftOut(f"Some events without a usable {word} were left out.", most=2 * usable.sum() < playing.height))
    if not usable.any() and not options.allow_empty:
        remedy = f"Check the columns named with {', '.join(FLAGS[role] for role in REQUIRED)}"
        raise InputError("no event has a case id, an activity and a timestamp that can be used", place=source, remedy=remedy)
    return playing if usable.all() else playing.filter(usable)


def _group(playing: pl.DataFrame, keys: list[str]) -> tuple[pl.Series, pl.Series]:
    """The case of every event in the new order (cases by first appearance), and the rows in that order."""
    rows = playing.select(*keys, pl.int_range(pl.len()).alias("position"))
    groups = rows.group_by(keys, maintain_order=True).agg("position")
    index = groups.select(pl.int_range(pl.len(), dtype=pl.UInt32).repeat_by(pl.col("position").list.len()).explode()).to_series()
    return index, groups["position"].explode()


def _case_ids(first_events: pl.DataFrame, parts: int, said: list[str]) -> pl.Series:
    """One id a case; different combinations that join to the same id are told apart by a number."""
    ids = first_events.select(pl.concat_str([f"case_id{i}" for i in range(parts)], separator="+")).to_series()
    if ids.is_unique().all():
        return ids
    said.append("Some case ids became equal when their columns were joined; they are told apart by a number, such as (2).")
    return told_apart(ids)


def _with_individual(
    cases: pl.DataFrame, split: _Split, columns: dict[str, tuple[str, ...]], playing: pl.DataFrame, place: Place
) -> tuple[pl.DataFrame, str]:
    """The cases with the column that says whose they are, and its name there."""
    source = columns["individual"][0]
    if (source,) == columns["case_id"]:
        return cases, CASE_NAME
    whose = playing["individual"]
    remedy = f"Choose a column with one value for all events of a case for {FLAGS['individual']}"
    for wrong, what in ((whose.is_null(), f'no value in "{source}"'), (split.varies(whose), f'"{source}" changes within a case')):
        if wrong.any():
            raise InputError(what, place=place(int(wrong.arg_true()[0])), remedy=remedy)
    name = source.removeprefix(CASE_PREFIX) or source
    name = f"individual:{name}" if name == CASE_NAME else name
    return cases.with_columns(whose[split.firsts].alias(name)), name
