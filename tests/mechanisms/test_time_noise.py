"""Time noise: Laplace of scale 1/epsilon, in days on starts and in minutes on cycle times, and nothing else changes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy import stats
from some_cases import DAY, MINUTE, as_lists, cases_from

from libra.eventlog.cases import Cases
from libra.mechanisms.libra2022.steps import time_noise
from libra.mechanisms.peers import EARLIEST, LATEST, MILLISECOND
from libra.privacy.randomness import Randomness

CHANCE = 1e-3
CASES = 20_000
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
    cases = equal_cases(CASES, [FAR, FAR])
    noisy = time_noise(cases, epsilon, Randomness(seed=1))
    days = (table(noisy) - table(cases))[:, 0] / DAY
    minutes = (np.diff(table(noisy)) - np.diff(table(cases))) / MINUTE
    noise = stats.laplace(scale=1 / epsilon)
    assert stats.kstest(days, noise.cdf).pvalue > CHANCE
    assert stats.kstest(minutes[:, 0], noise.cdf).pvalue > CHANCE
    assert stats.kstest(minutes[:, 1], noise.cdf).pvalue > CHANCE


def test_all_draws_are_independent() -> None:
    cases = equal_cases(CASES, [FAR, FAR])
    noisy = time_noise(cases, 1.0, Randomness(seed=2))
    days = (table(noisy) - table(cases))[:, 0] / DAY
    minutes = (np.diff(table(noisy)) - np.diff(table(cases))) / MINUTE
    pairs = [(days, minutes[:, 0]), (days, minutes[:, 1]), (minutes[:, 0], minutes[:, 1]), (days[1:], days[:-1])]
    pairs += [(np.abs(one), np.abs(other)) for one, other in pairs]
    for one, other in pairs:
        assert abs(stats.spearmanr(one, other).statistic) < 4 / np.sqrt(CASES)


def test_order_is_kept_where_times_are_not_signed() -> None:
    cases = equal_cases(3000, [MINUTE, 0, 2 * MINUTE])
    signed = np.diff(table(time_noise(cases, 0.4, Randomness(seed=3), signed=True)))
    unsigned = np.diff(table(time_noise(cases, 0.4, Randomness(seed=3))))
    assert (unsigned == np.maximum(signed, MILLISECOND)).all()
    assert (unsigned == MILLISECOND).mean() == pytest.approx((signed < 0).mean(), abs=0.01)


def test_a_signed_cycle_time_may_fall_below_zero_and_keeps_the_scale() -> None:
    cases = equal_cases(CASES, [0])
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
