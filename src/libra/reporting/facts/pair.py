"""The two logs of a report. In public mode there is no original, and no fact can be computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from libra.eventlog.log import EventLog, empty_log

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Pair:
    """An anonymized log, and the original where it may be compared.

    Example:
        >>> from libra.example.simulate import simulate
        >>> Pair(None, simulate(cases=5)).is_public
        True
    """

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
    """A point in time from microseconds since 1970.

    Example:
        >>> moment(-1).isoformat()
        '1969-12-31T23:59:59.999999+00:00'
    """
    return EPOCH + timedelta(microseconds=int(micros))
