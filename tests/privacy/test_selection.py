"""Private selection: the stated probability is the real one, the order tells nothing, and one case weighs at most one."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from libra.eventlog.traces import Traces, traces_of
from libra.privacy import selection
from libra.privacy.randomness import Randomness
from libra.privacy.selection import GaussianLabels, GaussianRule, highest_first, labels_show, variant_shows

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


def select_labels(
    case: Integers, label: Integers, mu: float, threshold: int, scale: int, most: int, random: Randomness
) -> Integers:
    rule = GaussianLabels(mu, threshold, scale, most)
    labels, weights = rule.weights(case, label, random)
    return labels[rule.passing(weights, random)]


def test_variants_that_single_cases_have_show_as_often_as_stated() -> None:
    n, mu, threshold, scale = 200_000, 0.5, 6_500, 1024
    kept, noisy = select_variants(traces_of([[0]] * n), np.ones(n, np.int64), mu, threshold, scale, Randomness(seed=8))
    expected = n * variant_shows(mu, threshold, scale)
    assert abs(len(kept) - expected) < 5 * math.sqrt(expected)
    assert noisy.min() >= threshold


def test_labels_that_single_cases_have_show_as_often_as_stated() -> None:
    runs, labels, mu, threshold, scale = 3_000, 4, 0.5, 5_000, 1024
    case, label = np.zeros(labels, np.int64), np.arange(labels)
    random = Randomness(seed=9)
    shown = sum(len(select_labels(case, label, mu, threshold, scale, labels, random)) > 0 for _ in range(runs))
    single = 1 - (1 - variant_shows(mu, threshold + scale // 2, scale)) ** labels  # a weight of one half
    assert single <= labels_show(mu, threshold, scale, labels)
    assert abs(shown - runs * single) < 5 * math.sqrt(runs * single)


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
    assert select_labels(none, none, 0.3, 10, 1, 4, Randomness(seed=1)).tolist() == []


@given(st.sets(st.integers(0, 30), min_size=1), st.integers(1, 12), st.sampled_from([1, 10, 1024]))
@settings(max_examples=100)
def test_one_case_adds_a_weight_of_at_most_one(labels: set[int], most: int, scale: int) -> None:
    """The sums are read off by thresholds: a label passes at a threshold up to its weight."""
    label = np.array(sorted(labels))
    case = np.zeros(len(label), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "rounded_gaussian", silent)
        m = min(len(label), most)
        weight = math.isqrt(scale * scale // m)
        passed = select_labels(case, label, 1.0, weight, scale, most, Randomness(seed=1))
        beyond = select_labels(case, label, 1.0, weight + 1, scale, most, Randomness(seed=1))
    assert m * weight * weight <= scale * scale
    assert len(beyond) == 0
    assert len(passed) == (m if weight else len(set(passed)))
    assert set(passed) <= labels


def test_a_case_of_too_many_labels_gives_all_of_them_the_same_chance() -> None:
    case, label = np.repeat(np.arange(4000), 10), np.tile(np.arange(10), 4000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "rounded_gaussian", silent)
        weight = math.isqrt(1024 * 1024 // 5)
        chosen = [
            len(select_labels(case, label, 1.0, int(weight * 2000 * share), 1024, 5, Randomness(seed=1))) for share in (0.9, 1.1)
        ]
    assert chosen == [10, 0]


def test_cases_of_few_labels_keep_them_all_beside_one_of_many() -> None:
    case = np.concatenate((np.repeat(np.arange(100), 2), np.full(20, 100)))
    label = np.concatenate((np.tile([0, 1], 100), np.arange(20)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "rounded_gaussian", silent)
        assert select_labels(case, label, 1.0, 100 * math.isqrt(512), 32, 4, Randomness(seed=1)).tolist() == [0, 1]


def test_a_higher_threshold_shows_less_and_more_labels_show_more() -> None:
    assert labels_show(0.2, 30_000, 1024, 8) > labels_show(0.2, 31_000, 1024, 8)
    assert labels_show(0.2, 30_000, 1024, 9) > labels_show(0.2, 30_000, 1024, 8)
    assert labels_show(0.2, -(10**9), 1024, 8) == pytest.approx(1)
