"""Writing CSV and TSV: one row an event, in pm4py's column convention, in slices.

In: a log and a stream. Out: UTF-8 text, and notes on what a table cannot hold. Quotes carry the type: text always stands in
quotes, numbers, booleans and timestamps never do, a missing value is an empty field and empty text is `""`. No text cell is
ever taken for a formula by a spreadsheet: one that could be gets an apostrophe in front, which our reader takes off again.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import BinaryIO

import polars as pl

from libra.eventlog.columns import column
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import CASE_INDEX, CASE_PREFIX
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.slices import slices
from libra.eventlog.xes.header import default_metadata

FORMULA = r"^'*[=+\-@\t\r]"
AWKWARD = rf'["\x00]|{FORMULA}'


def write_csv(log: EventLog, stream: BinaryIO, separator: str = ",", progress: Progress = no_progress) -> list[str]:
    """Write a log as a table and tell what could not be kept. Progress counts events.

    Example:
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["=1+1"], "time:timestamp": [datetime(2024, 5, 6)], "cost": [9.5]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> write_csv(log, stream := BytesIO())
        []
        >>> print(stream.getvalue().decode().rstrip())
        case:concept:name,concept:name,time:timestamp,cost
        "anna","'=1+1",2024-05-06T00:00:00+00:00,9.5
    """
    cases = log.cases.select(pl.all().name.prefix(CASE_PREFIX))
    columns = [*cases, *log.events.drop(CASE_INDEX)]
    time_formats = {values.name: _time_format(values) for values in columns if values.dtype == pl.Datetime}
    stream.write((separator.join(_header(values.name) for values in columns) + "\n").encode())
    lossy = {values.name: None for values in columns if "\x00" in values.name}
    done = 0
    for events in slices(log):
        flat = pl.concat([cases[events[CASE_INDEX]], events.drop(CASE_INDEX)], how="horizontal")
        texts = [name for name, dtype in flat.schema.items() if dtype == pl.String]
        awkward = flat.select(column(name).str.contains(AWKWARD).any() for name in texts).row(0, named=True)
        with_nul = flat.select(column(name).str.contains("\x00", literal=True).any() for name in texts if awkward[name])
        lossy.update((found.name, None) for found in with_nul if found.item())
        cells = flat.with_columns(
            *(_quoted(name, awkward[name], name in lossy) for name in texts),
            *(column(name).dt.to_string(form) for name, form in time_formats.items()),
        )
        text = BytesIO()
        cells.write_csv(text, include_header=False, separator=separator, quote_style="never")
        stream.write(text.getvalue())
        done += events.height
        progress(done, log.n_events)
    notes = [f'NUL characters of "{_header(name)}" were replaced: a table cannot hold them.' for name in lossy]
    return notes + _left_out(log)


def _quoted(name: str, awkward: bool, with_nul: bool) -> pl.Expr:
    text = column(name)
    if with_nul:
        text = text.str.replace_all("\x00", "\ufffd", literal=True)
    if awkward:
        text = text.str.replace_all('"', '""', literal=True)
        text = pl.when(text.str.contains(FORMULA)).then(pl.lit("'") + text).otherwise(text)
    return pl.concat_str(pl.lit('"'), text, pl.lit('"')).alias(name)


def _header(name: str) -> str:
    name = name.replace("\x00", "\ufffd")
    if re.search(FORMULA, name):
        name = f"'{name}"
    plain = name == name.strip() != "" and not re.search(r"[,;|\t\r\n\"']", name)
    return name if plain else '"' + name.replace('"', '""') + '"'


def _time_format(values: pl.Series) -> str:
    """ISO 8601, with a fraction of the second only where the column has any."""
    fraction = "%.6f" if (values.to_physical() % 1_000_000 != 0).any() else ""
    return f"%Y-%m-%dT%H:%M:%S{fraction}+00:00"


def _left_out(log: EventLog) -> list[str]:
    notes = []
    if log.metadata not in (LogMetadata(), default_metadata(log)):
        notes.append("A table cannot hold the attributes, globals and classifiers of the log's header: they were left out.")
    if log.individual is not None:
        notes.append(
            f'A table cannot say that "{log.individual}" names the individual. Give --individual when you read the file.'
        )
    return notes
