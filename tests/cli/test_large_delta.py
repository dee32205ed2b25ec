"""With a delta that is too large for the released cases nothing that anybody sees calls the log protected."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import libra
from libra.eventlog.log import EventLog

from .conftest import Run

CALLED = re.compile(r"(?<!not )\b(protected|strong)\b", re.IGNORECASE)
TOO_LARGE = re.compile(
    r"Delta 0\.02 is too large for a log of [\d,]+ cases\b.{20,150} Ask for a smaller one, such as --delta 0\.0001\."
)
LARGE = re.compile(r"Delta 0\.001 is large for a log of [\d,]+ cases\b")
MECHANISMS = (
    ("--cases", "400"),
    ("--cases", "400", "--individual", "patient"),
    ("--mechanism", "travas", "--set", "times=model"),
    (
        "--mechanism",
        "prefix-laplace",
        "--set",
        "split_budget=true",
        "--set",
        "prune=60",
        "--set",
        "max_length=4",
        "--set",
        "times=model",
    ),
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 400 cases of 400 patients, which comes out as about so many at epsilon 3."""
    begin = datetime(2024, 5, 6, 8, tzinfo=UTC)
    rows = [
        {
            "case id": f"c{case}",
            "activity": step,
            "timestamp": begin + timedelta(hours=case, minutes=10 * i),
            "patient": f"p{case}",
        }
        for case in range(400)
        for i, step in enumerate(("register", "see doctor", "leave") if case % 2 else ("register", "leave"))
    ]
    path = tmp_path_factory.mktemp("log") / "log.csv"
    pl.DataFrame(rows).write_csv(path, datetime_format="%Y-%m-%dT%H:%M:%SZ")
    return path


def _text(page: str) -> str:
    """What is seen of a page, and what is read out to whoever does not see it."""
    seen = re.sub(r"<(style|script).*?</\1>", " ", page, flags=re.DOTALL)
    labels = " ".join(re.findall(r'(?:aria-label|title|alt)="([^"]*)"', seen))
    return " ".join(html.unescape(f"{re.sub(r'<[^>]+>', ' ', seen)} {labels}").split())


def _outputs(run: Run, log: Path, folder: Path, words: tuple[str, ...], delta: str) -> tuple[dict[str, str], int]:
    """All that is printed and written about a release, by what it is; and how `libra verify` ended."""
    out, certificate, report, model = (folder / name for name in ("out.csv", "c.json", "report.html", "model.json"))
    reading = words[words.index("--individual") : words.index("--individual") + 2] if "--individual" in words else ()
    asked = (log, "-o", out, "--epsilon", "3", "--delta", delta, *words)
    modelled = () if "--mechanism" in words else ("--model", model)
    said = {}
    answer = run("anonymize", *asked, "--certificate", certificate, "--report", report, *modelled)
    assert answer.code == 0
    said["terminal"] = f"{answer.out} {answer.err}"
    said["certificate"] = certificate.read_text(encoding="utf-8")
    said["report"] = _text(report.read_text(encoding="utf-8"))
    said["public report"] = _of_report(run, (out, "--certificate", certificate, "--public"), folder)
    said["report of files"] = _of_report(run, (log, out, "--certificate", certificate, *reading), folder)
    page = run("certificate", certificate)
    said["certificate page"] = " ".join(f"{page.out} {page.err}".split())
    run("certificate", certificate, "-o", folder / "c.html")
    said["certificate page, html"] = _text((folder / "c.html").read_text(encoding="utf-8"))
    checked = run("verify", certificate, out)
    said["verify"] = " ".join(f"{checked.out} {checked.err}".split())
    said["verify, json"] = run("verify", certificate, out, "--json").out
    said["json"] = run("anonymize", *asked, "--json").out
    if modelled:
        said["model"] = model.read_text(encoding="utf-8")
    return said, checked.code


