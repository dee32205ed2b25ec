"""Small logs and cases for the tests of the mechanisms, and a randomness whose order is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from libra._system.randomness import Randomness
from libra.eventlog.cases import Cases, Integers
from libra.eventlog.log import EventLog

MINUTE = 60_000_000  # microseconds
DAY = 1440 * MINUTE
START = datetime(2024, 5, 6, 8, tzinfo=UTC)
COUNTS = {"abc": 120, "acb": 60, "ab": 45, "xyz": 3}


def cases_from(traces: Sequence[Sequence[int]], micros: Sequence[Sequence[int]] | None = None) -> Cases:
    """Cases with these activity codes; without times, case i starts on day i and has an event an hour."""
    if micros is None:
        micros = [[day * DAY + hour * 60 * MINUTE for hour in range(len(trace))] for day, trace in enumerate(traces)]
    number: dict[tuple[int, ...], int] = {}
    variant = [number.setdefault(tuple(trace), len(number)) for trace in traces]
    return Cases(
        np.array([code for trace in traces for code in trace], np.int64),
        np.array([time for times in micros for time in times], np.int64),
        np.cumsum([0, *map(len, traces)], dtype=np.int64),
        np.array(variant, np.int64),
        n_activities=max((max(trace) for trace in traces), default=-1) + 1,
    )


def as_lists(cases: Cases) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each case as its activity codes and its times."""
    bounds = list(zip(cases.offsets[:-1].tolist(), cases.offsets[1:].tolist(), strict=True))
    return [(tuple(cases.codes[a:b].tolist()), tuple(cases.micros[a:b].tolist())) for a, b in bounds]


def log_of(counts: Mapping[str, int], minutes: float = 90) -> EventLog:
    """One variant a word, one activity a letter, so many cases each."""
    words = [word for word, count in counts.items() for _ in range(count)]
    rows = [
        (case, letter, START + timedelta(hours=case, minutes=minutes * position))
        for case, word in enumerate(words)
        for position, letter in enumerate(word)
    ]
    return EventLog(
        pl.DataFrame(rows, schema=["@case", "concept:name", "time:timestamp"], orient="row"),
        pl.DataFrame({"concept:name": [f"patient {i}" for i in range(len(words))]}),
    )


def variants_in(log: EventLog) -> set[tuple[str, ...]]:
    """The variants of a log by their labels."""
    return {tuple(log.activities[code] for code in trace) for trace in log.variants.traces["trace"].to_list()}


class InOrder(Randomness):
    """A randomness that shuffles nothing."""

    def permutation(self, n: int) -> Integers:
        """The numbers from 0 up to n, in order."""
        return np.arange(n)
