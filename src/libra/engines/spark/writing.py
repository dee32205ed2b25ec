"""Writing a generated log with Spark: every part is made on an executor and written there, as one file of a folder.

In: a log in parts, and the folder to write. Out: Parquet or CSV files of the columns case:concept:name, concept:name and
time:timestamp (in UTC), where instances or single events are released start_timestamp or lifecycle:transition as well, and those
of attributes; sorted by name the files hold the log in order. A part is the same however often it is made, and its case ids are
those of the whole log: a task that runs again, or twice, gives the same file, of which Spark's committer takes one. A folder on
this machine appears whole or not at all; elsewhere the file _SUCCESS says that it is whole.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from libra.engines.spark.session import Spark, in_one_line, session_of, setting, without_warnings
from libra.errors import InputError, UsageError
from libra.eventlog.in_parts import LogInParts, part_schema
from libra.eventlog.log import EventLog
from libra.eventlog.names import TIMESTAMP
from libra.eventlog.options import Progress
from libra.eventlog.tables.csv_write import FORMULA

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["parquet", "csv"]
TYPES: dict[type[pl.DataType], str] = {  # of Spark, for those of a log
    pl.String: "string", pl.Datetime: "timestamp", pl.Int64: "bigint", pl.Float64: "double", pl.Boolean: "boolean"
}  # fmt: skip
TIMESTAMP_TYPE = "spark.sql.parquet.outputTimestampType"
CSV: dict[str, bool | str] = {"header": True, "quoteAll": False, "escape": '"', "timeZone": "UTC", "emptyValue": ""}
CSV |= {"ignoreLeadingWhiteSpace": False}
SECOND = 1_000_000  # microseconds
EXISTS = "Name a folder that does not exist yet"


@dataclass(frozen=True)
class SparkWriter:
    """Writes a log as a folder, in the session that is open or in a new one at this master.

    Example:
        >>> SparkWriter().check("log.xes.gz")
        Traceback (most recent call last):
        libra.errors.UsageError: log.xes.gz: Spark writes folders of Parquet or CSV files. End the name in .parquet or .csv.
    """

    master: str | None = None

    def check(self, output: str | Path) -> None:
        """Refuse what cannot be written: other formats, and what is there already."""
        _kind(output)
        if "://" not in str(output):
            _beside(Path(output))

    def __call__(self, log: EventLog, output: str | Path, progress: Progress) -> tuple[str, ...]:
        """Write the log, whole or not at all; a folder keeps all that a generated log has."""
        spark = session_of(self.master)
        try:
            write_log(log, str(output), spark, _kind(output))
        finally:
            spark.close()
        progress(log.n_events, log.n_events)
        return ()


def _kind(output: str | Path) -> Kind:
    name = Path(str(output).rstrip("/")).name
    if name.endswith(".csv"):
        return "csv"
    if name.endswith(".parquet") or "." not in name:
        return "parquet"
    raise UsageError(f"{output}: Spark writes folders of Parquet or CSV files. End the name in .parquet or .csv.")


def write_log(log: EventLog, target: str, spark: Spark, kind: Kind = "parquet") -> None:
    """Write a log of activities and times as a folder of files, a part each; an error where there is something already.

    A log in parts goes to the executors as the recipe that it is. `target` is a path of this machine, or one that Spark can write
    to, such as s3a://bucket/folder.
    """
    if not isinstance(log, LogInParts):
        whole, grain = log, 1 if log.finer_than(SECOND, log.events[TIMESTAMP]) else SECOND
        columns = {name: dtype for name, dtype in log.to_polars().schema.items() if name not in part_schema(log.instances)}
        log = LogInParts(
            1, lambda _: whole, n_cases=log.n_cases, n_events=log.n_events, labels=log.activities, grain=grain,
            metadata=log.metadata, instances=log.instances, attributes=columns,
        )  # fmt: skip
    local = Path(target) if spark.local and "://" not in target else None
    beside = target if local is None else _beside(local)
    try:
        with in_one_line(target), without_warnings():
            numbers = spark.session.range(0, log.n_parts, 1, log.n_parts)
            rows = numbers.mapInArrow(_Parts(log, guarded=kind == "csv"), spark_schema(log.schema))
            if kind == "csv":
                fine = log.finer_than(SECOND, pl.Series([], dtype=pl.Int64))
                form = f"yyyy-MM-dd'T'HH:mm:ss{'.SSSSSS' if fine else ''}XXX"
                rows.write.options(**CSV, timestampFormat=form).csv(beside)
            else:
                with setting(spark.session, TIMESTAMP_TYPE, "TIMESTAMP_MICROS"):
                    rows.write.parquet(beside)
        if local is not None:
            _appear(Path(beside.removeprefix("file://")), local)
    finally:
        if local is not None:
            shutil.rmtree(beside.removeprefix("file://"), ignore_errors=True)


def spark_schema(schema: Mapping[str, pl.DataType]) -> str:
    """The columns of a table in Spark's words.

    Example:
        >>> spark_schema({"a`b": pl.Int64()})
        '`a``b` bigint'
    """
    names = [name.replace("`", "``") for name in schema]
    return ", ".join(f"`{name}` {TYPES[dtype.base_type()]}" for name, dtype in zip(names, schema.values(), strict=True))


@dataclass(frozen=True, repr=False)
class _Parts:
    """Makes parts by their numbers; text that a spreadsheet could take for a formula gets an apostrophe in front."""

    log: LogInParts
    guarded: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                rows = self.log.part(number).to_polars()[list(self.log.schema)]
                if self.guarded:
                    rows = rows.with_columns(pl.col(pl.String).str.replace(f"({FORMULA})", "'$1"))
                yield from rows.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def _beside(local: Path) -> str:
    """Where a folder is written before it appears; an error where there is something already."""
    target = local.absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError("it already exists", place=str(local), remedy=EXISTS)
    if not target.parent.is_dir():
        raise InputError("the parent folder does not exist", place=str(local), remedy="Create it first")
    return f"file://{target.parent / f'.libra-{secrets.token_hex(8)}.part'}"


def _appear(beside: Path, local: Path) -> None:
    try:
        for mark in (*beside.rglob(".*.crc"), *beside.rglob("_SUCCESS")):
            mark.unlink()  # the folder appears whole: nobody needs them, and some readers stumble over them
        if local.is_dir():
            local.rmdir()
        beside.rename(local)
    except OSError as error:
        raise InputError("the folder cannot be moved into place", place=str(local), remedy=EXISTS) from error
