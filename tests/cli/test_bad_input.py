"""Every kind of bad input at the command line: exit code 3, one line that names the file and a remedy, nothing left behind."""

from __future__ import annotations

import errno
import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import HEADER, TABLE, Run

XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xmlns="http://www.xes-standard.org/">
  <trace><string key="concept:name" value="1"/>
    <event><string key="concept:name" value="a"/><date key="time:timestamp" value="2024-05-06T08:00:00Z"/></event>
  </trace>
</log>
"""
BOMB = XES.replace("<log", '<!DOCTYPE log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n<log', 1).replace('"1"', '"&b;"')
LEAK = XES.replace("<log", '<!DOCTYPE log [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<log', 1).replace('"1"', '"&a;"')


def _zip(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"{name}.xes", text)
    return packed.getvalue()


def _table(old: str, new: str) -> bytes:
    assert old in TABLE
    return TABLE.replace(old, new).encode()


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty file": ("log.xes", b"", "empty"),
    "empty table": ("log.csv", b"", "empty"),
    "truncated gzip": ("log.xes.gz", gzip.compress(XES.encode())[:-20], "ends early"),
    "not a gzip": ("log.csv.gz", TABLE.encode(), "gzip"),
    "zip with two logs": ("log.xes.zip", _zip(one=XES, two=XES), "several logs"),
    "zip with none": ("log.xes.zip", _zip(), "zip"),
    "XML cut off": ("log.xes", XES[:200].encode(), "cut off"),
    "entity bomb": ("log.xes", BOMB.encode(), "DTD"),
    "external entity": ("log.xes", LEAK.encode(), "DTD"),
    "not XML": ("log.xes", TABLE.encode(), "XML"),
    "another XML": ("log.xes", b"<html></html>", "root element"),
    "XES without events": ("log.xes", b'<log xmlns="http://www.xes-standard.org/"></log>', "no events"),
    "table without events": ("log.csv", HEADER.encode(), "no events"),
    "binary": ("log.csv", b"case id,activity\x00,timestamp\n", "binary"),
    "no known encoding": ("log.csv", TABLE.encode().replace(b"desk", b"d\x81sk"), "--encoding"),
    "no case id": ("log.csv", b"note,activity,timestamp\nx,a,2024-05-06T08:00:00Z\ny,b,2024-05-06T08:00:00Z\n", "--case-id"),
    "no timestamp": ("log.csv", b"case id,activity,x\n1,a,q\n1,b,r\n", "--timestamp"),
    "unreadable timestamp": ("log.csv", _table("2024-05-06T08:20:00Z", "soon"), 'line 3: timestamp "soon"'),
    "year 0001": ("log.csv", _table("2024-05-06T08:20:00Z", "0001-01-01T00:00:00Z"), "line 3"),
    "year 9999": ("log.csv", _table("2024-05-06T08:20:00Z", "9999-12-31T00:00:00Z"), "line 3"),
    "null case id": ("log.csv", _table("p1,see doctor", ",see doctor"), "line 3: no case id"),
    "null activity": ("log.csv", _table("see doctor,2024-05-06", ",2024-05-06"), "line 3: no activity"),
    "duplicate columns": ("log.csv", _table("resource", "activity"), '"activity"'),
    "ragged row": ("log.csv", _table("p2,leave,", "p2,leave,extra,"), "line 6"),
    "not Parquet": ("log.parquet", b"PAR1 nothing PAR1", "log.parquet"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line_with_place_and_remedy_and_leaves_nothing(kind: str, tmp_path: Path, run: Run) -> None:
    name, content, told = BAD[kind]
    path = tmp_path / name
    path.write_bytes(content)
    answer = run("convert", path, tmp_path / "out.xes")
    assert (answer.code, answer.out) == (3, ""), answer.err
    assert answer.err.startswith(f"libra: {path}")
    assert answer.err.count("\n") == 1
    assert told in answer.err
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("make", [lambda folder: folder / "missing.csv", lambda folder: folder], ids=["missing file", "folder"])
def test_what_is_no_file_is_bad_input(make: Callable[[Path], Path], tmp_path: Path, run: Run) -> None:
    answer = run("convert", make(tmp_path), tmp_path / "out.xes")
    assert answer.code == 3
    assert str(make(tmp_path)) in answer.err
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_bad_input(table: Path, run: Run) -> None:
    (table.parent / "folder.csv").mkdir()
    for target in (table.parent / "folder.csv", table / "out.csv"):
        answer = run("convert", table, target)
        assert answer.code == 3
        assert answer.err.count("\n") == 1


def test_a_full_disk_is_bad_input_and_keeps_the_old_file(table: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    target = table.parent / "out.csv"
    target.write_text("what was there", encoding="utf-8")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("libra._system.files.os.fsync", full)
    answer = run("convert", table, target)
    assert answer.code == 3
    assert "disk is full" in answer.err
    assert target.read_text(encoding="utf-8") == "what was there"
    assert sorted(file.name for file in table.parent.iterdir()) == ["out.csv", "visits.csv"]


def test_mixed_zones_and_naive_times_are_read_with_a_note(table: Path, run: Run) -> None:
    table.write_bytes(_table("2024-05-06T08:20:00Z", "2024-05-06T10:20:00+02:00"))
    assert "different time zones" in run("inspect", table).err
    table.write_bytes(TABLE.replace("Z,", ",").encode())
    assert "read as UTC" in run("inspect", table).err
