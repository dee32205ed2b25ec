"""The steps of libra2022: what each leaves out, draws and keeps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from some_cases import DAY, MINUTE, InOrder, as_lists, cases_from

from libra._system.randomness import SEEDED, Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.mechanisms.libra2022.steps import (
    ALL,
    Abstraction,
    clip,
    clipping_threshold,
    combine,
    largest_count,
    number_of_subsamples,
    poisson_subsample,
    relevant_cases,
    sufficient_after,
    time_noise,
)
from libra.mechanisms.peers import EARLIEST, LATEST, MILLISECOND
from libra.privacy.renyi import laplace_epsilon

ONE, OTHER, THIRD = [0, 1], [0, 1, 1], [2]


@pytest.mark.parametrize(
    ("alpha", "n_variants", "threshold"),
    [
        (10, 846, 33),  # sepsis
        (2, 846, 72),
        (2, 50, 57),  # urineweginfectie
        (10, 50, 27),
        (100, 50, 23),
        (2, 981, 72),  # hospital
        (10, 981, 34),
        (100, 981, 29),
    ],
)
def test_the_thresholds_of_the_public_logs(alpha: float, n_variants: int, threshold: int) -> None:
    assert clipping_threshold(laplace_epsilon(alpha, 2), 1e-3, n_variants) == threshold


@given(st.floats(0.01, 5), st.floats(1e-9, 0.9), st.integers(1, 10**6))
def test_the_threshold_is_the_nearest_whole_number_to_the_formula(epsilon: float, delta: float, k: int) -> None:
    assert abs(clipping_threshold(epsilon, delta, k) - math.log(2 * k / delta) / epsilon) <= 0.5


def test_a_log_without_variants_has_no_threshold() -> None:
    assert clipping_threshold(0.4, 1e-3, 0) == 0


def test_a_variant_stays_from_the_threshold_on() -> None:
    cases = cases_from([ONE] * 5 + [OTHER] * 4 + [THIRD] * 3)
    kept = {threshold: sorted(set(clip(cases, threshold).variant.tolist())) for threshold in range(7)}
    assert kept == {0: [0, 1, 2], 1: [0, 1, 2], 2: [0, 1, 2], 3: [0, 1, 2], 4: [0, 1], 5: [0], 6: []}


@given(st.lists(st.sampled_from([ONE, OTHER, THIRD]), max_size=20), st.integers(0, 12))
def test_cases_stay_whole_and_in_order(traces: list[list[int]], threshold: int) -> None:
    cases = cases_from(traces)
    kept = [case for case, trace in zip(as_lists(cases), traces, strict=True) if traces.count(trace) >= threshold]
    clipped = clip(cases, threshold)
    assert as_lists(clipped) == kept
    assert clipped.variant.tolist() == [cases.variant[traces.index(list(codes))] for codes, _ in kept]


def test_the_largest_count_is_the_last_threshold_that_keeps_something() -> None:
    cases = cases_from([ONE] * 2 + [OTHER] * 7 + [THIRD] * 3)
    assert largest_count(cases) == 7
    assert len(clip(cases, 7)) == 7
    assert len(clip(cases, 8)) == 0
    assert largest_count(cases.take(np.zeros(0, np.int64))) == 0


RATE, CASES, DRAWS = 0.2, 150, 6000
CHANCE = 1e-3


@pytest.fixture(scope="module")
def drawn() -> npt.NDArray[np.int64]:
    """How often each case came, in many subsamples; every case is an activity of its own."""
    cases = cases_from([[i] for i in range(CASES)])
    random = Randomness(seed=1)
    return np.array([np.bincount(poisson_subsample(cases, RATE, random).codes, minlength=CASES) for _ in range(DRAWS)])


def test_no_case_comes_twice(drawn: npt.NDArray[np.int64]) -> None:
    assert drawn.max() == 1


def test_sizes_are_binomial(drawn: npt.NDArray[np.int64]) -> None:
    sizes = drawn.sum(axis=1)
    binomial = stats.binom(CASES, RATE)
    assert abs(sizes.mean() - binomial.mean()) < 4 * binomial.std() / np.sqrt(DRAWS)
    spread = sizes.var(ddof=1) / binomial.var() * (DRAWS - 1)
    assert CHANCE < stats.chi2(DRAWS - 1).cdf(spread) < 1 - CHANCE
    edges = np.array([21, 24, 27, 29, 31, 33, 36, 39])
    observed = np.bincount(np.digitize(sizes, edges), minlength=len(edges) + 1)
    expected = DRAWS * np.diff([0, *binomial.cdf(edges - 1), 1])
    assert stats.chisquare(observed, expected).pvalue > CHANCE


def test_every_case_has_the_same_chance(drawn: npt.NDArray[np.int64]) -> None:
    times = drawn.sum(axis=0)
    statistic = ((times - DRAWS * RATE) ** 2 / (DRAWS * RATE * (1 - RATE))).sum()
    assert CHANCE < stats.chi2(CASES).cdf(statistic) < 1 - CHANCE


def test_cases_are_drawn_independently_of_each_other_and_of_the_draw_before(drawn: npt.NDArray[np.int64]) -> None:
    coins = (drawn - RATE) / np.sqrt(RATE * (1 - RATE))
    pairs = (coins.T @ coins)[np.triu_indices(CASES, 1)] / np.sqrt(DRAWS)
    assert abs(pairs.mean()) < 4 / np.sqrt(len(pairs))
    assert pairs.var() == pytest.approx(1, abs=5 * np.sqrt(2 / len(pairs)))
    again = (coins[1:] * coins[:-1]).mean()
    assert abs(again) < 4 / np.sqrt(coins[1:].size)


def test_cases_come_whole() -> None:
    cases = cases_from([[i % 3] * (1 + i % 4) for i in range(60)])
    sample = poisson_subsample(cases, 0.5, Randomness(seed=2))
    assert 0 < len(sample) < 60
    assert set(as_lists(sample)) <= set(as_lists(cases))
    variant_of = dict(zip(as_lists(cases), cases.variant.tolist(), strict=True))
    assert [variant_of[case] for case in as_lists(sample)] == sample.variant.tolist()


def test_the_default_number_is_one_over_the_rate_and_the_papers_is_the_rate_times_the_cases() -> None:
    assert [number_of_subsamples(None, rate, 777) for rate in (0.05, 0.3, 0.7, 1.0)] == [20, 3, 1, 1]
    assert [number_of_subsamples("paper", 0.05, cases) for cases in (0, 5, 730, 6000)] == [1, 1, 36, 300]
    assert number_of_subsamples(13, 0.05, 6000) == 13


TIMED_CASES = 20_000
FAR = 100_000 * MINUTE  # between events: no noise reaches across


def equal_cases(n: int, gaps: list[int], first: int = 1_700_000_000_000_000) -> Cases:
    """Cases of the same variant, a day apart, with these gaps between their events."""
    times = np.arange(n)[:, None] * DAY + first + np.cumsum([0, *gaps])
    length = len(gaps) + 1
    return Cases(np.tile(np.arange(length), n), times.ravel(), np.arange(n + 1) * length, np.zeros(n, np.int64), length)


def table(cases: Cases) -> npt.NDArray[np.int64]:
    """The times of equally long cases, one row a case."""
    return cases.micros.reshape(len(cases), -1)


@pytest.mark.parametrize("epsilon", [0.4287, 3.0])
def test_starts_get_laplace_noise_in_days_and_cycle_times_in_minutes(epsilon: float) -> None:
    cases = equal_cases(TIMED_CASES, [FAR, FAR])
    noisy = time_noise(cases, epsilon, Randomness(seed=1))
    days = (table(noisy) - table(cases))[:, 0] / DAY
    minutes = (np.diff(table(noisy)) - np.diff(table(cases))) / MINUTE
    noise = stats.laplace(scale=1 / epsilon)
    assert stats.kstest(days, noise.cdf).pvalue > CHANCE
    assert stats.kstest(minutes[:, 0], noise.cdf).pvalue > CHANCE
    assert stats.kstest(minutes[:, 1], noise.cdf).pvalue > CHANCE


def test_all_draws_are_independent() -> None:
    cases = equal_cases(TIMED_CASES, [FAR, FAR])
    noisy = time_noise(cases, 1.0, Randomness(seed=2))
    days = (table(noisy) - table(cases))[:, 0] / DAY
    minutes = (np.diff(table(noisy)) - np.diff(table(cases))) / MINUTE
    pairs = [(days, minutes[:, 0]), (days, minutes[:, 1]), (minutes[:, 0], minutes[:, 1]), (days[1:], days[:-1])]
    pairs += [(np.abs(one), np.abs(other)) for one, other in pairs]
    for one, other in pairs:
        assert abs(stats.spearmanr(one, other).statistic) < 4 / np.sqrt(TIMED_CASES)


def test_order_is_kept_where_times_are_not_signed() -> None:
    cases = equal_cases(3000, [MINUTE, 0, 2 * MINUTE])
    signed = np.diff(table(time_noise(cases, 0.4, Randomness(seed=3), signed=True)))
    unsigned = np.diff(table(time_noise(cases, 0.4, Randomness(seed=3))))
    assert (unsigned == np.maximum(signed, MILLISECOND)).all()
    assert (unsigned == MILLISECOND).mean() == pytest.approx((signed < 0).mean(), abs=0.01)


def test_a_signed_cycle_time_may_fall_below_zero_and_keeps_the_scale() -> None:
    cases = equal_cases(TIMED_CASES, [0])
    minutes = np.diff(table(time_noise(cases, 0.4, Randomness(seed=4), signed=True)))[:, 0] / MINUTE
    assert stats.kstest(minutes, stats.laplace(scale=2.5).cdf).pvalue > CHANCE


def test_a_log_whose_clock_runs_backwards_comes_out_in_order() -> None:
    noisy = time_noise(equal_cases(500, [-FAR, FAR, -FAR]), 0.4, Randomness(seed=5))
    assert (np.diff(table(noisy)) > 0).all()
    signed = time_noise(equal_cases(500, [-FAR, FAR, -FAR]), 0.4, Randomness(seed=5), signed=True)
    assert (np.sign(np.diff(table(signed))) == [-1, 1, -1]).all()


def test_activities_variants_and_lengths_stay() -> None:
    cases = cases_from([[0, 1, 1], [2], [0, 1, 1], [3, 0]])
    noisy = time_noise(cases, 0.4, Randomness(seed=6))
    assert [codes for codes, _ in as_lists(noisy)] == [(0, 1, 1), (2,), (0, 1, 1), (3, 0)]
    assert noisy.variant.tolist() == cases.variant.tolist()
    assert noisy.n_activities == 4


def test_a_case_does_not_feel_the_others() -> None:
    cases = cases_from([[0, 1, 2], [0, 1], [2, 1, 0]])
    together = as_lists(time_noise(cases, 0.4, Randomness(seed=7)))
    alone = as_lists(time_noise(cases.take(np.array([0])), 0.4, Randomness(seed=7)))
    after_the_log = cases_from([[0, 1, 2], [0]], [cases.micros[:3].tolist(), [-(10**15)]])
    assert together[0] == alone[0] == as_lists(time_noise(after_the_log, 0.4, Randomness(seed=7)))[0]


def test_times_come_in_whole_milliseconds() -> None:
    cases = equal_cases(200, [123_457, 999_999], first=1_700_000_000_123_457)
    assert (time_noise(cases, 0.4, Randomness(seed=8)).micros % 1000 == 0).all()


def test_with_hardly_any_noise_the_times_are_the_original_ones() -> None:
    cases = equal_cases(200, [FAR, MILLISECOND, 3 * MINUTE])
    for epsilon in (1e12, 1e300):
        assert (time_noise(cases, epsilon, Randomness(seed=9)).micros == cases.micros).all()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("epsilon", [1e-5, 1e-9, 1e-30, 1e-200])
def test_any_amount_of_noise_stays_within_what_can_be_written(epsilon: float, signed: bool) -> None:
    noisy = time_noise(equal_cases(2000, [FAR, 0, FAR]), epsilon, Randomness(seed=10), signed=signed)
    times = pl.Series(noisy.micros).cast(pl.Datetime("us", "UTC"))
    assert times.dt.year().is_between(1678, 2261).all()
    assert signed or (np.diff(table(noisy)) > 0).all()


@pytest.mark.parametrize("days", [-106_650, 106_650])
def test_at_the_end_of_time_the_events_of_a_case_stay_in_order(days: int) -> None:
    """At 1678 and 2261: noise moves some cases beyond what can be written, where each event leaves room for the others."""
    cases = equal_cases(10, [0, MINUTE, 0], first=days * DAY)
    noisy = table(time_noise(cases, 0.001, Randomness(seed=13)))
    assert (np.diff(noisy) >= MILLISECOND).all()
    ends = noisy[:, 0] == EARLIEST * MILLISECOND if days < 0 else noisy[:, -1] == LATEST * MILLISECOND
    assert 0 < ends.sum() < 10


def test_times_before_1970_are_times_like_others() -> None:
    late = equal_cases(500, [FAR, MINUTE])
    early = equal_cases(500, [FAR, MINUTE], first=1_700_000_000_000_000 - 120_000 * DAY)
    shift = time_noise(late, 0.4, Randomness(seed=11)).micros - time_noise(early, 0.4, Randomness(seed=11)).micros
    assert (shift == 120_000 * DAY).all()


def test_no_cases_need_no_noise() -> None:
    assert len(time_noise(equal_cases(0, [FAR]), 0.4, Randomness(seed=12))) == 0


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


LABELS = ["admit", "bill", "cure", "discharge"]


def parts() -> list[Cases]:
    """Three subsamples of the same log, one of them empty."""
    cases = cases_from([[0, 1], [2], [0, 1, 3], [2, 2], [0, 1], [3]])
    return [cases.take(np.array(rows, np.int64)) for rows in ([0, 2, 5], [], [1, 1, 3, 4])]


def test_all_cases_of_all_parts_are_there_whole() -> None:
    log = combine(parts(), LABELS, Randomness(seed=1))
    assert set(log.activities) == set(LABELS)
    found = Counter((tuple(log.activities[code] for code in codes), times) for codes, times in as_lists(cases_of(log)))
    expected = Counter((tuple(LABELS[code] for code in codes), times) for part in parts() for codes, times in as_lists(part))
    assert found == expected


def test_codes_mean_the_labels_of_the_log_even_where_some_are_not_left() -> None:
    log = combine([cases_from([[3], [1]])], LABELS, Randomness(seed=1))
    assert log.activities == ["bill", "discharge"]


@pytest.mark.parametrize(("seed", "prefix"), [(None, "case"), (1, "seeded")])
def test_ids_are_fresh_numbers_that_say_whether_there_was_a_seed(seed: int | None, prefix: str) -> None:
    log = combine(parts(), LABELS, Randomness(seed))
    assert log.cases.columns == ["concept:name"]
    assert log.cases["concept:name"].to_list() == [f"{prefix}-{number}" for number in range(1, 8)]


def test_nothing_but_case_activity_and_time_is_left() -> None:
    log = combine(parts(), LABELS, Randomness())
    assert log.events.columns == ["@case", "concept:name", "time:timestamp"]
    assert log.metadata == LogMetadata()
    assert log.metadata.extensions == ()
    assert (log.roles, log.notes, log.individual) == ((), (), None)


def test_a_seeded_log_says_so_in_its_header() -> None:
    log = combine(parts(), LABELS, Randomness(seed=1))
    assert log.metadata.attributes == (Attribute("privacy", "string", SEEDED),)


def test_the_order_tells_nothing_about_the_parts_or_the_order_in_them() -> None:
    cases = cases_from([[i] for i in range(6)])
    halves = [cases.take(np.arange(3)), cases.take(np.arange(3, 6))]
    labels = [str(i) for i in range(6)]
    random = Randomness(seed=2)
    places = np.zeros((6, 6))
    for _ in range(1500):
        order = combine(halves, labels, random).events["concept:name"].cast(int).to_numpy()
        places[np.arange(6), order] += 1
    for row in places:
        assert stats.chisquare(row).pvalue > 1e-4


@pytest.mark.parametrize("labels", [LABELS, []])
def test_nothing_combines_to_an_empty_log(labels: list[str]) -> None:
    nothing = cases_from([[0]]).take(np.zeros(0, np.int64))
    log = combine([nothing, nothing], labels, Randomness())
    assert isinstance(log, EventLog)
    assert (log.n_cases, log.n_events) == (0, 0)
