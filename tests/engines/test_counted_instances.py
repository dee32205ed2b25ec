"""Activity instances in the engines: a case is one sequence of starts and completions, whoever counts it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from adversarial_logs import REQUESTS, Released
from every_table import assert_same_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from some_engines import largest_square, square_norm

from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.engines.contract import CASE
from libra.engines.polars import LogInMemory, PolarsEngine, engine_of
from libra.engines.polars_streaming import StreamedLog, StreamingEngine, spill
from libra.engines.sequences import TRANSITIONS, both_forms, starts_among
from libra.eventlog.instances import SEPARATOR, started
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import InstanceMode, ReadOptions
from libra.eventlog.read import batches_of, read
from libra.mechanisms.libra.instances import mode_of
from libra.privacy.gate import Gate

START = 1_714_982_400_000_000  # a Monday of May 2024, in microseconds
MINUTE = 60_000_000
ACTIVITIES = ("admit", "treat")
Row = tuple[int, int, str | None, str | None, int]  # case, activity, transition, resource, minute

rows = st.tuples(
    st.integers(0, 3),
    st.integers(0, 1),
    st.sampled_from(("start", "START", "complete", "COMPLETE", "schedule", "odd \x1f+start", "+start", "++start", "++odd", None)),
    st.sampled_from(("ann", "bert", None)),
    st.integers(0, 6),
)


def events(some: list[Row]) -> pl.DataFrame:
    """Rows of start, complete and other events."""
    return pl.DataFrame(
        {
            "case:concept:name": [f"case {case}" for case, *_ in some],
            "concept:name": [ACTIVITIES[activity] for _, activity, *_ in some],
            "lifecycle:transition": pl.Series([row[2] for row in some], dtype=pl.String),
            "org:resource": pl.Series([row[3] for row in some], dtype=pl.String),
            "time:timestamp": pl.Series([START + row[4] * MINUTE for row in some]).cast(UTC_MICROSECONDS),
        }
    )


def mixed(some: list[Row]) -> pl.DataFrame:
    """Start and complete events, of which some say themselves when they started."""
    own = [START + (row[4] - 1) * MINUTE if row[3] == "bert" else None for row in some]
    return events(some).with_columns(pl.Series("start_timestamp", own, dtype=pl.Int64).cast(UTC_MICROSECONDS))


def with_starts(some: list[Row]) -> pl.DataFrame:
    """Rows that are instances, some of which start when they are completed, or later, or never."""
    shift = {"start": 2, "START": 0, "complete": -1}
    moved = [START + (row[4] - shift[row[2]]) * MINUTE if row[2] in shift else None for row in some]
    table = events(some).drop("lifecycle:transition")
    return table.with_columns(pl.Series("start_timestamp", moved, dtype=pl.Int64).cast(UTC_MICROSECONDS))


HOW: dict[str, tuple[InstanceMode, Callable[[list[Row]], pl.DataFrame]]] = {
    "pair": ("pair", events),
    "events": ("events", events),
    "complete": ("complete", events),
    "column": ("pair", with_starts),
    "mixed": ("pair", mixed),
}


def in_memory(source: Any, options: ReadOptions, labels: tuple[str, ...] | None = None) -> PolarsEngine:
    return LogInMemory(read(source, options)).engine(CASE, Randomness(seed=1), labels=labels)


def streamed(source: Any, options: ReadOptions, labels: tuple[str, ...] | None = None) -> StreamingEngine:
    return StreamedLog(batches_of(source, options)).engine(CASE, Randomness(seed=1), labels=labels)


def traces(engine: PolarsEngine) -> list[list[str]]:
    """The distinct sequences of cases."""
    return [[engine.labels[code] for code in trace] for trace in engine.traces.to_lists()]


def test_starts_and_completions_are_one_sequence_and_completions_of_a_moment_come_first() -> None:
    some = events([(0, 0, "start", None, 0), (0, 0, "complete", None, 5), (0, 1, "start", None, 5), (0, 1, "complete", None, 6)])
    engine = in_memory(some, ReadOptions())
    assert traces(engine) == [[started("admit"), "admit", started("treat"), "treat"]]
    assert engine.labels == both_forms(ACTIVITIES)


def test_an_activity_that_is_never_started_has_both_labels_so_that_no_case_decides_it() -> None:
    plain = events([(0, 0, "complete", None, 0)])
    assert in_memory(plain, ReadOptions(instances="pair")).labels == both_forms(["admit"])
    assert streamed(plain, ReadOptions(instances="pair")).labels == both_forms(["admit"])


@given(st.lists(rows, min_size=1, max_size=25), st.sampled_from(list(HOW)), st.data())
@settings(max_examples=25)
def test_one_case_moves_every_table_by_its_clip_at_most_and_by_the_same_in_any_company(
    some: list[Row], how: str, data: st.DataObject
) -> None:
    """From the rows of a file on: whatever is paired with what, one case is one sequence, and that of the others stays."""
    mode, make = HOW[how]
    options = ReadOptions(instances=mode, allow_empty=True)
    case = data.draw(st.sampled_from([row[0] for row in some]))
    others, own = [row for row in some if row[0] != case], [row for row in some if row[0] == case]
    whole, without, alone = (in_memory(make(part), options, ACTIVITIES) for part in (some, others, own))
    assert whole.labels == without.labels == alone.labels
    kept = [tuple(trace) for trace in whole.traces.to_lists()[:2]]
    for request in REQUESTS.values():
        table = data.draw(request(Released(len(whole.labels), kept)))
        change = whole.count(table) - without.count(table)
        assert square_norm(change) <= math.floor(largest_square(table)), table.purpose
        assert change.tolist() == alone.count(table).tolist(), table.purpose


@given(st.lists(rows, min_size=1, max_size=40), st.sampled_from(list(HOW)), st.integers(1, 9))
@settings(max_examples=12, deadline=None)
def test_streamed_instances_are_those_in_memory(some: list[Row], how: str, size: int) -> None:
    mode, make = HOW[how]
    options = ReadOptions(instances=mode, allow_empty=True)
    frame = make(some)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "DEALT", size)
        patch.setattr(spill, "HELD", 500)
        assert_same_tables(streamed(frame, options), in_memory(frame, options))
        assert_same_tables(streamed(frame, options, ("admit",)), in_memory(frame, options, ("admit",)))


def test_streamed_instances_of_a_public_log_are_those_in_memory(shared_logs: Path) -> None:
    log = shared_logs / "bpic12.xes.gz"
    assert_same_tables(streamed(log, ReadOptions()), in_memory(log, ReadOptions()))


def test_a_log_without_starts_is_counted_as_ever(read_public: ReadPublic) -> None:
    log = read_public("sepsis")
    one, other = LogInMemory(log).engine(CASE, Randomness(seed=1)), engine_of(log)
    assert one.labels == other.labels == tuple(log.activities)
    assert np.array_equal(one.cases.codes, other.cases.codes)


def test_labels_of_a_list_have_both_forms_or_the_transitions_of_the_standard() -> None:
    some = events([(0, 0, "start", None, 0), (0, 0, "Odd", None, 1), (0, 0, "COMPLETE", None, 2), (0, 1, "complete", None, 3)])
    assert in_memory(some, ReadOptions(), ("admit", "leave")).labels == both_forms(["admit", "leave"])
    single = in_memory(some, ReadOptions(instances="events"), ("admit",))
    assert len(single.labels) == len(TRANSITIONS) + 1
    assert traces(single) == [[f"admit{SEPARATOR}start", f"admit{SEPARATOR}complete"]]


def test_no_activity_is_taken_for_a_start() -> None:
    odd = events([(0, 0, "complete", None, 0)]).with_columns(pl.lit(f"admit{SEPARATOR}+start").alias("concept:name"))
    for engine in (in_memory(odd, ReadOptions()), streamed(odd, ReadOptions())):
        assert engine.labels == ("admit\ufffd+start",)


@pytest.mark.parametrize("transition", ["+start", "++start", "+++Start", "++", "\x1f+start", "+\x1f+start"])
def test_no_transition_is_taken_for_a_start(transition: str) -> None:
    """Or a single case would make all others instances."""
    alone: list[Row] = [(0, 0, transition, None, 0)]
    for some in (alone, [*alone, (1, 0, None, None, 0)]):
        for engine in (reader(events(some), ReadOptions(instances="events")) for reader in (in_memory, streamed)):
            assert mode_of(engine.labels) != "pair"
            assert (starts_among(engine.labels) < 0).all()


def test_simultaneous_starts_come_in_the_order_of_completion_whoever_counts() -> None:
    column = with_starts([(0, 0, "start", None, 4), (0, 1, "start", None, 3)]).with_columns(
        start_timestamp=pl.lit(START).cast(UTC_MICROSECONDS)
    )
    expected = [[started("treat"), started("admit"), "treat", "admit"]]
    assert traces(in_memory(column, ReadOptions())) == expected
    assert_same_tables(streamed(column, ReadOptions()), in_memory(column, ReadOptions()))


def test_one_case_that_says_when_it_started_leaves_those_of_others_to_be_paired() -> None:
    some: list[Row] = [(case, 0, kind, None, minute) for case in range(3) for kind, minute in (("start", 0), ("complete", 5))]
    table = mixed([*some, (3, 0, "complete", "bert", 5)])
    for part in (table, table[:-1]):
        assert traces(in_memory(part, ReadOptions(instances="pair"))) == [[started("admit"), "admit"]]
        assert_same_tables(streamed(part, ReadOptions(instances="pair")), in_memory(part, ReadOptions(instances="pair")))


def test_starts_say_nothing_for_labels_and_go_with_those_of_their_activities() -> None:
    """A case with the labels of two activities gives each 1 / sqrt(2), whether or not they are started."""
    some: list[tuple[int, int, str | None, str | None, int]] = [
        (case, activity, kind, None, 2 * activity) for case in range(4) for activity in range(2) for kind in ("start", None)
    ]
    started_log = events(some).with_columns(
        pl.when(pl.col("lifecycle:transition").is_null())
        .then(pl.col("time:timestamp").dt.offset_by("1m"))
        .otherwise("time:timestamp")
        .alias("time:timestamp")
    )
    gate = Gate(in_memory(started_log, ReadOptions()), Randomness(seed=1))
    assert gate.select_labels((), mu=1e6, threshold=1) == both_forms(ACTIVITIES)
    assert gate.select_labels((), mu=1e6, threshold=4 * 724) == both_forms(ACTIVITIES)  # 1,024 / sqrt(2)
    assert gate.select_labels((), mu=1e6, threshold=4 * 725 + 10) == ()
    assert len(gate.select_labels((), mu=1e6, threshold=1, most=2)) == 2
