"""How large a log is. In: a log. Out: `Sizes`, plain counts and the days between which it lies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from libra.eventlog.log import EventLog
from libra.reporting.facts.pair import moment


@dataclass(frozen=True)
class Sizes:
    """What a log counts.

    Attributes:
        cases: Cases.
        events: Events.
        activities: Different activities.
        edges: Different pairs of activities of which one directly follows the other, without start and end.
        variants: Different traces.
        start: The earliest timestamp, in UTC; None for a log without events.
        end: The latest.
    """

    cases: int
    events: int
    activities: int
    edges: int
    variants: int
    start: datetime | None
    end: datetime | None


def sizes_of(log: EventLog) -> Sizes:
    """Count a log.

    Example:
        >>> from libra.example.simulate import simulate
        >>> sizes_of(simulate(cases=5)).cases
        5
    """
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
