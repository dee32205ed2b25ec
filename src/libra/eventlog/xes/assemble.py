"""From the attributes of an XES file to typed columns, and from these to an `EventLog`.

An attribute is of the type it is declared with. Where the declarations differ, or a value is not of its declared type, the whole
column is text (float, where they are int and float): what is read never depends on where the pieces were cut. Roles are played by
the standard's keys; a user who gives them to other columns is served by `flat`, with the frames joined in pm4py's form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError
from libra.eventlog import names
from libra.eventlog.attributes import checked_columns
from libra.eventlog.ids import told_apart
from libra.eventlog.log import UTC_MICROSECONDS, EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_ID, CASE_INDEX, CASE_NAME, CASE_PREFIX, ROLE_COLUMN, START_TIMESTAMP, TIMESTAMP
from libra.eventlog.notes import LeftOut, zone_is_open
from libra.eventlog.options import Place, ReadOptions, RoleNames
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.flat import decided, from_flat, zones_apart
from libra.eventlog.tables.roles import DESCRIBED, find_roles
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR, read_timestamps, zone_misfit
from libra.eventlog.tables.values import as_text

NAIVE = "Some timestamps carry no time zone and were read as UTC."
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
FLOATS = {"INF": "inf", "+INF": "inf", "-INF": "-inf", "Infinity": "inf", "-Infinity": "-inf", "nan": "NaN"}
ONE_TYPE = "Declare it with one type throughout the file"
_EXACT = 2**53
PLACEHOLDER = f'timestamp "{{:%Y-%m-%d}}" is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder'
_NAME_AS_INDIVIDUAL = f"{CASE_PREFIX}individual:{CASE_NAME}"
DROP = "Correct it, or leave such events out with --drop-invalid"


@dataclass(frozen=True)
class Part:
    """The values of attribute `key`, declared as XES type `type`; `owners` counts traces or events within the piece."""

    key: str
    type: str
    owners: npt.NDArray[np.int64]
    values: pl.Series


@dataclass(frozen=True)
class Piece:
    """Some whole traces of a file: parts of traces and of events, and the trace (within the piece) of every event."""

    n_cases: int
    case_of_event: npt.NDArray[np.int64]
    case_parts: Sequence[Part]
    event_parts: Sequence[Part]


class Columns:
    """The attributes of all cases, or of all events, as they come in."""

    def __init__(self) -> None:
        self.height = 0
        self.zones: dict[str, dict[bool, tuple[int, str]]] = defaultdict(dict)  # key to first row and value with and without one
        self.unreadable: dict[str, str] = {}  # key and declared type of values that are not of that type
        self.mixed: dict[str, str] = {}  # key and the types it was declared with
        self.first_unreadable: dict[str, tuple[int, str]] = {}  # key to row and value
        self._values: dict[tuple[str, str], list[pl.Series]] = defaultdict(list)
        self._owners: dict[tuple[str, str], list[npt.NDArray[np.uint32]]] = defaultdict(list)

    def add(self, parts: Sequence[Part], height: int) -> None:
        """Take in the parts of the next `height` cases or events."""
        for part in parts:
            self._values[part.key, part.type].append(self.typed(part))
            self._owners[part.key, part.type].append((part.owners + self.height).astype(np.uint32))
        self.height += height

    def frame(self) -> pl.DataFrame:
        """All of them, one row an owner."""
        by_key: dict[str, dict[str, pl.Series]] = defaultdict(dict)
        for (key, kind), pieces in self._values.items():
            by_key[key][kind] = spread(_in_one_type(pieces), self._owners[key, kind], self.height)
        columns = {key: self._settled(key, kinds) for key, kinds in by_key.items()}
        return pl.DataFrame(columns) if columns else pl.DataFrame(height=self.height)

    def notes(self) -> list[str]:
        """What is worth knowing about the types, as sentences; complete once `frame` has been asked for."""
        notes = [NAIVE] if any(False in found for found in self.zones.values()) else []
        reasons = {
            "declared with different types in different places": self.mixed,
            "with values that are not of their declared type": self.unreadable,
        }
        for why, found in reasons.items():
            if found:
                listed = ", ".join(f"{key} ({types})" for key, types in sorted(found.items()))
                notes.append(f"Attributes {why} were read as text: {listed}.")
        return notes

    def first_declared(self) -> dict[str, dict[str, int]]:
        """For every key, and every type that it is declared with, the first row that does so."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for (key, kind), owners in self._owners.items():
            if len(owners[0]):
                found[key][kind] = int(owners[0][0])
        return found

    def typed(self, part: Part) -> pl.Series:
        """The values as declared; as text if any of them is not, the others in the spelling of their type."""
        values = part.values
        if part.type == "date":
            read, naive = read_iso_dates(values)
            for has_zone, where in ((True, ~naive & read.is_not_null()), (False, naive)):
                if where.any():
                    row = int(where.arg_true()[0])
                    self.zones[part.key].setdefault(has_zone, (self.height + int(part.owners[row]), values[row]))
        elif part.type == "boolean":
            read = values.str.to_lowercase().replace_strict(BOOLEANS, default=None, return_dtype=pl.Boolean)
        elif part.type == "int":
            read = values.cast(pl.Int64, strict=False)
        elif part.type == "float":
            read = values.cast(pl.Float64, strict=False)
            if read.null_count():
                read = values.replace(FLOATS).cast(pl.Float64, strict=False)
        else:
            return values
        if not read.null_count():
            return read
        self.unreadable[part.key] = part.type
        row = int(read.is_null().arg_true()[0])
        self.first_unreadable.setdefault(part.key, (self.height + int(part.owners[row]), values[row]))
        return as_text(read).zip_with(read.is_not_null(), values)

    def _settled(self, key: str, kinds: dict[str, pl.Series]) -> pl.Series:
        """One column of those with the same key and different declared types."""
        columns = list(kinds.values())
        if {column.dtype for column in columns} == {pl.Int64(), pl.Float64()} and all(map(_is_exact, columns)):
            columns = [column.cast(pl.Float64) for column in columns]
        elif len({column.dtype for column in columns}) > 1:
            self.mixed[key] = ", ".join(sorted(kinds))
            self.unreadable.pop(key, None)
        first, *others = _in_one_type(columns)
        for other in others:
            first = first.zip_with(first.is_not_null(), other)
        return first


