"""Writing a log to a file: the name says the format and the compression, and the file appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

from libra.errors import InputError
from libra.eventlog.files import atomic_output
from libra.eventlog.formats import output_format
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_PREFIX
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.tables.csv_write import write_csv
from libra.eventlog.tables.parquet_write import write_parquet
from libra.eventlog.xes.write import write_xes


def write(log: EventLog, path: Path | str, progress: Progress = no_progress) -> tuple[str, ...]:
    """Write a log to `path` and give back notes on what the format could not hold.

    Example:
        >>> import tempfile
        >>> import polars as pl
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["triage"], "time:timestamp": [datetime(2024, 5, 6)]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> write(log, Path(tempfile.mkdtemp()) / "log.xes.gz")
        ()
    """
    path = Path(path)
    form = output_format(path)
    if form.kind != "xes":
        _refuse_clash(log, path)
    with atomic_output(path, form.compression) as stream:
        if form.kind == "xes":
            return tuple(write_xes(log, stream, progress))
        if form.kind == "parquet":
            write_parquet(log, stream)
            return ()
        return tuple(write_csv(log, stream, "\t" if form.kind == "tsv" else ",", progress))


def _refuse_clash(log: EventLog, path: Path) -> None:
    """In a table an attribute of the case must not share its column with one of the events."""
    clash = {CASE_PREFIX + name for name in log.cases.columns} & set(log.events.columns)
    if clash:
        what = f'both the events and their cases have an attribute that a table calls "{min(clash)}"'
        raise InputError(what, place=str(path), remedy="Write XES instead")
