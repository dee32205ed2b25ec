"""`libra anonymize --engine polars-streaming`: the same promises as in memory, for files that do not fit there."""

from __future__ import annotations

import gzip
import json
import stat
import tempfile
from pathlib import Path

import polars as pl
import pytest

import libra
from libra import example, releasing
from libra.engines.polars_streaming import spill
from libra.errors import UsageError
from libra.eventlog.in_parts import LogInParts
from libra.mechanisms.libra import generate

from .conftest import Run

STREAMING = ("--engine", "polars-streaming")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example log as a table in the order of time."""
    path = tmp_path_factory.mktemp("lake") / "events.parquet"
    libra.read(example.path()).to_polars().sort("time:timestamp").write_parquet(path, row_group_size=1000)
    return path


@pytest.fixture
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little that everything spills, and logs come in many parts."""
    monkeypatch.setattr(spill, "DEALT", 500)
    monkeypatch.setattr(spill, "BUCKET_EVENTS", 1000)
    monkeypatch.setattr(spill, "HELD", 50_000)
    monkeypatch.setattr(generate, "PART_EVENTS", 2_000)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.csv.gz", "out.xes", "out.xes.gz"])
def test_a_release_is_written_certified_and_verified_in_every_format(
    lake: Path, tmp_path: Path, run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate.planned, "__kwdefaults__", {"part_events": 2_000})
    monkeypatch.setattr(generate, "PART_EVENTS", 2_000)
    out, certificate = tmp_path / name, tmp_path / "certificate.json"
    answer = run("anonymize", lake, "-o", out, *STREAMING, "--certificate", certificate, "--json")
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)
    assert told["engine"] == "polars-streaming"
    released = libra.read(out)
    assert told["released"] == {
        "cases": released.n_cases,
        "events": released.n_events,
        "variants": len(released.variants),
    }
    assert abs(released.n_cases - 2000) < 400
    assert len(set(released.cases["concept:name"])) == released.n_cases
    assert run("verify", certificate, out).code == 0


@pytest.mark.usefixtures("_little_memory")
def test_what_is_promised_and_spent_is_the_same_as_in_memory(lake: Path) -> None:
    engines = ("polars-streaming", "polars")
    streamed, memory = (libra.anonymize(lake, engine=engine, epsilon=2.0, seed=1) for engine in engines)
    assert streamed.guarantee == memory.guarantee
    assert streamed.parameters == memory.parameters
    assert streamed.ledger is not None
    assert memory.ledger is not None
    assert streamed.ledger.asked == memory.ledger.asked
    assert streamed.ledger.mu <= (streamed.ledger.asked or 0) * (1 + 1e-9)
    assert streamed.original is None, "no raw case stays behind"
    errors = [libra.measure(lake, release.log).dfg_l1 or 0.0 for release in (streamed, memory)]
    assert 0 < errors[0] < 2 * errors[1]


def test_a_large_release_is_a_log_in_parts_and_a_log_all_the_same(lake: Path, tmp_path: Path) -> None:
    release = libra.anonymize(lake, engine="polars-streaming", cases=400_000, seed=3)
    assert isinstance(release.log, LogInParts)
    assert release.log.n_cases == 400_000
    release.write(tmp_path / "large.parquet")
    table = pl.scan_parquet(tmp_path / "large.parquet")
    found = table.select(pl.len().alias("events"), pl.col("case:concept:name").n_unique().alias("cases")).collect()
    assert found.row(0, named=True) == {"events": release.log.n_events, "cases": 400_000}


@pytest.mark.parametrize("gamma", [0.3, 0.8])
def test_a_subsample_is_accounted_for(lake: Path, gamma: float) -> None:
    release = libra.anonymize(lake, engine="polars-streaming", gamma=gamma, epsilon=2.0)
    assert release.ledger is not None
    assert release.ledger.rate == gamma
    assert abs(release.log.n_cases - 2000) < 800, "what was left out is made up for"


@pytest.mark.parametrize("source", ["events.parquet", "events.csv", "events.csv.gz", "events.xes.gz"])
def test_every_format_is_read(tmp_path: Path, source: str) -> None:
    libra.write(libra.read(example.path()), tmp_path / source)
    release = libra.anonymize(tmp_path / source, engine="polars-streaming", epsilon=3.0)
    assert abs(release.log.n_cases - 2000) < 300


def test_bad_rows_are_told_in_one_line_with_their_place(tmp_path: Path, run: Run) -> None:
    (tmp_path / "log.csv").write_text("case,activity,time\na,x,2024-05-06T08:00:00Z\na,y,nonsense\n")
    answer = run("anonymize", tmp_path / "log.csv", "-o", tmp_path / "out.csv", *STREAMING)
    assert answer.code == 3
    assert answer.err.count("\n") == 1
    assert "line 3" in answer.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.usefixtures("_little_memory")
