"""Whoever is in a file or not: everybody else is read alike, and so is whose case is whose. For every format and way of reading.

Columns, formats and the encoding are named, as a custodian would. Files that are refused as a whole do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from neighbouring_files import (
    ANY_TEXT,
    COLUMNS,
    DECLARED,
    MIXED,
    NO_BLANKS,
    READ,
    SAFE_IN_PANDAS,
    Neighbours,
    Row,
    Values,
    as_csv,
    as_frame,
    as_pandas,
    as_working_csv,
    as_working_xes,
    as_xes,
    neighbours,
    put,
    working_neighbours,
)

from agreement import paired_rows
from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Unit
from libra.engines.control_flow_tables import Lengths, Size
from libra.engines.polars import LogInMemory
from libra.engines.polars_streaming.source import StreamedLog
from libra.engines.time_tables import CaseDurations, Granularity, StartHours
from libra.errors import InputError
from libra.eventlog.ids import whose_cases
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of, read

Seen = dict[int, tuple[str, frozenset[int], frozenset[int]]]
Way = Callable[[Any, ReadOptions], Seen]
checked = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


def in_memory(source: Any, options: ReadOptions) -> Seen:
    """For every event, known by its time, its label, the events of its case, and those of its individual."""
    log = read(source, options)
    case = log.events["@case"].to_numpy()
    return _seen(log.events["concept:name"], pl.Series(log.timestamps), pl.Series(case), pl.Series(whose_cases(log)[case]))


def in_batches(source: Any, options: ReadOptions) -> Seen:
    """The same, by the reader of logs larger than memory."""
    batches = list(batches_of(source, options))
    if not batches:
        return {}
    events = pl.concat(batches)
    return _seen(events["activity"], events["micros"], events["case"], events["individual"])


def _seen(activity: pl.Series, micros: pl.Series, case: pl.Series, whose: pl.Series) -> Seen:
    events = pl.DataFrame([activity.alias("activity"), micros.alias("micros"), case.alias("case"), whose.alias("whose")])
    together = events.with_columns(pl.col("micros").implode().over(name).alias(f"of_{name}") for name in ("case", "whose"))
    rows = together.select("micros", "activity", "of_case", "of_whose").iter_rows()
    return {micros: (activity, frozenset(of_case), frozenset(of_whose)) for micros, activity, of_case, of_whose in rows}


@pytest.fixture
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a few rows, and a few rows to decide on."""
    monkeypatch.setattr("libra.eventlog.tables.frames.BATCH", 2)
    monkeypatch.setattr("libra.eventlog.tables.frames.SAMPLE", 2)
    monkeypatch.setattr("libra.eventlog.tables.csv_read.PIECE", 80)
    monkeypatch.setattr("libra.eventlog.tables.csv_read.HEAD", 120)
    monkeypatch.setattr("libra.eventlog.xes.read.SAMPLE", 2)
    monkeypatch.setattr("libra.eventlog.xes.read.STRETCH", 200)


@pytest.fixture(params=["in memory", "in batches"])
def way(request: pytest.FixtureRequest) -> Way:
    if request.param == "in batches":
        request.getfixturevalue("_little")
    return in_memory if request.param == "in memory" else in_batches


def assert_others_alike(them: Neighbours, written: Callable[[list[Row]], Any], way: Way, options: ReadOptions) -> None:
    """That everybody else's events are the same, with one individual's events in the file and without them."""
    try:
        everybody, others = way(written(them.rows), options), way(written(them.others), options)
    except InputError:
        assume(False)
    kept = {int(row.when.timestamp() * 1e6) for row in them.others if row.when is not None}
    assert {
        micros: (activity, case & kept, whose & kept) for micros, (activity, case, whose) in everybody.items() if micros in kept
    } == others


@checked
@given(them=neighbours(NO_BLANKS, ANY_TEXT, ANY_TEXT), delimiter=st.sampled_from((",", ";", "\t")))
def test_csv(tmp_path: Path, way: Way, delimiter: str, them: Neighbours) -> None:
    options = replace(READ, delimiter=delimiter)
    assert_others_alike(them, lambda rows: put(tmp_path / "a.csv", as_csv(rows, delimiter)), way, options)


