"""Parquet to an `EventLog`: any flat table in a file or in a folder of files, and our own files with all they remember.

In: a path. Out: a log. A file that Libra wrote comes back equal, with its metadata and the individual's column. A folder, as
Spark and data lakes write it, is one table: its files in the order of their names, folders called `date=2024-05-06` as columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from libra.errors import InputError
from libra.eventlog.files import parquet_files
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.remembered import KEY, Remembered, remembered


def read_parquet(path: Path, options: ReadOptions) -> EventLog:
    """Read a Parquet file, or a folder of them, as a log.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.parquet"
        >>> pl.DataFrame({"case": [1], "activity": ["triage"], "time": ["2024-05-06T08:00:00Z"]}).write_parquet(file)
        >>> read_parquet(file, ReadOptions()).activities
        ['triage']
        >>> read_parquet(file.parent, ReadOptions()).activities
        ['triage']
    """
    files = parquet_files(path)
    with intact(str(path)):
        memory = memory_of(files[0])
        frame = scan(files, path).collect()
    size = sum(file.stat().st_size for file in files)
    options.progress(size, size)
    log = from_flat(frame, options, place=lambda row: f"{path}, row {row + 1}", source=str(path), metadata=memory.metadata)
    return log if options.described else memory.with_individual(log, "the file says so", str(path))


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
