"""`libra report` and `libra anonymize --report`: a page for any pair of logs, confidential unless asked for as public."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
from pathlib import Path

import pytest

import libra
from libra.errors import InputError
from libra.reporting.page import Report

from .conftest import TABLE, Run


def _commands(page: str | Path) -> list[list[str]]:
    """The commands on a page, as a shell would take them."""
    text = Path(page).read_text(encoding="utf-8")
    return [shlex.split(html.unescape(found))[1:] for found in re.findall(r'<code class="command">(.*?)</code>', text)]


@pytest.fixture
def released(table: Path, tmp_path: Path) -> Path:
    """An anonymized log, with its certificate beside it."""
    path = tmp_path / "released.csv"
    libra.anonymize(table, epsilon=2.0).write(path, certificate=tmp_path / "certificate.json")
    return path


def test_a_pair_of_logs_gives_a_page(table: Path, released: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "report.html"
    answer = run("report", table, released, "--certificate", tmp_path / "certificate.json", "-o", page)
    assert answer.code == 0
    assert f"Wrote {page} (CONFIDENTIAL" in answer.out
    assert "May I hand it out?" in answer.out
    text = page.read_text(encoding="utf-8")
    assert "CONFIDENTIAL" in text
    assert table.name in text


def test_public_needs_only_the_anonymized_log(released: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "public.html"
    answer = run("report", released, "--certificate", tmp_path / "certificate.json", "--public", "-o", page)
    assert answer.code == 0
    assert "CONFIDENTIAL" not in answer.out + page.read_text(encoding="utf-8")


def test_public_does_not_open_the_original(released: Path, tmp_path: Path, run: Run) -> None:
    missing = tmp_path / "secret-name.csv"
    page = tmp_path / "public.html"
    assert run("report", missing, released, "--public", "-o", page).code == 0
    assert "secret-name" not in page.read_text(encoding="utf-8")


def test_json_says_what_the_first_screen_says(table: Path, released: Path, tmp_path: Path, run: Run) -> None:
    answer = run("report", table, released, "-o", tmp_path / "report.html", "--json")
    document = json.loads(answer.out)
    assert document["output"] == str(tmp_path / "report.html")
    assert document["standing"] == "unknown"
    measured = json.loads(run("measure", table, released, "--json").out)
    assert document["aspects"]["edges"]["figures"]["dfg_l1"] == measured["dfg_l1"]


def test_anonymize_writes_the_report_beside_the_log(table: Path, tmp_path: Path, run: Run) -> None:
    page, log, certificate = tmp_path / "r.html", tmp_path / "o.csv", tmp_path / "c.json"
    answer = run("anonymize", table, "-o", log, "--certificate", certificate, "--report", page, "--json")
    assert json.loads(answer.out)["report"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "CONFIDENTIAL" in text
    assert all(name in text for name in (table.name, log.name, certificate.name))


def test_anonymize_can_write_the_public_page(table: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "r.html"
    answer = run("anonymize", table, "-o", tmp_path / "o.csv", "--report", page, "--public")
    assert answer.code == 0
    assert str(page) in answer.out
    assert "CONFIDENTIAL" not in page.read_text(encoding="utf-8")
    assert table.name not in page.read_text(encoding="utf-8")


def test_the_commands_on_a_page_work(table: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my log.csv").write_text(TABLE, encoding="utf-8")
    asked = ("--epsilon", "0.5", "--tail", "drop", "--budget", "control=0.7,times=0.3", "--public-labels")
    made = run("anonymize", "my log.csv", "-o", "out.csv", "--certificate", "c.json", "--report", "report.html", *asked)
    assert made.code == 0
    parameters = json.loads(Path("c.json").read_text(encoding="utf-8"))["parameters"]
    commands = _commands("report.html")
    assert [words[0] for words in commands] == ["anonymize", "verify", "report", "measure"]
    before = Path("out.csv").read_bytes()
    for words in reversed(commands):
        assert run(*words).code == 0
    assert json.loads(Path("again-certificate.json").read_text(encoding="utf-8"))["parameters"] == parameters
    assert Path("out.csv").read_bytes() == before
    assert Path("again-out.csv").exists()


def test_the_commands_read_the_log_as_it_was_read(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [line.split(",") for line in TABLE.splitlines()[1:]]
    odd = ["Fall;Was;Wann", *(f"{row[0]};{row[1]};06.05.2024 0{8 + place}:00" for place, row in enumerate(rows[:2]))]
    Path("odd.csv").write_text("\n".join(odd) + "\n", encoding="utf-8")
    flags = ("--case-id", "Fall", "--activity", "Was", "--timestamp", "Wann", "--day-first", "--individual", "Fall")
    assert run("anonymize", "odd.csv", "-o", "out.csv", "--certificate", "c.json", "--report", "r.html", *flags).code == 0
    commands = _commands("r.html")
    assert [words[0] for words in commands] == ["anonymize", "verify", "report", "measure"]
    for words in commands:
        assert run(*words).code == 0


@pytest.mark.parametrize("name", ["5 % of all.csv", "-o.csv", "it's.csv"])
def test_odd_names_can_be_copied(name: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(TABLE, encoding="utf-8")
    assert run("anonymize", f"./{name}", "-o", "out.csv", "--report", "r.html").code == 0
    commands = _commands("r.html")
    assert [words[0] for words in commands] == ["anonymize", "report", "measure"]
    assert run(*commands[2]).code == 0


@pytest.mark.parametrize("name", ["two\nlines.csv", "turned\u202ever.csv", "no\xa0break.csv"])
def test_names_that_hide_something_are_in_no_command(name: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / name).write_text(TABLE, encoding="utf-8")
    assert run("anonymize", tmp_path / name, "-o", tmp_path / "out.csv", "--report", tmp_path / "r.html").code == 0
    assert _commands(tmp_path / "r.html") == []


def test_a_name_that_is_not_text_does_no_harm(tmp_path: Path, run: Run) -> None:
    name = os.fsdecode(b"bad\xff.csv")
    (tmp_path / name).write_text(TABLE, encoding="utf-8")
    answer = run("anonymize", tmp_path / name, "-o", tmp_path / "out.csv", "--report", tmp_path / "r.html")
    assert answer.code == 0
    assert "bad\ufffd.csv" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_certificate_that_does_not_hold_is_told_by_the_exit_code(table: Path, released: Path, tmp_path: Path, run: Run) -> None:
    answer = run("report", table, table, "--certificate", tmp_path / "certificate.json", "-o", tmp_path / "r.html")
    assert answer.code == 1
    assert "No: its certificate does not hold" in answer.out
    assert (tmp_path / "r.html").exists()


def test_anonymize_says_who_may_see_the_page(table: Path, tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", table, "-o", tmp_path / "o.csv", "--report", tmp_path / "r.html")
    assert f"Wrote {tmp_path / 'r.html'} (CONFIDENTIAL" in answer.out
    assert "May I hand it out?" in answer.out
    assert "libra verify" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_does_not_hide_that_the_log_was(
    table: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Report, path: Path) -> Path:
        raise InputError("the disk is full, nothing was written", place=str(path), remedy="Free some space")

    monkeypatch.setattr(Report, "save", full)
    answer = run("anonymize", table, "-o", tmp_path / "o.csv", "--report", tmp_path / "r.html")
    assert answer.code == 3
    assert (tmp_path / "o.csv").exists()
    assert "o.csv is written, the page is not" in answer.err
    assert "nothing was written" not in answer.err


def test_a_plain_error_where_something_is_missing(table: Path, released: Path, tmp_path: Path, run: Run) -> None:
    for words, code, said in (
        (("report", table, "-o", tmp_path / "r.html"), 2, "--public"),
        (("report", table, released), 2, "-o report.html"),
        (("report", table, released, "-o", tmp_path / "r.pdf"), 2, ".html"),
        (("report", table, released, "-o", tmp_path / "no" / "r.html"), 3, "no such folder"),
        (("report", table, tmp_path / "missing.csv", "-o", tmp_path / "r.html"), 3, "missing.csv"),
        (("report", table, released, "--certificate", table, "-o", tmp_path / "r.html"), 3, table.name),
        (("report", table, released, "--attack", "-o", tmp_path / "r.html"), 2, "certificate"),
        (("report", table, released, released, "-o", tmp_path / "r.html"), 2, "both logs"),
        (("anonymize", table, "-o", tmp_path / "o.csv", "--public"), 2, "--report"),
        (("anonymize", table, "--explain", "--report", tmp_path / "r.html"), 2, "-o OUT"),
        (("anonymize", table, "-o", tmp_path / "o.csv", "--report", tmp_path / "r.txt"), 2, ".html"),
    ):
        answer = run(*words)
        assert (answer.code, answer.out) == (code, "")
        assert said in answer.err
        assert len(answer.err.splitlines()) == 1
    assert not (tmp_path / "r.html").exists()
    assert not (tmp_path / "o.csv").exists()


def test_quiet_is_quiet(table: Path, released: Path, tmp_path: Path, run: Run) -> None:
    answer = run("report", table, released, "-o", tmp_path / "report.html", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_a_page_that_is_no_html_is_refused(table: Path, run: Run) -> None:
    answer = run("report", table, table, "-o", "report.pdf")
    assert (answer.code, answer.err) == (2, "libra: report.pdf: the page is written as HTML. End its name in .html.\n")
