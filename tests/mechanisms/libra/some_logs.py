"""Logs for the tests of the sound mechanism, from words: a letter is an activity."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.mechanisms.libra.plan import Plan
from libra.mechanisms.libra.tail.release import SIZE

MINUTE = 60_000_000  # microseconds
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MAY_2024 = 19_849 * DAY


def log_from(
    traces: Sequence[Sequence[str]], *, start: int = MAY_2024, every: int = HOUR, step: int = 90 * MINUTE, ids: str = "patient"
) -> EventLog:
    """A log in which case i begins i times `every` after `start`, and each event comes `step` after the one before."""
    lengths = [len(trace) for trace in traces]
    case = np.repeat(np.arange(len(traces)), lengths)
    place = np.concatenate([np.zeros(0, np.int64), *(np.arange(length) for length in lengths)])
    events = pl.DataFrame(
        {
            "@case": pl.Series(case, dtype=pl.UInt32),
            "concept:name": pl.Series([label for trace in traces for label in trace], dtype=pl.String),
            "time:timestamp": pl.Series(start + case * every + place * step, dtype=pl.Int64).cast(UTC_MICROSECONDS),
        }
    )
    return EventLog(
        events, pl.DataFrame({"concept:name": pl.Series([f"{ids} {i}" for i in range(len(traces))], dtype=pl.String)})
    )


def all_different(cases: int, labels: str = "abcdefgh") -> list[str]:
    """Words no two of which are the same, from three to twelve letters long."""
    random = np.random.Generator(np.random.PCG64(5))
    words: dict[str, None] = {}
    while len(words) < cases:
        words["".join(random.choice(list(labels), random.integers(3, 13)))] = None
    return list(words)


STRUCTURED = ["abc"] * 400 + ["acb"] * 150 + ["abbc"] * 60 + ["a" + "b" * (i % 9 + 2) + "c" * (i % 4) for i in range(120)]


def structured() -> EventLog:
    """Three frequent variants and a tail that repeats itself."""
    return log_from(STRUCTURED)


def variants_in(log: EventLog) -> set[tuple[str, ...]]:
    """The variants of a log, by their labels."""
    return {tuple(log.activities[code] for code in trace) for trace in log.variants.traces["trace"].to_list()}


def sd_of_size(plan: Plan) -> float:
    """The noise of the number of cases, at most: what the number of rare cases alone carries, for all that one stands for."""
    return 1 / (plan.mu_second * math.sqrt(SIZE) * plan.rate * math.sqrt(plan.runs))
