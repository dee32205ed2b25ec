"""Noise from tables: the weights are those of the distribution, and the stated distance is the real one."""

from __future__ import annotations

import itertools

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.privacy.noise import WORD, NoiseTable, discrete_laplace, truncated_geometric


def weights(table: NoiseTable) -> list[int]:
    sums = [0, *(int(one) for one in table.cumulative), WORD]
    return [after - before for before, after in itertools.pairwise(sums)]


def ideal_geometric(epsilon: float, k: int) -> list[mpmath.mpf]:
    ratio = mpmath.exp(-mpmath.mpf(epsilon))
    peak = (1 - ratio) / (1 + ratio - 2 * ratio ** (k + 1))
    return [peak * ratio ** abs(z) for z in range(-k, k + 1)]


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 64), (0.5, 17), (1, 10), (2, 6), (5, 3)])
def test_the_known_counts_survive_as_often_as_not(epsilon: float, count: int) -> None:
    assert 1 - truncated_geometric(epsilon, 1e-4).first == count


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 5])
@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-10])
def test_a_truncated_geometric_is_what_it_says(epsilon: float, delta: float) -> None:
    table = truncated_geometric(epsilon, delta)
    k = -table.first
    with mpmath.workdps(60):
        ideal = ideal_geometric(epsilon, k)
        assert ideal[0] <= delta < ideal_geometric(epsilon, k - 1)[0] or k == 1
        distance = sum(abs(weight - one * WORD) for weight, one in zip(weights(table), ideal, strict=True)) / 2 / WORD
        assert distance <= table.distance <= (2 * k + 1) * 2.0**-64
    assert sum(weights(table)) == WORD
    assert weights(table)[0] <= delta * WORD


@pytest.mark.parametrize("scale", [0.1, 1.0, 2.5, 40.0])
def test_a_discrete_laplace_is_what_it_says(scale: float) -> None:
    table = discrete_laplace(scale)
    with mpmath.workdps(60):
        ratio = mpmath.exp(-1 / mpmath.mpf(scale))
        ideal = [(1 - ratio) / (1 + ratio) * ratio ** abs(int(z)) for z in table.values]
        outside = 1 - sum(ideal)
        inside = sum(abs(weight - one * WORD) for weight, one in zip(weights(table), ideal, strict=True)) / WORD
        assert (inside + outside) / 2 <= table.distance
    assert table.distance < 1e-14


@pytest.mark.parametrize("table", [truncated_geometric(0.7, 1e-3), discrete_laplace(1.5)])
def test_draws_have_the_frequencies_of_the_table(table: NoiseTable) -> None:
    n = 200_000
    drawn: NDArray[np.int64] = table.draw(n, Randomness(seed=3)) - table.first
    expected = table.pmf() * n
    often = expected > 5
    observed = np.bincount(drawn, minlength=len(expected))[often]
    assert chisquare(observed, expected[often] * observed.sum() / expected[often].sum()).pvalue > 1e-4


def test_extreme_words_draw_the_ends() -> None:
    table = truncated_geometric(1.0, 1e-4)
    ends = np.searchsorted(table.cumulative, np.array([0, 2**64 - 1], np.uint64), side="right") + table.first
    assert ends.tolist() == [table.first, -table.first]
    assert table.pmf().sum() == pytest.approx(1, abs=1e-15)


def test_what_is_too_large_for_a_table_is_refused() -> None:
    with pytest.raises(UsageError, match="scale"):
        discrete_laplace(1e9)
    with pytest.raises(UsageError, match="too large a table"):
        truncated_geometric(1e-5, 1e-6)
