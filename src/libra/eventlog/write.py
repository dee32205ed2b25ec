"""Writing a log to a file: the name says the format and the compression, and the file appears whole or not at all.

A log in parts is written part by part, in memory that does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from libra._system.files import atomic_output
from libra.errors import InputError, UsageError
from libra.eventlog.files import compressed, output_format
from libra.eventlog.in_parts import PART_SCHEMA, SLICE_EVENTS, LogInParts
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import CASE_PREFIX, TIMESTAMP
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.tables.csv_write import CsvTable, write_csv
from libra.eventlog.tables.frames import parquet_table, remembering, write_parquet
from libra.eventlog.xes.write import write_xes


def write(log: EventLog, path: Path | str, progress: Progress = no_progress) -> tuple[str, ...]:
    """Write a log to `path` and give back notes on what the format could not hold.

    Example:
        >>> import tempfile
        >>> from libra import example, read
        >>> write(read(example.path()), Path(tempfile.mkdtemp()) / "log.xes.gz")
        ()
    """
    path = Path(path)
    form = output_format(path)
    if form.kind != "xes" and not isinstance(log, LogInParts):  # which has no attributes
        clash = {CASE_PREFIX + name for name in log.cases.columns} & set(log.events.columns)
        if clash:
            what = f'both the events and their cases have an attribute that a table calls "{min(clash)}"'
            raise InputError(what, place=str(path), remedy="Write XES instead")
    with atomic_output(path) as file, compressed(file, form.compression, path) as stream:
        if form.kind == "xes":
            return tuple(write_xes(log, stream, progress))
        if form.kind == "parquet":
            write_parquet(log, stream, progress)
            return ()
        return tuple(write_csv(log, stream, "\t" if form.kind == "tsv" else ",", progress))


def write_rows(rows: Iterable[pl.DataFrame], path: Path | str, metadata: LogMetadata) -> None:
    """Write events in any order, some rows at a time, as a table: case id, activity and a time in whole seconds."""
    path = Path(path)
    form = output_format(path)
    if form.kind == "xes":
        raise UsageError(f"{path.name}: XES holds whole cases, one after the other. Write Parquet or CSV.")
    with atomic_output(path) as file, compressed(file, form.compression, path) as stream:
        if form.kind == "parquet":
            with parquet_table(stream, PART_SCHEMA, remembering(metadata)) as write_some:
                for some in rows:
                    write_some(some)
            return
        table = CsvTable(stream, list(PART_SCHEMA), {TIMESTAMP: False}, "\t" if form.kind == "tsv" else ",")
        for some in rows:
            for few in some.iter_slices(SLICE_EVENTS):
                table.write(few)
