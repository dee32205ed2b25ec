"""The model of largest entropy: groups exactly, tables within their noise, and the distribution that is the only right one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from libra.mechanisms.libra.attributes import entropy
from libra.mechanisms.libra.attributes.entropy import CLOSE, Wanted, largest_entropy

Floats = NDArray[np.float64]


def shares_of(groups: Floats, sides: list[Floats], wanted: list[Wanted]) -> Floats:
    """The shares of groups in every kind, by the definition of the model."""
    logits = groups + sum(table[one.cells] for one, table in zip(wanted, sides, strict=True))
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), float)


def some_problem(seed: int, cells: tuple[int, ...], n_groups: int, noise: float = 3.0) -> tuple[Floats, list[Wanted], Floats]:
    """Kinds that are all combinations of cells, and noisy tables of a model that is known."""
    random = np.random.default_rng(seed)
    kinds = np.array(list(product(*map(range, cells))))
    times = random.integers(5, 200, len(kinds)).astype(float)
    model = [random.normal(0, 0.7, (n, n_groups)) for n in cells]
    logits = sum(table[kinds[:, side]] for side, table in enumerate(model))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    counts = times[:, None] * shares
    wanted = []
    for side, n in enumerate(cells):
        table = np.array([counts[kinds[:, side] == cell].sum(axis=0) for cell in range(n)])
        noisy = np.maximum(table + random.normal(0, noise, table.shape), 0.0)
        noisy += (table.sum(axis=1) - noisy.sum(axis=1))[:, None] / n_groups  # how many cases a cell has is known
        wanted.append(Wanted(kinds[:, side], noisy, np.full(table.shape, 0.1), noise))
    return counts.sum(axis=0), wanted, times


@pytest.mark.parametrize(("seed", "cells", "n_groups"), [(1, (3,), 2), (2, (4, 5), 3), (3, (2, 3, 7), 6), (4, (12, 9, 8), 4)])
def test_groups_are_met_exactly_and_tables_within_their_noise(seed: int, cells: tuple[int, ...], n_groups: int) -> None:
    counts, wanted, times = some_problem(seed, cells, n_groups)
    groups, sides = largest_entropy(counts, np.ones(n_groups), wanted, times)
    found = times[:, None] * shares_of(groups, sides, wanted)
    assert found.sum(axis=0) == pytest.approx(counts, rel=1e-3)
    for one, table in zip(wanted, sides, strict=True):
        met = np.array([found[one.cells == cell].sum(axis=0) for cell in range(len(one.counts))])
        # the penalty and the noise of what else is wanted keep a table from being met to the letter
        assert np.sqrt(np.mean((met + one.trust * table - one.counts) ** 2)) < (CLOSE + 1.0) * one.sd


def test_it_is_the_best_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another search for the same minimum, by another method, ends at the same shares."""
    monkeypatch.setattr(entropy, "CLOSE", 1e-4)
    monkeypatch.setattr(entropy, "LAST", 0)
    counts, wanted, times = some_problem(5, (3, 4), 3)
    forms = [(1, 3), (3, 3), (4, 3)]
    ends = np.cumsum([0, *(rows * columns for rows, columns in forms)])
    aim = np.concatenate([counts, *(one.counts.ravel() for one in wanted)])
    trust = np.concatenate([np.full(3, entropy.SLIGHT), *(one.trust.ravel() for one in wanted)])

    def parts(flat: Floats) -> list[Floats]:
        return [flat[ends[i] : ends[i + 1]].reshape(form) for i, form in enumerate(forms)]

    def loss(flat: Floats) -> float:
        groups, *tables = parts(flat)
        logits = groups + sum(table[one.cells] for one, table in zip(wanted, tables, strict=True))
        return float(np.sum(times * np.log(np.exp(logits).sum(axis=1))) - aim @ flat + trust @ flat**2 / 2)

    best = minimize(loss, np.zeros(len(aim)), method="BFGS", options={"maxiter": 2000})
    groups, *tables = parts(best.x)
    found_groups, found = largest_entropy(counts, np.ones(3), wanted, times)
    assert shares_of(found_groups, found, wanted) == pytest.approx(shares_of(groups[0], tables, wanted), abs=2e-3)


def test_many_sides_are_looked_at_in_several_lots_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy, "CLOSE", 1e-7)
    monkeypatch.setattr(entropy, "STEPS", 200)
    counts, wanted, times = some_problem(6, (4, 3, 5), 3)
    at_once = shares_of(*largest_entropy(counts, np.ones(3), wanted, times), wanted)
    monkeypatch.setattr(entropy, "MOST_KINDS", 6)
    assert len(entropy._together(wanted, len(times))) == 3
    in_lots = shares_of(*largest_entropy(counts, np.ones(3), wanted, times), wanted)
    assert in_lots == pytest.approx(at_once, abs=1e-4)  # a search ends where floats no longer tell better from worse


