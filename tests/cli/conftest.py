"""Small logs on disk and two ways to run a command: in this process, and as a user's shell would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from libra.cli import main

TABLE = """case id,activity,timestamp,resource,cost
p1,register,2024-05-06T08:00:00Z,desk,10.5
p1,see doctor,2024-05-06T08:20:00Z,Dr. Ali,80
p1,leave,2024-05-06T09:00:00Z,,
p2,register,2024-05-06T08:10:00Z,desk,10.5
p2,leave,2024-05-06T08:45:00Z,,
p3,register,2024-05-07T08:00:00Z,desk,10.5
p3,see doctor,2024-05-07T08:30:00Z,Dr. Bo,95.25
p3,leave,2024-05-07T10:00:00Z,,
"""
HEADER = TABLE.splitlines()[0] + "\n"
LIBRA2022 = ("--mechanism", "libra2022")


@dataclass(frozen=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `libra` in this process through its real entry point."""

    def _run(*arguments: str | Path) -> Answer:
        capfd.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        said = capfd.readouterr()
        return Answer(code, said.out, said.err)

    return _run


@pytest.fixture
def shell(tmp_path: Path) -> Run:
    """Run `libra` in a process of its own, in an empty folder."""

    def _shell(*arguments: str | Path, **environment: str) -> Answer:
        command = [sys.executable, "-m", "libra", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, env=os.environ | environment, check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return _shell


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file of three cases in two variants."""
    path = tmp_path / "visits.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def empty_table(tmp_path: Path) -> Path:
    """A CSV file with a header and no event."""
    path = tmp_path / "empty.csv"
    path.write_text(HEADER, encoding="utf-8")
    return path


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """A CSV file of one variant that no clipping drops, with something to note: times without a zone, a label that XML lacks."""
    rows = ["case,activity,timestamp"]
    for case in range(400):
        rows += [f"c{case},tri\x1bage,2024-05-06 08:{case % 60:02}:00", f"c{case},leave,2024-05-06 11:{case % 60:02}:00"]
    path = tmp_path / "crowd.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_rare(path: Path, per_variant: int) -> Path:
    """A log of four variants, none of which has more cases than said."""
    rows = ["case,activity,timestamp"]
    for case in range(4 * per_variant):
        minute = case % 60
        step = f"c{case},step {case // per_variant},2024-05-06T08:{minute:02}:00Z"
        rows += [step, f"c{case},end,2024-05-06T09:{minute:02}:00Z"]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def rare(tmp_path: Path) -> Path:
    """A log in which no variant has more than three cases."""
    return write_rare(tmp_path / "rare.csv", 3)
