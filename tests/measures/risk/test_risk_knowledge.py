"""What is drawn for an attacker to know: events of the case, each as likely as any other, and always more of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_logs import Event, log_from, log_of, some_cases

from libra._system.randomness import Randomness
from libra.measures.risk import knowledge
from libra.measures.risk.knowledge import NONE, draw


@given(some_cases.filter(bool), st.integers(0, 99))
def test_known_events_are_different_ones_of_the_case_and_as_many_as_there_are(cases: list[list[Event]], seed: int) -> None:
    log = log_from(cases)
    sample = draw(log, 20, Randomness(seed))
    for case, known in zip(sample.case, sample.events, strict=True):
        events = known[known != NONE]
        begin, end = log.case_offsets[case], log.case_offsets[case + 1]
        assert len(set(events)) == len(events) == min(5, end - begin)
        assert ((begin <= events) & (events < end)).all()
        assert (known[len(events) :] == NONE).all()


@given(some_cases.filter(bool), st.integers(0, 99))
def test_knowledge_comes_in_the_order_of_the_file_and_holds_what_was_known_before(cases: list[list[Event]], seed: int) -> None:
    log = log_from(cases)
    sample = draw(log, 20, Randomness(seed))
    numbers = np.arange(log.n_events)  # as if every event were an activity of its own
    before: list[set[int]] = [set()] * 20
    for k in range(1, 6):
        known = [[code for code in row if code != NONE] for row in sample.knowing(k, numbers, log.timestamps).codes]
        assert all(row == sorted(row) for row in known)
        assert all(earlier <= set(row) for earlier, row in zip(before, known, strict=True))
        before = [set(row) for row in known]


def test_cases_and_their_events_are_drawn_evenly() -> None:
    log = log_of("a0 b1 c2 d3", "e0")
    sample = draw(log, 20_000, Randomness(seed=3))
    assert abs((sample.case == 0).mean() - 0.5) < 0.02
    first = np.bincount(sample.events[sample.case == 0, 0], minlength=4) / (sample.case == 0).sum()
    assert abs(first - 0.25).max() < 0.02


@given(st.lists(st.integers(1, 400), min_size=1, max_size=5), st.integers(0, 99), st.sampled_from((0, 1, 16)))
def test_those_events_are_known_that_draw_the_smallest_words(lengths: list[int], seed: int, room: int) -> None:
    log = log_from([[("a", minute) for minute in range(length)] for length in lengths])
    with pytest.MonkeyPatch.context() as small:
        small.setattr(knowledge, "ROOM", room)
        sample = draw(log, 20, Randomness(seed))
    random = Randomness(seed)
    cases = random.below(len(lengths), 20).tolist()
    words = random.words(sum(lengths[case] for case in cases)).tolist()
    assert sample.case.tolist() == cases
    for case, known in zip(cases, sample.events.tolist(), strict=True):
        mine, words = words[: lengths[case]], words[lengths[case] :]
        first = sorted(range(lengths[case]), key=mine.__getitem__)[:5]
        expected = [int(log.case_offsets[case]) + place for place in first]
        assert known == expected + [NONE] * (5 - len(expected))


def test_events_are_drawn_evenly_also_a_few_cases_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "AT_ONCE", 700)
    log = log_from([[("a", minute) for minute in range(300)], [("b", 0.0)]])
    sample = draw(log, 2_000, Randomness(seed=3))
    assert sample.events.shape == (2_000, 5)
    assert (sample.events[sample.case == 1] == [300, NONE, NONE, NONE, NONE]).all()
    first = sample.events[sample.case == 0, 0]
    assert (first.min() >= 0, first.max() < 300, abs(first.mean() - 149.5) < 10) == (True, True, True)


def test_days_are_those_of_the_calendar_also_before_1970() -> None:
    log = log_from([[("a", -24 * 60 * 365 * 60 - 1), ("b", 24 * 60 - 1), ("c", 24 * 60)]])
    known = draw(log, 1, Randomness(seed=1)).knowing(3, log.activity_codes.astype(np.int64), log.timestamps)
    day = [int(one) for one in known.days[0]]
    assert day[2] - day[1] == 1
    assert day[0] == day[1] - 60 * 365 - 1
    assert day[0] < 0
