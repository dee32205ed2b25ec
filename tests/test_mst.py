"""The synthesizer that the benchmark of attributes compares with: it gives what it measured, and spends what it says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from benchmarks.mst import chosen, drawn, learnt, matched, with_sums

SIZES = [3, 2, 4, 2]
NO_NOISE, N_ROWS = 1e7, 4_000


def a_table(seed: int = 5) -> list[np.ndarray]:
    """Columns 0, 2 and 3 that go together along a chain, and column 1 that follows column 0 less."""
    random = np.random.default_rng(seed)
    first = random.choice(3, N_ROWS, p=[0.5, 0.3, 0.2])
    second = np.where(random.random(N_ROWS) < 0.3, first > 0, random.random(N_ROWS) < 0.5).astype(np.int64)
    third = np.where(random.random(N_ROWS) < 0.8, first + 1, random.integers(0, 4, N_ROWS))
    fourth = np.where(random.random(N_ROWS) < 0.9, third > 1, random.random(N_ROWS) < 0.5).astype(np.int64)
    return [first, second, third, fourth]


def shares(one: np.ndarray, other: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    found = np.zeros(shape)
    np.add.at(found, (one, other), 1 / len(one))
    return found


def test_without_noise_columns_and_pairs_of_the_tree_are_those_of_the_table() -> None:
    columns = a_table()
    tree = learnt(columns, SIZES, NO_NOISE, N_ROWS, np.random.default_rng(1))
    rows = drawn(tree, {}, N_ROWS, np.random.default_rng(2))
    for column, size in enumerate(SIZES):
        real = np.bincount(columns[column], minlength=size) / N_ROWS
        assert tree.shares[column] == pytest.approx(real, abs=1e-4)
        assert np.bincount(rows[column], minlength=size) / N_ROWS == pytest.approx(real, abs=0.01)
    for (one, other), table in zip(tree.edges, tree.tables, strict=True):
        real = shares(columns[one], columns[other], (SIZES[one], SIZES[other]))
        assert table == pytest.approx(real, abs=1e-4)
        assert shares(rows[one], rows[other], real.shape) == pytest.approx(real, abs=0.01)


def test_without_noise_the_tree_is_the_maximum_spanning_tree() -> None:
    tree = learnt(a_table(), SIZES, NO_NOISE, N_ROWS, np.random.default_rng(1))
    assert {tuple(sorted(edge)) for edge in tree.edges} == {(0, 1), (0, 2), (2, 3)}


def test_the_noise_is_that_of_the_budget_and_all_of_it_is_spent() -> None:
    class Watched(np.random.Generator):
        """Writes down what each draw of noise costs."""

        def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
            costs.append(1 / scale**2)
            return super().normal(loc, scale, size)

    costs: list[float] = []
    mu = 0.14
    tree = learnt(a_table(), SIZES, mu, N_ROWS, Watched(np.random.PCG64(1)))
    assert math.fsum(one**2 for one in tree.spent) == pytest.approx(mu**2)
    assert math.fsum(costs) == pytest.approx(mu**2 * 2 / 3)  # the last third is for choices
    assert math.fsum(costs[: len(SIZES)]) == pytest.approx(mu**2 / 3)


def test_choices_are_those_of_an_exponential_mechanism() -> None:
    halves, turns, n_draws, epsilon = np.repeat([0, 1], 20), np.tile([0, 1], 20), 2_000, 0.025
    random, even = np.random.default_rng(1), [np.full(2, 0.5)] * 3
    joined = [(0, 2) in chosen([halves, turns, halves], even, epsilon, 40, random) for _ in range(n_draws)]
    # Equal columns have a score of 40, the other pairs 0. They are joined at the first of two choices, or at the second.
    weight = math.exp(40 * epsilon / 2)
    expected = weight / (weight + 2) + 2 / (weight + 2) * weight / (weight + 1)
    assert np.mean(joined) == pytest.approx(expected, abs=0.03)


def test_attributes_drawn_given_a_feature_follow_it_and_the_feature_stays() -> None:
    columns = a_table()
    tree = learnt(columns, SIZES, NO_NOISE, N_ROWS, np.random.default_rng(1))
    wanted = np.arange(N_ROWS) % 2
    rows = drawn(tree, {3: wanted}, N_ROWS, np.random.default_rng(2))
    assert (rows[3] == wanted).all()
    for code in (0, 1):
        real = np.bincount(columns[2][columns[3] == code], minlength=4) / (columns[3] == code).sum()
        assert np.bincount(rows[2][wanted == code], minlength=4) / (wanted == code).sum() == pytest.approx(real, abs=0.015)


def test_rows_are_matched_once_each_and_to_equal_cases_first() -> None:
    random = np.random.default_rng(3)
    rows, cases = ([random.integers(0, 3, 200), random.integers(0, 2, 200)] for _ in range(2))
    found = matched(rows, cases, random)
    assert sorted(found.tolist()) == list(range(200))
    same = (rows[0][found] == cases[0]) & (rows[1][found] == cases[1])
    of_rows, of_cases = (np.bincount(2 * one + other, minlength=6) for one, other in (rows, cases))
    assert same.sum() >= np.minimum(of_rows, of_cases).sum()


def test_a_noisy_table_gets_the_sums_it_should_have() -> None:
    random = np.random.default_rng(4)
    rows, columns = np.array([0.7, 0.2, 0.1]), np.array([0.6, 0.3, 0.05, 0.05])
    found = with_sums(np.multiply.outer(rows, columns) + random.normal(0, 0.1, (3, 4)), rows, columns)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(rows)
    assert found.sum(axis=0) == pytest.approx(columns, abs=1e-6)
