"""Thousands of runs of a mechanism on a few small logs, over several processes, until they are done or time is up.

In: the mechanism, the logs and how many runs each is to have. Out: the figures that an attacker sees of each run, one row a run.
When time is up, no more runs are begun and those under way count: the clock decides, never what comes out.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeAlias

import numpy as np

from libra.eventlog.log import EventLog
from libra.eventlog.options import no_progress
from libra.measures.audit.cases import Case, log_of_cases
from libra.measures.audit.events import Floats
from libra.measures.audit.sight import Sight
from libra.mechanisms.mechanism import Mechanism
from libra.privacy.randomness import LARGEST_SEED, Randomness

AT_ONCE = 20  # runs handed to a process at a time
ONE_THREAD = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Job: TypeAlias = tuple[int, int, int, int | None]  # its number, which log, how many runs, and the seed
Seen: TypeAlias = tuple[int, int, Floats]  # the number of the job, which log, and what was seen of it
Told: TypeAlias = Callable[[int], None]


@dataclass
class Runs:
    """Runs of a mechanism.

    Attributes:
        mechanism: What runs.
        processes: How many at once; 1 is this one.
        seed: For the same draws again; None takes the operating system's.
        individuals: Whether the logs say whose case is whose.

    Example:
        >>> from libra.measures.audit.canaries import Canary
        >>> from libra.mechanisms.mechanism import mechanism
        >>> cases = [Case(("triage", "leave"), (0, 3_600_000_000))] * 40
        >>> sight = Sight(cases, [Canary("usual", (cases[0],))])
        >>> runs = Runs(mechanism("libra", {"epsilon": 1.0, "delta": 0.01}))
        >>> (seen,) = runs.seen([cases], {0: 3}, sight, deadline=time.monotonic() + 60)
        >>> seen.shape == (3, len(sight.figures))
        True
    """

    mechanism: Mechanism
    processes: int = 1
    seed: int | None = None
    individuals: bool = False
    done: int = field(default=0, init=False)
    cut_short: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Make the seeds of the jobs follow from the one seed."""
        self._seeds = None if self.seed is None else np.random.Generator(np.random.PCG64(self.seed))

    def seen(
        self,
        logs: Sequence[Sequence[Case]],
        wanted: Mapping[int, int],
        sight: Sight,
        deadline: float,
        told: Told = lambda done: None,
    ) -> list[Floats]:
        """What is seen of each log in so many runs of it; fewer where the deadline comes first."""
        events = [log_of_cases(cases, individuals=self.individuals) for cases in logs]
        results: list[Seen] = []
        run = partial(_run, self.mechanism, events, sight)
        jobs = self._jobs(wanted)
        with self._results(run, _until(jobs, deadline, at_least=len(wanted))) as finished:
            for seen in finished:
                results.append(seen)
                self.done += len(seen[2])
                told(self.done)
        results.sort(key=lambda seen: seen[0])
        nothing = np.zeros((0, len(sight.figures)))
        seen_of_each = [np.concatenate([nothing, *(rows for _, of, rows in results if of == log)]) for log in range(len(logs))]
        self.cut_short |= any(len(seen_of_each[log]) < n for log, n in wanted.items())
        return seen_of_each

    def _jobs(self, wanted: Mapping[int, int]) -> Iterator[Job]:
        """All runs, a few at a time and the logs in turn, so that none is behind when time is up."""
        jobs = [(begin / n, log, min(AT_ONCE, n - begin)) for log, n in wanted.items() for begin in range(0, n, AT_ONCE)]
        for number, (_, log, n) in enumerate(sorted(jobs)):
            yield number, log, n, None if self._seeds is None else int(self._seeds.integers(LARGEST_SEED))

    @contextmanager
    def _results(self, run: Callable[[Job], Seen], jobs: Iterator[Job]) -> Iterator[Iterator[Seen]]:
        if self.processes == 1:
            yield (run(job) for job in jobs)
            return
        with _single_threaded(), ProcessPoolExecutor(self.processes, get_context("spawn"), _prepare, (run,)) as pool:
            try:
                yield _from_pool(pool, jobs, 2 * self.processes)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _until(jobs: Iterator[Job], deadline: float, at_least: int) -> Iterator[Job]:
    """The jobs that are begun before the deadline; so many of them in any case."""
    for number, job in enumerate(jobs):
        if number >= at_least and time.monotonic() >= deadline:
            return
        yield job


def _run(mechanism: Mechanism, logs: Sequence[EventLog], sight: Sight, job: Job) -> Seen:
    number, log, n, seed = job
    random = Randomness(seed)
    return number, log, np.array([sight.of(mechanism.anonymize(logs[log], random, no_progress).log) for _ in range(n)])


_prepared: Callable[[Job], Seen] | None = None


def _prepare(run: Callable[[Job], Seen]) -> None:
    """In a new process: keep what all its jobs share, and leave it to the parent to stop when somebody interrupts.

    A parent that is killed cannot say so, and its processes would wait for ever: they end when it does.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    global _prepared  # how a pool hands over what is too large to send with each job
    _prepared = run


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prepared_run(job: Job) -> Seen:
    if _prepared is None:
        raise AssertionError("the process was not prepared")
    return _prepared(job)


def _from_pool(pool: ProcessPoolExecutor, jobs: Iterator[Job], ahead: int) -> Iterator[Seen]:
    """The results of all jobs, a few of which are under way at any time."""
    waiting = _begun(pool, islice(jobs, ahead))
    while waiting:
        finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in finished:
            yield future.result()
        waiting |= _begun(pool, islice(jobs, len(finished)))


def _begun(pool: ProcessPoolExecutor, jobs: Iterator[Job]) -> set[Future[Seen]]:
    """Jobs handed to the pool; a process that this starts hears no interrupt from its first moment on, and the parent later."""
    if not hasattr(signal, "pthread_sigmask"):
        return {pool.submit(_prepared_run, job) for job in jobs}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return {pool.submit(_prepared_run, job) for job in jobs}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Processes started in here use one thread each: there are as many processes as cores."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
