"""What all tests share: where the real logs are, and a small log to play with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import chance
from agreement import ENOUGH, read_little
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read

if TYPE_CHECKING:
    from playwright.sync_api import Browser

os.environ.pop("COLUMNS", None)  # the width of somebody's terminal, or of a runner of tests, is not what is tested

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIETLY = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
LOGS = Path(os.environ.get("LIBRA_LOGS") or Path(__file__).resolve().parents[2] / "shared" / "logs")


def pytest_configure(config: pytest.Config) -> None:
    """Examples in the code are tests as well."""
    if not config.pluginmanager.is_registered(chance):
        config.pluginmanager.register(chance)


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Files need not survive a power failure. Tests of what happens if this fails replace `os.fsync` themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture
def shared_logs() -> Path:
    """The folder with the public logs, also by LIBRA_LOGS; tests that need it are skipped where it is absent."""
    if not LOGS.is_dir():
        pytest.skip(f"the public event logs are not in {LOGS}")
    return LOGS


@cache
def _read_once(path: Path, options: ReadOptions) -> EventLog:
    return read(path, options)


@pytest.fixture
def read_public(shared_logs: Path) -> Callable[..., EventLog]:
    """A public log by its name, read as usual or by other `ReadOptions`: once for all tests, as nobody changes a log."""
    return lambda name, **options: _read_once(shared_logs / f"{name}.xes.gz", ReadOptions(**options))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, as `make test` installs it; tests that need it are skipped where it is absent."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("there is no Chromium here: make browser installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=QUIETLY, timeout=300_000)
        yield opened
        opened.close()


@pytest.fixture
def small_log() -> EventLog:
    """Three cases of two variants, with an attribute of each type."""
    start = datetime(2024, 5, 6, 8, tzinfo=UTC)
    return EventLog(
        events=pl.DataFrame(
            {
                "@case": [0, 0, 0, 1, 1, 2, 2, 2],
                "concept:name": ["register", "see doctor", "leave", "register", "leave", "register", "see doctor", "leave"],
                "time:timestamp": [start + timedelta(minutes=17 * i) for i in range(8)],
                "org:resource": ["desk", "Dr. Ali", None, "desk", None, "desk", "Dr. Bo", None],
                "cost": [10.5, 80.0, None, 10.5, None, 10.5, 95.25, None],
                "urgent": [True, None, None, False, None, True, None, None],
            }
        ),
        cases=pl.DataFrame({"concept:name": ["p1", "p2", "p3"], "age": [34, 71, None], "insurance": ["A", "B", "A"]}),
    )


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide on everything, read next to nothing at a time, so that every border is crossed."""
    read_little(monkeypatch, 1, ENOUGH, 7, ENOUGH)


@pytest.fixture(params=[1, 5], ids=str)
def tiny_sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Decide on the first rows."""
    rows: int = request.param
    read_little(monkeypatch, 2, rows, 40, 40 * rows + 40)
    return rows
