"""Nobody is told to choose among releases: the first is handed out, or all are counted."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from parsed_page import ParsedPage

import libra
from libra.cli.compare import show_comparison
from libra.comparison.comparison import CHOICE
from libra.example.simulate import simulate
from libra.mechanisms.libra import Libra
from libra.privacy.guarantee import RELEASE_ONCE

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
TO_CHOOSE = re.compile(
    r"(hand|pass|send)(ing)? (out |on )?(any )?one of them|(choose|pick|take|keep) the (best|nicest|nearest)( one)? of",
    re.IGNORECASE,
)
SOURCES = sorted((ROOT / "src" / "libra").rglob("*.py")) + sorted((ROOT / "src" / "libra").rglob("*.html"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_says_to_choose_among_runs(page: Path) -> None:
    assert TO_CHOOSE.findall(" ".join(page.read_text(encoding="utf-8").split())) == []


def test_no_source_says_to_choose_among_runs() -> None:
    assert [file for file in SOURCES if TO_CHOOSE.search(" ".join(file.read_text(encoding="utf-8").split()))] == []


def test_the_report_says_to_hand_out_the_first_or_to_count_all() -> None:
    release = libra.anonymize(simulate(cases=200))
    page = ParsedPage(release.report().html)
    assert "libra anonymize" in page.section("again")
    assert RELEASE_ONCE in page.section("again")
    assert "one of them" not in " ".join(page.named("main")[0].text.split())
    public = ParsedPage(release.report(public=True).html)
    assert "Hand out the first, or count all that were made." in public.section("guarantee")
    assert "one of them" not in public.named("main")[0].text


def test_the_plan_says_so_before_any_case_is_looked_at() -> None:
    assert RELEASE_ONCE in Libra().plan.explain()


@pytest.mark.parametrize("mechanism", ["libra", "travas"])
def test_the_certificate_assumes_it_and_says_that_several_add_up(mechanism: str) -> None:
    promised = libra.anonymize(simulate(cases=200), mechanism=mechanism).certificate()["guarantee"]
    assert any(
        "They were not selected by looking at results on this log, nor was this release from among several." in one
        for one in promised["assumptions"]
    )
    assert any("Hand out the first, or count all that were made." in one for one in promised["caveats"])


def test_a_comparison_says_that_a_choice_by_it_is_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = libra.compare(simulate(cases=100), mechanisms="libra", epsilon=1.0, seeds=1, cache=False)
    show_comparison(found)
    for said in (capsys.readouterr().out, ParsedPage(found.report().html).named("footer")[0].text):
        assert CHOICE in " ".join(said.split())


@pytest.mark.parametrize("mechanism", ["libra", "travas"])
def test_where_nothing_came_out_another_run_is_said_to_count(mechanism: str) -> None:
    release = libra.anonymize(simulate(cases=5), mechanism=mechanism, epsilon=0.1, seed=1)
    assert release.log.n_cases == 0
    (note,) = [note for note in release.notes if "empty" in note]
    assert note.endswith("would help. A second run counts as well: epsilons and deltas add up.")


def test_the_figures_of_the_argument_are_right() -> None:
    """The better of two independent runs, by a score that likes an event of probability 0.1 or dislikes it."""
    p = 0.1
    likes, dislikes = 1 - (1 - p) ** 2, p**2
    text = " ".join((ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8").split())
    said = text.partition("## Choosing among releases")[2].partition(" ## ")[0]
    assert f"For p = {p:g} that is {likes:.2f} or {dislikes:.2f}." in said
    assert f"the ratio is {likes / dislikes:.0f} where epsilon 1 allows {math.e:.2f}" in said
    for page in ("threat-model.md", "how-it-works.md", "report.md", "compare.md", "certificate.md"):
        assert "guarantees.md#choosing-among-releases" in (ROOT / "docs" / page).read_text(encoding="utf-8"), page
    assert "0.19 or 0.01" in (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
