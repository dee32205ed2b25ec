"""A file appears whole or not at all: whatever goes wrong, the old file stays and nothing lies beside it."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from libra._system.files import atomic_output
from libra.errors import InputError, UsageError
from libra.eventlog import write as write_module
from libra.eventlog.files import Compression, compressed
from libra.eventlog.log import EventLog
from libra.eventlog.write import write

NAMES = ("log.xes", "log.xes.gz", "log.xes.zip", "log.csv", "log.csv.gz", "log.tsv.zip", "log.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which no unfinished file may be left."""
    yield tmp_path
    assert [path.name for path in tmp_path.rglob("*.part")] == []


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("name", NAMES)
def test_same_log_gives_same_file(name: str, folder: Path, small_log: EventLog) -> None:
    contents = []
    for _ in range(2):
        assert write(small_log, folder / name) == ()
        contents.append((folder / name).read_bytes())
    assert contents[0] == contents[1]
    assert names_in(folder) == [name]


def test_a_zip_holds_one_file_without_the_time_of_writing(folder: Path, small_log: EventLog) -> None:
    write(small_log, folder / "log.xes.zip")
    with zipfile.ZipFile(folder / "log.xes.zip") as archive:
        assert [(member.filename, member.date_time) for member in archive.infolist()] == [("log.xes", (1980, 1, 1, 0, 0, 0))]


def test_a_gzip_file_has_no_name_and_no_time_in_it(folder: Path, small_log: EventLog) -> None:
    write(small_log, folder / "log.xes.gz")
    head = (folder / "log.xes.gz").read_bytes()[:10]
    assert head[3:8] == bytes(5)  # flags, then the time


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_the_old_file(name: str, folder: Path, small_log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / name).write_bytes(b"old")
    fdopen = os.fdopen

    def full(handle: int, mode: str) -> Any:
        file = fdopen(handle, mode, buffering=0)

        class Full:
            def write(self, _data: bytes) -> int:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            def __getattr__(self, attribute: str) -> Any:
                return getattr(file, attribute)

            def __enter__(self) -> Full:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

        return Full()

    monkeypatch.setattr("libra._system.files.os.fdopen", full)
    with pytest.raises(InputError, match="the disk is full, nothing was written") as caught:
        write(small_log, folder / name)
    assert str(folder / name) in str(caught.value)
    assert (folder / name).read_bytes() == b"old"


LIMITED = """
import resource, signal, sys
import numpy as np, polars as pl
from datetime import datetime
from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.write import write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
n = 20_000
noise = np.random.default_rng(1).integers(0, 2**62, n)
events = {"@case": np.arange(n), "concept:name": ["a"] * n, "time:timestamp": [datetime(2024, 5, 6)] * n, "noise": noise}
log = EventLog(pl.DataFrame(events), pl.DataFrame({"concept:name": [str(i) for i in range(n)]}))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
for path in sys.argv[1:]:
    try:
        write(log, path)
    except InputError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_real_write_that_fails_half_way_leaves_nothing(folder: Path) -> None:
    paths = [str(folder / name) for name in NAMES]
    done = subprocess.run([sys.executable, "-c", LIMITED, *paths], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"{path}: the disk is full, nothing was written. Free some space or write elsewhere." for path in paths
    ]
    assert done.stderr == ""
    assert names_in(folder) == []


@pytest.mark.parametrize("compression", ["none", "gz", "zip"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError, MemoryError])
def test_any_failure_leaves_the_old_file(failure: type[BaseException], compression: Compression, folder: Path) -> None:
    (folder / "log").write_bytes(b"old")

    def interrupted() -> None:
        log = folder / "log"
        with atomic_output(log) as file, compressed(file, compression, log) as stream:
            stream.write(b"new")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert (folder / "log").read_bytes() == b"old"


def test_a_failing_writer_leaves_no_file(folder: Path, small_log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[str]:
        raise InputError("something is wrong")

    monkeypatch.setattr(write_module, "write_xes", fail)
    with pytest.raises(InputError, match="something is wrong"):
        write(small_log, folder / "log.xes")
    assert names_in(folder) == []


def test_the_path_must_lead_to_a_folder(folder: Path, small_log: EventLog) -> None:
    (folder / "file").write_bytes(b"")
    for path in (folder / "file" / "log.xes", folder / "missing" / "log.xes"):
        with pytest.raises(InputError, match="cannot be written") as caught:
            write(small_log, path)
        assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_one_may_not_write_to_is_an_error(folder: Path, small_log: EventLog) -> None:
    (folder / "closed").mkdir(mode=0o500)
    with pytest.raises(InputError, match="permission denied"):
        write(small_log, folder / "closed" / "log.xes")


def test_folders_and_devices_are_not_replaced(folder: Path, small_log: EventLog) -> None:
    (folder / "log.xes").mkdir()
    (folder / "device.xes").symlink_to("/dev/null")
    for name in ("log.xes", "device.xes"):
        with pytest.raises(InputError, match="this is not a file that can be written"):
            write(small_log, folder / name)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert (folder / "log.xes").is_dir()


def test_a_link_stays_a_link_and_its_target_is_replaced(folder: Path) -> None:
    (folder / "target").write_bytes(b"old")
    (folder / "link").symlink_to(folder / "target")
    with atomic_output(folder / "link") as stream:
        stream.write(b"new")
    assert (folder / "link").is_symlink()
    assert (folder / "target").read_bytes() == b"new"


def test_a_private_file_stays_private_and_a_new_one_follows_the_umask(folder: Path) -> None:
    (folder / "private").touch(mode=0o600)
    mask = os.umask(0o027)
    try:
        for name in ("private", "new"):
            with atomic_output(folder / name) as stream:
                stream.write(b"x")
    finally:
        os.umask(mask)
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("private", "new")] == [0o600, 0o640]


def test_the_longest_file_name_can_be_written(folder: Path, small_log: EventLog) -> None:
    name = "x" * 251 + ".csv"
    write(small_log, folder / name)
    assert names_in(folder) == [name]


@pytest.mark.parametrize("name", ["log.xls", "log", "log.parquet.gz", "log.gz"])
def test_a_name_that_says_no_format_is_refused_before_anything_is_written(name: str, folder: Path, small_log: EventLog) -> None:
    with pytest.raises(UsageError, match="cannot tell the format"):
        write(small_log, folder / name)
    assert names_in(folder) == []


def test_attributes_that_share_a_column_are_refused_in_tables(folder: Path, small_log: EventLog) -> None:
    log = EventLog(small_log.events.rename({"cost": "case:age"}), small_log.cases)
    for name in ("log.csv", "log.parquet"):
        with pytest.raises(InputError, match='"case:age"'):
            write(log, folder / name)
    write(log, folder / "log.xes")
    assert names_in(folder) == ["log.xes"]
