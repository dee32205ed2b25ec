"""Starts are read alike in memory and in batches, in tables and in XES: what decides, which years, which zones."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from agreement import agree, read_little
from libra.errors import InputError
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
DROP = ReadOptions(drop_invalid=True)
ENGINES = ["polars", "polars-streaming"]


def written(folder: Path, head: str, rows: list[str]) -> Path:
    file = folder / "log.csv"
    file.write_text("\n".join([head, *rows, ""]))
    return file


STARTS = "case:concept:name,concept:name,start_timestamp,time:timestamp"
KINDS = "case:concept:name,concept:name,lifecycle:transition,time:timestamp"
AT = "2024-05-06T0{}:00:00Z".format
DECIDED_BY = {
    "a start in a row that is dropped": (STARTS, [f"x,A,{AT(7)},n/a"]),
    "a start that is dropped": (STARTS, [f"x,A,n/a,{AT(8)}"]),
    "a start far outside": (STARTS, [f"x,A,0001-01-01T00:00:00Z,{AT(8)}"]),
    "a blank start": (STARTS, [f"x,A, ,{AT(8)}"]),
    "a start event without a time": (KINDS, ["x,A,start,"]),
    "a start event without a case": (KINDS, [f" ,A,start,{AT(7)}"]),
    "a start event without an activity": (KINDS, [f"x,,start,{AT(7)}"]),
    "a start event": (KINDS, [f"x,A,start,{AT(7)}"]),
    "a start": (STARTS, [f"x,A,{AT(7)},{AT(8)}"]),
}


@pytest.mark.parametrize("little", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", DECIDED_BY)
def test_what_is_dropped_or_blank_decides_nothing(
    name: str, first: bool, little: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, odd = DECIDED_BY[name]
    middle = "" if head == STARTS else "complete"
    rows = [f"c{i},A,{middle},{AT(8)}" for i in range(20)]
    file = written(tmp_path, head, odd + rows if first else rows + odd)
    if little:
        read_little(monkeypatch, 3, 3, 120, 260)
    agree(file, DROP, may_refuse=little and not first)
    counts = name in ("a start event", "a start")
    assert (libra.read(file, drop_invalid=True).instances == "pair") == counts
    if first or not little:
        assert (batches_of(file, DROP).instances == "pair") == counts


def test_a_start_after_others_that_are_dropped_is_refused_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"x,A,{AT(7)},n/a", *(f"c{i},A,,{AT(8)}" for i in range(20)), f"y,A,{AT(7)},{AT(8)}"]
    file = written(tmp_path, STARTS, rows)
    read_little(monkeypatch, 3, 3, 120, 260)
    assert libra.read(file, drop_invalid=True).instances == "pair"
    with pytest.raises(InputError, match="here an event has a start timestamp, and none before it has"):
        list(batches_of(file, DROP))


def xes(folder: Path, *times: tuple[str, str], key: str = "start_timestamp") -> Path:
    def trace(number: int, start: str, end: str) -> str:
        dates = f'<date key="time:timestamp" value="{end}"/>' + (f'<date key="{key}" value="{start}"/>' if start else "")
        event = f'<event><string key="concept:name" value="A"/>{dates}</event>'
        return f'<trace><string key="concept:name" value="c{number}"/>{event}</trace>'

    file = folder / "log.xes"
    file.write_text(f"<log>{''.join(trace(i, *both) for i, both in enumerate(times))}</log>")
    return file


OUTSIDE = [(AT(7), AT(8)), ("0001-01-01T00:00:00Z", AT(8))]


@pytest.mark.parametrize("key", ["start_timestamp", "begun"])
def test_the_years_of_starts_are_checked_in_xes(key: str, tmp_path: Path) -> None:
    file, roles = xes(tmp_path, *OUTSIDE, key=key), RoleNames(start_timestamp=None if key == "start_timestamp" else key)
    for reader in (
        lambda: libra.eventlog.read.read(file, ReadOptions(roles)),
        lambda: list(batches_of(file, ReadOptions(roles))),
    ):
        with pytest.raises(InputError, match=r"outside the years 1678 to 2261, .* leave such times out with --drop-invalid"):
            reader()
    agree(file, ReadOptions(roles, drop_invalid=True))
    log = libra.eventlog.read.read(file, ReadOptions(roles, drop_invalid=True))
    assert log.events["start_timestamp"].null_count() == 1
    assert f'Some times in "{key}" cannot be used and were left out; their events stay.' in log.notes


NAIVE = "2024-05-06T0{}:00:00".format
APART = {
    "starts without": [(NAIVE(7), AT(8))] * 12,
    "completions without": [(AT(7), NAIVE(8))] * 12,
    "a single start without": [(AT(7), AT(8))] * 12 + [(NAIVE(7), AT(8))],
    "a single start with": [(NAIVE(7), NAIVE(8))] * 12 + [(AT(7), NAIVE(8))],
}


@pytest.mark.parametrize("key", ["start_timestamp", "begun"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("little", [False, True])
def test_zones_of_starts_and_completions_are_compared_in_xes(
    name: str, engine: str, key: str, little: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = xes(tmp_path, *APART[name], key=key)
    said: dict[str, Any] = {} if key == "start_timestamp" else {"start_timestamp": key}
    if little:
        read_little(monkeypatch, 3, 3, 400, 700)
    with pytest.raises(InputError, match=r"carry a time zone and .* do not\. Say --zone utc"):
        libra.anonymize(file, engine=engine, **said)
    with pytest.raises(InputError, match="--zone says"):
        libra.anonymize(file, engine=engine, zone="file", **said)
    for settled in ({"zone": "utc"}, {"instances": "complete"}):
        assert libra.anonymize(file, engine=engine, **(said | settled)).guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("times", [[(AT(7), AT(8))] * 12, [(NAIVE(7), NAIVE(8))] * 12, [("", NAIVE(8))] * 12])
def test_starts_and_completions_in_one_zone_leave_nothing_open(engine: str, times: list[Any], tmp_path: Path) -> None:
    assert libra.anonymize(xes(tmp_path, *times), engine=engine).guarantee.kind == "proved"


ODD: dict[str, tuple[Any, Any]] = {
    "lists": ([1], [2]),
    "structs": ({"a": 1}, {"a": 2}),
    "binary": (b"\xff", b"\xfe"),
    "durations": (timedelta(1), timedelta(2)),
    "decimals": (Decimal("1.0000000000000000001"), Decimal("1.0000000000000000002")),
    "dates": (date(2024, 1, 1), date(2024, 1, 2)),
    "floats": (1.0, 1.5),
    "booleans": (True, False),
    "text": ("1", "01"),
}


@pytest.mark.parametrize("name", ODD)
def test_instances_are_told_apart_by_values_of_any_type_or_refused(name: str, tmp_path: Path) -> None:
    one, other = ODD[name]
    rows = [
        (f"c{i}", "A", kind, NOON + timedelta(hours=hour))
        for i in range(10)
        for hour, kind in enumerate(["start"] * 2 + ["complete"] * 2)
    ]
    frame = pl.DataFrame(rows, schema=KINDS.split(","), orient="row")
    frame = frame.with_columns(pl.Series("concept:instance", [one, other, other, one] * 10))
    frame.write_parquet(tmp_path / "log.parquet")
    agree(tmp_path / "log.parquet")
    agree(frame)
    if name in ("lists", "structs", "binary", "durations"):
        for engine in ENGINES:
            with pytest.raises(InputError, match=r'"concept:instance" is of the type .*Write it as text, or leave it out'):
                libra.anonymize(tmp_path / "log.parquet", engine=engine)
        assert libra.read(frame, instances="complete").n_events == 20
        return
    log = libra.read(tmp_path / "log.parquet")
    took = log.events["time:timestamp"] - log.events["start_timestamp"]
    assert took.dt.total_hours().to_list() == [1, 3] * 10
