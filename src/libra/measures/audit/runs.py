"""Thousands of runs of a mechanism on a few small logs, over several processes, until they are done or time is up.

In: the mechanism, the logs and how many runs each is to have. Out: the figures that an attacker sees of each run, one row a run.
When time is up, no more runs are begun and those under way count: the clock decides, never what comes out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from libra._system.workers import pooled
from libra.eventlog.log import EventLog
from libra.eventlog.options import no_progress
from libra.measures.audit.cases import Case, log_of_cases
from libra.measures.audit.events import Floats
from libra.measures.audit.sight import Sight
from libra.mechanisms.mechanism import Mechanism
from libra.privacy.randomness import LARGEST_SEED, Randomness

AT_ONCE = 20  # runs handed to a process at a time
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
        with pooled(run, _until(jobs, deadline, at_least=len(wanted)), self.processes) as finished:
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
