"""The events of a source, some at a time: the way in for logs larger than memory.

In: a file of any format that Libra reads, a folder of Parquet files, a pattern of paths, a cloud's address, or a Polars frame.
Out: `EventBatches`, of which each batch fits in memory. They hold exactly what the in-memory reader sees.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from libra.eventlog.batches.csv_file import csv_batches
from libra.eventlog.batches.event_batches import EventBatches
from libra.eventlog.batches.frames import frame_batches, is_pattern, parquet_batches
from libra.eventlog.batches.xes_file import xes_batches
from libra.eventlog.description import FORMS, check_form
from libra.eventlog.files import input_format
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.frames import FRAME

__all__ = ["EventBatches", "batches_of"]


def batches_of(source: str | Path | pl.LazyFrame | pl.DataFrame, options: ReadOptions) -> EventBatches:
    """The events of a source in batches of bounded size, in file order and with the user's choices applied.

    `options.sort_by_time` is left to those who hold whole cases. Cloud addresses ("s3://bucket/log/*.parquet") have to be text: a
    `Path` would not keep them.

    Example:
        >>> from libra import example
        >>> events = batches_of(example.path(), ReadOptions())
        >>> sum(batch["case"].n_unique() for batch in events), events.has_zone()
        (2000, True)
    """
    if isinstance(source, pl.LazyFrame | pl.DataFrame):
        check_form("table", options, FRAME)
        return frame_batches(source.lazy(), options)
    if isinstance(source, str) and "://" in source:
        check_form("table", options, source)
        return parquet_batches(source, options)
    path = Path(source)
    if is_pattern(path):
        check_form("table", options, str(path))
        return parquet_batches(path, options)
    fmt = input_format(path)
    check_form(FORMS[fmt.kind], options, str(path))
    if fmt.kind == "parquet":
        return parquet_batches(path, options)
    return xes_batches(path, fmt, options) if fmt.kind == "xes" else csv_batches(path, fmt, options)
