"""What ties the times of a case together is kept where it stands out from the noise, and nothing is tied that was not."""

from __future__ import annotations

import numpy as np
import pytest
from timed import MONDAY, Counting, counting, gaps, released, traces_of_engine

from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.engines.contract import Integers
from libra.eventlog.cases import Traces, traces_of
from libra.mechanisms.libra.times import durations, ties
from libra.mechanisms.libra.times.generate import Drawn, exchanged, generate_times, stretched
from libra.privacy.noise import NoisyTable

DAY, HOUR, MINUTE = tables.DAY, tables.HOUR, tables.MINUTE


def three_steps(n: int, tied: float, seed: int = 1) -> Counting:
    """Cases of three steps, each quick or slow; the next one is as quick as the one before with this probability, at least."""
    random = np.random.default_rng(seed)
    slow = random.random((n, 3)) < 0.4
    for step in (1, 2):
        slow[:, step] = np.where(random.random(n) < tied, slow[:, step - 1], slow[:, step])
    waits = np.where(slow, random.integers(2 * DAY, 9 * DAY, (n, 3)), random.integers(5 * MINUTE, 50 * MINUTE, (n, 3)))
    starts = MONDAY + random.integers(0, 300 * DAY, (n, 1))
    micros = np.cumsum(np.concatenate((starts, waits), axis=1), axis=1)
    return counting(np.tile(np.arange(4), n), micros.ravel(), np.full(n, 4), 4)


def correlations(micros: Integers, traces: Traces) -> list[float]:
    logs = np.log10(1 + gaps(micros, traces).reshape(-1, 3) / tables.SECOND)
    return [float(np.corrcoef(logs[:, step], logs[:, step + 1])[0, 1]) for step in (0, 1)]


@pytest.mark.parametrize("tied", [0.3, 0.8])
def test_slow_steps_follow_slow_ones_as_often_as_they_did(tied: float) -> None:
    engine = three_steps(4000, tied)
    traces = traces_of_engine(engine)
    original = correlations(engine.cases.micros, traces)
    found = [correlations(released(engine, 0.3, seed)[1], traces) for seed in range(3)]
    assert np.mean(found, axis=0) == pytest.approx(original, abs=0.12)


def test_quick_steps_that_follow_slow_ones_do_so_as_well() -> None:
    engine = three_steps(4000, 0.0)
    waits = gaps(engine.cases.micros, traces_of_engine(engine)).reshape(-1, 3)
    waits[:, 1] = np.where(waits[:, 0] > DAY, 10 * MINUTE, 5 * DAY)
    starts = engine.cases.micros[::4][:, None]
    micros = np.cumsum(np.concatenate((starts, waits), axis=1), axis=1).ravel()
    engine = counting(engine.cases.codes, micros, engine.cases.lengths, 4)
    found = correlations(released(engine, 0.3)[1], traces_of_engine(engine))
    assert found[0] < -0.8


def test_no_correlation_is_made_up() -> None:
    engine = three_steps(4000, 0.0)
    traces = traces_of_engine(engine)
    for mu in (0.03, 0.3):
        found = [correlations(released(engine, mu, seed)[1], traces) for seed in range(5)]
        assert np.abs(found).max() < 0.1


def test_a_log_in_parts_is_tied_like_a_whole_one() -> None:
    engine = three_steps(4000, 0.8)
    figures, _ = released(engine, 0.5)
    few = traces_of_engine(engine).take(np.arange(500))
    found = [correlations(generate_times(figures, few, 4, "UTC", Randomness(seed=seed)), few) for seed in range(5)]
    assert np.mean(found, axis=0) == pytest.approx(correlations(engine.cases.micros, traces_of_engine(engine)), abs=0.12)


def test_cases_last_as_long_as_those_that_took_the_same_path() -> None:
    """The same edges in both variants; only the whole case tells which of them is slow."""
    n, random = 3000, np.random.default_rng(1)
    paths = [[0, 1, 2, 0, 1, 3], [0, 1, 3]]
    traces = traces_of([paths[i % 2] for i in range(n)])
    per_case = np.where(np.arange(n) % 2, 100 * HOUR, 2 * HOUR)
    waits = (np.repeat(per_case, traces.lengths) * random.uniform(0.5, 1.5, len(traces.codes))).astype(np.int64)
    waits[traces.offsets[:-1]] = 0
    starts = MONDAY + random.integers(0, 100 * DAY, n)
    sums = np.cumsum(waits)
    micros = (
        sums - np.repeat(np.concatenate(([0], sums))[traces.offsets[:-1]], traces.lengths) + np.repeat(starts, traces.lengths)
    )
    engine = counting(traces.codes, micros, traces.lengths, 4)

    def medians(times: Integers) -> list[float]:
        lasts = times[traces.offsets[1:] - 1] - times[traces.offsets[:-1]]
        return [float(np.log10(np.median(lasts[i::2]) / HOUR)) for i in (0, 1)]

    figures, found = released(engine, 0.3)
    assert figures.grouped is not None
    assert medians(found) == pytest.approx(medians(micros), abs=0.25)


