"""Attributes of events on Spark: the same values as in memory, in every mode, drawn once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import attribute_logs as logs
import numpy as np
import polars as pl
import pytest
from attribute_logs import OF_EVENTS, described
from every_table import assert_same_counts, attribute_tables, event_tables
from two_engines import weights_of

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, FINE, Unit
from libra.engines.polars import LogInMemory, PolarsEngine
from libra.engines.spark.engine import SparkEngine, open_log
from libra.engines.spark.session import Spark
from libra.eventlog.attributes import Attribute
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.privacy.selection import GaussianRule

from . import both_engines as both

WITH_INSTANCES = replace(logs.ROLES, lifecycle="lifecycle:transition")
EXACTLY = GaussianRule(1e9, 0, FINE, weighed=True)  # with noise that is rounded away
NOISILY = GaussianRule(0.5, -(10**9), FINE, weighed=True)


def engines(source: Path, options: ReadOptions, labels: tuple[str, ...] | None = None) -> tuple[SparkEngine, PolarsEngine]:
    asked: tuple[Any, ...] = (CASE, Randomness(seed=1), 1.0, labels, options.attributes)
    return open_log(str(source), options).engine(*asked), LogInMemory(read(source, options)).engine(*asked)


def chosen(engine: Any, number: int, rule: GaussianRule = EXACTLY, seed: int | None = 1) -> dict[int, int]:
    values, noisy = engine.select_event_values(number, rule, Randomness(seed))
    assert len(np.unique(values)) == len(values)
    return dict(zip(values.tolist(), noisy.tolist(), strict=True))


def test_a_log_made_to_hurt_has_the_same_values(tmp_path: Path, spark: Spark) -> None:
    logs.with_types(logs.with_events(logs.hurtful(giant=3_000))).write_parquet(tmp_path / "log.parquet", row_group_size=2_000)
    engine, memory = engines(tmp_path / "log.parquet", described(OF_EVENTS))
    assert engine.values == memory.values
    assert_same_counts(engine, memory, attribute_tables(memory))
    engine.__dict__["cases"] = engine.cases.repartition(3, "case")  # so that several shares have the same values
    for number in (0, 4):  # texts and dates
        assert chosen(engine, number) == weights_of(memory, number)
    noisy, again, other = (chosen(engine, 0, NOISILY, seed) for seed in (3, 3, None))
    assert noisy == again != other
    assert noisy.keys() == other.keys() == weights_of(memory, 0).keys()
    fewer = memory.labels[1:2]
    asked = event_tables(memory.with_labels(fewer))[-16:]  # of two attributes, in columns behind others
    assert_same_counts(engine.with_labels(fewer), memory.with_labels(fewer), asked)
    assert chosen(engine.with_labels(fewer), 0) == weights_of(memory.with_labels(fewer), 0)
    with pytest.raises(AssertionError, match="not of a tail"):
        chosen(engine.tail(memory.traces), 0)
    spark.forget()


@pytest.mark.parametrize("mode", ["pair", "events"])
def test_instances_of_listed_labels_have_the_same_values(mode: Any, tmp_path: Path, spark: Spark) -> None:
    """Of "events" no case has a value of its own, so that events of other labels are not even read."""
    logs.in_instances(logs.with_events(logs.hurtful(cases=150, giant=200))).write_csv(tmp_path / "log.csv")
    alone = tuple(one for one in OF_EVENTS if one.level == "event")
    options = described(OF_EVENTS if mode == "pair" else alone, WITH_INSTANCES, instances=mode)
    engine, memory = engines(tmp_path / "log.csv", options, ("a", "c", "nobody has it"))
    assert engine.values == memory.values
    assert_same_counts(engine, memory, attribute_tables(memory))
    assert chosen(engine, 0) == weights_of(memory, 0)
    spark.forget()


def test_events_keep_their_values_in_subsamples_and_among_the_cases_of_an_individual(tmp_path: Path, spark: Spark) -> None:
    n = 300
    rows = both.table_of([(f"{i // 3}", "aba"[i % 3], i) for i in range(n)])
    rows = rows.with_columns(pl.Series("number", np.arange(n)), pl.Series("who", [f"p{i // 3 % 20}" for i in range(n)]))
    rows = rows.with_columns(pl.format("t{}", pl.col("number") + 1_000).alias("text"))
    rows.write_parquet(tmp_path / "log.parquet")
    asked = (Attribute("number", "number", level="event"), Attribute("text", "category", level="event"))
    options = described(asked, replace(logs.ROLES, individual="who"))
    log = open_log(str(tmp_path / "log.parquet"), options)
    for unit, rate in ((Unit(2), 0.5), (CASE, 0.5)):
        engine = log.engine(unit, Randomness(seed=1), rate, ("a",), asked)
        found = engine.cases.toArrow()
        micros, values, texts = (
            found.column(name).combine_chunks().flatten().to_pylist() for name in ("micros", "value0", "value1")
        )
        assert micros == [both.START + value * logs.MINUTE for value in values]
        assert texts == [f"t{value + 1_000}" for value in values]
        assert engine.values[1] == tuple(sorted(texts))
        cases = np.unique(np.array(values) // 3)
        assert 0 < len(cases) < n / 4
        assert len(values) == 2 * len(cases)
        assert unit == CASE or np.bincount(cases % 20).max() <= 2
    spark.forget()


def test_resources_and_transitions_are_those_of_the_columns_that_play_these_roles(tmp_path: Path, spark: Spark) -> None:
    engine, memory = engines(logs.with_renamed_roles(tmp_path / "log.parquet"), logs.RENAMED)
    assert engine.values == memory.values == (("ann", "bert"), ("assign", "schedule"))
    assert_same_counts(engine, memory, event_tables(memory)[:4])
    spark.forget()
