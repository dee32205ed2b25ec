"""`libra convert`: any format to any other, nothing replaced by accident, nothing left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import libra

from .conftest import Run


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
    document = json.loads(run("convert", table, target, "--json").out)
    assert document == {"output": str(target), "notes": []}


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