def _is_exact(numbers: pl.Series) -> bool:
    """Whether floats can hold them all: beyond that, two whole numbers would become one."""
    return numbers.dtype == pl.Float64 or bool(numbers.is_between(-_EXACT, _EXACT).all())


def _in_one_type(columns: Sequence[pl.Series]) -> Sequence[pl.Series]:
    """The columns as they are if they are of one type, else as text."""
    return columns if len({column.dtype for column in columns}) == 1 else [as_text(column) for column in columns]


def texts(parts: Sequence[Part], key: str, height: int) -> pl.Series:
    """What stands under a key as labels or ids, null where nothing does: each value by itself, as `as_text` of its column."""
    found = [part for part in parts if part.key == key]
    return spread([as_text(Columns().typed(part)) for part in found], [part.owners for part in found], height)


def typed_as(dtype: pl.DataType, parts: Sequence[Part], key: str, height: int, place: Place) -> pl.Series:
    """What stands under a key that had this type so far; an error where it is of another one from here on."""
    columns, parts = Columns(), [part for part in parts if part.key == key and len(part.owners)]
    columns.add(parts, height)
    if not parts:
        return pl.repeat(None, height, dtype=dtype, eager=True)
    values = columns.frame()[key]
    if dtype == pl.String:
        return as_text(values)
    if dtype == pl.Float64 and values.dtype == pl.Int64 and _is_exact(values):
        return values.cast(pl.Float64)
    if values.dtype != dtype:
        what = f'the attribute "{key}" is from here on not of the type it had ({dtype})'
        raise InputError(what, place=place(min(int(part.owners[0]) for part in parts)), remedy=ONE_TYPE)
    return values


def spread(values: Sequence[pl.Series], owners: Sequence[npt.NDArray[np.integer]], height: int) -> pl.Series:
    """Values, each at its owner; null where there is none."""
    if not values:
        return pl.repeat(None, height, dtype=pl.String, eager=True)
    together, owner = pl.concat(values), np.concatenate(owners)
    if len(together) == height and (np.diff(owner.astype(np.int64)) > 0).all():  # every owner has one, in order
        return together
    source = np.full(height, len(together), np.uint32)  # what lies behind the values: a null
    source[owner] = np.arange(len(together), dtype=np.uint32)
    return together.extend_constant(None, 1)[source]


@dataclass(frozen=True)
class Content:
    """What was read from a file: attributes of events and of traces as they are called there, and the trace of every event."""

    events: pl.DataFrame
    case_of_event: npt.NDArray[np.int64]
    cases: pl.DataFrame
    metadata: LogMetadata
    notes: list[str]
    bad_times: Mapping[str, tuple[int, str]] = field(default_factory=dict)  # of values that cannot be read the first, by key
    types: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by key its declared types, and the first event of each
    zones: Mapping[str, Mapping[bool, tuple[int, str]]] = field(default_factory=dict)  # of dates the first with and without one


