"""`libra reproduce`: the tables of a folder, as Markdown or JSON, whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from libra import example

from .conftest import TABLE, Run

STEPS = ((8, "check", "START"), (9, "check", "COMPLETE"), (12, "decide", "COMPLETE"))
STATES = "case id,activity,timestamp,lifecycle\n" + "".join(
    f"c{case},{activity},2024-05-06T{hour:02d}:00:00Z,{state}\n" for case in range(300) for hour, activity, state in STEPS
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the bundled example, a small table that bears a name of the paper, and what is no log."""
    logs = tmp_path / "logs"
    (logs / "sub").mkdir(parents=True)
    shutil.copy(example.path(), logs)
    (logs / "Sepsis.csv").write_text(TABLE, encoding="utf-8")
    (logs / "sub" / "ignored.csv").write_text("not a log", encoding="utf-8")
    for name in ("README.TXT", "notes.md", ".hidden.csv"):
        (logs / name).write_text("not a log", encoding="utf-8")
    return logs


def test_the_tables_are_markdown_on_stdout(folder: Path, run: Run) -> None:
    answer = run("reproduce", "--logs", folder, "--seeds", "2", "--setting", "printed")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# The tables of the paper, computed again",
        '## Table 1, setting "printed"',
        "## Table 2: seconds at alpha 10",
    ]
    rows = [line for line in lines if line.startswith(("| Sepsis |", "| emergency |"))]
    assert [line.split("|")[2].strip() for line in rows[:6]] == ["2", "10", "100"] * 2
    assert len({line.count("|") for line in rows[:6]}) == 1
    assert len(rows) == 8
    assert "ignored" not in answer.out


def test_json_is_one_document_with_our_value_the_papers_and_the_empty_logs(folder: Path, run: Run) -> None:
    document = json.loads(run("reproduce", "--logs", folder, "--seeds", "2", "--json").out)
    assert {row["setting"] for row in document["rows"]} == {"printed", "text", "stated"}
    rows = {(row["log"], row["alpha"]): row for row in document["rows"] if row["setting"] == "printed"}
    ours = rows["emergency", 10]["emd_freq"]
    assert 0 < ours["mean"] < ours["empty"]
    assert (ours["printed"], rows["emergency", 10]["in_paper"]) == (None, False)
    assert (rows["Sepsis", 10]["emd_freq"]["mean"], rows["Sepsis", 10]["emd_freq"]["printed"]) == (None, 123)
    assert document["seeds"] == [0, 1]


def test_one_alpha_may_be_said_and_then_is_the_only_one(folder: Path, run: Run) -> None:
    arguments = ("reproduce", "--logs", folder, "--seeds", "1", "--setting", "printed", "--json")
    document = json.loads(run(*arguments, "--alpha", "10").out)
    assert document["alphas"] == [10]
    assert [(row["log"], row["alpha"]) for row in document["rows"]] == [("Sepsis", 10), ("emergency", 10)]
    assert document["rows"][0]["emd_freq"]["printed"] == 123
    assert json.loads(run(*arguments).out)["alphas"] == [2, 10, 100]
    assert json.loads(run(*arguments, "--alpha", "3", "--alpha", "2.5", "--alpha", "3").out)["alphas"] == [3, 2.5]


def test_the_seconds_stand_at_the_alpha_of_the_papers_table_alone(folder: Path, run: Run) -> None:
    arguments = ("reproduce", "--logs", folder, "--seeds", "1", "--setting", "printed")
    assert "## Table 2" in run(*arguments, "--alpha", "10").out
    answer = run(*arguments, "--alpha", "2")
    assert answer.code == 0
    assert "## Table 2" not in answer.out


def test_a_file_holds_what_stdout_would(folder: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "tables.md"
    arguments = ("reproduce", "--logs", folder, "--seeds", "1", "--setting", "stated", "--setting", "printed")
    assert run(*arguments, "--output", target).out == f"Wrote {target}\n"
    shown = run(*arguments).out
    written = target.read_text(encoding="utf-8")
    assert _without_seconds(written) == _without_seconds(shown)
    assert written.index('setting "printed"') < written.index('setting "stated"')
    assert json.loads(run(*arguments, "--output", target, "--json").out)["output"] == str(target)
    assert run(*arguments, "--output", target, "--quiet").out == ""


def _without_seconds(page: str) -> str:
    return page.partition("## Table 2")[0]


def test_of_bpic12_only_completed_events_count(tmp_path: Path, run: Run) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("bpic12.csv", "other.csv"):
        (tmp_path / "logs" / name).write_text(STATES, encoding="utf-8")
    document = json.loads(run("reproduce", "--logs", tmp_path / "logs", "--seeds", "1", "--json").out)
    hours = {row["log"]: row["emd_time"]["empty"] for row in document["rows"]}
    assert hours == {"bpic12": 300 * 3, "other": 300 * (1 + 3) / 2}


def _as_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("x", encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (shutil.rmtree, "there is no such folder. Check --logs."),
        (_as_file, "this is a file. Name the folder that it is in with --logs."),
        (lambda folder: [path.unlink() for path in folder.glob("*.[cx]*")], "there is no event log in this folder."),
        (lambda folder: (folder / "sepsis.xes").write_text("<log/>"), "would have the same name in the tables."),
        (lambda folder: (folder / "broken.xes").write_text("<log"), "broken.xes"),
        (lambda folder: (folder / "odd.csv").write_text("a,b\n1,2\n"), "odd.csv"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_leaves_nothing(
    make: Callable[[Path], object], told: str, folder: Path, tmp_path: Path, run: Run
) -> None:
    make(folder)
    answer = run("reproduce", "--logs", folder, "--seeds", "1", "--output", tmp_path / "tables.md")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.count("\n") == 1
    assert told in answer.err
    assert not (tmp_path / "tables.md").exists()


def test_a_log_is_never_replaced_by_the_tables(folder: Path, run: Run) -> None:
    answer = run("reproduce", "--logs", folder, "--output", folder / "Sepsis.csv")
    assert answer.code == 2
    assert (folder / "Sepsis.csv").read_text(encoding="utf-8") == TABLE


@pytest.mark.parametrize("words", [("--setting", "print"), ("--seeds", "0"), ("--seeds", "many"), ("--alpha", "1")])
def test_what_cannot_be_meant_is_a_usage_error(words: tuple[str, ...], folder: Path, run: Run) -> None:
    answer = run("reproduce", "--logs", folder, *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1


def test_notes_on_reading_name_their_log(folder: Path, run: Run) -> None:
    (folder / "Sepsis.csv").write_text(TABLE.replace("Z,", ","), encoding="utf-8")  # times without a zone
    arguments = ("reproduce", "--logs", folder, "--seeds", "1", "--setting", "printed")
    assert "note: Sepsis: " in run(*arguments).err
    assert run(*arguments, "--quiet").err == ""
