"""Who fits what is known: by hand for each kind of knowledge, and against a search case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_logs import DAY, Event, log_from, log_of, owned, pair_of, people_of, some_cases, traces

from libra._system.randomness import Randomness
from libra.eventlog.ids import whose_cases
from libra.measures.distances import Integers
from libra.measures.risk import crowds as module
from libra.measures.risk import knowledge
from libra.measures.risk.crowds import Crowds, crowds, owners_of, search
from libra.measures.risk.knowledge import KINDS, NONE, SIZES, Kind, Knowledge, draw


def asked(*questions: str, day: int = 0) -> Knowledge:
    """Questions by the letters of activities a, b, c and d, all on the same day."""
    width = max(map(len, questions))
    codes = np.array([["abcd".index(letter) for letter in one] + [NONE] * (width - len(one)) for one in questions])
    return Knowledge(np.zeros(len(questions), np.int64), codes, np.where(codes == NONE, NONE, day))


LOG = traces("abcd", "abcd", "acbd", "aabd", "bbd", "dcba")


@pytest.mark.parametrize(
    ("kind", "question", "fitting"),
    [
        ("set", "a", [0, 1, 2, 3, 5]),
        ("set", "aa", [0, 1, 2, 3, 5]),
        ("set", "bd", [0, 1, 2, 3, 4, 5]),
        ("set", "cab", [0, 1, 2, 5]),
        ("multiset", "a", [0, 1, 2, 3, 5]),
        ("multiset", "aa", [3]),
        ("multiset", "dbb", [4]),
        ("multiset", "aab", [3]),
        ("multiset", "aabb", []),
        ("sequence", "bd", [0, 1, 2, 3, 4]),
        ("sequence", "bc", [0, 1]),
        ("sequence", "cb", [2, 5]),
        ("sequence", "abd", [0, 1, 2, 3]),
        ("sequence", "aa", [3]),
        ("sequence", "acd", [0, 1, 2]),
        ("sequence", "dd", []),
    ],
)
def test_those_fit_who_have_what_is_known(kind: Kind, question: str, fitting: list[int]) -> None:
    found = crowds(people_of(LOG), [(asked(question), kind)])[0]
    assert (found.size.tolist(), found.total.tolist()) == ([len(fitting)], [sum(fitting)])


def test_days_tell_apart_what_activities_do_not() -> None:
    log = log_of("a0 b10", f"a0 b{DAY}", f"a{DAY} b{DAY}", "a0 a5 b10")
    today = int(log.timestamps[0] // (DAY * 60_000_000))
    people = people_of(log)
    for question, day, fitting in (
        ("a", today, [0, 1, 3]),
        ("aa", today, [3]),
        ("ba", today, [0, 3]),
        ("b", today + 1, [1, 2]),
        ("ab", today + 1, [2]),
        ("b", today + 2, []),
    ):
        found = crowds(people, [(asked(question, day=day), "days")])[0]
        assert (found.size.tolist(), found.total.tolist()) == ([len(fitting)], [sum(fitting)])


def fits(kind: Kind, known: Iterable[tuple[int, int]], case: list[tuple[int, int]]) -> bool:
    """Whether a case, as a list of activities and days, has what is known, by the definition."""
    codes, theirs = [code for code, _ in known], [code for code, _ in case]
    if kind == "set":
        return set(codes) <= set(theirs)
    if kind == "multiset":
        return Counter(codes) <= Counter(theirs)
    if kind == "days":
        return Counter(known) <= Counter(case)
    rest = iter(theirs)
    return all(code in rest for code in codes)


persons = st.lists(st.sampled_from([*"xyz", None]), min_size=7, max_size=7)


@given(
    some_cases.filter(bool),
    some_cases,
    persons,
    st.integers(0, 99),
    st.integers(1, 30),
    st.integers(1, 8),
    st.sampled_from((0, 1, 10**9)),
    st.integers(0, 40),
)
def test_a_search_case_by_case_finds_the_same(
    cases: list[list[Event]],
    others: list[list[Event]],
    names: list[str | None],
    seed: int,
    cells: int,
    at_once: int,
    dearer: int,
    kept: int,
) -> None:
    one, other = log_from(cases), log_from(others)
    own, theirs = pair_of(one, other)
    whose = whose_cases(owned(one, names[: len(cases)]))
    sample = draw(one, 10, Randomness(seed))
    with pytest.MonkeyPatch.context() as small:
        small.setattr(module, "CELLS", cells)
        small.setattr(module, "OWNERS_CELLS", cells)
        small.setattr(module, "DATED_AT_ONCE", at_once)
        small.setattr(knowledge, "DEARER", dearer)
        small.setattr(knowledge, "AN_ACTIVITY", 0)
        small.setattr(knowledge, "KEPT", kept)
        for people in (own, theirs, replace(own, owners=owners_of(own.variant, whose))):
            plain = [
                list(zip(people.codes[begin:end], people.timestamps[begin:end] // (DAY * 60_000_000), strict=True))
                for begin, end in zip(people.offsets, people.offsets[1:], strict=False)
            ]
            for found in search(people, sample, own):
                known = sample.knowing(found.events, own.codes, own.timestamps)
                rows = [
                    [(int(code), int(day)) for code, day in zip(codes, days, strict=True) if code != NONE]
                    for codes, days in zip(known.codes, known.days, strict=True)
                ]
                fitting = [[i for i, case in enumerate(plain) if fits(found.knowledge, row, case)] for row in rows]
                assert found.crowds.size.tolist() == [len(one) for one in fitting]
                assert found.crowds.total.tolist() == [sum(one) for one in fitting]
                if people.owners is not None:
                    _is_told_by_individual(found.crowds, fitting, sample.case.tolist(), whose.tolist())


def _is_told_by_individual(crowds: Crowds, fitting: list[list[int]], sought: list[int], whose: list[int]) -> None:
    """The individuals that fit are those of the cases that do, and others' cases are told as none, one and which, or more."""
    assert crowds.units.tolist() == [len({whose[case] for case in row}) for row in fitting]
    of_others = [[case for case in row if whose[case] != whose[own]] for own, row in zip(sought, fitting, strict=True)]
    left = crowds.without(np.array(sought))
    assert np.minimum(left.size, 2).tolist() == [min(len(row), 2) for row in of_others]
    assert all(total == sum(row) for total, row in zip(left.total.tolist(), of_others, strict=True) if len(row) < 2)


@given(some_cases.filter(bool), st.integers(0, 99))
def test_whoever_knows_more_has_no_larger_crowd_and_the_case_is_in_it(cases: list[list[Event]], seed: int) -> None:
    log = log_from(cases)
    people = people_of(log)
    sample = draw(log, 30, Randomness(seed))
    sizes: dict[tuple[Kind, int], Integers] = {
        (found.knowledge, found.events): found.crowds.size for found in search(people, sample, people)
    }
    for k in SIZES:
        assert (sizes["set", k] >= sizes["multiset", k]).all()
        assert (sizes["multiset", k] >= sizes["sequence", k]).all()
        assert (sizes["multiset", k] >= sizes["days", k]).all()
    for kind in KINDS:
        assert (sizes[kind, 5] >= 1).all()
        assert all((sizes[kind, less] >= sizes[kind, more]).all() for less, more in ((1, 2), (2, 3), (3, 5)))


def test_nobody_is_found_where_nobody_is() -> None:
    people, nobody = pair_of(traces("ab"), log_from([]))
    sample = draw(traces("ab"), 3, Randomness(seed=1))
    assert all(found.crowds.size.tolist() == [0, 0, 0] for found in search(nobody, sample, people))
