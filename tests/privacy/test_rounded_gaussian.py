"""Rounded Gaussian noise: every draw is what exact arithmetic on its bits gives, also at boundaries and in the far tail."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare, norm

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.privacy import noise
from libra.privacy.noise import rounded_gaussian


class Scripted(Randomness):
    """Gives the words it was told, then zeros; counts how many were asked for."""

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__()
        self.script, self.asked = list(words), 0

    def words(self, n: int) -> NDArray[np.uint64]:
        given = [self.script[self.asked + i] if self.asked + i < len(self.script) else 0 for i in range(n)]
        self.asked += n
        return np.array(given, np.uint64)


def boundary_tail(size: int, sd: float) -> mpmath.mpf:
    return mpmath.erfc((size + mpmath.mpf(0.5)) / mpmath.mpf(sd) / mpmath.sqrt(2)) / 2


def exact_noise(words: Sequence[int], sd: float) -> int:
    """What the words say, by mpmath: the number of boundaries whose tails are above the uniform number."""
    tail = mpmath.mpf(words[0] >> 1) / mpmath.mpf(2) ** 64
    for place, word in enumerate(words[1:], 2):
        tail += mpmath.mpf(word) / mpmath.mpf(2) ** (64 * place)
    low, high = 0, int(20 * sd) + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if tail < boundary_tail(middle, sd) else (low, middle)
    return low if words[0] & 1 else -low


SPREADS = [1e-3, 0.05, 0.3, 1.0, 3.19, 57.25, 3266.56, 1e6, 1e9]


@pytest.mark.parametrize("sd", SPREADS)
def test_draws_are_what_their_bits_say(sd: float) -> None:
    generator = np.random.default_rng(3)
    words = [int(word) for word in generator.integers(0, 2**64, 60, np.uint64)]
    words += [int(word) >> shift for shift in range(4, 54, 5) for word in generator.integers(2**63, 2**64, 2, np.uint64)]
    drawn = [int(rounded_gaussian(sd, 1, Scripted([word, 1 << 63, 5]))[0]) for word in words]
    with mpmath.workdps(80):
        assert drawn == [exact_noise([word, 1 << 63, 5], sd) for word in words]


@pytest.mark.parametrize("sd", [0.3, 1.0, 3.19, 3266.56, 1e6, 1e9])
def test_draws_at_a_rounding_boundary_are_settled_by_the_bits_that_follow(sd: float) -> None:
    with mpmath.workdps(120):
        for size in {0, 1, round(sd), round(2.5 * sd), round(4 * sd)}:
            scaled = boundary_tail(size, sd) * mpmath.mpf(2) ** 192
            first, rest = divmod(int(mpmath.floor(scaled)), 1 << 128)
            second, third = divmod(rest, 1 << 64)
            for following, expected in [
                ((second, third + 1), size),
                ((second, third - 1), size + 1),
                ((second + 1, 0), size),
                ((second - 1, 7), size + 1),
            ]:
                words = [first << 1 | 1, *following, 12345]
                random = Scripted(words)
                assert rounded_gaussian(sd, 1, random).tolist() == [expected] == [exact_noise(words, sd)]
                assert random.asked > 1


@pytest.mark.parametrize("sd", SPREADS)
def test_the_lowest_and_the_highest_words_are_settled_exactly(sd: float) -> None:
    extremes = [[0, 0, 0, 1 << 40], [1, 0, 3, 9], [1, 2**64 - 1], [2, 1], [3, 77], [2**64 - 1, 0], [2**64 - 2, 0], [2**63, 5]]
    with mpmath.workdps(120):
        for words in extremes:
            assert rounded_gaussian(sd, 1, Scripted(words)).tolist() == [exact_noise([*words, 0, 0, 0], sd)]


def test_no_draw_depends_on_where_it_stands_in_a_block() -> None:
    words = [int(word) for word in np.random.default_rng(1).integers(0, 2**64, noise.BLOCK + 5, np.uint64)]
    together = rounded_gaussian(3.3, len(words), Scripted(words))
    apart = np.concatenate([rounded_gaussian(3.3, 1, Scripted([word])) for word in words[-10:]])
    assert together[-10:].tolist() == apart.tolist()


@pytest.mark.parametrize("sd", [0.4, 1.0, 3.19, 12.5])
def test_the_frequencies_are_those_of_the_distribution(sd: float) -> None:
    n = 400_000
    drawn = rounded_gaussian(sd, n, Randomness(seed=11))
    reach = int(3.5 * sd) + 1
    edges = np.arange(-reach, reach) + 0.5
    expected = np.diff(norm.cdf(np.concatenate(([-np.inf], edges, [np.inf])) / sd)) * n
    observed = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1)
    assert (
        chisquare(
            observed[expected > 5], expected[expected > 5] * observed[expected > 5].sum() / expected[expected > 5].sum()
        ).pvalue
        > 1e-4
    )
    assert abs(int(drawn.sum())) < 5 * sd * np.sqrt(n)


def test_a_seed_gives_the_same_draws_again() -> None:
    first, second = (rounded_gaussian(5.0, 1000, Randomness(seed=4)) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert first.tolist() != rounded_gaussian(5.0, 1000, Randomness(seed=5)).tolist()


def test_with_a_large_spread_floats_do_not_always_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[int] = []
    exact_size = noise._exact_size

    def counted(bits: int, sd: float, random: Randomness) -> int:
        settled.append(exact_size(bits, sd, random))
        return settled[-1]

    monkeypatch.setattr(noise, "_exact_size", counted)
    rounded_gaussian(1e10, 20_000, Randomness(seed=2))
    assert 5 < len(settled) < 200


@pytest.mark.parametrize("sd", [0.0, -1.0, float("nan"), float("inf"), 1e11])
def test_a_spread_that_is_none_is_refused(sd: float) -> None:
    with pytest.raises(UsageError, match="sd has to be a number above 0"):
        rounded_gaussian(sd, 3, Randomness(seed=1))


def test_no_draws_are_no_draws() -> None:
    assert rounded_gaussian(2.0, 0, Randomness(seed=1)).shape == (0,)
