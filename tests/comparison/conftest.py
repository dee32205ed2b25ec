"""What the tests of comparisons share: a small log, and mechanisms that behave badly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from libra.eventlog.log import EventLog
from libra.example.simulate import simulate

from .odd_package import install


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package with mechanisms that behave badly; it is found for the time of the test."""
    folder = install(tmp_path / "site")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "odd_mechanisms", raising=False)  # one that another test has loaded from elsewhere
    return folder


@pytest.fixture
def log() -> EventLog:
    """A log of a process, small enough to be handed around."""
    return simulate(cases=120)


@pytest.fixture
def crowd_of_cases(tmp_path: Path) -> Path:
    """A CSV file of 400 cases in two variants."""
    rows = ["case,activity,timestamp"]
    for case in range(400):
        rows += [f"c{case},{step},2024-05-06T{hour:02}:{case % 60:02}:00Z" for hour, step in enumerate(("register", "leave"), 8)]
        rows += [f"c{case},call,2024-05-07T08:{case % 60:02}:00Z"] * (case % 2)
    path = tmp_path / "crowd.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