def test_nothing_raw_is_left_on_the_disk_whether_it_ends_well_or_not(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    seen: list[int] = []
    spilled = spill.Spill._spill

    def watched(self: spill.Spill) -> None:  # type: ignore[type-arg]  # of any kind of piece
        spilled(self)
        seen.extend(stat.S_IMODE(folder.stat().st_mode) for folder in scratch.iterdir())

    monkeypatch.setattr(spill.Spill, "_spill", watched)
    libra.anonymize(lake, engine="polars-streaming")
    assert set(seen) == {0o700}
    assert list(scratch.iterdir()) == []
    broken = tmp_path / "broken.csv.gz"
    rows = "".join(f"c{i % 50},x,2024-05-06T08:00:00Z\n" for i in range(4000))
    broken.write_bytes(gzip.compress(f"case,activity,time\n{rows}c1,,2024-05-06\n".encode()))
    with pytest.raises(libra.LibraError):
        libra.anonymize(broken, engine="polars-streaming")
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "dask"), "engine has to be one of polars, polars-streaming, spark"),
        (("--mechanism", "travas", *STREAMING), "travas supports only in-memory logs"),
        (("--master", "local[2]"), "--master is only for Spark"),
        ((*STREAMING, "--report", "page.html"), "compares with the original in memory"),
        (("--mechanism", "travas", "--model", "model.json"), "no model to write"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read(
    lake: Path, tmp_path: Path, run: Run, words: tuple[str, ...], said: str
) -> None:
    answer = run("anonymize", lake, "-o", tmp_path / "out.parquet", *words)
    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "out.parquet").exists()


def test_a_public_page_needs_no_original(lake: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "page.html"
    answer = run("anonymize", lake, "-o", tmp_path / "out.parquet", *STREAMING, "--report", page, "--public")
    assert answer.code == 0, answer.err
    assert "CONFIDENTIAL" not in page.read_text(encoding="utf-8")


def test_a_file_that_would_not_fit_is_streamed_by_itself(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert releasing.engine_for(lake, None) == "polars"
    monkeypatch.setattr(releasing, "SHARE", 1e-9)
    assert releasing.engine_for(lake, None) == "polars-streaming"
    assert releasing.engine_for(lake, "polars") == "polars"
    assert releasing.engine_for(lake, None, "travas") == "polars"


def test_frames_are_streamed_too_and_other_things_are_not(lake: Path) -> None:
    release = libra.anonymize(pl.scan_parquet(lake), engine="polars-streaming", epsilon=3.0)
    assert release.log.n_cases > 1000
    with pytest.raises(UsageError, match="reads files and frames of Polars"):
        libra.anonymize(libra.read(example.path()), engine="polars-streaming")


def test_a_model_is_written_and_makes_logs_of_any_size(lake: Path, tmp_path: Path, run: Run) -> None:
    model = tmp_path / "model.json"
    assert run("anonymize", lake, "-o", tmp_path / "out.parquet", *STREAMING, "--model", model, "--epsilon", "3").code == 0
    answer = run("simulate", "--model", model, "--cases", "5000", "-o", tmp_path / "more.parquet")
    assert answer.code == 0, answer.err
    assert libra.read(tmp_path / "more.parquet").n_cases == 5000


def test_events_out_of_time_order_are_noted_as_in_memory(tmp_path: Path, run: Run) -> None:
    (tmp_path / "log.csv").write_text(
        "case,activity,time\na,x,2024-05-06T08:00:00Z\nb,x,2024-05-06T07:00:00Z\na,y,2024-05-06T07:30:00Z\n"
    )
    noted = run("anonymize", tmp_path / "log.csv", "-o", tmp_path / "out.csv", *STREAMING).err
    assert "events out of time order" in noted
    ordered = run("anonymize", tmp_path / "log.csv", "-o", tmp_path / "out.csv", *STREAMING, "--sort-by-time").err
    assert "events out of time order" not in ordered


def test_an_address_in_a_cloud_is_never_read_into_memory() -> None:
    assert releasing.engine_for("s3://bucket/events.parquet", None) == "polars-streaming"


def test_what_spark_cannot_write_is_refused_before_spark_starts(lake: Path, tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", lake, "-o", tmp_path / "out.xes", "--engine", "spark")
    assert answer.code in (2, 3)
    assert "Parquet or CSV" in answer.err
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "something").touch()
    there = run("anonymize", lake, "-o", tmp_path / "out.parquet", "--engine", "spark")
    assert there.code == 3
    assert "it already exists. Name a folder" in there.err
