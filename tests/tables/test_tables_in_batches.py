"""What is read of a table in batches is what is read of it at once, wherever the batches are cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from agreement import ENOUGH, agree, in_batches, read_little
from libra.eventlog.options import RoleNames
from odd_tables import TABLES

MORE_IS_READ = {"bytes that are no text", "starts that contradict"}  # the row is named; a start that is not needed is not read
STRICT = [name for name in TABLES if name not in MORE_IS_READ]


def fits_csv(frame: pl.DataFrame) -> bool:
    return not any(kind.is_nested() or kind == pl.Binary for kind in frame.schema.values())


@pytest.mark.parametrize("name", STRICT)
def test_frames_and_files_are_read_as_in_memory(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, options = TABLES[name]
    read_little(monkeypatch, 1, ENOUGH, 7, ENOUGH)
    agree(frame, options)
    read_little(monkeypatch, 3, ENOUGH, 61, ENOUGH)
    frame.write_parquet(tmp_path / "log.parquet", row_group_size=2)
    agree(tmp_path / "log.parquet", options)
    if not fits_csv(frame):
        return
    file = tmp_path / ("log.tsv" if STRICT.index(name) % 2 else "log.csv")  # every other table as Windows may write it
    if file.suffix == ".tsv":
        frame.write_csv(file, separator="\t", quote_style="non_numeric", line_terminator="\r\n")
    else:
        frame.write_csv(file)
    agree(file, options)


@pytest.mark.usefixtures("tiny_sample")
@pytest.mark.parametrize("name", [name for name, (frame, _) in TABLES.items() if {"case", "time"} <= set(frame.columns)])
def test_what_the_first_rows_do_not_tell_is_refused_and_never_read_otherwise(tmp_path: Path, name: str) -> None:
    frame, options = TABLES[name]
    roles = options.roles
    if "date" not in frame.columns:  # which column plays which role is for whole tables to tell
        named = RoleNames(case_id=("case",), activity=("activity",), timestamp="time", lifecycle=roles.lifecycle)
        options = replace(options, roles=replace(named, **{role: name for role, name in vars(roles).items() if name}))
    agree(frame, options, may_refuse=True)
    if fits_csv(frame):
        frame.write_csv(tmp_path / "log.csv")
        agree(tmp_path / "log.csv", options, may_refuse=True)


def test_one_row_tells_enough_of_an_ordinary_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.eventlog.tables.frames.SAMPLE", 1)
    monkeypatch.setattr("libra.eventlog.tables.frames.BATCH", 1)
    for name in ("plain", "iso text", "iso text in zones", "whole case ids", "seconds", "words", "individuals"):
        frame, options = TABLES[name]
        roles = replace(options.roles, case_id=("case",), activity=("activity",), timestamp="time")
        assert len(in_batches(frame.lazy(), replace(options, roles=roles))) > 1
