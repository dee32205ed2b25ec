from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.tables.frames import read_parquet, write_parquet
from strategies import event_logs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


ATTRIBUTES: list[object] = [
    {"key": "a"},
    {"key": "a", "type": "date", "value": 5},
    {"key": "a", "type": "string", "value": 5},
    {"key": 1, "type": "string", "value": "x"},
    {"key": "a", "type": "colour", "value": "red"},
    "a",
]
FOREIGN = [json.dumps({"metadata": {"attributes": [attribute]}, "individual": "insurance"}) for attribute in ATTRIBUTES]


def test_a_foreign_table_is_read_by_its_names(file: Path) -> None:
    pl.DataFrame({"Case ID": [7, 7], "Activity": ["a", "b"], "Time": [datetime(2024, 5, 6)] * 2}).write_parquet(file)
    log = read_parquet(file, ReadOptions())
    assert log.cases["concept:name"].to_list() == ["7"]
    assert log.events["time:timestamp"].to_list() == [datetime(2024, 5, 6, tzinfo=UTC)] * 2


def test_errors_name_the_row(file: Path) -> None:
    pl.DataFrame({"case": ["x", None], "activity": ["a", "b"], "time": [datetime(2024, 5, 6)] * 2}).write_parquet(file)
    with pytest.raises(InputError, match=r"a\.parquet, row 2: no case id"):
        read_parquet(file, ReadOptions())


def test_our_own_file_brings_back_header_and_individual(file: Path, small_log: EventLog) -> None:
    metadata = LogMetadata(attributes=(Attribute("concept:name", "string", "emergency"),))
    log = EventLog(small_log.events, small_log.cases, metadata, individual="insurance")
    with file.open("wb") as stream:
        write_parquet(log, stream)
    assert read_parquet(file, ReadOptions()).equals(log)
    assert read_parquet(file, ReadOptions(roles=RoleNames(individual="case:concept:name"))).individual == "concept:name"


@pytest.mark.parametrize("own", ["not json", json.dumps([1]), json.dumps({"metadata": 5}), *FOREIGN])
def test_a_foreign_note_under_our_key_does_no_harm(file: Path, small_log: EventLog, own: str) -> None:
    small_log.to_polars().write_parquet(file, metadata={"libra": own})
    assert read_parquet(file, ReadOptions()).equals(small_log)


def test_a_broken_file_is_refused(file: Path, small_log: EventLog) -> None:
    small_log.to_polars().write_parquet(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"a\.parquet: this is not an intact Parquet file") as error:
        read_parquet(file, ReadOptions())
    assert "\n" not in str(error.value)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(log=event_logs())
def test_any_log_survives_writing_and_reading(file: Path, log: EventLog) -> None:
    with file.open("wb") as stream:
        write_parquet(log, stream)
    assert read_parquet(file, ReadOptions(allow_empty=True)).equals(log)
