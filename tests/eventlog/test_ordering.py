"""Sorting and looking up give exactly what NumPy gives, whatever the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from libra._system import ordering
from libra._system.ordering import Ladder, stable_order

N = 6000  # more than are left to NumPy


def numbers(kind: str, random: np.random.Generator) -> npt.NDArray[Any]:
    made: dict[str, npt.NDArray[Any]] = {
        "words": random.integers(0, 2**64, N, dtype=np.uint64),
        "whole numbers of all sizes": random.integers(-(2**63), 2**63 - 1, N),
        "few whole numbers": random.integers(-3, 3, N),
        "one number": np.full(N, -7),
        "moments in whole seconds": random.integers(0, 4 * 10**14, N) // 10**6 * 10**6,
        "words that differ in their lowest bits": random.integers(0, 4, N, dtype=np.uint64) * np.uint64(2**60)
        + random.integers(0, 9, N, dtype=np.uint64),
        "fractions of both signs": random.random(N) - 0.5,
        "many zeros": np.where(random.random(N) < 0.5, 0.0, random.exponential(1e12, N)),
        "zeros of both signs": np.where(random.random(N) < 0.5, 0.0, -0.0),
        "fractions that agree in many digits": 1 + random.integers(0, 50, N) * 2.0**-52,
        "all magnitudes": random.choice([-1.0, 1.0], N) * 10.0 ** random.integers(-300, 300, N),
    }
    return made[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "words",
        "whole numbers of all sizes",
        "few whole numbers",
        "one number",
        "moments in whole seconds",
        "words that differ in their lowest bits",
        "fractions of both signs",
        "many zeros",
        "zeros of both signs",
        "fractions that agree in many digits",
        "all magnitudes",
    ],
)
def test_equal_numbers_keep_their_order_and_all_others_ascend(kind: str) -> None:
    for seed in range(5):
        values = numbers(kind, np.random.default_rng(seed))
        assert np.array_equal(stable_order(values), np.argsort(values, kind="stable"))


def test_a_few_numbers_and_none_are_sorted_too() -> None:
    assert stable_order(np.array([3, 1, 3, 0])).tolist() == [3, 1, 0, 2]
    assert stable_order(np.zeros(0)).tolist() == []


@pytest.mark.parametrize("size", [1, 2, 7, 300, 5000])
@pytest.mark.parametrize("largest", [1e-9, 1.0, 1e12])
def test_values_are_found_where_a_binary_search_finds_them(size: int, largest: float) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        steps = np.sort(random.choice([random.random(size), random.integers(0, 3, size) / 3], axis=0)) * largest
        between = (random.random(2000) * 1.4 - 0.2) * largest
        values = np.concatenate((between, steps, np.nextafter(steps, -np.inf), np.nextafter(steps, np.inf)))
        assert np.array_equal(Ladder(steps).places(values), np.searchsorted(steps, values, side="right"))


def test_uneven_and_large_ladders_are_right_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    uneven = np.sort(np.concatenate((random.random(500) * 1e-6, random.random(500) * 1e6)))
    values = np.concatenate((random.random(3000) * 1e-6, random.random(3000) * 1e6))
    expected = np.searchsorted(uneven, values, side="right")
    assert np.array_equal(Ladder(uneven).places(values), expected)
    monkeypatch.setattr(ordering, "MOST_STEPS", 10)
    assert np.array_equal(Ladder(uneven).places(values), expected)


def test_nothing_is_above_no_step() -> None:
    assert Ladder(np.zeros(0)).places(np.linspace(0, 1, 500)).tolist() == [0] * 500
