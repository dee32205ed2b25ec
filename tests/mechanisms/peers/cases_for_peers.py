"""Small logs and cases for the tests of the mechanisms of other authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from libra.eventlog.cases import Cases
from libra.eventlog.log import EventLog

MINUTE = 60_000_000  # microseconds
HOUR = 60 * MINUTE
DAY = 24 * HOUR
START = 1_700_000_000_000_000


def cases_from(traces: Sequence[Sequence[int]], gaps: Sequence[Sequence[int]] | None = None) -> Cases:
    """Cases with these activity codes, a day apart; their events come after these gaps, or an hour each."""
    number: dict[tuple[int, ...], int] = {}
    if gaps is None:
        gaps = [[HOUR] * (len(trace) - 1) for trace in traces]
    times = [START + day * DAY + np.cumsum([0, *of_case]) for day, of_case in enumerate(gaps)]
    return Cases(
        np.concatenate([np.array(trace, np.int64) for trace in traces]),
        np.concatenate(times).astype(np.int64),
        np.cumsum([0, *map(len, traces)], dtype=np.int64),
        np.array([number.setdefault(tuple(trace), len(number)) for trace in traces], np.int64),
        n_activities=max(max(trace) for trace in traces) + 1,
    )


def log_from(counts: Mapping[str, int], **attributes: Sequence[object]) -> EventLog:
    """One variant a word, one activity a letter, so many cases each; attributes have a value an event."""
    words = [word for word, count in counts.items() for _ in range(count)]
    times = [START + case * DAY + position * HOUR for case, word in enumerate(words) for position in range(len(word))]
    events = pl.DataFrame(
        {
            "@case": [case for case, word in enumerate(words) for _ in word],
            "concept:name": [letter for word in words for letter in word],
            "time:timestamp": pl.Series(times).cast(pl.Datetime("us", "UTC")),
            **attributes,
        }
    )
    return EventLog(events, pl.DataFrame({"concept:name": [f"patient {row}" for row in range(len(words))]}))


def events_of(cases: Cases) -> list[list[int]]:
    """The activity codes of each case."""
    return [cases.codes[begin:end].tolist() for begin, end in zip(cases.offsets[:-1], cases.offsets[1:], strict=True)]
