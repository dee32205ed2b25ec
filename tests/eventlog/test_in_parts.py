"""A log in parts is an event log: known at once, made part by part, and the same as its parts joined."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest

import libra
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.example.simulate import SLICE_CASES, Department, simulate

HEADER = LogMetadata(attributes=(Attribute("concept:name", "string", "in parts"),))
SIZE = 20  # cases of a part
WHOLE = simulate(cases=90)


def part_of(i: int) -> EventLog:
    """Some cases of the bundled process, without their attributes."""
    here = pl.col("@case").is_between(SIZE * i, SIZE * (i + 1) - 1)
    events = WHOLE.events.filter(here).select(pl.col("@case") - SIZE * i, "concept:name", "time:timestamp")
    return EventLog(events, WHOLE.cases.select("concept:name")[SIZE * i : SIZE * (i + 1)], HEADER)


JOINED = EventLog(WHOLE.events.select("@case", "concept:name", "time:timestamp"), WHOLE.cases.select("concept:name"), HEADER)


@pytest.fixture
def log() -> LogInParts:
    return LogInParts(
        5, part_of, n_cases=90, n_events=WHOLE.n_events, n_variants=WHOLE.n_variants, labels=WHOLE.activities, metadata=HEADER
    )


def test_sizes_and_labels_are_known_before_any_part_is_made() -> None:
    def refuse(_i: int) -> EventLog:
        raise AssertionError("a part was made")

    log = LogInParts(3, refuse, n_cases=7, n_events=30, n_variants=5, labels=("a", "b"))
    assert (log.n_cases, log.n_events, log.n_variants, log.activities, log.n_parts) == (7, 30, 5, ["a", "b"], 3)
    assert repr(log) == "LogInParts(concept:name, time:timestamp)"
    with pytest.raises(AssertionError, match="a part was made"):
        _ = log.events


def test_parts_joined_are_the_whole_log(log: LogInParts) -> None:
    assert log.equals(JOINED)
    assert JOINED.equals(log)
    assert log.to_polars().equals(JOINED.to_polars())
    assert len(log.variants) == log.n_variants
    assert sum(part.n_events for part in log.parts()) == log.n_events
    assert log.directly_follows.counts.tolist() == JOINED.directly_follows.counts.tolist()


def test_it_goes_through_a_pickle_and_gets_notes(log: LogInParts) -> None:
    again = pickle.loads(pickle.dumps(log.with_notes("read twice")))  # noqa: S301  # our own
    assert again.notes == ("read twice",)
    assert log.notes == ()
    assert again.equals(JOINED)


def test_it_is_measured_and_inspected_like_any_other(log: LogInParts) -> None:
    assert libra.measure(log, JOINED).dfg_l1 == 0
    assert libra.inspect(log).cases == 90


def test_any_other_log_is_one_part(small_log: EventLog) -> None:
    (only,) = small_log.parts()
    assert only is small_log
    assert small_log.n_variants == 2


def test_where_variants_are_not_known_they_are_counted() -> None:
    log = LogInParts(5, part_of, n_cases=90, n_events=WHOLE.n_events, labels=WHOLE.activities)
    assert log.n_variants == WHOLE.n_variants


def test_a_part_with_attributes_is_refused(small_log: EventLog) -> None:
    log = LogInParts(1, lambda _i: small_log, n_cases=3, n_events=8, labels=small_log.activities)
    with pytest.raises(ValueError, match="other columns than the whole"):
        list(log.parts())
    with pytest.raises(ValueError, match="at least one part"):
        LogInParts(0, part_of, n_cases=0, n_events=0, labels=())


@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz", "log.csv", "log.tsv.zip"])
def test_text_formats_write_it_byte_for_byte_like_the_joined_log(name: str, log: LogInParts, tmp_path: Path) -> None:
    coarse = LogInParts(5, part_of, n_cases=90, n_events=log.n_events, labels=WHOLE.activities, metadata=HEADER, grain=60_000_000)
    files = []
    for folder, written in (("parts", coarse), ("joined", JOINED)):
        (tmp_path / folder).mkdir()
        notes = libra.write(written, tmp_path / folder / name)
        files.append(((tmp_path / folder / name).read_bytes(), notes))
    assert files[0] == files[1]


@pytest.mark.parametrize("name", ["log.xes", "log.csv", "log.parquet"])
def test_what_is_written_in_parts_reads_back_as_the_whole_log(name: str, log: LogInParts, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    libra.write(log, tmp_path / name, progress=lambda done, total: seen.append((done, total)))
    read = libra.read(tmp_path / name)
    assert read.to_polars().equals(JOINED.to_polars())
    assert seen[-1] == (log.n_events, log.n_events)
    if name != "log.csv":
        assert read.metadata.name == "in parts"


def test_times_that_may_be_fine_are_written_finely_in_every_part(log: LogInParts, tmp_path: Path) -> None:
    libra.write(log, tmp_path / "log.csv")
    rows = (tmp_path / "log.csv").read_text().splitlines()[1:]
    assert all(row.endswith(":00.000000+00:00") for row in rows)


def test_a_log_of_several_slices_keeps_its_ids_apart() -> None:
    department = Department(SLICE_CASES + 50, seed=3)
    log = department.case_by_case()
    assert log.n_parts == 2
    last = log.part(1)
    assert last.cases["concept:name"].to_list() == [f"ED-{SLICE_CASES + i}" for i in range(1, 51)]
