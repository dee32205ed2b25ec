"""The denoiser gives distributions, follows strong signals, falls back on what is expected, and does not invent a tail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.engines.time_tables import CaseDurationParts, total_bounds
from libra.mechanisms.libra.times.durations import overall_steps
from libra.mechanisms.libra.times.histogram import (
    UNKNOWN,
    Level,
    above,
    active_years,
    busy_spans,
    combined,
    denoise,
    last_bin,
    log_gamma,
    tree,
    years_standing_out,
)
from libra.mechanisms.libra.times.release import last_total, parts_of, total_histogram
from libra.privacy.noise import NoisyTable


def noisy(counts: np.typing.NDArray[np.int64], sd: float, seed: int = 1) -> NoisyTable:
    noise = np.rint(np.random.default_rng(seed).normal(0, sd, counts.shape)).astype(np.int64)
    return NoisyTable(counts + noise, 1, sd)


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8), min_size=1, max_size=5),
    st.floats(1e-3, 1e6),
    st.floats(0, 1e7),
    st.lists(st.sampled_from([0.0, 1e-9, 1.0, 5.0]), min_size=8, max_size=8).filter(any),
)
def test_shares_are_a_distribution_whatever_comes_in(
    rows: list[list[float]], sd: float, total: float, expected: list[float]
) -> None:
    values, wanted = np.array(rows), np.array(expected)
    shares = denoise(tree(values, sd**2), wanted, np.full(len(rows), total))
    assert (shares >= 0).all()
    assert np.allclose(shares.sum(1), 1)
    assert not shares[:, wanted == 0].any()


def test_counts_far_above_the_noise_are_kept() -> None:
    counts = np.array([[5000.0, 20, 0, 0, 900, 0, 0, 3000]])
    shares = denoise(tree(counts, 1.0), np.ones(8), counts.sum(1))
    assert np.abs(shares - counts / counts.sum()).max() < 0.003


def test_without_a_signal_rows_follow_what_is_expected() -> None:
    expected = np.array([0.5, 0.2, 0.2, 0.1])
    levels = tree(np.zeros((3, 4)), UNKNOWN)
    assert np.allclose(denoise(levels, expected, np.full(3, 100.0)), expected)


def test_denoising_brings_noisy_counts_nearer_to_the_truth() -> None:
    random = np.random.default_rng(3)
    truth = np.concatenate((np.linspace(100, 0, 16), np.zeros(16)))
    values = truth + random.normal(0, 25, (40, 32))
    shares = np.concatenate([denoise(tree(row[None], 625.0), np.ones(32), np.array([truth.sum()])) for row in values])
    naive = np.maximum(values, 0) / np.maximum(values, 0).sum(1, keepdims=True)
    target = truth / truth.sum()
    assert np.abs(shares - target).sum(1).mean() < 0.6 * np.abs(naive - target).sum(1).mean()


def test_many_rows_teach_each_other_to_be_all_or_nothing() -> None:
    random = np.random.default_rng(4)
    truth = np.where(random.integers(0, 2, (200, 1)) == 1, [[60.0, 0.0]], [[0.0, 60.0]])
    shares = denoise(tree(truth + random.normal(0, 20, truth.shape), 400.0), np.ones(2), np.full(200, 60.0))
    assert np.abs(shares - truth / 60).mean() < 0.05


def test_two_looks_at_a_count_weigh_by_precision_and_unknown_weighs_nothing() -> None:
    known, unknown = Level(np.array([[3.0]]), np.array([[2.0]])), Level(np.array([[99.0]]), np.array([[UNKNOWN]]))
    assert combined(known, unknown).values[0, 0] == pytest.approx(3.0)
    both = combined(known, Level(np.array([[5.0]]), np.array([[2.0]])))
    assert (both.values[0, 0], both.variances[0, 0]) == (4.0, 1.0)
    assert above(Level(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))).variances[0, 0] == 7.0


def test_a_false_year_is_as_good_as_never_taken_and_true_years_are() -> None:
    counts = np.zeros(131, np.int64)
    counts[[40, 41, 42]] = [400, 300, 80]
    taken = [active_years(noisy(counts, 25.0, seed)) for seed in range(300)]
    assert all({40, 41} <= set(years) for years in taken)
    assert all(set(years) <= {39, 40, 41, 42, 43} for years in taken)
    assert np.mean([set(years) <= {40, 41, 42} for years in taken]) > 0.98


def test_where_no_year_stands_out_the_highest_of_a_window_does_or_a_public_year_is_taken() -> None:
    counts = np.zeros(131, np.int64)
    counts[40:44] = 70
    taken = [active_years(noisy(counts, 20.0, seed)) for seed in range(200)]
    assert all(set(years) <= {30, 40, 41, 42, 43} for years in taken)
    assert np.mean([years == (30,) for years in taken]) < 0.2
    taken = [active_years(noisy(np.zeros(131, np.int64), 20.0, seed)) for seed in range(300)]
    assert all(years == (30,) for years in taken)
    assert not any(years_standing_out(noisy(np.zeros(131, np.int64), 20.0, seed)) for seed in range(300))


STARTS = {  # cases in years that follow each other, in standard deviations of their noise
    "none": (),
    "one year, hardly seen": (3.5,),
    "one year, seen half of the time": (4.5,),
    "five years, none seen by itself": (2.5,) * 5,
    "ten years": (3.0,) * 10,
    "every other year": (5.0, 0.0) * 6,
    "clear years": (20.0,) * 5,
}


def test_less_than_one_release_in_a_thousand_has_a_year_in_which_no_case_starts() -> None:
    random, draws, sd, false = np.random.default_rng(3), 3_000, 25.0, {}
    for name, starts in STARTS.items():
        counts = np.zeros(131)
        counts[40 : 40 + len(starts)] = sd * np.array(starts)
        tables = np.rint(counts + random.normal(0, sd, (draws, 131))).astype(np.int64)
        taken = (years_standing_out(NoisyTable(table, 1, sd)) for table in tables)
        false[name] = sum(bool((counts[list(years)] == 0).any()) for years in taken)
    assert max(false.values()) <= 6, false  # 3 are allowed on average
    assert sum(false.values()) <= 0.001 * draws * len(STARTS), false


def test_spans_at_the_ends_of_active_years_have_to_stand_out() -> None:
    counts = np.zeros(39, np.int64)
    counts[8:21] = 150
    for seed in range(100):
        busy = busy_spans((50, 51, 60), (noisy(counts, 18.0, seed).values / 18).reshape(3, 13))
        assert busy.ravel()[8:21].all()
    runs = [busy_spans((50, 51), (noisy(counts[:26], 18.0, seed).values / 18).reshape(2, 13)).ravel() for seed in range(200)]
    assert np.mean([each[:6].any() or each[23:].any() for each in runs]) < 0.2


def test_where_nothing_stands_out_no_case_lasts_for_years() -> None:
    lasts = [last_bin(noisy(np.zeros(45, np.int64), 15.0, seed).values / 15) for seed in range(200)]
    assert np.mean([last > 36 for last in lasts]) < 0.03


def test_bins_of_pure_noise_beyond_the_tail_are_not_believed() -> None:
    counts = np.zeros(45, np.int64)
    counts[10:30] = 200
    lasts = np.array([last_bin(noisy(counts, 15.0, seed).values / 15) for seed in range(300)])
    assert (lasts >= 29).all()
    assert np.mean(lasts > 33) < 0.03


def test_shares_of_durations_end_with_the_last_believed_bin() -> None:
    totals, steps = np.zeros(45, np.int64), np.zeros(88, np.int64)
    totals[20:30], steps[[0, 40, 50]] = 300, [9000, 4000, 2000]
    for seed in range(5):
        tables = {
            "steps": noisy(steps, 90.0, seed),
            "totals": noisy(totals, 20.0, seed + 2),
        }
        parts = parts_of(tables["totals"], 20.0)
        cut = np.concatenate([np.full(1 << part, count >> part) for count, part in zip(totals.tolist(), parts, strict=True)])
        tables["total_parts"] = noisy(cut, 20.0, seed + 3)
        end = last_total(tables, parts)
        assert end >= 29
        found = total_histogram(tables["totals"], tables["total_parts"], parts, end)
        assert found.shares.sum() == pytest.approx(1)
        assert not found.shares[found.bounds[:-1] >= total_bounds()[end + 1]].any()
        shares = overall_steps(tables["steps"], end)
        assert not shares[2 * end :].any()
        assert shares.sum() == pytest.approx(1)
        assert shares[0] == pytest.approx(0.6, abs=0.05)  # 9,000 of 15,000 steps


def test_bins_of_totals_are_cut_as_far_as_counts_allow_and_spikes_are_found() -> None:
    totals = np.zeros(45, np.int64)
    totals[30], totals[33] = 64_000, 40
    coarse = noisy(totals, 20.0)
    parts = parts_of(coarse, 20.0)
    assert parts[30] == 6
    assert max(parts[:30]) == 0
    assert parts[33] <= 1
    first = CaseDurationParts(parts).first_cells
    cut = np.zeros(first[-1], np.int64)
    cut[first[30] + 17], cut[first[33]] = 64_000, 40
    found = total_histogram(coarse, noisy(cut, 20.0, seed=2), parts, 33)
    assert found.shares[47] > 0.99
    assert found.bounds[48] / found.bounds[47] < 1.01


def test_rows_may_have_expectations_of_their_own() -> None:
    expected = np.array([[0.7, 0.3, 0.0, 0.0], [0.0, 0.1, 0.4, 0.5]])
    assert np.allclose(denoise(tree(np.zeros((2, 4)), UNKNOWN), expected, np.full(2, 100.0)), expected)
    seen = denoise(tree(np.array([[0.0, 90.0, 0.0, 0.0], [0.0, 90.0, 0.0, 0.0]]), 4.0), expected, np.full(2, 90.0))
    assert (seen[:, 1] > 0.9).all()
    assert not seen[expected == 0].any()


def test_the_gamma_function_is_that_of_the_standard_library() -> None:
    values = np.concatenate((np.geomspace(1e-9, 1e6, 200), np.arange(1.0, 20.0)))
    assert log_gamma(values).tolist() == pytest.approx([math.lgamma(value) for value in values.tolist()], rel=1e-8, abs=1e-8)
