"""Start and complete events become activity instances, in memory and in batches alike, and are written as both again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from agreement import paired_rows, read_little
from libra.errors import InputError
from libra.eventlog.in_parts import EventBatches
from libra.eventlog.log import EventLog, Pairing
from libra.eventlog.options import InstanceMode, ReadOptions, RoleNames
from libra.eventlog.pairing import PAIRED, STARTS_DROPPED, STARTS_READ
from libra.eventlog.read import batches_of, read
from libra.eventlog.xes.write import written_metadata

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
COLUMNS = ("case:concept:name", "concept:name", "lifecycle:transition", "time:timestamp", "org:resource", "note")
EVENTS: tuple[tuple[Any, ...], ...] = (
    ("c1", "A", "START", 0, "ann", "x"),
    ("c1", "B", "start", 1, "bob", None),
    ("c1", "A", "complete", 3, "ann", None),
    ("c1", "X", "schedule", 3, None, None),
    ("c1", "B", "complete", 5, "bob", "y"),
    ("c2", "A", None, 2, None, None),
    ("c2", "B", "start", 4, "bob", "z"),
    ("c2", "A", "start", 6, "ann", None),
    ("c2", "A", "start", 7, "bob", None),
    ("c2", "A", "complete", 8, "bob", None),
    ("c2", "A", "complete", 9, "ann", None),
    ("c3", "X", "suspend", 1, None, None),
)
INSTANCES = [  # case, activity, start, completion, resource, note
    (0, "A", 0, 3, "ann", "x"),
    (0, "B", 1, 5, "bob", "y"),
    (1, "A", None, 2, None, None),
    (1, "B", None, 4, "bob", "z"),
    (1, "A", 7, 8, "bob", None),
    (1, "A", 6, 9, "ann", None),
]


def at(hour: int | None) -> datetime | None:
    return None if hour is None else NOON + timedelta(hours=hour)


def table(events: Sequence[tuple[Any, ...]] = EVENTS) -> pl.DataFrame:
    """Events as a flat table."""
    columns = {name: [event[i] for event in events] for i, name in enumerate(COLUMNS)}
    return pl.DataFrame(columns | {"time:timestamp": [at(event[3]) for event in events]})


def rows_of(log: EventLog) -> list[tuple[Any, ...]]:
    """The instances of a log, in hours after noon."""
    hours = ((pl.col(name) - NOON).dt.total_hours() for name in ("start_timestamp", "time:timestamp"))
    return log.events.select("@case", "concept:name", *hours, "org:resource", "note").rows()


def from_batches(batches: EventBatches) -> list[tuple[Any, ...]]:
    """The same from batches: case, activity, start and completion, as an engine makes them, cases in the order of their ids."""
    events = pl.concat(list(batches)).with_columns(pl.col("case").cast(pl.String).rank("dense").alias("@case") - 1)
    events = events.sort("@case", maintain_order=True)
    events = paired_rows(events, "@case")
    noon = int(NOON.timestamp() * 1e6)
    starts = [None if one is None else (one - noon) // 3_600_000_000 for one in events["start"].to_list()]
    ends = [(one - noon) // 3_600_000_000 for one in events["micros"].to_list()]
    return list(zip(events["@case"].to_list(), events["activity"].to_list(), starts, ends, strict=True))


@pytest.fixture(params=["xes", "csv", "parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The events in a file of each format."""
    path = tmp_path / f"log.{request.param}"
    libra.write(libra.read(table(), instances="events"), path)
    return path


def test_starts_and_completions_are_paired(file: Path) -> None:
    log = libra.read(file)
    assert rows_of(log) == INSTANCES
    assert log.instances == "pair"
    assert PAIRED in log.notes
    assert log.pairing == Pairing(paired=8, without_start=1, not_completed=1, left_out={"schedule": 1, "suspend": 1})
    assert not {"lifecycle:transition", "concept:instance"} & set(log.events.columns)
    assert log.n_cases == 2  # c3 has neither starts nor completions
    assert log.in_time_order


def test_batches_say_the_same(file: Path) -> None:
    batches = batches_of(file, ReadOptions())
    assert batches.instances == "pair"
    assert from_batches(batches) == [row[:4] for row in INSTANCES]
    assert PAIRED in batches.notes()


def test_a_description_says_it_once(file: Path) -> None:
    with pytest.raises(InputError, match="instances is open: fewer than 10 cases"):
        libra.read(file, description=libra.describe(file))
    found = libra.describe(file, instances="pair")
    assert rows_of(libra.read(file, description=found)) == INSTANCES
    batches = batches_of(file, found.options())
    assert from_batches(batches) == [row[:4] for row in INSTANCES]


