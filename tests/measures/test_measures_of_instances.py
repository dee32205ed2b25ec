"""Service times, waiting times and overlaps: zero for equal logs, and what an independent computation gives."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import log10
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from libra.eventlog.log import EventLog, empty_log
from libra.measures import measure
from libra.measures.within_cases import Overlaps

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
Instance = tuple[int, str, int, int | None]  # case, activity, completion in minutes, how long before it started
instances = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 200), st.one_of(st.none(), st.integers(1, 90))),
    max_size=12,
)


def log_of(found: list[Instance]) -> EventLog:
    """A log of these instances."""
    numbers = {case: i for i, case in enumerate(sorted({one[0] for one in found}))}
    rows = sorted(((numbers[case], name, end, before) for case, name, end, before in found), key=lambda one: (one[0], one[2]))
    schema: dict[str, Any] = {"@case": pl.UInt32, "concept:name": pl.String, "time:timestamp": pl.Datetime("us", "UTC")}
    events = pl.DataFrame(
        [
            (case, name, NOON + timedelta(minutes=end), None if before is None else NOON + timedelta(minutes=end - before))
            for case, name, end, before in rows
        ],
        schema=schema | {"start_timestamp": pl.Datetime("us", "UTC")},
        orient="row",
    )
    cases = pl.DataFrame({"concept:name": [str(i) for i in range(len(numbers))]}, schema={"concept:name": pl.String})
    return EventLog(events, cases, instances="pair")


def slowly(log: EventLog) -> tuple[dict[str, list[float]], dict[tuple[str, str], list[float]], list[bool]]:
    """Service times by activity and waiting times by edge, on their scale, and for every step whether it overlaps."""
    service, waiting, overlap = defaultdict[str, list[float]](list), defaultdict[tuple[str, str], list[float]](list), list[bool]()
    rows = log.events.select("@case", "concept:name", "time:timestamp", "start_timestamp").rows()
    for _, name, end, start in rows:
        service[name].append(log10(1 + (end - (start or end)).total_seconds()))
    for (case, one, done, _), (other_case, other, end, start) in pairwise(rows):
        if case == other_case:
            wait = ((start or end) - done).total_seconds()
            waiting[one, other].append(log10(1 + max(wait, 0)))
            overlap.append(wait < 0)
    return service, waiting, overlap


def averaged(one: dict[object, list[float]], other: dict[object, list[float]]) -> float:
    size = sum(map(len, one.values()))
    apart = (len(found) * float(wasserstein_distance(found, other.get(key) or [0])) for key, found in one.items())
    return sum(apart) / max(size, 1)


@settings(max_examples=60)
@given(instances, instances)
def test_figures_are_those_of_a_loop(one: list[Instance], other: list[Instance]) -> None:
    original, anonymized = log_of(one), log_of(other)
    found = measure(original, anonymized)
    if all(before is None for *_, before in one):
        assert (found.service_time_w1_log, found.waiting_time_w1_log, found.overlap_share, found.overlaps) == (None,) * 4
        return
    (service, waiting, overlap), (others, other_waiting, other_overlap) = slowly(original), slowly(anonymized)
    assert found.service_time_w1_log == pytest.approx(averaged(service, others))  # type: ignore[arg-type]
    assert found.waiting_time_w1_log == pytest.approx(averaged(waiting, other_waiting))  # type: ignore[arg-type]
    shares = [sum(of) / max(len(of), 1) for of in (overlap, other_overlap)]
    assert found.overlaps is not None
    assert [found.overlaps.original, found.overlaps.anonymized] == pytest.approx(shares)
    assert found.overlap_share == pytest.approx(abs(shares[0] - shares[1]))
    same = measure(original, original)
    assert (same.service_time_w1_log, same.waiting_time_w1_log, same.overlap_share) == (0, 0, 0)


def test_a_log_that_lost_its_starts_takes_no_time() -> None:
    log = log_of([(0, "a", 10, 9), (0, "b", 15, 10)])
    without = replace(log, events=log.events.drop("start_timestamp"), instances=None)
    found = measure(log, without)
    assert found.service_time_w1_log == pytest.approx((log10(541) + log10(601)) / 2)
    assert found.overlaps == Overlaps(1, 0)
    assert measure(without, log).service_time_w1_log is None
    assert measure(log, empty_log(log)).overlap_share == 1


def test_a_case_begins_with_its_first_start() -> None:
    log = log_of([(0, "a", 10, 9), (0, "b", 15, None)])
    later = log_of([(0, "a", 10, 4), (0, "b", 15, None)])
    assert measure(log, later).case_duration_w1_hours == pytest.approx(5 / 60)
    assert measure(log, later).arrival_w1_days == pytest.approx(5 / 60 / 24)
