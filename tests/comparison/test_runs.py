"""Runs: each in a process of its own, within its limits, and none left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import libra
from libra._system.randomness import Randomness
from libra.compared import Comparison
from libra.comparison.child import packed
from libra.comparison.compare import found_by_processes
from libra.comparison.comparison import Limits
from libra.comparison.plan import plan_of, settings_of
from libra.errors import LibraError, UsageError
from libra.eventlog.log import EventLog


def _compare(log: EventLog, mechanisms: str, **keywords: object) -> Comparison:
    told = {"epsilon": 1.0, "seeds": 1, "cache": False, "processes": 2} | keywords
    return libra.compare({"log": log}, mechanisms=mechanisms, **told)  # type: ignore[arg-type]  # as the tests say it


def _alive(process: int) -> bool:
    """Whether a process is there and not just waiting to be noticed."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False).stdout.strip()
    return bool(told) and not told.startswith("Z")


def _until(true: Callable[[], bool], seconds: float = 600) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_run_measures_what_the_same_seed_releases_here(log: EventLog) -> None:
    found = _compare(log, "libra", seeds=[7])
    (outcome,) = found.outcomes
    release = libra.anonymize(log, epsilon=1.0, delta=1e-4, seed=7)
    assert outcome.result is not None
    assert outcome.result.utility == replace(libra.measure(log, release.log), sample=None)
    assert outcome.result.cases == release.log.n_cases
    assert outcome.result.statement == release.guarantee.statement
    assert outcome.result.seconds > 0


def test_memory_is_that_of_the_process_and_not_of_the_one_that_started_it(log: EventLog) -> None:
    ballast = b"x" * 2**29
    (outcome,) = _compare(log, "libra").outcomes
    assert outcome.result is not None
    peak, reading = outcome.result.peak_megabytes, outcome.result.reading_megabytes
    assert len(ballast) == 2**29
    assert peak is not None
    assert reading is not None
    assert 20 < reading <= peak < 512


def test_what_a_mechanism_prints_is_no_part_of_the_answer_and_plug_ins_are_found(log: EventLog, odd: Path) -> None:
    (outcome,) = _compare(log, "copying").outcomes
    assert outcome.result is not None
    assert outcome.result.utility.dfg_l1 == 0
    assert outcome.result.guarantee == "claimed"