class XesFrames:
    """Events with the number of their trace under names that nothing else has, and cases, which have at least one attribute.

    `key_of` says which key of the file each column of events has, `place` where an event is.
    """

    def __init__(self, content: Content, path: Path, options: ReadOptions) -> None:
        """Refuse times that cannot be read, or leave them out where invalid events are dropped."""
        self.path, self.options, self.notes, self.zones = path, options, list(content.notes), content.zones
        nameless = pl.DataFrame({CASE_NAME: pl.repeat(None, content.cases.height, dtype=pl.String, eager=True)})
        self.cases = content.cases if content.cases.width else nameless
        index = pl.Series(CASE_INDEX, content.case_of_event, pl.UInt32)
        self.events = _free_names(content.events, self.notes).insert_column(0, index)
        self.key_of = dict(zip(self.events.columns[1:], content.events.columns, strict=True))
        self.place = placer(index, self.cases.get_column(CASE_NAME, default=None), path)
        starts = None if options.described else START_TIMESTAMP
        for key in (options.roles.timestamp or TIMESTAMP, options.roles.start_timestamp or starts):
            if key is not None:
                self._check_times(content, key)
        self.by_standard = self._is_by_standard()

    def _check_times(self, content: Content, key: str) -> None:
        """Refuse times of which one is no date and others are, and leave out or refuse those that cannot be read."""
        types, bad = content.types.get(key, {}), content.bad_times.get(key)
        if "date" in types and len(types) > 1:
            (before, _), (here, row) = sorted(types.items(), key=lambda of: of[1])[:2]
            raise two_types(key, before, here, self.place(row))
        if bad is not None and "date" in types:
            row, value = bad
            if not self.options.drop_invalid:
                raise bad_time(value, self.place(row))
            name = next(name for name, of in self.key_of.items() if of == key)
            self.events = self.events.with_columns(read_iso_dates(self.events[name])[0])

    def _is_by_standard(self) -> bool:
        """Whether the standard's keys play the roles; an error where a description says so and they cannot."""
        events, options = self.events, self.options
        times = (events.schema.get(TIMESTAMP), events.schema.get(START_TIMESTAMP, UTC_MICROSECONDS))
        typed = ACTIVITY in events.columns and CASE_NAME in self.cases.columns and times == (UTC_MICROSECONDS, UTC_MICROSECONDS)
        if not options.described:
            return options.roles == RoleNames() and typed
        for role in ("clock", "individual", *ROLE_COLUMN):
            columns, key = getattr(options.roles, role), ROLE_COLUMN.get(role)
            if columns and (columns not in (key, (key,)) or role == "case_id"):
                return False
        find_roles(self.flat_table([]).clear(), options, str(self.path))  # refuses what is not there
        if not typed:
            what = f'"{TIMESTAMP}" or "{START_TIMESTAMP}" is not declared as a date throughout'
            raise InputError(what, place=str(self.path), remedy=ONE_TYPE)
        return True

    def zone_of(self, key: str | None) -> tuple[bool, list[str]]:
        """Whether the times under a key say which zone they are in (what is no date does), and the notes with what is open.

        It is an error where they do not as the user says.
        """
        if key is None:
            return True, self.notes
        found, notes = self.zones.get(key, {}), [note for note in self.notes if note != NAIVE]
        if self.options.zone is not None:
            misfit = None if self.options.zone == "utc" else found.get(self.options.zone == "none")
            if misfit is not None:
                raise zone_misfit(misfit[1], self.options.zone, self.place(misfit[0]))
            return self.options.zone != "none", notes
        return True in found or not found, [zone_is_open(key), *notes] if len(found) > 1 else self.notes

    def start_notes(self, frame: pl.DataFrame, roles: Sequence[FoundRole], has_zone: bool) -> list[str]:
        """What is open about the zone of starts, where they count; `has_zone` is whether completions carry one."""
        key = self.date_key(frame, roles, "start_timestamp")
        if key is None or decided(frame, roles, replace(self.options, zone=None))[0] != "pair":
            return []
        self.zone_of(key)  # refuses what is not as the user says
        return [] if self.options.zone else zones_of_starts(self.zones.get(key, {}), key, has_zone)

    def flat_table(self, notes: list[str]) -> pl.DataFrame:
        """Events and their cases in one table in pm4py's form, for the roles of its columns to be found."""
        own_ids = CASE_NAME in self.cases.columns and not self.options.roles.case_id
        cases = _unique_ids(self.cases, notes) if own_ids else self.cases
        of_case = cases.select(pl.all().name.prefix(CASE_PREFIX))[self.events[CASE_INDEX]]
        return pl.concat([of_case, self.events.drop(CASE_INDEX)], how="horizontal")

    def found_roles(self) -> tuple[pl.DataFrame, tuple[FoundRole, ...], str | None]:
        """The flat table, the roles of its columns, and the key of the times where they are dates."""
        table = self.flat_table([])
        found = roles_of(self.events, self.options) if self.by_standard else None
        roles = found or find_roles(table, self.options, str(self.path))
        return table, roles, self.date_key(table, roles)

    def date_key(self, table: pl.DataFrame, roles: Iterable[FoundRole], role: str = "timestamp") -> str | None:
        """The key of the times in a role, where they are attributes of events declared as dates, which have been read by now."""
        when = next((found.columns[0] for found in roles if found.role == role), "")
        return self.key_of.get(when) if table.schema.get(when) == UTC_MICROSECONDS else None


