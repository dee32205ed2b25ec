"""Parquet to an `EventLog`: any flat table, and our own files with all they remember.

In: a path. Out: a log. A file that Libra wrote comes back equal, with its metadata and the individual's column.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.flat import from_flat

KEY = "libra"


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
    remembered = _remembered(own)
    metadata = LogMetadata.from_dict(remembered["metadata"]) if remembered else LogMetadata()
    log = from_flat(frame, options, place=lambda row: f"{path}, row {row + 1}", source=str(path), metadata=metadata)
    individual = remembered.get("individual")
    if log.individual is None and individual in log.cases.columns:
        role = FoundRole("individual", (individual,), "the file says so")
        return replace(log, individual=individual, roles=(*log.roles, role))
    return log


def _remembered(text: str | None) -> dict[str, Any]:
    """What our writer left in the file's own metadata; nothing where it is not ours."""
    try:
        plain = json.loads(text or "{}")
        return plain if isinstance(plain, dict) and isinstance(plain.get("metadata"), dict) else {}
    except ValueError:
        return {}
