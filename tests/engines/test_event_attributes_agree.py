"""Attributes of events: the engine for logs larger than memory has the same values as the one in memory, wherever they stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import attribute_logs as logs
import numpy as np
import polars as pl
import pytest
from attribute_logs import OF_EVENTS, described
from every_table import assert_same_counts, assert_same_tables, attribute_tables, event_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from two_engines import both, in_small_pieces, weights_of

import libra
from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.engines.attribute_tables import Coding
from libra.engines.contract import CASE, FINE, Unit
from libra.engines.control_flow_tables import MOST_LABELS
from libra.engines.event_tables import NOWHERE, EventCounts, OfEvents
from libra.engines.polars import PolarsEngine
from libra.engines.polars_streaming import StreamedLog, StreamingEngine
from libra.engines.polars_streaming.engine import narrowed, widened
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import MISSING
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.read import batches_of
from libra.eventlog.write import write

WITH_INSTANCES = replace(logs.ROLES, lifecycle="lifecycle:transition")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_pieces(monkeypatch)


def assert_same_weights(engine: Any, memory: PolarsEngine) -> None:
    """That cases say the same for every value of attributes of events."""
    for number in range(len(memory.cases.of_events)):
        assert weights_of(engine, number) == weights_of(memory, number)


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_a_log_made_to_hurt_has_the_same_values(form: str, tmp_path: Path) -> None:
    frame = logs.with_events(logs.hurtful(giant=20_000))
    source: Any = frame
    if form == "csv":
        source = tmp_path / "log.csv"
        frame.write_csv(source, quote_style="non_numeric")
    elif form == "parquet":
        source = tmp_path / "log.parquet"
        logs.with_types(frame).write_parquet(source, row_group_size=5_000)
    streamed, memory = both(source, described(OF_EVENTS, sort_by_time=form == "parquet"))
    assert_same_tables(streamed, memory)
    assert_same_weights(streamed, memory)
    _, grade, role, sign, *numbers = memory.values
    assert (grade, sign, set(numbers)) == (("A", "B", "b", "Ω"), ("high", "low"), {()})
    assert len(role) > 200
    assert set(memory.cases.of_events[-1].tolist()) == {MISSING}
    assert len(weights_of(memory, 0)) < len(role)  # of those that the giant has alone, a few count


@pytest.mark.parametrize("mode", ["pair", "complete", "events"])
@pytest.mark.parametrize("labels", [None, ("a", "c", "nobody has it")])
def test_instances_have_the_same_values_also_of_listed_labels(mode: Any, labels: tuple[str, ...] | None) -> None:
    frame = logs.in_instances(logs.with_events(logs.hurtful(giant=900)))
    options = described(OF_EVENTS, WITH_INSTANCES, instances=mode)
    streamed, memory = both(frame, options, labels=labels)
    assert streamed.values == memory.values
    assert_same_counts(streamed, memory, attribute_tables(memory))
    assert_same_weights(streamed, memory)
    fewer = memory.labels[1::2]
    assert_same_weights(streamed.with_labels(fewer), memory.with_labels(fewer))
    if labels is not None:  # without attributes of cases, events of other labels are not even kept
        alone = tuple(one for one in OF_EVENTS if one.level == "event")
        streamed, memory = both(frame, replace(options, attributes=alone), labels=labels)
        assert_same_counts(streamed, memory, event_tables(memory))
        assert_same_weights(streamed, memory)


@pytest.mark.parametrize("name", ["sepsis", "roadtraffic"])
def test_attributes_of_events_of_real_logs_agree(read_public: ReadPublic, tmp_path: Path, name: str) -> None:
    log = read_public(name)
    log = replace(log, events=log.events.filter(log.events["@case"] < 400), cases=log.cases[:400])
    file = tmp_path / f"{name}.xes"
    write(log, file)
    streamed, memory = both(file, libra.describe(file).options())
    assert memory.cases.of_events
    assert streamed.values == memory.values
    assert_same_counts(streamed, memory, attribute_tables(memory))
    assert_same_weights(streamed, memory)


@given(
    st.lists(logs.EVENT, min_size=1, max_size=20),
    st.sampled_from((None, "pair", "events")),
    st.none() | st.sets(st.sampled_from(("x", "y", "nobody has it")), min_size=1).map(lambda some: tuple(sorted(some))),
    st.sampled_from((CASE, Unit(4))),
    st.permutations(logs.SMALL),
)
@settings(max_examples=25)
def test_any_log_agrees(rows: list[Any], mode: Any, labels: Any, unit: Unit, asked: list[Attribute]) -> None:
    """Of individuals, who have no more cases than count, all cases count in both engines."""
    roles = replace(WITH_INSTANCES, individual="case:who")
    options = described(tuple(asked), roles, instances=mode, allow_empty=True)
    streamed, memory = both(logs.flat(rows), options, unit, labels)
    assert streamed.values == memory.values
    assert_same_counts(streamed, memory, attribute_tables(memory))
    assert_same_weights(streamed, memory)
    fewer = memory.labels[::2]
    assert_same_counts(streamed.with_labels(fewer), memory.with_labels(fewer), attribute_tables(memory.with_labels(fewer)))


@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_events_keep_their_values_in_subsamples_and_among_the_cases_of_an_individual(rate: float) -> None:
    """An event is known by its number, by its time, by its text, and by how much a counter grows at it, at its case."""
    n = 1_000
    frame = pl.DataFrame(
        {
            "case:concept:name": [f"c{i // 2}" for i in range(n)],
            "concept:name": [f"label {i % 7}" for i in range(n)],
            "time:timestamp": pl.Series(logs.START + np.arange(n) * logs.MINUTE, dtype=pl.Int64).cast(UTC_MICROSECONDS),
            "number": np.arange(n),
            "text": [f"t{i:04}" for i in range(n)],
            "counted": np.arange(n) // 2 + np.arange(n) % 2 * 5,
            "who": [f"p{i // 2 % 100}" for i in range(n)],
        }
    )
    asked = (
        Attribute("text", "category", level="event"),
        Attribute("number", "number", level="event"),
        Attribute("counted", "number", level="event", counter=True),
    )
    options = described(asked, replace(logs.ROLES, individual="who"))
    for labels in (None, tuple(f"label {i}" for i in range(6))):
        engine = StreamedLog(batches_of(frame, options)).engine(Unit(2), Randomness(seed=1), rate, labels, asked)
        if rate < 1:
            engine = engine.subsampled(0.5, Randomness(seed=2))
        blocks = list(engine.store.cases())
        text, number, counted = (np.concatenate([block.of_events[i] for block in blocks]) for i in range(3))
        assert np.array_equal(np.concatenate([block.micros for block in blocks]), logs.START + number * logs.MINUTE)
        assert [engine.values[0][place] for place in text] == [f"t{i:04}" for i in number]
        alone = np.concatenate([np.repeat(block.lengths == 1, block.lengths) for block in blocks])
        second = ~alone & (number % 2 == 1)
        assert np.array_equal(counted, np.where(second, 5, number // 2 + number % 2 * 5))
        assert 0 < len(np.unique(number // 2)) <= 200
        assert np.unique(np.unique(number // 2) % 100, return_counts=True)[1].max() <= 2


def test_one_case_more_changes_nobody_elses_values() -> None:
    """It comes first, so that its texts are seen first, has others between those of others, and words where all have numbers."""
    frame = logs.with_events(logs.hurtful(giant=20))
    added = frame[:9].with_columns(
        pl.lit("added").alias("case:concept:name"), pl.lit("ward 0").alias("case:ward"), pl.lit("b").alias("concept:name"),
        pl.Series("role", ["role 10", "a", "zzz", "role 8 ", "", None, "role 100a", "n/a", "role 1"]),
        pl.lit("none").alias("sign"), pl.lit(" ").alias("amount"), pl.lit(None, pl.String).alias("ok"),
    )  # fmt: skip
    of_events = [one for one in OF_EVENTS if one.level == "event"]
    for which in (0, 1):
        before, after, alone = (both(rows, described(OF_EVENTS))[which] for rows in (frame, pl.concat([added, frame]), added))
        for number, attribute in enumerate(of_events):
            private = attribute.kind == "category" and attribute.values is None
            old, new, own = (
                weights_of(engine, number, engine.values[2 + number] if private else ()) for engine in (before, after, alone)
            )
            changed = {value: weight - old.get(value, 0) for value, weight in new.items() if weight != old.get(value)}
            assert old.keys() <= new.keys()
            assert changed == own
            assert sum(weight**2 for weight in own.values()) <= FINE**2
        counts = []
        for engine in (before, after):
            rows = tuple(0 if label == "a" else NOWHERE for label in engine.labels)  # the added case has none of these
            atoms = tuple(map(engine.values[2].index, before.values[2][::40]))
            side = OfEvents(0, Coding(atoms), rows)
            counts.append(engine.count_all([EventCounts(side, 3.0)])[0].tolist())
        assert counts[0] == counts[1]


def test_a_case_of_thousands_of_values_gives_weight_to_a_few_and_shows_no_other() -> None:
    rows = [(i // 5_000, "x", i % 7, None, f"{i * 7919 % 10_000}", None, None, None, None, None) for i in range(10_000)]
    streamed, memory = both(logs.flat(rows), described(logs.SMALL))
    assert len(memory.values[1]) == 10_000
    for engine in (streamed, memory):
        weights = weights_of(engine, 0, engine.values[1])
        assert len(weights) == 2 * MOST_LABELS
        assert set(weights.values()) == {FINE // 8 - 1}
        assert weights.keys() >= {"0", f"{5_000 * 7919 % 10_000}"}  # the first of each


def test_of_a_tail_there_are_no_values() -> None:
    engine = both(logs.with_events(logs.hurtful(giant=20)), described(OF_EVENTS))[0]
    assert isinstance(engine, StreamingEngine)
    kept = next(engine.store.variants()).traces
    with pytest.raises(AssertionError, match="not of a tail"):
        weights_of(engine.tail(kept), 0)


@given(st.lists(st.sampled_from([b + d for p in (0, 7, 15, 31, 62) for b in (2**p, -(2**p)) for d in (-1, 0, 1)] + [MISSING])))
def test_values_in_few_bytes_are_the_same_values(values: list[int]) -> None:
    found = np.array(values, np.int64)
    assert np.array_equal(widened(narrowed(found)), found)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_resources_and_transitions_are_those_of_the_columns_that_play_these_roles(ending: str, tmp_path: Path) -> None:
    """They are described under the standard's names, whatever their columns are called."""
    file = logs.with_renamed_roles(tmp_path / f"log.{ending}")
    streamed, memory = both(file, logs.RENAMED)
    assert streamed.values == memory.values == (("ann", "bert"), ("assign", "schedule"))
    assert_same_counts(streamed, memory, event_tables(memory))
    assert_same_weights(streamed, memory)
