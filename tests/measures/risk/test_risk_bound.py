"""What a guarantee allows an attack: the formula, the worst case by enumeration, and whose promise it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from libra.measures.risk.membership import bound_of, of_differential_privacy, of_renyi


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_the_bound_of_differential_privacy_is_the_one_of_the_literature(epsilon: float, delta: float) -> None:
    expected = (math.exp(epsilon) - 1 + 2 * delta) / (math.exp(epsilon) + 1)
    assert of_differential_privacy(epsilon, delta) == pytest.approx(expected, abs=1e-12)


def test_a_huge_epsilon_allows_everything_and_nothing_breaks() -> None:
    assert of_differential_privacy(1e6, 1e-5) == 1
    assert of_renyi(2, 1e6) == pytest.approx(1)
    assert of_renyi(10, 0.0) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(("order", "divergence"), [(2, 0.011), (10, 0.145), (1.5, 0.3), (100, 0.64), (3, 2.0)])
def test_no_pair_of_answers_within_a_renyi_divergence_is_further_apart_than_the_bound(order: float, divergence: float) -> None:
    p, q = np.meshgrid(np.linspace(0.0005, 0.9995, 1000), np.linspace(0.0005, 0.9995, 1000))

    def renyi(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> Any:
        yes, no = ((order * np.log(a) + (1 - order) * np.log(b)) for a, b in ((one, other), (1 - one, 1 - other)))
        return np.logaddexp(yes, no) / (order - 1)

    allowed = (renyi(p, q) <= divergence) & (renyi(q, p) <= divergence)
    assert of_renyi(order, divergence) == pytest.approx(float((p - q)[allowed].max()), abs=0.003)
    assert of_renyi(order, divergence) > float((p - q)[allowed].max()) - 1e-12


def test_a_proved_guarantee_is_told_as_such_and_a_claim_as_claimed() -> None:
    proved = bound_of({"guarantee": {"kind": "proved", "epsilon": 1.0, "delta": 1e-5}})
    claimed = bound_of({"guarantee": {"kind": "claimed"}, "claimed": {"renyi_order": 10.0, "renyi_epsilon": 0.145}})
    assert proved is not None
    assert claimed is not None
    assert (proved.kind, round(proved.advantage, 3)) == ("proved", 0.462)
    assert (claimed.kind, round(claimed.advantage, 3)) == ("claimed", 0.104)
    assert "Renyi" in claimed.promise


def test_nothing_is_made_up_where_nothing_is_promised() -> None:
    assert bound_of({"guarantee": {"kind": "claimed"}, "claimed": None}) is None
    assert bound_of({"guarantee": {"kind": "claimed"}, "claimed": {"renyi_order": 10.0, "renyi_epsilon": None}}) is None
