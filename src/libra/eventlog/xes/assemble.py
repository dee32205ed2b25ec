"""From the content of an XES file to an `EventLog`: roles by the standard's keys, unusable events, unique case ids.

A user who gives other columns their roles is served by `flat`, as for any table: the frames are then joined in pm4py's form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError
from libra.eventlog.case_ids import told_apart
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
from libra.eventlog.open_choices import zone_is_open
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.moments import zone_misfit
from libra.eventlog.tables.roles import DESCRIBED, find_roles
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR
from libra.eventlog.xes.columns import NAIVE, read_iso_dates

PLACEHOLDER = f'timestamp "{{:%Y-%m-%d}}" is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder'
DROP = "Correct it, or leave such events out with --drop-invalid"


@dataclass(frozen=True)
class Content:
    """What was read from a file: attributes of events and of traces as they are called there, and the trace of every event."""

    events: pl.DataFrame
    case_of_event: npt.NDArray[np.int64]
    cases: pl.DataFrame
    metadata: LogMetadata
    notes: list[str]
    bad_time: tuple[int, str] | None = None  # the first event whose time cannot be read, and what stands there
    naive_time: tuple[int, str] | None = None  # the first event whose time carries no zone
    zoned_time: tuple[int, str] | None = None  # and the first one whose time does


def assemble(content: Content, path: Path, options: ReadOptions) -> EventLog:
    """The log that a file holds."""
    notes = list(content.notes)
    if not len(content.case_of_event):
        return _empty(content.metadata, notes, path, options)
    events, cases = frames_of(content, notes)
    place = placer(events, cases, path)
    events = iso_times(events, content, place, options)
    if by_standard(events, cases, options, path):
        has_zone = checked_zone(content, notes, place, options)
        log = _standard(events, cases, content.metadata, notes, place, options)
        return replace(log, has_zone=has_zone)
    table = flat_table(events, cases, notes, options)
    if not by_iso(table, options):
        return from_flat(table, options, place=place, source=str(path), metadata=content.metadata, notes=notes)
    has_zone = checked_zone(content, notes, place, options)
    typed = replace(options, zone=None)
    log = from_flat(table, typed, place=place, source=str(path), metadata=content.metadata, notes=notes)
    return replace(log, has_zone=has_zone)


def by_iso(table: pl.DataFrame, options: ReadOptions) -> bool:
    """Whether the times are the standard's, which have been read by now."""
    return options.roles.timestamp in (None, TIMESTAMP) and table.schema.get(TIMESTAMP) == UTC_MICROSECONDS


def by_standard(events: pl.DataFrame, cases: pl.DataFrame, options: ReadOptions, path: Path) -> bool:
    """Whether the standard's keys play the roles; an error where a description says so and they cannot."""
    if not options.described:
        return options.roles == RoleNames() and is_standard(events, cases)
    named = {role: getattr(options.roles, role) for role in ("clock", "individual", *ROLE_COLUMN)}
    asked = {role: columns for role, columns in named.items() if columns}
    if any(
        columns not in (ROLE_COLUMN.get(role), (ROLE_COLUMN.get(role),)) or role == "case_id" for role, columns in asked.items()
    ):
        return False
    find_roles(flat_table(events, cases, [], options).clear(), options, str(path))  # refuses what is not there
    if not is_standard(events, cases):
        what = f'"{TIMESTAMP}" or "{START_TIMESTAMP}" is not declared as a date throughout'
        raise InputError(what, place=str(path), remedy="Declare it with one type throughout the file")
    return True


def checked_zone(content: Content, notes: list[str], place: Callable[[int], str], options: ReadOptions) -> bool:
    """Whether the times say which zone they are in; an error where they do not as the user says, a note where it is open."""
    naive, zoned = content.naive_time, content.zoned_time
    misfit = {"file": naive, "none": zoned}.get(options.zone or "")
    if options.zone is not None:
        if misfit is not None:
            raise zone_misfit(misfit[1], options.zone, place(misfit[0]))
        notes[:] = [note for note in notes if note != NAIVE]
        return options.zone != "none"
    if naive is not None and zoned is not None:
        notes[:] = [zone_is_open(TIMESTAMP), *(note for note in notes if note != NAIVE)]
    return naive is None or zoned is not None


def frames_of(content: Content, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Events with the number of their trace, under names that nothing else has; and cases, which have at least one attribute."""
    cases = content.cases
    if not cases.width:
        cases = pl.DataFrame({CASE_NAME: pl.repeat(None, content.cases.height, dtype=pl.String, eager=True)})
    index = pl.Series(CASE_INDEX, content.case_of_event, pl.UInt32)
    return _free_names(content.events, notes).insert_column(0, index), cases


def iso_times(events: pl.DataFrame, content: Content, place: Callable[[int], str], options: ReadOptions) -> pl.DataFrame:
    """The events, where invalid ones are to be dropped without times that cannot be read; else such a time is an error."""
    if content.bad_time is None or options.roles.timestamp not in (None, TIMESTAMP):
        return events
    row, value = content.bad_time
    if not options.drop_invalid:
        raise bad_time(value, place(row))
    return events.with_columns(read_iso_dates(events[TIMESTAMP])[0])


def flat_table(events: pl.DataFrame, cases: pl.DataFrame, notes: list[str], options: ReadOptions) -> pl.DataFrame:
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


def placer(events: pl.DataFrame, cases: pl.DataFrame, path: Path, before: int = 0) -> Callable[[int], str]:
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


def is_standard(events: pl.DataFrame, cases: pl.DataFrame) -> bool:
    """Whether the standard's keys say all that is needed, each in its type."""
    times = (events.schema.get(TIMESTAMP), events.schema.get(START_TIMESTAMP, UTC_MICROSECONDS))
    return ACTIVITY in events.columns and CASE_NAME in cases.columns and times == (UTC_MICROSECONDS, UTC_MICROSECONDS)


def _standard(
    events: pl.DataFrame,
    cases: pl.DataFrame,
    metadata: LogMetadata,
    notes: list[str],
    place: Callable[[int], str],
    options: ReadOptions,
) -> EventLog:
    texts = [key for key in (ACTIVITY, LIFECYCLE, RESOURCE) if key in events.columns]
    events = events.with_columns(pl.col(texts).cast(pl.String))
    cases = cases.with_columns(pl.col(CASE_NAME).cast(pl.String))
    events, cases = events.with_columns(no_blank(events[ACTIVITY])), cases.with_columns(no_blank(cases[CASE_NAME]))
    events = usable(events, cases, notes, place, options)
    events, cases = _without_empty_cases(events, cases, notes)
    ids = _unique_ids(cases, notes)
    return EventLog(events, ids, metadata, roles_of(events, options), tuple(notes))


def no_blank(text: pl.Series) -> pl.Series:
    """Text that says something, else null."""
    return text.set(text.str.strip_chars() == "", None)


def usable(
    events: pl.DataFrame, cases: pl.DataFrame, notes: list[str], place: Callable[[int], str], options: ReadOptions
) -> pl.DataFrame:
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
    notes.append("Events without a usable case id, activity or timestamp were left out.")
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
    ids = no_blank(cases[CASE_NAME].cast(pl.String))
    named = ids.drop_nulls()
    if not named.is_duplicated().any():
        return cases
    notes.append("Some cases share their id; they are told apart by a number behind it.")
    return cases.with_columns(ids.scatter(ids.is_not_null().arg_true(), told_apart(named)))


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
