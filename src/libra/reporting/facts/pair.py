"""The two logs of a report and their sizes. In public mode there is no original, and no fact can be computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from libra.eventlog.log import EventLog, empty_log
from libra.measures.distances import Floats, Integers

SECOND = 1_000_000  # microseconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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


def moment(micros: int) -> datetime:
    """A point in time from microseconds since 1970."""
    return EPOCH + timedelta(microseconds=int(micros))


@dataclass(frozen=True)
class Sizes:
    """What a log counts."""

    cases: int  # cases
    events: int  # events
    activities: int  # different activities
    edges: int  # different pairs of activities of which one directly follows the other, without start and end
    variants: int  # different traces
    start: datetime | None  # the earliest timestamp, in UTC; None for a log without events
    end: datetime | None  # the latest


def sizes_of(log: EventLog) -> Sizes:
    """Count a log."""
    times = log.timestamps
    return Sizes(
        log.n_cases,
        log.n_events,
        len(log.activities),
        len(log.directly_follows),
        len(log.variants),
        moment(times.min()) if len(times) else None,
        moment(times.max()) if len(times) else None,
    )


def shares(counts: Integers) -> tuple[float, ...]:
    """Counts as shares of their sum; all 0 where there is nothing."""
    return tuple((counts / max(int(counts.sum()), 1)).tolist())


def median_of(values: Integers | Floats) -> float | None:
    """The median; None where there is no value."""
    return float(np.median(values)) if len(values) else None


def mean_of(values: Integers | Floats) -> float | None:
    """The mean; None where there is no value."""
    return float(values.mean()) if len(values) else None
