"""Whether events are paired is never decided by a few cases: such a log is refused until it is said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import libra
from libra.errors import InputError
from libra.eventlog.notes import OpenChoice
from libra.eventlog.pairing import PAIRED, STARTS_READ

ENGINES = ["polars", "polars-streaming"]
FEW = r"fewer than 10 cases .*\. Say --instances pair, complete or events, or give a description"
HEAD = ["case:concept:name", "concept:name", "lifecycle:transition", "time:timestamp"]


def table(starting: int, completing: int = 30, *, whose: bool = False) -> pl.DataFrame:
    """Cases that are scheduled; so many of them are also started, and so many completed."""
    rows = [(f"c{i:02}", "A", "schedule", 6, "ann") for i in range(30)]
    rows += [(f"c{i:02}", "A", "complete", 8, "ann") for i in range(completing)]
    rows += [(f"c{i:02}", "A", "start", 7, "ann") for i in range(starting)]
    moment = pl.datetime(2024, 5, 6, pl.col("time:timestamp"), time_zone="UTC")
    made = pl.DataFrame(rows, schema=[*HEAD, "patient"], orient="row").with_columns(moment.alias("time:timestamp"))
    return made.sort("case:concept:name", maintain_order=True).drop([] if whose else "patient")


@pytest.fixture(params=["xes", "csv", "parquet"])
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def written(folder: Path, ending: str, frame: pl.DataFrame) -> Path:
    file = folder / f"log.{ending}"
    libra.write(libra.read(frame, instances="events"), file)
    return file


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("starting", "completing"), [(1, 30), (9, 30), (30, 1)])
def test_few_cases_do_not_decide(starting: int, completing: int, engine: str, ending: str, tmp_path: Path) -> None:
    file = written(tmp_path, ending, table(starting, completing))
    with pytest.raises(InputError, match=FEW):
        libra.anonymize(file, engine=engine)
    for mode in ("pair", "complete", "events"):
        assert libra.anonymize(file, engine=engine, instances=mode).guarantee.kind == "proved"
    described = libra.describe(file, instances="pair")
    assert libra.anonymize(file, engine=engine, description=described).guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ENGINES)
def test_many_do_and_nobody_has_nothing_to_decide(engine: str, ending: str, tmp_path: Path) -> None:
    for starting, completing, paired in ((10, 30, True), (30, 10, True), (0, 30, False), (30, 0, False)):
        file = written(tmp_path, ending, table(starting, completing))
        release = libra.anonymize(file, engine=engine)
        assert any(note in (PAIRED, STARTS_READ) for note in release.reading) == paired
        assert not any(isinstance(note, OpenChoice) for note in release.reading)


def test_to_look_at_a_log_a_note_will_do(ending: str, tmp_path: Path) -> None:
    log = libra.read(written(tmp_path, ending, table(1)))
    assert PAIRED in log.notes
    assert log.instances == "pair"


@pytest.mark.parametrize("engine", ENGINES)
def test_all_cases_count_not_those_that_are_looked_at_first(
    engine: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agreement import read_little

    read_little(monkeypatch, 5, 8, 400, 700)
    assert libra.anonymize(written(tmp_path, ending, table(20)), engine=engine).guarantee.kind == "proved"
    with pytest.raises(InputError, match=FEW):
        libra.anonymize(written(tmp_path, ending, table(5)), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_cases_of_one_individual_decide_nothing(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    table(20, whose=True).with_columns(pl.col("time:timestamp").dt.to_string("%+")).write_csv(file)
    with pytest.raises(InputError, match=FEW):
        libra.anonymize(file, engine=engine, individual="patient")
    assert libra.anonymize(file, engine=engine).guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("starting", "kind"), [(0, "clear"), (1, "open"), (9, "open"), (10, "clear")])
def test_few_start_times_do_not_decide(starting: int, kind: str, engine: str, tmp_path: Path) -> None:
    rows = [f"c{i},A,{'2024-05-06T07:00:00Z' if i < starting else ''},2024-05-06T08:00:00Z" for i in range(30)]
    file = tmp_path / "log.csv"
    file.write_text("\n".join(["case:concept:name,concept:name,start_timestamp,time:timestamp", *rows]) + "\n")
    if kind == "open":
        with pytest.raises(InputError, match=FEW):
            libra.anonymize(file, engine=engine)
    else:
        assert libra.anonymize(file, engine=engine).guarantee.kind == "proved"
    assert libra.anonymize(file, engine=engine, instances="pair").guarantee.kind == "proved"
