"""Text that Spark would read as something else than it is gets refused, and no two things become the same text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Unit
from libra.engines.control_flow_tables import Size
from libra.engines.spark.engine import open_log
from libra.engines.spark.session import Spark
from libra.errors import InputError
from libra.eventlog.options import ReadOptions, RoleNames

from . import both_engines as both

HEADER = "case,activity,time\n"
ROW = "1,a,2024-05-06T08:00:00\n"
FORGED = '1,"x,2024-05-06T08:00:00\n2,y",2024-05-06T08:00:00\n'  # one label with a line break, or events of two cases


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            [HEADER + ROW, "activity,case,time\na,1,2024-05-06T08:00:00\n"],
            "the files of this folder have different headers. Give",
        ),
        ([HEADER + ROW, "case,time,activity,more\n"], "the files of this folder have different headers. Give"),
        ([HEADER + ROW + FORGED], "some quoted field contains a line break, which Spark cannot read. Convert it to Parquet"),
        ([HEADER + ROW * 300 + FORGED], "some quoted field contains a line break, which Spark cannot read. Convert it to"),
    ],
)
def test_lines_that_are_not_what_they_seem_are_refused(files: list[str], told: str, tmp_path: Path, spark: Spark) -> None:
    for number, text in enumerate(files):
        (tmp_path / f"{number}.csv").write_text(text)
    with pytest.raises(InputError, match=re.escape(told)) as caught:
        both.on_spark(str(tmp_path)).count_all([Size()])
    assert str(caught.value).startswith(f"{tmp_path}: ")
    assert "\n" not in str(caught.value)


def test_headers_that_say_the_same_are_the_same(tmp_path: Path, spark: Spark) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("\ufeff\n" + HEADER + ROW, encoding="utf-8")
    (folder / "b.csv").write_text('"case","activity","time"\r\n' + ROW * 2)
    (folder / "c.csv").touch()
    assert both.on_spark(str(folder)).count_all([Size()])[0].tolist() == [1]


def test_quotes_after_the_first_lines_enclose_fields(tmp_path: Path, spark: Spark) -> None:
    (tmp_path / "log.csv").write_text(HEADER + ROW * 300 + ROW.replace("a", '"a, ""b"""'))
    assert both.assert_read_alike(tmp_path / "log.csv").labels == ("a", 'a, "b"')
    (tmp_path / "inches.csv").write_text(HEADER + ROW + ROW.replace("a", '5" pipe'))
    assert both.assert_read_alike(tmp_path / "inches.csv").labels == ('5" pipe', "a")


def test_a_header_is_read_in_the_encoding_that_was_named(tmp_path: Path, spark: Spark) -> None:
    (tmp_path / "log.csv").write_text("Fall,Tätigkeit,Zeit\n" + ROW, encoding="iso-8859-1")
    roles = RoleNames(case_id=("Fall",), activity=("Tätigkeit",), timestamp="Zeit")
    both.assert_read_alike(tmp_path / "log.csv", ReadOptions(roles=roles, encoding="iso-8859-1"))
    with pytest.raises(InputError, match='there is no encoding "klingon"'):
        both.on_spark(str(tmp_path / "log.csv"), ReadOptions(encoding="klingon"))


@pytest.mark.parametrize("spoilt", ["case", "activity", "who"])
def test_bytes_that_are_no_text_are_refused_also_where_an_encoding_was_named(spoilt: str, tmp_path: Path, spark: Spark) -> None:
    row = {"case": b"1", "activity": b"a", "time": b"2024-05-06T08:00:00", "who": b"ann"}
    lines = [
        b",".join(name.encode() for name in row),
        b",".join(row.values()),
        b",".join((row | {spoilt: b"M\xfcller"}).values()),
    ]
    (tmp_path / "log.csv").write_bytes(b"\n".join(lines))
    named, not_named = ("UTF-8", "not in the encoding that was named"), (None, "not in UTF-8. Name the encoding")
    for (encoding, told), unit in ((named, CASE), (not_named, Unit(most_cases=1))):
        options = ReadOptions(roles=RoleNames(individual="who"), encoding=encoding, drop_invalid=True)
        with pytest.raises(InputError, match=re.escape(told)):
            open_log(str(tmp_path / "log.csv"), options).engine(unit, Randomness()).count_all([Size()])


def test_two_moments_or_numbers_are_never_one_id(spark: Spark) -> None:
    """An hour that a clock shows twice, and floats beyond 64 bits, under the strict rules of Spark."""
    hours = [datetime(2024, 10, 27, hour, 30, tzinfo=UTC) for hour in (0, 1)]
    numbers = [1e300, 2.0**63, -(2.0**63), 2.0**62, 3.0, 0.5]
    settings = {"spark.sql.session.timeZone": "Europe/Amsterdam", "spark.sql.ansi.enabled": "true"}
    before = {name: spark.session.conf.get(name) for name in settings}
    rows = [(hour, number, "a", hours[0]) for hour in hours for number in numbers]
    try:
        for name, value in settings.items():
            spark.session.conf.set(name, value)
        frame = spark.session.createDataFrame(rows, "hour timestamp, number double, activity string, time timestamp")
        for columns, n_cases in ((("hour",), 2), (("number",), 6)):
            roles = RoleNames(case_id=columns, activity=("activity",), timestamp="time")
            engine = both.on_spark(frame, ReadOptions(roles=roles))
            assert engine.count_all([Size()])[0].tolist() == [n_cases]
        assert {row[0] for row in engine.cases.select("case").collect()} >= {str(2**62), "3", "0.5"}
    finally:
        for name, old in before.items():
            spark.session.conf.set(name, old or "")


@pytest.mark.parametrize("how", ["a subsample", "individuals"])
def test_an_event_without_a_case_is_an_error_also_in_a_part_of_the_log(how: str, tmp_path: Path, spark: Spark) -> None:
    table = both.table_of([("a", "x", 0), ("b", "x", 1), (None, "x", 2)]).with_columns(pl.lit("p").alias("person"))
    table.write_parquet(tmp_path / "log.parquet")
    roles = RoleNames(individual="person") if how == "individuals" else RoleNames()
    unit, rate = (Unit(1), 1.0) if how == "individuals" else (CASE, 0.5)
    with pytest.raises(InputError, match="no case id"):
        open_log(str(tmp_path / "log.parquet"), ReadOptions(roles=roles)).engine(unit, Randomness(), rate).count_all([Size()])


def test_a_folder_says_whose_cases_are_whose_and_what_else_lies_there_is_left_alone(tmp_path: Path, spark: Spark) -> None:
    import libra

    table = both.table_of([("a", "x", 0), ("b", "x", 1)]).with_columns(pl.lit("p").alias("person"))
    libra.write(libra.read(table, individual="person"), tmp_path / "b.parquet")
    (tmp_path / "a.csv").write_text(HEADER + ROW)
    log = open_log(str(tmp_path), ReadOptions())
    assert log.has_individual
    assert log.engine(Unit(1), Randomness()).count_all([Size()])[0].tolist() == [1]
