"""Parquet in and out: any flat table in a file or a folder of files, and our own files with all they remember.

A file that Libra wrote comes back equal, with its header and the individual's column. A folder, as Spark and data lakes write it,
is one table: its files in the order of their names, folders called `date=2024-05-06` as columns.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from queue import Empty, Full, Queue
from typing import BinaryIO, cast

import polars as pl
from polars.io.plugins import register_io_source

from libra.errors import InputError
from libra.eventlog.files import parquet_files
from libra.eventlog.in_parts import PART_SCHEMA, LogInParts
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import VALUE_TYPES, Attribute, LogMetadata
from libra.eventlog.options import Progress, ReadOptions, no_progress
from libra.eventlog.tables.flat import from_flat

KEY = "libra"
ROW_GROUP = 500_000  # rows that are packed together, and the unit in which others read
WAITING = 2  # frames that may wait to be packed
PATIENCE = 0.2  # seconds after which whoever waits for the other side looks whether it is still there


@dataclass(frozen=True)
class Remembered:
    """A log's header and the column of its cases that names the individual."""

    metadata: LogMetadata = field(default_factory=LogMetadata)
    individual: str | None = None

    def with_individual(self, log: EventLog, reason: str, source: str) -> EventLog:
        """The log with its individual, unless the user named another one.

        Raises:
            InputError: The individual changes within a case. To forget it would take the protection from everybody else.
        """
        if self.individual is None or log.individual is not None:
            return log
        if self.individual not in log.cases.columns:
            if self.individual in log.events.columns:
                what = f'"{self.individual}", which says whose case it is, changes within a case'
                raise InputError(what, place=source, remedy="Name the right column with --individual, or drop this one")
            return log
        role = FoundRole("individual", (self.individual,), reason)
        return replace(log, individual=self.individual, roles=(*log.roles, role))


