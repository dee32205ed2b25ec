"""From noisy counts to whole cases: likeliest counts against a grid, rounding that loses nothing on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from libra._system.randomness import Randomness
from libra.eventlog.cases import traces_of
from libra.mechanisms.libra.figures import ControlFigures, case_counts, rounded, weighted
from libra.mechanisms.libra.looks import likeliest_counts
from libra.mechanisms.libra.tail.release import TailFigures
from libra.privacy.noise import NoisyTable

Floats = NDArray[np.float64]
weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 3), st.floats(1e-9, 1e5)), min_size=1, max_size=60)


def likelihood(counts: Floats, looks: tuple[float, float], sds: tuple[float, float], threshold: float) -> Floats:
    """Of two looks, the first of which is only seen from the threshold on."""
    passing = norm.logsf((threshold - counts) / sds[0])
    return np.asarray(norm.logpdf(looks[0], counts, sds[0]) - passing + norm.logpdf(looks[1], counts, sds[1]))


@given(st.floats(0.0, 400.0), st.floats(-60.0, 500.0), st.floats(1.0, 40.0), st.floats(0.5, 30.0), st.floats(5.0, 300.0))
@settings(max_examples=80)
def test_counts_are_the_likeliest_of_a_grid(above: float, again: float, sd: float, sd_again: float, threshold: float) -> None:
    first, second = (
        NoisyTable(np.array([round(1024 * look)]), 1024, noise) for look, noise in ((threshold + above, sd), (again, sd_again))
    )
    looks = float(first.values[0]), float(second.values[0])
    found = float(likeliest_counts(first, second, threshold)[0])
    assert found >= 0
    grid = np.linspace(0, max(*looks, 1.0) + 5, 4001)
    best = likelihood(grid, looks, (sd, sd_again), threshold).max()
    assert likelihood(np.array([found]), looks, (sd, sd_again), threshold)[0] >= best - 1e-4


def test_counts_that_just_passed_are_believed_less_and_high_ones_are_averaged() -> None:
    first, second = NoisyTable(np.array([30, 3000]), 1, 8.0), NoisyTable(np.array([30, 3040]), 1, 8.0)
    just, high = likeliest_counts(first, second, threshold=30.0)
    assert just < 29
    assert high == pytest.approx(3020)


@given(weights, st.integers(0, 50))
def test_running_sums_and_single_weights_are_off_by_less_than_one(values: list[float], seed: int) -> None:
    given_weights = np.array(values)
    whole = rounded(given_weights, Randomness(seed=seed))
    assert (whole >= 0).all()
    assert (np.abs(np.cumsum(whole) - np.cumsum(given_weights)) < 1 + 1e-6).all()
    assert (np.abs(whole - given_weights) < 1 + 1e-6).all()


def test_rounding_is_right_on_average() -> None:
    given_weights = np.array([0.25, 1.5, 0.05, 2.0, 0.7])
    mean = np.mean([rounded(given_weights, Randomness(seed=seed)) for seed in range(3000)], axis=0)
    assert mean == pytest.approx(given_weights, abs=0.04)


@given(weights.filter(any), st.integers(1, 5000), st.integers(0, 50))
def test_as_many_cases_as_were_asked_for(values: list[float], cases: int, seed: int) -> None:
    counts = case_counts(np.array(values), 1.0, cases, Randomness(seed=seed))
    assert counts.sum() == cases
    assert not counts[np.array(values) <= 0].any()


class Extreme(Randomness):
    """A randomness that draws the same number again and again."""

    def __init__(self, number: float) -> None:
        super().__init__(seed=1)
        self.number = number

    def uniform(self, n: int) -> Floats:
        """So many times the number."""
        return np.full(n, self.number)


@pytest.mark.parametrize("drawn", [2.0**-53, 0.5, 1 - 2.0**-20])
@pytest.mark.parametrize("cases", [1, 999, 123_457, 100_000_000])
def test_a_total_that_is_meant_to_be_whole_is_at_any_size_and_draw(cases: int, drawn: float) -> None:
    for seed in range(20):
        uneven = np.random.Generator(np.random.PCG64(seed)).gamma(0.1, 1.0, 20_000)
        assert rounded(uneven * (cases / uneven.sum()), Extreme(drawn)).sum() == cases


def test_a_case_of_a_subsample_stands_for_several_and_nothing_comes_from_nothing() -> None:
    assert case_counts(np.array([10.0, 5.0]), 4.0, None, Randomness(seed=1)).tolist() == [40, 20]
    assert case_counts(np.array([0.0, 0.0]), 1.0, 500, Randomness(seed=1)).tolist() == [0, 0]
    assert case_counts(np.zeros(0), 1.0, 500, Randomness(seed=1)).tolist() == []


def _figures(rare: int, kept: tuple[tuple[int, ...], ...] = ((0, 1), (2,))) -> ControlFigures:
    """Two variants of 300 and 100 cases, and so many rare cases, of which no edge is known."""
    counts = NoisyTable(np.array([300, 100])[: len(kept)], 1, 1.0)
    number = NoisyTable(np.array([rare]), 1, 20.0)
    nothing = NoisyTable(np.zeros(5, np.int64), 1, 1e6)
    return ControlFigures(3, traces_of(kept), counts, counts, 5.0, TailFigures(number, nothing, nothing), nearest=False)


@pytest.mark.parametrize(("rare", "cases"), [(80, [360, 120]), (15, [300, 100]), (-80, [300, 100])])
def test_rare_cases_without_traces_are_counted_to_the_kept_variants_where_there_are_any(rare: int, cases: list[int]) -> None:
    traces, found = weighted(_figures(rare), Randomness(seed=1))
    told = dict(zip(map(tuple, traces.to_lists()), found.tolist(), strict=True))
    assert [told[0, 1], told[(2,)]] == pytest.approx(cases, rel=0.01)


def test_without_kept_variants_rare_cases_without_traces_are_lost() -> None:
    traces, found = weighted(_figures(80, kept=()), Randomness(seed=1))
    assert (len(traces), found.sum()) == (0, 0)
