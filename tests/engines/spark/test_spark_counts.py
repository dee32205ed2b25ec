"""Spark counts what the engine in memory counts: every table, on the public logs and on those that are made to hurt."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from agreement import ReadPublic
from libra._system.files import atomic_output
from libra._system.randomness import Randomness
from libra.engines.contract import CASE
from libra.engines.control_flow_tables import Size
from libra.engines.polars import engine_of as in_memory
from libra.engines.spark.engine import open_log
from libra.engines.spark.session import Spark
from libra.engines.time_tables import StartDays
from libra.errors import InputError, LibraError
from libra.eventlog.cases import traces_of
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import read
from libra.eventlog.tables.csv_write import write_csv
from libra.eventlog.tables.frames import write_parquet

from . import both_engines as both

LOGS = ("sepsis", "bpic12", "hospital", "roadtraffic")  # attributes, transitions, many labels, many cases; all eight are streamed
DROP = ReadOptions(drop_invalid=True)


@pytest.mark.parametrize("name", LOGS)
def test_public_logs_have_the_same_tables(name: str, read_public: ReadPublic, tmp_path: Path, spark: Spark) -> None:
    log, kind = read_public(name), "csv" if name == "sepsis" else "parquet"
    if name == "roadtraffic":  # a third of it has many cases too
        log = replace(log, events=log.events.filter(log.events["@case"] < 50_000), cases=log.cases[:50_000])
    file = tmp_path / f"{name}.{kind}"
    with atomic_output(file) as stream:
        if kind == "csv":
            write_csv(log, stream)
        else:
            write_parquet(log, stream)
    both.assert_same_log(file)
    spark.forget()


def test_a_log_made_to_hurt_has_the_same_tables(tmp_path: Path, spark: Spark) -> None:
    file = tmp_path / "öd [x] *.parquet"
    both.hurtful().write_parquet(file, row_group_size=9_000)
    engine = both.assert_same_log(file, DROP)
    assert "lost" not in engine.labels
    both.assert_same_log(file, ReadOptions(drop_invalid=True, sort_by_time=True))
    spark.forget()


def test_no_name_of_a_column_means_anything_to_spark(tmp_path: Path, spark: Spark) -> None:
    rows = both.table_of([(f"{i // 3}", "abc"[i % 3], i) for i in range(60)])
    names = dict(zip(rows.columns, ("^case$", "a.b", "`when`"), strict=True))
    rows = rows.rename(names).with_columns(pl.lit("x").alias("*"), pl.lit("y").alias("c0"))
    roles = RoleNames(case_id=("^case$",), activity=("a.b",), timestamp="`when`", individual="^case$")
    rows.write_parquet(tmp_path / "log.parquet")
    both.assert_read_alike(tmp_path / "log.parquet", ReadOptions(roles=roles))


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("1", "a", 0)], id="one event"),
        pytest.param([(f"{i % 7}", "a", i) for i in range(60)], id="one label"),
        pytest.param([], id="nothing"),
    ],
)
def test_tiny_logs_have_the_same_tables(
    rows: list[tuple[str | None, str | None, int | None]], tmp_path: Path, spark: Spark
) -> None:
    both.table_of(rows).write_parquet(tmp_path / "tiny.parquet")
    both.assert_same_log(tmp_path / "tiny.parquet", ReadOptions(allow_empty=True))


def test_tables_are_the_same_of_labels_that_are_given(tmp_path: Path, spark: Spark) -> None:
    both.hurtful().write_parquet(tmp_path / "log.parquet")
    chosen = ("Schritt 1 ✓", "b", "nobody has it", "z")
    spark_engine = open_log(str(tmp_path / "log.parquet"), DROP).engine(CASE, Randomness(), labels=chosen)
    both.assert_same_tables(spark_engine, in_memory(read(tmp_path / "log.parquet", DROP), labels=chosen))


def test_a_case_in_several_files_goes_on_from_file_to_file(tmp_path: Path, spark: Spark) -> None:
    """The names of files order what stands in them, whatever their size or age."""
    folder = tmp_path / "a log"
    folder.mkdir()
    whole = both.table_of([(f"{i % 3}", f"{i % 11}", 50 - i % 5) for i in range(400)])
    whole.write_parquet(tmp_path / "whole.parquet")
    for name, begin, end in (("c", 120, 400), ("a", 0, 100), ("b é", 100, 120)):
        whole[begin:end].write_parquet(folder / f"{name}.parquet")
    (folder / "_SUCCESS").touch()
    expected = in_memory(read(tmp_path / "whole.parquet", ReadOptions()))
    both.assert_same_cases(both.on_spark(str(folder)), expected)


def test_a_data_frame_is_ordered_by_time_whatever_the_zone_of_its_session(tmp_path: Path, spark: Spark) -> None:
    """Times without a zone stay what they are; one that a clock skips is among them."""
    rows = both.table_of([(f"{i % 5}", f"{i % 13:02}", i * i % 101) for i in range(300)])
    skipped = pl.col("time:timestamp").dt.replace_time_zone(None) - pl.duration(days=36, hours=6)
    naive = rows.with_columns(skipped).sort("case:concept:name", "time:timestamp", "concept:name")
    naive.sample(fraction=1.0, shuffle=True, seed=2).write_parquet(tmp_path / "log.parquet")
    zone = spark.session.conf.get("spark.sql.session.timeZone")
    spark.session.conf.set("spark.sql.session.timeZone", "Europe/Amsterdam")
    try:
        log = open_log(spark.session.read.parquet(str(tmp_path / "log.parquet")), ReadOptions())
        both.assert_same_cases(log.engine(CASE, Randomness()), in_memory(read(naive, ReadOptions())))
    finally:
        spark.session.conf.set("spark.sql.session.timeZone", zone or "UTC")
    assert not log.has_zone
    assert any("has no order" in note for note in log.notes)


def test_text_is_read_as_in_memory(tmp_path: Path, spark: Spark) -> None:
    """German dates with a time of day in a column of its own, ids in two columns, a formula that is none, quotes."""
    lines = ["Fall;Jahr;Schritt;Datum;Uhrzeit;Status"]
    for i in range(200):
        step, status = '"=Prüfen"' if i % 2 else '"sagt ""ja"""', "complete" if i % 5 else "start"
        lines.append(f"{i % 4};{i % 3};{step};{i % 28 + 1:02}.05.2024;{i % 24:02}:30;{status}")
    (tmp_path / "log.csv").write_text("\n".join(lines), encoding="utf-8")
    roles = RoleNames(case_id=("Fall", "Jahr"), activity=("Schritt",), lifecycle="Status")
    options = ReadOptions(roles=roles, lifecycle_keep=("Complete",))
    engine = both.assert_read_alike(tmp_path / "log.csv", options)
    assert engine.labels == ("=Prüfen", 'sagt "ja"')


