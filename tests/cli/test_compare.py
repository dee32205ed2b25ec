"""`libra compare`: tables for people and programs, exit codes, and a comparison that goes on where it was ended."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from libra import example
from libra.comparison.plan import OURS
from libra.mechanisms.mechanism import names, parameters_of
from libra.reporting.comparison_files import ESSENTIAL, HEADINGS

from .conftest import Answer, Run
from .test_help import COMMANDS, SHARED

COMMAND = COMMANDS["compare"]


@pytest.fixture
def compare(run: Run, crowd: Path, tmp_path: Path) -> Run:
    """Compare one mechanism at one budget with one seed on a small log, unless something else is said."""

    def _compare(*words: str | Path) -> Answer:
        said = ("--mechanisms", "travas", "--epsilon", "1", "--seeds", "1", "--cache", tmp_path / "cache")
        return run("compare", crowd, *said, *words)

    return _compare


def test_people_get_a_table_with_the_essential_columns_and_a_word_of_warning(compare: Run) -> None:
    answer = compare()
    assert answer.code == 0
    (heading,) = (line for line in answer.out.splitlines() if line.split()[:2] == ["mechanism", "epsilon"])
    assert [name for name in ESSENTIAL if name not in heading] == []
    assert "variant_tv" not in heading
    assert re.search(r"^ ?travas +1 +[\d.]+ ", answer.out, re.MULTILINE)
    assert "Confidential" in answer.out
    assert answer.err.startswith("note: crowd: ")


def test_wide_terminals_get_all_columns(compare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    (heading,) = (line for line in compare().out.splitlines() if line.split()[:2] == ["mechanism", "epsilon"])
    assert [name for name in HEADINGS if name not in heading] == []


def test_no_cell_is_broken_on_a_narrow_terminal(compare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (35, 60, 80, 110):  # the runs are made once and kept
        monkeypatch.setenv("COLUMNS", str(width))
        lines = compare("--mechanisms", "travas,prefix-laplace", "--seeds", "2").out.splitlines()
        begin = next(place for place, line in enumerate(lines) if line.split()[:3] == ["mechanism", "epsilon", "dfg_l1"])
        assert [line.split()[0] for line in lines[begin + 2 : begin + 5]] == ["empty", "travas", "prefix-laplace"]
        assert max(map(len, lines[begin : begin + 5])) <= width


def test_programs_get_one_document(compare: Run, tmp_path: Path) -> None:
    answer = compare("--json", "--output", tmp_path / "out")
    document = json.loads(answer.out)
    assert document["document"] == "Libra comparison"
    assert document["logs"][0]["rows"][0]["guarantee"] == "proved"
    assert document["runs"][0]["result"]["utility"]["emd_time"] is None
    assert {Path(file) for file in document["written"]} == set((tmp_path / "out").iterdir())
    assert document["notes"]


def test_other_forms_are_printed_as_they_are_written(compare: Run, tmp_path: Path) -> None:
    markdown = compare("--format", "markdown", "--output", tmp_path / "out").out
    assert markdown == (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert compare("--format", "csv").out == (tmp_path / "out" / "comparison.csv").read_text(encoding="utf-8")


def test_quiet_says_nothing_but_the_tables(compare: Run) -> None:
    answer = compare("--quiet")
    assert answer.err == ""
    assert "travas" in answer.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mechanisms", "no-such"), 'There is no mechanism "no-such"'),
        (("--mechanisms", "libra:tail=no"), "tail is one of"),
        (("--set", "no_such=1"), "None of the mechanisms takes no_such"),
        (("--set", "prune"), '"prune" is not a parameter'),
        (("--epsilon", "1,x"), "is not a list of numbers"),
        (("--epsilon", "0"), "epsilon has to be a number above 0"),
        (("--delta", "1"), "delta has to be a number"),
        (("--seeds", "0"), "seeds has to be a whole number"),
        (("--time-limit", "0"), "the time limit has to be a number"),
        (("--memory-limit", "nan"), "the memory limit has to be a number"),
        (("--processes", "0"), "processes has to be a whole number"),
        (("--cache", "x", "--no-cache"), "contradict each other"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(words: tuple[str, ...], told: str, run: Run) -> None:
    answer = run("compare", "no/such/log.csv", *words)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert answer.err.count("\n") == 1


def test_bad_input_is_told(run: Run, crowd: Path, tmp_path: Path) -> None:
    answer = run("compare", crowd, "no/such/log.csv", "-m", "travas")
    assert (answer.code, answer.out) == (3, "")
    assert "no/such/log.csv: there is no such file" in answer.err
    assert run("compare", "no/such/log.csv", "-m", "travas", "-o", tmp_path / "results").code == 3
    answer = run("compare", crowd, "-m", "travas", "-o", crowd)
    assert answer.code == 3
    assert "this is a file" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["crowd.csv"]


def test_without_any_result_the_exit_code_is_one_and_the_reason_is_told(compare: Run) -> None:
    answer = compare("--time-limit", "0.001")
    assert answer.code == 1
    assert "travas at 1, no result: it took more than 0.001 seconds." in answer.out


def test_a_run_that_ran_into_a_limit_is_made_again_with_a_larger_one(compare: Run) -> None:
    assert compare("--memory-limit", "0.001").code == 1
    document = json.loads(compare("--memory-limit", "0.001", "--json").out)
    assert [(run["cached"], run["missing"]["why"]) for run in document["runs"]] == [(True, "memory")]
    document = json.loads(compare("--json").out)
    assert [(run["cached"], run["missing"]) for run in document["runs"]] == [(False, None)]


def test_without_a_cache_nothing_is_kept(run: Run, crowd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    words = ("compare", crowd, "-m", "travas", "--epsilon", "1", "--seeds", "1")
    assert run(*words, "--no-cache").code == 0
    assert not (tmp_path / "home").exists()
    assert run(*words).code == 0
    assert len(list((tmp_path / "home").rglob("*.json"))) == 1


def test_no_other_parameter_of_a_mechanism_is_a_flag_of_the_command() -> None:
    flags = {flag.removeprefix("--").replace("-", "_") for option in COMMAND.params for flag in option.opts}
    assert flags & {parameter for name in names() for parameter in parameters_of(name)} == set(OURS)


def test_refusals_name_what_can_be_said_here(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "many.csv"
    events = [(case, event, (case * 7 + event * event) % 40) for case in range(300) for event in range(12)]
    rows = [f"c{case},a{activity},2024-05-06T{event:02}:00:00Z" for case, event, activity in events]
    log.write_text("\n".join(["case,activity,timestamp", *rows]) + "\n", encoding="utf-8")
    words = ("compare", log, "--mechanisms", "sacofa", "--epsilon", "0.01", "--seeds", "1", "--no-cache", "--quiet")
    (least,) = re.findall(r"sacofa at 0.01, refused: .* Ask for --set prune=(\d+)", " ".join(run(*words).out.split()))
    assert run(*words, "--set", f"prune={least}").code == 0


def test_every_run_tells_its_own_delta(compare: Run) -> None:
    answer = compare("--mechanisms", "travas:delta=0.1,amun", "--format", "csv", "--quiet")
    lines = csv.DictReader(io.StringIO(answer.out))
    assert [(line["setting"], line["delta"]) for line in lines] == [
        ("travas", "0.0001"),
        ("travas:delta=0.1", "0.1"),
        ("amun", ""),
    ]


def test_with_individuals_the_table_says_whom_a_guarantee_protects(run: Run, crowd: Path, tmp_path: Path) -> None:
    text = crowd.read_text(encoding="utf-8").splitlines()
    person = [f"{line},{'person' if not place else line.split(',')[0]}" for place, line in enumerate(text)]
    log = tmp_path / "people.csv"
    log.write_text("\n".join(person) + "\n", encoding="utf-8")
    words = (
        "--mechanisms",
        "travas,amun",
        "--epsilon",
        "1",
        "--seeds",
        "1",
        "--cache",
        tmp_path / "cache",
        "--format",
        "markdown",
    )
    told = run("compare", log, *words, "--individual", "person").out
    assert [row.split(" | ")[-2] for row in told.splitlines() if row.startswith(("| travas", "| amun"))] == [
        "proved, individuals",
        "claimed, cases",
    ]
    plain = run("compare", crowd, *words).out
    assert "individuals" not in plain


def test_the_page_tells_every_flag_and_its_default() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`--[^|]*`) \| ([^|]*) \|", page, re.MULTILINE)
    told = {flag: default for cell, default in rows for flag in re.findall(r"`(--[a-z-]+)`", cell)}
    options = {flag: option for option in COMMAND.params for flag in option.opts if flag.startswith("--") and flag not in SHARED}
    assert set(told) == set(options)
    for flag in ("--delta", "--seeds", "--time-limit", "--memory-limit"):
        assert float(told[flag]) == options[flag].default
    assert (told["--epsilon"], told["--format"]) == (options["--epsilon"].default, options["--format"].default)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals")
def test_a_comparison_that_is_killed_goes_on_without_repeating_a_finished_run(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    words = ["compare", str(example.path()), "-m", "libra,travas", "--epsilon", "0.5,1,2", "--seeds", "1", "--json"]
    command = [sys.executable, "-m", "libra", *words, "--cache", str(cache), "--processes", "1", "--quiet"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path, start_new_session=True)
    end = time.monotonic() + 600
    while not cache.exists() or len(list(cache.glob("*.json"))) < 2:
        assert first.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    finished = {path: path.stat().st_mtime_ns for path in cache.glob("*.json")}
    assert len(finished) >= 2  # more, if nobody let this process look for a while
    again = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    runs = json.loads(again.stdout)["runs"]
    assert len(runs) == 6
    assert all(run["result"] for run in runs)
    assert sum(not run["cached"] for run in runs) == 6 - len(finished)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert len(list(cache.glob("*.json"))) == 6
    third = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert all(run["cached"] for run in json.loads(third.stdout)["runs"])
