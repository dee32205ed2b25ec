"""A CSV file is cut where its rows end, whatever stands in quotes, in whatever encoding and packing."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agreement import ENOUGH, agree, in_batches, outcome, read_little
from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of
from libra.eventlog.write import write
from strategies import event_logs

HEADER = "case,activity,time"
ROW = "1,register,2024-05-06T08:00:00Z"
ROWS = "\n".join(ROW.replace("1", str(i % 3), 1).replace(":00Z", f":{10 + i}Z") for i in range(12))
MANY = f"{ROW}\n" * 100_000
ODD = {
    "quoted": f'{HEADER},note\n{ROW},"say ""a""\r\nand, b"\n{ROW},\n\n,,,\n"2","x\n\n\ny","2024-05-06T08:00:00Z",\n',
    "quoted late": f'{HEADER}\n{ROWS}\n3,"a,\nb",2024-05-06T08:00:00Z\n{ROW}\n',
    "inches": f'{HEADER}\n{ROWS}\n3,5" pipe,2024-05-06T08:00:00Z\n{ROW}\n',
    "inches, then quotes": f'{HEADER}\n3,5" pipe,2024-05-06T08:00:00Z\n{ROWS}\n3,"a",2024-05-06T08:00:00Z\n{ROWS}\n',
    "single quotes": "'case','activity','time'\n'1','a,b','2024-05-06T08:00:00Z'\n'1','c\nd','2024-05-06T08:00:00Z'\n",
    "windows": f"{HEADER}\n{ROWS}\n".replace("\n", "\r\n"),
    "old mac": f'{HEADER}\r{ROWS}\r1,"a\nb",2024-05-06T08:00:00Z'.replace("Z\n", "Z\r"),
    "blank lines": f"\n\n{HEADER}\n\n\n{ROWS}\n\n\n\n,,\n{ROWS}\n\n\n",
    "excel": f"sep=;\r\n{HEADER}\r\n{ROWS}\r\n".replace(",", ";"),
    "no end": f"{HEADER}\n{ROWS}",
    "ragged": f"{HEADER}\n{ROWS}\n\n2,leave\n{ROWS}\n",
    "misquoted": f'{HEADER}\n"1",a,2024-05-06T08:00:00Z\n{ROWS}\n1,"a"b,2024-05-06T08:00:00Z\n',
    "amid": 'case,activity,time,u,v\n1,a,2024-01-01,"q\nr",\n1,b,2024-01-02,see "x,y",\n',
    "unreadable": f'{HEADER}\n1,"a\nb\nc",2024-05-06T08:00:00Z\n\n,,\n{ROWS}\n1,d,n/a\n',
    "missing": f"{HEADER}\n{ROWS}\n\n,a,2024-05-06T08:00:00Z\n",
    "guarded": "'=case,activity,time\n'=1,'-a,2024-05-06T08:00:00Z\n''=1,'a,2024-05-06T08:00:00Z\n",
    "header alone": f"{HEADER}\n",
    "data first": f"{ROW}\n{ROW}\n",
    "nothing": " \n\n",
    "one column": "case#activity#time\n1#a#2024-05-06\n",
    "twice": f"{HEADER},time\n{ROW},5\n",
    "text": f"{HEADER}\n{ROWS}\n".replace("register", "Größe 日本語 🚑"),
}


def written(file: Path, text: str, encoding: str = "utf-8") -> Path:
    file.write_bytes(text.encode(encoding))
    return file


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize("name", [name for name in ODD if name != "inches, then quotes"])
def test_every_shape_of_rows_is_read_or_refused_as_in_memory(tmp_path: Path, name: str) -> None:
    agree(written(tmp_path / "a.csv", ODD[name]))
    agree(written(tmp_path / "a.csv", ODD[name]), ReadOptions(drop_invalid=True, allow_empty=True))


@pytest.mark.parametrize("head", [60, 130])
@pytest.mark.parametrize("name", ODD)
def test_what_the_first_rows_do_not_show_is_read_or_refused(
    tmp_path: Path, name: str, head: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_little(monkeypatch, 1, 1, 30, head)
    agree(written(tmp_path / "a.csv", ODD[name]), may_refuse=True)


def test_quotes_that_come_late_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 30, 130)
    for name in ("quoted late", "inches"):
        agree(written(tmp_path / "a.csv", ODD[name]))
    refusal = outcome(in_batches, written(tmp_path / "a.csv", ODD["inches, then quotes"]), ReadOptions())
    assert isinstance(refusal, str)
    assert ", line 15: quotation marks do not enclose a whole field here." in refusal


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252", "latin-1", "utf-7"])
def test_encodings_are_found_or_followed(tmp_path: Path, encoding: str) -> None:
    text = f"{HEADER}\n{ROWS}\n".replace("register", "Prüfung é")
    file = written(tmp_path / "a.csv", text, encoding)
    agree(file)
    agree(file, ReadOptions(encoding=encoding))
    agree(file, ReadOptions(encoding="utf-8"))
    agree(file, ReadOptions(encoding="klingon"))


def test_a_letter_beyond_ascii_that_comes_late_tells_the_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 7, 100)
    for encoding in ("utf-8", "cp1252"):
        agree(written(tmp_path / "a.csv", f"{HEADER}\n{ROWS}\n1,Prüfung €,2024-05-06T08:00:00Z\n", encoding))


def test_an_encoding_that_changes_is_refused_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 7, 100)
    line = "1,Prüfung,2024-05-06T08:00:00Z\n"
    data = f"{HEADER}\n{line}{ROWS}\n".encode() + line.encode("cp1252")
    (tmp_path / "a.csv").write_bytes(data)
    place = f"line 15: byte {data.index('ü'.encode('cp1252')) + 1} is not valid utf-8 text"
    with pytest.raises(InputError, match=f"{place}. Name the right encoding with --encoding"):
        list(batches_of(tmp_path / "a.csv", ReadOptions()))


@pytest.mark.usefixtures("tiny_pieces")
def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    for data in (b"PK\x03\x04\x00\x81rest", f"{HEADER}\n1,".encode() + b"\x81\xfe", f"{HEADER}\n{ROW}\n1,\0".encode()):
        (tmp_path / "a.csv").write_bytes(data)
        agree(tmp_path / "a.csv")


@pytest.mark.usefixtures("tiny_pieces")
def test_packed_files_are_read(tmp_path: Path) -> None:
    text = ODD["quoted"].encode()
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text * 50)[:-20])
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", text)
    for name in ("a.csv.gz", "a.csv.zip", "cut.csv.gz", "none.csv"):
        agree(tmp_path / name)


@pytest.mark.parametrize(
    ("first", "late"),
    [
        (["1", "2"], ["x"]),
        (["1", "2"], ["2.5"]),
        (["1.0", "1"], ["1.00"]),
        (["1.0", "1"], ["x"]),
        (["a", "1"], ["1.0", "1"]),
        (["true", "True"], ["TRUE"]),
        (["true", "True"], ["yes"]),
    ],
)
def test_individuals_are_told_apart_as_they_are_written(
    tmp_path: Path, first: list[str], late: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written_ids = first + late
    rows = [f"{i},register,2024-05-06T08:00:00Z,{whose}" for i, whose in enumerate(written_ids)]
    file = written(tmp_path / "a.csv", "\n".join([f"{HEADER},whose", *rows, ""]))
    options = ReadOptions(roles=RoleNames(individual="whose"))
    read_little(monkeypatch, 1, 1, 30, len(f"{HEADER},whose\n") + sum(len(row) + 1 for row in rows[: len(first)]))
    agree(file, options)
    assert [whose for _, _, whose in in_batches(file, options)] == [written_ids.index(one) for one in written_ids]


def test_the_number_of_events_is_guessed_from_the_first_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 1000, 10_000)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(f"{HEADER}\n{MANY}".encode()))
    written(tmp_path / "b.csv", f"{HEADER}\n{MANY}")
    assert 90_000 < batches_of(tmp_path / "b.csv", ReadOptions()).estimated_events < 110_000
    assert batches_of(tmp_path / "a.csv.gz", ReadOptions()).estimated_events > 0


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(log=event_logs(), piece=st.integers(1, 80), kind=st.sampled_from(["csv", "parquet", "xes"]))
def test_any_log_is_read_as_in_memory(tmp_path: Path, log: EventLog, piece: int, kind: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        read_little(patch, 1 + piece // 20, ENOUGH, piece, ENOUGH)
        write(log, tmp_path / f"log.{kind}")
        agree(tmp_path / f"log.{kind}", ReadOptions(allow_empty=True))
