"""Canaries: whatever the log, each differs from the small log it joins in what its name says, and in nothing that is public."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest

import libra
from libra import example
from libra.engines.sequences import since
from libra.errors import InputError
from libra.eventlog.attributes import Attribute, Kind
from libra.eventlog.log import HOUR, EventLog
from libra.measures.audit.canaries import (
    ACTIVITY,
    COMMON,
    FAR,
    FEWEST_FREQUENT,
    FEWEST_OF_A_PERSON,
    FREQUENT,
    LONG,
    LONG_TRACE,
    MOST_LABELS,
    NAMES,
    NEW_ACTIVITY,
    OTHER,
    PAIR,
    PERSON,
    RARE,
    RARE_PERSON,
    SLOW,
    THRESHOLD,
    UNIQUE,
    VALUE,
    YEAR,
    Canary,
    Case,
    Setting,
    log_of_cases,
    setting_of,
    value_of,
)

AT_THRESHOLD = (0, 1, 5, 40)


def timed(trace: tuple[str, ...], start: int = 0) -> Case:
    return Case(trace, tuple(start + HOUR * place for place in range(len(trace))))


def log_with(*variants: tuple[tuple[str, ...], int]) -> EventLog:
    """So many cases of each of these variants, a day apart."""
    traces = [trace for trace, times in variants for _ in range(times)]
    return log_of_cases([timed(trace, 24 * HOUR * day) for day, trace in enumerate(traces)])


LOGS: dict[str, Callable[[], EventLog]] = {
    "the bundled one": lambda: libra.read(example.path()),
    "one variant": lambda: log_with((("a", "b", "c"), 50)),
    "one variant that is its own reverse": lambda: log_with((("a", "b", "a"), 50)),
    "one case": lambda: log_with((("a", "b", "c"), 1)),
    "one event": lambda: log_with((("a",), 1)),
    "cases of one event": lambda: log_with((("a",), 30), (("b",), 20), (("c",), 3)),
    "one label": lambda: log_with(*((("a",) * length, 5) for length in range(1, 9))),
    "hundreds of labels": lambda: log_with(*((tuple(f"{row}.{place}" for place in range(9)), 40 - row) for row in range(40))),
    "thirteen labels": lambda: log_with((tuple("abcdefgh"), 9), (tuple("hijklm"), 8), (tuple("acm"), 7)),
    "long variants": lambda: log_with(*((tuple("ab" * length), 20 - length) for length in range(7, 12))),
    "two that share no label": lambda: log_with((("a", "b"), 50), (("c", "d"), 40), (("e", "f"), 30)),
    "times before 1970": lambda: log_of_cases([timed(("a", "b"), -90 * YEAR)] * 3 + [timed(("b", "a", "a"), 5)]),
}


@pytest.fixture(params=LOGS, scope="module")
def log(request: pytest.FixtureRequest) -> EventLog:
    return LOGS[request.param]()


@pytest.fixture(params=[True, False], ids=["public labels", "private labels"])
def setting(request: pytest.FixtureRequest, log: EventLog) -> Setting:
    return setting_of(log, labels_public=request.param)


def canaries_of(setting: Setting, at_threshold: int) -> dict[str, Canary]:
    return {canary.name: canary for canary in setting.canaries(at_threshold)}


def only(canary: Canary) -> Case:
    (case,) = canary.cases
    return case


def variants(cases: list[Case]) -> Counter[tuple[str, ...]]:
    return Counter(case.trace for case in cases)


def labels(cases: list[Case]) -> set[str]:
    return {label for case in cases for label in case.trace}


@pytest.mark.parametrize("at_threshold", AT_THRESHOLD)
def test_every_small_log_is_a_log_with_each_canary_and_without(setting: Setting, at_threshold: int) -> None:
    base = setting.base(at_threshold)
    canaries = setting.canaries(at_threshold)
    assert tuple(canary.name for canary in canaries) == NAMES
    without = log_of_cases(base)
    for canary in canaries:
        with_it = log_of_cases([*base, *canary.cases])
        assert with_it.n_cases - without.n_cases == canary.size == (FEWEST_OF_A_PERSON if "person" in canary.name else 1)
        assert with_it.events[: without.n_events].equals(without.events)


@pytest.mark.parametrize(("most_cases", "of_a_person"), [(1, 10), (7, 14), (100, 30)])
def test_a_person_who_is_protected_has_more_cases_than_count(log: EventLog, most_cases: int, of_a_person: int) -> None:
    canaries = canaries_of(setting_of(log, labels_public=False, most_cases=most_cases), 5)
    assert canaries[PERSON].size == canaries[RARE_PERSON].size == of_a_person


@pytest.mark.parametrize("at_threshold", AT_THRESHOLD)
def test_the_small_log_has_a_frequent_variant_and_so_many_at_the_threshold(setting: Setting, at_threshold: int) -> None:
    counts = variants(setting.base(at_threshold))
    (frequent, most), *_ = counts.most_common()
    assert (frequent, most) == (setting.frequent[0].trace, max(FEWEST_FREQUENT, 2 * at_threshold))
    assert counts[setting.probe[0].trace] == at_threshold
    assert sum(counts.values()) - most - at_threshold in range(12, 15)


@pytest.mark.parametrize("at_threshold", AT_THRESHOLD)
def test_with_public_labels_no_canary_brings_one(log: EventLog, at_threshold: int) -> None:
    setting = setting_of(log, labels_public=True)
    base = setting.base(at_threshold)
    for canary in setting.canaries(at_threshold):
        assert labels([*base, *canary.cases]) == labels(base)


def test_with_private_labels_one_canary_alone_brings_an_activity(log: EventLog) -> None:
    setting = setting_of(log, labels_public=False)
    base = setting.base(5)
    brings = {canary.name: labels(list(canary.cases)) - labels(base) for canary in setting.canaries(5)}
    assert brings == {name: {NEW_ACTIVITY} if name == ACTIVITY else set() for name in NAMES}


@pytest.mark.parametrize("at_threshold", AT_THRESHOLD)
def test_each_canary_is_what_its_name_says(setting: Setting, at_threshold: int) -> None:
    base, canaries = setting.base(at_threshold), canaries_of(setting, at_threshold)
    counts, usual = variants(base), only(canaries[FREQUENT])
    assert counts[usual.trace] >= FEWEST_FREQUENT
    assert counts[only(canaries[THRESHOLD]).trace] == at_threshold
    assert only(canaries[UNIQUE]).trace not in counts
    assert only(canaries[ACTIVITY]).trace[-1] == NEW_ACTIVITY
    assert sum(NEW_ACTIVITY in case.trace for case in base) == setting.labels_public
    assert max(len(case.trace) for case in base) < LONG_TRACE <= len(only(canaries[LONG]).trace)
    assert {case.values for case in base} == {(COMMON, COMMON), (OTHER, OTHER)}
    assert only(canaries[VALUE]).values == (RARE, RARE)
    assert only(canaries[PAIR]).values == (COMMON, OTHER)
    assert {case.person for case in base} == {None}
    assert [case.person for case in canaries[PERSON].cases] == ["somebody"] * FEWEST_OF_A_PERSON
    assert [case.person for case in canaries[RARE_PERSON].cases] == ["somebody"] * FEWEST_OF_A_PERSON
    assert {case.trace for case in canaries[RARE_PERSON].cases} == {only(canaries[UNIQUE]).trace}


def test_canaries_that_differ_in_one_thing_differ_in_nothing_else(setting: Setting) -> None:
    canaries = canaries_of(setting, 5)
    usual = only(canaries[FREQUENT])
    slow, far, value, pair = (only(canaries[name]) for name in (SLOW, FAR, VALUE, PAIR))
    assert {case.trace for case in (slow, far, value, pair, *canaries[PERSON].cases)} == {usual.trace}
    assert {case.micros for case in (value, pair, *canaries[PERSON].cases)} == {usual.micros}
    assert slow.micros[:-1] == usual.micros[:-1]
    assert slow.seconds == (60 * YEAR / 1e6 if len(usual.trace) > 1 else 0)
    assert far.seconds == usual.seconds
    assert far.start == -70 * YEAR


def test_canaries_that_are_like_a_usual_case_have_times_of_their_own(setting: Setting) -> None:
    times = {time for case in setting.base(5) for time in case.micros}
    for name, canary in canaries_of(setting, 5).items():
        if name in (FREQUENT, UNIQUE, SLOW, VALUE, PAIR, PERSON):
            assert not times & {time for case in canary.cases for time in case.micros}


def test_the_very_long_case_takes_every_step_between_its_labels_twice_or_more(setting: Setting) -> None:
    base = setting.base(5)
    trace = only(canaries_of(setting, 5)[LONG]).trace
    assert len(set(trace)) == min(len(labels(base) - {NEW_ACTIVITY}), MOST_LABELS)
    steps = Counter(pairwise(trace))
    assert set(steps) == set(product(set(trace), repeat=2))
    assert min(steps.values()) >= 2


def test_a_variant_of_its_own_has_the_labels_of_a_usual_one(setting: Setting) -> None:
    canaries = canaries_of(setting, 5)
    usual, own = only(canaries[FREQUENT]), only(canaries[UNIQUE])
    assert set(own.trace) == set(usual.trace)
    assert len(own.trace) <= len(usual.trace) + len(variants(setting.base(5))) + 1
    assert len(own.micros) == len(own.trace)


def test_variants_are_taken_from_the_log_as_long_as_there_are(log: EventLog) -> None:
    setting = setting_of(log, labels_public=False)
    traces = {tuple(log.activities[code] for code in trace) for trace, _ in log.variants.traces.rows()}
    taken = {case.trace for case in (setting.frequent[0], setting.probe[0], *setting.rare)}
    assert len(taken) == 5
    assert len(taken & traces) == min(5, len(traces))


def test_of_many_variants_short_and_frequent_ones_are_taken() -> None:
    log = log_with(
        (("a",), 90), (tuple("ab" * 20), 80), (("a", "b"), 70), (("b", "a"), 60), *((("b",) * n, 5) for n in range(2, 6))
    )
    setting = setting_of(log, labels_public=True)
    assert setting.frequent[0].trace == ("a", "b")
    assert setting.probe[0].trace == ("b", "a")
    assert max(len(case.trace) for case in setting.rare) <= 12
    assert min(len(case.trace) for case in setting.rare) >= 2


def test_cases_keep_their_times() -> None:
    log = log_with((("a", "b", "c"), 3), (("a", "c"), 2))
    setting = setting_of(log, labels_public=True)
    assert [case.micros for case in setting.frequent] == [timed(("a", "b", "c"), 24 * HOUR * day).micros for day in range(3)]
    assert [case.start for case in setting.probe] == [72 * HOUR, 96 * HOUR]


def test_a_log_without_cases_is_refused() -> None:
    with pytest.raises(InputError, match=r"^this log is empty\. An audit makes small logs .*; give it one with cases\.$"):
        setting_of(log_of_cases([]), labels_public=True)


def test_a_case_knows_its_times() -> None:
    case = Case(("a", "b", "c"), (5 * HOUR, -HOUR, 2 * HOUR))
    assert (case.start, case.seconds, case.longest_gap) == (-HOUR, 6 * 3600, 3 * 3600)
    single = Case(("a",), (-7,))
    assert (single.start, single.seconds, single.longest_gap) == (-7, 0, 0)


def test_a_log_of_cases_holds_what_the_cases_hold() -> None:
    cases = [
        Case(("a", "b"), (-5, -5), (RARE, OTHER), person="somebody"),
        Case(("c",), (9,)),
        Case(("c",), (9,), person="somebody"),
    ]
    log = log_of_cases(cases, individuals=True)
    assert log.events["concept:name"].to_list() == ["a", "b", "c", "c"]
    assert log.timestamps.tolist() == [-5, -5, 9, 9]
    assert log.case_offsets.tolist() == [0, 2, 3, 4]
    assert log.cases["group"].to_list() == ["rare", "common", "common"]
    assert log.cases["amount"].to_list() == [1.0, 0.0, 0.0]
    assert log.individual == "person"
    assert log.cases["person"].to_list() == ["somebody", "original 1", "somebody"]
    plain = log_of_cases(cases)
    assert plain.individual is None
    assert plain.events.equals(log.events)
    assert plain.cases.columns == ["concept:name", "group", "amount"]
    assert math.prod(log_of_cases([]).events.shape) == 0


def test_a_log_has_the_attributes_that_are_asked_for_as_they_are_declared() -> None:
    asked = (
        Attribute("case:sex", "boolean"),
        Attribute("age", "number", lowest=18, highest=90, decimals=1),
        Attribute("case:born", "date"),
        Attribute("ward", "category", "event", values=("A", "B")),
    )
    cases = [Case(("a", "b", "c"), (7, 8, 9), (COMMON, OTHER)), Case(("a",), (0,), (RARE, RARE))]
    log = log_of_cases(cases, attributes=asked)
    assert log.cases.columns == ["concept:name", "sex", "born"]
    assert log.cases["sex"].to_list() == [True, None]
    assert log.events["age"].to_list() == [18.1, 18.1, 18.1, 1_000_018.0]
    assert log.cases["born"].dt.epoch("us").to_list() == [7 - 24 * HOUR, 60 * YEAR]
    assert log.events["ward"].to_list() == ["A", "B", "A", "B"]


@pytest.mark.parametrize("kind", ["category", "number", "date", "boolean"])
def test_values_of_an_attribute_differ(kind: Kind) -> None:
    assert len({value_of(Attribute("case:x", kind), which, 0) for which in (COMMON, OTHER, RARE)}) == 3


@pytest.mark.parametrize("unit", ["", "days"])
@pytest.mark.parametrize(("lowest", "highest"), [(0, 30), (-30, -3), (-1, None), (None, 0), (None, -100), (2, 4)])
def test_dates_differ_within_their_bounds(lowest: float | None, highest: float | None, unit: str) -> None:
    one, start = Attribute("case:x", "date", lowest=lowest, highest=highest, unit=unit), np.array([7 * HOUR])
    values = np.array([value_of(one, which, int(start[0])) for which in (COMMON, OTHER, RARE)])
    offsets = since(np.repeat(start, 3), values, one)
    assert len(set(offsets.tolist())) == 3
    assert (one.begins(start) + offsets * one.grain == values).all()  # nothing is clipped
