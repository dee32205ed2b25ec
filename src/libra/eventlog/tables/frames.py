"""Data frames in and out: Polars and pandas, in pm4py's column convention or any other that the roles can be found in.

In: a frame somebody holds in memory. Out: an `EventLog`, and back. pandas is never imported unless the caller already uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from libra.errors import InputError, MissingExtraError
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.remembered import KEY, Remembered, remembered

if TYPE_CHECKING:
    import pandas as pd

FRAME = "the data frame"


def from_frame(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    """Make a log of a data frame, one row an event; the index of a pandas frame does not count.

    Example:
        >>> frame = pl.DataFrame({"case": ["a"], "activity": ["triage"], "timestamp": ["2024-05-06T08:00:00Z"]})
        >>> from_frame(frame, ReadOptions()).n_cases
        1
    """
    notes: list[str] = []
    frame, memory = _as_polars(frame, notes)
    log = from_flat(frame, options, place=lambda row: f"{FRAME}, row {row}", source=FRAME, metadata=memory.metadata, notes=notes)
    return log if options.described else memory.with_individual(log, "the frame says so")


def to_frame(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame) -> tuple[pl.DataFrame, str | None]:
    """The rows of a data frame in Polars, and the attribute of the case that it remembers as the individual."""
    rows, memory = _as_polars(frame, [])
    return rows, memory.individual


def _as_polars(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, notes: list[str]) -> tuple[pl.DataFrame, Remembered]:
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame, Remembered()
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        raise InputError(f"a {type(frame).__name__} is no data frame", remedy="Give a pandas or Polars frame")
    return _from_pandas(frame, notes), remembered(frame.attrs.get(KEY))


def to_pandas(log: EventLog) -> pd.DataFrame:
    """The flat frame of a log for pandas and pm4py, timestamps in UTC; missing numbers stay missing (nullable types).

    Example:
        >>> from datetime import datetime, UTC
        >>> noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
        >>> events = pl.DataFrame({"@case": [0], "concept:name": ["triage"], "time:timestamp": [noon]})
        >>> list(to_pandas(EventLog(events, pl.DataFrame({"concept:name": ["c1"]}))).columns)
        ['case:concept:name', 'concept:name', 'time:timestamp']
    """
    try:
        import pandas as pd
        import pyarrow as pa  # noqa: F401  # Polars goes through it
    except ImportError as error:
        raise MissingExtraError(error.name or "pandas", "pandas") from error
    flat = log.to_polars()
    frame = flat.to_pandas()
    for name, dtype in flat.schema.items():
        if dtype in (pl.Int64, pl.Boolean) and flat[name].null_count():
            frame[name] = pd.array(flat[name].to_list(), dtype="Int64" if dtype == pl.Int64 else "boolean")
    frame.attrs[KEY] = {"metadata": log.metadata.to_dict(), "individual": log.individual}
    return frame


def _from_pandas(frame: pd.DataFrame, notes: list[str]) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    twice = sorted({f'"{name}"' for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"several columns are called {', '.join(twice)}", place=FRAME, remedy="Give each column its own name")
    columns = {}
    for position, name in enumerate(names):
        values = frame.iloc[:, position]
        series: pl.Series | pl.DataFrame | None
        try:
            series = (
                _from_objects(values, name, notes)
                if values.dtype == object
                else pl.from_pandas(values.rename(None), nan_to_null=True)
            )
        except (TypeError, ValueError, NotImplementedError, pl.exceptions.PolarsError):  # pyarrow's words for a type it lacks
            series = _from_objects(values.astype(object), name, notes)
        if isinstance(series, pl.Series):
            columns[name] = series
    return pl.DataFrame(columns)


def _from_objects(values: pd.Series, name: str, notes: list[str]) -> pl.Series | None:
    """A column of Python objects: by the kind they share, as text where they differ, not at all where they are containers."""
    from pandas.api.types import infer_dtype

    kind = infer_dtype(values, skipna=True)
    missing = values.isna()
    if kind in ("string", "integer", "floating", "boolean", "datetime", "datetime64", "date", "decimal", "empty"):
        try:
            return pl.Series(values.where(~missing, None).tolist(), strict=True)
        except (TypeError, pl.exceptions.PolarsError, OverflowError):
            pass  # zones that differ, numbers beyond 64 bits: text says it
    present = values[~missing]
    if present.map(lambda value: isinstance(value, list | tuple | dict | set | bytes)).any():
        notes.append(f'The column "{name}" holds objects no event log can hold and was left out.')
        return None
    if kind != "datetime":
        notes.append(f'The column "{name}" holds values of different kinds, which are kept as text.')
    return pl.Series(values.map(str).astype(object).where(~missing, None).tolist(), dtype=pl.String)
