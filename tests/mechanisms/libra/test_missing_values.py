"""How many values are missing: noise is believed only where it speaks against what is usual."""

from __future__ import annotations

import numpy as np
import pytest

from libra.mechanisms.libra.attributes.missing import believed_missing

N = 1000.0


def error_of(missing: np.ndarray, sd: float, seed: int, runs: int = 400) -> tuple[float, float]:
    """How far noisy numbers are off on average, and what is believed of them."""
    random, places, least = np.random.default_rng(seed), [None] * len(missing), np.zeros(len(missing))
    seen = missing + random.normal(0, sd, (runs, len(missing)))
    believed = np.array([believed_missing(row, np.full(len(missing), sd), least, N, places) for row in seen])
    return float(np.abs(np.maximum(seen, 0) - missing).mean()), float(np.abs(believed - missing).mean())


@pytest.mark.parametrize("usual", [0.0, 60.0, 300.0])
def test_many_attributes_of_one_form_are_known_much_better_than_each_by_itself(usual: float) -> None:
    alone, together = error_of(np.full(20, usual), 40.0, seed=1)
    assert together < 0.55 * alone


def test_an_attribute_that_is_missing_elsewhere_than_all_others_keeps_its_own_number() -> None:
    seen = np.array([*np.linspace(25, 75, 10), 600.0])
    found = believed_missing(seen, np.full(11, 20.0), np.zeros(11), N, [None] * 11)
    assert found[-1] == pytest.approx(600)
    assert found[:-1] == pytest.approx(np.full(10, 50.0), abs=12)


def test_where_all_attributes_differ_hardly_anything_is_lost() -> None:
    alone, together = error_of(np.linspace(0, 900, 16), 40.0, seed=3)
    assert together < 1.1 * alone


def test_an_attribute_by_itself_is_complete_unless_its_number_says_otherwise() -> None:
    for seen, believed in ((-25.0, 0.0), (10.0, 0.0), (150.0, 150.0)):
        (found,) = believed_missing(np.array([seen]), np.array([20.0]), np.zeros(1), N, [None])
        assert found == pytest.approx(believed, abs=5)


def test_places_are_kept_apart_and_cases_without_the_activity_are_missing_in_any_case() -> None:
    seen = np.array([210.0, 190.0, 205.0, 0.0])
    found = believed_missing(seen, np.full(4, 15.0), np.array([200.0, 200.0, 200.0, 0.0]), N, ["admit", "admit", "admit", None])
    assert found[:3] == pytest.approx(np.full(3, 200.0), abs=6)
    assert found[3] == pytest.approx(0.0, abs=3)


def test_a_number_is_never_below_what_must_be_missing_nor_above_all_cases() -> None:
    seen = np.array([-500.0, 5000.0, 40.0, 1e9])
    found = believed_missing(
        seen, np.array([1.0, 30.0, 1e6, 1e-3]), np.array([100.0, 100.0, 1000.0, 0.0]), N, ["a", "a", "b", None]
    )
    assert np.isfinite(found).all()
    assert (found >= [100, 100, 1000, 0]).all()
    assert (found <= N).all()
