"""Files come in whatever they are packed in, and what is broken is told in one line."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from pathlib import Path

import pytest

from libra._system.files import atomic_output
from libra.errors import InputError
from libra.eventlog.files import Compression, compressed, input_format, open_input
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read

CSV = b"case,activity,time\n1,a,2024-05-06T08:00:00Z\n"
XES = (
    b'<log><trace><string key="concept:name" value="1"/><event><string key="concept:name" value="a"/>'
    b'<date key="time:timestamp" value="2024-05-06T08:00:00Z"/></event></trace></log>'
)


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("export", CSV),
        ("export.dat", XES),
        ("export.gz", gzip.compress(CSV, mtime=0)),
        ("export.gz", gzip.compress(XES, mtime=0)),
        ("export.zip", zipped(**{"log.csv": CSV})),
        ("export.zip", zipped(**{"a folder/log.xes": XES, "README.txt": b"hello", ".DS_Store": b"x"})),
        ("two.xes.gz", gzip.compress(XES[:50], mtime=0) + gzip.compress(XES[50:], mtime=0)),
        ("padded.csv.gz", gzip.compress(CSV, mtime=0) + b"\0" * 20),
    ],
)
def test_a_log_is_found_in_whatever_it_is_packed_in(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert read(tmp_path / name, ReadOptions()).activities == ["a"]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("none.xes", None, "there is no such file"),
        ("x" * 300, None, "cannot be read"),
        ("empty.xes", b"", "the file is empty"),
        ("empty.xes.gz", gzip.compress(b"", mtime=0), "the file is empty"),
        ("empty.csv.gz", gzip.compress(b"", mtime=0), "the file is empty"),
        ("cut.xes.gz", gzip.compress(XES * 50, mtime=0)[:-20], "ends early"),
        ("plain.xes.gz", XES, "not an intact gzip file"),
        ("plain.csv.zip", CSV, "not an intact zip archive"),
        ("two.zip", zipped(**{"a.xes": XES, "b.csv": CSV}), "several logs (a.xes, b.csv)"),
        ("nothing.zip", zipped(), "holds no file"),
        ("book.zip", zipped(**{"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"}), "this is a spreadsheet"),
        ("book.xlsx", zipped(**{"[Content_Types].xml": b"<x/>"}), "this is a spreadsheet"),
        ("log.parquet.gz", gzip.compress(b"PAR1", mtime=0), "Parquet is not read from a packed file"),
        ("photo.bin", b"\x89PNG\0\0\0", "not a format Libra reads"),
    ],
)
def test_what_is_broken_is_told_in_one_line(tmp_path: Path, name: str, data: bytes | None, says: str) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(path, ReadOptions())
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_members_of_any_packing_are_told(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            archive.writestr("log.csv", CSV * 100)
        damaged = bytearray(buffer.getvalue())
        damaged[50:70] = bytes(20)
        (tmp_path / "log.csv.zip").write_bytes(damaged)
        with pytest.raises(InputError, match="not an intact"):
            read(tmp_path / "log.csv.zip", ReadOptions())


def test_folders_and_pipes_are_no_logs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder"):
        input_format(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="not a regular file"):
        input_format(tmp_path / "pipe.csv")


def test_a_null_character_is_in_no_name_of_a_file() -> None:
    with pytest.raises(InputError, match="not a valid file name"):
        input_format(Path("a\0b.csv"))


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(os.urandom(100_000)))
    seen: list[tuple[int, int]] = []
    with open_input(path, "gz", lambda done, total: seen.append((done, total))) as stream:
        while stream.read(1000):
            pass
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("compression", ["none", "gz", "zip"])
def test_an_error_while_writing_leaves_nothing_and_is_told_once(
    tmp_path: Path, compression: Compression, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        out = tmp_path / "out"
        with atomic_output(out) as file, compressed(file, compression, out) as stream:
            stream.write(os.urandom(10_000))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""
