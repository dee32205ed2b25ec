"""Cases with times, and as much of an engine as the release of times needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.contract import Integers, Table
from libra.engines.counting.count import count
from libra.engines.time_tables import HOUR
from libra.eventlog.cases import Cases, Traces
from libra.mechanisms.libra.times.generate import generate_times
from libra.mechanisms.libra.times.release import TimeFigures, release_times
from libra.privacy.gate import Gate

MONDAY = 1_700_438_400_000_000  # 2023-11-20, at midnight


@dataclass(frozen=True, eq=False)
class Counting:
    """An engine that counts times, and remembers what it was asked for."""

    cases: Cases
    labels: tuple[str, ...]
    asked: list[Table] = field(default_factory=list)

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        self.asked.extend(tables)
        return [count(table, self.cases) for table in tables]


def counting(codes: Integers, micros: Integers, lengths: Integers, n_labels: int) -> Counting:
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    cases = Cases(codes, micros, offsets, np.zeros(len(lengths), np.int64), n_labels)
    return Counting(cases, tuple(f"activity {i}" for i in range(n_labels)))


def office(n: int, seed: int = 1, grain: int = 1_000_000) -> Counting:
    """Cases of three steps within two years, in office hours: minutes, then about two days, then at once."""
    random = np.random.default_rng(seed)
    day = random.integers(0, 700, n)
    day -= np.maximum(day % 7 - 4, 0)  # Monday to Friday
    start = MONDAY + day * 24 * HOUR + random.integers(9 * HOUR, 16 * HOUR, n)
    soon = start + random.integers(60_000_000, 1_800_000_000, n)
    later = start // (24 * HOUR) * 24 * HOUR + random.integers(1, 4, n) * 24 * HOUR + random.integers(9 * HOUR, 17 * HOUR, n)
    micros = np.stack((start, soon, later, later), axis=1).ravel() // grain * grain
    return counting(np.tile(np.arange(4), n), micros, np.full(n, 4), 4)


def traces_of_engine(engine: Counting) -> Traces:
    return Traces(engine.cases.codes, engine.cases.offsets)


def released(
    engine: Counting, mu: float, seed: int = 1, time_zone: str = "UTC", traces: Traces | None = None
) -> tuple[TimeFigures, Integers]:
    """What is released with a seed, and the times generated from it."""
    traces = traces_of_engine(engine) if traces is None else traces
    n_labels = len(engine.labels)
    figures = release_times(Gate(engine, Randomness(seed=seed)), traces, n_labels, mu, time_zone)  # type: ignore[arg-type]
    return figures, generate_times(figures, traces, n_labels, time_zone, Randomness(seed=seed + 1000))


def gaps(micros: Integers, traces: Traces) -> Integers:
    """The time before each event that is not the first of its case."""
    following = np.ones(len(micros), np.bool_)
    following[traces.offsets[:-1][traces.lengths > 0]] = False
    position = np.flatnonzero(following)
    return micros[position] - micros[position - 1]
