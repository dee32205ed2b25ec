"""Polars frames, and Parquet of any size and in any number of files, to batches of events.

In: a frame, a path, a pattern of paths, or the address of a cloud's store. Out: `EventBatches`. Only the columns that play a
role are read. Errors name the row, counted as the in-memory reader counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import polars as pl

from libra.errors import InputError
from libra.eventlog.batches.event_batches import EventBatches
from libra.eventlog.batches.table_rows import Place
from libra.eventlog.batches.tables import Table, table_batches
from libra.eventlog.columns import column
from libra.eventlog.files import input_format, parquet_files
from libra.eventlog.log import FoundRole
from libra.eventlog.names import CASE_PREFIX
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.frames import FRAME
from libra.eventlog.tables.parquet_read import intact, memory_of, scan, scan_cloud

BATCH = 1 << 18  # rows at a time
SAMPLE = 1 << 16  # rows to decide on
_ELSEWHERE = 4  # places behind the first rows that more rows to decide on come from, an eighth of the sample each


def parquet_batches(source: str | Path, options: ReadOptions) -> EventBatches:
    """The events of a Parquet file, of a folder, of all files that a pattern such as `lake/*.parquet` names, or in a cloud.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.parquet"
        >>> pl.DataFrame({"case": [1], "activity": ["triage"], "time": ["2024-05-06T08:00:00Z"]}).write_parquet(file)
        >>> [batch["activity"].to_list() for batch in parquet_batches(file, ReadOptions())]
        [['triage']]
    """
    name, individual = str(source), None
    with intact(name):
        if "://" in name:
            rows = scan_cloud(name)
        else:
            path = Path(source)
            files = _matching(path) if is_pattern(path) else parquet_files(path)
            rows, memory = scan(files, path), memory_of(files[0])
            if memory.individual is not None and CASE_PREFIX + memory.individual in rows.collect_schema():
                individual = FoundRole("individual", (CASE_PREFIX + memory.individual,), "the file says so")
        return frame_batches(rows, options, name, first_row=1, individual=individual, guard=lambda: intact(name))


def is_pattern(path: Path) -> bool:
    """Whether a path stands for all the files that it matches.

    Example:
        >>> is_pattern(Path("lake/*.parquet")), is_pattern(Path("lake"))
        (True, False)
    """
    return any(letter in str(path) for letter in "*?[") and not path.exists()


def _matching(pattern: Path) -> list[Path]:
    found = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    if not found:
        raise InputError("there is no such file", place=str(pattern), remedy="Check the path")
    for file in found:
        if input_format(file).kind != "parquet":
            raise InputError("only Parquet files are read several at a time", place=str(file), remedy="Name one file")
    return [part for file in found for part in parquet_files(file)]


def frame_batches(
    frame: pl.LazyFrame,
    options: ReadOptions,
    source: str = FRAME,
    *,
    first_row: int = 0,
    individual: FoundRole | None = None,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> EventBatches:
    """The events of a frame; rows are counted from `first_row` on, and what goes wrong under way is told by `guard`.

    Example:
        >>> frame = pl.LazyFrame({"case": ["x"], "activity": ["triage"], "time": ["1970-01-01T00:00:01Z"]})
        >>> [batch.rows() for batch in frame_batches(frame, ReadOptions())]
        [[('x', 'triage', 1000000)]]
    """
    with guard():
        height = int(frame.select(pl.len()).collect().item())
        sample, positions = _sample(frame, height)

    def rows(names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Place]]:
        done = 0
        with guard():
            chosen = frame.select(column(name) for name in names)
            batches = iter(chosen.collect_batches(chunk_size=BATCH, maintain_order=True))
        while True:
            with guard():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch, _placer(source, done + first_row)
            done += batch.height
            options.progress(done, height)

    def place(row: int) -> str:
        return f"{source}, row {int(positions[row]) + first_row}"

    return table_batches(Table(source, sample, place, rows, height, individual), options)


def _sample(frame: pl.LazyFrame, height: int) -> tuple[pl.DataFrame, pl.Series]:
    """The first rows and some of those behind them, and where they stand."""
    stretches = [(0, SAMPLE)]
    if height > 2 * SAMPLE:
        stretches += [(SAMPLE + (height - SAMPLE) * part // _ELSEWHERE, SAMPLE // 8) for part in range(_ELSEWHERE)]
    rows = pl.concat([frame.slice(start, length).collect() for start, length in stretches])
    spots = [pl.int_range(start, min(start + length, height), eager=True) for start, length in stretches]
    return rows, pl.concat(spots)


def _placer(source: str, first: int) -> Place:
    return lambda row: f"{source}, row {row + first}"
