"""The logs of a folder: which files are taken for logs, and how those of the paper are read."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

from libra.eventlog.log import EventLog
from libra.eventlog.options import no_progress
from libra.eventlog.write import write
from libra.reproduce.run import log_files, read_logs


def read_all(folder: Path) -> dict[str, EventLog]:
    """The logs of a folder."""
    return read_logs(log_files(folder), lambda _: nullcontext(no_progress))


def test_text_files_are_words_to_the_reader_packed_or_not(tmp_path: Path, small_log: EventLog) -> None:
    for name in ("b.csv", "a.xes.gz"):
        write(small_log, tmp_path / name)
    for name in ("README.txt", "readme.TXT.gz", "notes.txt.zip", "notes.md", ".hidden.csv"):
        (tmp_path / name).write_text("no log", encoding="utf-8")
    (tmp_path / "folder.csv").mkdir()
    assert [path.name for path in log_files(tmp_path)] == ["a.xes.gz", "b.csv"]


def test_of_a_log_only_what_the_tables_need_is_kept(tmp_path: Path, small_log: EventLog) -> None:
    write(small_log, tmp_path / "Some.log.xes")
    (log,) = read_all(tmp_path).values()
    assert log.events.columns == ["@case", "concept:name", "time:timestamp"]
    assert log.cases.columns == ["concept:name"]
    assert list(read_all(tmp_path)) == ["Some"]


@pytest.mark.parametrize("name", ["bpic12.xes", "BPIC12.csv", "other.xes"])
def test_only_of_bpic12_events_that_are_not_complete_are_left_out(name: str, tmp_path: Path, small_log: EventLog) -> None:
    states = ["START", "COMPLETE", "complete", "SCHEDULE", "COMPLETE", "START", "COMPLETE", "COMPLETE"]
    log = EventLog(small_log.events.with_columns(pl.Series("lifecycle:transition", states)), small_log.cases)
    write(log, tmp_path / name)
    (found,) = read_all(tmp_path).values()
    assert found.n_events == (8 if name.startswith("other") else 5)
    assert found.n_cases == 3


def test_bpic12_without_a_lifecycle_is_read_as_it_is(tmp_path: Path, small_log: EventLog) -> None:
    write(small_log, tmp_path / "bpic12.csv")
    found = read_all(tmp_path)["bpic12"]
    assert found.events.equals(small_log.events.select("@case", "concept:name", "time:timestamp"))
