"""The words for what is lost: bounds, the yardstick of a fresh sample, and a sentence for every kind of log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from libra.reporting.facts.verdicts import (
    ABSENT,
    FROM_BEST,
    GOOD,
    MEANINGS,
    SUMMARY,
    TONES,
    Absent,
    Loss,
    Missing,
    Verdict,
    good_of,
    missing_of,
    overall,
    summary_of,
    worst,
)

NONE_MISSING = Missing(9, 0, 0.0, 20, 0, 0.0, 20, 0, 0.0)
SEPSIS = Missing(16, 4, 0.007, 115, 71, 0.074, 52, 8, 0.028)
HALF_GONE = Missing(27, 17, 0.3, 90, 70, 0.4, 20, 0, 0.0)
KEYS = ("cases", "activities", "edges", "variants", "lengths", "step_durations", "case_durations", "arrivals")
LACKS = (Absent("starts", ("lifecycle:transition",)), Absent("resources", ("org:resource", "org:group")))


@pytest.mark.parametrize(
    ("share", "verdict"),
    [
        (0.0, "kept"),
        (0.02, "kept"),
        (0.021, "close"),
        (0.1, "close"),
        (0.11, "rough"),
        (0.5, "rough"),
        (0.51, "lost"),
        (7, "lost"),
    ],
)
def test_the_bounds_are_the_same_for_every_loss(share: float, verdict: Verdict) -> None:
    assert Loss(share).verdict == verdict


def test_a_fresh_sample_is_the_yardstick() -> None:
    assert Loss(0.4, 0.4).verdict == Loss(0.5, 0.4).verdict == "kept"
    assert Loss(0.51, 0.4).verdict == Loss(0.8, 0.4).verdict == "close"
    assert Loss(0.3, 0.1).verdict == "rough"
    assert Loss(0.01, 0.001).verdict == "kept"


def test_durations_off_by_a_third_are_not_kept_where_a_sample_is_off_by_a_thirtieth() -> None:
    assert Loss(1 - 1 / 1.36, 1 - 1 / 1.03).verdict == "rough"


def test_a_sample_that_is_lost_itself_is_no_excuse() -> None:
    assert Loss(0.7, 0.8).verdict == Loss(7.0, 7.0).verdict == "lost"


def test_what_is_not_defined_is_unknown() -> None:
    assert Loss(None, 0.1).verdict == "unknown"
    assert worst([Loss(None), Loss(0.3)]) == Loss(0.3)
    assert worst([Loss(None)]).verdict == worst([]).verdict == "unknown"


def test_the_worst_verdict_decides_and_not_the_largest_share() -> None:
    assert worst([Loss(0.3, sample=0.3), Loss(0.2, sample=0.01), Loss(0.15)]) == Loss(0.2, sample=0.01)


def called(**others: Verdict) -> dict[str, Verdict]:
    kept: dict[str, Verdict] = dict.fromkeys(KEYS, "kept")
    return kept | others


@pytest.mark.parametrize("verdict", FROM_BEST)
def test_a_log_is_called_no_better_than_its_steps(verdict: Verdict) -> None:
    assert overall(called(edges=verdict)) == verdict


def test_a_log_that_lacks_activities_is_rough_at_best() -> None:
    assert overall(called(activities="lost")) == overall(called(activities="rough")) == "rough"
    assert overall(called(activities="lost", edges="lost")) == "lost"


def test_one_other_aspect_neither_condemns_a_log_nor_saves_it() -> None:
    assert overall(called(variants="lost")) == "kept"
    assert overall(dict.fromkeys(KEYS, "rough") | {"edges": "kept", "activities": "kept"}) == "rough"  # type: ignore[arg-type]
    assert overall({}) == overall({"cases": "unknown"}) == "unknown"


@pytest.mark.parametrize(
    ("verdict", "missing", "absent", "said"),
    [
        ("kept", NONE_MISSING, (), "Yes: as good as a fresh sample of the original"),
        ("kept", NONE_MISSING, LACKS, "Yes, but without start times and resources: as good as a fresh sample of the original"),
        ("close", NONE_MISSING, (), "Yes: the picture is right, figures are a little off"),
        ("rough", SEPSIS, LACKS, "For what is frequent, yes: what is rare is missing or made up"),
        ("rough", HALF_GONE, (), "In part: the coarse shape is right, details are not"),
        ("rough", NONE_MISSING, (), "In part: the coarse shape is right, details are not"),
        ("lost", HALF_GONE, (), "No: more of it is wrong than right"),
        ("unknown", None, (), "That cannot be said"),
    ],
)
def test_the_answer_says_what_is_lost(verdict: Verdict, missing: Missing | None, absent: Any, said: str) -> None:
    assert good_of(verdict, missing, absent, empty=False) == said


def test_an_empty_log_is_good_for_nothing() -> None:
    assert good_of("kept", NONE_MISSING, (), empty=True) == "No: nothing came out, the log is empty"


def test_seventeen_of_27_activities_are_said_to_be_gone_and_no_picture_to_be_right() -> None:
    assert missing_of(HALF_GONE) == (
        "Missing: 17 of 27 activities (30 % of all events) and 70 of 90 distinct steps (40 % of all steps)."
    )
    assert "picture" not in good_of("rough", HALF_GONE, (), empty=False)


def test_what_is_missing_and_what_is_false_is_said_with_its_share() -> None:
    assert missing_of(NONE_MISSING) == "No activity and no step is missing."
    assert missing_of(replace(NONE_MISSING, edges_false=2, steps_false=0.001)) == (
        "No activity and no step is missing. False: 2 of its 20 distinct steps (0.10 % of its steps), which nobody took."
    )
    assert missing_of(SEPSIS).endswith("False: 8 of its 52 distinct steps (2.8 % of its steps), which nobody took.")


def test_the_summary_names_analyses_and_what_cannot_be_studied() -> None:
    analyses: list[tuple[str, Verdict]] = [
        ("variants", "lost"),
        ("arrivals", "kept"),
        ("process maps", "rough"),
        ("lengths", "close"),
    ]
    assert summary_of(analyses, (*LACKS, Absent("attributes", ("age",)))) == (
        "Good for arrivals and lengths. Roughly right: process maps. Misleading: variants. "
        "Cannot be studied: service times, waiting times, resources and 1 attribute (age)."
    )
    seven = Absent("attributes", tuple("abcdefg"))
    assert summary_of(analyses, (seven,)).endswith("Cannot be studied: 7 attributes (a, b, c, d, e and 2 more).")
    assert summary_of([]) == summary_of([], LACKS) == ""


def test_a_tile_names_what_is_not_there() -> None:
    assert [(one.title, one.text) for one in LACKS] == [
        ("Start times", "lifecycle:transition"),
        ("Resources", "2, such as org:resource"),
    ]
    assert len(Absent("attributes", ("x" * 1000,)).text) < 30


def test_every_verdict_has_words() -> None:
    assert set(MEANINGS) == set(TONES) == set(GOOD) == set(SUMMARY) == {*FROM_BEST, "unknown"}
    assert list(ABSENT) == ["starts", "resources", "attributes"]
