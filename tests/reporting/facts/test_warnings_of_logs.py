"""What not to conclude: what holds of the mechanism, and of these logs."""

from __future__ import annotations

from typing import Any

import pytest
from logs_by_hand import HANDLING, RELEASED, log_of

import libra
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.mechanisms.mechanism import HOMES
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.warnings import (
    BY_THEMSELVES,
    KNOWN,
    MOST_LABELS,
    NUMBERS,
    REAL_CASES,
    TIES,
    Caution,
    warnings_of,
)

PROVED = {"kind": "proved", "seeded": False}
CLAIMED = {"kind": "claimed", "seeded": False}


def certificate(mechanism: str, guarantee: dict[str, Any] = PROVED, **parameters: object) -> dict[str, Any]:
    return {"mechanism": mechanism, "guarantee": guarantee, "parameters": parameters}


def warned(pair: Pair, document: dict[str, Any] | None = None, **said: Any) -> dict[str, Caution]:
    return {warning.title: warning for warning in warnings_of(pair, document, **said)}


def titles(document: dict[str, Any] | None, **said: Any) -> set[str]:
    return set(warned(Pair(None, log_of(RELEASED)), document, **said))


def test_activities_that_vanished_are_listed_by_their_frequency() -> None:
    found = warned(Pair(log_of(HANDLING), log_of([[("leave", 0.0)]])))["2 activities vanished"]
    assert found.points == ("register: 5 events", "triage: 4 events")
    assert "does not mean that nobody did it" in found.text


def test_of_many_that_vanished_the_most_frequent_are_listed() -> None:
    original = log_of([[(f"label {n}", 0.0)] * (n + 1) for n in range(30)])
    found = warned(Pair(original, log_of([[("label 29", 0.0)]])))["29 activities vanished"]
    assert len(found.points) == MOST_LABELS
    assert found.points[0] == "label 28: 29 events"
    assert "9 more are not" in found.text


def test_steps_that_nobody_took_are_told() -> None:
    found = warned(Pair(log_of(HANDLING), log_of(RELEASED)))["Some steps were taken by nobody"]
    assert found.points == ("triage → register: 2 times",)
    assert "Some steps were taken by nobody" not in warned(Pair(log_of(HANDLING), log_of(HANDLING)))


def test_an_empty_log_says_that_it_says_nothing() -> None:
    found = warned(Pair(log_of(HANDLING), log_of([])), certificate("libra"))
    assert "The anonymized log is empty" in found
    assert not any("vanished" in title for title in found)


def test_without_a_certificate_nothing_is_known() -> None:
    assert "Nothing is known of how this log was made" in titles(None)
    assert "Case ids are new" not in titles(None)


@pytest.mark.parametrize("mechanism", sorted(HOMES))
def test_every_mechanism_has_its_warnings(mechanism: str) -> None:
    assert mechanism in KNOWN
    found = warned(Pair(None, log_of(RELEASED)), certificate(mechanism, CLAIMED))
    assert {"Nothing is proved about this log", "Case ids are new", "Cases have nothing to do with each other"} <= set(found)
    if mechanism in REAL_CASES:
        assert REAL_CASES[mechanism] in found["Nothing is proved about this log"].text
        assert "Times are drawn anew" not in found
    assert "Nothing is proved about this log" not in titles(certificate(mechanism, PROVED))


@pytest.mark.parametrize(
    ("tail", "title"),
    [
        ("model", "Rare traces are made up"),
        ("nearest", "Rare traces are counted for others"),
        ("drop", "Rare traces are left out"),
    ],
)
def test_of_libra_it_is_told_what_became_of_rare_traces(tail: str, title: str) -> None:
    rare = {found for found in titles(certificate("libra", tail=tail)) if found.startswith("Rare traces")}
    assert rare == {title}