def test_a_description_that_says_nothing_detects_nothing(file: Path) -> None:
    found = replace(libra.describe(file, instances="pair"), instances=None)
    assert libra.read(file, description=found).n_events == len(EVENTS)
    batches = batches_of(file, found.options())
    assert batches.instances is None
    assert sum(batch.height for batch in batches) == len(EVENTS)


def test_completions_alone(file: Path) -> None:
    log = libra.read(file, instances="complete")
    assert log.events["concept:name"].to_list() == ["A", "B", "A", "A", "A"]
    assert "start_timestamp" not in log.events.columns
    batches = batches_of(file, ReadOptions(instances="complete"))
    assert [name for batch in batches for name in batch["activity"]] == ["A", "B", "A", "A", "A"]


def test_every_event_with_its_transition(file: Path) -> None:
    log = libra.read(file, instances="events")
    assert log.instances == "events"
    assert log.events["lifecycle:transition"].to_list() == [event[2] for event in EVENTS]
    batches = batches_of(file, ReadOptions(instances="events"))
    assert batches.has_transitions
    assert [one for batch in batches for one in batch["transition"]] == [event[2] for event in EVENTS]


def test_a_log_without_starts_is_read_as_ever(file: Path, tmp_path: Path) -> None:
    again = tmp_path / f"completions{file.suffix}"
    libra.write(libra.read(table([event for event in EVENTS if event[2] != "start"][1:]), instances="events"), again)
    log, events = libra.read(again), libra.read(again, instances="events")
    assert log.instances is None
    assert log.equals(events)
    assert libra.describe(again).instances is None
    assert batches_of(again, ReadOptions()).instances is None
    assert {"is_start", "key", "start", "transition"}.isdisjoint(*(batch.columns for batch in batches_of(again, ReadOptions())))


def test_kept_transitions_are_kept_before_anything_is_paired(file: Path) -> None:
    log = libra.read(file, lifecycle_keep="complete")
    assert log.instances is None
    assert log.n_events == 4
    assert batches_of(file, ReadOptions(lifecycle_keep=("complete",))).instances is None


@pytest.mark.parametrize("name", ["log.xes", "log.csv", "log.parquet", "log.tsv.gz"])
def test_instances_survive_writing(tmp_path: Path, name: str) -> None:
    log = libra.read(table())
    libra.write(log, tmp_path / name)
    again = libra.read(tmp_path / name)
    assert rows_of(again) == INSTANCES
    assert again.instances == "pair"
    assert again.events.equals(log.events.select(again.events.columns))
    if name == "log.xes":
        assert again.metadata == written_metadata(log) == written_metadata(again)
        assert batches_of(tmp_path / name, ReadOptions()).instances == "pair"
    else:
        batches = batches_of(tmp_path / name, ReadOptions())
        assert batches.has_starts
        assert from_batches(batches) == [row[:4] for row in INSTANCES]
    twice = tmp_path / f"again-{name}"
    assert libra.write(again, twice) == ()
    assert libra.read(twice).equals(again)


def test_frames_for_pandas_have_both_times() -> None:
    pytest.importorskip("pandas")
    frame = libra.read(table()).to_pandas()
    assert list(frame.columns[:4]) == ["case:concept:name", "concept:name", "time:timestamp", "start_timestamp"]
    assert rows_of(libra.read(frame)) == INSTANCES