@settings(checked, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(them=neighbours(NO_BLANKS, NO_BLANKS, NO_BLANKS))
def test_csv_with_quotation_marks_in_odd_places(tmp_path: Path, way: Way, them: Neighbours) -> None:
    assert_others_alike(them, lambda rows: put(tmp_path / "a.csv", as_csv(rows, raw_notes=True)), way, READ)


@checked
@given(them=neighbours(NO_BLANKS, ANY_TEXT, ANY_TEXT), joined=st.booleans())
def test_ids_and_labels_of_several_columns(tmp_path: Path, way: Way, them: Neighbours, joined: bool) -> None:
    names = RoleNames(("case", "whose"), ("activity", "whose") if joined else ("activity",), "when", individual="whose")
    options = replace(READ, roles=names)
    assert_others_alike(them, lambda rows: put(tmp_path / "a.csv", as_csv(rows)), way, options)


@checked
@given(them=neighbours(DECLARED, DECLARED, DECLARED), by_name=st.booleans())
def test_xes(tmp_path: Path, way: Way, them: Neighbours, by_name: bool) -> None:
    options = replace(READ, roles=RoleNames(individual="case:concept:name" if by_name else "whose"), timestamp_format=None)
    assert_others_alike(them, lambda rows: put(tmp_path / "a.xes", as_xes(rows)), way, options)


@st.composite
def typed(draw: st.DrawFn) -> tuple[Neighbours, list[Any]]:
    """Neighbours in a table whose columns have types."""
    types = [draw(st.sampled_from(list(COLUMNS))) for _ in range(3)]
    return draw(
        neighbours(*(Values(COLUMNS[kind], (COLUMNS[kind], COLUMNS[kind][:2], COLUMNS[kind][:1])) for kind in types))
    ), types


@checked
@given(table=typed(), as_file=st.booleans())
def test_frames_and_parquet(tmp_path: Path, way: Way, table: tuple[Neighbours, list[Any]], as_file: bool) -> None:
    def written(rows: list[Row]) -> pl.DataFrame | Path:
        frame = as_frame(rows, types)
        if not as_file:
            return frame
        frame.write_parquet(tmp_path / "a.parquet")
        return tmp_path / "a.parquet"

    them, types = table
    assert_others_alike(them, written, way, replace(READ, timestamp_format=None))


@pytest.mark.parametrize("as_objects", [True, False])
@settings(checked, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(data=st.data())
def test_pandas(as_objects: bool, data: st.DataObject) -> None:
    mixed = MIXED if as_objects else SAFE_IN_PANDAS
    them = data.draw(neighbours(mixed, mixed, mixed))
    options = replace(READ, timestamp_format=None)
    assert_others_alike(them, lambda rows: as_pandas(rows, as_objects=as_objects), in_memory, options)


@checked
@given(them=neighbours(NO_BLANKS, ANY_TEXT, NO_BLANKS))
def test_folders_of_a_lake(tmp_path: Path, way: Way, them: Neighbours) -> None:
    """Folders called `whose=7`, one for each individual."""

    def written(rows: list[Row]) -> Path:
        lake = tmp_path / str(len(list(tmp_path.iterdir())))
        for whose in {row.whose for row in rows}:
            folder = lake / f"whose={whose}"
            folder.mkdir(parents=True)
            of_them = as_frame([row for row in rows if row.whose == whose], [pl.String()] * 3)
            of_them.drop("whose").write_parquet(folder / "a.parquet")
        lake.mkdir(exist_ok=True)
        return lake

    assert_others_alike(them, written, way, replace(READ, timestamp_format=None))


def instances(source: Path, options: ReadOptions, way: Way) -> dict[int, tuple[str, int | None]]:
    """For every activity instance, known by its completion, its activity and its start, as a log or an engine has them."""
    if way is in_memory:
        log = read(source, options)
        start = log.events["start_timestamp"] if options.instances == "pair" else pl.repeat(None, log.n_events, eager=True)
        return dict(zip(log.timestamps.tolist(), zip(log.events["concept:name"], start.to_physical(), strict=True), strict=True))
    batches = list(batches_of(source, options))
    events = pl.concat(batches).sort("case", maintain_order=True) if batches else pl.DataFrame()
    if "is_start" in events.columns:
        events = paired_rows(events, "case")
    if not events.width:
        return {}
    starts = events["start"] if "start" in events.columns else pl.repeat(None, events.height, eager=True)
    return dict(zip(events["micros"], zip(events["activity"], starts, strict=True), strict=True))


@pytest.mark.parametrize(("form", "how"), [("csv", "pair"), ("xes", "pair"), ("csv", "complete"), ("csv", "starts")])
@checked
@given(them=working_neighbours())
def test_activity_instances(tmp_path: Path, way: Way, form: str, how: str, them: Neighbours) -> None:
    start = "started" if how == "starts" else None
    names = RoleNames(("case",), ("activity",), "when", start_timestamp=start, lifecycle="transition", resource="who")
    options = replace(READ, roles=names, instances="complete" if how == "complete" else "pair")
    if form == "xes":
        options = replace(options, roles=RoleNames(), timestamp_format=None)
    written = as_working_csv if form == "csv" else as_working_xes

    def found(rows: list[Row]) -> dict[int, tuple[str, int | None]]:
        return instances(put(tmp_path / f"a.{form}", written(rows)), options, way)

    try:
        everybody, others = found(them.rows), found(them.others)
    except InputError:
        assume(False)
    kept = {int(row.when.timestamp() * 1e6) for row in them.others if row.when is not None}
    assert {micros: said for micros, said in everybody.items() if micros in kept} == others


@settings(checked, max_examples=10)
@given(them=neighbours(NO_BLANKS, NO_BLANKS, NO_BLANKS))
def test_counts_of_everybody_are_those_of_the_others_and_of_the_one(tmp_path: Path, them: Neighbours) -> None:
    asked: list[Any] = [Size(), Lengths(), CaseDurations(), StartHours("Europe/Amsterdam"), Granularity("UTC")]
    one = [row for row, own in zip(them.rows, them.theirs, strict=True) if own]

    def counted(rows: list[Row], unit: Unit) -> list[list[Any]]:
        file = put(tmp_path / "a.csv", as_csv(rows))
        logs = (LogInMemory(read(file, READ)), StreamedLog(batches_of(file, READ)))
        return [log.engine(unit, Randomness(seed=1)).count_all(asked) for log in logs]

    try:
        for everybody, others, theirs in zip(*(counted(rows, CASE) for rows in (them.rows, them.others, one)), strict=True):
            for table, of_others, of_one in zip(everybody, others, theirs, strict=True):
                assert (table == of_others + of_one).all()
        for everybody, others in zip(*(counted(rows, Unit(most_cases=1)) for rows in (them.rows, them.others)), strict=True):
            assert everybody[0] - others[0] in (0, 1)  # 0 where somebody else has the same id
    except InputError:
        assume(False)
