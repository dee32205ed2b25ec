"""From the content of an XES file to an `EventLog`: roles by the standard's keys, unusable events, unique case ids.

A user who gives other columns their roles is served by `flat`, as for any table: the frames are then joined in pm4py's form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError
from libra.eventlog.ids import told_apart
from libra.eventlog.log import UTC_MICROSECONDS, EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import (
    ACTIVITY,
    CASE_ID,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    LIFECYCLE,
    RESOURCE,
    ROLE_COLUMN,
    START_TIMESTAMP,
    TIMESTAMP,
)
from libra.eventlog.notes import LeftOut, zone_is_open
from libra.eventlog.options import Place, ReadOptions, RoleNames
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.roles import DESCRIBED, find_roles
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR, zone_misfit
from libra.eventlog.tables.values import as_text
from libra.eventlog.xes.columns import NAIVE

PLACEHOLDER = f'timestamp "{{:%Y-%m-%d}}" is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder'
_NAME_AS_INDIVIDUAL = f"{CASE_PREFIX}individual:{CASE_NAME}"
DROP = "Correct it, or leave such events out with --drop-invalid"


Zones = Mapping[str, Mapping[bool, tuple[int, str]]]
"""For attributes that are dates the first event with a zone and the first one without, and what stands there."""


@dataclass(frozen=True)
class Content:
    """What was read from a file: attributes of events and of traces as they are called there, and the trace of every event."""

    events: pl.DataFrame
    case_of_event: npt.NDArray[np.int64]
    cases: pl.DataFrame
    metadata: LogMetadata
    notes: list[str]
    bad_time: tuple[int, str] | None = None  # the first event whose time cannot be read, and what stands there
    time_types: Mapping[str, int] = field(default_factory=dict)  # how times are declared, and the first event that does so
    zones: Zones = field(default_factory=dict)


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
        events = _free_names(content.events, self.notes).insert_column(0, index)
        self.key_of = dict(zip(events.columns[1:], content.events.columns, strict=True))
        self.place = placer(events, self.cases, path)
        self.events = _iso_times(events, content, self.place, options)
        self.by_standard = _by_standard(self.events, self.cases, options, path)

    def checked_zone(self, key: str | None) -> bool:
        """Whether the times under a key say which zone they are in; they do where they are no dates.

        Raises:
            InputError: They do not as the user says. Where it is open there is a note.
        """
        if key is None:
            return True
        found, notes = self.zones.get(key, {}), [note for note in self.notes if note != NAIVE]
        if self.options.zone is not None:
            misfit = None if self.options.zone == "utc" else found.get(self.options.zone == "none")
            if misfit is not None:
                raise zone_misfit(misfit[1], self.options.zone, self.place(misfit[0]))
            self.notes = notes
            return self.options.zone != "none"
        if len(found) > 1:
            self.notes = [zone_is_open(key), *notes]
        return True in found or not found

    def flat_table(self, notes: list[str]) -> pl.DataFrame:
        """Events and their cases in one table in pm4py's form, for the roles of its columns to be found."""
        return _flat_table(self.events, self.cases, notes, self.options)

    def date_key(self, table: pl.DataFrame, roles: Iterable[FoundRole]) -> str | None:
        """The key of the times, where they are attributes of events declared as dates, which have been read by now."""
        when = next(role.columns[0] for role in roles if role.role == "timestamp")
        return self.key_of.get(when) if table.schema[when] == UTC_MICROSECONDS else None


