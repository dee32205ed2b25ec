"""The log follows from the released figures alone: another process that has nothing else makes the same one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_logs import all_different, log_from, structured

import libra
from libra.mechanisms.libra.figures import Figures
from libra.mechanisms.libra.generate import generate
from libra.release import Release

ELSEWHERE = """
import json, sys
from pathlib import Path
from libra.mechanisms.fresh_log import log_of
from libra.mechanisms.libra.figures import Figures
from libra.mechanisms.libra.generate import generate, labels_of
for name in sys.argv[1:]:
    runs = [Figures.from_dict(run) for run in json.loads(Path(name).read_text())]
    log = log_of(generate(runs), labels_of(runs), seeded=False)
    log.to_polars().write_ipc(name + ".ipc")
"""
SAME_SEED = """
import sys, hashlib
import libra
import numpy as np
from libra.example.simulate import simulate
from libra.mechanisms.libra import Libra
from libra._system.randomness import Randomness
for options in ({}, {"tail": "nearest"}, {"subsamples": 2, "labels": "public", "epsilon": 4.0}):
    log = Libra(**options).anonymize(simulate(cases=1500), Randomness(seed=3)).log
    print(log.n_cases, hashlib.sha256(log.to_polars().write_csv().encode()).hexdigest())
"""
OPTIONS: list[dict[str, Any]] = [
    {},
    {"tail": "drop"},
    {"tail": "nearest", "time_zone": "Europe/Amsterdam"},
    {"subsamples": 3, "gamma": 0.6, "epsilon": 4.0},
    {"labels": "public", "cases": 321},
    {"labels": "public", "subsamples": 2, "epsilon": 6.0},
    {"budget": "control=0.95", "epsilon": 5.0},
]


def elsewhere(releases: list[Release], folder: Path) -> list[pl.DataFrame]:
    """The logs that another process makes of the figures of these releases."""
    names = [str(folder / f"{number}.json") for number in range(len(releases))]
    for name, release in zip(names, releases, strict=True):
        Path(name).write_text(json.dumps([run.to_dict() for run in release.figures], allow_nan=False))
    subprocess.run([sys.executable, "-c", ELSEWHERE, *names], check=True, cwd=folder)
    return [pl.read_ipc(name + ".ipc") for name in names]


def check_same(releases: list[Release], folder: Path) -> None:
    for release, made in zip(releases, elsewhere(releases, folder), strict=True):
        here = release.log.to_polars()
        assert here.height > 100
        assert made.equals(here)


@pytest.mark.parametrize("kind", ["structured", "different"])
def test_another_process_makes_the_same_log_of_the_figures(kind: str, tmp_path: Path) -> None:
    log = structured() if kind == "structured" else log_from(all_different(900))
    different: list[dict[str, Any]] = [{"epsilon": 5.0}, {"epsilon": 5.0, "labels": "public"}]
    options = OPTIONS if kind == "structured" else different
    releases = [libra.anonymize(log, **{"epsilon": 2.0, "delta": 1e-4} | one) for one in options]
    check_same(releases, tmp_path)
    tails = [release.figures[0].control.tail for release in releases]
    assert any(tail is not None and tail.base is not None for tail in tails)


@pytest.mark.slow
def test_another_process_makes_the_same_log_of_a_hospitals_figures(shared_logs: Path, tmp_path: Path) -> None:
    check_same([libra.anonymize(shared_logs / "sepsis.xes.gz", epsilon=2.0, delta=1e-4)], tmp_path)


def test_figures_survive_json_and_what_they_give_is_always_the_same() -> None:
    release = libra.anonymize(structured(), epsilon=2.0, delta=1e-4)
    plain = [run.to_dict() for run in release.figures]
    again = [Figures.from_dict(json.loads(json.dumps(run))) for run in plain]
    assert [run.to_dict() for run in again] == plain
    for run, same in zip(release.figures, again, strict=True):
        assert (same.labels, same.weight, same.draw, same.cases) == (run.labels, run.weight, run.draw, run.cases)
        assert (same.control.threshold, same.control.nearest) == (run.control.threshold, run.control.nearest)
        assert np.array_equal(same.control.first.values, run.control.first.values)
        assert same.times.noisy.keys() == run.times.noisy.keys()
        assert same.times.cells == run.times.cells
    first, second = generate(again), generate(list(release.figures))
    assert first.codes.tolist() == second.codes.tolist()
    assert first.micros.tolist() == second.micros.tolist() == release.log.timestamps.tolist()


def test_a_seed_gives_the_same_log_whatever_the_number_of_threads() -> None:
    def run(threads: int) -> str:
        counts = {name: str(threads) for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        environment = os.environ | counts | {"PYTHONHASHSEED": str(threads)}
        return subprocess.run(
            [sys.executable, "-c", SAME_SEED], check=True, capture_output=True, text=True, env=environment
        ).stdout

    single = run(1)
    assert single == run(4)
    assert all(int(line.split()[0]) > 300 for line in single.splitlines())


def test_a_seed_gives_the_same_log_and_another_seed_another() -> None:
    log = structured()
    one, same, other = (libra.anonymize(log, seed=seed, delta=1e-4).log for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_the_order_of_cases_in_the_file_is_not_in_the_figures() -> None:
    """With the same draws, sums are the same in any order: what the file's order says must not come out."""
    words = ["abc"] * 200 + ["acb"] * 100 + ["abb"] * 30 + ["ca"] * 8
    figures = [libra.anonymize(log_from(one, every=0), seed=5, delta=1e-4).figures[0] for one in (words, words[::-1])]
    assert figures[0].to_dict() == figures[1].to_dict()
    assert figures[0].control.kept.to_lists()[:2] == [[0, 1, 2], [0, 2, 1]]
