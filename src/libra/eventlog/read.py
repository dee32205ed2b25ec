"""Reading a log from wherever it is: a file of any format, a data frame, or a log that is one already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from libra.eventlog.files import input_format
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.select import keep_lifecycle, sort_by_time
from libra.eventlog.tables.csv_read import read_csv
from libra.eventlog.tables.frames import from_frame
from libra.eventlog.tables.parquet_read import read_parquet
from libra.eventlog.xes.read import read_xes

if TYPE_CHECKING:
    import pandas as pd


def read(source: str | Path | EventLog | pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    """The log in a source, with the user's choices applied.

    Example:
        >>> from libra import example
        >>> read(example.path(), ReadOptions()).n_cases
        2000
    """
    log = _load(source, options)
    if options.lifecycle_keep:
        log = keep_lifecycle(log, options.lifecycle_keep, str(source) if isinstance(source, str | Path) else "")
    if options.sort_by_time:
        return sort_by_time(log)
    if not log.in_time_order:
        log = log.with_notes("Some cases have events out of time order. File order is kept; --sort-by-time orders them by time.")
    return log


def _load(source: str | Path | EventLog | pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    if isinstance(source, EventLog):
        return source
    if not isinstance(source, str | Path):
        return from_frame(source, options)
    path = Path(source)
    fmt = input_format(path)
    if fmt.kind == "xes":
        return read_xes(path, fmt, options)
    if fmt.kind == "parquet":
        return read_parquet(path, options)
    return read_csv(path, fmt, options)
