"""A report as a page: it runs and loads nothing, shows hostile labels as text, and in public holds nothing of the original."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest
from hostile_logs import LABELS, hostile_log
from parsed_page import ParsedPage, check_policy

import libra
from libra import example
from libra.errors import InputError, UsageError
from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.release import Release
from libra.reporting.build import draft_of_release, report_of
from libra.reporting.commands import Names, commands_of

SECTIONS = ("answers", "officer", "guarantee", "kept", "maps", "variants", "lengths", "steps", "calendar", "risk", "warnings")


class _Noon(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2024, 5, 6, 12, tzinfo=tz)


@pytest.fixture(scope="module")
def release() -> Release:
    return libra.anonymize(simulate(cases=400))


@pytest.fixture(scope="module")
def parsed(release: Release) -> ParsedPage:
    return check_policy(release.report().html)


def test_it_has_every_section_and_a_way_to_each(parsed: ParsedPage) -> None:
    ids = {element.attributes.get("id") for element in parsed.elements}
    links = {element.attributes["href"] for element in parsed.named("a")}
    assert ids.issuperset(SECTIONS)
    assert links.issuperset(f"#{anchor}" for anchor in SECTIONS)


def test_every_image_says_what_it_shows_and_every_chart_is_a_table_too(parsed: ParsedPage) -> None:
    pictures = [element for element in parsed.named("svg") if element.attributes.get("aria-hidden") != "true"]
    assert pictures
    assert all(element.attributes.get("role") == "img" and element.attributes.get("aria-label") for element in pictures)
    charts = [element for element in parsed.named("figure") if "chart" in element.attributes["class"]]
    assert charts
    assert all("As a table" in element.text for element in charts)


@pytest.mark.parametrize(
    ("labels", "flags"), [("private", ""), ("public", " --public-labels"), (["Triage", "Dis charge"], " --labels labels.txt")]
)
def test_the_command_that_repeats_a_release_has_the_flags_of_labels(labels: str | list[str], flags: str) -> None:
    document = {"mechanism": "libra", "parameters": {"epsilon": 1.0, "labels": labels}}
    command = commands_of(document, Names("log.csv", "out.csv"), public=False)["again"]
    assert command.endswith(f" --mechanism libra --epsilon 1.0{flags}")


def test_hostile_labels_are_text() -> None:
    log = hostile_log()
    named = Names("<script>window.broken = true</script>.csv", '"><b>.csv', "<i>.json")
    for original in (log, None):
        page = check_policy(report_of(original, log, names=named).html)
        assert len(page.named("script")) == len(page.named("style")) == 1
        assert not page.named("b")
        assert not page.named("i")
        assert "{{ 7 * 7 }}" in page.section("variants")
        assert "<script>window.broken" in page.section("variants")


@pytest.mark.parametrize("label", [label for label in LABELS if len(label) >= 5_000])
def test_labels_without_end_are_cut(label: str) -> None:
    assert label[:200] not in report_of(hostile_log(), hostile_log()).html


def test_a_public_page_is_the_same_whatever_the_original_was(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.reporting.page.datetime", _Noon)  # no page is written over midnight
    others = (release.original, simulate(cases=7), None)
    pages = {draft_of_release(release, other, public=True).report().html for other in others}
    assert len(pages) == 1
    (html,) = pages
    assert "CONFIDENTIAL" not in html
    assert "PUBLIC" in html


def test_a_public_page_does_not_repeat_what_a_release_tells_its_custodian(release: Release) -> None:
    told = copy.copy(release)
    object.__setattr__(told, "notes", ("4711 cases were read.",))
    assert "4711" in draft_of_release(told, simulate(cases=400)).report().html
    assert "4711" not in told.report(public=True).html


def test_every_other_page_is_stamped_on_the_screen_and_on_every_sheet(parsed: ParsedPage) -> None:
    for kind in ("stamp", "running"):
        assert [one.text for one in parsed.elements if kind in one.attributes.get("class", "").split()] == ["CONFIDENTIAL"]


@pytest.mark.parametrize("parameters", [{"seed": 1}, {"mechanism": "libra2022"}, {"epsilon": 20.0}])
def test_a_public_page_of_what_protects_nobody_is_not_for_release(parameters: dict[str, Any]) -> None:
    page = check_policy(libra.anonymize(simulate(cases=300), **parameters).report(public=True).html)
    (stamp,) = (one.text for one in page.elements if "stamp" in one.attributes.get("class", "").split())
    assert stamp.startswith("NOT FOR RELEASE")
    assert page.named("h1")[0].text == "An event log, and what is known of it"


def test_the_raw_log_gets_no_public_stamp() -> None:
    page = libra.report(example.path(), public=True)
    assert "PUBLIC" not in page.html
    assert "NOT FOR RELEASE" in page.html


def test_a_release_that_forgot_its_original_asks_for_it(release: Release) -> None:
    forgetful = pickle.loads(pickle.dumps(release))  # noqa: S301  our own
    assert forgetful.original is None
    with pytest.raises(UsageError, match="Give it"):
        forgetful.report()
    for original in (simulate(cases=400), simulate(cases=400).to_polars()):
        assert "CONFIDENTIAL" in forgetful.report(original).html


def test_no_raw_case_goes_into_a_pickled_release() -> None:
    release = libra.anonymize(hostile_log(), labels=["harmless"])
    assert release.original is not None
    assert b"window.broken" not in pickle.dumps(release)


def test_an_empty_release_says_so(release: Release) -> None:
    original = simulate(cases=400)
    page = check_policy(replace(release, log=empty_log(release.log), original=original, expected=None).report().html)
    assert "nothing came out, the log is empty" in page.section("answers")
    assert "A variant needs about" in page.section("answers")
    assert "The anonymized log is empty" in page.section("warnings")
    assert "Times are drawn anew" not in page.section("warnings")
    check_policy(report_of(None, empty_log(original)).html)
    check_policy(report_of(empty_log(original), empty_log(original)).html)


def test_placeholder_times_are_not_shown() -> None:
    release = libra.anonymize(simulate(cases=400), mechanism="travas")
    page = check_policy(release.report().html)
    for anchor in ("steps", "calendar", "lengths"):
        assert "placeholders" in page.section(anchor)
    assert not [element for element in page.elements if "lm-by-duration" in element.attributes.get("class", "")]
    maps = page.html[page.html.index('<section id="maps"') :].partition("</section>")[0]
    assert not re.search(r"anonymized: [^\n<]*on average", maps)
    assert not re.search(r"lm-(longer|shorter)", maps)
    assert "unknown" in page.section("answers")


@pytest.mark.parametrize("mechanism", ["libra2022", "amun", "pripel", "sacofa", "prefix-laplace"])
def test_what_is_only_claimed_is_never_called_protected(mechanism: str) -> None:
    parameters: dict[str, Any] = {"mechanism": mechanism}
    page = check_policy(libra.anonymize(simulate(cases=300), **parameters).report().html)
    assert "No: nothing is proved about it" in page.section("answers")
    assert "protected by" not in page.section("answers")


def test_a_seeded_release_is_not_to_be_handed_out() -> None:
    page = check_policy(libra.anonymize(simulate(cases=300), seed=1).report().html)
    assert "No: it was drawn with a seed" in page.section("answers")


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(release: Release) -> None:
    shown = release.report(public=True)._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown


def test_a_page_is_written_whole_and_as_html(release: Release, tmp_path: Path) -> None:
    page = release.report(public=True)
    assert page.save(tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(UsageError, match=r"End its name in \.html"):
        page.save(tmp_path / "page.pdf")
    with pytest.raises(InputError):
        page.save(tmp_path / "no" / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_logs_that_need_care() -> None:
    one = simulate(cases=1)
    single = one.events.head(1)
    lonely = EventLog(single, one.cases)
    for original, anonymized in ((one, one), (lonely, lonely), (lonely, one), (None, lonely)):
        check_policy(report_of(original, anonymized).html)


def test_the_bundled_log_makes_a_page_of_usual_size() -> None:
    assert len(libra.anonymize(example.path()).report().html) < 700_000


def test_both_pages_say_what_error_to_expect(release: Release) -> None:
    assert release.expected is not None
    for public in (False, True):
        assert release.expected.sentence in check_policy(release.report(public=public).html).section("answers")
    hopeless = replace(release.expected.dfg_l1, likely=1.3, highest=2.0)
    worse = replace(release, expected=replace(release.expected, dfg_l1=hopeless)).report(public=True)
    assert "probably no better than an empty log" in check_policy(worse.html).section("answers")
