"""Attributes of cases on Spark: the same values as in memory, drawn once, and written with their types."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import attribute_logs as logs
import numpy as np
import polars as pl
import pytest
from attribute_logs import DECLARED, described
from every_table import assert_same_counts, attribute_tables

import libra
from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Unit
from libra.engines.polars import LogInMemory, PolarsEngine
from libra.engines.spark.engine import SparkEngine, open_log
from libra.engines.spark.session import Spark
from libra.engines.spark.writing import write_log
from libra.errors import InputError
from libra.eventlog.attributes import Attribute
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.eventlog.write import write
from libra.privacy.selection import GaussianRule
from libra.release import Release

from . import both_engines as both

ALL_PASS = GaussianRule(0.5, -(10**9), 1)
EXACTLY = GaussianRule(1e9, 0, 1)  # with noise that is rounded away


def engines(source: Path, options: ReadOptions, labels: tuple[str, ...] | None = None) -> tuple[SparkEngine, PolarsEngine]:
    """A log in both engines, with all attributes that are described."""
    asked: tuple[Any, ...] = (CASE, Randomness(seed=1), 1.0, labels, options.attributes)
    return open_log(str(source), options).engine(*asked), LogInMemory(read(source, options)).engine(*asked)


def values_of(engine: Any, number: int, seed: int | None = None) -> tuple[list[int], list[int]]:
    values, noisy = engine.select_values(number, EXACTLY, Randomness(seed))
    order = np.argsort(values)
    return values[order].tolist(), noisy[order].tolist()


@pytest.mark.parametrize("form", ["csv", "parquet", "sorted"])
def test_a_log_made_to_hurt_has_the_same_values(form: str, tmp_path: Path, spark: Spark) -> None:
    frame, file = logs.hurtful(giant=3_000), tmp_path / f"log.{'csv' if form == 'csv' else 'parquet'}"
    if form == "csv":
        frame.write_csv(file)
    else:
        logs.with_types(frame).write_parquet(file, row_group_size=2_000)
    both.assert_same_cases(*engines(file, described(sort_by_time=form == "sorted")))
    spark.forget()


def test_a_log_made_to_hurt_has_the_same_tables(tmp_path: Path, spark: Spark) -> None:
    logs.with_types(logs.hurtful(giant=3_000)).write_parquet(tmp_path / "log.parquet", row_group_size=2_000)
    engine, memory = engines(tmp_path / "log.parquet", described())
    both.assert_same_tables(engine, memory)
    for number in range(len(DECLARED)):
        assert values_of(engine, number) == values_of(memory, number)
    fewer = memory.labels[:1]
    assert values_of(engine.with_labels(fewer), 1) == values_of(memory.with_labels(fewer), 1)
    spark.forget()


@pytest.mark.parametrize("mode", ["pair", "events"])
def test_instances_have_the_same_values(mode: Any, tmp_path: Path, spark: Spark) -> None:
    logs.in_instances(logs.hurtful(giant=900)).write_parquet(tmp_path / "log.parquet")
    roles = replace(logs.ROLES, lifecycle="lifecycle:transition")
    both.assert_same_cases(*engines(tmp_path / "log.parquet", described(roles=roles, instances=mode)))
    spark.forget()


@pytest.mark.parametrize("mode", [None, "pair"])
def test_a_value_may_stand_on_an_event_of_a_label_that_is_not_listed(mode: Any, tmp_path: Path, spark: Spark) -> None:
    logs.in_instances(logs.hurtful(giant=900)).write_parquet(tmp_path / "log.parquet")
    roles = replace(logs.ROLES, lifecycle="lifecycle:transition")
    listed = ("a", "c", "nobody has it")
    both.assert_same_cases(*engines(tmp_path / "log.parquet", described(roles=roles, instances=mode), listed))
    spark.forget()


@pytest.mark.parametrize("name", ["sepsis", "roadtraffic"])
def test_attributes_of_real_logs_agree(name: str, read_public: ReadPublic, tmp_path: Path, spark: Spark) -> None:
    log = read_public(name)
    if name == "roadtraffic":
        log = replace(log, events=log.events.filter(log.events["@case"] < 3_000), cases=log.cases[:3_000])
    file = tmp_path / f"{name}.{'csv' if name == 'sepsis' else 'parquet'}"
    write(log, file)
    options = libra.describe(file).options()
    options = replace(options, attributes=tuple(one for one in options.attributes if one.level == "case"))
    engine, memory = engines(file, options)
    assert engine.values == memory.values
    assert_same_counts(engine, memory, attribute_tables(memory))
    spark.forget()


def test_thousands_of_values_are_drawn_once_each_and_again_alike(tmp_path: Path, spark: Spark) -> None:
    n = 5_000
    ids = pl.Series(np.arange(n)).cast(pl.String)
    rows = both.table_of([(f"{i}", "a", i) for i in range(n)]).with_columns(("v" + ids).alias("case:of"))
    rows.write_parquet(tmp_path / "log.parquet")
    engine, memory = engines(tmp_path / "log.parquet", described((Attribute("case:of", "category"),)))
    assert engine.values == memory.values
    values, noisy = engine.select_values(0, ALL_PASS, Randomness(seed=3))
    again = engine.select_values(0, ALL_PASS, Randomness(seed=3))
    assert dict(zip(values.tolist(), noisy.tolist(), strict=True)) == dict(zip(*map(np.ndarray.tolist, again), strict=True))
    assert sorted(values.tolist()) == list(range(n))
    assert abs((noisy - 1).std() - np.sqrt(4 + 1 / 12)) < 5 * 2 / np.sqrt(2 * n)
    other = engine.select_values(0, ALL_PASS, Randomness())
    assert sorted(other[0].tolist()) == list(range(n))
    spark.forget()


def test_cases_keep_their_values_in_subsamples_and_among_those_of_an_individual(tmp_path: Path, spark: Spark) -> None:
    n = 300
    rows = both.table_of([(f"{i}", "ab"[i % 2], i) for i in range(n)])
    rows = rows.with_columns(pl.Series("number", np.arange(n)), pl.Series("who", [f"p{i % 50}" for i in range(n)]))
    rows.write_parquet(tmp_path / "log.parquet")
    options = described((Attribute("number", "number"),), replace(logs.ROLES, individual="who"))
    log = open_log(str(tmp_path / "log.parquet"), options)
    for unit, rate in ((Unit(2), 1.0), (Unit(2), 0.5), (CASE, 0.5)):
        engine = log.engine(unit, Randomness(seed=1), rate, ("a",), options.attributes)
        found = engine.cases.toArrow()
        values = found.column("value0").to_numpy()
        micros = np.array([times[0] for times in found.column("micros").to_pylist()])
        assert np.array_equal(micros, both.START + values * logs.MINUTE)
        assert (values % 2 == 0).all()
        assert 0 < len(values) < n / 2
        assert unit == CASE or np.bincount(values % 50).max() <= 2
    spark.forget()


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, spark: Spark) -> None:
    frame, file = logs.hurtful(giant=20), tmp_path / "log.parquet"
    refused = {
        '"amount" is described as a number, and "much" is none': frame.with_columns(pl.lit("much").alias("amount")),
        '"case:ward" is described as an attribute of the case and changes': frame.with_columns(
            pl.Series("case:ward", [f"{i}" for i in range(frame.height)])
        ),
        'there is no column "case:ward"': frame.drop("case:ward"),
        'there is no column "grade"': frame.with_columns(pl.concat_list("grade").alias("grade")),
    }
    for told, rows in refused.items():
        rows.write_parquet(file)
        with pytest.raises(InputError, match=re.escape(told)) as caught:
            open_log(str(file), described()).engine(CASE, Randomness(), attributes=DECLARED).values  # noqa: B018
        assert str(caught.value).startswith(f"{file}: ")
        assert "\n" not in str(caught.value)
    spark.forget()


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, spark: Spark) -> Release:
    """A release with attributes, made on Spark."""
    file = tmp_path_factory.mktemp("attributes") / "log.parquet"
    logs.with_types(logs.hurtful(cases=2_000, giant=20, wards=3)).write_parquet(file)
    description = replace(libra.describe(file), attributes=DECLARED[:-1])
    return libra.anonymize(file, engine="spark", seed=3, delta=1e-3, epsilon=4.0, description=description, attributes="all")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_written_log_has_its_attributes_in_their_types(
    kind: Literal["parquet", "csv"], release: Release, tmp_path: Path, spark: Spark
) -> None:
    write_log(release.log, str(tmp_path / "out"), spark, kind)
    files = sorted((tmp_path / "out").glob(f"*.{kind}"))
    found = pl.concat([pl.read_parquet(file) if kind == "parquet" else libra.read(file).to_polars() for file in files])
    expected = release.log.to_polars()
    assert set(found.columns) >= {"case:ward", "case:sex", "case:urgent", "grade", "amount", "due"}
    assert found.select(expected.columns).equals(expected)
    if kind == "parquet":
        assert found.schema == expected.schema