def assemble(content: Content, path: Path, options: ReadOptions) -> EventLog:
    """The log that a file holds."""
    if not len(content.case_of_event):
        if not options.allow_empty:
            raise without_events(path)
        types: dict[str, pl.DataType] = {CASE_INDEX: pl.UInt32(), ACTIVITY: pl.String(), TIMESTAMP: UTC_MICROSECONDS}
        events, cases = pl.DataFrame(schema=types), pl.DataFrame(schema={CASE_NAME: pl.String()})
        return EventLog(events, cases, content.metadata, (), tuple(content.notes))
    frames = XesFrames(content, path, options)
    if frames.by_standard:
        return _standard(frames, content.metadata)
    table = frames.flat_table(frames.notes)
    roles = find_roles(table, options, str(path))
    columns = {role.role: role.columns for role in roles}
    if columns["case_id"] == columns.get("individual") == (CASE_ID,) and not options.roles.case_id:
        ids = as_text(frames.cases[CASE_NAME])  # every trace is a case, and its name says whose it is
        if ids.drop_nulls().is_duplicated().any():
            table = table.with_columns(ids[frames.events[CASE_INDEX]].alias(_NAME_AS_INDIVIDUAL))
            roles = tuple(replace(role, columns=(_NAME_AS_INDIVIDUAL,)) if role.role == "individual" else role for role in roles)
    key = frames.date_key(table, roles)
    has_zone, notes = frames.zone_of(key)
    ours = options if key is None else replace(options, zone=None)  # whether they fit is settled
    log = from_flat(table, ours, place=frames.place, source=str(path), roles=roles, metadata=content.metadata, notes=notes)
    log = log if key is None else replace(log, has_zone=has_zone)
    return log.with_notes(*frames.start_notes(table, roles, log.has_zone))


def zones_of_starts(found: Collection[bool], key: str, has_zone: bool) -> list[str]:
    """What is open where starts with and without a zone were `found`, or completions carry one and starts do not."""
    mixed = [zone_is_open(key)] if len(found) > 1 else []
    return [*mixed, *(zones_apart(key, True in found, "the completions", has_zone) if found else [])]


def without_events(path: Path) -> InputError:
    """The error for a log without events."""
    return InputError("the log has no events", place=str(path), remedy="Export it again with its events")


def bad_time(value: str, place: str) -> InputError:
    """The error for a time that cannot be read."""
    return InputError(f'timestamp "{value}" cannot be read', place=place, remedy=DROP)


def two_types(key: str, before: str, here: str, place: str) -> InputError:
    """The error for a time that is declared otherwise than those before it."""
    return InputError(f'"{key}" is declared as {here} here, and as {before} before', place=place, remedy=ONE_TYPE)


def placer(case_of_event: pl.Series, ids: pl.Series | None, path: Path, before: int = 0) -> Place:
    """How to say where an event is: its case, `before` which that many others stand, and the number of the event in it."""

    def place(row: int) -> str:
        case = case_of_event[row]
        name = None if ids is None else ids[case]
        which = f'case "{name}"' if name else f"trace {before + case + 1}"
        return f"{path}, {which}, event {row - int(case_of_event.search_sorted(case)) + 1}"

    return place