def remembered(plain: object) -> Remembered:
    """Read what our writer left; nothing where it is not ours."""
    try:
        if not isinstance(plain, dict) or not isinstance(plain["metadata"], dict):
            return Remembered()
        metadata = LogMetadata.from_dict(plain["metadata"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Remembered()
    if not all(_is_sound(a) for a in (*metadata.attributes, *metadata.case_globals, *metadata.event_globals)):
        return Remembered()
    individual = plain.get("individual")
    return Remembered(metadata, individual if isinstance(individual, str) else None)


def _is_sound(attribute: Attribute) -> bool:
    fits = attribute.value is None or isinstance(attribute.value, VALUE_TYPES.get(attribute.type, ()))
    return isinstance(attribute.key, str) and attribute.type in VALUE_TYPES and fits and all(map(_is_sound, attribute.children))


def read_parquet(path: Path, options: ReadOptions) -> EventLog:
    """Read a Parquet file, or a folder of them, as a log."""
    frame, memory = load(path)
    size = sum(file.stat().st_size for file in parquet_files(path))
    options.progress(size, size)
    log = from_flat(frame, options, place=lambda row: f"{path}, row {row + 1}", source=str(path), metadata=memory.metadata)
    return log if options.described else memory.with_individual(log, "the file says so", str(path))


def load(path: Path) -> tuple[pl.DataFrame, Remembered]:
    """The table at a path in memory, and what our writer left in its first file."""
    files = parquet_files(path)
    with intact(str(path)):
        return scan(files, path).collect(), memory_of(files[0])


def scan(files: list[Path], path: Path) -> pl.LazyFrame:
    """The table in the files that a path stands for; where that is a folder, folders in it may be columns, of text."""
    folders = {part for file in files for part in file.relative_to(path).parts[:-1]} if path.is_dir() else set()
    keys = {part.partition("=")[0]: pl.String() for part in sorted(folders) if "=" in part}
    return pl.scan_parquet(files, glob=False, hive_partitioning=bool(keys), hive_schema=keys or None)


def scan_cloud(address: str) -> pl.LazyFrame:
    """The table at an address of a cloud's store; folders in it may be columns, of text."""
    own = pl.scan_parquet(address, hive_partitioning=False).collect_schema()
    keys = {name: pl.String() for name in pl.scan_parquet(address).collect_schema() if name not in own}
    return pl.scan_parquet(address, hive_partitioning=True, hive_schema=keys) if keys else pl.scan_parquet(address)


def memory_of(file: Path) -> Remembered:
    """What our writer left in a file; nothing where it is not ours."""
    with file.open("rb") as opened:
        own = pl.read_parquet_metadata(opened).get(KEY)
    try:
        return remembered(json.loads(own or "null"))
    except (ValueError, RecursionError):
        return Remembered()


@contextmanager
def intact(source: str) -> Iterator[None]:
    """What Polars and the system say of a file that cannot be read, as an error in one line."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"this is not an intact Parquet file ({reason})", place=source, remedy="Export it again") from error


def write_parquet(log: EventLog, stream: BinaryIO, progress: Progress = no_progress) -> None:
    """Write a log as Parquet. Progress counts events.

    Example:
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["triage"], "time:timestamp": [datetime(2024, 5, 6)]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> write_parquet(log, stream := BytesIO())
        >>> pl.read_parquet(stream.getvalue()).columns
        ['case:concept:name', 'concept:name', 'time:timestamp']
    """
    header = remembering(log.metadata, log.individual)
    if not isinstance(log, LogInParts):
        whole = BytesIO()  # Polars would turn a full disk into an error of its own
        log.to_polars().write_parquet(whole, compression="zstd", metadata=header)
        stream.write(whole.getvalue())
        progress(log.n_events, log.n_events)
        return
    done = 0
    with parquet_table(stream, PART_SCHEMA, header) as write_rows:
        for part in log.parts():
            write_rows(part.to_polars())
            done += part.n_events
            progress(done, log.n_events)


def remembering(metadata: LogMetadata, individual: str | None = None) -> dict[str, str]:
    """What stands in the file besides the rows, for our reader to find."""
    return {KEY: json.dumps({"metadata": metadata.to_dict(), "individual": individual})}


@contextlib.contextmanager
def parquet_table(
    stream: BinaryIO, schema: Mapping[str, pl.DataType], header: Mapping[str, str]
) -> Iterator[Callable[[pl.DataFrame], None]]:
    """A Parquet file on its way out: what is called with frames of this schema, one after the other, and writes their rows.

    Whatever goes wrong with the stream is raised here, as it was; and when the block is left early, packing stops first.
    """
    packing = _Packing(stream, schema, header)
    try:
        yield packing.put
        packing.put(None)
        packing.end()
    except BaseException:
        packing.stop()
        raise


class _Packing(threading.Thread):
    """Takes frames from whoever makes them. The maker stays on its thread: there it can be interrupted, which Polars cannot."""

    def __init__(self, stream: BinaryIO, schema: Mapping[str, pl.DataType], header: Mapping[str, str]) -> None:
        super().__init__(daemon=True)
        self._stream, self._schema, self._header = stream, schema, header
        self._frames = Queue[pl.DataFrame | None](WAITING)
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._failed_write: OSError | None = None
        self.start()

    def run(self) -> None:
        rows = register_io_source(lambda *_asked: self._rows(), schema=self._schema)
        stream = cast("BinaryIO", self)  # all that Polars asks of it is `write` and `flush`
        try:
            rows.sink_parquet(stream, compression="zstd", metadata=dict(self._header), row_group_size=ROW_GROUP)
        except BaseException as error:  # raised again where frames are made; panics of Polars are no `Exception`s
            self._failure = error

    def _rows(self) -> Iterator[pl.DataFrame]:
        while not self._stopped.is_set():
            with contextlib.suppress(Empty):
                frame = self._frames.get(timeout=PATIENCE)
                if frame is None:
                    return
                yield frame
        raise InterruptedError

    def write(self, data: bytes) -> int:
        """What Polars calls with the bytes of the file. It turns a full disk into an error of its own: the real one is kept."""
        try:
            return self._stream.write(data)
        except OSError as error:
            self._failed_write = error
            raise

    def flush(self) -> None:
        """What Polars calls as well; the stream belongs to others."""

    def put(self, frame: pl.DataFrame | None) -> None:
        """Hand over a frame, or None after the last; waits while too many are waiting."""
        while self.is_alive():
            with contextlib.suppress(Full):
                self._frames.put(frame, timeout=PATIENCE)
                return
        self.end()

    def end(self) -> None:
        """Wait until all is written."""
        self.join()
        failure = self._failed_write or self._failure
        if failure is not None:
            raise failure

    def stop(self) -> None:
        """Let nothing more be written."""
        self._stopped.set()
        self.join()
