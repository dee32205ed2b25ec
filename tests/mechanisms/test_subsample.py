"""Poisson sampling: every case by its own coin, so that sizes are binomial and no case knows of another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from some_cases import as_lists, cases_from

from libra.mechanisms.libra2022.steps import number_of_subsamples, poisson_subsample
from libra.privacy.randomness import Randomness

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
