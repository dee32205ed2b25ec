"""Times in Spark: microseconds since 1970.

Timestamps and dates are read by Spark, in no session's time zone; text and numbers by the reader that all engines share, batch
by batch on the executors, each as a sample shows. What does not fit it is an error, never read in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from libra.engines.spark.session import F, in_one_line, without_warnings
from libra.engines.spark.tables import OpenTable
from libra.eventlog.notes import OpenChoice, order_is_open, refuse_open
from libra.eventlog.options import ReadOptions, no_progress
from libra.eventlog.tables.dates import read_clock_times
from libra.eventlog.tables.in_batches import Times
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

TIME, CLOCK, STARTED_AT = "time", "clock", "started_at"
DAY = 86_400_000_000  # microseconds
DAY_LEADS = r"^(1[3-9]|2[0-9]|3[01])[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([^0-9]|$)"  # of a date whose first number is no month
FIRST, AFTER = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (FIRST_YEAR, LAST_YEAR + 1))
UNREADABLE = FIRST - 1  # stands for a start that cannot be read
ReadBatch = Callable[[pl.DataFrame], pl.Series]


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """How times are read, whether they are in a zone, and what was assumed."""

    columns: tuple[Column, ...]  # called `time` and, for a time of day in a column of its own, `clock`; or `micros`
    reader: ReadBatch | None  # on the executors; None where Spark reads them
    has_zone: bool
    notes: tuple[str, ...]
    start_reader: ReadBatch | None = None  # of `started_at`, likewise; None also where there are no starts

    def read(self, frame: DataFrame) -> DataFrame:
        """The frame with `micros` in place of the columns of times, and `start`; null where there is none to be used."""
        readers = {"micros": (self.reader, (TIME, CLOCK)), "start": (self.start_reader, (STARTED_AT,))}
        made = {name: (reader, columns) for name, (reader, columns) in readers.items() if reader is not None}
        if not made:
            return frame
        passed = [name for name in frame.columns if not any(name in columns for _, columns in made.values())]

        def with_micros(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            for batch in batches:
                moments = []
                for reader, columns in made.values():
                    times = {name: pl.Series(batch.column(name)) for name in columns if name in batch.schema.names}
                    moments.append(reader(pl.DataFrame(times)).to_arrow())
                yield pa.RecordBatch.from_arrays([*map(batch.column, passed), *moments], [*passed, *made])

        schema = frame.select(*passed).schema
        for name in made:
            schema = schema.add(name, "long")
        with without_warnings():
            return frame.mapInArrow(with_micros, schema)


def moments_of(
    table: OpenTable, columns: Mapping[str, tuple[str, ...]], sample: pl.DataFrame, options: ReadOptions, *, starts: bool = False
) -> Moments:
    """How the times of a table are read, as a sample of its rows shows; with `starts`, those of the column of starts as well."""
    name, *clocks = columns["timestamp"]
    beside = {start: sample[start] for start in columns.get("start_timestamp", ())}
    times = Times(_without_decimals(sample[name]), beside, options, name, place=lambda _row: table.place)
    notes = _still_open(times.notes, table, name)
    notes += [f'The times of day in "{clock}" were added to the dates in "{name}".' for clock in clocks]
    lenient = replace(options, drop_invalid=True, progress=no_progress)  # what cannot be read is for others to find
    started, start_reader = _starts_of(table, columns["start_timestamp"][0], name, sample, lenient) if starts else ((), None)
    native = None if clocks else _by_spark(table.kind_of(name), table.column(name))
    if native is not None:
        return Moments((native.alias("micros"), *started), None, times.has_zone, tuple(notes), start_reader)
    chosen = (_time_column(table, name).alias(TIME), *(table.column(clock).alias(CLOCK) for clock in clocks), *started)
    lenient_times = Times(_without_decimals(sample[name]), beside, lenient, name, place=lambda _row: table.place)
    reader = _Reader(lenient_times, lenient, table.place)
    return Moments(chosen, reader, times.has_zone, tuple(notes), start_reader)


def _starts_of(
    table: OpenTable, name: str, completed: str, sample: pl.DataFrame, lenient: ReadOptions
) -> tuple[tuple[Column], ReadBatch | None]:
    """The column of starts, read by Spark (as `start`) or by what is the second part (as `started_at`)."""
    native = _by_spark(table.kind_of(name), table.column(name))
    if native is not None:
        return (native.alias("start"),), None
    options = lenient if lenient.zone is None else replace(lenient, zone="utc")  # its own zone never decides that of the log
    beside = {completed: sample[completed]}
    times = Times(_without_decimals(sample[name]), beside, options, name, place=lambda _row: table.place, optional=True)
    return (_time_column(table, name).alias(STARTED_AT),), _Reader(times, options, table.place, STARTED_AT)


def _time_column(table: OpenTable, name: str) -> Column:
    return table.column(name).cast("double") if table.kind_of(name).startswith("decimal") else table.column(name)


@dataclass(frozen=True, eq=False, repr=False)
class _Reader:
    """Reads a batch of times as the sample shows, whatever other batches hold."""

    times: Times
    options: ReadOptions
    place: str
    column: str = TIME

    def __call__(self, batch: pl.DataFrame) -> pl.Series:
        def place(_row: int) -> str:
            return self.place

        times = copy(self.times)
        moments = times.read(batch[self.column], {}, place)
        refuse_open((note for note in times.notes if isinstance(note, OpenChoice) and not note.may_close), self.place)
        if CLOCK in batch.columns:
            moments = moments + read_clock_times(batch[CLOCK], self.options, place=place)
        micros = moments.cast(pl.Int64)
        if self.column == STARTED_AT:  # an event may do without a start, but not have one that cannot be read
            said = batch[self.column]
            blank = said.str.strip_chars() == "" if said.dtype == pl.String else pl.repeat(False, len(said), eager=True)
            micros = micros.set(micros.is_null() & said.is_not_null() & ~blank.fill_null(True), UNREADABLE)
        return micros


def _still_open(notes: Sequence[str], table: OpenTable, name: str) -> list[str]:
    """The notes, without the one that day or month may come first where any row of the table shows that the day does."""
    if not any(isinstance(note, OpenChoice) and note.may_close for note in notes):
        return list(notes)
    with in_one_line(table.place):
        shown = table.frame.filter(F.trim(table.column(name)).rlike(DAY_LEADS)).limit(1).count()
    settled = order_is_open(name, "").what if shown else ""
    return [note for note in notes if not (isinstance(note, OpenChoice) and note.what == settled)]


def _by_spark(kind: str, column: Column) -> Column | None:
    """Microseconds since 1970 by Spark itself, whatever the time zone of the session."""
    if kind == "timestamp":
        return F.unix_micros(column)
    if kind == "timestamp_ntz":
        since: Any = column - F.expr("TIMESTAMP_NTZ'1970-01-01 00:00:00'")
        micros: Column = (since.cast("decimal(38, 6)") * 1_000_000).cast("bigint")
        return micros
    return F.unix_date(column).cast("bigint") * DAY if kind == "date" else None


def _without_decimals(values: pl.Series) -> pl.Series:
    return values.cast(pl.Float64) if values.dtype.is_decimal() else values