def test_a_timer_ends_when_its_time_is_up() -> None:
    n, random = 4000, np.random.default_rng(1)
    waits = np.where(random.random(n) < 0.7, 60 * DAY, random.integers(DAY, 59 * DAY, n))
    after = random.integers(MINUTE, 40 * DAY, n)
    starts = MONDAY + random.integers(0, 100 * DAY, n)
    engine = counting(
        np.tile([0, 1, 2], n), np.cumsum(np.stack((starts, waits, after), axis=1), axis=1).ravel(), np.full(n, 3), 3
    )
    _, micros = released(engine, 0.3)
    found = gaps(micros, traces_of_engine(engine)).reshape(-1, 2)[:, 0]
    assert np.mean(np.abs(found / (60 * DAY) - 1) < 0.05) == pytest.approx(0.7, abs=0.1)


def test_a_few_long_steps_of_a_frequent_edge_are_not_lost() -> None:
    n, random = 5000, np.random.default_rng(1)
    waits = np.where(random.random(n) < 0.1, random.integers(2 * DAY, 9 * DAY, n), random.integers(MINUTE, 9 * MINUTE, n))
    starts = MONDAY + random.integers(0, 100 * DAY, n)
    engine = counting(np.tile([0, 1], n), np.stack((starts, starts + waits), axis=1).ravel(), np.full(n, 2), 2)
    found = [gaps(released(engine, 0.2, seed)[1], traces_of_engine(engine)) for seed in range(3)]
    assert np.mean([(one > DAY).mean() for one in found]) == pytest.approx(0.1, abs=0.02)
    assert np.mean([one.mean() for one in found]) == pytest.approx(waits.mean(), rel=0.25)


def test_durations_change_hands_within_their_row_alone() -> None:
    random = np.random.default_rng(1)
    row, case = random.integers(0, 5, 3000), np.sort(random.integers(0, 700, 3000))
    drawn = random.exponential(1e9, 3000)
    wanted = random.exponential(5e9, 700)
    ascending = drawn[np.lexsort((drawn, row))]
    found = exchanged(Drawn(drawn, row, ascending, (drawn, drawn)), case, wanted)
    for one in range(5):
        assert np.sort(found[row == one]).tolist() == np.sort(drawn[row == one]).tolist()

    def error(some: np.typing.NDArray[np.float64]) -> float:
        return float(np.abs(np.log10(1 + np.bincount(case, some, minlength=700)) - np.log10(1 + wanted)).mean())

    assert error(found) < 0.6 * error(drawn)


def test_only_large_steps_that_are_no_timers_are_stretched() -> None:
    drawn, case = np.array([1.0, 50.0, 50.0, 100.0, 10.0]), np.array([0, 0, 0, 1, 1])
    timed = np.array([False, True, False, False, False])
    found = stretched(drawn, case, np.array([151.0, 55.0]), timed)
    assert found.tolist() == [1.0, 50.0, 100.0, 45.0, 10.0]


def test_pairs_are_asked_for_only_where_they_could_stand_out() -> None:
    steps = durations.steps_of(traces_of([[0, 1, 2], [0, 2, 1]]), 3)
    cells = tables.EdgeCells(3, (1, 2, 5, 7), (), (64,) * 5, (1, 2, 300, tables.FINE_BINS), (0,) * 20)
    shares = np.tile([0.0, 0.0, 0.5, 0.5], (5, 1))
    found = ties.slow_pairs(steps, np.array([900, 4]), cells, shares, mu=0.1)
    assert found is not None
    assert found.pairs == (1 * 3 + 2,)  # 0, 1, 2
    assert found.slow[0] == 300
    assert found.shares[0] == 32
    assert ties.uses_of(found, steps, np.array([900, 4])) == (900,)
    assert ties.slow_pairs(steps, np.array([900, 4]), cells, shares, mu=0.001) is None
    assert ties.slow_pairs(steps, np.array([900, 4]), cells, np.tile([0.0, 0.0, 0.0, 1.0], (5, 1)), mu=0.1) is None


def test_rows_of_totals_keep_to_their_cases_and_to_the_totals_of_all() -> None:
    parts = (0, 0, *(1,) * (tables.TOTAL_BINS - 2))
    size = tables.CaseDurationParts(parts).shape[0]
    shares = np.zeros(size)
    shares[[10, 40]] = 0.25, 0.75
    traces = traces_of([[0], [1], [0, 1, 2]])
    table = ties.grouped_totals(traces, np.array([600, 300, 100]), parts, shares, mu=0.5)
    assert table is not None
    counts = np.zeros(table.shape, np.int64)
    group = table.groups[10], table.groups[40]
    assert group[0] < group[1]
    rows = np.repeat(table.rows_of(traces), [600, 300, 100])
    for row, cases, quick in zip(table.rows_of(traces).tolist(), (600, 300, 100), (0, 200, 50), strict=True):
        counts[row, group[0]] += quick
        counts[row, group[1]] += cases - quick
    found = ties.row_shares(NoisyTable(counts, 1, 2.0), rows, np.full(1000, 40), table, shares)
    assert (found @ np.ones(size)) @ np.ones(len(found)) == pytest.approx(1000)
    assert found.sum(0)[[10, 40]] == pytest.approx([250, 750], rel=0.01)
    first, second = found[table.rows_of(traces)[:2]][:, 10]
    assert (first, second) == pytest.approx((0, 200), abs=12)
