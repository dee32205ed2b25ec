"""`libra simulate`: a log of any size in any format, the same for a seed, from the bundled process or from a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import libra
from libra.example.simulate import simulate
from libra.mechanisms.libra.model_file import write_model

from .conftest import Run


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(libra.anonymize(simulate(cases=1000), delta=1e-4), tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz", "log.csv", "log.tsv.zip", "log.parquet"])
def test_every_format_holds_so_many_cases(name: str, tmp_path: Path, run: Run) -> None:
    target = tmp_path / name
    answer = run("simulate", "--cases", 300, "-o", target)
    log = libra.read(target)
    assert (answer.code, answer.out) == (0, f"Wrote {target}: 300 cases, {log.n_events:,} events\n")
    assert log.n_cases == 300
    assert "See doctor" in log.activities


def test_rows_of_a_table_are_in_order_of_time_and_those_of_xes_case_by_case(tmp_path: Path, run: Run) -> None:
    assert run("simulate", "--cases", 300, "-o", tmp_path / "log.parquet").code == 0
    assert run("simulate", "--cases", 300, "-o", tmp_path / "case.parquet", "--order", "case").code == 0
    assert run("simulate", "--cases", 300, "-o", tmp_path / "log.xes").code == 0
    by_time, by_case = (pl.read_parquet(tmp_path / name) for name in ("log.parquet", "case.parquet"))
    assert by_time.columns == ["case:concept:name", "concept:name", "time:timestamp"]
    assert by_time["time:timestamp"].is_sorted()
    assert by_case["case:concept:name"].rle_id().max() == 299
    assert by_time.sort(by_time.columns).equals(by_case.sort(by_time.columns))
    assert libra.read(tmp_path / "log.xes").to_polars().equals(by_case)


def test_a_seed_gives_the_same_file_and_another_one_another(tmp_path: Path, run: Run) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        assert run("simulate", "--cases", 200, "-o", tmp_path / f"{name}.parquet", "--seed", seed).code == 0
    one, again, other = ((tmp_path / f"{name}.parquet").read_bytes() for name in ("one", "again", "other"))
    assert one == again != other


def test_json_says_what_was_written(tmp_path: Path, run: Run) -> None:
    answer = run("simulate", "--cases", 50, "-o", tmp_path / "log.csv", "--json")
    document = json.loads(answer.out)
    assert document.pop("seconds").keys() == {"simulate"}
    events = libra.read(tmp_path / "log.csv").n_events
    assert document == {"output": str(tmp_path / "log.csv"), "cases": 50, "events": events, "order": "time", "notes": []}
    assert answer.err == ""


def test_quiet_says_nothing(tmp_path: Path, run: Run) -> None:
    answer = run("simulate", "--cases", 50, "-o", tmp_path / "log.csv", "--order", "case", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


@pytest.mark.parametrize("name", ["log.xes.gz", "log.parquet"])
def test_a_model_is_scaled_to_any_number_of_cases(name: str, model: Path, run: Run) -> None:
    answer = run("simulate", "--cases", 4000, "-o", model.parent / name, "--model", model)
    log = libra.read(model.parent / name)
    assert answer.code == 0
    assert log.n_cases == 4000
    assert log.cases["concept:name"][-1] == "case-4000"
    assert "Whatever the release is used for" in answer.err


def test_a_model_gives_the_same_log_unless_a_seed_says_otherwise(model: Path, run: Run) -> None:
    logs = []
    for seed in ((), (), ("--seed", 1)):
        assert run("simulate", "--cases", 500, "-o", model.parent / "log.csv", "--model", model, *seed).code == 0
        logs.append((model.parent / "log.csv").read_bytes())
    assert logs[0] == logs[1] != logs[2]


def test_the_model_of_a_seeded_release_says_so_in_every_case_id(tmp_path: Path, run: Run) -> None:
    write_model(libra.anonymize(simulate(cases=1000), seed=1), tmp_path / "model.json")
    assert run("simulate", "--cases", 500, "-o", tmp_path / "log.csv", "--model", tmp_path / "model.json").code == 0
    assert libra.read(tmp_path / "log.csv").cases["concept:name"].str.starts_with("seeded-").all()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--cases", "0", "-o", "log.csv"), 2, "cases has to be a whole number from 1 to"),
        (("--cases", "many", "-o", "log.csv"), 2, "--cases"),
        (("--cases", "5", "-o", "log.docx"), 2, "cannot tell the format"),
        (("--cases", "5", "-o", "log.csv", "--seed", "-1"), 2, "seed has to be a whole number"),
        (("--cases", "5", "-o", "log.xes", "--order", "time"), 2, "XES holds whole cases"),
        (("--cases", "5", "-o", "log.csv", "--order", "size"), 2, "size"),
        (("--cases", "5", "-o", "no/such/log.csv"), 3, "there is no such folder"),
        (("--cases", "5", "-o", "log.csv", "--model", "none.json"), 3, "none.json"),
        (("--cases", "5", "-o", "log.csv", "--model", "table.csv"), 3, "this is not JSON"),
        (("--cases", "5", "-o", "table.csv", "--model", "table.csv"), 2, "would replace the input"),
        (("--cases", "5", "-o", "log.csv", "--model", "table.csv", "--order", "time"), 2, "a model gives whole cases"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_writes_nothing(
    arguments: tuple[str, ...], code: int, told: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("case,activity\n")
    answer = run("simulate", *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith("libra: ")
    assert told in answer.err
    assert answer.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_the_model_of_an_empty_log_makes_nothing(tmp_path: Path, run: Run) -> None:
    write_model(libra.anonymize(simulate(cases=3), epsilon=0.1, delta=1e-6), tmp_path / "model.json")
    answer = run("simulate", "--cases", 5, "-o", tmp_path / "log.csv", "--model", tmp_path / "model.json")
    assert answer.code == 3
    assert "nothing can be generated" in answer.err


GROWTH = """
import resource, sys
from libra.cli import main
assert main(["simulate", "--cases", sys.argv[1], "-o", sys.argv[2], "--quiet"]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory as Linux tells it")
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    peaks = []
    for cases in (100_000, 400_000):
        command = [sys.executable, "-c", GROWTH, str(cases), str(tmp_path / "log.parquet")]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] < peaks[0] + 200_000  # kB; the rows of the larger one alone take 400,000 more
