"""Describing a log: what reading it by detection finds, written down so that it is found no more.

In: a file or a frame, and what the user says about it. Out: a `Description` by which the log is read as detection reads it, with
a reason for every key: given, detected by name or by content, or a default. What the content leaves open is marked to be checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from libra.errors import InputError, UsageError
from libra.eventlog.attribute_keys import TABLES
from libra.eventlog.classify import classified
from libra.eventlog.description import CHECK, LINE_ENDS, Description
from libra.eventlog.files import FileFormat, csv_files, input_format
from libra.eventlog.ids import alike_notes
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.names import CASE_ID, CASE_PREFIX
from libra.eventlog.notes import OpenChoice, zone_is_open
from libra.eventlog.options import ANY, ISO, EpochUnit, Form, Place, ReadOptions, Zone, no_progress
from libra.eventlog.pairing import STARTS_READ
from libra.eventlog.read import read
from libra.eventlog.tables.csv_read import CsvFile, infer_types, together, unguarded
from libra.eventlog.tables.dates import formats_like
from libra.eventlog.tables.flat import decided
from libra.eventlog.tables.frames import FRAME, THE_FILE_SAYS, as_polars, load
from libra.eventlog.tables.roles import find_roles
from libra.eventlog.tables.timestamps import Column, naive_note, place_in, read_moments, stripped, usable_moments
from libra.eventlog.xes.assemble import XesFrames
from libra.eventlog.xes.read import read_content

if TYPE_CHECKING:
    import pandas as pd

DEFAULT, DETECTED = "default", "detected by content"
WHY_ZONE: dict[Zone, str] = {
    "utc": f"{CHECK}some times carry a zone and others do not",
    "file": f"{DETECTED}: all times carry one",
    "none": f"{DETECTED}: no time carries one",
}
BY_NAME = ("called ", "its name is", "a standard key")


def describe(
    source: str | Path | pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions, given: Collection[str] = ()
) -> Description:
    """Describe a log and its attributes; `given` are the keywords that the user gave."""
    if isinstance(source, EventLog):
        raise UsageError("The log has been read already. Describe the file or the frame that it comes from.")
    described = _reading(source, options, given)
    try:
        found = classified(read(source, replace(options, progress=no_progress)))
    except InputError as error:
        note = f"The attributes were not described, as the log cannot be read: {error}"
        return replace(described, notes=(*described.notes, note))
    attributes = tuple(one.attribute for one in found)
    told = (f"{one.role}: {one.reason}{f'; {one.hint}' if one.hint else ''}" for one in found)
    reasons = {f"{TABLES}.{one.name}": why for one, why in zip(attributes, told, strict=True)}
    seen = {one.attribute.name: {key: getattr(one, key) for key in ("values", "lowest", "highest", "unit")} for one in found}
    return replace(described, attributes=attributes, reasons={**described.reasons, **reasons}, seen=seen)


def _reading(
    source: str | Path | pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions, given: Collection[str]
) -> Description:
    """How a log is read."""
    if not isinstance(source, str | Path):
        frame, memory = as_polars(source, [])
        return _of_table(frame, memory.individual, options, given, FRAME)
    path = Path(source)
    if files := csv_files(path):
        opened = [CsvFile(file, input_format(file), options) for file in files]
        first, *others = map(_written, opened)
        for file, other in zip(files[1:], others, strict=True):
            for key in other:
                if other[key] != first[key]:
                    remedy = f"Write all files in one way, or say it with --{key.replace('_', '-')}"
                    raise InputError(f"{key} differs from {files[0].name}", place=str(file), remedy=remedy)
        return _of_csv(together(opened, str(path)), options, given, str(path))
    fmt = input_format(path)
    if fmt.kind == "xes":
        return _of_xes(path, fmt, options, given)
    if fmt.kind == "parquet":
        frame, memory = load(path)
        return _of_table(frame, memory.individual, options, given, str(path))
    return _of_csv(CsvFile(path, fmt, options), options, given, str(path))


def _of_csv(opened: CsvFile, options: ReadOptions, given: Collection[str], source: str) -> Description:
    roles = find_roles(opened.frame, options, source)
    dialect, frame = opened.dialect, opened.frame
    playing = {name for role in roles for name in role.columns}
    times = frame.with_columns(unguarded(frame[name]) for name in playing)
    comma = any("decimal comma" in note for note in infer_types(frame, playing, options.decimal, dialect.delimiter)[1])
    guessed = any(isinstance(note, OpenChoice) for note in opened.notes)
    said = _written(opened) | {"decimal": options.decimal or ("," if comma else ".")}
    quote = f"{DETECTED}: fields begin with it" if dialect.quote else DEFAULT if said["quote"] else f"{DETECTED}: none"
    why = {
        "encoding": f"{CHECK}not UTF-8, taken for Windows-1252" if guessed else f"{DETECTED}: the text is valid in it",
        "delimiter": f"{DETECTED}: it gives all lines as many fields",
        "quote": quote,
        "line_end": DETECTED,
        "decimal": DETECTED if comma else DEFAULT,
    }
    return _described("csv", said, why, roles, times, opened.place, options, given, source)


def _written(opened: CsvFile) -> dict[str, Any]:
    """How a file is written, in the words of a description."""
    dialect = opened.dialect
    quote = dialect.quote or ("" if opened.has_quotes else '"')
    line_end = next(name for name, mark in LINE_ENDS.items() if mark == dialect.line_end)
    return {"encoding": opened.decoder.encoding or "utf-8", "delimiter": dialect.delimiter, "quote": quote, "line_end": line_end}


def _of_table(
    frame: pl.DataFrame, individual: str | None, options: ReadOptions, given: Collection[str], source: str
) -> Description:
    roles = find_roles(frame, options, source)
    column = None if individual is None else CASE_PREFIX + individual
    if column in frame.columns and column is not None and all(role.role != "individual" for role in roles):
        roles = (*roles, FoundRole("individual", (column,), THE_FILE_SAYS))
    return _described("table", {}, {}, roles, frame, f"{source}, row {{}}".format, options, given, source)


def _of_xes(path: Path, fmt: FileFormat, options: ReadOptions, given: Collection[str]) -> Description:
    content = read_content(path, fmt, options)
    if not len(content.case_of_event):
        raise InputError("the log has no events", place=str(path), remedy="Describe a log that has some")
    frames = XesFrames(content, path, options)
    table, roles, key = frames.found_roles()
    said: dict[str, Any] = {} if options.encoding is None else {"encoding": options.encoding}
    why: dict[str, str] = {}
    if key is not None:
        zoned, notes = frames.zone_of(key)
        is_open = any(isinstance(note, OpenChoice) for note in notes)
        said["zone"] = options.zone or ("utc" if is_open else "file" if zoned else "none")
        why["zone"] = WHY_ZONE[said["zone"]]
    if not options.roles.case_id and any(role.role == "case_id" and role.columns == (CASE_ID,) for role in roles):
        roles = tuple(role for role in roles if role.role != "case_id")
        why["case_id"] = "default: each trace is a case"
    return _described("xes", said, why, roles, table, frames.place, options, given, str(path))


def _described(
    form: Form, said: Mapping[str, Any], why: Mapping[str, str], roles: Sequence[FoundRole], frame: pl.DataFrame, place: Place,
    options: ReadOptions, given: Collection[str], source: str,
) -> Description:  # fmt: skip
    """The description from what was found, and why; what the user gave is marked as given."""
    columns, reasons = {role.role: role.columns for role in roles}, {"format": "detected"}
    for role in roles:
        how = "" if role.reason == THE_FILE_SAYS else " by name" if role.reason.startswith(BY_NAME) else " by content"
        reasons[role.role] = f"detected{how}: {role.reason}"
    when, *clocks = columns["timestamp"]
    start = next(iter(columns.get("start_timestamp", ())), None)
    times, why_times = _times(frame, when, start, options, place, zone=said.get("zone"))
    found: dict[str, Any] = {
        "format": form,
        "case_id": columns.get("case_id", ()),
        "activity": columns["activity"],
        "timestamp": when,
        "clock": next(iter(clocks), None),
        "unit": "individual" if "individual" in columns else "case",
    }
    found |= {key: getattr(options, key) for key in ("lifecycle_keep", "sort_by_time", "drop_invalid")}
    found |= {role: columns[role][0] for role in ("lifecycle", "resource", "individual") if role in columns}
    found |= times | dict(said)
    reasons |= dict(why) | why_times | dict(why)
    reasons |= dict.fromkeys(("lifecycle_keep", "sort_by_time", "drop_invalid", "unit", "most_cases", "labels"), DEFAULT)
    used = [role for role in roles if role.role != "start_timestamp" or role.role in times]
    found["instances"], note = decided(frame, used, replace(options, zone=None) if "zone" in said else options)
    if note:
        shown = "a column holds start times" if note == STARTS_READ else "there are start and complete events"
        reasons["instances"] = f"{CHECK}{note.what}" if isinstance(note, OpenChoice) else f"{DETECTED}: {shown}"
    if clocks:
        reasons["clock"] = "detected by name and content"
    if "individual" in columns:
        reasons["unit"] = "because individual is named"
    for key in found.keys() & set(given):
        flag = "--month-first" if key == "day_first" and not options.day_first else f"--{key.replace('_', '-')}"
        reasons[key] = f"given by {flag}"
    ids = [{name: frame[name] for name in columns.get(role, ())} for role in ("individual", "case_id")]
    return Description(**found, reasons=reasons, source=f"the description of {source}", notes=tuple(alike_notes(*ids)))


def _times(
    frame: pl.DataFrame, when: str, start: str | None, options: ReadOptions, place: Place, *, zone: Zone | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """How times are written: a way to read every value by itself that gives what detection gives."""
    values = {name: stripped(frame[name], name, place) for name in (when, start) if name is not None}
    detected, notes = {}, {}
    for name, column in values.items():
        known = Column(name, place_in(column, place), {other: frame[other] for other in values if other != name})
        ours = replace(options, zone=None) if zone is not None or name != when else options
        detected[name], notes[name] = read_moments(column, ours, known)
        usable_moments(detected[name], column, options, place, optional=name != when)  # refuses what cannot be read
    held: Zone = "utc" if zone is not None else options.zone or "utc"
    found: Zone = "utc" if zone_is_open(when) in notes[when] else "none" if naive_note(when) in notes[when] else "file"
    zone = zone or options.zone or found
    reasons = {"zone": WHY_ZONE[zone]}
    said: dict[str, Any] = {"zone": zone}
    way = None
    for candidate in _ways(values[when], options):
        if _fits(candidate, held, values[when], detected[when], when):
            way = candidate if way is None else way
            if start is None:
                break
            if _fits(candidate, "utc", values[start], detected[start], start):
                way, said["start_timestamp"] = candidate, start
                break
    if way is None:
        what = f'the times in "{when}" are not written in one way'
        raise InputError(what, place=place(0), remedy="Give the format with --timestamp-format")
    if start is not None and "start_timestamp" not in said:
        reasons["start_timestamp"] = f'left out: "{start}" is written otherwise than "{when}"'
    said |= way
    open_notes = [note for note in notes[when] if isinstance(note, OpenChoice) and note != zone_is_open(when)]
    why = f"{CHECK}{open_notes[0].what}" if open_notes else f"{DETECTED}: all times are written so"
    if values[when].null_count() == values[when].len() and not values[when].dtype.is_temporal():
        why = reasons["zone"] = f'{CHECK}there is no time in "{when}" to tell it by'
    reasons |= dict.fromkeys(way, why)
    if "epoch_unit" in way:
        reasons["zone"] = "default: Unix times are in UTC"
    if options.day_first is not None:
        said["day_first"] = options.day_first
    return said, reasons


def _ways(values: pl.Series, options: ReadOptions) -> Iterator[dict[str, Any]]:
    """How times could be read each by itself, the plainest way first."""
    if isinstance(values.dtype, pl.Date | pl.Datetime):
        yield {}
    if options.timestamp_format:
        order = {"day_first": options.day_first is not False} if options.timestamp_format == ANY else {}
        yield {"timestamp_format": options.timestamp_format} | order
        return
    if options.epoch_unit:
        yield {"epoch_unit": options.epoch_unit}
        return
    text = values.cast(pl.String).drop_nulls()
    yield {"timestamp_format": ISO}
    for pattern in formats_like(text[0]) if text.len() else ():
        yield {"timestamp_format": pattern}
    for day_first in (True, False):
        if options.day_first in (None, day_first):
            yield {"timestamp_format": ANY, "day_first": day_first}
    for unit in get_args(EpochUnit):
        yield {"epoch_unit": unit}


def _fits(way: Mapping[str, Any], zone: Zone, values: pl.Series, detected: pl.Series, column: str) -> bool:
    """Whether a way to read each value by itself gives what detection gives."""
    exactly = ReadOptions(described="the description", zone=zone, drop_invalid=True, **way)
    try:
        read, _ = read_moments(values, exactly, Column(column))
    except InputError:
        return False
    return read.cast(detected.dtype).equals(detected)
