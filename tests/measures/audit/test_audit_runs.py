"""Runs: the same whatever the number of processes, a few of each log whatever the clock says, and nothing left changed."""

from __future__ import annotations

import os
import pickle
import sys
import time
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from toys import ODD, Counting, Failing, Threads, Timed

from libra._system.workers import ONE_THREAD
from libra.errors import EmptyReleaseError, InputError, LibraError, MissingColumnError, MissingExtraError, UsageError
from libra.measures.audit.audit import AT_ONCE, Runs
from libra.measures.audit.canaries import Canary
from libra.measures.audit.sight import Sight
from libra.mechanisms.mechanism import Mechanism

BASE = [ODD] * 3
LOGS = [BASE, [*BASE, ODD]]
SIGHT = Sight(BASE, [Canary("odd", (ODD,))])


def far_away() -> float:
    return time.monotonic() + 600


def test_two_processes_see_what_one_sees_and_tell_how_far_they_are() -> None:
    wanted, told = {0: 45, 1: 30}, list[int]()
    alone, together = Runs(Timed(), 1, seed=7), Runs(Timed(), 2, seed=7)
    expected = alone.seen(LOGS, wanted, SIGHT, far_away())
    seen = together.seen(LOGS, wanted, SIGHT, far_away(), told.append)
    assert [len(rows) for rows in seen] == [45, 30]
    for rows, others in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(rows, others)
    assert told == sorted(set(told))
    assert told[-1] == together.done == alone.done == 75
    assert len(told) == 5
    assert not together.cut_short


def test_each_log_gets_its_own_rows() -> None:
    seen = Runs(Timed(), 1).seen(LOGS, {0: 25, 1: 45}, SIGHT, far_away())
    assert [(len(rows), set(rows[:, 0].tolist())) for rows in seen] == [(25, {3.0}), (45, {4.0})]


def test_logs_that_nobody_asks_for_are_not_run() -> None:
    seen = Runs(Timed(), 1).seen(LOGS, {1: 3}, SIGHT, far_away())
    assert [rows.shape for rows in seen] == [(0, len(SIGHT.figures)), (3, len(SIGHT.figures))]


def test_every_run_draws_anew_with_a_seed_and_without() -> None:
    for seed in (None, 7):
        (rows,) = Runs(Timed(), 1, seed).seen([BASE], {0: 3 * AT_ONCE}, SIGHT, far_away())
        assert len(np.unique(rows, axis=0)) == 3 * AT_ONCE


def test_a_seed_gives_the_same_and_none_gives_something_else() -> None:
    first, second, other = (Runs(Timed(), 1, seed).seen([BASE], {0: 5}, SIGHT, far_away())[0] for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, second)
    assert not (first == other).all()
    fresh, again = (Runs(Timed(), 1).seen([BASE], {0: 5}, SIGHT, far_away())[0] for _ in range(2))
    assert not (fresh == again).all()


def test_one_after_the_other_the_runs_of_a_seed_are_not_the_same() -> None:
    runs = Runs(Timed(), 1, seed=7)
    first, second = (runs.seen([BASE], {0: 5}, SIGHT, far_away())[0] for _ in range(2))
    assert not (first == second).any(axis=0).all()
    assert runs.done == 10


@pytest.mark.parametrize("processes", [1, 2])
def test_when_time_is_up_already_each_log_is_run_a_few_times(processes: int) -> None:
    runs = Runs(Timed(), processes)
    seen = runs.seen(LOGS, {0: 500, 1: 7}, SIGHT, deadline=time.monotonic() - 1)
    assert [len(rows) for rows in seen] == [AT_ONCE, 7]
    assert runs.done == AT_ONCE + 7
    assert runs.cut_short


def test_what_fits_into_the_first_few_runs_is_not_cut_short() -> None:
    runs = Runs(Timed(), 1)
    runs.seen(LOGS, {0: AT_ONCE, 1: 7}, SIGHT, deadline=time.monotonic() - 1)
    assert not runs.cut_short


def test_no_run_is_begun_after_the_deadline_and_no_log_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    monkeypatch.setattr(sys.modules[Runs.__module__], "time", SimpleNamespace(monotonic=lambda: next(clock)))
    runs = Runs(Timed(), 1)
    seen = runs.seen(LOGS, {0: 100, 1: 300}, SIGHT, deadline=6)
    assert [len(rows) for rows in seen] == [2 * AT_ONCE, 6 * AT_ONCE]  # two in any case, then six looks at the clock
    assert runs.cut_short


@pytest.mark.parametrize("error", [UsageError("no."), EmptyReleaseError("nothing came out.")])
def test_an_error_in_this_process_is_itself(error: LibraError, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise error

    monkeypatch.setattr(Timed, "anonymize", fail)
    with pytest.raises(type(error)) as caught:
        Runs(Timed(), 1).seen([BASE], {0: 3}, SIGHT, far_away())
    assert caught.value is error


def test_an_error_in_another_process_arrives_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("POLARS_MAX_THREADS", "3")
    with pytest.raises(MissingExtraError) as caught:
        Runs(Failing(), 2).seen(LOGS, {0: 100, 1: 100}, SIGHT, far_away())
    assert str(caught.value) == str(MissingExtraError("luck", "luck"))
    assert caught.value.exit_code == 2
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["POLARS_MAX_THREADS"] == "3"


@pytest.mark.parametrize(
    "error",
    [
        UsageError("a contradiction."),
        InputError("something is wrong", place="a.csv, line 2", remedy="Do something"),
        MissingColumnError("no such column", lacking={"case_id": ["Patient"]}, remedy="Name another"),
        MissingExtraError("pandas", "pandas"),
        EmptyReleaseError("nothing came out."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_survives_the_way_between_processes(error: LibraError) -> None:
    arrived = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    assert type(arrived) is type(error)
    assert (str(arrived), arrived.exit_code, vars(arrived)) == (str(error), error.exit_code, vars(error))


def test_processes_have_one_thread_each_and_this_one_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    (rows,) = Runs(Threads(), 2).seen([BASE], {0: 5}, SIGHT, far_away())
    assert rows[:, 0].tolist() == [1.0] * 5
    assert {name: os.environ.get(name) for name in ONE_THREAD} == before


def test_runs_are_handed_out_a_few_at_a_time() -> None:
    mechanism: Mechanism = Counting()
    told = list[int]()
    (rows,) = Runs(mechanism, 1).seen([BASE], {0: 2 * AT_ONCE + 1}, SIGHT, far_away(), told.append)
    assert rows[:, 0].tolist() == [float(number) for number in range(1, 2 * AT_ONCE + 2)]
    assert told == [AT_ONCE, 2 * AT_ONCE, 2 * AT_ONCE + 1]