def test_pm4py_reads_the_same_instances(tmp_path: Path) -> None:
    pytest.importorskip("pm4py")
    libra.write(libra.read(table()), tmp_path / "log.xes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        import pm4py
        from pm4py.objects.log.util import interval_lifecycle

        read = pm4py.read_xes(str(tmp_path / "log.xes"), variant="line_by_line")
        theirs = interval_lifecycle.to_interval(pm4py.convert_to_event_log(read))
    found = [
        (case, event["concept:name"], event["start_timestamp"].to_pydatetime(), event["time:timestamp"].to_pydatetime())
        for case, trace in enumerate(theirs)
        for event in trace
    ]
    ours = [(case, name, at(end if start is None else start), at(end)) for case, name, start, end, *_ in INSTANCES]
    assert sorted(found) == sorted(ours)  # theirs come by start


class TestStartColumns:
    """A column says when rows started."""

    ROWS = ("1,A,08:00,09:00,ann", "1,B,08:30,08:45,bob", "1,C,09:30,09:30,ann", "2,A,10:00,09:00,bob", "2,B,,11:00,")

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "log.csv"
        dated = [",".join(f"2024-05-06 {cell}" if ":" in cell else cell for cell in row.split(",")) for row in self.ROWS]
        path.write_text("\n".join(["case,step,started,done,who", *dated, ""]))
        return path

    FOUND = (("B", "08:30", "08:45"), ("A", "08:00", "09:00"), ("C", None, "09:30"), ("A", None, "09:00"), ("B", None, "11:00"))

    def rows(self, log: EventLog) -> tuple[tuple[Any, ...], ...]:
        clocks = (pl.col(name).dt.to_string("%H:%M") for name in ("start_timestamp", "time:timestamp"))
        return tuple(log.events.select("concept:name", *clocks).rows())

    def test_rows_are_instances_by_completion(self, path: Path) -> None:
        log = libra.read(path, timestamp="done")
        assert self.rows(log) == self.FOUND
        assert STARTS_READ in log.notes

    def test_batches_say_the_same(self, path: Path) -> None:
        batches = batches_of(path, libra.keywords.read_options(timestamp="done"))
        assert (batches.instances, batches.has_starts) == ("pair", True)
        events = pl.concat(list(batches)).sort("case", "micros", maintain_order=True)
        times = (pl.from_epoch(pl.col(name), "us").dt.to_string("%H:%M") for name in ("start", "micros"))
        assert tuple(events.select("activity", *times).rows()) == self.FOUND

    def test_a_description_names_the_column(self, path: Path) -> None:
        found = libra.describe(path, timestamp="done", instances="pair")
        assert (found.start_timestamp, found.instances) == ("started", "pair")
        assert self.rows(libra.read(path, description=found)) == self.FOUND
        batches = batches_of(path, found.options())
        assert pl.concat(list(batches))["start"].null_count() == 3

    def test_completions_alone(self, path: Path) -> None:
        log = libra.read(path, timestamp="done", instances="complete")
        assert "start_timestamp" not in log.events.columns
        assert STARTS_DROPPED in log.notes
        assert log.events["concept:name"].to_list() == ["A", "B", "C", "A", "B"]
        assert "start" not in pl.concat(
            list(batches_of(path, libra.keywords.read_options(timestamp="done", instances="complete")))
        )

    def test_a_start_of_the_whole_case_is_none_of_its_rows(self, path: Path) -> None:
        path.write_text(
            "case,step,start date,time\n1,A,2024-05-01,2024-05-06\n1,B,2024-05-01,2024-05-07\n2,A,2024-05-03,2024-05-08\n"
        )
        assert libra.read(path).instances is None
        assert batches_of(path, ReadOptions()).instances is None
        assert libra.describe(path).instances is None
        assert libra.read(path, start_timestamp="start date").instances == "pair"


def test_instances_are_refused_where_they_turn_up_late(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("frames.SAMPLE", 2), ("frames.BATCH", 2), ("csv_read.PIECE", 80), ("csv_read.HEAD", 120)):
        monkeypatch.setattr(f"libra.eventlog.tables.{name}", value)
    monkeypatch.setattr("libra.eventlog.xes.read.SAMPLE", 2)
    monkeypatch.setattr("libra.eventlog.xes.read.STRETCH", 200)
    late = tmp_path / f"late{file.suffix}"
    before = [(f"a{i}", "A", "complete", 1, "ann", None) for i in range(20)]
    libra.write(libra.read(table([*before, *EVENTS]), instances="events"), late)
    batches = batches_of(late, ReadOptions())
    assert batches.instances is None
    with pytest.raises(InputError, match="--instances pair, complete or events"):
        list(batches)
    assert pl.concat(list(batches_of(late, ReadOptions(instances="pair"))))["is_start"].sum() == 5


def test_instances_by_number_come_before_the_resource() -> None:
    frame = table(EVENTS[6:11]).with_columns(pl.Series("concept:instance", [None, 7, 8, 7, 8]))
    assert [row[2:4] for row in rows_of(libra.read(frame.with_columns(note=pl.lit("n"))))] == [(None, 4), (6, 8), (7, 9)]


def test_a_transition_that_is_part_of_the_activity_pairs_nothing() -> None:
    log = libra.read(table(), activity=["concept:name", "lifecycle:transition"], drop_invalid=True)
    assert (log.instances, log.n_events) == (None, len(EVENTS) - 1)
    options = libra.keywords.read_options(activity=["concept:name", "lifecycle:transition"], drop_invalid=True)
    assert batches_of(table(), options).instances is None


STARTS = "case:concept:name,concept:name,start_timestamp,time:timestamp\n"


@pytest.mark.parametrize("instances", [None, "pair"])
def test_a_start_that_cannot_be_read_is_an_error_and_takes_away_nobodys(instances: InstanceMode | None, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"{STARTS}c,A,2024-01-01T07:00:00Z,2024-01-01T08:00:00Z\nd,A,n/a,2024-01-01T08:00:00Z\n")
    for reader in (libra.read, lambda source, **said: list(batches_of(source, ReadOptions(**said)))):
        with pytest.raises(InputError, match=r'line 3: timestamp "n/a" cannot be read'):
            reader(file, instances=instances)


@pytest.mark.parametrize("instances", [None, "pair"])
def test_starts_declared_with_two_types_are_an_error(instances: InstanceMode | None, tmp_path: Path) -> None:
    def trace(name: str, kind: str, start: str) -> str:
        own = '<string key="concept:name" value="A"/><date key="time:timestamp" value="2024-01-01T08:00:00Z"/>'
        event = f'<event>{own}<{kind} key="start_timestamp" value="{start}"/></event>'
        return f'<trace><string key="concept:name" value="{name}"/>{event}</trace>'

    file = tmp_path / "log.xes"
    file.write_text(f"<log>{trace('c', 'date', '2024-01-01T07:00:00Z')}{trace('d', 'string', 'soon')}</log>")
    for reader in (libra.read, lambda source, **said: list(batches_of(source, ReadOptions(**said)))):
        with pytest.raises(InputError, match='"start_timestamp" is declared as string here, and as date before'):
            reader(file, instances=instances)
    file.write_text(f"<log>{trace('c', 'date', '2024-01-01T07:00:00Z')}{trace('d', 'date', 'soon')}</log>")
    with pytest.raises(InputError, match='timestamp "soon" cannot be read'):
        libra.read(file, instances=instances)


def test_a_start_after_the_first_rows_is_refused_in_batches_until_instances_are_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"c{i},A,,2024-01-01T08:00:00Z" for i in range(40)]
    (tmp_path / "log.csv").write_text("\n".join([STARTS.strip(), *rows, "x,A,2024-01-01T07:00:00Z,2024-01-01T08:00:00Z\n"]))
    read_little(monkeypatch, 2, 5, 40, 240)
    with pytest.raises(InputError, match=r"here an event has a start timestamp, and none before it has\. Say --instances"):
        list(batches_of(tmp_path / "log.csv", ReadOptions()))
    late = pl.concat(list(batches_of(tmp_path / "log.csv", ReadOptions(instances="pair"))))
    assert late["start"].null_count() == 40