def assemble(content: Content, path: Path, options: ReadOptions) -> EventLog:
    """The log that a file holds."""
    if not len(content.case_of_event):
        return _empty(content.metadata, list(content.notes), path, options)
    frames = XesFrames(content, path, options)
    if frames.by_standard:
        has_zone = frames.checked_zone(TIMESTAMP)
        log = _standard(frames.events, frames.cases, content.metadata, frames.notes, frames.place, options)
        return replace(log, has_zone=has_zone)
    table, names = frames.flat_table(frames.notes), frames.cases[CASE_NAME] if CASE_NAME in frames.cases.columns else None
    roles = find_roles(table, options, str(path))
    if _shares_names(roles, options) and names is not None and as_text(names).drop_nulls().is_duplicated().any():
        table = table.with_columns(as_text(names)[frames.events[CASE_INDEX]].alias(_NAME_AS_INDIVIDUAL))
        roles = tuple(replace(role, columns=(_NAME_AS_INDIVIDUAL,)) if role.role == "individual" else role for role in roles)
    key = frames.date_key(table, roles)
    has_zone = frames.checked_zone(key)
    ours = options if key is None else replace(options, zone=None)  # whether they fit is settled
    notes = frames.notes
    log = from_flat(table, ours, place=frames.place, source=str(path), roles=roles, metadata=content.metadata, notes=notes)
    return log if key is None else replace(log, has_zone=has_zone)


def _by_standard(events: pl.DataFrame, cases: pl.DataFrame, options: ReadOptions, path: Path) -> bool:
    """Whether the standard's keys play the roles; an error where a description says so and they cannot."""
    if not options.described:
        return options.roles == RoleNames() and _is_standard(events, cases)
    named = {role: getattr(options.roles, role) for role in ("clock", "individual", *ROLE_COLUMN)}
    asked = {role: columns for role, columns in named.items() if columns}
    if any(
        columns not in (ROLE_COLUMN.get(role), (ROLE_COLUMN.get(role),)) or role == "case_id" for role, columns in asked.items()
    ):
        return False
    find_roles(_flat_table(events, cases, [], options).clear(), options, str(path))  # refuses what is not there
    if not _is_standard(events, cases):
        what = f'"{TIMESTAMP}" or "{START_TIMESTAMP}" is not declared as a date throughout'
        raise InputError(what, place=str(path), remedy="Declare it with one type throughout the file")
    return True


def _shares_names(roles: Iterable[FoundRole], options: ReadOptions) -> bool:
    """Whether a trace's name says whose it is while every trace is a case: those that share a name are of one individual."""
    columns = {role.role: role.columns for role in roles}
    return columns["case_id"] == columns.get("individual") == (CASE_ID,) and not options.roles.case_id


def mixed_zones(value: str, place: str, *, has_zone: bool) -> InputError:
    """The error for a time with a zone behind times without one, or the other way round."""
    what = "a time zone, and those before it do not" if has_zone else "no time zone, and those before it do"
    return InputError(f'timestamp "{value}" carries {what}', place=place, remedy="Write all times with their zone")


def _iso_times(events: pl.DataFrame, content: Content, place: Place, options: ReadOptions) -> pl.DataFrame:
    """The events, where invalid ones are to be dropped without times that cannot be read; else such a time is an error."""
    if options.roles.timestamp not in (None, TIMESTAMP):
        return events
    if "date" in content.time_types and len(content.time_types) > 1:
        (before, _), (here, row) = sorted(content.time_types.items(), key=lambda of: of[1])[:2]
        raise two_types(TIMESTAMP, before, here, place(row))
    if content.bad_time is None:
        return events
    row, value = content.bad_time
    if not options.drop_invalid:
        raise bad_time(value, place(row))
    return events.with_columns(read_iso_dates(events[TIMESTAMP])[0])


def _flat_table(events: pl.DataFrame, cases: pl.DataFrame, notes: list[str], options: ReadOptions) -> pl.DataFrame:
    """Events and their cases in one table in pm4py's form, for the roles of its columns to be found."""
    if CASE_NAME in cases.columns and not options.roles.case_id:
        cases = _unique_ids(cases, notes)
    of_case = cases.select(pl.all().name.prefix(CASE_PREFIX))[events[CASE_INDEX]]
    return pl.concat([of_case, events.drop(CASE_INDEX)], how="horizontal")


def without_events(path: Path) -> InputError:
    """The error for a log without events."""
    return InputError("the log has no events", place=str(path), remedy="Export it again with its events")


def bad_time(value: str, place: str) -> InputError:
    """The error for a time that cannot be read."""
    return InputError(f'timestamp "{value}" cannot be read', place=place, remedy=DROP)


