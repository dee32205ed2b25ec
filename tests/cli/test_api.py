"""The public functions: keyword arguments in, the same results as on the command line."""

from __future__ import annotations

import doctest
import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from libra.cli.options import input_flags
from libra.errors import InputError, MissingColumnError, UsageError
from libra.eventlog.options import ReadOptions, RoleNames
from libra.keywords import ReadKeywords, read_options

from .conftest import TABLE, Run


def test_every_option_of_the_reader_is_a_keyword_and_a_flag() -> None:
    of_descriptions = {"clock", "quote", "line_end", "described", "form", "attributes"}
    options = {field.name for field in (*fields(ReadOptions), *fields(RoleNames))} - {"roles"} - of_descriptions
    options.add("description")
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


@pytest.mark.parametrize("name", ["foo", "base64", "", "a\0b"])
def test_an_encoding_that_does_not_exist_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="There is no encoding"):
        read_options(encoding=name)


@pytest.mark.parametrize("name", ["utf-8", "cp1252", "utf-16", "utf-32-le", "shift_jis"])
def test_every_encoding_of_python_is_taken(name: str) -> None:
    assert read_options(encoding=name).encoding == name


def test_none_is_the_same_as_left_out(table: Path) -> None:
    keywords: Any = dict.fromkeys(ReadKeywords.__annotations__)
    assert read_options(**keywords) == ReadOptions()
    assert libra.read(table, **keywords).equals(libra.read(table))


def test_a_misspelt_keyword_is_answered_in_the_name_of_the_function_called(table: Path) -> None:
    with pytest.raises(TypeError, match=r"libra\.read\(\) got an unexpected keyword argument 'caseid'\. Did you mean case_id\?"):
        libra.read(table, caseid="case id")  # type: ignore[call-arg]  # the mistake under test


@pytest.mark.parametrize(
    ("name", "value"), [("day_first", "yes"), ("sort_by_time", 1), ("case_id", 3), ("activity", ["a", 1]), ("timestamp", ["a"])]
)
def test_a_value_that_cannot_be_meant_is_a_usage_error(name: str, value: object) -> None:
    keywords: Any = {name: value}
    with pytest.raises(UsageError, match=name):
        read_options(**keywords)


def test_what_is_no_log_at_all_is_told_what_is() -> None:
    with pytest.raises(InputError, match=r"a NoneType is not an event log\. Give the path of a file, a pandas or Polars frame"):
        libra.read(None)


def test_roles_named_for_a_log_are_taken_from_its_own_columns(table: Path) -> None:
    log = libra.read(table, case_id="case id", individual="case id")
    by_resource = libra.read(log, activity="org:resource", drop_invalid=True)
    assert by_resource.activities == ["Dr. Ali", "Dr. Bo", "desk"]
    assert by_resource.individual == "concept:name"
    assert by_resource.metadata == log.metadata
    with pytest.raises(MissingColumnError, match="--case-id: there is no column"):
        libra.read(log, case_id="ward")


def test_roles_that_a_log_was_read_with_may_be_said_again(table: Path) -> None:
    log = libra.read(table, case_id="case id")
    assert libra.read(log, case_id="case id", activity="activity") is log
    assert libra.measure(log, table, case_id="case id").dfg_l1 == 0


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
    assert json.loads(run("measure", table, table, "--json").out) == libra.measure(table, table).to_dict() | {"notes": []}


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


def test_writing_and_converting_refuse_a_missing_folder_in_the_same_words(table: Path) -> None:
    target = table.parent / "nofolder" / "x.csv"
    for function in (libra.write, libra.convert):
        with pytest.raises(InputError, match=r"nofolder: there is no such folder\. Create it first"):
            function(table, target)


@pytest.mark.parametrize(
    "function", [libra.read, libra.write, libra.convert, libra.anonymize, libra.inspect, libra.measure, libra.verify]
)
def test_examples_run_when_pasted(function: Callable[..., object]) -> None:
    (example,) = doctest.DocTestFinder().find(function, function.__name__, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_errors_are_one_family() -> None:
    with pytest.raises(libra.LibraError) as caught:
        libra.read("no such file.csv")
    assert isinstance(caught.value, InputError)
    assert caught.value.exit_code == 3