def test_a_case_attribute_that_differs_within_one_case_pairs_nobody_by_it() -> None:
    rows = [(f"c{i}", kind, 0 if kind == "start" else 1, "same") for i in range(3) for kind in ("start", "complete")]
    names = ["case:concept:name", "lifecycle:transition", "time:timestamp", "case:concept:instance"]

    def instances_of(some: list[tuple[Any, ...]]) -> pl.DataFrame:
        table = pl.DataFrame(some, schema=names, orient="row").with_columns(
            pl.col("time:timestamp").map_elements(at, return_dtype=pl.Datetime("us", "UTC")), pl.lit("A").alias("concept:name")
        )
        by = table.with_columns(pl.col("lifecycle:transition").alias("org:resource"))  # start and completion by different ones
        return libra.read(by, instances="pair").events.select("@case", "time:timestamp", "start_timestamp")

    other = [("x", "start", 0, "one"), ("x", "complete", 1, "other")]
    assert instances_of(rows).height == 6
    assert instances_of([*rows, *other])[:6].equals(instances_of(rows))


def test_a_named_time_declared_with_two_types_is_an_error(tmp_path: Path) -> None:
    """Read as text, those of everybody else would be in another zone."""

    def trace(name: str, kind: str) -> str:
        event = f'<string key="concept:name" value="A"/><{kind} key="when" value="2024-01-01T08:00:00"/>'
        return f'<trace><string key="concept:name" value="{name}"/><event>{event}</event></trace>'

    file = tmp_path / "log.xes"
    file.write_text(f"<log>{trace('c', 'date')}{trace('d', 'string')}</log>")
    for reader in (read, lambda source, options: list(batches_of(source, options))):
        with pytest.raises(InputError, match='"when" is declared as string here, and as date before'):
            reader(file, ReadOptions(RoleNames(timestamp="when")))


def test_a_start_time_after_rows_that_pair_by_transitions_is_refused_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "case:concept:name,concept:name,lifecycle:transition,start_timestamp,time:timestamp"
    rows = [f"c{i // 2},A,{('start', 'complete')[i % 2]},,2024-01-01T0{7 + i % 2}:00:00Z" for i in range(40)]
    (tmp_path / "log.csv").write_text("\n".join([head, *rows, "x,A,complete,2024-01-01T07:00:00Z,2024-01-01T08:00:00Z\n"]))
    read_little(monkeypatch, 2, 5, 40, 400)
    with pytest.raises(InputError, match="here an event has a start timestamp, and none before it has"):
        list(batches_of(tmp_path / "log.csv", ReadOptions()))