def two_types(key: str, before: str, here: str, place: str) -> InputError:
    """The error for a time that is declared otherwise than those before it."""
    what = f'"{key}" is declared as {here} here, and as {before} before'
    return InputError(what, place=place, remedy="Declare it with one type throughout the file")


def placer(events: pl.DataFrame, cases: pl.DataFrame, path: Path, before: int = 0) -> Place:
    """How to say where a row of `events` is: its case, `before` which that many others stand, and the how manieth event of it."""

    def place(row: int) -> str:
        case = events[CASE_INDEX][row]
        name = cases[CASE_NAME][case] if CASE_NAME in cases.columns else None
        which = f'case "{name}"' if name else f"trace {before + case + 1}"
        return f"{path}, {which}, event {row - int(events[CASE_INDEX].search_sorted(case)) + 1}"

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


def _is_standard(events: pl.DataFrame, cases: pl.DataFrame) -> bool:
    """Whether the standard's keys say all that is needed, each in its type."""
    times = (events.schema.get(TIMESTAMP), events.schema.get(START_TIMESTAMP, UTC_MICROSECONDS))
    return ACTIVITY in events.columns and CASE_NAME in cases.columns and times == (UTC_MICROSECONDS, UTC_MICROSECONDS)


def _standard(
    events: pl.DataFrame,
    cases: pl.DataFrame,
    metadata: LogMetadata,
    notes: list[str],
    place: Place,
    options: ReadOptions,
) -> EventLog:
    texts = [key for key in (ACTIVITY, LIFECYCLE, RESOURCE) if key in events.columns]
    events = events.with_columns(as_text(events[key]).alias(key) for key in texts)
    cases = cases.with_columns(no_blank(as_text(cases[CASE_NAME])).alias(CASE_NAME))
    events = events.with_columns(no_blank(events[ACTIVITY]))
    events = usable(events, cases, notes, place, options)
    events, cases = _without_empty_cases(events, cases, notes)
    ids = _unique_ids(cases, notes)
    return EventLog(events, ids, metadata, roles_of(events, options), tuple(notes))


def no_blank(text: pl.Series) -> pl.Series:
    """Text that says something, else null."""
    return text.set(text.str.strip_chars() == "", None)


def usable(events: pl.DataFrame, cases: pl.DataFrame, notes: list[str], place: Place, options: ReadOptions) -> pl.DataFrame:
    """The events with a case id, an activity and a sensible timestamp. Others are an error, or dropped where the user says so."""
    year = events[TIMESTAMP].dt.year()
    reasons = {
        "no case id (the trace has no concept:name)": cases[CASE_NAME].is_null()[events[CASE_INDEX]],
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


def _without_empty_cases(events: pl.DataFrame, cases: pl.DataFrame, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    used = np.zeros(cases.height, bool)
    used[events[CASE_INDEX].to_numpy()] = True
    if used.all():
        return events, cases
    notes.append("Cases without events were left out.")
    row_of = np.cumsum(used, dtype=np.uint32) - 1
    renumbered = pl.Series(CASE_INDEX, row_of[events[CASE_INDEX].to_numpy()])
    return events.with_columns(renumbered), cases.filter(used)


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
        named = [role for role in present if role == "case_id" or getattr(options.roles, role)]
        return tuple(FoundRole(role, (ROLE_COLUMN[role],), DESCRIBED) for role in named)
    return tuple(FoundRole(role, (ROLE_COLUMN[role],), "a standard key of XES") for role in present)


def _empty(metadata: LogMetadata, notes: list[str], path: Path, options: ReadOptions) -> EventLog:
    if not options.allow_empty:
        raise without_events(path)
    types: dict[str, pl.DataType] = {CASE_INDEX: pl.UInt32(), ACTIVITY: pl.String(), TIMESTAMP: UTC_MICROSECONDS}
    return EventLog(pl.DataFrame(schema=types), pl.DataFrame(schema={CASE_NAME: pl.String()}), metadata, (), tuple(notes))
