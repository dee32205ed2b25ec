"""Private selection: the stated probability is the real one, the order tells nothing, and one case weighs at most one."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from libra._system.randomness import Randomness
from libra.eventlog.cases import Traces, traces_of
from libra.privacy import selection
from libra.privacy.selection import GaussianRule, highest_first, labels_passing, labels_show, variant_shows

Integers = NDArray[np.int64]


def silent(sd: float, n: int, random: Randomness) -> Integers:
    return np.zeros(n, np.int64)


@pytest.mark.parametrize(("mu", "threshold", "scale"), [(0.17, 23_000, 1024), (0.5, 9, 1), (2.0, 6_000, 1024)])
def test_the_probability_to_show_is_that_of_the_noise_and_never_too_small(mu: float, threshold: int, scale: int) -> None:
    with mpmath.workdps(40):
        boundary = (threshold - scale - mpmath.mpf(0.5)) / (mpmath.mpf(scale) / mpmath.mpf(mu))
        exact = mpmath.erfc(boundary / mpmath.sqrt(2)) / 2
        assert exact <= variant_shows(mu, threshold, scale) <= exact * (1 + 1e-10)


def select_variants(
    traces: Traces, counts: Integers, mu: float, threshold: int, scale: int, random: Randomness
) -> tuple[Traces, Integers]:
    rows, noisy = GaussianRule(mu, threshold, scale).passing(counts, random)
    return highest_first(traces.take(rows), noisy)


def test_variants_that_single_cases_have_show_as_often_as_stated() -> None:
    n, mu, threshold, scale = 200_000, 0.5, 6_500, 1024
    kept, noisy = select_variants(traces_of([[0]] * n), np.ones(n, np.int64), mu, threshold, scale, Randomness(seed=8))
    expected = n * variant_shows(mu, threshold, scale)
    assert abs(len(kept) - expected) < 5 * math.sqrt(expected)
    assert noisy.min() >= threshold


def test_labels_that_single_cases_have_show_as_often_as_stated() -> None:
    runs, labels, mu, threshold, scale = 3_000, 4, 0.5, 5_000, 1024
    weights, random = np.full(labels, scale // 2), Randomness(seed=9)
    shown = sum(len(labels_passing(weights, mu, threshold, scale, random)) > 0 for _ in range(runs))
    single = 1 - (1 - variant_shows(mu, threshold + scale // 2, scale)) ** labels  # a weight of one half
    assert single <= labels_show(mu, threshold, scale, labels)
    assert abs(shown - runs * single) < 5 * math.sqrt(runs * single)


def test_a_label_to_which_no_case_gives_weight_never_passes() -> None:
    assert labels_passing(np.array([0, 5, 0, 1]), 1.0, -(10**9), 1, Randomness(seed=1)).tolist() == [1, 3]


@given(st.permutations(range(6)))
def test_the_order_of_kept_variants_does_not_depend_on_that_of_the_cases(order: list[int]) -> None:
    lists = [[0, 1], [2], [1, 1, 1], [0], [3, 0], []]
    counts = np.array([50, 40, 40, 40, 1, 60])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "rounded_gaussian", silent)
        kept, noisy = select_variants(traces_of([lists[i] for i in order]), counts[order], 1.0, 30, 1, Randomness(seed=1))
    assert kept.to_lists() == [[], [0, 1], [0], [1, 1, 1], [2]]
    assert noisy.tolist() == [60, 50, 40, 40, 40]


def test_kept_variants_come_in_the_order_of_their_noisy_counts_not_of_the_true_ones() -> None:
    """The order leaves with the variants: that of the true counts would be one more release."""
    counts = np.arange(300, 400)
    kept, noisy = select_variants(traces_of([[code] for code in range(100)]), counts, 0.05, 1, 1, Randomness(seed=2))
    assert len(kept) == 100
    assert (np.diff(noisy) <= 0).all()
    in_order = counts[kept.codes]
    assert (np.diff(in_order) > 0).any(), "the case under test did not happen"
    assert np.std(noisy - in_order) == pytest.approx(20, rel=0.3), "counts stay with their variants"


def test_nothing_is_selected_from_nothing() -> None:
    none = np.zeros(0, np.int64)
    kept, noisy = select_variants(traces_of([]), none, 0.3, 10, 1, Randomness(seed=1))
    assert len(kept) == 0
    assert noisy.shape == (0,)
    assert labels_passing(none, 0.3, 10, 1, Randomness(seed=1)).tolist() == []


def test_a_higher_threshold_shows_less_and_more_labels_show_more() -> None:
    assert labels_show(0.2, 30_000, 1024, 8) > labels_show(0.2, 31_000, 1024, 8)
    assert labels_show(0.2, 30_000, 1024, 9) > labels_show(0.2, 30_000, 1024, 8)
    assert labels_show(0.2, -(10**9), 1024, 8) == pytest.approx(1)
