"""Relevance: the rule in plain words agrees with the code, and the scan stops exactly when it should."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from some_cases import DAY, MINUTE, InOrder, as_lists, cases_from

from libra.errors import UsageError
from libra.eventlog.cases import Cases
from libra.mechanisms.libra2022.steps import ALL, Abstraction, relevant_cases, sufficient_after
from libra.privacy.randomness import Randomness

Case = tuple[tuple[int, ...], tuple[int, ...]]


def rule(cases: list[Case], abstractions: Collection[str], omega: float, patience: int) -> list[Case]:
    """The rule on plain lists: what is known is worked out anew from the cases kept so far."""
    kept: list[Case] = []
    quiet = 0
    for case in cases:
        if brings_news(case, kept, abstractions, omega):
            kept.append(case)
            quiet = 0
        else:
            quiet += 1
            if quiet == patience:
                return kept
    return cases


def brings_news(case: Case, kept: list[Case], abstractions: Collection[str], omega: float) -> bool:
    def shown(one: Case) -> dict[str, set[Any]]:
        codes = one[0]
        edges = set(pairwise(codes))
        return {"activities": set(codes), "starts": {codes[0]}, "ends": {codes[-1]}, "edges": edges}

    def steps(some: list[Case]) -> list[tuple[tuple[int, int], float]]:
        return [((c[i - 1], c[i]), (t[i] - t[i - 1]) / MINUTE) for c, t in some for i in range(1, len(c))]

    def moves(before: list[float], more: list[float]) -> bool:
        return not before or abs(sum(before + more) / len(before + more) - sum(before) / len(before)) > omega

    for name, values in shown(case).items():
        if name in abstractions and not values <= set().union(*(shown(other)[name] for other in kept)):
            return True
    durations = [(times[-1] - times[0]) / MINUTE for _, times in [*kept, case]]
    if "case_durations" in abstractions and moves(durations[:-1], durations[-1:]):
        return True
    if "cycle_times" in abstractions:
        for edge in {edge for edge, _ in steps([case])}:
            if moves([m for e, m in steps(kept) if e == edge], [m for e, m in steps([case]) if e == edge]):
                return True
    return False


@st.composite
def subsamples(draw: st.DrawFn) -> Cases:
    """Cases over few activities, whole minutes between their events, each starting on a day of its own."""
    traces = draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=14))
    gaps = st.one_of(st.integers(-5, 40), st.sampled_from([0, 20, 100]))
    micros = []
    for day, trace in enumerate(traces):
        minutes = np.cumsum([0, *(draw(gaps) for _ in trace[1:])])
        micros.append([day * DAY + int(minute) * MINUTE for minute in minutes])
    return cases_from(traces, micros)


@settings(max_examples=400)
@given(
    subsamples(),
    st.one_of(st.just(set(ALL)), st.sets(st.sampled_from(ALL), min_size=1), st.sampled_from(ALL).map(lambda one: {one})),
    st.sampled_from([0.0, 4.0, 20.0]),
    st.integers(1, 5),
)
def test_the_scan_agrees_with_the_rule_in_plain_words(
    cases: Cases, abstractions: set[Abstraction], omega: float, patience: int
) -> None:
    kept = relevant_cases(cases, InOrder(), abstractions=abstractions, omega=omega, patience=patience)
    assert as_lists(kept) == rule(as_lists(cases), abstractions, omega, patience)
    variant_of = dict(zip(as_lists(cases), cases.variant.tolist(), strict=True))
    assert kept.variant.tolist() == [variant_of[case] for case in as_lists(kept)]


@settings(max_examples=100)
@given(subsamples(), st.sampled_from([0.0, 4.0, 20.0]), st.integers(0, 10**6))
def test_every_abstraction_counts_by_default_and_cases_are_visited_in_random_order(cases: Cases, omega: float, seed: int) -> None:
    visited = [as_lists(cases)[row] for row in Randomness(seed).permutation(len(cases))]
    six = ["activities", "starts", "ends", "edges", "cycle_times", "case_durations"]
    for patience in (None, 2):
        kept = relevant_cases(cases, Randomness(seed), omega=omega, patience=patience)
        assert as_lists(kept) == rule(visited, six, omega, patience or 20)


def test_twenty_cases_without_news_make_a_sample_sufficient() -> None:
    assert sufficient_after() == 20
    d, z = 0.02, 0.9
    assert sufficient_after(d, z) == math.ceil(1 / (2 * d) * (-2 * d**2 + z**2 + math.sqrt(z)))


@pytest.mark.parametrize(
    ("traces", "kept"),
    [
        ([[0]] * 21, 1),  # one with news, then 20 without
        ([[0]] * 20, 20),  # one fewer: never sufficient, all stay
        ([[0]] * 20 + [[1]] + [[0]] * 20, 2),  # 19 without, then news: the count starts again
        ([[0]] * 20 + [[1]] + [[0]] * 19, 40),
        ([[0]] * 21 + [[1]] * 30, 1),  # what comes after the stop is not looked at
        ([[0]] * 5, 5),
        ([[i] for i in range(50)], 50),  # always news
    ],
)
def test_the_scan_stops_after_exactly_so_many_cases_without_news(traces: list[list[int]], kept: int) -> None:
    found = relevant_cases(cases_from(traces), InOrder())
    assert len(found) == kept
    assert as_lists(found)[0] == as_lists(cases_from(traces))[0]


def test_a_mean_has_to_move_by_more_than_omega() -> None:
    def kept_of(minutes: list[int], abstraction: Abstraction) -> list[int]:
        cases = cases_from([[0, 1]] * len(minutes), [[0, minute * MINUTE] for minute in minutes])
        found = relevant_cases(cases, InOrder(), abstractions=[abstraction], patience=1)
        return [times[1] // MINUTE for _, times in as_lists(found)]

    for abstraction in ("cycle_times", "case_durations"):
        assert kept_of([100, 140, 0], abstraction) == [100]  # the mean moves by 20
        assert kept_of([100, 141, 120], abstraction) == [100, 141]  # by 20.5, then hardly
        assert kept_of([100, 59, 80], abstraction) == [100, 59]  # downwards too


def test_an_edge_that_a_case_takes_twice_counts_twice_in_its_mean() -> None:
    cases = cases_from([[0, 0, 0], [0, 0]], [[0, 100 * MINUTE, 200 * MINUTE], [0, 100 * MINUTE]])
    assert len(relevant_cases(cases, InOrder(), abstractions=["cycle_times"], patience=1)) == 1
    cases = cases_from([[0, 0], [0, 0, 0]], [[0, 100 * MINUTE], [0, 40 * MINUTE, 200 * MINUTE]])
    assert len(relevant_cases(cases, InOrder(), abstractions=["cycle_times"], patience=1)) == 1


def test_whoever_comes_first_is_up_to_chance() -> None:
    cases = cases_from([[0]] * 30)
    random = Randomness(seed=1)
    first = Counter(int(relevant_cases(cases, random).micros[0] // DAY) for _ in range(3000))
    assert stats.chisquare([first[day] for day in range(30)]).pvalue > 1e-3


def test_an_empty_subsample_has_nothing_relevant() -> None:
    assert len(relevant_cases(cases_from([[0]]).take(np.zeros(0, np.int64)), Randomness(seed=1))) == 0


@pytest.mark.parametrize("abstractions", [[], ["edge"], ["edges", "gender"]])
def test_an_unknown_abstraction_is_refused(abstractions: Any) -> None:
    with pytest.raises(UsageError, match="activities, starts, ends, edges, cycle_times, case_durations"):
        relevant_cases(cases_from([[0]]), Randomness(seed=1), abstractions=abstractions)
