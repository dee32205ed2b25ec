"""A flat table, one row an event, to an `EventLog`, or in batches to events.

Every event without a usable case id, activity or timestamp is an `InputError` that names its place, or left out with a note where
the user wants that. In batches, what is decided in memory from a whole column is decided from a sample and held: a row that does
not fit it is an `InputError`. No column disappears without a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import time

import polars as pl

from libra.errors import InputError
from libra.eventlog.ids import alike_notes, told_apart
from libra.eventlog.in_parts import EventBatches
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import CASE_INDEX, CASE_NAME, CASE_PREFIX, EVENT_ROLES, ROLE_COLUMN, unnamed, without
from libra.eventlog.notes import LeftOut
from libra.eventlog.options import ReadOptions
from libra.eventlog.select import Transitions
from libra.eventlog.tables.dates import read_clock_times
from libra.eventlog.tables.roles import DESCRIBED, FLAGS, REQUIRED, WORDS, find_roles, unused_clocks
from libra.eventlog.tables.times_in_batches import Times
from libra.eventlog.tables.timestamps import has_zone, quoted, read_timestamps
from libra.eventlog.tables.values import as_attributes, as_text

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


_ONE_VALUE = f"Choose a column with one value for all events of a case for {FLAGS['individual']}"
_MARKED = "^[\0\1]"  # begins like those that `own_where_none` makes up, which no name may be taken for


def whose_events(values: pl.Series, usable: pl.Series | None, place: Callable[[int], str], *, may_lack: bool) -> pl.Series:
    """The individual of every event: whole numbers as they are, else text, null where it says nothing.

    Only what `may_lack` it may be missing in an event that is `usable`.

    Example:
        >>> whose_events(pl.Series(["ann", " "]), None, str, may_lack=False).to_list()
        ['ann', None]
    """
    whose = identity(values, place)
    if whose.null_count() and not may_lack:
        lacking = whose.is_null() if usable is None else whose.is_null() & usable
        if lacking.any():
            raise InputError(f'no value in "{values.name}"', place=place(int(lacking.arg_true()[0])), remedy=_ONE_VALUE)
    if whose.dtype.is_integer() and not may_lack:
        return whose.fill_null(0)  # only events that are left out
    text = whose.cast(pl.String)
    text = text.set((text.str.strip_chars() == "").fill_null(False), None)
    first = text.min()
    return text.str.replace(_MARKED, "\1$0") if isinstance(first, str) and first < "\2" else text


def own_where_none(whose: pl.Series, case: pl.Series) -> pl.Series:
    r"""The individuals, and for an event that does not say whose it is one that only its case has.

    Example:
        >>> own_where_none(pl.Series(["ann", None]), pl.Series(["x", "y"])).to_list()
        ['ann', '\x00y']
    """
    if not whose.null_count():
        return whose
    own = pl.DataFrame({"case": case}).select(pl.format("\0{}", "case")).to_series()
    return whose.cast(pl.String).zip_with(whose.is_not_null(), own)


class TableRows:
    """One way through the rows of a table.

    Example:
        >>> frame = pl.DataFrame({"case": ["x"], "activity": ["a"], "time": ["1970-01-01T00:00:01Z"]})
        >>> roles = [FoundRole(role, (name,), "") for role, name in zip(REQUIRED, frame.columns)]
        >>> TableRows(frame, roles, ReadOptions(), "a.csv", str).events(frame, str).rows()
        [('x', 'a', 1000000)]
    """

    def __init__(
        self,
        sample: pl.DataFrame,
        roles: Sequence[FoundRole],
        options: ReadOptions,
        source: str,
        place: Place,
        *,
        may_lack_individual: bool = False,
    ) -> None:
        self._by_role = {role.role: role.columns for role in roles}
        self._options, self._source = options, source
        self._individual = self._by_role.get("individual", ())
        self._may_lack_individual = may_lack_individual
        self._transitions = Transitions(options.lifecycle_keep, "lifecycle" in self._by_role, source)
        when = self._by_role["timestamp"][0]
        self._beside = next(iter(self._by_role.get("start_timestamp", ())), None) if _open_order(sample[when], options) else None
        if self._beside is not None and sample[self._beside].dtype != pl.String:
            self._beside = None
        beside = None if self._beside is None else (self._beside, sample[self._beside])
        self.times = Times(sample[when], beside, options, when, place=place)
        self._seen = self._used = False
        self._dropped: list[str] = []

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        roles = [*REQUIRED, "individual", *(["lifecycle"] if self._options.lifecycle_keep else [])]
        names = [name for role in roles for name in self._by_role.get(role, ())]
        return list(dict.fromkeys([*names, *([] if self._beside is None else [self._beside])]))

    @property
    def times_of(self) -> list[str]:
        """Those of them that hold times."""
        return [*self._by_role["timestamp"], *([] if self._beside is None else [self._beside])]

    def events(self, frame: pl.DataFrame, place: Place) -> pl.DataFrame:
        """The events of the next rows."""
        self._seen |= frame.height > 0
        playing = {
            "case": self._case(frame, place),
            "activity": self._joined(frame, "activity", place),
            "micros": self._moments(frame, place),
        }
        usable = self._usable(playing, place)
        playing["micros"] = playing["micros"].to_physical()
        if self._individual == self._by_role["case_id"]:
            playing["individual"] = playing["case"]
        elif self._individual:
            whose = whose_events(frame[self._individual[0]], usable, place, may_lack=self._may_lack_individual)
            playing["individual"] = own_where_none(whose, playing["case"])
        if self._options.lifecycle_keep:
            usable = self._transitions.keep(self._joined(frame, "lifecycle", place), usable)
        events = pl.DataFrame([values.alias(name) for name, values in playing.items()])
        return events if usable is None else events.filter(usable)

    def finish(self) -> None:
        """All rows have come: there must be events among them, unless none will do."""
        if not self._seen and not self._options.allow_empty:
            raise InputError("there are no events", place=self._source, remedy="Check that the export is complete")
        if not self._used and not self._options.allow_empty:
            remedy = f"Check the columns named with {', '.join(FLAGS[role] for role in REQUIRED)}"
            what = "no event has a case id, an activity and a timestamp that can be used"
            raise InputError(what, place=self._source, remedy=remedy)
        if self._used:
            self._transitions.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the rows so far."""
        when, *clocks = self._by_role["timestamp"]
        joined = [f'The times of day in "{clock}" were added to the dates in "{when}".' for clock in clocks]
        return [*joined, *self.times.notes(), *(f"Some events without a usable {word} were left out." for word in self._dropped)]

    def _case(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        """A value for each case: as it is where it is a whole number, else text; lengths keep joined columns apart."""
        names = self._by_role["case_id"]
        if len(names) == 1 and frame[names[0]].dtype.is_integer():
            return unnamed(frame[names[0]])
        parts = [label(frame[name], "case_id", place).alias(str(i)) for i, name in enumerate(names)]
        if len(parts) == 1:
            return parts[0]
        lengths = [pl.format("{}:{}", pl.col(str(i)).str.len_bytes(), pl.col(str(i))) for i in range(len(parts))]
        return pl.DataFrame(parts).select(pl.concat_str(lengths)).to_series()

    def _joined(self, frame: pl.DataFrame, role: str, place: Place) -> pl.Series:
        parts = [label(frame[name], role, place) for name in self._by_role[role]]
        if len(parts) == 1:
            return parts[0]
        named = pl.DataFrame([part.alias(str(i)) for i, part in enumerate(parts)])
        return named.select(pl.concat_str(pl.all(), separator="+")).to_series()

    def _moments(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        when, *clocks = self._by_role["timestamp"]
        moments = self.times.read(frame[when], None if self._beside is None else frame[self._beside], place)
        if clocks and not (at_midnight := (moments.dt.time() == time()).fill_null(True)).all():
            row = int((~at_midnight).arg_true()[0])
            raise InputError(
                f'timestamp {quoted(frame[when][row])} tells a time of day, and those before it had theirs from "{clocks[0]}"',
                place=place(row),
                remedy="Name the column to use with --timestamp",
            )
        for clock in clocks:
            moments += read_clock_times(frame[clock], self._options, place=place)
        return moments

    def _usable(self, playing: dict[str, pl.Series], place: Place) -> pl.Series | None:
        """Which events have all they must have; None where all have."""
        usable = None
        for role, values in zip(REQUIRED, playing.values(), strict=True):
            if not values.null_count():
                continue
            word = WORDS.get(role, role)
            if not self._options.drop_invalid:
                remedy = "Fill it in, or drop such events with --drop-invalid"
                raise InputError(f"no {word}", place=place(int(values.is_null().arg_true()[0])), remedy=remedy)
            if word not in self._dropped:
                self._dropped.append(word)
            usable = values.is_not_null() if usable is None else usable & values.is_not_null()
        self._used |= bool(usable.any()) if usable is not None else len(playing["case"]) > 0
        return usable


def _open_order(values: pl.Series, options: ReadOptions) -> bool:
    """Whether another column of times may have to show if day or month comes first."""
    settled = options.described or options.day_first is not None or options.timestamp_format or options.epoch_unit
    return values.dtype == pl.String and not settled


_SURE = ("named in the call", DESCRIBED, "its name is the XES standard's")


@dataclass(frozen=True)
class Table:
    """A table larger than memory.

    Attributes:
        source: What it is called in errors.
        sample: Some rows with all their columns: the roles and forms of columns are found in them.
        place: Where a row of the sample stands.
        rows: All rows in order, some at a time, with where a row stands; only these columns are needed.
        height: How many rows there are, or a guess.
        individual: The column that is known to say whose cases they are, unless the user names one.
        notes: What is worth knowing about how the rows are read; complete after the last ones.
    """

    source: str
    sample: pl.DataFrame
    place: Place
    rows: Callable[[Sequence[str]], Iterator[tuple[pl.DataFrame, Place]]]
    height: int
    individual: FoundRole | None = None
    notes: Callable[[], Sequence[str]] = field(default=tuple)


def table_batches(table: Table, options: ReadOptions, roles: tuple[FoundRole, ...] | None = None) -> EventBatches:
    """The events of a table; the roles of its columns are found in the sample unless they are given.

    Example:
        >>> frame = pl.DataFrame({"case": [7, 7], "activity": ["a", "b"], "time": ["2024-05-06", "2024-05-07"]})
        >>> table = Table("a table", frame, "row {}".format, lambda names: iter([(frame.select(names), "row {}".format)]), 2)
        >>> [batch.select("case", "activity").rows() for batch in table_batches(table, ReadOptions())]
        [[(7, 'a'), (7, 'b')]]
    """
    roles = find_roles(table.sample, options, table.source) if roles is None else roles
    if table.individual is not None and not options.described and all(role.role != "individual" for role in roles):
        roles = (*roles, table.individual)
    reading = _Reading(table, options, roles)
    return EventBatches(
        roles,
        reading.notes,
        any(role.role == "individual" for role in roles),
        table.height,
        reading.rows.times.has_zone,
        reading.batches,
    )


class _Reading:
    """The rows of a table on their way to events, and what there is to say about them."""

    def __init__(self, table: Table, options: ReadOptions, roles: tuple[FoundRole, ...]) -> None:
        self.table, self.options, self.roles = table, options, roles
        self.rows = self._fresh()

    def _fresh(self) -> TableRows:
        table = self.table
        known = table.individual if table.individual in self.roles else None
        return TableRows(table.sample, self.roles, self.options, table.source, table.place, may_lack_individual=known is not None)

    def batches(self) -> Iterator[pl.DataFrame]:
        """All events."""
        self.rows = rows = self._fresh()
        for frame, place in self.table.rows(rows.columns):
            events = rows.events(frame, place)
            if events.height:
                yield events
        rows.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        notes = [*self.table.notes(), *self.rows.notes()]
        if self.table.height > self.table.sample.height and any(role.reason not in _SURE for role in self.roles):
            notes.append("Which column plays which role was found from some of the rows; it can be named in the call.")
        return tuple(dict.fromkeys(notes))