def _hours_pass_when(mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the clock of the comparison forward once there is something at the mark: no test has to wait for a limit."""

    def monotonic() -> float:
        return time.monotonic() + (36_000 if mark.exists() and mark.read_text(encoding="utf-8").endswith("\n") else 0)

    monkeypatch.setattr("libra.comparison.compare.time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))


def test_a_run_beyond_the_time_limit_is_killed_and_not_tried_with_other_seeds(
    log: EventLog, odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    _hours_pass_when(mark, monkeypatch)
    found = _compare(log, f"sleeping:mark={mark},copying", seeds=3, processes=1)
    gone = [outcome for outcome in found.outcomes if outcome.run.setting.mechanism == "sleeping"]
    assert [outcome.missing for outcome in gone] == [Limits().exceeded("time")] * 3
    (process,) = mark.read_text(encoding="utf-8").split()
    assert not _alive(int(process))
    assert [outcome.result is not None for outcome in found.outcomes] == [False] * 3 + [True] * 3


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_what_a_run_started_ends_with_it_at_the_limit(
    log: EventLog, odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    _hours_pass_when(mark, monkeypatch)
    (outcome,) = _compare(log, f"forking:seconds=600:mark={mark}").outcomes
    assert outcome.missing == Limits().exceeded("time")
    both = [int(process) for process in mark.read_text(encoding="utf-8").split()]
    assert len(both) == 2
    assert _until(lambda: not any(map(_alive, both)))


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_a_run_that_leaves_a_process_behind_has_its_result_and_the_process_ends(log: EventLog, odd: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (outcome,) = _compare(log, f"forking:mark={mark}").outcomes
    assert outcome.result is not None
    _, left = mark.read_text(encoding="utf-8").split()
    assert _until(lambda: not _alive(int(left)))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell")
def test_a_run_beyond_the_memory_limit_is_killed(log: EventLog, odd: Path) -> None:
    (outcome,) = _compare(log, "greedy", memory_limit=0.6).outcomes
    assert outcome.missing == Limits(gigabytes=0.6).exceeded("memory")  # it would have slept until the limit of time


@pytest.mark.parametrize(
    ("how", "why", "told"),
    [
        ("raise", "failed", "ZeroDivisionError: oh no"),
        ("refuse", "refused", "This log is too large. Take another."),
        ("advise", "refused", "Ask for --epsilon 2, or for another how."),
        ("exit", "failed", "its process broke down with code 7"),
        ("kill", "failed", "its process was killed by somebody else; perhaps the machine ran out of memory"),
    ],
)
def test_why_there_is_no_result_is_told(log: EventLog, odd: Path, how: str, why: str, told: str) -> None:
    (outcome,) = _compare(log, f"broken:how={how}").outcomes
    assert outcome.missing is not None
    assert (outcome.missing.why, outcome.missing.reason) == (why, told)


def test_an_epsilon_that_is_refused_takes_no_process(log: EventLog, odd: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    found = _compare(log, f"broken:how=refuse:mark={mark}", epsilon=[1.0, 1000.0])
    reasons = [outcome.missing and outcome.missing.reason for outcome in found.outcomes]
    assert reasons == ["This log is too large. Take another.", "epsilon is too large for me."]
    assert len(mark.read_text(encoding="utf-8").split()) == 1


def test_closing_halfway_leaves_no_process(log: EventLog, odd: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    plan = plan_of(settings_of(f"copying,sleeping:mark={mark}"), 1.0, 1e-4, 1)
    running = found_by_processes(plan.runs(["log"]), lambda _name: packed(log), Limits(), 2, lambda _runs: None)
    run, _ = next(running)
    assert run.setting.mechanism == "copying"
    assert _until(lambda: mark.exists() and mark.read_text(encoding="utf-8").endswith("\n"))
    running.close()
    assert not _alive(int(mark.read_text(encoding="utf-8")))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("signal", ["KILL", "TERM", "INT"])
def test_whoever_ends_a_comparison_ends_its_runs_and_no_log_stays_on_the_disk(
    signal: str, odd: Path, tmp_path: Path, crowd_of_cases: Path
) -> None:
    mark, scratch = tmp_path / "mark", tmp_path / "scratch"
    scratch.mkdir()
    words = ["compare", str(crowd_of_cases), "-m", f"sleeping:mark={mark}", "--epsilon", "1", "--seeds", "2", "--no-cache"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(odd), *sys.path]), "TMPDIR": str(scratch)}
    command = [sys.executable, "-m", "libra", *words, "--processes", "2"]
    comparing = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert _until(lambda: mark.exists() and len(mark.read_text(encoding="utf-8").split()) == 2)
        runs = [int(process) for process in mark.read_text(encoding="utf-8").split()]
        assert all(map(_alive, runs))
        subprocess.run(["kill", f"-{signal}", str(comparing.pid)], check=True)
        assert comparing.wait(600) != 0
        assert _until(lambda: not any(map(_alive, runs)))
    finally:
        comparing.kill()
        comparing.wait()
    assert list(scratch.iterdir()) == []


def test_two_processes_find_what_one_finds(log: EventLog) -> None:
    one, two = (_compare(log, "libra,travas", seeds=2, processes=n) for n in (1, 2))
    assert [outcome.run for outcome in one.outcomes] == [outcome.run for outcome in two.outcomes]
    utilities = [[outcome.result and outcome.result.utility for outcome in found.outcomes] for found in (one, two)]
    assert utilities[0] == utilities[1]
    assert None not in utilities[0]


def test_progress_counts_runs_up_to_all(log: EventLog) -> None:
    told = list[tuple[int, int]]()
    libra.compare(log, mechanisms="travas", epsilon=[1, 2], seeds=1, cache=False, progress=lambda *said: told.append(said))
    assert told[-1] == (2, 2)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("wrong", [{"time_limit": 0}, {"memory_limit": -1}, {"processes": 0}, {"seeds": 0}, {"delta": 2}])
def test_limits_that_are_none_are_refused_before_anything_is_read(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        libra.compare("no/such/file.csv", mechanisms="libra", **wrong)  # type: ignore[arg-type]  # as the test says it


def test_a_log_that_is_not_there_is_told() -> None:
    with pytest.raises(LibraError, match="no such file"):
        libra.compare("no/such/file.csv", mechanisms="libra")


def test_seeds_are_those_of_the_mechanisms() -> None:
    with pytest.raises(LibraError):
        Randomness(-1)
    with pytest.raises(UsageError, match="a seed"):
        plan_of(settings_of("libra"), 1.0, 1e-4, [-1])
