"""What is drawn has the distribution it says, comes from where it says, and never repeats or leaves its range."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from libra._system.randomness import RESERVE, Randomness
from libra.errors import UsageError

CHANCE = 1e-3  # of a seed that is unlucky; the seeds are fixed


class Extremes(Randomness):
    """The smallest and the largest word, and those next to them."""

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        return np.array([0, 1, 2, 2**64 - 1, 2**64 - 2], np.uint64)[:n]


@pytest.mark.parametrize("scale", [0.4, 2.3])
def test_laplace_noise_has_its_scale_and_shape(scale: float) -> None:
    noise = Randomness(seed=1).laplace(scale, 400_000)
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > CHANCE
    assert np.abs(noise).mean() == pytest.approx(scale, rel=0.01)


def test_laplace_noise_has_its_tails() -> None:
    noise = Randomness(seed=2).laplace(1.0, 1_000_000)
    for distance in (5.0, 8.0):
        for beyond in (int((noise > distance).sum()), int((noise < -distance).sum())):
            assert stats.binomtest(beyond, len(noise), np.exp(-distance) / 2).pvalue > CHANCE


def test_the_side_of_laplace_noise_tells_nothing_about_its_size() -> None:
    noise = Randomness(seed=3).laplace(1.0, 200_000)
    above, below = noise[noise > 0], -noise[noise < 0]
    assert stats.ks_2samp(above, below).pvalue > CHANCE
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 4 / np.sqrt(len(noise))


@given(st.lists(st.integers(0, 3), max_size=40))
def test_rows_are_ordered_by_groups_each_row_once(groups: list[int]) -> None:
    order = Randomness(seed=len(groups)).permutation_within(np.array(groups, np.int64))
    assert sorted(order.tolist()) == list(range(len(groups)))
    assert [groups[i] for i in order] == sorted(groups)


@pytest.mark.parametrize("largest", [0, 1, 2**20])
def test_all_orders_within_a_group_are_equally_likely(largest: int) -> None:
    """Also where the number of the group takes most of the bits."""
    random, groups = Randomness(seed=5), np.array([largest, 0, largest, largest])
    seen = Counter(tuple(row for row in random.permutation_within(groups).tolist() if row != 1) for _ in range(6000))
    assert set(seen) == set(permutations((0, 2, 3))) if largest else len(seen) == 6
    assert stats.chisquare(list(seen.values())).pvalue > CHANCE


def test_uniform_numbers_are_uniform() -> None:
    drawn = Randomness(seed=4).uniform(400_000)
    assert stats.kstest(drawn, "uniform").pvalue > CHANCE
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 4 / np.sqrt(len(drawn))


def test_uniform_numbers_are_never_0_or_1_and_noise_is_always_finite() -> None:
    drawn = Extremes().uniform(5)
    assert (drawn > 0).all()
    assert (drawn < 1).all()
    noise = Extremes().laplace(1e300, 5)
    assert np.isfinite(noise).all()
    assert (noise != 0).all()
    assert np.sign(noise).tolist() == [-1, 1, -1, 1, -1]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7, 1000, 2**40 + 1])
def test_whole_numbers_stay_below_their_limit(limit: int) -> None:
    drawn = Extremes().below(limit, 5)
    assert drawn.min() == 0
    assert drawn.max() == limit - 1


def test_whole_numbers_are_equally_likely() -> None:
    for limit in (3, 10):
        counts = np.bincount(Randomness(seed=limit).below(limit, 1_000_000), minlength=limit)
        assert len(counts) == limit
        assert stats.chisquare(counts).pvalue > CHANCE


def test_all_orders_are_equally_likely() -> None:
    random = Randomness(seed=5)
    seen = Counter(tuple(random.permutation(4).tolist()) for _ in range(24_000))
    assert stats.chisquare([seen[order] for order in permutations(range(4))]).pvalue > CHANCE
    assert len(seen) == 24


@given(st.integers(0, 3 * RESERVE), st.integers(0, 2**32))
def test_a_permutation_has_every_number_once(n: int, seed: int) -> None:
    assert sorted(Randomness(seed).permutation(n).tolist()) == list(range(n))


@pytest.mark.parametrize("seed", [None, 6])
def test_no_word_is_handed_out_twice(seed: int | None) -> None:
    random = Randomness(seed)
    drawn = np.concatenate([random.words(n) for n in (3, 1, RESERVE - 10, 0, 50, RESERVE, 7, 2 * RESERVE + 1, 5, RESERVE - 1)])
    assert len(np.unique(drawn)) == len(drawn) == 5 * RESERVE + 56


@pytest.mark.chance
def test_the_operating_system_gives_something_else_each_time() -> None:
    one, other = Randomness(), Randomness()
    assert not one.seeded
    assert not np.isin(one.words(100), other.words(100)).any()
    assert not np.isin(one.words(RESERVE), other.words(RESERVE)).any()
    assert (one.laplace(1.0, 10) != one.laplace(1.0, 10)).all()


@pytest.mark.chance
def test_every_bit_of_a_word_is_fair() -> None:
    for random in (Randomness(), Randomness(seed=7)):
        words = random.words(40_000)
        ones = [int((words >> np.uint64(bit) & np.uint64(1)).sum()) for bit in range(64)]
        assert max(abs(count - 20_000) for count in ones) < 7 * 100  # seven standard deviations: the first source is not seeded


def test_a_seed_gives_the_same_draws_and_another_seed_others() -> None:
    assert Randomness(seed=8).seeded
    assert (Randomness(seed=8).uniform(1000) == Randomness(seed=8).uniform(1000)).all()
    assert (Randomness(seed=8).uniform(1000) != Randomness(seed=9).uniform(1000)).all()


def test_the_draws_of_a_seed_stay_what_they_are() -> None:
    random = Randomness(seed=42)
    assert random.words(2).tolist() == [14276969152011380360, 8095878257575067585]
    assert random.uniform(2).tolist() == [0.8585979199113826, 0.6973680290593639]
    assert random.below(1000, 5).tolist() == [94, 975, 761, 786, 128]
    assert random.permutation(6).tolist() == [1, 5, 0, 3, 4, 2]
    assert random.laplace(2.5, 2) == pytest.approx([-3.704385440665015, -1.4738389418218267], rel=1e-14)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, 2**63])
def test_a_seed_that_is_no_whole_number_from_0_on_is_refused(seed: Any) -> None:
    with pytest.raises(UsageError, match="seed"):
        Randomness(seed)
