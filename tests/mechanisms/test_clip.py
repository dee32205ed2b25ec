"""Clipping: the threshold of the paper's Lemma 1, and exactly the cases whose variant reaches it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_cases import as_lists, cases_from

from libra.mechanisms.libra2022.steps import clip, clipping_threshold, largest_count
from libra.privacy.renyi import laplace_epsilon

ONE, OTHER, THIRD = [0, 1], [0, 1, 1], [2]


@pytest.mark.parametrize(
    ("alpha", "n_variants", "threshold"),
    [
        (10, 846, 33),  # sepsis
        (2, 846, 72),
        (2, 50, 57),  # urineweginfectie
        (10, 50, 27),
        (100, 50, 23),
        (2, 981, 72),  # hospital
        (10, 981, 34),
        (100, 981, 29),
    ],
)
def test_the_thresholds_of_the_public_logs(alpha: float, n_variants: int, threshold: int) -> None:
    assert clipping_threshold(laplace_epsilon(alpha, 2), 1e-3, n_variants) == threshold


@given(st.floats(0.01, 5), st.floats(1e-9, 0.9), st.integers(1, 10**6))
def test_the_threshold_is_the_nearest_whole_number_to_the_formula(epsilon: float, delta: float, k: int) -> None:
    assert abs(clipping_threshold(epsilon, delta, k) - math.log(2 * k / delta) / epsilon) <= 0.5


def test_a_log_without_variants_has_no_threshold() -> None:
    assert clipping_threshold(0.4, 1e-3, 0) == 0


def test_a_variant_stays_from_the_threshold_on() -> None:
    cases = cases_from([ONE] * 5 + [OTHER] * 4 + [THIRD] * 3)
    kept = {threshold: sorted(set(clip(cases, threshold).variant.tolist())) for threshold in range(7)}
    assert kept == {0: [0, 1, 2], 1: [0, 1, 2], 2: [0, 1, 2], 3: [0, 1, 2], 4: [0, 1], 5: [0], 6: []}


@given(st.lists(st.sampled_from([ONE, OTHER, THIRD]), max_size=20), st.integers(0, 12))
def test_cases_stay_whole_and_in_order(traces: list[list[int]], threshold: int) -> None:
    cases = cases_from(traces)
    kept = [case for case, trace in zip(as_lists(cases), traces, strict=True) if traces.count(trace) >= threshold]
    clipped = clip(cases, threshold)
    assert as_lists(clipped) == kept
    assert clipped.variant.tolist() == [cases.variant[traces.index(list(codes))] for codes, _ in kept]


def test_the_largest_count_is_the_last_threshold_that_keeps_something() -> None:
    cases = cases_from([ONE] * 2 + [OTHER] * 7 + [THIRD] * 3)
    assert largest_count(cases) == 7
    assert len(clip(cases, 7)) == 7
    assert len(clip(cases, 8)) == 0
    assert largest_count(cases.take(np.zeros(0, np.int64))) == 0
