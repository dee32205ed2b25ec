"""Balance: the weights it finds are those that an independent solver finds for the same problem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, minimize, rosen, rosen_der

from libra.mechanisms.libra.tail import edges as balancing
from libra.mechanisms.libra.tail.edges import TAU, Figures, Products, balance, minimum

Floats = NDArray[np.float64]


def a_problem(seed: int, candidates: int = 12, cells: int = 5) -> tuple[list[Figures], Floats]:
    """A count of all, a histogram and a table in which a candidate counts several times; noisy, and not to be matched exactly."""
    random = np.random.Generator(np.random.PCG64(seed))
    everyone = np.arange(candidates)
    truth = random.gamma(1.0, 20.0, candidates)
    histogram = np.append(np.arange(cells), random.integers(0, cells, candidates - cells))
    row, cell = np.divmod(random.choice(candidates * cells, 3 * candidates, replace=False), cells)
    amount = random.integers(1, 4, len(row)).astype(np.float64)
    edges = np.bincount(cell, truth[row] * amount, minlength=cells)
    used = np.unique(cell)
    tables = [
        Figures(np.array([truth.sum() + 4.0]), 5.0, everyone, np.zeros(candidates, np.int64), np.ones(candidates)),
        Figures(np.bincount(histogram, truth) + random.normal(0, 3, cells), 3.0, everyone, histogram, np.ones(candidates)),
        Figures((edges + random.normal(0, 8, cells))[used], 8.0, row, np.searchsorted(used, cell), amount),
    ]
    return tables, np.full(candidates, truth.mean())


def dense(tables: list[Figures], candidates: int) -> tuple[Floats, Floats]:
    """The problem as a matrix and a target, in units of noise."""
    blocks, targets = [], []
    for table in tables:
        block = np.zeros((len(table.target), candidates))
        np.add.at(block, (table.cell, table.candidate), table.amount / table.sd)
        blocks.append(block)
        targets.append(table.target / table.sd)
    return np.vstack(blocks), np.concatenate(targets)


def with_products(seed: int, candidates: int = 12) -> tuple[list[Figures | Products], list[Figures], Floats]:
    """The same problem with a table of products, and with that table as one of plain figures."""
    plain, prior = a_problem(seed, candidates)
    random = np.random.Generator(np.random.PCG64(seed))
    sets, kind = random.integers(0, 2, (5, 4)), random.integers(0, 5, candidates)
    usual, factor, target = random.random(4), random.random(5), random.normal(0, 40, 6)
    one, other = np.triu_indices(4, 1)
    columns = (sets - usual)[kind]
    amounts = columns[:, one] * columns[:, other] * factor[kind][:, None]
    row, cell = (some.ravel() for some in np.indices(amounts.shape))
    return (
        [*plain, Products(target, 6.0, kind, sets, usual, factor)],
        [*plain, Figures(target, 6.0, row, cell, amounts.ravel())],
        prior,
    )


def objective(weights: Floats, matrix: Floats, target: Floats, prior: Floats) -> float:
    divergence = (weights * np.log(weights / prior) - weights + prior).sum()
    return float(TAU * divergence + ((matrix @ weights - target) ** 2).sum() / 2)


@pytest.mark.parametrize("seed", range(6))
def test_the_weights_are_as_good_as_those_of_another_solver(seed: int) -> None:
    tables, prior = a_problem(seed)
    matrix, target = dense(tables, len(prior))

    def in_logs(logs: Floats) -> tuple[float, Floats]:
        weights = prior * np.exp(logs)
        return objective(weights, matrix, target, prior), weights * (TAU * logs + matrix.T @ (matrix @ weights - target))

    best = minimize(in_logs, np.zeros(len(prior)), jac=True, method="L-BFGS-B", bounds=[(-30, 8)] * len(prior))
    found = balance(tables, prior)
    assert (found >= 0).all()
    at_first = objective(prior, matrix, target, prior)
    assert objective(found, matrix, target, prior) <= best.fun + 0.01 * (at_first - best.fun)


def test_where_it_has_run_to_the_end_the_weights_are_the_same() -> None:
    tables, prior = a_problem(7)
    matrix, target = dense(tables, len(prior))
    found = balance(tables, prior, (3000, 1e-13))
    stationary = TAU * np.log(found / prior) + matrix.T @ (matrix @ found - target)
    assert np.abs(stationary).max() < 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_products_are_balanced_like_any_other_figures(seed: int) -> None:
    products, plain, prior = with_products(seed)
    assert balance([*products], prior, (3000, 1e-13)) == pytest.approx(balance([*plain], prior, (3000, 1e-13)), rel=1e-3)


def test_what_is_minimised_has_the_gradient_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    duals = []

    def heard(function: Callable[[Floats], tuple[float, Floats]], start: Floats, *_: float) -> Floats:
        duals.append(function)
        return start

    monkeypatch.setattr(balancing, "minimum", heard)
    tables, _, prior = with_products(2)
    balance(tables, prior)
    at = np.random.Generator(np.random.PCG64(1)).normal(0, 0.3, sum(len(table.target) for table in tables))
    _, gradient = duals[0](at)
    assert approx_fprime(at, lambda point: duals[0](point)[0]) == pytest.approx(gradient, rel=1e-3, abs=1e-2)


def test_figures_that_are_trusted_more_are_matched_more_closely() -> None:
    everyone, cells = np.arange(2), np.zeros(2, np.int64)
    for sure, unsure in ((1.0, 30.0), (30.0, 1.0)):
        tables = [
            Figures(np.array([100.0]), sure, everyone, cells, np.ones(2)),
            Figures(np.array([40.0]), unsure, everyone, cells, np.ones(2)),
        ]
        total = balance(tables, np.full(2, 10.0)).sum()
        assert abs(total - (100 if sure < unsure else 40)) < 3


def test_without_anything_to_correct_the_prior_stays() -> None:
    prior = np.array([3.0, 5.0, 2.0])
    table = Figures(np.array([8.0, 2.0]), 1.0, np.arange(3), np.array([0, 0, 1]), np.ones(3))
    assert balance([table], prior).tolist() == pytest.approx(prior.tolist())


def test_the_same_figures_give_the_same_weights_to_the_last_bit() -> None:
    tables, prior = a_problem(3, candidates=400, cells=40)
    assert balance(tables, prior).tobytes() == balance(tables, prior).tobytes()


def test_hopeless_targets_neither_overflow_nor_run_for_ever() -> None:
    everyone = np.arange(3)
    tables = [
        Figures(np.array([-1e6]), 1e-3, everyone, np.zeros(3, np.int64), np.ones(3)),
        Figures(np.array([1e9, -1e9]), 1e-3, everyone, np.array([0, 1, 1]), np.ones(3)),
    ]
    found = balance(tables, np.full(3, 1e-3))
    assert np.isfinite(found).all()
    assert (found >= 0).all()


def quartic(point: Floats) -> tuple[float, Floats]:
    """Smooth, convex, with very different curvatures."""
    stretch = np.array([1.0, 30.0, 900.0])
    off = point - np.array([1.0, -2.0, 3.0])
    return float((stretch * off**2).sum() + (off**4).sum()), 2 * stretch * off + 4 * off**3


def test_the_minimum_of_smooth_functions_is_found() -> None:
    assert approx_fprime(np.ones(3), lambda point: quartic(point)[0]) == pytest.approx(quartic(np.ones(3))[1], rel=1e-4, abs=1e-3)
    assert minimum(quartic, np.zeros(3), 80, 1e-14) == pytest.approx([1.0, -2.0, 3.0], abs=1e-4)
    narrow = minimum(lambda point: (float(rosen(point)), rosen_der(point)), np.array([-1.2, 1.0]), 2000, 1e-14)
    assert narrow == pytest.approx([1.0, 1.0], abs=1e-3)
