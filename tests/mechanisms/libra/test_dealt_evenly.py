"""Dealing out values: as many of each as expected, for every kind of case and all of them together, and no ties made up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra._system.randomness import Randomness
from libra.mechanisms.libra.attributes.fit import dealt_evenly


def dealt(weights: np.ndarray, kind: np.ndarray, seed: int) -> np.ndarray:
    """How many rows of each kind got each cell."""
    cells = dealt_evenly(weights, kind, Randomness(seed=seed))
    n, n_cells = weights.shape
    return np.bincount(kind * n_cells + cells, minlength=n * n_cells).reshape(n, n_cells)


@given(
    st.integers(1, 9).flatmap(lambda cells: st.lists(st.lists(st.integers(0, 5), min_size=cells, max_size=cells), min_size=1)),
    st.lists(st.integers(0, 30), max_size=60),
    st.integers(0, 2**32),
)
def test_every_row_gets_a_cell_that_its_kind_may_have(weights: list[list[int]], rows: list[int], seed: int) -> None:
    table = np.array(weights, float)
    table[table.sum(axis=1) == 0] = 1
    kind = np.array(rows, np.int64) % len(table)
    counts = dealt(table, kind, seed)
    assert counts.sum(axis=1).tolist() == np.bincount(kind, minlength=len(table)).tolist()
    assert not counts[table == 0].any()


@pytest.mark.parametrize("n_cells", [2, 3, 8, 21])
def test_cells_have_as_many_rows_as_expected_though_every_kind_has_one(n_cells: int) -> None:
    """Drawn by chance, a cell would be off by the root of what it has: by 20 of 400, and by more in some of 10 seeds."""
    random = np.random.Generator(np.random.PCG64(n_cells))
    weights = random.dirichlet(np.ones(n_cells), 4_000)
    for seed in range(10):
        off = dealt(weights, random.permutation(4_000), seed).sum(axis=0) - weights.sum(axis=0)
        chance = np.sqrt((weights * (1 - weights)).sum(axis=0))
        assert np.abs(off).max() < (1 if n_cells == 2 else 0.5 * chance.max())


def test_neighbours_have_as_many_together_as_expected() -> None:
    """What depends on the first sides of the kinds is kept, because their kinds are next to each other."""
    weights = np.repeat(np.array([[0.9, 0.1], [0.2, 0.8]]), 2_000, axis=0)
    counts = dealt(weights, np.arange(4_000), seed=3)
    assert abs(counts[:2_000, 0].sum() - 1_800) < 20
    assert abs(counts[2_000:, 0].sum() - 400) < 20


@pytest.mark.parametrize("share", [0.5, 0.3, 0.1])
def test_two_attributes_dealt_to_the_same_kinds_are_not_tied(share: float) -> None:
    n, tied = 4_000, []
    weights = np.tile([1 - share, share], (n, 1))
    for seed in range(20):
        one, other = (dealt(weights, np.arange(n), 2 * seed + i)[:, 1] for i in (0, 1))
        tied.append(np.corrcoef(one, other)[0, 1])
    assert np.sqrt(np.mean(np.square(tied))) < 2 / np.sqrt(n)  # by chance, 1 / sqrt(n)


def test_values_are_dealt_in_no_order_within_a_kind() -> None:
    cells = dealt_evenly(np.array([[1.0, 1.0]]), np.zeros(1_000, np.int64), Randomness(seed=5))
    assert 430 < np.count_nonzero(np.diff(cells)) < 570
