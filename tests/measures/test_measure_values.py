"""The measures on logs small enough to do by hand, on empty ones, and on the public logs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.measures import Baseline, measure
from libra.measures.utility import IN_BOTH, OF_ATTRIBUTES, OF_INSTANCES, SHARES_KEPT, WITHIN_CASES

START = datetime(2024, 5, 6, tzinfo=UTC)


def log_of(*traces: str, hours: float = 1.0, start: datetime = START) -> EventLog:
    """One case a word, one event a letter, an event every so many hours."""
    rows = [
        (i, letter, start + timedelta(hours=hours * position))
        for i, trace in enumerate(traces)
        for position, letter in enumerate(trace)
    ]
    return EventLog(
        pl.DataFrame(rows, schema=["@case", "concept:name", "time:timestamp"], orient="row"),
        pl.DataFrame({"concept:name": [f"case {i}" for i in range(len(traces))]}),
    )


def test_control_flow_by_hand() -> None:
    figures = measure(log_of("abc", "abc", "ac", "b"), log_of("abc", "acb"))
    # original: ab 2, bc 2, ac 1; anonymized: ab 1, bc 1, ac 1, cb 1
    assert figures.dfg_l1 == pytest.approx((1 + 1 + 0 + 1) / 5)
    assert figures.dfg_tv == pytest.approx((0.15 + 0.15 + 0.05 + 0.25) / 2)
    assert figures.variant_tv == pytest.approx((0 + 0.25 + 0.25 + 0.5) / 2)
    assert figures.unseen_variant_share == 0.5
    assert figures.emd_freq == pytest.approx((1 + 0 + 1 + 1) / 4)  # 0 1 2 2 against 1 1 1 1
    assert figures.length_w1 == pytest.approx(0.75)  # 1 2 3 3 against 3 3
    # and a 3, b 1 first, c 3, b 1 last in the original; a first, c, b last in the other
    assert figures.edge_precision == pytest.approx(6 / 7)
    assert figures.edge_recall == pytest.approx(6 / 7)
    assert figures.edge_recall_weighted == pytest.approx(12 / 13)


def test_swapped_labels_cost_nothing_in_the_papers_measure_and_everything_by_label() -> None:
    figures = measure(log_of("ab", "ab"), log_of("ba", "ba"))
    assert (figures.emd_freq, figures.dfg_l1, figures.dfg_tv, figures.variant_tv) == (0.0, 2.0, 1.0, 1.0)


def test_labels_match_by_name_whatever_their_codes() -> None:
    figures = measure(log_of("bc", "bc"), log_of("bc", "bc", "abc"))
    assert figures.dfg_tv == pytest.approx(0.25)
    assert figures.unseen_variant_share == pytest.approx(1 / 3)


def test_times_by_hand() -> None:
    figures = measure(log_of("abc", hours=2), log_of("abc", hours=5, start=START + timedelta(days=3)))
    assert figures.case_duration_w1_hours == pytest.approx(6)
    assert figures.edge_duration_w1_hours == pytest.approx(3)
    assert figures.edge_duration_w1_relative == pytest.approx(1.5)
    assert figures.arrival_w1_days == pytest.approx(3)


def test_hours_are_floored_step_by_step_before_they_are_summed() -> None:
    assert measure(log_of("ab", "ab", hours=1.9), log_of("ab", hours=0)).emd_time == 2
    assert measure(log_of("ab", hours=-0.5), log_of("ab", hours=0)).emd_time == 1


def test_an_edge_that_is_lacking_counts_as_taking_no_time() -> None:
    figures = measure(log_of("ab", "ab", "bc", hours=6), log_of("ab", hours=6))
    assert figures.edge_duration_w1_hours == pytest.approx(6 / 3)


def test_negative_durations_count_as_zero_on_the_log_scale_only() -> None:
    figures = measure(log_of("ab", hours=-3), log_of("ab", hours=0))
    assert figures.edge_duration_w1_hours == pytest.approx(3)
    assert figures.edge_duration_w1_relative == pytest.approx(1)
    assert figures.edge_duration_w1_log == 0


def test_an_empty_anonymized_log_scores_the_baseline(small_log: EventLog) -> None:
    figures = measure(small_log, empty_log(small_log))
    assert (figures.emd_freq, figures.emd_time) == (figures.empty.emd_freq, figures.empty.emd_time)
    assert (figures.dfg_l1, figures.dfg_tv, figures.variant_tv, figures.unseen_variant_share) == (1, 1, 1, 0)
    assert figures.length_w1 == pytest.approx(8 / 3)
    assert figures.edge_duration_w1_relative == pytest.approx(1)
    assert figures.arrival_w1_days is None
    assert (figures.edge_precision, figures.edge_recall, figures.edge_recall_weighted) == (None, 0, 0)


def test_an_empty_original_leaves_shares_of_it_undefined(small_log: EventLog) -> None:
    figures = measure(empty_log(small_log), small_log)
    assert figures.dfg_l1 is None
    assert figures.edge_duration_w1_hours is figures.edge_duration_w1_log is figures.edge_duration_w1_relative is None
    assert (figures.dfg_tv, figures.variant_tv, figures.unseen_variant_share) == (1, 1, 1)
    assert (figures.edge_precision, figures.edge_recall, figures.edge_recall_weighted) == (0, None, None)


def test_a_relative_duration_needs_an_original_that_takes_time() -> None:
    assert measure(log_of("ab", hours=0), log_of("ab", hours=1)).edge_duration_w1_relative is None


def test_two_empty_logs_are_equal(small_log: EventLog) -> None:
    nothing = empty_log(small_log)
    figures = measure(nothing, nothing)
    assert figures.empty == Baseline(0, 0)
    distances = figures.to_dict()
    assert {distances.pop(name) for name in (*SHARES_KEPT, *OF_INSTANCES, *OF_ATTRIBUTES, "overlaps")} == {None}
    assert distances.pop("attributes") == distances.pop("associations") == []
    assert distances.pop("empty")
    assert [distances.pop(name) for name in IN_BOTH] == [{"original": None, "anonymized": None}] * 2
    assert {distances.pop(name) for name in WITHIN_CASES if name not in IN_BOTH} == {None}
    assert set(distances.values()) == {0}


@pytest.mark.parametrize(
    ("name", "emd_freq", "emd_time"),
    [
        ("urineweginfectie", 354.9, 68_343),
        ("sepsis", 123.2, 6_218),
        ("bpic13", 5_270.8, 197_758),
        ("bpic12", 1_097.2, 19_383),
    ],
)
def test_an_empty_log_scores_what_the_paper_implies(shared_logs: Path, name: str, emd_freq: float, emd_time: float) -> None:
    complete_only = ReadOptions(lifecycle_keep=("complete",) if name == "bpic12" else ())
    log = read(shared_logs / f"{name}.xes.gz", complete_only)
    figures = measure(log, empty_log(log))
    assert figures.emd_freq == pytest.approx(emd_freq, abs=0.05)
    assert figures.emd_time == pytest.approx(emd_time, abs=0.5)
    itself = measure(log, log).to_dict()
    assert itself.pop("empty") == {"emd_freq": figures.emd_freq, "emd_time": figures.emd_time}
    assert {itself.pop(name) for name in SHARES_KEPT} == {1}
    assert {itself.pop(name) for name in (*OF_INSTANCES, "overlaps")} == {None}
    assert {one["tv"] for one in itself.pop("attributes")} <= {0}
    assert all(one["original"] == one["anonymized"] for one in itself.pop("associations"))
    assert {itself.pop(name) for name in OF_ATTRIBUTES} <= {0, None}
    assert all(both["original"] == both["anonymized"] is not None for both in (itself.pop(name) for name in IN_BOTH))
    assert itself.pop("cooccurrence_slope") in (1, None)
    assert set(itself.values()) == {0}
