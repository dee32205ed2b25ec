"""Data frames in and out (Polars and pandas), and frames or Parquet of any size to batches of events.

pandas is never imported unless the caller already uses it. In batches only the columns that play a role are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from libra.errors import InputError, MissingExtraError
from libra.eventlog.files import input_format, parquet_files
from libra.eventlog.in_parts import EventBatches
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.names import CASE_PREFIX, column
from libra.eventlog.options import Place, ReadOptions
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.in_batches import Table, TableBatches
from libra.eventlog.tables.parquet import KEY, Remembered, intact, memory_of, remembered, scan, scan_cloud
from libra.eventlog.tables.values import as_text

if TYPE_CHECKING:
    import pandas as pd


FRAME = "the data frame"
BATCH = 1 << 18  # rows at a time
SAMPLE = 1 << 16  # rows to decide on
_ELSEWHERE = 4  # places behind the first rows that more rows to decide on come from, an eighth of the sample each


def from_frame(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    """Make a log of a data frame, one row an event; the index of a pandas frame does not count."""
    notes: list[str] = []
    frame, memory = _as_polars(frame, notes)
    log = from_flat(frame, options, place=lambda row: f"{FRAME}, row {row}", source=FRAME, metadata=memory.metadata, notes=notes)
    return log if options.described else memory.with_individual(log, "the frame says so", FRAME)


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
    """A column of Python objects: by the kind they share, as text where they differ, not at all where they are containers.

    `as_text` of the column says the same of a value either way.
    """
    missing = values.isna()
    present = values[~missing].tolist()
    if any(isinstance(value, list | tuple | dict | set | bytes) for value in present):
        notes.append(f'The column "{name}" holds objects no event log can hold and was left out.')
        return None
    kinds = _kinds(present)
    if len(set(kinds)) <= 1:
        try:
            series = pl.Series(values.where(~missing, None).tolist(), strict=True)
            if series.dtype != pl.Object and series.null_count() == missing.sum():  # decimals that do not fit are null
                return series
        except (TypeError, pl.exceptions.PolarsError, OverflowError):
            pass  # numbers that do not fit: text says it
    elif {kind.partition(" ")[0] for kind in kinds} != {"datetime"}:
        notes.append(f'The column "{name}" holds values of different kinds, which are kept as text.')
    text = np.full(len(values), None, object)
    rows, held = np.flatnonzero(~missing), np.array(kinds)
    for kind in set(kinds):
        of_kind = np.flatnonzero(held == kind)
        text[rows[of_kind]] = _texts([present[i] for i in of_kind], kind)
    return pl.Series(text.tolist(), dtype=pl.String)


def _kinds(values: list[Any]) -> list[str]:
    """For each value what it has in common with others that Polars can hold in one column as they are."""
    of_type = {of: _kind_of(of) for of in {type(value) for value in values}}
    kinds = [of_type[type(value)] for value in values]
    zoned = "datetime with a zone"
    return [zoned if kind == "datetime" and value.tzinfo else kind for kind, value in zip(kinds, values, strict=True)]


def _kind_of(of: type) -> str:
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (str, "text"),
        ((bool, np.bool_), "boolean"),
        ((int, np.integer), "integer"),
        (float, "float"),
        (np.floating, f"float, {of.__name__}"),
        (datetime, "datetime"),
        ((date, time, Decimal), of.__name__),
    )
    return next((kind for types, kind in kinds if issubclass(of, types)), f"a {of.__name__}")


def _texts(values: list[object], kind: str) -> list[str | None]:
    """Values of one kind as text, each as `as_text` would have it in a column of its own."""
    if kind in ("text", "integer") or kind.startswith("a "):
        return [str(value) for value in values]
    if kind == "Decimal":
        fixed = (f"{value:f}" for value in values)
        short = (text.rstrip("0").rstrip(".") if "." in text else text for text in fixed)
        return ["0" if text == "-0" else text for text in short]
    return as_text(pl.Series(values, strict=True)).to_list()


def parquet_batches(source: str | Path, options: ReadOptions) -> EventBatches:
    """The events of a Parquet file, of a folder, of all files that a pattern such as `lake/*.parquet` names, or in a cloud."""
    name, individual = str(source), None
    with intact(name):
        if "://" in name:
            rows = scan_cloud(name)
        else:
            path = Path(source)
            files = _matching(path) if is_pattern(path) else parquet_files(path)
            rows, memory = scan(files, path), memory_of(files[0])
            if memory.individual is not None and CASE_PREFIX + memory.individual in rows.collect_schema():
                individual = FoundRole("individual", (CASE_PREFIX + memory.individual,), "the file says so")
        return frame_batches(rows, options, name, first_row=1, individual=individual, guard=lambda: intact(name))


def is_pattern(path: Path) -> bool:
    """Whether a path stands for all the files that it matches."""
    return any(letter in str(path) for letter in "*?[") and not path.exists()


def _matching(pattern: Path) -> list[Path]:
    found = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    if not found:
        raise InputError("there is no such file", place=str(pattern), remedy="Check the path")
    for file in found:
        if input_format(file).kind != "parquet":
            raise InputError("only Parquet files are read several at a time", place=str(file), remedy="Name one file")
    return [part for file in found for part in parquet_files(file)]


def frame_batches(
    frame: pl.LazyFrame,
    options: ReadOptions,
    source: str = FRAME,
    *,
    first_row: int = 0,
    individual: FoundRole | None = None,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> EventBatches:
    """The events of a frame; rows are counted from `first_row` on, and what goes wrong under way is told by `guard`."""
    with guard():
        height = int(frame.select(pl.len()).collect().item())
        sample, positions = _sample(frame, height)

    def rows(names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Place]]:
        done = 0
        with guard():
            chosen = frame.select(column(name) for name in names)
            batches = iter(chosen.collect_batches(chunk_size=BATCH, maintain_order=True))
        while True:
            with guard():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch, _placer(source, done + first_row)
            done += batch.height
            options.progress(done, height)

    def place(row: int) -> str:
        return f"{source}, row {int(positions[row]) + first_row}"

    return TableBatches(Table(source, sample, place, rows, height, individual), options)


def _sample(frame: pl.LazyFrame, height: int) -> tuple[pl.DataFrame, pl.Series]:
    """The first rows and some of those behind them, and where they stand."""
    stretches = [(0, SAMPLE)]
    if height > 2 * SAMPLE:
        stretches += [(SAMPLE + (height - SAMPLE) * part // _ELSEWHERE, SAMPLE // 8) for part in range(_ELSEWHERE)]
    rows = pl.concat([frame.slice(start, length).collect() for start, length in stretches])
    spots = [pl.int_range(start, min(start + length, height), eager=True) for start, length in stretches]
    return rows, pl.concat(spots)


def _placer(source: str, first: int) -> Place:
    return lambda row: f"{source}, row {row + first}"
