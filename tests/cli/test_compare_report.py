"""`libra compare --report`: a page beside the tables, and a target that is looked at before any run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from libra.comparison.comparison import CONFIDENTIAL

from .conftest import Answer, Run


@pytest.fixture
def compare(run: Run, crowd: Path, tmp_path: Path) -> Run:
    """Compare one mechanism at one budget with one seed on a small log."""

    def _compare(*words: str | Path) -> Answer:
        said = ("--mechanisms", "travas", "--epsilon", "1", "--seeds", "1", "--cache", tmp_path / "cache")
        return run("compare", crowd, *said, *words)

    return _compare


def _kept(folder: Path) -> list[Path]:
    """The runs that the cache holds."""
    return [file for file in (folder / "cache").rglob("*") if file.is_file()]


def test_the_page_is_written_and_named(compare: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = compare("--report", page)
    assert answer.code == 0
    assert "travas" in answer.out
    assert f"Wrote {page}." in " ".join(answer.out.split())
    html = page.read_text(encoding="utf-8")
    assert CONFIDENTIAL in html
    assert "travas (proved)" in html
    assert _kept(tmp_path)


def test_programs_are_told_of_the_page_among_the_files(compare: Run, tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"
    answer = compare("--output", page.parent, "--report", page, "--json")
    assert answer.code == 0
    written = json.loads(answer.out)["written"]
    assert written[-1] == str(page)
    assert str(page.parent / "comparison.csv") in written
    assert all(Path(name).is_file() for name in written)


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("page.pdf", "End its name in .html", 2),
        ("no/such/page.html", "there is no such folder", 3),
        ("dir.html", "not a file", 3),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_anything_is_run(
    name: str, said: str, code: int, compare: Run, tmp_path: Path
) -> None:
    (tmp_path / "dir.html").mkdir()
    answer = compare("--report", tmp_path / name)
    assert answer.code == code
    assert said in " ".join(answer.err.split())
    assert not _kept(tmp_path)


def test_the_page_does_not_replace_a_log(compare: Run, crowd: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.hardlink_to(crowd)
    before = crowd.read_bytes()
    answer = compare("--report", page)
    assert answer.code == 2
    assert "the report would replace the input" in " ".join(answer.err.split())
    assert crowd.read_bytes() == before
