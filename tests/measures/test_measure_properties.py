"""What holds for the measures of any two logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from libra.eventlog.log import EventLog
from libra.measures import measure
from libra.measures.distances import sort_grouped, wasserstein
from libra.measures.utility import IN_BOTH, OF_ATTRIBUTES, OF_INSTANCES, SHARES_KEPT

Case = tuple[int, Sequence[tuple[str, int]]]  # start in seconds, then each event's label and the seconds since the one before
START = datetime(2024, 5, 6, tzinfo=UTC)
SYMMETRIC = (
    "emd_freq",
    "emd_time",
    "dfg_tv",
    "variant_tv",
    "length_w1",
    "case_duration_w1_hours",
    "arrival_w1_days",
    "edge_time_share_l1",
    "path_eta2_difference",
    "pair_correlation_difference",
)
BOUNDED = ("dfg_tv", "variant_tv", "unseen_variant_share")


def log_of(cases: Sequence[Case]) -> EventLog:
    rows: list[tuple[int, str, datetime]] = []
    for i, (start, events) in enumerate(cases):
        now = START + timedelta(seconds=start)
        for label, seconds in events:
            now += timedelta(seconds=seconds)
            rows.append((i, label, now))
    schema: dict[str, pl.DataType] = {
        "@case": pl.UInt32(),
        "concept:name": pl.String(),
        "time:timestamp": pl.Datetime("us", "UTC"),
    }
    return EventLog(
        pl.DataFrame(rows, schema=schema, orient="row"),
        pl.DataFrame({"concept:name": [str(i) for i in range(len(cases))]}, schema={"concept:name": pl.String}),
    )


events = st.tuples(st.sampled_from("abcdé"), st.integers(-7200, 90_000))
cases = st.tuples(st.integers(0, 10_000_000), st.lists(events, min_size=1, max_size=6))
case_lists = st.lists(cases, max_size=8)
logs = case_lists.map(log_of)
OTHERS = ("empty", "attributes", "associations")
MAY_BE_NEGATIVE = (*OTHERS, *IN_BOTH, "cooccurrence_slope")
unhurried = settings(deadline=None)  # a busy machine is no failure
integers = st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=30)


@unhurried
@given(case_lists)
def test_equal_logs_are_at_distance_zero(some_cases: list[Case]) -> None:
    figures = measure(log_of(some_cases), log_of(some_cases)).to_dict()
    figures.pop("empty")
    shared = {figures.pop(name) for name in SHARES_KEPT}
    assert shared == ({1} if some_cases else {None})
    assert {figures.pop(name) for name in (*OF_INSTANCES, *OF_ATTRIBUTES, "overlaps")} == {None}
    assert figures.pop("attributes") == figures.pop("associations") == []
    assert all(both["original"] == both["anonymized"] for both in (figures.pop(name) for name in IN_BOTH))
    assert figures.pop("cooccurrence_slope") in (1, None)
    assert {figures.pop(name) for name in ("path_eta2_difference", "pair_correlation_difference")} <= {0, None}
    assert set(figures.values()) == {0}


@unhurried
@given(logs, logs)
def test_no_figure_is_negative_and_shares_stay_within_one(one: EventLog, other: EventLog) -> None:
    figures = measure(one, other).to_dict()
    assert all(value is None or value >= 0 for name, value in figures.items() if name not in MAY_BE_NEGATIVE)
    assert all(figures[name] <= 1 for name in BOUNDED)
    assert all(figures[name] is None or figures[name] <= 1 for name in SHARES_KEPT)


@unhurried
@given(logs, logs)
def test_json_holds_no_nan_and_no_infinity(one: EventLog, other: EventLog) -> None:
    json.dumps(measure(one, other).to_dict(), allow_nan=False)


@unhurried
@given(logs, logs)
def test_distances_are_symmetric_where_they_should_be(one: EventLog, other: EventLog) -> None:
    there, back = measure(one, other).to_dict(), measure(other, one).to_dict()
    assert {name: there[name] for name in SYMMETRIC} == pytest.approx({name: back[name] for name in SYMMETRIC})


@unhurried
@given(case_lists, logs, st.randoms())
def test_the_order_of_cases_does_not_matter(some_cases: list[Case], other: EventLog, rng: Random) -> None:
    shuffled = list(some_cases)
    rng.shuffle(shuffled)
    before, after = measure(log_of(some_cases), other).to_dict(), measure(log_of(shuffled), other).to_dict()
    assert [before.pop(name) for name in OTHERS] == [after.pop(name) for name in OTHERS]
    assert all(before.pop(name) == pytest.approx(after.pop(name)) for name in IN_BOTH)
    assert before == pytest.approx(after)


@unhurried
@given(logs, logs)
def test_the_papers_measures_agree_with_scipy(one: EventLog, other: EventLog) -> None:
    figures = measure(one, other)
    original, anonymized = _by_edge(one), _by_edge(other)
    edges = sorted({*original, *anonymized})
    if edges:
        for figure, column in ((figures.emd_freq, 0), (figures.emd_time, 1)):
            values = [[table.get(edge, (0, 0))[column] for edge in edges] for table in (original, anonymized)]
            assert figure == pytest.approx(wasserstein_distance(*values))


@unhurried
@given(case_lists, case_lists)
def test_shared_edges_agree_with_sets_of_pairs(one: list[Case], other: list[Case]) -> None:
    traces = [[("", *(label for label, _ in events), "") for _, events in some] for some in (one, other)]
    there, copied = (Counter(pair for trace in some for pair in pairwise(trace)) for some in traces)
    both, figures = set(there) & set(copied), measure(log_of(one), log_of(other))
    assert figures.edge_precision == (pytest.approx(len(both) / len(copied)) if copied else None)
    assert figures.edge_recall == (pytest.approx(len(both) / len(there)) if there else None)
    weighted = sum(there[edge] for edge in both) / max(sum(there.values()), 1)
    assert figures.edge_recall_weighted == (pytest.approx(weighted) if there else None)


@unhurried
@given(logs, logs)
def test_step_durations_agree_with_scipy_edge_by_edge(one: EventLog, other: EventLog) -> None:
    figures = measure(one, other)
    original, anonymized = _durations(one), _durations(other)
    if original:
        weights = [len(seconds) for seconds in original.values()]
        pairs = [(seconds, anonymized.get(edge, [0.0])) for edge, seconds in original.items()]
        hours = [wasserstein_distance(a, b) / 3600 for a, b in pairs]
        logs10 = [wasserstein_distance(*(np.log10(1 + np.clip(x, 0, None)) for x in pair)) for pair in pairs]
        assert figures.edge_duration_w1_hours == pytest.approx(np.average(hours, weights=weights), abs=1e-9)
        assert figures.edge_duration_w1_log == pytest.approx(np.average(logs10, weights=weights), abs=1e-9)


@unhurried
@given(integers, integers)
def test_wasserstein_agrees_with_scipy(one: list[int], other: list[int]) -> None:
    assert wasserstein(np.array(one), np.array(other)) == pytest.approx(wasserstein_distance(one, other))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32))
def test_many_groups_at_once_agree_with_scipy_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_groups = 300  # more than fit a byte
    group, other_group = rng.integers(0, n_groups, 2000), rng.integers(0, n_groups, 900)
    values, other_values = rng.integers(-50, 50, 2000), rng.integers(0, 90, 900)
    pair = sort_grouped(group, values, other_group, other_values, n_groups)
    for g, distance in enumerate(pair.distances(pair.values)):
        one, other = values[group == g], other_values[other_group == g]
        assert distance == pytest.approx(wasserstein_distance(*(x if len(x) else [0] for x in (one, other))))


def _durations(log: EventLog) -> dict[tuple[str, str], list[float]]:
    """Edge to its durations in seconds, the slow and plain way."""
    found: dict[tuple[str, str], list[float]] = {}
    rows = log.events.select("@case", "concept:name", "time:timestamp").rows()
    for (case, label, time), (next_case, next_label, next_time) in pairwise(rows):
        if case == next_case:
            found.setdefault((label, next_label), []).append((next_time - time).total_seconds())
    return found


def _by_edge(log: EventLog) -> dict[tuple[str, str], tuple[int, int]]:
    """Edge to its frequency and its sum of whole hours."""
    return {edge: (len(seconds), sum(int(s // 3600) for s in seconds)) for edge, seconds in _durations(log).items()}
