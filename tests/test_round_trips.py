"""Any log survives its way through any file: what is written reads back equal."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

from agreement import ReadPublic
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier, LogMetadata
from libra.eventlog.names import without
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.eventlog.write import write
from libra.eventlog.xes.write import written_metadata
from strategies import event_logs

LOGS = (
    "bpic12",
    "hospital",
    "roadtraffic",
    "sepsis",
)  # transitions, many labels and long cases, many cases, attributes of all types

PACKED = ("log.xes.gz", "log.xes.zip", "log.csv.gz", "log.csv.zip", "log.tsv", "log.tsv.gz", "log.tsv.zip")


def there_and_back(log: EventLog, name: str) -> EventLog:
    with tempfile.TemporaryDirectory() as folder:
        write(log, path := Path(folder) / name)
        return read(path, ReadOptions(allow_empty=True, instances=log.instances or "events"))


def assert_same(read_back: EventLog, log: EventLog, metadata: LogMetadata) -> None:
    for ours, theirs in ((read_back.events, log.events), (read_back.cases, log.cases)):
        assert_frame_equal(ours, theirs, check_column_order=False, check_exact=True)
    assert read_back.metadata == metadata
    assert read_back.equals(replace(log, metadata=metadata))


@given(event_logs())
def test_any_log_survives_xes(log: EventLog) -> None:
    assert_same(there_and_back(log, "log.xes"), log, written_metadata(log))


@given(event_logs())
def test_any_log_survives_csv(log: EventLog) -> None:
    assert_same(there_and_back(log, "log.csv"), log, LogMetadata())


@given(event_logs())
def test_any_log_survives_parquet(log: EventLog) -> None:
    assert_same(there_and_back(log, "log.parquet"), log, LogMetadata())


@settings(max_examples=40)
@given(event_logs())
@pytest.mark.parametrize("name", ["log.xes", "log.csv", "log.parquet"])
def test_any_log_of_instances_survives(name: str, log: EventLog) -> None:
    rows = replace(log, events=without(log.events, "lifecycle:transition"))
    paired = read(rows, ReadOptions(instances="pair"))
    assert_same(there_and_back(paired, name), paired, written_metadata(paired) if name == "log.xes" else LogMetadata())


@settings(max_examples=15)
@given(event_logs())
@pytest.mark.parametrize(
    "name", ["log.xes.gz", "log.xes.zip", "log.csv.gz", "log.csv.zip", "log.tsv", "log.tsv.gz", "log.tsv.zip"]
)
def test_any_log_survives_compression_and_tabs(name: str, log: EventLog) -> None:
    assert_same(there_and_back(log, name), log, written_metadata(log) if ".xes" in name else LogMetadata())


@pytest.mark.parametrize("name", ["log.xes", "log.parquet"])
def test_the_header_survives(name: str, small_log: EventLog) -> None:
    noon = datetime(2024, 5, 6, 12, 0, 0, 1, tzinfo=UTC)
    header = LogMetadata(
        attributes=(
            Attribute("concept:name", "string", "a <log> & more", (Attribute("since", "date", noon), Attribute("n", "int", 3))),
            Attribute("items", "list", None, (Attribute("item", "float", 0.1), Attribute("item", "boolean", False))),
        ),
        case_globals=(Attribute("concept:name", "string", "?"), Attribute("insurance", "string", "")),
        event_globals=(Attribute("time:timestamp", "date", noon),),
        classifiers=(Classifier("Who did what", ("concept:name", "org:resource")), Classifier("Cost", ("cost",))),
    )
    log = replace(small_log, metadata=header)
    assert_same(there_and_back(log, name), log, header)


def test_the_individual_survives_parquet(small_log: EventLog) -> None:
    assert there_and_back(replace(small_log, individual="insurance"), "log.parquet").individual == "insurance"


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_public_logs_survive_every_format(name: str, read_public: ReadPublic) -> None:
    log = read_public(name)
    if name == "roadtraffic":  # a third of it has many cases too
        log = replace(log, events=log.events.filter(log.events["@case"] < 50_000), cases=log.cases[:50_000])
    assert_same(there_and_back(log, "log.xes.gz"), log, written_metadata(log))
    assert_same(there_and_back(log, "log.parquet"), log, log.metadata)
    assert_same(there_and_back(log, "log.csv"), log, LogMetadata())


def test_events_out_of_time_order_stay_in_file_order(small_log: EventLog) -> None:
    backwards = EventLog(small_log.events.with_columns(pl.col("time:timestamp").reverse()), small_log.cases)
    for name in ("log.xes", "log.csv", "log.parquet"):
        assert_frame_equal(there_and_back(backwards, name).events, backwards.events, check_column_order=False)


@pytest.mark.parametrize("pattern", ["*", "^.*$", "^$", "^a|b$", "^($"])
@pytest.mark.parametrize("values", [["x", None], [1, None], [0.5, None], [True, None], [datetime(2024, 5, 6, tzinfo=UTC), None]])
def test_names_that_polars_takes_for_patterns_are_names(pattern: str, values: list[object]) -> None:
    noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
    log = EventLog(
        pl.DataFrame({"@case": [0, 1], "concept:name": ["a", "b"], "time:timestamp": [noon, noon], "plain": values}).with_columns(
            pl.Series(values).alias(pattern)
        ),
        pl.DataFrame({"concept:name": ["c1", "c2"], "plain": values}).with_columns(pl.Series(values).alias(pattern)),
    )
    for name in ("log.xes", "log.csv", "log.parquet"):
        assert_same(there_and_back(log, name), log, written_metadata(log) if name == "log.xes" else LogMetadata())


@pytest.mark.parametrize("name", ["log.xes", "log.parquet"])
def test_an_attribute_may_have_no_name(name: str, small_log: EventLog) -> None:
    log = replace(small_log, events=small_log.events.rename({"cost": ""}))
    back = there_and_back(log, name)
    assert back.equals(replace(log, metadata=back.metadata))
