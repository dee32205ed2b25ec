"""Files, folders, patterns and frames all give their events; real logs give those that memory gives."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from agreement import agree, in_batches
from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import batches_of, read
from libra.eventlog.write import write

NAMES = ("bpic13", "bpic20", "sepsis", "urineweginfectie")  # all eight go through the streaming engine, in tests/engines
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def frame(case: str, *activities: str) -> pl.DataFrame:
    n = len(activities)
    return pl.DataFrame({"case": [case] * n, "activity": activities, "time": [NOON] * n})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as Spark leaves it: files, marks of success, check sums, what is under way."""
    lake = tmp_path / "lake"
    (lake / "_temporary").mkdir(parents=True)
    (lake / "day=2024-05-06").mkdir()
    frame("y", "c").write_parquet(lake / "part-00002.parquet")
    frame("x", "a", "b").write_parquet(lake / "part-00001.snappy.parquet")
    frame("z", "never").write_parquet(lake / "_temporary" / "part-00003.parquet")
    frame("z", "never").write_parquet(lake / ".part-00004.parquet")
    (lake / "_SUCCESS").write_bytes(b"")
    (lake / ".part-00002.parquet.crc").write_bytes(b"crc")
    return lake


def test_a_folder_of_parquet_files_is_one_log(folder: Path) -> None:
    log = read(folder, ReadOptions())
    assert log.cases["concept:name"].to_list() == ["x", "y"]
    assert log.events["concept:name"].to_list() == ["a", "b", "c"]
    agree(folder)
    assert batches_of(folder, ReadOptions()).estimated_events == 3


def test_folders_called_after_a_value_are_a_column(folder: Path) -> None:
    for file in folder.glob("*.parquet"):
        file.rename(folder / "day=2024-05-06" / file.name)
    assert set(read(folder, ReadOptions()).events["day"]) == {"2024-05-06"}
    agree(folder)


def test_a_pattern_names_files_in_the_order_of_their_names(folder: Path) -> None:
    batches = pl.concat(batches_of(folder / "part-*.parquet", ReadOptions()))
    assert batches["activity"].to_list() == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"part-9\*\.parquet: there is no such file"):
        batches_of(folder / "part-9*.parquet", ReadOptions())
    (folder / "part-00003.csv").write_text("case,activity,time\n")
    with pytest.raises(InputError, match=r"part-00003\.csv: only Parquet files are read several at a time"):
        batches_of(folder / "part-*", ReadOptions())


def test_a_folder_without_parquet_files_is_still_no_log(tmp_path: Path) -> None:
    (tmp_path / "_part.parquet").write_bytes(b"PAR1")
    for reader in (read, batches_of):
        with pytest.raises(InputError, match=r"this is a folder\. Name a file in it"):
            reader(tmp_path, ReadOptions())


def test_a_damaged_file_is_told_in_one_line_wherever_the_damage_is(tmp_path: Path) -> None:
    file = tmp_path / "log.parquet"
    pl.concat([frame(f"case {i}", *(str(j) for j in range(i % 9 + 1))) for i in range(2000)]).write_parquet(file)
    intact = file.read_bytes()
    for damaged in (intact[:-20], intact[:4000] + b"\xff" * 2000 + intact[6000:], b"PAR1"):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=r"log\.parquet: this is not an intact Parquet file") as told:
            list(batches_of(file, ReadOptions()))
        assert "\n" not in str(told.value)


def test_our_own_file_brings_its_individual(tmp_path: Path, small_log: EventLog) -> None:
    log = EventLog(small_log.events, small_log.cases, individual="age")  # one case does not say
    write(log, tmp_path / "log.parquet")
    agree(tmp_path / "log.parquet")
    assert [whose for _, _, whose in in_batches(tmp_path / "log.parquet", ReadOptions())] == [0, 1, 2]
    write(EventLog(small_log.events, small_log.cases, individual="insurance"), tmp_path / "log.parquet")
    assert [whose for _, _, whose in in_batches(tmp_path / "log.parquet", ReadOptions())] == [0, 1, 0]


def test_batches_can_be_gone_through_again(tmp_path: Path, small_log: EventLog) -> None:
    for name in ("log.csv", "log.xes", "log.parquet"):
        write(small_log, tmp_path / name)
        events = batches_of(tmp_path / name, ReadOptions())
        first, second = pl.concat(events), pl.concat(events)
        assert first.equals(second)
        assert first.height == small_log.n_events


def test_only_a_few_batches_may_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.eventlog.tables.frames.BATCH", 1)
    write(read(frame("x", *"abcdefgh"), ReadOptions()), tmp_path / "log.parquet")
    batches = iter(batches_of(tmp_path / "log.parquet", ReadOptions()))
    assert next(batches)["activity"].to_list() == ["a"]


def test_progress_ends_at_the_whole(tmp_path: Path, small_log: EventLog) -> None:
    for name in ("log.csv", "log.xes", "log.parquet"):
        write(small_log, tmp_path / name)
        steps: list[tuple[int, int]] = []
        list(batches_of(tmp_path / name, ReadOptions(progress=lambda *step, steps=steps: steps.append(step))))
        assert steps[-1][0] == steps[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_public_logs_are_read_as_in_memory(name: str, shared_logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = shared_logs / f"{name}.xes.gz"
    log = read(source, ReadOptions())
    expected = log.events.select(
        case=pl.col("@case"), activity=pl.col("concept:name"), micros=pl.col("time:timestamp").to_physical()
    )
    monkeypatch.setattr("libra.eventlog.tables.csv_read.PIECE", 300_000)
    monkeypatch.setattr("libra.eventlog.tables.frames.BATCH", 10_007)
    targets = (tmp_path / "log.csv", tmp_path / "log.parquet")
    for target in targets:
        write(log, target)
    for path in (source, *targets):
        rows = pl.concat(batches_of(path, ReadOptions())).with_row_index()
        grouped = rows.with_columns(pl.col("index").min().over("case").alias("first")).sort("first", maintain_order=True)
        ours = grouped.select(pl.col("first").rle_id().alias("case"), "activity", "micros")
        assert ours.equals(expected)
