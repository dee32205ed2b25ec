"""Reading a log from any source: at once into an `EventLog`, or as `EventBatches` for logs larger than memory."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from libra.errors import InputError, UsageError
from libra.eventlog.description import FORMS, check_form, in_its_words
from libra.eventlog.files import FileFormat, csv_files, input_format
from libra.eventlog.in_parts import EventBatches
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_PREFIX
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.pairing import with_instances
from libra.eventlog.select import OUT_OF_ORDER, keep_lifecycle, sort_by_time
from libra.eventlog.tables.csv_read import csv_batches, read_csv
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.frames import FRAME, frame_batches, from_frame, is_pattern, parquet_batches, read_parquet
from libra.eventlog.xes.read import XesBatches, read_xes

if TYPE_CHECKING:
    import pandas as pd


def read(source: str | Path | EventLog | pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    """The log in a source, with the user's choices applied."""
    with in_its_words(options.described):
        log = _load(source, options)
        if options.lifecycle_keep:
            log = keep_lifecycle(log, options.lifecycle_keep, str(source) if isinstance(source, str | Path) else "")
        log = with_instances(log, options, detect=not isinstance(source, EventLog))
    if options.sort_by_time and log.instances != "pair":
        return sort_by_time(log)
    return log if log.in_time_order else log.with_notes(OUT_OF_ORDER)


def _load(source: str | Path | EventLog | pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    if isinstance(source, EventLog):
        if options.described:
            raise UsageError("The log has been read already: a description is for libra.read.")
        return _with_roles(source, options)
    if not isinstance(source, str | Path):
        if type(source).__module__.partition(".")[0] not in ("polars", "pandas"):
            remedy = "Give the path of a file, a pandas or Polars frame, or an EventLog"
            raise InputError(f"a {type(source).__name__} is not an event log", remedy=remedy)
        check_form("table", options, FRAME)
        return from_frame(source, options)
    path = Path(source)
    files = csv_files(path)
    fmt = FileFormat("csv") if files else input_format(path)
    check_form(FORMS[fmt.kind], options, str(path))
    if fmt.kind == "xes":
        return read_xes(path, fmt, options)
    return read_parquet(path, options) if fmt.kind == "parquet" else read_csv(files or [path], options, str(path))


def _with_roles(log: EventLog, options: ReadOptions) -> EventLog:
    """A log whose columns play the roles that the user names, taken from its flat form where they do not already."""
    played = {found.role: found.columns for found in log.roles}
    asked = {field.name: getattr(options.roles, field.name) for field in fields(RoleNames)}
    new = {role: names for role, names in asked.items() if names and played.get(role) not in (names, (names,))}
    if not new:
        return log
    if log.individual is not None:
        new.setdefault("individual", CASE_PREFIX + log.individual)
    frame, ours, place = log.to_polars(), replace(options, roles=RoleNames(**new), zone=None), "the log, row {}".format
    played_by_others = from_flat(frame, ours, place=place, source="the log", metadata=log.metadata, notes=log.notes)
    return played_by_others if "timestamp" in new else replace(played_by_others, has_zone=log.has_zone)


def batches_of(source: str | Path | pl.LazyFrame | pl.DataFrame, options: ReadOptions) -> EventBatches:
    """The events of a source in batches of bounded size, in file order and with the user's choices applied.

    `options.sort_by_time` is left to those who hold whole cases. Cloud addresses ("s3://bucket/log/*.parquet") have to be text: a
    `Path` would not keep them.

    Example:
        >>> from libra import example
        >>> events = batches_of(example.path(), ReadOptions())
        >>> sum(batch["case"].n_unique() for batch in events), events.has_zone
        (2000, True)
    """
    if isinstance(source, pl.LazyFrame | pl.DataFrame):
        check_form("table", options, FRAME)
        return frame_batches(source.lazy(), options)
    path = Path(source)
    if (isinstance(source, str) and "://" in source) or is_pattern(path):
        check_form("table", options, str(source))
        return parquet_batches(source, options)
    fmt = input_format(path)
    check_form(FORMS[fmt.kind], options, str(path))
    if fmt.kind == "parquet":
        return parquet_batches(path, options)
    return XesBatches(path, fmt, options) if fmt.kind == "xes" else csv_batches(path, fmt, options)
