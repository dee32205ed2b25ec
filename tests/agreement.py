"""Reading a source in batches and in memory, to compare the two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from libra.errors import InputError
from libra.eventlog.ids import individuals_of
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import batches_of, read

Source = Path | pl.DataFrame | pl.LazyFrame
Cases = list[tuple[list[str], list[int], int | None]]
ENOUGH = 1 << 20


def read_little(monkeypatch: pytest.MonkeyPatch, rows: int, sample_rows: int, piece_bytes: int, head_bytes: int) -> None:
    """Set how many rows or bytes are read at a time and decided on."""
    monkeypatch.setattr("libra.eventlog.tables.frames.BATCH", rows)
    monkeypatch.setattr("libra.eventlog.tables.frames.SAMPLE", sample_rows)
    monkeypatch.setattr("libra.eventlog.tables.csv_read.PIECE", piece_bytes)
    monkeypatch.setattr("libra.eventlog.tables.csv_read.HEAD", head_bytes)
    monkeypatch.setattr("libra.eventlog.xes.read.SAMPLE", sample_rows)
    monkeypatch.setattr("libra.eventlog.xes.read.STRETCH", piece_bytes)


def in_memory(source: Source, options: ReadOptions) -> Cases:
    """For every case its activities, its times, and the first case of its individual."""
    log = read(source, options)
    case = log.events["@case"]
    whose = None if log.individual is None else pl.Series(individuals_of(log.cases[log.individual]))[case]
    return _cases(case, log.events["concept:name"], pl.Series(log.timestamps), whose)


def in_batches(source: Source, options: ReadOptions) -> Cases:
    """The same from batches, after checking their form."""
    events = batches_of(source, options)
    batches = list(events)
    columns = ["case", "activity", "micros", *(["individual"] if events.has_individual else [])]
    for batch in batches:
        assert batch.columns == columns
        assert not any(batch.null_count().row(0))
        assert batch.height
        assert batch["micros"].dtype == pl.Int64
        assert batch["case"].dtype == pl.String or batch["case"].dtype.is_integer()
    if not batches:
        return []
    rows = pl.concat(batches)
    return _cases(rows["case"], rows["activity"], rows["micros"], rows["individual"] if events.has_individual else None)


def _cases(case: pl.Series, activity: pl.Series, micros: pl.Series, whose: pl.Series | None) -> Cases:
    rows = pl.DataFrame({"case": case, "activity": activity, "micros": micros})
    rows = rows.with_columns(pl.lit(None).alias("whose") if whose is None else whose.alias("whose"))
    cases = rows.group_by("case", maintain_order=True).agg("activity", "micros", pl.col("whose").first())
    first = {who: row for row, who in reversed(list(enumerate(cases["whose"].to_list())))}
    numbers = [None if whose is None else first[who] for who in cases["whose"].to_list()]
    return list(zip(cases["activity"].to_list(), cases["micros"].to_list(), numbers, strict=True))


def outcome(reader: Callable[[Source, ReadOptions], Cases], source: Source, options: ReadOptions) -> Cases | str:
    """What a reader says of a source: its cases, or why it has none."""
    try:
        return reader(source, options)
    except InputError as error:
        return str(error)


def agree(source: Source, options: ReadOptions | None = None, *, may_refuse: bool = False) -> None:
    """Both read the same, or refuse it in the same words; what is decided too early may be refused, but never read otherwise."""
    options = options or ReadOptions()
    ours = outcome(in_batches, source, options)
    if may_refuse and isinstance(ours, str):
        return
    theirs = outcome(in_memory, source, options)
    if may_refuse and isinstance(theirs, str):  # what is not needed is not read, and so not refused
        return
    if options.lifecycle_keep and isinstance(ours, str):  # what is missing may be found before or after an event that is wrong
        assert isinstance(theirs, str)
    elif options.lifecycle_keep:  # cases come in the order of their first events that are kept
        assert sorted(ours) == sorted(theirs)
    else:
        assert ours == theirs
