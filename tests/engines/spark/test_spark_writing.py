"""A log that Spark writes is the log that was planned, whole or not there, whatever failed on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl
import pytest

import libra
from libra.engines.spark.session import Spark
from libra.engines.spark.writing import SparkWriter, write_log
from libra.errors import InputError
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.mechanisms.libra.generate import planned


@pytest.fixture(scope="module")
def log() -> LogInParts:
    """A generated log in several parts, one label of which a spreadsheet would take for a formula."""
    release = libra.anonymize(simulate(cases=600), delta=1e-3, seed=3)
    made = planned(release.figures, part_events=1_500).in_parts(seeded=True)
    assert isinstance(made, LogInParts)
    assert made.n_parts > 1
    return made


def failing_once(log: LogInParts) -> LogInParts:
    """The same log, of which every part fails when it is first made."""

    def part(number: int) -> EventLog:
        from pyspark import TaskContext

        context = TaskContext.get()
        made = log.part(number)
        if context is not None and context.attemptNumber() == 0:
            raise RuntimeError("the executor is lost")
        return made

    return LogInParts(log.n_parts, part, n_cases=log.n_cases, n_events=log.n_events, labels=log.activities, grain=1_000_000)


def flat(folder: Path, kind: str) -> pl.DataFrame:
    """All rows of a folder, its files in the order of their names."""
    files = sorted(folder.glob(f"*.{kind}"))
    return pl.concat([pl.read_parquet(file) if kind == "parquet" else libra.read(file).to_polars() for file in files])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_written_log_is_the_planned_one_also_after_tasks_failed(
    kind: Literal["parquet", "csv"], log: LogInParts, tmp_path: Path, spark: Spark
) -> None:
    write_log(failing_once(log), str(tmp_path / "out"), spark, kind)
    found, expected = flat(tmp_path / "out", kind), log.to_polars()
    assert found.schema == expected.schema
    assert found.equals(expected)
    assert found["case:concept:name"].n_unique() == log.n_cases
    assert len(list((tmp_path / "out").glob(f"*.{kind}"))) == log.n_parts
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_text_is_no_formula(tmp_path: Path, spark: Spark) -> None:
    moment = pl.Series([1], dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    events = pl.DataFrame({"@case": [0], "concept:name": ['=1+1, "x"'], "time:timestamp": moment})
    write_log(EventLog(events, pl.DataFrame({"concept:name": ["c1"]})), str(tmp_path / "out"), spark, "csv")
    (file,) = (tmp_path / "out").glob("*.csv")
    assert file.read_text().splitlines()[1].startswith("c1,\"'=1+1")
    found = libra.read(file)
    assert found.activities == ['=1+1, "x"']
    assert found.timestamps.tolist() == [1]


def test_a_writer_tells_the_format_by_the_name(log: LogInParts, tmp_path: Path, spark: Spark) -> None:
    done: list[tuple[int, int]] = []
    for name, kind in (("out.csv", "csv"), ("out", "parquet")):
        writer = SparkWriter()
        writer.check(tmp_path / name)
        assert writer(log, tmp_path / name, lambda *seen: done.append(seen)) == ()
        assert flat(tmp_path / name, kind).equals(log.to_polars())
        with pytest.raises(InputError, match="it already exists"):
            writer.check(tmp_path / name)
    assert done == [(log.n_events, log.n_events)] * 2
    assert spark.session.range(3).count() == 3  # somebody else's session goes on


def test_nothing_is_left_of_a_log_that_cannot_be_made(log: LogInParts, tmp_path: Path, spark: Spark) -> None:
    def broken(_number: int) -> EventLog:
        raise RuntimeError("always")

    with pytest.raises(InputError, match="Spark failed"):
        write_log(LogInParts(1, broken, n_cases=1, n_events=1, labels=()), str(tmp_path / "out"), spark)
    assert not list(tmp_path.iterdir())


def test_what_is_there_already_is_not_written_over(log: LogInParts, tmp_path: Path, spark: Spark) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(InputError, match="it already exists"):
        write_log(log, str(tmp_path / "out"), spark)
    with pytest.raises(InputError, match="it already exists"):
        write_log(log, f"file://{tmp_path / 'out'}", spark)
    with pytest.raises(InputError, match="the parent folder does not exist"):
        write_log(log, str(tmp_path / "no" / "out"), spark)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["mine.txt"]
