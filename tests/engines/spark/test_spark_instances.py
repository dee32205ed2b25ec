"""Spark counts the starts and completions of instances as the engine in memory does, and writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import libra
from libra.engines.sequences import both_forms
from libra.engines.spark.session import Spark
from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import InstanceMode, ReadOptions

from . import both_engines as both

MINUTE = 60_000_000


def events(cases: int = 60) -> pl.DataFrame:
    """Starts, completions and others, some of the same moment, some without what they belong to, by several resources."""
    rows = [
        (f"c{case}", activity, transition, resource, both.START + (case * 60 + minute) * MINUTE)
        for case in range(cases)
        for minute, activity, transition, resource in (
            (0, "register", "start", "ann"),
            (4 + case % 3, "register", "complete", "ann"),
            (5, "check", "schedule", None),
            (6, "check", "START", "bert"),
            (7, "check", "start", "ann"),
            (9, "check", "Complete", "ann"),
            (9 + case % 2, "check", "complete", "bert"),
            (9, "assess", "start", "ann"),
            (10, "assess", None if case % 5 else "complete", "ann"),
            (11, "archive", "complete", None),
            (12, "lost", "start" if case % 4 else " complete ", "bert"),
        )
    ]
    names = ["case:concept:name", "concept:name", "lifecycle:transition", "org:resource", "time:timestamp"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(pl.col("time:timestamp").cast(UTC_MICROSECONDS))


@pytest.mark.parametrize("mode", ["events", None])
def test_start_and_complete_events_have_the_same_tables(mode: InstanceMode | None, tmp_path: Path, spark: Spark) -> None:
    events().write_parquet(tmp_path / "log.parquet")
    engine = both.assert_same_log(tmp_path / "log.parquet", ReadOptions(instances=mode))
    assert any("+start" in label for label in engine.labels) == (mode is None)
    spark.forget()


def test_a_column_of_starts_has_the_same_tables(tmp_path: Path, spark: Spark) -> None:
    started = pl.col("time:timestamp").dt.offset_by("-2m")
    table = (
        events()
        .drop("lifecycle:transition")
        .with_columns(pl.when(pl.col("concept:name") != "archive").then(started).alias("start_timestamp"))
    )
    table.write_csv(tmp_path / "log.csv")
    engine = both.assert_same_log(tmp_path / "log.csv")
    assert engine.labels == both_forms(["archive", "assess", "check", "lost", "register"])
    spark.forget()


def test_events_that_say_themselves_when_they_started_have_the_same_tables(tmp_path: Path, spark: Spark) -> None:
    own = pl.when(pl.col("org:resource") == "ann").then(pl.col("time:timestamp").dt.offset_by("-1m"))
    odd = pl.when(pl.col("concept:name") == "lost").then(pl.lit("++start")).otherwise("lifecycle:transition")
    events().with_columns(own.alias("start_timestamp"), odd.alias("lifecycle:transition")).write_parquet(tmp_path / "log.parquet")
    for mode in ("pair", "events"):
        both.assert_same_log(tmp_path / "log.parquet", ReadOptions(instances=mode))
    spark.forget()


def test_released_instances_are_written_by_spark(tmp_path: Path, spark: Spark) -> None:
    events(300).write_parquet(tmp_path / "log.parquet")
    release = libra.anonymize(str(tmp_path / "log.parquet"), engine="spark", delta=1e-3, seed=1)
    assert release.log.instances == "pair"
    for ending in ("csv", "parquet"):
        release.write(tmp_path / f"out.{ending}")
        assert libra.read(tmp_path / f"out.{ending}").events.equals(release.log.events)
    spark.forget()


@pytest.mark.parametrize("start", ["n/a", "0001-01-01T00:00:00Z"])
def test_a_start_that_cannot_be_used_is_refused_as_in_memory(start: str, tmp_path: Path, spark: Spark) -> None:
    rows = ["case:concept:name,concept:name,start_timestamp,time:timestamp", f"d,A,{start},2024-01-01T08:00:00Z"]
    rows += [f"c{i},A,2024-01-01T07:00:00Z,2024-01-01T08:00:00Z" for i in range(10)]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    for engine in ("polars", "spark"):
        with pytest.raises(InputError, match=r"cannot be read|can be read|outside the years"):
            libra.anonymize(str(tmp_path / "log.csv"), engine=engine)
    spark.forget()


@pytest.mark.parametrize(("cases", "starting"), [(60, 1), (60, 9), (2000, 9)])
def test_few_starts_decide_nothing(cases: int, starting: int, tmp_path: Path, spark: Spark) -> None:
    few = pl.col("case:concept:name").str.slice(1).cast(pl.Int64) >= cases - starting
    table = events(cases).filter(few | (pl.col("lifecycle:transition").str.to_lowercase() != "start"))
    table.write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError, match=r"fewer than 10 cases .*Say --instances pair, complete or events"):
        libra.anonymize(str(tmp_path / "log.parquet"), engine="spark")
    spark.forget()


def test_all_cases_decide_not_those_in_the_sample(tmp_path: Path, spark: Spark) -> None:
    few = pl.col("case:concept:name").str.slice(1).cast(pl.Int64) >= 180
    table = events(200).filter(few | (pl.col("lifecycle:transition").str.to_lowercase() != "start"))
    table.write_parquet(tmp_path / "log.parquet")
    engine = both.assert_read_alike(tmp_path / "log.parquet")
    assert any("+start" in label for label in engine.labels)
    spark.forget()


def test_starts_that_are_dropped_decide_nothing(tmp_path: Path, spark: Spark) -> None:
    starts = pl.col("lifecycle:transition").str.to_lowercase() == "start"
    lost = pl.when(~starts).then("time:timestamp")
    table = events().with_columns(lost.alias("time:timestamp")).with_columns(pl.col("time:timestamp").dt.to_string("%+"))
    table.write_csv(tmp_path / "log.csv")
    engine = both.assert_read_alike(tmp_path / "log.csv", ReadOptions(drop_invalid=True))
    assert not any("+start" in label for label in engine.labels)
    spark.forget()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("start", [datetime(2024, 5, 6, tzinfo=UTC), " "])
def test_a_start_after_the_sample_is_refused(start: datetime | str, ending: str, tmp_path: Path, spark: Spark) -> None:
    """Blank text is no start."""
    kind = UTC_MICROSECONDS if isinstance(start, datetime) else pl.String()
    starts = pl.Series("start_timestamp", [*[None] * (11 * 100 - 1), start], kind)
    table = events(100).drop("lifecycle:transition").with_columns(starts)
    file = tmp_path / f"log.{ending}"
    table.write_csv(file) if ending == "csv" else table.write_parquet(file)
    if start == " ":
        both.assert_read_alike(file)
    else:
        with pytest.raises(InputError, match="here an event has a start timestamp, and none before it has"):
            libra.anonymize(str(file), engine="spark")
        assert libra.anonymize(str(file), engine="spark", instances="pair").guarantee.kind == "proved"
    spark.forget()


def test_separators_within_labels_are_replaced_as_in_memory(tmp_path: Path, spark: Spark) -> None:
    odd = pl.col("concept:name").str.replace("check", "che\x1fck")
    events().with_columns(odd).write_csv(tmp_path / "log.csv")
    for mode in ("pair", "events", "complete"):
        engine = both.assert_read_alike(tmp_path / "log.csv", ReadOptions(instances=mode))
        assert any(label.startswith("che\ufffdck") for label in engine.labels)
    spark.forget()


def test_a_column_of_instances_of_an_odd_type_is_read_or_refused(tmp_path: Path, spark: Spark) -> None:
    from datetime import date
    from decimal import Decimal

    rows = events(20)
    kinds = {"list": [1], "struct": {"a": 1}, "decimal": Decimal("1.50"), "date": date(2024, 1, 1), "binary": b"a", "bool": True}
    for kind, value in kinds.items():
        file = tmp_path / f"{kind}.parquet"
        rows.with_columns(pl.Series("concept:instance", [value] * rows.height)).write_parquet(file)
        if kind in ("list", "struct"):
            with pytest.raises(InputError, match=r'"concept:instance" is of the type .* Write it as text, or leave it out'):
                libra.anonymize(str(file), engine="spark")
        else:
            both.assert_read_alike(file)
    spark.forget()
