"""Copies: same activities, same times between them, whenever the case began."""

from __future__ import annotations

from dataclasses import astuple
from itertools import pairwise

import pytest
from hypothesis import given
from tiny_logs import Event, log_from, log_of, owned, some_cases

from libra.eventlog.cases import MINUTE
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.measures.risk.figures import ANY_GAP, MICROSECOND, Copies, copies, same_cases


def found(original: EventLog, anonymized: EventLog) -> Copies:
    exactly, to_the_minute = (same_cases(original, anonymized, unit) for unit in (MICROSECOND, MINUTE))
    return copies(exactly, to_the_minute, whose_cases(original))


def test_a_case_moved_as_a_whole_is_a_copy_and_another_gap_or_activity_makes_it_none() -> None:
    original = log_of("a0 b5 c9", "a0 b7", "d0")
    released = log_of("a500 b505 c509", "a0 b8", "a0 c7", "d3", "a0 b5")
    assert found(original, released).exact == 2 / 5


def test_what_repeats_in_the_original_is_told_as_chance() -> None:
    original = log_of("a0 b5", "a9 b14", "a0 b6", "c0")
    assert found(original, log_of("a0")).exact_by_chance == 2 / 4
    assert found(original, log_of("a0")).exact == 0


def test_what_somebody_repeats_of_their_own_is_no_chance() -> None:
    original = log_of("a0 b5", "a9 b14", "a0 b5.2", "c0", "c9")
    assert found(owned(original, ["ann", "ann", "bert", "carl", "carl"]), log_of("a0")).exact_by_chance == 0
    figures = found(owned(original, ["ann", "ann", "bert", None, None]), log_of("a0 b5"))
    assert (figures.exact, figures.exact_by_chance, figures.to_the_minute_by_chance) == (1.0, 2 / 5, 5 / 5)


def test_gaps_are_rounded_to_the_minute_for_the_second_figure() -> None:
    assert astuple(found(log_of("a0 b5"), log_of("a0.6 b5"))) == (0.0, 0.0, 0.0, 0.0)
    assert astuple(found(log_of("a0 b5"), log_of("a0.4 b5"))) == (0.0, 0.0, 1.0, 0.0)


def test_an_empty_release_has_no_copies_and_an_empty_original_no_chance() -> None:
    nothing = log_from([])
    assert astuple(found(log_of("a0"), nothing)) == (None, 0.0, None, 0.0)
    assert astuple(found(nothing, log_of("a0"))) == (0.0, None, 0.0, None)
    assert astuple(found(nothing, nothing)) == (None, None, None, None)


@pytest.mark.parametrize("unit", [MICROSECOND, MINUTE, ANY_GAP])
@given(cases=some_cases, others=some_cases)
def test_cases_are_the_same_where_activities_and_gaps_are(unit: int, cases: list[list[Event]], others: list[list[Event]]) -> None:
    def key(case: list[Event]) -> list[Event]:
        minutes = [minute for _, minute in case]
        gaps = [0, *(after - before for before, after in pairwise(minutes))]
        return [(label, 0 if unit == ANY_GAP else gap) for (label, _), gap in zip(case, gaps, strict=True)]

    same = same_cases(log_from(cases), log_from(others), unit)
    for i, one in enumerate(cases):
        for j, other in enumerate(others):
            assert (same.original[i] == same.anonymized[j]) == (key(one) == key(other))


@given(cases=some_cases, others=some_cases)
def test_only_those_that_are_the_same_to_the_minute_need_to_be_compared_exactly(
    cases: list[list[Event]], others: list[list[Event]]
) -> None:
    logs = (
        log_from(cases),
        log_from([*others, *([(label, minute + 0.2 * place) for place, (label, minute) in enumerate(case)] for case in cases)]),
    )
    coarse = same_cases(*logs, MINUTE, within=same_cases(*logs, ANY_GAP))
    for unit, found in ((MINUTE, coarse), (MICROSECOND, same_cases(*logs, MICROSECOND, within=coarse))):
        expected = same_cases(*logs, unit)
        ours, theirs = ([*one.original.tolist(), *one.anonymized.tolist()] for one in (found, expected))
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))


def test_gaps_that_are_far_apart_are_told_apart() -> None:
    far = 2**32 / 60_000_000  # minutes
    assert found(log_of("a0 b1"), log_of(f"a0 b{1 + far}")).exact == 0
    assert found(log_of("a0 b1", f"a0 b{1 + far}"), log_of(f"a0 b{1 + far}")).exact == 1
