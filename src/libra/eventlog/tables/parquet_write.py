"""Writing Parquet: the flat table in pm4py's column convention, with the log's header as key-value metadata.

In: a log and a stream. Out: a file that any Parquet reader opens, and in which ours finds everything, the header and the
individual included.
"""

from __future__ import annotations

import json
from io import BytesIO
from typing import BinaryIO

from libra.eventlog.log import EventLog
from libra.eventlog.tables.remembered import KEY


def write_parquet(log: EventLog, stream: BinaryIO) -> None:
    """Write a log as Parquet.

    Example:
        >>> import polars as pl
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["triage"], "time:timestamp": [datetime(2024, 5, 6)]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> write_parquet(log, stream := BytesIO())
        >>> pl.read_parquet(stream.getvalue()).columns
        ['case:concept:name', 'concept:name', 'time:timestamp']
    """
    header = json.dumps({"metadata": log.metadata.to_dict(), "individual": log.individual})
    whole = BytesIO()  # Polars would turn a full disk into an error of its own
    log.to_polars().write_parquet(whole, compression="zstd", metadata={KEY: header})
    stream.write(whole.getvalue())
