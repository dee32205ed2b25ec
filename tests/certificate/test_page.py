"""The page for people: everything that was certified is on it, in the order of their questions, and nothing in it is obeyed."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from some_certificates import OPTIONS, all_checks, changed, document

from libra.certificate.page import Page, html_of, page_of


def _page(name: str) -> Page:
    found = document(name)
    return page_of(found, all_checks(found), "certificate.json")


def _text(page: Page) -> str:
    parts = [page.title, page.issued, page.signature, *page.warnings, page.sentence]
    for section in page.sections:
        parts += [section.title, *section.text, *section.points, *(" ".join(row) for row in section.table), section.command]
    return "\n".join(parts)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_sentence_and_the_fingerprint_are_on_the_page(name: str) -> None:
    found = document(name)
    page = _page(name)
    text = _text(page)
    guarantee = found["guarantee"]
    told = [found["in_plain_words"], guarantee["statement"], *guarantee["assumptions"], *guarantee["caveats"]]
    told += [found["contents"], found["output"]["sha256"], found["randomness"], found["issued"], found["version"]]
    assert [sentence for sentence in told if sentence not in text] == []
    assert "libra verify certificate.json log.csv" in text
    assert page.signature.startswith("Not signed. Anyone could have written this certificate")


def test_the_page_says_what_is_declared_of_every_attribute() -> None:
    ward = {"name": "Ward", "kind": "category", "level": "event", "values": list("abcdef")}
    declarations = [
        ward,
        {"name": "Ward <b>", "kind": "category", "values": ["one"], "at": "Entlassung"},
        {"name": "group", "kind": "category"},
        {"name": "urgent", "kind": "boolean"},
        {"name": "age", "kind": "number", "lowest": 0, "highest": 120},
        {"name": "cost", "kind": "number", "level": "event", "highest": 1234567.5, "counter": True},
        {"name": "weight", "kind": "number"},
        {"name": "due", "kind": "date", "lowest": -10},
    ]
    found = changed(document("libra"), ("parameters", "attributes"), declarations)
    page = page_of(found, [], "certificate.json")
    section = next(one for one in page.sections if one.title == "The attributes, as they were declared")
    assert section.text == ("Lists of values and bounds must not come from the original.",)
    assert section.table == (
        ("Ward", "category, one per event, list of 6 values"),
        ("Ward <b>", "category, one per case, on Entlassung, list of 1 value"),
        ("group", "category, one per case, values selected privately"),
        ("urgent", "boolean, one per case"),
        ("age", "number, one per case, 0 to 120"),
        ("cost", "number, one per event, up to 1234567.5, counter"),
        ("weight", "number, one per case, no bounds"),
        ("due", "date, one per case, from -10 days from the start"),
    )
    assert "<td>Ward &lt;b&gt;</td><td>category, one per case, on Entlassung, list of 1 value</td>" in html_of(page)


def test_the_questions_come_in_their_order() -> None:
    assert [section.title for section in _page("libra").sections] == [
        "The promise, precisely",
        "How likely it may seem that one case was there",
        "Who is protected",
        "What has to hold",
        "What is not promised",
        "How the budget was spent",
        "The file",
        "How to check it",
    ]


@pytest.mark.parametrize(("name", "who", "other"), [("libra", "case", "individual"), ("individuals", "individual", "case")])
def test_odds_are_those_of_the_unit_that_is_protected(name: str, who: str, other: str) -> None:
    found = document(name)
    found |= {"cases": 5, "guarantee": found["guarantee"] | {"delta": 0.1}}  # too large for all but the sentence on giving away
    for page in (_page(name), page_of(found, [], "c.json")):
        _, odds, protected, *_ = page.sections
        assert odds.title == f"How likely it may seem that one {who} was there"
        assert not re.search(rf"person|\b{other}\b", " ".join((odds.title, *odds.text, *odds.table[0], *odds.table[1])))
        assert protected.text[0].startswith(f"Each {who} by ")
    assert f"it may give any one {who} away outright" in odds.text[0]


def test_what_was_asked_for_can_be_typed_again_and_what_was_left_open_is_left_out() -> None:
    (made,) = [row[1] for section in _page("nearest").sections for row in section.table if row[0] == "made with"]
    assert made == (
        "epsilon 4; delta 0.001; tail nearest; edges certain; budget control=0.55,times=0.45; labels private; time zone UTC; "
        "gamma 1; subsamples 1"
    )
    assert "most cases 1" in _text(_page("individuals"))
    assert "cases 150" in _text(_page("libra"))


def test_the_page_says_what_libra_and_plus_delta_are() -> None:
    assert "Libra is a program that" in _page("libra").issued
    assert 'The "plus 0.001" is delta, a probability' in _text(_page("libra"))
    assert "delta, a probability" not in _text(_page("libra2022"))


def test_bars_add_up_to_what_was_spent_by_topic() -> None:
    found = document("libra")
    (spent,) = [section for section in _page("libra").sections if section.bars]
    bars = dict(spent.bars)
    assert sum(bars.values()) == pytest.approx(sum(entry["share"] for entry in found["ledger"]))
    shares = found["spent"]["shares"]
    assert bars["counts of kept variants"] == pytest.approx(shares["kept"])
    assert bars["model of rare cases"] + bars["choice of activity names"] == pytest.approx(shares["tail"])
    assert len(bars) == 7


def test_a_claim_and_a_seed_promise_nobody_anything() -> None:
    for name in ("libra2022", "seeded"):
        titles = [section.title for section in _page(name).sections]
        assert "Who is protected" not in titles
        assert not any("How likely" in title for title in titles)
    assert "What is claimed" in [section.title for section in _page("libra2022").sections]
    assert "there is no ledger" in _text(_page("libra2022"))
    assert "not private: seeded" in _page("seeded").warnings[0]


def test_a_certificate_that_does_not_hold_begins_with_that() -> None:
    found = changed(document("libra"), ("guarantee", "epsilon"), 0.1)
    page = page_of(found, all_checks(found), "c.json")
    assert page.warnings
    drawn = html_of(page)
    assert drawn.index("This certificate does not hold. Do not rely on it.") < drawn.index(page.sentence)
    assert "does not hold" not in html_of(_page("libra"))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_what_stands_in_a_certificate_is_text_and_never_markup() -> None:
    evil = '<script src="http://evil"></script><img onerror=x>" onload="y'
    found = document("libra")
    for path in (("in_plain_words",), ("contents",), ("output", "file"), ("guarantee", "statement"), ("guarantee", "caveats", 0)):
        found = changed(found, path, evil)
    found = changed(found, ("ledger", 0, "purpose"), evil)
    page = html_of(page_of(found, all_checks(found), evil))
    parser = _Tags()
    parser.feed(page)
    assert {"script", "img", "a", "link", "iframe"} & set(parser.tags) == set()
    assert {name for name, _ in parser.attributes} <= {"lang", "charset", "http-equiv", "content", "name", "class", "style"}
    assert page.count("&lt;script src=&#34;http://evil&#34;&gt;") >= 5


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = html_of(_page("libra"))
    assert "http" not in page.replace("http-equiv", "")
    assert "url(" not in page
    assert re.search(r"@page \{ size: A4;", page)
