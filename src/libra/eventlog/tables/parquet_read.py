"""Parquet to an `EventLog`: any flat table, and our own files with all they remember.

In: a path. Out: a log. A file that Libra wrote comes back equal, with its metadata and the individual's column.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.remembered import KEY, remembered


def read_parquet(path: Path, options: ReadOptions) -> EventLog:
    """Read a Parquet file as a log.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.parquet"
        >>> pl.DataFrame({"case": [1], "activity": ["triage"], "time": ["2024-05-06T08:00:00Z"]}).write_parquet(file)
        >>> read_parquet(file, ReadOptions()).activities
        ['triage']
    """
    try:
        with path.open("rb") as file:
            own = pl.read_parquet_metadata(file).get(KEY)
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"this is not an intact Parquet file ({reason})", place=str(path), remedy="Export it again") from error
    options.progress(path.stat().st_size, path.stat().st_size)
    memory = remembered(_parsed(own))
    log = from_flat(frame, options, place=lambda row: f"{path}, row {row + 1}", source=str(path), metadata=memory.metadata)
    return memory.with_individual(log, "the file says so")


def _parsed(text: str | None) -> object:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
