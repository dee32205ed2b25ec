"""Times in Spark: how the column of timestamps becomes microseconds since 1970.

In: an open table, which columns hold the times, and a sample of them. Out: `Moments`. Timestamps and dates are read by Spark, in
no session's time zone; text and numbers by the reader that all engines share, batch by batch on the executors, each as the
sample shows. What does not fit it is an error, never read in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from libra.engines.spark.session import in_one_line, without_warnings
from libra.engines.spark.tables import OpenTable
from libra.eventlog.notes import OpenChoice, order_is_open, refuse_open
from libra.eventlog.options import ReadOptions, no_progress
from libra.eventlog.tables.dates import read_clock_times
from libra.eventlog.tables.in_batches import Times

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

TIME, CLOCK = "time", "clock"
DAY = 86_400_000_000  # microseconds
DAY_LEADS = r"^(1[3-9]|2[0-9]|3[01])[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([^0-9]|$)"  # of a date whose first number is no month


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """How times are read.

    Attributes:
        columns: Of the table, called `time` and, for a time of day in a column of its own, `clock`; or `micros`.
        reader: What reads them on the executors; None where Spark does.
        has_zone: Whether times are in a zone.
        notes: What was assumed.
    """

    columns: tuple[Column, ...]
    reader: Callable[[pl.DataFrame], pl.Series] | None
    has_zone: bool
    notes: tuple[str, ...]

    def read(self, frame: DataFrame) -> DataFrame:
        """The frame with `micros` in place of the columns of times; null where there is none to be used."""
        if self.reader is None:
            return frame
        reader, passed = self.reader, [name for name in frame.columns if name not in (TIME, CLOCK)]

        def with_micros(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            for batch in batches:
                times = [name for name in (TIME, CLOCK) if name in batch.schema.names]
                micros = reader(pl.DataFrame({name: pl.Series(batch.column(name)) for name in times}))
                yield pa.RecordBatch.from_arrays([*map(batch.column, passed), micros.to_arrow()], [*passed, "micros"])

        schema = frame.select(*passed).schema.add("micros", "long")
        with without_warnings():
            return frame.mapInArrow(with_micros, schema)


def moments_of(table: OpenTable, columns: Mapping[str, tuple[str, ...]], sample: pl.DataFrame, options: ReadOptions) -> Moments:
    """How the times of a table are read, as a sample of its rows shows."""
    name, *clocks = columns["timestamp"]
    start = columns.get("start_timestamp", ())[:1]
    beside = (start[0], sample[start[0]]) if start else None
    times = Times(_without_decimals(sample[name]), beside, options, name, place=lambda _row: table.place)
    notes = _still_open(times.notes(), table, name) + [
        f'The times of day in "{clock}" were added to the dates in "{name}".' for clock in clocks
    ]
    native = None if clocks else _by_spark(table.kind_of(name), table.column(name))
    if native is not None:
        return Moments((native.alias("micros"),), None, times.has_zone, tuple(notes))
    time = table.column(name).cast("double") if table.kind_of(name).startswith("decimal") else table.column(name)
    chosen = (time.alias(TIME), *(table.column(clock).alias(CLOCK) for clock in clocks))
    lenient = replace(options, drop_invalid=True, progress=no_progress)  # what cannot be read is for others to find
    lenient_times = Times(_without_decimals(sample[name]), beside, lenient, name, place=lambda _row: table.place)
    return Moments(chosen, _Reader(lenient_times, lenient, table.place), times.has_zone, tuple(notes))


@dataclass(frozen=True, eq=False, repr=False)
class _Reader:
    """Reads a batch of times as the sample shows, whatever other batches hold."""

    times: Times
    options: ReadOptions
    place: str

    def __call__(self, batch: pl.DataFrame) -> pl.Series:
        def place(_row: int) -> str:
            return self.place

        times = copy(self.times)
        moments = times.read(batch[TIME], None, place)
        refuse_open((note for note in times.notes() if isinstance(note, OpenChoice) and not note.may_close), self.place)
        if CLOCK in batch.columns:
            moments = moments + read_clock_times(batch[CLOCK], self.options, place=place)
        return moments.cast(pl.Int64)


def _still_open(notes: Sequence[str], table: OpenTable, name: str) -> list[str]:
    """The notes, without the one that day or month may come first where any row of the table shows that the day does."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    if not any(isinstance(note, OpenChoice) and note.may_close for note in notes):
        return list(notes)
    with in_one_line(table.place):
        shown = table.frame.filter(F.trim(table.column(name)).rlike(DAY_LEADS)).limit(1).count()
    settled = order_is_open(name, "").what if shown else ""
    return [note for note in notes if not (isinstance(note, OpenChoice) and note.what == settled)]


def _by_spark(kind: str, column: Column) -> Column | None:
    """Microseconds since 1970 by Spark itself, whatever the time zone of the session."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    if kind == "timestamp":
        return F.unix_micros(column)
    if kind == "timestamp_ntz":
        since: Any = column - F.expr("TIMESTAMP_NTZ'1970-01-01 00:00:00'")
        micros: Column = (since.cast("decimal(38, 6)") * 1_000_000).cast("bigint")
        return micros
    return F.unix_date(column).cast("bigint") * DAY if kind == "date" else None


def _without_decimals(values: pl.Series) -> pl.Series:
    return values.cast(pl.Float64) if values.dtype.is_decimal() else values
