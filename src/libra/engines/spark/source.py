"""A log in Spark: which columns are what, times as microseconds since 1970, and keyed draws of cases.

Timestamps and dates are read by Spark, in no session's time zone; text and numbers by the reader that all engines share, batch
by batch on the executors, each as a sample shows. What does not fit it is an error, never read in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from libra._system.randomness import Randomness
from libra.engines.sampling import KEY_WORDS, limit_of
from libra.engines.spark.session import in_one_line, without_warnings
from libra.engines.spark.tables import FILE_NUMBER, OpenTable, is_nested
from libra.errors import InputError, UsageError
from libra.eventlog.log import FoundRole
from libra.eventlog.names import CASE_NAME, CASE_PREFIX
from libra.eventlog.notes import OpenChoice, order_is_open, refuse_open
from libra.eventlog.options import ReadOptions, no_progress
from libra.eventlog.tables.dates import read_clock_times
from libra.eventlog.tables.in_batches import Times
from libra.eventlog.tables.roles import FLAGS, REQUIRED, WORDS, find_roles, unused_clocks
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

TIME, CLOCK = "time", "clock"
DAY = 86_400_000_000  # microseconds
DAY_LEADS = r"^(1[3-9]|2[0-9]|3[01])[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([^0-9]|$)"  # of a date whose first number is no month
BLANK = r"(?U)^\s*$"
FIXED, TRAILING = r"^-?[0-9]+\.[0-9]+$", r"\.?0+$"  # of decimals: with digits behind the point, and those that say nothing
MOST_LABELS = 1_000_000  # that are told apart at all
FIRST, AFTER = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (FIRST_YEAR, LAST_YEAR + 1))
NO_ORDER = "A data frame has no order: events of a case are ordered by time, and by their label where times are equal."
DROPPED = "Events without a case id, an activity or a timestamp that can be used are left out, if there are any."
DROP = "or drop such events with --drop-invalid"
PROBLEMS = {  # by the number that marks an event
    1: ("no case id", f"Fill it in, {DROP}"),
    2: ("no activity", f"Fill it in, {DROP}"),
    3: ("an event has no timestamp that can be read", f"Give the format with --timestamp-format, {DROP}"),
    4: (f"a timestamp is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder", f"Correct it, {DROP}"),
    5: ("some rows are in a file that came while it was read", "Try again when nobody writes there"),
    6: ("some text is not in UTF-8", "Name the encoding with --encoding"),
    7: ("some text is not in the encoding that was named", "Name the right one with --encoding, or correct the text"),
}
ALWAYS_REFUSED = 5  # from there on, events are never left out
REPLACED = "\ufffd"  # what stands for bytes that are no text
DIGITS = 16  # of 64 bits


def drawn_key(random: Randomness) -> bytes:
    """A key for draws that have nothing to do with any others."""
    return random.words(KEY_WORDS).tobytes()


def words_of(ids: Column, key: bytes) -> Column:
    """A random word of 64 bits for every id, in hexadecimal digits, the same wherever and however often Spark computes it.

    Spark may compute a column twice (a lost executor, speculation), so the word is a keyed hash of the id, nested as in HMAC.
    """
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    secret = F.lit(bytearray(key))
    inner = F.sha2(F.concat(secret, F.encode(ids, "UTF-8")), 256)
    return F.substring(F.sha2(F.concat(secret, F.encode(inner, "UTF-8")), 256), 1, DIGITS)


def takes(ids: Column, rate: float, key: bytes) -> Column:
    """Whether the case of an id takes part in a Poisson subsample: with the probability `rate`, or a hair less."""
    return words_of(ids, key) < f"{int(limit_of(rate)):0{DIGITS}x}"


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
    beside = {start: sample[start] for start in columns.get("start_timestamp", ())}
    times = Times(_without_decimals(sample[name]), beside, options, name, place=lambda _row: table.place)
    notes = _still_open(times.notes, table, name) + [
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
        moments = times.read(batch[TIME], {}, place)
        refuse_open((note for note in times.notes if isinstance(note, OpenChoice) and not note.may_close), self.place)
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


@dataclass(frozen=True, eq=False, repr=False)
class Events:
    """Events that Spark has not read yet: one row each, with `case`, `label`, its times, its order and perhaps `individual`.

    Attributes:
        frame: The rows; times are as they stand in the table.
        order: The columns that order the events of a case, before their time and label.
        moments: How times are read.
        drop_invalid: Whether events that cannot be used are left out, rather than an error.
        place: What to call the source in errors.
        unreadable: The problem of events with bytes that are no text; None where the source is no text file.
        whole: The events that these are a part of; labels are those of the whole.
        listed: The labels, where they are given.
    """

    frame: DataFrame
    order: tuple[str, ...]
    moments: Moments
    drop_invalid: bool
    place: str
    unreadable: int | None = None
    whole: Events | None = None
    listed: tuple[str, ...] | None = None

    def sampled(self, rate: float, key: bytes) -> Events:
        """Only those of cases that take part in a Poisson subsample, and those without a case, which are an error."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        case = F.col("case")
        return replace(self, frame=self.frame.filter(case.isNull() | takes(case, rate, key)), whole=self.whole or self)

    def of_labels(self, labels: tuple[str, ...]) -> Events:
        """Only those of these labels, and those without a label, which are an error."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        label = F.col("label")
        return replace(self, frame=self.frame.filter(label.isNull() | label.isin(list(labels))), listed=labels)

    def of_cases(self, cases: DataFrame) -> Events:
        """Only those of these cases, and those without a case, which are an error."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        marked = self.frame.join(cases.withColumn("counts", F.lit(True)), "case", "left")
        chosen = marked.filter(F.col("case").isNull() | F.col("counts")).drop("counts")
        return replace(self, frame=chosen, whole=self.whole or self)

    @property
    def read(self) -> DataFrame:
        """The events with `micros`, and with `problem` where one cannot be used."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        micros = F.col("micros")
        unplaced = F.col(FILE_NUMBER).isNull() if FILE_NUMBER in self.order else F.lit(False)
        problem = (
            F.when(F.col("case").isNull(), 1)
            .when(F.col("label").isNull(), 2)
            .when(micros.isNull(), 3)
            .when((micros < FIRST) | (micros >= AFTER), 4)
            .when(unplaced, 5)
        )
        if self.unreadable is not None:
            texts = [name for name in ("case", "label", "individual") if name in self.frame.columns]
            replaced = F.concat_ws(" ", *texts).contains(REPLACED)
            problem = F.when(replaced, self.unreadable).otherwise(problem)
        events = self.moments.read(self.frame).withColumn("problem", problem)
        usable = F.coalesce("problem", F.lit(ALWAYS_REFUSED)) >= ALWAYS_REFUSED
        return events.filter(usable) if self.drop_invalid else events

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of the whole log, sorted: all that is looked at are those, unless events may have to be left out."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        if self.listed is not None:
            return self.listed
        if self.whole is not None:
            return self.whole.labels
        with in_one_line(self.place):
            events = self.read if self.drop_invalid else self.frame
            labels = [row[0] for row in events.select(F.col("label")).distinct().limit(MOST_LABELS + 1).collect()]
        if None in labels:
            raise self.refused(2)
        if len(labels) > MOST_LABELS:
            raise UsageError(f"There are more than {MOST_LABELS:,} activity labels. Name the column of activities: --activity.")
        return tuple(sorted(labels))

    def refused(self, problem: int) -> InputError:
        """What to say of an event that cannot be used."""
        what, remedy = PROBLEMS[problem]
        return InputError(what, place=self.place, remedy=remedy)


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """What was found out about a table: its events, whether their times are in a zone, whose they are, and what to say."""

    events: Events
    has_zone: bool
    individual: str | None
    individual_column: str
    roles: tuple[FoundRole, ...]
    notes: tuple[str, ...]


def events_of(table: OpenTable, options: ReadOptions) -> Found:
    """The events of an open table, by the roles of its columns; a sample of its rows shows those.

    Raises:
        InputError: A role that every event must have is not played by any column.
    """
    if table.individual is not None and options.roles.individual is None and not options.described:
        options = replace(options, roles=replace(options.roles, individual=table.individual))
    sample = table.sample()
    if not sample.height and not options.allow_empty:
        raise InputError("there are no events", place=table.place, remedy="Check that the export is complete")
    roles = find_roles(sample, options, table.place)
    columns = {role.role: role.columns for role in roles}
    moments = moments_of(table, columns, sample, options)
    clocks = ", ".join(f'"{name}"' for name in unused_clocks(sample, roles, options))
    notes = (
        *moments.notes,
        *(
            [f"The timestamps are dates only. If {clocks} holds times of day, join it with the dates in one column."]
            if clocks
            else ()
        ),
        *(() if table.order else (NO_ORDER,)),
        *((DROPPED,) if options.drop_invalid else ()),
    )
    frame = table.frame.filter(_kept(table, columns, options.lifecycle_keep)) if options.lifecycle_keep else table.frame
    case = _joined([_text(table, name, "case_id") for name in columns["case_id"]])
    chosen = [case.alias("case"), _together([_text(table, name, "activity") for name in columns["activity"]]).alias("label")]
    individual, column = None, columns.get("individual", ("",))[0]
    if column:
        same = (column,) == columns["case_id"]
        individual = CASE_NAME if same else _name_among_cases(column)
        chosen.append((case if same else _text(table, column, "individual")).alias("individual"))
    order = ("micros", *table.order) if options.sort_by_time and table.order else table.order
    narrow = frame.select(*chosen, *table.order, *moments.columns)
    unreadable = (6 if options.encoding is None else 7) if table.is_text else None
    events = Events(narrow, order, moments, options.drop_invalid, table.place, unreadable)
    return Found(events, moments.has_zone, individual, column, roles, notes)


def _text(table: OpenTable, name: str, role: str) -> Column:
    """A column as text, each value by itself: whole numbers as digits, also where they are floats or decimals.

    For what every event must have, blank text is missing. A moment becomes its microseconds since 1970: in the time zone of a
    session two of them may read the same.
    """
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    kind, column = table.kind_of(name), table.column(name)
    if is_nested(kind):
        what = f'"{name}" is of the type {kind} and holds no text to serve as {WORDS.get(role, role)}'
        raise InputError(what, place=table.place, remedy=f"Name another column with {FLAGS[role]}")
    text = (F.unix_micros(column) if kind == "timestamp" else column).cast("string")
    if kind in ("float", "double"):
        small = F.when(F.abs(column) < 2.0**63, column)  # what has no 64 bits is null, and never rounded
        whole = F.floor(small) == small
        text = F.when(~F.isnan(column), F.when(whole, small.cast("bigint").cast("string")).otherwise(text))
    if kind.startswith("decimal"):
        text = F.when(text.rlike(FIXED), F.regexp_replace(text, TRAILING, "")).otherwise(text)
    return F.when(~text.rlike(BLANK), text) if role in REQUIRED else text


def _together(parts: Sequence[Column]) -> Column:
    """Several columns as one label; missing where one of them is."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    return F.concat(parts[0], *(piece for part in parts[1:] for piece in (F.lit("+"), part)))


def _joined(parts: Sequence[Column]) -> Column:
    """Several columns as one id: each with its length before it, so that no two combinations give the same."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    if len(parts) == 1:
        return parts[0]
    return F.concat(*(piece for part in parts for piece in (F.length(part).cast("string"), F.lit(":"), part)))


def _kept(table: OpenTable, columns: Mapping[str, tuple[str, ...]], transitions: Sequence[str]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    if "lifecycle" not in columns:
        remedy = "Name it with --lifecycle, or leave --lifecycle-keep out"
        raise InputError("there is no lifecycle column to choose transitions by", place=table.place, remedy=remedy)
    wanted = [name.strip().lower() for name in transitions]
    return F.lower(_text(table, columns["lifecycle"][0], "lifecycle")).isin(wanted)


def _name_among_cases(column: str) -> str:
    """What the individual's column is called among the attributes of cases."""
    name = column.removeprefix(CASE_PREFIX) or column
    return f"individual:{name}" if name == CASE_NAME else name