BED: dict[str, Any] = {"name": "bed", "kind": "category", "level": "event"}
SEX: dict[str, Any] = {"name": "sex", "kind": "category"}
COST: dict[str, Any] = {"name": "cost", "kind": "number", "level": "event"}


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ([], set()),
        ([SEX], {TIES}),
        ([SEX, SEX | {"kind": "number"}], {TIES, NUMBERS}),
        ([BED], set()),
        ([COST], {NUMBERS}),
        ([BED, COST], {BY_THEMSELVES, NUMBERS}),
        ([SEX, BED], {TIES, BY_THEMSELVES}),
    ],
)
def test_of_released_attributes_it_is_told_what_they_cannot_say(attributes: list[dict[str, Any]], said: set[Caution]) -> None:
    """Also in public mode: it follows from how the log was made."""
    for pair in (Pair(None, log_of(RELEASED)), Pair(log_of(HANDLING), log_of(RELEASED))):
        found = set(warned(pair, certificate("libra", attributes=attributes)).values())
        assert found & {TIES, BY_THEMSELVES, NUMBERS} == said
    assert not set(warned(pair, certificate("pripel", attributes=attributes)).values()) & {TIES, BY_THEMSELVES, NUMBERS}


def test_what_another_anonymizer_did_is_not_made_up() -> None:
    document = certificate("libra2022", CLAIMED, anonymizer="travas")
    assert "real" not in warned(Pair(None, log_of(RELEASED)), document)["Nothing is proved about this log"].text


def test_mechanisms_of_others_are_not_described() -> None:
    found = titles(certificate("theirs", CLAIMED))
    assert found == {"Nothing is proved about this log", "There are no attributes"}


def test_a_seed_and_placeholders_are_told() -> None:
    found = titles(certificate("travas", {"kind": "proved", "seeded": True}), has_times=False)
    assert {"Drawn with a seed", "Timestamps are placeholders"} <= found
    assert "Times are drawn anew" not in found
    assert "Times are drawn anew" in titles(certificate("travas"))


def test_the_notes_of_a_release_are_passed_on() -> None:
    release = libra.anonymize(simulate(cases=400), epsilon=2.0)
    found = warned(Pair(None, release.log), release.certificate(), notes=release.notes)
    assert found["What the release says of itself"].points == release.notes
    assert "Nothing is proved about this log" not in found


def test_that_there_are_no_attributes_is_said_where_the_first_screen_cannot(small_log: EventLog) -> None:
    assert "There are no attributes" in warned(Pair(None, log_of(RELEASED)))
    assert "There are no attributes" not in warned(Pair(small_log, log_of(RELEASED)))


def test_labels_are_made_fit_to_be_shown() -> None:
    nasty = "<script>alert(1)</script>\u202e" + "x" * 10_000
    found = warned(Pair(log_of([[(nasty, 0.0), ("b", 1.0)]]), log_of([[("b", 0.0)]])))["1 activity vanished"]
    assert "\u202e" not in found.points[0]
    assert len(found.points[0]) < 100


def test_in_public_mode_nothing_of_the_original_is_told() -> None:
    found = warned(Pair(None, log_of(RELEASED)), certificate("libra"))
    assert set(found) == {
        "Rare traces are made up",
        "Small counts are noise",
        "Times are drawn anew",
        "Case ids are new",
        "Cases have nothing to do with each other",
        "There are no attributes",
    }
    assert all(not warning.points for warning in found.values())


def test_an_empty_log_has_nothing_to_be_misread() -> None:
    found = list(warned(Pair(log_of(HANDLING), log_of([])), certificate("libra"), notes=("A note.",)))
    assert found == ["The anonymized log is empty", "What the release says of itself"]


def test_another_process_is_asked_about_first() -> None:
    foreign = log_of([[("x", 0.0), ("y", 1.0)]])
    found = list(warned(Pair(log_of(HANDLING), foreign)))
    assert found[0] == "Is this the right original?"
    assert "Is this the right original?" not in warned(Pair(log_of(HANDLING), log_of(RELEASED)))


def test_hours_that_are_nearer_to_an_even_week_are_told() -> None:
    week = 7 * 24 * 3600.0
    original = log_of([[("a", case * week)] for case in range(200)])
    blurred = log_of([[("a", case * 3600.0)] for case in range(200)])
    found = warned(Pair(original, blurred))["Hours of the week are blurred"]
    assert "99 % of the events" in found.text
    assert "Hours of the week are blurred" not in warned(Pair(original, original))
    assert "Hours of the week are blurred" not in warned(Pair(original, blurred), has_times=False)
    assert "Hours of the week are blurred" not in warned(Pair(None, blurred))
