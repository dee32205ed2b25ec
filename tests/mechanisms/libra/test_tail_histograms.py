"""Noisy histograms of the tail: where they end, their projection, and the clip they advise, against plain versions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import LENGTH_BINS, NORM_BINS
from libra.mechanisms.libra.tail.release import STANDS_OUT, WINDOWS, best_clip, last_bin, on_simplex
from libra.privacy.noise import NoisyTable, rounded_gaussian

histograms = st.lists(st.integers(-20, 60), min_size=1, max_size=40)


def last_bin_plainly(values: list[int], sd: float) -> int | None:
    for widest in WINDOWS:
        ends = [
            begin + width - 1
            for width in range(1, widest + 1)
            for begin in range(len(values) - width + 1)
            if sum(values[begin : begin + width]) >= STANDS_OUT * sd * math.sqrt(width) and values[begin + width - 1] > sd
        ]
        if ends:
            return max(ends)
    return None


@given(histograms, st.sampled_from((1.0, 3.5, 9.0)))
def test_a_histogram_ends_with_the_last_window_that_stands_out(values: list[int], sd: float) -> None:
    assert last_bin(NoisyTable(np.array(values), 1, sd)) == last_bin_plainly(values, sd)


def test_noise_alone_seldom_looks_like_something_and_a_clear_bin_always_does() -> None:
    noise = rounded_gaussian(8.0, 1500 * len(LENGTH_BINS), Randomness(seed=1)).reshape(1500, -1)
    false = [last_bin(NoisyTable(one, 1, 8.0)) for one in noise]
    assert sum(one is not None for one in false) < 0.02 * len(false)
    clear = noise[:200].copy()
    clear[:, 5] += 200
    ends = [last_bin(NoisyTable(one, 1, 8.0)) for one in clear]
    assert all(end is not None and 5 <= end <= 9 for end in ends[:190])
    assert np.mean([end == 5 for end in ends]) > 0.5


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.floats(0.01, 500))
def test_the_projection_satisfies_its_optimality_conditions(values: list[float], total: float) -> None:
    """A point of the simplex is the nearest one if and only if it is max(value - shift, 0) for one shift."""
    given_values = np.array(values)
    found = on_simplex(given_values, total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    positive = found > 0
    shift = (given_values - found)[positive]
    assert np.ptp(shift) <= 1e-9 * max(1.0, total, np.abs(given_values).max())
    assert (given_values[~positive] <= shift.max() + 1e-9).all()


@pytest.mark.parametrize("total", [0.0, -3.0])
def test_nothing_is_spread_where_there_is_nothing(total: float) -> None:
    assert on_simplex(np.array([3.0, -1.0]), total).tolist() == [0.0, 0.0]


@given(
    st.lists(st.floats(0, 500), min_size=1, max_size=len(NORM_BINS)),
    st.floats(1, 1000),
    st.floats(0.02, 3),
    st.sampled_from((0.5, 1.0, 2.0)),
)
def test_no_other_clip_loses_less_to_noise_and_cutting_off(norms: list[float], edges: float, mu: float, weight: float) -> None:
    chosen = best_clip(np.array(norms), edges, mu, weight)
    middles = [math.sqrt((left + right) / 2) for left, right in zip(NORM_BINS, [*NORM_BINS[1:], NORM_BINS[-1]], strict=True)]

    def lost(clip: float) -> float:
        noise = edges * math.sqrt(2 / math.pi) * clip / mu
        return noise + weight * sum(cases * max(middle - clip, 0) for cases, middle in zip(norms, middles, strict=False))

    others = [math.sqrt(end) for end in (*NORM_BINS[1:], 2 * NORM_BINS[-1]) if end >= 1]
    assert lost(chosen) <= min(lost(clip) for clip in others) * (1 + 1e-9)
    assert any(math.isclose(chosen, clip) for clip in others)
