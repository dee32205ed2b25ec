"""What is found in a release: everything in a copy, nothing in an empty log, and what chance finds beside it."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from tiny_logs import DAY, Event, log_from, log_of, some_cases, traces

from libra.eventlog.log import EventLog, empty_log
from libra.measures.risk import risk_of_release
from libra.measures.risk.figures import Linkage


def links(original: EventLog, anonymized: EventLog) -> dict[tuple[str, int | None], Linkage]:
    return {(one.knowledge, one.events): one for one in risk_of_release(original, anonymized).linkage}


def test_in_a_copy_everyone_is_found_who_stood_alone() -> None:
    log = traces("abc", "abd", "bb", "bba", "bb")
    risk = risk_of_release(log, log)
    assert risk.before.singled_out[-1].share.value == 3 / 5
    for before, after in zip(risk.before.singled_out, risk.linkage, strict=True):
        if before.knowledge != "variant":
            assert after.released.once == before.share
        assert after.released.none == 0
        for told in (after.released.same_activities, after.released.same_gaps, after.released.same_gaps_to_the_minute):
            assert told is None or told.value == 1


def test_in_an_empty_log_nobody_is_found() -> None:
    log = traces("abc", "abd")
    for one in links(log, empty_log(log)).values():
        assert (one.released.once.value, one.released.none, one.released.several) == (0, 1, 0)
        assert one.released.same_activities is None


def test_a_single_match_may_tell_the_activities_and_not_the_times() -> None:
    original, released = log_of("a0 b5 c9", "d0"), log_of("a0 b6 c9", "d1")
    one = links(original, released)["sequence", 5]
    assert one.released.once.value == 1
    assert one.released.same_activities is not None
    assert one.released.same_activities.value == 1
    assert one.released.same_gaps is not None
    assert one.released.same_gaps.value == pytest.approx(0.5, abs=0.03)  # that of d, which has no gap


def test_a_label_that_only_one_log_has_is_told_apart_by_its_name() -> None:
    original, released = traces("ab", "ac"), traces("bd", "ca")
    one = links(original, released)["set", 2]
    assert one.released.once.value == pytest.approx(0.5, abs=0.03)  # ac is ca as a set, and ab is nowhere
    assert one.released.none == pytest.approx(0.5, abs=0.03)
    assert links(original, released)["sequence", 2].released.once.value == 0


def test_days_are_looked_for_in_the_release() -> None:
    original, released = log_of("a0 b5", f"a{DAY} b{DAY}"), log_of("b1 a2", f"a{2 * DAY} b{2 * DAY}")
    one = links(original, released)["days", 2]
    assert one.released.once.value == pytest.approx(0.5, abs=0.03)
    assert one.released.none == pytest.approx(0.5, abs=0.03)


def test_chance_is_what_the_others_tell() -> None:
    original = log_of("a0 b5", "a9 b14", "a0 c5", "d0")
    one = links(original, log_of("e0"))["sequence", 2]
    # ab and ab find each other, with the same gaps; ac and d find nobody
    assert one.by_chance.once.value == pytest.approx(0.5, abs=0.03)
    assert one.by_chance.none == pytest.approx(0.5, abs=0.03)
    assert one.by_chance.same_gaps is not None
    assert one.by_chance.same_gaps.value == 1
    assert links(original, log_of("e0"))["variant", None].by_chance.once.value == pytest.approx(0.5, abs=0.03)


@settings(max_examples=20)
@given(some_cases, some_cases)
def test_shares_add_up_and_fit_into_json_for_any_two_logs(cases: list[list[Event]], others: list[list[Event]]) -> None:
    risk = risk_of_release(log_from(cases), log_from(others))
    json.dumps(asdict(risk), allow_nan=False)
    for one in risk.linkage:
        for found in (one.released, one.by_chance):
            assert found.once.value + found.none + found.several == pytest.approx(1)
            assert found.once.lowest <= found.once.value <= found.once.highest
