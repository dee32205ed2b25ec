"""The page of a comparison: the figures of `to_dict`, what is proved and what is claimed, and nothing that would run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from libra.compared import Comparison
from libra.comparison.comparison import CONFIDENTIAL, MEASURES, ComparedLog, Missing, Result
from libra.reporting.comparison_files import table_of
from libra.reporting.comparison_page import MOST
from libra.reporting.numbers import MISSING, number

from .some_outcomes import BUDGETS, EMPTY, comparison, result

FOUND = comparison(
    {
        "libra": [[result(0.5), result(0.6)], [result(0.3), result(0.2)], [result(0.1)] * 2],
        "travas": [[Missing("time", "slow <b>")] * 2, [result(0.9, has_times=False)] * 2, [result(0.8, has_times=False)] * 2],
        "libra2022:b=2": [[replace(result(0.4), guarantee="claimed")] * 2],
    }
)


class Page(HTMLParser):
    """The tables of a page by the section they are in, all elements, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.section = ""
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.inside = ""
        self.in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self.inside = tag if tag in ("style", "script") else self.inside
        if tag == "section":
            self.section = dict(attributes).get("id") or ""
        elif tag == "table":
            self.tables.append((self.section, []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][1][-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == self.inside else self.inside
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            return
        self.text += data
        if self.in_cell:
            self.tables[-1][1][-1][-1] += data

    def of(self, section: str) -> list[list[list[str]]]:
        """The tables of a section, as rows of cells."""
        return [rows for where, rows in self.tables if where == section]


def _page(found: Comparison = FOUND) -> Page:
    return Page(found.report().html)


def test_every_chart_has_the_figures_of_the_comparison_as_a_table() -> None:
    page = _page()
    (log,) = FOUND.to_dict()["logs"]
    checked = 0
    for measure in MEASURES:
        (table,) = page.of(measure)
        rows = {row[0].partition(" (")[0]: row[1:] for row in table[1:]}
        for row in log["rows"]:
            mean = row["measures"][measure]
            cells = rows.get(row["setting"])
            if mean is None:
                assert cells is None or cells[table[0].index(f"{row['epsilon']:g}") - 1] == MISSING
                continue
            assert cells is not None
            cell = cells[0] if row["epsilon"] is None else cells[table[0].index(f"{row['epsilon']:g}") - 1]
            assert cell.partition(" ±")[0] == number(mean["mean"])
            checked += 1
        if log["empty_log"][measure] is not None:
            assert rows["empty log"] == [number(log["empty_log"][measure])] * len(BUDGETS)
    assert checked == 8 * 4 + 4 * 2  # travas releases no times


def test_the_table_of_each_log_is_there_with_its_footnotes() -> None:
    page = _page()
    (table,) = page.of("tables")
    expected = table_of(FOUND, FOUND.logs[0])
    assert table == [list(expected.headings), *(list(row) for row in expected.rows)]
    assert "slow <b>" in page.text


def test_the_page_says_what_was_compared_and_that_it_is_confidential() -> None:
    page = _page()
    asked, promised = page.of("compared")
    assert ["Budgets", "epsilon 0.1, 1, 4.7; delta 0.0001"] in asked
    assert ["Seeds", "0, 1"] in asked
    assert ["Limits of a run", "300 seconds, 4 GB"] in asked
    assert ["Runs", "12 of 14 gave a result"] in asked
    assert CONFIDENTIAL in page.text
    assert "CONFIDENTIAL" in page.text
    assert [row[:2] for row in promised[1:]] == [
        ["libra", "proved for everything that is released"],
        ["travas", "proved for everything that is released"],
        ["libra2022:b=2", "as claimed by its authors: not a guarantee"],
    ]


def test_names_in_the_charts_say_in_words_what_is_proved_and_what_is_claimed() -> None:
    (table,) = _page().of("dfg_l1")
    assert [row[0] for row in table[1:]] == [
        "libra (proved)",
        "travas (proved)",
        "libra2022:b=2 (claimed), as set",
        "empty log",
    ]


def test_a_measure_has_a_chart_for_each_log_and_every_section_the_same_legend() -> None:
    other = replace(FOUND.outcomes[0].run, log="bpic13")
    found = replace(
        FOUND,
        logs=(*FOUND.logs, ComparedLog("bpic13", EMPTY)),
        outcomes=(*FOUND.outcomes, replace(FOUND.outcomes[0], run=other)),
    )
    html = found.report().html
    sections = re.findall(r'<section id="(\w+)" class="measure">(.*?)</section>', html, flags=re.DOTALL)
    assert [name for name, _ in sections] == list(MEASURES)
    assert {text.count("<figure") for _, text in sections} == {2}
    legends = {re.search(r'<ul class="legend".*?</ul>', text, flags=re.DOTALL)[0] for _, text in sections}  # type: ignore[index]  # a page without a legend fails here
    assert len(legends) == 1
    assert legends.pop().count("<li>") == 3


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_nothing_from_outside_becomes_markup_and_the_policy_names_all_that_runs() -> None:
    log = '<script>alert(1)</script>"\x00\u202e'
    found = comparison(
        {"libra": [[result(0.5)]] * 3, "travas": [[Missing("failed", "<img src=x onerror=alert(1)>")]] * 3}, log=log
    )
    page = _page(found)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == tags.count("style") == 1
    assert not {"img", "iframe", "object", "image", "base", "form"} & set(tags)
    assert not [name for _, attributes in page.elements for name in attributes if name == "style" or name.startswith("on")]
    assert "\u202e" not in page.text
    (policy,) = (attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes)
    html = found.report().html
    for kind in ("style", "script"):
        (content,) = re.findall(rf"<{kind}>(.*?)</{kind}>", html, flags=re.DOTALL)
        assert f"{kind}-src {_hash(content)}" in (policy or "")
    assert "<script>alert(1)</script>" in page.text


def test_a_comparison_in_which_nothing_came_out_has_a_page_too() -> None:
    page = _page(comparison({"travas": [[Missing("time", "It took too long")]] * 3}))
    assert "No run gave a result" in page.text
    assert "It took too long." in page.text


def _many(labels: Iterable[str], epsilons: Iterable[float], logs: Iterable[str], outcomes: list[Result]) -> Comparison:
    small = comparison({label: [outcomes] for label in labels})
    budgets = tuple(epsilons)
    names = tuple(logs)
    every = tuple(
        replace(one, run=replace(one.run, epsilon=epsilon, log=log))
        for log in names
        for one in small.outcomes
        for epsilon in budgets
    )
    return replace(small, logs=tuple(ComparedLog(log, EMPTY) for log in names), outcomes=every, epsilons=budgets)


@pytest.mark.slow
def test_however_large_the_comparison_the_page_is_small_and_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.measures.audit.outcome.outcome_of", lambda *_: "not refuted")  # which takes its time
    labels = [f"libra:gamma=0.{place + 10}:subsamples=20:labels=public:tail=drop" for place in range(30)]
    both = [result(0.1234567), result(0.7654321)]
    found = _many(labels, range(1, 31), (f"log {place}" + "x" * 200 for place in range(30)), both)
    report = found.report()
    assert len(report.html.encode()) < 5_000_000
    page = Page(report.html)
    for said in (
        f"30 settings the first {MOST['settings']}",
        f"30 budgets the first {MOST['budgets']}",
        f"30 logs the first {MOST['logs']}",
    ):
        assert said in page.text


def test_the_page_can_be_saved_and_shown_inline(tmp_path: Path) -> None:
    report = FOUND.report()
    assert not report.public
    assert report.save(tmp_path / "page.html").read_text(encoding="utf-8") == report.html
    assert "<iframe" in report._repr_html_()


def test_the_first_screen_says_when_it_was_written_and_which_is_best() -> None:
    report = FOUND.report()
    page = Page(report.html)
    assert re.search(r"Written on \d{4}-\d\d-\d\d by Libra", page.text)
    ((question, answer),) = report.answers
    assert question == "Which is best?"
    assert answer == "Among what is proved, libra is nearest to the original at every epsilon."
    first = re.search(r'<section id="best">(.*?)</section>', report.html, flags=re.DOTALL)
    assert first is not None
    said = Page(first[1]).text
    assert answer in said
    assert "libra2022:b=2 is nearer still at epsilon 0.1, but claimed, not proved, so its epsilon is not comparable." in said
    assert "An audit refuted what is promised of libra2022:b=2." in said
    assert "Not ranked where a run gave no result: travas." in said
