"""Parquet that is written in parts appears whole or not at all, says what went wrong, and can be interrupted."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
import pyarrow.parquet
import pytest

from libra.errors import InputError, UsageError
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.tables.frames import ROW_GROUP, parquet_table, remembering
from libra.eventlog.write import write, write_rows
from libra.example.at_scale import Department

SCHEMA = {"cost": pl.Int64()}
HEADER = remembering(LogMetadata())


def costs(first: int, n: int = 1000) -> pl.DataFrame:
    return pl.DataFrame({"cost": pl.int_range(first, first + n, eager=True)})


class Full(io.RawIOBase):
    """A disk that is full after so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, data: object) -> int:
        self.room -= len(bytes(data))  # type: ignore[call-overload]  # whatever Polars hands over
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(bytes(data))  # type: ignore[call-overload]  # the same


def fill(stream: BinaryIO, frames: Iterator[pl.DataFrame]) -> None:
    with parquet_table(stream, SCHEMA, HEADER) as write_some:
        for frame in frames:
            write_some(frame)


def test_rows_come_in_their_order_in_groups_of_bounded_size() -> None:
    stream = io.BytesIO()
    fill(stream, (costs(400_000 * i, 400_000) for i in range(4)))
    assert pl.read_parquet(stream.getvalue())["cost"].to_list() == list(range(1_600_000))
    groups = pyarrow.parquet.ParquetFile(stream).metadata
    assert max(groups.row_group(i).num_rows for i in range(groups.num_row_groups)) <= ROW_GROUP


def test_no_rows_at_all_are_a_file_too() -> None:
    stream = io.BytesIO()
    fill(stream, iter(()))
    assert pl.read_parquet(stream.getvalue()).schema == SCHEMA
    assert "libra" in pl.read_parquet_metadata(stream.getvalue())


@pytest.mark.parametrize("room", [0, 100, 50_000])
def test_a_full_disk_is_raised_as_it_was(room: int) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        fill(
            cast("BinaryIO", Full(room)),
            (costs(i * 600_000, 600_000).sample(fraction=1.0, shuffle=True, seed=i) for i in range(50)),
        )
    assert caught.value.errno == errno.ENOSPC


def test_what_goes_wrong_while_rows_are_made_is_raised_as_it_was() -> None:
    def broken() -> Iterator[pl.DataFrame]:
        yield costs(0)
        raise ZeroDivisionError

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        fill(io.BytesIO(), broken())
    assert threading.active_count() == before


def test_rows_of_another_schema_are_refused() -> None:
    with pytest.raises(pl.exceptions.PolarsError):
        fill(io.BytesIO(), iter([pl.DataFrame({"price": ["9"]})] * 3))


def test_a_failing_disk_leaves_the_old_file_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "log.parquet"
    target.write_bytes(b"old")
    fdopen = os.fdopen

    def full(handle: int, _mode: str) -> object:
        os.close(handle)
        return Full(1000)

    monkeypatch.setattr("libra._system.files.os.fdopen", full)
    for writes in (
        lambda: write_rows(Department(2000, seed=1).in_order_of_time(), target, LogMetadata()),
        lambda: write(Department(2000, seed=1).case_by_case(), target),
    ):
        with pytest.raises(InputError, match="the disk is full, nothing was written"):
            writes()
    monkeypatch.setattr("libra._system.files.os.fdopen", fdopen)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]


def test_rows_in_any_order_are_no_xes(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="XES holds whole cases"):
        write_rows(iter(()), tmp_path / "log.xes", LogMetadata())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_interrupt_ends_it_soon_and_leaves_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "libra", "simulate", "--cases", "2000000000", "-o", str(tmp_path / "log.parquet")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 600
    while not any(path.stat().st_size for path in tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(timeout=600) == code
    assert process.communicate() == (b"", b"")
    assert list(tmp_path.iterdir()) == []
