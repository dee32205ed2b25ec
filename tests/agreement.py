"""Reading a source in batches and in memory, to compare the two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from libra.errors import InputError
from libra.eventlog.ids import individuals_of
from libra.eventlog.instances import NO_START, pairs
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import batches_of, read

Source = Path | pl.DataFrame | pl.LazyFrame
ReadPublic = Callable[..., EventLog]  # the fixture `read_public`
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
    activity = log.events["concept:name"]
    if log.instances == "pair":
        activity = _since(activity, log.events["start_timestamp"].to_physical())
    return _cases(case, activity, pl.Series(log.timestamps), whose)


def in_batches(source: Source, options: ReadOptions) -> Cases:
    """The same from batches, after checking their form."""
    events = batches_of(source, options)
    batches = list(events)
    columns = ["case", "activity", "micros", *(["individual"] if events.has_individual else [])]
    paired = events.instances == "pair"
    more = ["is_start", "key", *(["start"] if events.has_starts else [])] if paired else []
    for batch in batches:
        assert set(batch.columns) == {*columns, *more}
        assert not any(batch.select(pl.exclude("start")).null_count().row(0))
        assert batch.height
        assert batch["micros"].dtype == pl.Int64
        assert batch["case"].dtype == pl.String or batch["case"].dtype.is_integer()
    if not batches:
        return []
    rows = pl.concat(batches)
    if paired:
        rows = _instances(rows)
    return _cases(rows["case"], rows["activity"], rows["micros"], rows["individual"] if events.has_individual else None)


def _instances(rows: pl.DataFrame) -> pl.DataFrame:
    """Activity instances from batches, as an engine makes them."""
    ids = rows["case"].unique(maintain_order=True)
    rows = rows.with_columns(pl.col("case").replace_strict(ids, list(range(len(ids))), return_dtype=pl.Int64).alias("@case"))
    rows = paired_rows(rows.sort("@case", maintain_order=True), "@case")
    return rows.with_columns(_since(rows["activity"], rows["start"]).alias("activity"))


def paired_rows(rows: pl.DataFrame, case: str) -> pl.DataFrame:
    """A row an instance, with its start or null, from rows in the order of their cases."""
    micros, own = rows["micros"].to_numpy(), rows["start"].fill_null(NO_START).to_numpy() if "start" in rows.columns else None
    numbers, activity = (rows[name].rank("dense").to_numpy().astype(np.int64) for name in (case, "activity"))
    found = pairs(numbers, activity, rows["key"].to_numpy(), micros, rows["is_start"].to_numpy())
    start = pl.Series(found.start_micros(micros, own))
    return rows[found.ends].with_columns(start.set(start == NO_START, None).alias("start"))


def _since(activity: pl.Series, start: pl.Series) -> pl.Series:
    """What happened, and since when."""
    return activity + " since " + start.cast(pl.String).fill_null("then")


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
    chosen = options.lifecycle_keep or options.instances == "complete"  # by their transition
    if chosen and isinstance(ours, str):  # what is missing may be found before or after an event that is wrong
        assert isinstance(theirs, str)
    elif chosen or " since " in str(ours):  # cases come in the order of their first events that are kept
        assert sorted(ours) == sorted(theirs)
    else:
        assert ours == theirs