def test_text_in_another_encoding_is_read_by_its_name_alone(tmp_path: Path, spark: Spark) -> None:
    file = tmp_path / "log.csv"
    file.write_text("case,activity,time\n1,Prüfung,2024-05-06T08:00:00\n1,Prufung,2024-05-06T09:00:00\n", encoding="iso-8859-1")
    with pytest.raises(InputError, match=r"some text is not in UTF-8\. Name the encoding with --encoding"):
        both.on_spark(str(file), DROP).count_all([Size()])
    assert both.assert_read_alike(file, ReadOptions(encoding="iso-8859-1")).labels == ("Prufung", "Prüfung")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ((None, "a", 0), "no case id. Fill it in, or drop such events with --drop-invalid."),
        (("1", " ", 0), "no activity. Fill it in, or drop such events with --drop-invalid."),
        (("1", "a", None), "an event has no timestamp that can be read. Give the format with --timestamp-format"),
        (("1", "a", -190_000_000), "a timestamp is outside the years 1678 to 2261"),
    ],
)
def test_events_that_cannot_be_used_are_an_error_in_one_line(
    row: tuple[str | None, str | None, int | None], told: str, tmp_path: Path, spark: Spark
) -> None:
    file = tmp_path / "log.parquet"
    both.table_of([("1", "a", 0), row]).write_parquet(file)
    with pytest.raises(InputError, match=re.escape(told)) as caught:
        both.on_spark(str(file)).count_all([Size()])
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)
    log = open_log(str(file), DROP)
    assert log.engine(CASE, Randomness()).count_all([Size()])[0].tolist() == [1]
    assert not re.search(r"\d", " ".join(log.notes))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("no/such.parquet", None, "there is no such file or table. Check the path"),
        ("no_such_table", None, "there is no such file or table. Name a file or folder"),
        ("log.xes", "<log/>", "Spark does not read XES. Convert it to Parquet first"),
        ("log.parquet", "case,activity", "this is not an intact Parquet file"),
        ("log.csv", "case,activity,time\n1,a,2024-05-06T08:00:00\n1,b\n", "Spark cannot read this as a table"),
        ("log.csv", "case,activity,time\n1,a,2024-05-06T08:00:00\n1,b,soon\n", "an event has no timestamp that can be read"),
        ("log.csv", "case,activity,time\n1,a,13/05/2024\n1,b,05/13/2024\n", "contradict each other"),
    ],
)
def test_no_stack_trace_reaches_anybody(name: str, content: str | None, told: str, tmp_path: Path, spark: Spark) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    source = str(tmp_path / name) if content is not None or "/" in name else name
    with pytest.raises(LibraError, match=re.escape(told)) as caught:
        both.on_spark(source).count_all([Size()])
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_tail_is_never_asked_about_times(tmp_path: Path, spark: Spark) -> None:
    both.table_of([("1", "a", 0)]).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(AssertionError, match="not about a tail"):
        both.on_spark(str(tmp_path / "log.parquet")).tail(traces_of([])).count_all([StartDays()])
