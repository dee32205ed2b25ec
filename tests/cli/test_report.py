"""`libra report` and `libra anonymize --report`: a page for any pair of logs, confidential unless asked for as public."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import libra

from .conftest import TABLE, Run


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
    html = page.read_text(encoding="utf-8")
    assert "CONFIDENTIAL" in html
    assert table.name in html


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
    html = page.read_text(encoding="utf-8")
    assert "CONFIDENTIAL" in html
    assert all(name in html for name in (table.name, log.name, certificate.name))


def test_anonymize_can_write_the_public_page(table: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "r.html"
    answer = run("anonymize", table, "-o", tmp_path / "o.csv", "--report", page, "--public")
    assert answer.code == 0
    assert str(page) in answer.out
    assert "CONFIDENTIAL" not in page.read_text(encoding="utf-8")
    assert table.name not in page.read_text(encoding="utf-8")


def test_the_commands_on_a_page_work(table: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import html
    import re
    import shlex

    monkeypatch.chdir(tmp_path)
    (tmp_path / "my log.csv").write_text(TABLE, encoding="utf-8")
    asked = ("--epsilon", "0.5", "--tail", "drop", "--budget", "control=0.7,times=0.3", "--private-labels")
    made = run("anonymize", "my log.csv", "-o", "out.csv", "--certificate", "c.json", "--report", "report.html", *asked)
    assert made.code == 0
    parameters = json.loads(Path("c.json").read_text(encoding="utf-8"))["parameters"]
    page = Path("report.html").read_text(encoding="utf-8")
    commands = [shlex.split(html.unescape(found))[1:] for found in re.findall(r'<code class="command">(.*?)</code>', page)]
    assert [words[0] for words in commands] == ["anonymize", "verify", "report", "measure"]
    for words in reversed(commands):
        assert run(*words).code == 0
    assert run(*commands[0], "--certificate", "again.json").code == 0
    assert json.loads(Path("again.json").read_text(encoding="utf-8"))["parameters"] == parameters


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