def _of_report(run: Run, words: tuple[str | Path, ...], folder: Path) -> str:
    answer = run("report", *words, "-o", folder / "page.html")
    return f"{answer.out} {answer.err} {_text((folder / 'page.html').read_text(encoding='utf-8'))}"


@pytest.mark.parametrize("words", MECHANISMS, ids=["libra", "individuals", "travas", "prefix-laplace"])
def test_above_one_over_the_cases_nothing_is_called_protected_and_all_say_what_to_ask_for(
    words: tuple[str, ...], log: Path, tmp_path: Path, run: Run
) -> None:
    said, code = _outputs(run, log, tmp_path, words, "0.02")
    for what, text in said.items():
        assert CALLED.search(text) is None, (what, CALLED.findall(text))
        assert TOO_LARGE.search(" ".join(text.split())) or what == "model", what
    assert code == 1
    assert "No: delta is too large for so many cases" in said["report"]
    assert "NOT FOR RELEASE: THE GUARANTEE IS TOO WEAK" in said["public report"]


@pytest.mark.parametrize("words", MECHANISMS, ids=["libra", "individuals", "travas", "prefix-laplace"])
def test_above_a_tenth_of_that_all_warn_and_say_what_to_ask_for(
    words: tuple[str, ...], log: Path, tmp_path: Path, run: Run
) -> None:
    said, code = _outputs(run, log, tmp_path, words, "0.001")
    for what, text in said.items():
        assert LARGE.search(" ".join(text.split())) or what == "model", what
    assert code == 0
    answer = "yes, with care: protected by a moderate, proved guarantee"
    assert (f"Y{answer[1:]}" if "--individual" in words else f"If nobody has several cases, {answer}") in said["report"]
    assert "a strong, proved" not in " ".join(said.values())


def test_up_to_a_tenth_of_one_over_the_cases_nothing_is_said_of_delta(log: Path, tmp_path: Path, run: Run) -> None:
    asked = ("--epsilon", "1", "--delta", "1e-4", "--cases", "1000", "--report", tmp_path / "report.html")
    answer = run("anonymize", log, "-o", tmp_path / "out.csv", *asked)
    page = _text((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "If nobody has several cases, yes: protected by a strong, proved guarantee" in page
    for text in (answer.out, answer.err, page):
        assert " large for a log of" not in text


def test_a_large_log_is_told_the_same_on_the_first_card_and_below() -> None:
    """Seen: "protected by a strong guarantee" on the first card, and "too weak to protect every one of them" below."""
    release = libra.anonymize(_small(), epsilon=1.0, delta=1e-5, cases=700_000)
    document = release.certificate()
    said = "Delta 1e-05 is too large for a log of 700,000 cases"
    assert document["in_plain_words"].startswith(said)
    assert sum(note.startswith(said) for note in release.notes) == 1
    page = _text(release.report(public=True).html)
    assert page.count(said) >= 2
    assert CALLED.search(page) is None
    assert "--delta 1e-07" in page


def _small() -> EventLog:
    begin = datetime(2024, 5, 6, 8, tzinfo=UTC)
    rows = [{"case": f"c{i}", "activity": "leave", "time": begin + timedelta(hours=i)} for i in range(300)]
    return libra.read(pl.DataFrame(rows))


def test_the_risk_of_such_a_release_is_told_without_a_word_of_protection(log: Path, tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.csv", tmp_path / "c.json"
    assert run("anonymize", log, "-o", out, "--delta", "0.02", "--cases", "400", "--certificate", certificate).code == 0
    answer = run("measure", log, out, "--risk", "--certificate", certificate)
    assert answer.code == 0
    assert "The guarantee" in answer.out
    assert CALLED.search(f"{answer.out} {answer.err}") is None


def test_the_certificate_says_how_many_cases_were_released_and_verify_compares(log: Path, tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.csv", tmp_path / "c.json"
    assert run("anonymize", log, "-o", out, "--cases", "123", "--certificate", certificate).code == 0
    assert json.loads(certificate.read_text(encoding="utf-8"))["cases"] == 123 == libra.read(out).n_cases