def test_groups_that_one_table_joins_keep_what_another_says_of_them() -> None:
    """Groups depend on one side, within each half as well; another side, nearly the same, says something about halves alone."""
    cells, times = np.array(list(product((0, 1), (0, 1)))), np.array([4750.0, 250.0, 250.0, 4750.0])
    shares = np.array([[0.4, 0.2, 0.25, 0.15], [0.15, 0.25, 0.2, 0.4]])[cells[:, 0]]
    whole = times[:, None] * shares
    first, second = (np.array([whole[cells[:, side] == cell].sum(axis=0) for cell in (0, 1)]) for side in (0, 1))
    joined = np.array([0, 0, 1, 1])
    halves, of_groups = second @ np.eye(2)[joined], whole.sum(axis=0)
    part = of_groups / np.bincount(joined, of_groups)[joined]
    tables = [Wanted(cells[:, 0], first, np.full((2, 4), 0.1), 20.0)]
    tables.append(Wanted(cells[:, 1], halves[:, joined] * part, np.full((2, 4), 0.1), 20.0 * part, joined))
    groups, sides = largest_entropy(of_groups, np.full(4, 20.0), tables, times)
    found = times[:, None] * shares_of(groups, sides, tables)
    assert np.abs(found - whole).sum() / 2 / times.sum() < 0.01
    assert np.abs(sides[1]).max() > 0.01  # no table had to be left out
    assert sides[1][:, 0] == pytest.approx(sides[1][:, 1])
    assert sides[1][:, 2] == pytest.approx(sides[1][:, 3])


def test_without_tables_every_kind_has_the_shares_of_the_groups() -> None:
    groups, sides = largest_entropy(np.array([30.0, 10.0]), np.ones(2), [], np.array([15.0, 25.0]))
    assert sides == []
    assert np.exp(groups) / np.exp(groups).sum() == pytest.approx([0.75, 0.25])


def test_tables_that_cannot_be_and_a_group_that_is_nearly_empty_give_finite_parameters() -> None:
    """A table of one side that says the opposite of another, cells without cases, counts of next to nothing."""
    cells = np.array([0, 0, 2, 2])
    one = Wanted(cells, np.array([[900.0, 0.0], [50.0, 50.0], [0.0, 900.0]]), np.full((3, 2), 0.1), 2.0)
    other = Wanted(cells, np.array([[0.0, 900.0], [0.0, 0.0], [900.0, 0.0]]), np.full((3, 2), 0.1), 2.0)
    counts, times = np.array([20.0, 1e-6]), np.array([5.0, 5.0, 5.0, 5.0])
    groups, sides = largest_entropy(counts, np.ones(2), [one, other], times)
    assert all(np.isfinite(part).all() for part in (groups, *sides))
    shares = shares_of(groups, sides, [one, other])
    assert times @ shares == pytest.approx(counts, abs=0.5)


def test_a_table_that_cannot_be_true_of_these_cases_is_left_out_and_spoils_no_other() -> None:
    """As for durations, if those of the generated cases are not the original's."""
    counts, wanted, times = some_problem(7, (4, 3), 4)
    _, alone = largest_entropy(counts, np.ones(4), wanted[:1], times)
    impossible = wanted[1]._replace(counts=wanted[1].counts + np.array([[3e4, -3e4, 0, 0], [-3e4, 3e4, 0, 0], [0, 0, 0, 0]]))
    _, (kept, lost) = largest_entropy(counts, np.ones(4), [wanted[0], impossible], times)
    assert kept == pytest.approx(alone[0])
    assert not lost.any()


def test_what_never_goes_together_in_many_cases_is_met_within_noise() -> None:
    """Of 400,000 cases, none has certain groups with certain cells: what is right for these is far from where it begins."""
    random = np.random.Generator(np.random.PCG64(8))
    kinds = np.array(list(product(range(4), range(4), range(3), *[(0, 1)] * 4)))
    times = random.dirichlet(np.full(len(kinds), 0.5)) * 400_000
    shares = np.full((len(kinds), 6), 1e-9)
    for kind, (a, c, d, *_) in enumerate(kinds.tolist()):  # the first side decides, or rules out; another one moves the rest
        shares[kind, a if a < 2 else slice(2, 6)] = 1.0 if a < 2 else random.dirichlet(np.ones(4) * (1 + c + d))
    whole = times[:, None] * shares / shares.sum(axis=1, keepdims=True)
    tables = []
    for side in range(kinds.shape[1]):
        cells = kinds[:, side]
        found = np.array([whole[cells == cell].sum(axis=0) for cell in range(cells.max() + 1)])
        noisy = found + random.normal(0, 20.0, found.shape)
        noisy -= noisy.mean(axis=1, keepdims=True) - found.mean(axis=1, keepdims=True)
        expected = np.maximum(np.multiply.outer(found.sum(axis=1), whole.sum(axis=0)) / whole.sum(), 1.0)
        tables.append(Wanted(cells, noisy, 20.0**2 / (expected * 0.64) + 5.0, 20.0))
    groups, sides = largest_entropy(whole.sum(axis=0), np.full(6, 20.0), tables, times)
    after = times[:, None] * shares_of(groups, sides, tables)
    for one, parameters in zip(tables, sides, strict=True):
        met = np.array([after[one.cells == cell].sum(axis=0) for cell in range(len(one.counts))])
        assert np.sqrt(np.mean((met + one.trust * parameters - one.counts) ** 2)) < 20.0
