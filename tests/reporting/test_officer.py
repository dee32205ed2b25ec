"""The officer's part of a report: what is asked, what goes out and what stays, and what a person with several cases has."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from parsed_page import ParsedPage, check_policy

import libra
from libra.eventlog.attributes import Attribute
from libra.eventlog.names import RESOURCE
from libra.example.simulate import simulate
from libra.privacy.guarantee import certainty, doubt_left
from libra.reporting.build import report_of
from libra.reporting.commands import Names
from libra.reporting.facts import facts_of
from libra.reporting.facts.pair import Pair
from libra.reporting.officer import MOST_NAMES, Officer, officer_of
from libra.reporting.promise import promise_of


def asked(**parameters: Any) -> Officer:
    original = simulate(cases=300)
    release = libra.anonymize(original, **parameters)
    document = release.certificate()
    facts = facts_of(Pair(original, release.log), with_risk=False)
    return officer_of(facts, promise_of(document), document, Names("log.csv", "out.csv", "c.json"))


@pytest.fixture(scope="module")
def page() -> ParsedPage:
    return check_policy(libra.anonymize(simulate(cases=400)).report().html)


def test_a_person_with_several_cases_has_what_group_privacy_leaves() -> None:
    rows = {int(cases): row for cases, *row in asked(epsilon=0.5, delta=1e-5).weaker}
    assert rows[1] == ["0.5", "1e-05", certainty(doubt_left(0.5, 1e-5))]
    grown = 1e-5 * sum(math.exp(0.5 * case) for case in range(5))
    assert rows[5] == ["2.5", f"{grown:.2g}", certainty(doubt_left(2.5, grown))]


def test_the_table_ends_with_the_first_that_promises_nothing() -> None:
    rows = asked(epsilon=5.0, delta=1e-5).weaker
    assert [row[0] for row in rows] == ["1", "2", "3", "5"]
    assert rows[-1][2:] == ("1", "100 %")


def test_what_goes_out_and_what_stays_is_listed() -> None:
    found = asked()
    assert found.goes_out[0].startswith("out.csv: ")
    assert found.goes_out[1:] == (
        "It holds case ids made anew, activities, timestamps",
        "c.json, which says what is promised",
    )
    assert found.stays[:2] == (
        "Resources: org:resource",
        "Attributes: cost:total, complaint, acuity, age, insurance and lifecycle:transition",
    )
    assert found.stays[-1].startswith("This page, which is CONFIDENTIAL")


def test_attributes_that_go_out_are_named_and_so_is_what_resources_are_called() -> None:
    who, age = Attribute(RESOURCE, "category", "event"), Attribute("case:age", "number")
    roomy: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-3}
    out = asked(attributes=[age, who], **roomy).goes_out
    assert out[1:4] == (
        "It holds case ids made anew, activities, timestamps",
        "Its attributes: case:age and org:resource. Resources are called R1, R2 and so on",
        "c.json, which says what is promised",
    )
    named = asked(attributes=[who], resource_names=True, **roomy).goes_out
    assert named[2] == "Its attributes: org:resource. Resources are called by their names"
    nothing = asked(attributes=[replace(age, name="age", at="nowhere")], **roomy).goes_out
    assert not any("ttributes" in line for line in nothing)


def test_of_many_attributes_some_are_named() -> None:
    log = simulate(cases=100)
    wide = libra.read(log.to_polars().with_columns(*(pl.lit("x").alias(f"column {n}") for n in range(40))))
    facts = facts_of(Pair(wide, log), with_risk=False)
    (listing,) = officer_of(facts, promise_of(None), None, Names()).stays[:1]
    assert listing.endswith(f" and {40 - MOST_NAMES} more")


@pytest.mark.parametrize("parameters", [{"mechanism": "libra2022"}, {"seed": 1}])
def test_where_nothing_is_proved_nothing_is_weaker_and_nothing_has_to_hold(parameters: dict[str, Any]) -> None:
    found = asked(**parameters)
    assert (found.bound, found.weaker, found.has_to_hold) == ("", (), ())
    said = ParsedPage(libra.anonymize(simulate(cases=300), **parameters).report().html).section("officer")
    assert "treat every case in it as a real one" in said
    assert said.count("No guarantee that holds says anything about it.") == 3
    assert "no limit" in said


def test_it_asks_before_it_answers_and_ends_with_a_signature(page: ParsedPage) -> None:
    said = page.section("officer")
    places = [
        said.index(words)
        for words in (
            "1. Is one person one case in this log?",
            "2. What goes out, and what does not",
            "3. For what, and to whom?",
            "4. What was released before of the same data?",
            "account should be taken of all the means reasonably likely to be used, such as singling out",
            "Is it still possible to single out an individual?",
            "Is it still possible to link records relating to an individual?",
            "Can information be inferred concerning an individual?",
            "6. Is all of this true?",
            "Decision",
            "Signature",
        )
    ]
    assert places == sorted(places)
    assert "Of 100 cases, somebody who knows three events with their days finds" in said


def test_individuals_are_asked_about_as_such() -> None:
    log = simulate(cases=300)
    release = libra.anonymize(log.to_polars(), individual="case:concept:name")
    said = ParsedPage(release.report().html).section("officer")
    assert "Is one individual one person in this log?" in said
    assert "entries of one person" in said


def test_assumptions_and_sums_are_said_once_on_a_page(page: ParsedPage) -> None:
    document = libra.anonymize(simulate(cases=400)).certificate()
    for sentence in document["guarantee"]["assumptions"]:
        assert page.html.count(sentence) == 1
    assert "Several releases of the same log add up" not in page.section("guarantee")


def test_it_is_for_the_custodian_alone() -> None:
    release = libra.anonymize(simulate(cases=300))
    assert 'id="officer"' not in release.report(public=True).html
    assert 'id="officer"' in report_of(simulate(cases=20), simulate(cases=20)).html
