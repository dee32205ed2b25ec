"""All facts of all kinds of logs: complete, finite, bounded in size, and in public mode without anything of the original."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from logs_by_hand import HANDLING, RELEASED, all_finite, log_of

import libra
from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.reporting.facts import Facts, facts_of
from libra.reporting.facts.pair import Pair
from strategies import event_logs

DAY = 86400.0
ODD: dict[str, EventLog] = {
    "empty": log_of([]),
    "one case": log_of(HANDLING[:1]),
    "one event per case": log_of([[("a", 0)], [("b", 5)], [("a", 9)]]),
    "all times equal": log_of([[("a", 0), ("b", 0)], [("a", 0), ("c", 0), ("b", 0)]]),
    "negative durations": log_of([[("a", 100), ("b", 0), ("a", -5e6)], [("a", 3), ("b", 2)]]),
    "far times": log_of([[("a", 0), ("b", 219_000 * DAY)], [("a", 1e9)]], begin=datetime(1700, 1, 1, tzinfo=UTC)),
    "600 labels": log_of([[(f"activity {n % 600}", float(n)) for n in range(start, start + 60)] for start in range(0, 1800, 30)]),
    "other": log_of(RELEASED),
}


def longest_list(fact: object) -> int:
    """How long the longest list in a fact is."""
    if isinstance(fact, tuple):
        return max([len(fact), *map(longest_list, fact)])
    if is_dataclass(fact):
        return max([0, *(longest_list(getattr(fact, field.name)) for field in fields(fact))])
    return 0


def check(facts: Facts) -> None:
    assert all_finite(facts)
    assert longest_list(facts) <= 1000
    for histogram in (facts.lengths, facts.case_durations, *(histogram for *_, histogram in facts.step_durations)):
        assert len(histogram.bounds) - 1 == len(histogram.labels) == len(histogram.anonymized)
        assert histogram.original is None or len(histogram.original) == len(histogram.anonymized)
    assert len(facts.arrivals.starts) == len(facts.arrivals.anonymized)
    assert len({len(row) for row in facts.dots.anonymized}) == 1


@pytest.mark.parametrize("anonymized", ODD)
@pytest.mark.parametrize("original", ODD)
def test_odd_logs_have_all_facts(original: str, anonymized: str) -> None:
    facts = facts_of(Pair(ODD[original], ODD[anonymized]), time_zone="Europe/Amsterdam")
    check(facts)
    assert len(facts.aspects) == 8
    assert facts.empty == (anonymized == "empty")
    if original == anonymized != "empty":
        assert facts.overall == "kept"
    if original != "empty" == anonymized:
        assert facts.overall == "lost"


@pytest.mark.parametrize("anonymized", ODD)
def test_odd_logs_have_all_public_facts(anonymized: str) -> None:
    facts = facts_of(Pair(None, ODD[anonymized]))
    check(facts)
    assert facts.public
    assert facts.risk is None
    assert (facts.aspects, facts.overall, facts.summary) == ((), "unknown", "")


@settings(max_examples=20)
@given(event_logs(), event_logs())
def test_no_log_is_too_awkward(original: EventLog, anonymized: EventLog) -> None:
    check(facts_of(Pair(original, anonymized), time_zone="Asia/Kolkata"))
    check(facts_of(Pair(None, anonymized)))


def test_public_facts_are_the_same_whatever_the_original_was() -> None:
    secret = log_of([[("secret activity", 0.0), ("leave", 1.0)]] * 3, attributes={"secret column": ["x"] * 6})
    released = log_of(RELEASED)
    public, confidential = facts_of(Pair(None, released)), facts_of(Pair(secret, released))
    assert public == facts_of(Pair(None, replace(released)))
    assert "secret" in repr(confidential)
    assert "secret" not in repr(public)
    log = simulate(cases=100)
    assert facts_of(Pair(log, log), with_risk=False).associations
    assert not facts_of(Pair(None, log), with_risk=False).associations


def test_facts_of_a_release_without_times_still_count_its_control_flow() -> None:
    release = libra.anonymize(simulate(cases=500), mechanism="travas", epsilon=3.0, delta=1e-3)
    facts = facts_of(
        Pair(simulate(cases=500), release.log),
        certificate=release.certificate(),
        notes=release.notes,
        has_times=release.has_times,
    )
    check(facts)
    assert not facts.has_times
    assert {aspect.key for aspect in facts.aspects if aspect.verdict == "unknown"} == {
        "step_durations",
        "case_durations",
        "arrivals",
    }
    assert all(row.mean_anonymized is None for row in facts.edges.rows)
    assert any(warning.title == "Timestamps are placeholders" for warning in facts.warnings)


def test_risk_is_left_out_where_it_is_not_asked_for() -> None:
    log = simulate(cases=30)
    assert facts_of(Pair(log, log), with_risk=False).risk is None
    assert facts_of(Pair(log, log)).risk is not None


def test_the_attributes_that_are_not_shown_are_counted() -> None:
    log = log_of(HANDLING[:1], attributes={f"x{n}": ["a", "b", "c"] for n in range(25)})
    facts = facts_of(Pair(log, empty_log(log)))
    assert (len(facts.attributes), facts.attributes_left_out) == (20, 5)


@pytest.mark.parametrize("name", ["sepsis", "hospital"])
def test_facts_of_public_logs(shared_logs: Path, name: str) -> None:
    original = libra.read(shared_logs / f"{name}.xes.gz")
    release = libra.anonymize(original)
    facts: Any = facts_of(Pair(original, release.log), certificate=release.certificate(), with_risk=False)
    check(facts)
    verdicts = {aspect.key: aspect.verdict for aspect in facts.aspects}
    assert verdicts["variants"] == "lost"
    assert len(facts.edges.rows) + facts.edges.left_out >= len(original.directly_follows)
    assert facts.variants.lost_share > 0.5
