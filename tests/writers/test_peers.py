"""Other tools read what we write to the same log."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import libra
from libra.eventlog.log import EventLog
from libra.eventlog.write import write
from libra.example.simulate import simulate

pytestmark = pytest.mark.peer


@pytest.fixture
def awkward_log() -> EventLog:
    """Two cases with every type, missing values, microseconds, markup and white space."""
    start = datetime(2024, 5, 6, 8, 0, 0, 123456, tzinfo=UTC)
    return EventLog(
        pl.DataFrame(
            {
                "@case": [0, 0, 0, 1],
                "concept:name": ['<a & "b">', "line\nbreak", "Größe 🚑", "=1+1"],
                "time:timestamp": [start + timedelta(microseconds=i) for i in range(4)],
                "start_timestamp": [start - timedelta(days=i) for i in range(4)],
                "lifecycle:transition": ["start", "complete", "start", "complete"],
                "count": [2**40, None, -5, 0],
                "serial": [2**63 - 1, -(2**63), 0, 1],
                "cost": [0.1, 1e300, None, 5e-324],
                "urgent": [True, False, None, True],
            }
        ),
        pl.DataFrame({"concept:name": ["c 1", "c 2"], "age": [71, None], "ward": ["A&E", "'"]}),
    )


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Without the warnings and the progress bars of others."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def as_ours(read: pl.DataFrame, log: EventLog) -> pl.DataFrame:
    """What another tool read, in the order and with the types of our flat table."""
    flat = log.to_polars()
    assert set(read.columns) == set(flat.columns)
    return read.select(pl.col(name).cast(flat.schema[name]) for name in flat.columns)


def read_with_pm4py(path: Path, parser: str | None = None) -> pl.DataFrame:
    with muted():
        import pm4py

        return pl.from_pandas(pm4py.read_xes(str(path), variant=parser), nan_to_null=True)


@pytest.mark.parametrize("parser", [None, "iterparse"])
@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz"])
def test_pm4py_reads_the_same_log(name: str, parser: str | None, tmp_path: Path, awkward_log: EventLog) -> None:
    write(awkward_log, tmp_path / name)
    read = read_with_pm4py(tmp_path / name, parser)
    assert_frame_equal(as_ours(read, awkward_log), awkward_log.to_polars(), check_exact=True)


@pytest.mark.parametrize("parser", ["chunk_regex", "line_by_line"])
def test_parsers_that_take_xml_for_lines_read_a_log_without_markup(parser: str, tmp_path: Path, small_log: EventLog) -> None:
    write(small_log, tmp_path / "log.xes")
    read = read_with_pm4py(tmp_path / "log.xes", parser)
    assert_frame_equal(as_ours(read, small_log), small_log.to_polars(), check_exact=True)


@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz"])
def test_r4pm_reads_the_same_log(name: str, tmp_path: Path, awkward_log: EventLog) -> None:
    import r4pm

    write(awkward_log, tmp_path / name)
    with muted():
        read, _ = r4pm.df.import_xes(str(tmp_path / name))
    assert_frame_equal(as_ours(read, awkward_log), awkward_log.to_polars(), check_exact=True)


@pytest.mark.parametrize(("name", "separator"), [("log.csv", ","), ("log.csv.gz", ","), ("log.tsv.zip", "\t")])
def test_pandas_reads_the_same_table(name: str, separator: str, tmp_path: Path, awkward_log: EventLog) -> None:
    import pandas as pd

    write(awkward_log, tmp_path / name)
    read = pd.read_csv(tmp_path / name, sep=separator, parse_dates=["time:timestamp", "start_timestamp"])
    guarded = awkward_log.to_polars().with_columns(pl.col("concept:name").replace("=1+1", "'=1+1"))
    assert_frame_equal(as_ours(pl.from_pandas(read, nan_to_null=True), awkward_log), guarded, check_exact=True)


def test_pm4py_discovers_the_same_steps(tmp_path: Path, shared_logs: Path) -> None:
    from libra.eventlog.options import ReadOptions
    from libra.eventlog.read import read

    log = read(shared_logs / "sepsis.xes.gz", ReadOptions())
    write(log, tmp_path / "sepsis.xes.gz")
    with muted():
        import pm4py

        found, _, _ = pm4py.discover_dfg(pm4py.read_xes(str(tmp_path / "sepsis.xes.gz")))
    steps = log.directly_follows
    labels = log.activities
    edges = zip(steps.source.tolist(), steps.target.tolist(), steps.counts.tolist(), strict=True)
    assert {(labels[a], labels[b]): n for a, b, n in edges} == found


def test_pm4py_finds_the_steps_of_instances_of_which_some_take_no_time(tmp_path: Path) -> None:
    """It orders instances by their starts: one without would come last."""
    import pandas as pd
    import pm4py

    log = simulate(cases=50, starts=True)
    assert log.events["start_timestamp"].null_count() > 0
    first = log.events.filter(pl.col("@case").is_first_distinct())["concept:name"].unique().to_list()
    for ending in ("csv", "parquet"):
        libra.write(log, file := tmp_path / f"log.{ending}")
        assert libra.read(file).events.equals(log.events)
        table = pd.read_csv(file) if ending == "csv" else pd.read_parquet(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, about pm4py
            _, begins, _ = pm4py.discover_dfg(pm4py.format_dataframe(table, start_timestamp_key="start_timestamp"))
        assert set(begins) == set(first)
