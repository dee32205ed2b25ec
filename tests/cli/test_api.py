"""The public functions: keyword arguments in, the same results as on the command line."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

import libra
from libra.api import ReadKeywords, read_options
from libra.cli.input_options import input_flags
from libra.errors import InputError, UsageError
from libra.eventlog.options import ReadOptions, RoleNames

from .conftest import TABLE, Run


def test_every_option_of_the_reader_is_a_keyword_and_a_flag() -> None:
    options = {field.name for field in (*fields(ReadOptions), *fields(RoleNames))} - {"roles"}
    assert set(inspect.signature(read_options).parameters) == options
    assert set(ReadKeywords.__annotations__) == options
    assert set(inspect.signature(input_flags).parameters) == options - {"allow_empty", "progress"}


def test_keywords_reach_the_reader_unchanged() -> None:
    options = read_options(case_id=["a", "b"], activity="c", lifecycle_keep="complete", day_first=False, sort_by_time=True)
    assert options.roles == RoleNames(case_id=("a", "b"), activity=("c",))
    assert options.lifecycle_keep == ("complete",)
    assert options.day_first is False
    assert options.sort_by_time


@pytest.mark.parametrize("said", ["tab", r"\t", "\t"])
def test_a_tab_can_be_typed_in_a_shell(said: str) -> None:
    assert read_options(delimiter=said).delimiter == "\t"


def test_impossible_characters_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="one character"):
        read_options(delimiter="")
    with pytest.raises(UsageError, match="decimal"):
        read_options(decimal=";")


def test_a_path_a_frame_and_a_log_are_all_sources(table: Path) -> None:
    log = libra.read(str(table))
    assert libra.read(log) is log
    frame = log.to_polars()
    assert libra.read(frame).events.equals(log.events)
    assert libra.inspect(frame).cases == libra.inspect(table).cases == 3
    assert libra.measure(log, frame).dfg_l1 == 0


def test_python_and_the_command_line_agree(table: Path, run: Run) -> None:
    document = json.loads(run("inspect", table, "--json").out)
    document.pop("roles")
    assert document == json.loads(json.dumps(libra.inspect(table).to_dict()))
    assert json.loads(run("measure", table, table, "--json").out) == libra.measure(table, table).to_dict()


def test_convert_returns_what_there_is_to_know(table: Path) -> None:
    table.write_text(TABLE.replace("Z,", ","), encoding="utf-8")
    (note,) = libra.convert(table, table.parent / "log.parquet")
    assert "UTC" in note


def test_writing_takes_a_frame_and_a_name_without_a_path_object(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"case": ["1", "1"], "activity": ["a", "b"], "timestamp": ["2024-05-06T08:00:00Z", "2024-05-06T09:00:00Z"]}
    )
    assert libra.write(frame, str(tmp_path / "log.csv")) == ()
    assert libra.read(tmp_path / "log.csv").activities == ["a", "b"]


def test_errors_are_one_family() -> None:
    with pytest.raises(libra.LibraError) as caught:
        libra.read("no such file.csv")
    assert isinstance(caught.value, InputError)
    assert caught.value.exit_code == 3
