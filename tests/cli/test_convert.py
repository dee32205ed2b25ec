"""`libra convert`: any format to any other, nothing replaced by accident, nothing left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import libra

from .conftest import Run

DROP = ("--drop-invalid",)


@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz", "log.xes.zip", "log.csv.gz", "log.tsv", "log.parquet"])
def test_the_name_says_the_format_and_the_log_stays_the_same(name: str, table: Path, run: Run) -> None:
    target = table.parent / name
    answer = run("convert", table, target)
    assert (answer.code, answer.out) == (0, f"Wrote {target}\n")
    before, after = libra.read(table), libra.read(target)
    assert before.events.equals(after.events.select(before.events.columns))
    assert before.cases.equals(after.cases.select(before.cases.columns))


def test_json_names_the_output_and_the_notes(table: Path, run: Run) -> None:
    target = table.parent / "log.parquet"
    answer = run("convert", table, target, "--json")
    document = json.loads(answer.out)
    assert answer.err == ""
    columns = {"case_id": "case id", "activity": "activity", "timestamp": "timestamp", "resource": "resource"}
    assert document == {"output": str(target), "columns": columns, "notes": []}


def test_the_columns_that_were_taken_are_told_where_they_had_to_be_found(table: Path, run: Run) -> None:
    target = table.parent / "log.csv"
    found = run("convert", table, target)
    assert (
        found.err == 'note: Columns used: case id "case id", activity "activity", timestamp "timestamp", resource "resource".\n'
    )
    assert run("convert", target, table.parent / "again.csv").err == ""  # the standard's names
    named = ("--case-id", "case id", "--activity", "activity", "--timestamp", "timestamp", "--resource", "resource")
    assert run("convert", table, target, *named).err == ""
    assert '"case id" + "resource"' in run("convert", table, target, "--case-id", "case id", "--case-id", "resource", *DROP).err


def test_a_name_that_no_file_can_have_is_one_line(table: Path, run: Run) -> None:
    for arguments in ((table, table.parent / f"{'x' * 300}.csv"), (table.parent / f"{'x' * 300}.csv", table.parent / "out.csv")):
        answer = run("convert", *arguments)
        assert (answer.code, answer.out, answer.err.count("\n")) == (3, "", 1), answer.err
        assert "xxx.csv" in answer.err


def test_links_in_a_circle_are_no_output(table: Path, run: Run) -> None:
    one, other = table.parent / "one.csv", table.parent / "other.csv"
    one.symlink_to(other)
    other.symlink_to(one)
    answer = run("convert", table, one)
    assert (answer.code, answer.err.count("\n")) == (3, 1)
    assert f"{one}: cannot be written" in answer.err


def test_a_target_that_cannot_be_written_is_refused_before_reading(
    table: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (table.parent / "folder.csv").mkdir()
    missing = table.parent / "missing.csv"
    assert "folder.csv: this is not a file" in run("convert", missing, table.parent / "folder.csv").err

    def refused(**_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("libra.targets.tempfile.TemporaryFile", refused)
    assert "you may not write to this folder" in run("convert", missing, table.parent / "out.csv").err


def test_quiet_says_nothing(table: Path, run: Run) -> None:
    answer = run("convert", table, table.parent / "log.parquet", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_the_input_is_never_the_output(table: Path, run: Run) -> None:
    before = table.read_bytes()
    link = table.parent / "link.csv"
    link.symlink_to(table)
    twin = table.parent / "twin.csv"
    os.link(table, twin)
    for target in (table, link, twin, table.parent / "." / table.name):
        answer = run("convert", table, target)
        assert answer.code == 2
        assert "would replace the input" in answer.err
    assert table.read_bytes() == before


def test_an_unknown_format_is_refused_before_reading(table: Path, run: Run) -> None:
    answer = run("convert", table.parent / "missing.csv", table.parent / "log.xlsx")
    assert answer.code == 2
    assert "log.xlsx" in answer.err
    assert ".parquet" in answer.err


def test_a_missing_folder_is_named_and_not_made(table: Path, run: Run) -> None:
    answer = run("convert", table, table.parent / "there" / "log.csv")
    assert answer.code == 3
    assert str(table.parent / "there") in answer.err
    assert not (table.parent / "there").exists()


def test_a_failed_read_leaves_no_output(table: Path, run: Run) -> None:
    table.write_text("case id,activity,timestamp\np1,go,n/a\n", encoding="utf-8")
    answer = run("convert", table, table.parent / "log.xes")
    assert answer.code == 3
    assert [file.name for file in table.parent.iterdir()] == [table.name]
