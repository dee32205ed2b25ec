"""Attacks that one added person could make by a value: it changed how everybody else's ids and labels were read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from neighbouring_files import READ, START, Row, as_csv, as_frame, as_pandas, as_xes, put

import libra
from libra.engines.control_flow_tables import Size
from libra.engines.polars import LogInMemory
from libra.engines.polars_streaming.source import StreamedLog
from libra.errors import InputError
from libra.eventlog.options import RoleNames
from libra.eventlog.read import batches_of, read
from libra.eventlog.tables.in_batches import individuals_apart
from libra.eventlog.tables.values import as_text
from libra.privacy.randomness import Randomness
from libra.privacy.unit import Unit

PEOPLE = 300
PLAIN = replace(READ, timestamp_format=None)
BY_TRACE = replace(PLAIN, roles=RoleNames(individual="whose"))
Written = Callable[[Sequence[Row], Path], Any]


def individuals(source: Any, options: Any, *, streamed: bool = False) -> int:
    """How many individuals an engine counts: the size of the log with one case of each."""
    log = StreamedLog(batches_of(source, options)) if streamed else LogInMemory(read(source, options))
    return int(log.engine(Unit(most_cases=1), Randomness(seed=1)).count_all([Size()])[0][0])


def two_cases_each(first: Callable[[int], Any], second: Callable[[int], Any], added: Any) -> tuple[list[Row], list[Row]]:
    """People with two cases each, whose ids are written in two ways; and the same with one more person."""
    ids = [write(person) for person in range(PEOPLE) for write in (first, second)]
    rows = [Row(f"case {i}", "register", START + timedelta(minutes=i), whose) for i, whose in enumerate(ids)]
    return rows, [*rows, Row("case of the other", "register", START, added)]


def test_a_person_with_a_word_for_an_id_changes_nobody_elses_in_csv(tmp_path: Path) -> None:
    without, everybody = two_cases_each(str, lambda person: f"{person}.0", "anon")
    for streamed in (False, True):
        few, all_of_them = (
            individuals(put(tmp_path / "a.csv", as_csv(rows)), READ, streamed=streamed) for rows in (without, everybody)
        )
        assert (few, all_of_them) == (2 * PEOPLE, 2 * PEOPLE + 1)


def test_a_person_with_a_word_for_an_id_changes_nobody_elses_in_xes(tmp_path: Path) -> None:
    without, everybody = two_cases_each(lambda n: ("int", f"{n}"), lambda n: ("float", f"{n}.0"), ("string", "anon"))
    named = [
        [replace(row, case=("string", row.case), activity=("string", "register")) for row in of] for of in (without, everybody)
    ]
    for streamed in (False, True):
        few, all_of_them = (individuals(put(tmp_path / "a.xes", as_xes(rows)), BY_TRACE, streamed=streamed) for rows in named)
        assert (few, all_of_them) == (PEOPLE, PEOPLE + 1)


@pytest.mark.parametrize("as_objects", [True, False])
@pytest.mark.parametrize("added", ["anon", 0.5, True, Decimal("1e30")])
def test_a_person_with_an_odd_id_changes_nobody_elses_in_pandas(added: Any, as_objects: bool) -> None:
    for rows, count in zip(two_cases_each(int, float, added), (PEOPLE, PEOPLE + 1), strict=True):
        assert individuals(as_pandas(rows, as_objects=as_objects), PLAIN) == count


def test_a_fraction_changes_nobody_elses_id_in_parquet_and_frames(tmp_path: Path) -> None:
    types = [pl.String(), pl.String(), pl.Float64()]
    for rows, count in zip(two_cases_each(float, float, 0.5), (PEOPLE, PEOPLE + 1), strict=True):
        frame = as_frame(rows, types)
        frame.write_parquet(tmp_path / "a.parquet")
        for streamed in (False, True):
            assert individuals(tmp_path / "a.parquet", PLAIN, streamed=streamed) == count
            assert individuals(frame, PLAIN, streamed=streamed) == count


LABELS: dict[str, tuple[Written, Any, Any, Any]] = {
    "csv": (lambda rows, at: put(at / "a.csv", as_csv(rows)), "1", "0.5", READ),
    "xes": (lambda rows, at: put(at / "a.xes", as_xes(rows)), ("int", "1"), ("float", "0.5"), BY_TRACE),
    "polars": (lambda rows, _: as_frame(rows, [pl.String(), pl.Float64(), pl.String()]), 1.0, 0.5, PLAIN),
    "pandas": (lambda rows, _: as_pandas(rows, as_objects=False), 1, 0.5, PLAIN),
    "pandas, objects": (lambda rows, _: as_pandas(rows, as_objects=True), 1, "0.5", PLAIN),
}


@pytest.mark.parametrize("kind", LABELS)
def test_one_label_that_is_a_fraction_leaves_all_others_as_they_are(tmp_path: Path, kind: str) -> None:
    written, one, half, options = LABELS[kind]
    text = (lambda value: ("string", value)) if kind == "xes" else str
    rows = [Row(text(f"case {i}"), one, START + timedelta(minutes=i), text(f"p{i}")) for i in range(3)]
    odd = [*rows, Row(text("case 4"), half, START, text("p4"))]
    for of, labels in ((rows, {"1"}), (odd, {"1", "0.5"})):
        source = written(of, tmp_path)
        assert set(read(source, options).activities) == labels
        if not kind.startswith("pandas"):
            assert {label for batch in batches_of(source, options) for label in batch["activity"]} == labels


def test_text_of_a_number_is_that_of_its_value() -> None:
    for values in ([7, None], [7.0, float("nan")], [Decimal("7.00"), None], ["7", None]):
        assert as_text(pl.Series(values, strict=False)).to_list() == ["7", None]
    odd = pl.Series([1e20, -1e16, 2.5e-7, float("inf"), -0.0])
    assert as_text(odd).to_list() == ["100000000000000000000", "-10000000000000000", "2.5e-7", "inf", "0"]


def test_a_case_of_nobodys_is_taken_for_nobody_elses() -> None:
    assert individuals_apart(pl.Series(["\0y", "\1y", " "]), pl.Series(["a", "b", "y"])).n_unique() == 3


def test_an_event_that_is_left_out_does_not_change_the_type_of_the_individuals_after_it() -> None:
    rows = [Row("a", None, START, None), Row("b", "register", START, 7), Row("c", "register", START + timedelta(minutes=1), 7)]
    frame = as_frame(rows, [pl.String(), pl.String(), pl.Int64()])
    types = {batch["individual"].dtype for batch in batches_of(frame, PLAIN)}
    assert types == {pl.Int64()}
    assert individuals(frame, PLAIN, streamed=True) == individuals(frame, PLAIN) == 1


def test_one_line_end_does_not_hide_the_lines_before_it(tmp_path: Path) -> None:
    lines = as_csv([Row(f"case {i}", "a", START + timedelta(minutes=i), "p") for i in range(3)]).decode().splitlines()
    for text in ("\r".join(lines[:-1]) + "\n" + lines[-1], "\r".join(lines[:2]) + "\r" + "\n".join(lines[2:])):
        for way in (read, lambda source, options: list(batches_of(source, options))):
            with pytest.raises(InputError, match="some lines end in a carriage return and some in a line feed"):
                way(put(tmp_path / "a.csv", text.encode()), READ)


def test_the_header_says_what_encloses_fields_and_not_the_rows(tmp_path: Path) -> None:
    rows = "'1','a','2024-05-06 08:00:00','p','x'\n'2','b','2024-05-06 09:00:00','q','{}'\n"
    for last in ("x", '5"'):
        file = put(tmp_path / "a.csv", f"'case','activity','when','whose','note'\n{rows.format(last)}".encode())
        assert read(file, READ).activities == ["a", "b"]
    with pytest.raises(InputError, match="fields stand in single quotes, and the column names do not"):
        read(put(tmp_path / "a.csv", f"case,activity,when,whose,note\n{rows.format('x')}".encode()), READ)


def test_ids_that_join_alike_in_different_files_of_a_folder_stay_two_cases(tmp_path: Path) -> None:
    times = iter(range(9))
    for name, case, whose in (("a.csv", "a+b", "c"), ("b.csv", "a", "b+c"), ("c.csv", "a+b", "c")):
        put(tmp_path / name, as_csv([Row(case, "register", START + timedelta(minutes=next(times)), whose)]))
    log = read(tmp_path, replace(READ, roles=RoleNames(("case", "whose"), ("activity",), "when", individual="whose")))
    assert log.n_cases == 2
    assert log.events["@case"].to_list() == [0, 0, 1]


def test_one_letter_in_another_encoding_changes_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.eventlog.tables.csv_read.PIECE", 40)
    monkeypatch.setattr("libra.eventlog.tables.csv_read.HEAD", 40)
    letters = ("\u00fc".encode(), "\u00fc".encode("cp1252"))
    for first, second in (letters, letters[::-1]):
        lines = [f"{i},X,2024-05-06 08:00:00,p,x".encode() for i in range(9)]
        lines[2], lines[7] = lines[2].replace(b"X", first), lines[7].replace(b"X", second)
        file = put(tmp_path / "a.csv", b"\n".join([b"case,activity,when,whose,note", *lines]))
        for way in (read, lambda source, options: list(batches_of(source, options))):
            with pytest.raises(InputError, match="Name the right encoding"):
                way(file, replace(READ, encoding=None))


@pytest.mark.parametrize("in_batches", [False, True])
def test_a_case_of_two_people_does_not_take_the_protection_from_everybody(in_batches: bool, tmp_path: Path) -> None:
    """A Parquet file of ours knows whose case is whose; one row that contradicts itself is refused, not forgotten."""
    start = datetime(2024, 5, 6, tzinfo=UTC)
    rows = [(f"c{n}", "a", start, f"p{n // 2}") for n in range(8)] + [("c0", "b", start, "p0")]
    names = ("case:concept:name", "concept:name", "time:timestamp", "case:patient")
    log = libra.read(pl.DataFrame(rows, names, orient="row"), individual="case:patient")
    libra.write(log, tmp_path / "log.parquet")
    written = pl.read_parquet(tmp_path / "log.parquet")
    metadata = pl.read_parquet_metadata(tmp_path / "log.parquet")
    wrong = written.with_row_index().with_columns(
        pl.when(pl.col("index") == 1).then(pl.lit("p3")).otherwise(pl.col("case:patient")).alias("case:patient")
    )
    wrong.drop("index").write_parquet(tmp_path / "wrong.parquet", metadata={"libra": metadata["libra"]})
    assert libra.read(tmp_path / "log.parquet").individual == "patient"
    engine = "polars-streaming" if in_batches else "polars"
    with pytest.raises(InputError, match="changes within a case"):
        libra.anonymize(tmp_path / "wrong.parquet", engine=engine)
