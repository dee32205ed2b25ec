"""A log in slices, for writers whose memory must not grow with the log."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from libra.eventlog.log import EventLog

SLICE_BYTES = 2_000_000  # of the log in memory; as text it is some five times as long
SLICE_EVENTS = 50_000


def slices(log: EventLog) -> Iterator[pl.DataFrame]:
    """The events in order, some at a time and fewer where their texts are long. A slice may begin and end within a case.

    Example:
        >>> from datetime import datetime
        >>> events = pl.DataFrame({"@case": [0], "concept:name": ["triage"], "time:timestamp": [datetime(2024, 5, 6)]})
        >>> [part.height for part in slices(EventLog(events, pl.DataFrame({"concept:name": ["anna"]})))]
        [1]
    """
    size = int(log.events.estimated_size()) + int(log.cases.estimated_size())
    return log.events.iter_slices(max(1, min(SLICE_EVENTS, SLICE_BYTES * log.n_events // max(size, 1))))
