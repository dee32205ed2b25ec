"""A log that goes to another process is the same there; two logs that differ in anything have another hash."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from libra.comparison.child import content_hash, packed, unpacked
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import Attribute, LogMetadata


@pytest.fixture
def rich(small_log: EventLog) -> EventLog:
    """A log with all that a mechanism may use."""
    header = LogMetadata(attributes=(Attribute("concept:name", "string", "visits"),))
    roles = (FoundRole("activity", ("what", "how"), "named"),)
    return replace(small_log, metadata=header, individual="insurance", has_zone=False, roles=roles)


def test_everything_arrives(rich: EventLog) -> None:
    there = unpacked(packed(rich))
    assert there.equals(rich)
    assert (there.individual, there.has_zone, there.roles) == ("insurance", False, rich.roles)
    assert there.events.schema == rich.events.schema
    assert content_hash(there) == content_hash(rich)


def test_how_polars_holds_the_columns_and_how_the_log_was_read_play_no_part(rich: EventLog) -> None:
    split = pl.concat([rich.events[:3], rich.events[3:]], rechunk=False)
    other = replace(rich, events=split, notes=("read with care",), roles=())
    assert content_hash(other) == content_hash(rich)


def _changed(log: EventLog, name: str, value: object) -> EventLog:
    values = log.events[name].to_list()
    values[1] = value
    return replace(log, events=log.events.with_columns(pl.Series(name, values, log.events.schema[name])))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concept:name", "see doctors"),
        ("cost", 80.5),
        ("cost", None),
        ("urgent", False),
        ("org:resource", None),
        ("org:resource", ""),
    ],
)
def test_any_other_value_gives_another_hash(rich: EventLog, name: str, value: object) -> None:
    assert content_hash(_changed(rich, name, value)) != content_hash(rich)


def test_where_one_text_ends_and_the_next_begins_counts(rich: EventLog) -> None:
    one = _changed(rich, "org:resource", "Dr. A")
    shifted = rich.events["org:resource"].to_list()
    shifted[0], shifted[1] = "deskD", "r. A"
    other = replace(rich, events=rich.events.with_columns(pl.Series("org:resource", shifted)))
    assert content_hash(one) != content_hash(other)


def test_where_a_text_is_missing_counts(rich: EventLog) -> None:
    rows = len(rich.events)
    texts: list[list[str | None]] = [["a", None, "b"], ["a", "b", None], [None, "a", "b"], ["a", "", "b"], ["ab", None, ""]]
    columns = [pl.Series("org:resource", text + ["c"] * (rows - 3), pl.String) for text in texts]
    hashes = {content_hash(replace(rich, events=rich.events.with_columns(column))) for column in columns}
    assert len(hashes) == len(texts)


def test_the_header_the_individual_and_the_zone_count(rich: EventLog) -> None:
    others = [replace(rich, metadata=LogMetadata()), replace(rich, individual=None), replace(rich, has_zone=True)]
    renamed = replace(rich, events=rich.events.rename({"cost": "price"}))
    assert len({content_hash(log) for log in (rich, renamed, *others)}) == 5


def test_missing_numbers_are_the_same_whatever_lies_behind_them(rich: EventLog) -> None:
    hidden = pl.when(pl.col("cost") > 50).then(None).otherwise(pl.col("cost")).alias("cost")
    plain = pl.Series("cost", [value if value is not None and value <= 50 else None for value in rich.events["cost"].to_list()])
    assert content_hash(replace(rich, events=rich.events.with_columns(hidden))) == content_hash(
        replace(rich, events=rich.events.with_columns(plain))
    )