def _free_names(events: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Event attributes called like an attribute of the case in a flat table, or like our index, get a name of their own."""
    renamed = {}
    for key in events.columns:
        name = key
        while name.startswith(CASE_PREFIX) or name == CASE_INDEX or (name != key and name in events.columns):
            name = f"event:{name}"
        if name != key:
            renamed[key] = name
    if renamed:
        notes.append(f"Attributes of events called {', '.join(renamed)} were renamed to {', '.join(renamed.values())}.")
    return events.rename(renamed)


def _standard(frames: XesFrames, metadata: LogMetadata) -> EventLog:
    """The log whose roles are played by the standard's keys."""
    has_zone, notes = frames.zone_of(TIMESTAMP)
    texts = [key for key in (ACTIVITY, names.LIFECYCLE, names.RESOURCE) if key in frames.events.columns]
    events = frames.events.with_columns(as_text(frames.events[key]).alias(key) for key in texts)
    events = events.with_columns(no_blank(events[ACTIVITY]))
    roles = roles_of(events, frames.options)
    if any(role.role == "start_timestamp" for role in roles):
        as_read, whole = replace(frames.options, zone=None), events.with_columns(events[CASE_INDEX].alias(CASE_ID))
        starts, more = read_timestamps(events[START_TIMESTAMP], as_read, START_TIMESTAMP, frames.place, optional=True)
        events, notes = events.with_columns(starts), [*notes, *more, *frames.start_notes(whole, roles, has_zone)]
    cases = frames.cases.with_columns(no_blank(as_text(frames.cases[CASE_NAME])).alias(CASE_NAME))
    places = frames.place, lambda row: f'{frames.path}, case "{frames.cases[CASE_NAME][row]}"'
    events, cases = checked_columns(events, cases, frames.options.attributes, str(frames.path), places)
    events = usable(events, cases[CASE_NAME], notes, frames.place, frames.options)
    used = np.zeros(cases.height, bool)
    used[events[CASE_INDEX].to_numpy()] = True
    if not used.all():
        notes.append("Cases without events were left out.")
        row_of = np.cumsum(used, dtype=np.uint32) - 1
        events = events.with_columns(pl.Series(CASE_INDEX, row_of[events[CASE_INDEX].to_numpy()]))
        cases = cases.filter(used)
    cases = _unique_ids(cases, notes)
    return EventLog(events, cases, metadata, roles, tuple(notes), has_zone=has_zone, declared=frames.options.attributes)


def no_blank(text: pl.Series) -> pl.Series:
    """Text that says something, else null."""
    return text.set(text.str.strip_chars() == "", None)


def usable(events: pl.DataFrame, ids: pl.Series, notes: list[str], place: Place, options: ReadOptions) -> pl.DataFrame:
    """The events with a case id, an activity and a sensible timestamp. Others are an error, or dropped where the user says so."""
    year = events[TIMESTAMP].dt.year()
    reasons = {
        "no case id (the trace has no concept:name)": ids.is_null()[events[CASE_INDEX]],
        "no activity (the event has no concept:name)": events[ACTIVITY].is_null(),
        "no timestamp (the event has no time:timestamp)": events[TIMESTAMP].is_null(),
        PLACEHOLDER: (year < FIRST_YEAR) | (year > LAST_YEAR),
    }
    unusable = np.zeros(events.height, bool)
    for what, where in reasons.items():
        bad = where.fill_null(False)
        if bad.any():
            row = int(bad.arg_max() or 0)
            if not options.drop_invalid:
                raise InputError(what.format(events[TIMESTAMP][row]), place=place(row), remedy=DROP)
            unusable |= bad.to_numpy()
    if not unusable.any():
        return events
    most = 2 * int(unusable.sum()) > events.height
    notes.append(LeftOut("Events without a usable case id, activity or timestamp were left out.", most=most))
    return events.filter(~unusable)


def _unique_ids(cases: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Traces that share a name stay cases of their own; one without a name has none."""
    ids = no_blank(as_text(cases[CASE_NAME]))
    named = ids.drop_nulls()
    if not named.is_duplicated().any():
        return cases
    notes.append("Some cases share their id; they are told apart by a number behind it.")
    return cases.with_columns(ids.scatter(ids.is_not_null().arg_true(), told_apart(named)).alias(CASE_NAME))


def roles_of(events: pl.DataFrame, options: ReadOptions) -> tuple[FoundRole, ...]:
    """The standard's keys that play a role."""
    present = [role for role, column in ROLE_COLUMN.items() if column == CASE_ID or column in events.columns]
    if options.described:
        present = [role for role in present if role == "case_id" or getattr(options.roles, role)]
    reason = DESCRIBED if options.described else "a standard key of XES"
    return tuple(FoundRole(role, (ROLE_COLUMN[role],), reason) for role in present)
