"""Tables of edges and variants, against plain Python."""

from __future__ import annotations

import math
from statistics import fmean, median

import pytest
from logs_by_hand import HANDLING, RELEASED, log_of, steps, traces

from libra.example.simulate import simulate
from libra.measures import measure
from libra.reporting.facts.pair import Pair, sizes_of
from libra.reporting.facts.tables import LONGEST, MOST_UNSEEN, edge_table, top_variants

BOTH = Pair(log_of(HANDLING), log_of(RELEASED))


def plain_w1(one: list[float], other: list[float]) -> float:
    """The Wasserstein distance of two samples, by repeating each until both have the same size."""
    scaled = [sorted(math.log10(1 + max(value, 0)) for value in values) for values in (one, other)]
    size = math.lcm(len(one), len(other))
    first, second = ([value for value in values for _ in range(size // len(values))] for values in scaled)
    return fmean(abs(a - b) for a, b in zip(first, second, strict=True))


def test_edges_have_the_counts_and_times_of_both_logs() -> None:
    before, after = steps(HANDLING), steps(RELEASED)
    rows = edge_table(BOTH).rows
    assert {(row.source, row.target) for row in rows} == {*before, *after}
    for row in rows:
        old, new = before.get((row.source, row.target), []), after.get((row.source, row.target), [])
        assert (row.count_original, row.count_anonymized) == (len(old), len(new))
        assert row.mean_original == (pytest.approx(fmean(old)) if old else None)
        assert row.mean_anonymized == (pytest.approx(fmean(new)) if new else None)
        assert row.median_original == (pytest.approx(median(old)) if old else None)
        assert row.median_anonymized == (pytest.approx(median(new)) if new else None)
        assert row.w1_log == (pytest.approx(plain_w1(old, new)) if old and new else None)


def test_edges_come_by_the_counts_of_the_original_and_the_rest_is_counted() -> None:
    whole = edge_table(BOTH)
    counts = [row.count_original or 0 for row in whole.rows]
    assert counts == sorted(counts, reverse=True)
    cut = edge_table(BOTH, most=2)
    assert cut.rows == whole.rows[:2]
    assert cut.left_out == len(whole.rows) - 2
    assert cut.left_out_share == pytest.approx(sum(counts[2:]) / sum(counts))
    assert (whole.left_out, whole.left_out_share) == (0, 0)


def test_the_mean_distance_of_edges_is_that_of_measure() -> None:
    original, anonymized = simulate(cases=200), simulate(cases=150)
    rows = edge_table(Pair(original, anonymized)).rows
    shared = [row for row in rows if row.w1_log is not None]
    assert len(shared) > 10
    whole = sum(row.count_original or 0 for row in rows)
    lower = sum((row.w1_log or 0) * (row.count_original or 0) for row in shared) / whole
    assert lower <= (measure(original, anonymized).edge_duration_w1_log or 0) + 1e-12


def test_placeholders_are_not_timed() -> None:
    rows = edge_table(BOTH, has_times=False).rows
    assert all(row.mean_anonymized is row.median_anonymized is row.w1_log is None for row in rows)
    assert any(row.mean_original for row in rows)


def test_public_edges_come_by_the_counts_of_the_anonymized_log() -> None:
    rows = edge_table(Pair(None, log_of(RELEASED))).rows
    assert (rows[0].source, rows[0].target, rows[0].count_anonymized) == ("triage", "register", 2)
    assert all(row.count_original is row.mean_original is row.w1_log is None for row in rows)


def test_variants_have_their_cases_in_both_logs() -> None:
    before, after = traces(HANDLING), traces(RELEASED)
    found = top_variants(BOTH)
    assert {row.trace for row in found.rows} == {*before, *after}
    for row in found.rows:
        assert (row.original, row.anonymized, row.cut) == (before[row.trace], after[row.trace], 0)
    assert (found.variants_original, found.variants_anonymized) == (len(before), len(after))
    assert found.unseen_share == measure(log_of(HANDLING), log_of(RELEASED)).unseen_variant_share == 0.5
    assert found.lost_share == sum(times for trace, times in before.items() if trace not in after) / 5


def test_variants_come_by_the_original_and_then_some_that_it_never_has() -> None:
    made_up = [[("x", 0.0)] * length for length in range(1, 9) for _ in range(10 - length)]
    found = top_variants(Pair(log_of(HANDLING), log_of(made_up)), most=2)
    assert len(found.rows) == 2 + MOST_UNSEEN
    assert found.unseen_shown == MOST_UNSEEN
    assert [row.original for row in found.rows] == [2, 2, 0, 0, 0, 0, 0]
    assert [row.anonymized for row in found.rows] == [0, 0, 9, 8, 7, 6, 5]
    assert found.shown_share_original == pytest.approx(4 / 5)
    assert found.shown_share_anonymized == 0  # of the variants of the original; those that it never has are told apart
    assert (found.unseen_share, found.lost_share) == (1, 1)


def test_long_traces_are_cut_and_say_so() -> None:
    (row,) = top_variants(Pair(None, log_of([[(f"a{at}", at) for at in range(100)]]))).rows
    assert row.trace == tuple(f"a{at}" for at in range(LONGEST))
    assert row.cut == 100 - LONGEST


def test_public_variants_come_by_the_anonymized_log() -> None:
    found = top_variants(Pair(None, log_of(RELEASED)))
    assert found.rows[0].trace == ("triage", "register")
    assert [row.original for row in found.rows] == [None] * 3
    assert found.unseen_share is found.lost_share is found.variants_original is found.shown_share_original is None
    assert found.unseen_shown == 0
    assert found.shown_share_anonymized == 1


def test_sizes_are_those_of_the_log() -> None:
    found = sizes_of(log_of(HANDLING))
    assert (found.cases, found.events, found.activities) == (5, 14, 3)
    assert (found.edges, found.variants) == (len(steps(HANDLING)), len(traces(HANDLING)))
    assert found.start is not None
    assert found.end is not None
    assert (found.end - found.start).total_seconds() == 259200
    assert sizes_of(log_of([])).start is None
