"""Written Parquet holds the flat table and, in its key-value metadata, the rest of the log."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
from hypothesis import given
from polars.testing import assert_frame_equal

from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.eventlog.tables.frames import write_parquet
from strategies import event_logs


def parquet(log: EventLog) -> bytes:
    write_parquet(log, stream := io.BytesIO())
    return stream.getvalue()


@given(event_logs())
def test_any_log_is_read_back_as_its_flat_table(log: EventLog) -> None:
    assert_frame_equal(pl.read_parquet(parquet(log)), log.to_polars())


def test_header_and_individual_are_in_the_metadata(small_log: EventLog) -> None:
    header = LogMetadata((Attribute("since", "date", datetime(2024, 5, 6, tzinfo=UTC), (Attribute("n", "int", 1),)),))
    log = replace(small_log, metadata=header, individual="insurance")
    kept = json.loads(pl.read_parquet_metadata(io.BytesIO(parquet(log)))["libra"])
    assert LogMetadata.from_dict(kept["metadata"]) == header
    assert kept["individual"] == "insurance"


def test_same_log_gives_same_bytes(small_log: EventLog) -> None:
    assert parquet(small_log) == parquet(EventLog(small_log.events, small_log.cases))
