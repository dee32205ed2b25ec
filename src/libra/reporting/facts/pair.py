"""The two logs of a report and their sizes. In public mode there is no original, and no fact can be computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from libra.eventlog.log import EventLog, empty_log
from libra.measures.distances import Integers

SECOND = 1_000_000  # microseconds
T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """An anonymized log, and the original where it may be compared."""

    original: EventLog | None
    anonymized: EventLog

    @property
    def is_public(self) -> bool:
        """Whether only the anonymized log is shown."""
        return self.original is None

    @property
    def compared_with(self) -> EventLog:
        """The original; in public mode a log without cases, for what pairs two logs."""
        return empty_log(self.anonymized) if self.original is None else self.original

    @property
    def logs(self) -> tuple[EventLog, ...]:
        """The logs that are shown."""
        return (self.anonymized,) if self.original is None else (self.original, self.anonymized)

    def sides(self, found: Sequence[T]) -> tuple[T | None, T]:
        """What was found of the logs that are shown: of the original, None in public mode, and of the anonymized log."""
        return None if self.is_public else found[0], found[-1]


@dataclass(frozen=True)
class Sizes:
    """What a log counts, and when it begins and ends, in UTC; edges are those from activity to activity."""

    cases: int
    events: int
    activities: int
    edges: int
    variants: int
    start: datetime | None
    end: datetime | None


def sizes_of(log: EventLog) -> Sizes:
    """Count a log."""
    times, epoch = log.timestamps, datetime(1970, 1, 1, tzinfo=UTC)
    ends = [epoch + timedelta(microseconds=int(one)) for one in (times.min(), times.max())] if len(times) else [None, None]
    return Sizes(log.n_cases, log.n_events, len(log.activities), len(log.directly_follows), len(log.variants), *ends)


def shares(counts: Integers) -> tuple[float, ...]:
    """Counts as shares of their sum; all 0 where there is nothing."""
    return tuple((counts / max(int(counts.sum()), 1)).tolist())
