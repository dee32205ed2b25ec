"""The log that leaves: activities and times under fresh ids, in random order, and nothing else of the original.

It has no attributes but those of events that a mechanism made, and no label, not even in memory, that none of its events has.
What was drawn with a seed says so in each case id and in the header, so that it survives every format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from libra._system.randomness import SEEDED_PREFIX, Randomness
from libra.eventlog.cases import MINUTE, Cases, Integers
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.metadata import DRAWN_WITH_A_SEED, LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP
from libra.eventlog.options import InstanceMode
from libra.eventlog.xes.write import default_metadata

PLACEHOLDERS = (
    "case ids made anew and activities; timestamps are placeholders, a minute from event to event, and say nothing; no attribute "
    "and no header of the original"
)
FIRST = int(np.datetime64("2000-01-01", "us").astype(np.int64))


def fresh_log(cases: Cases, activities: Sequence[str], random: Randomness, *, attributes: pl.DataFrame | None = None) -> EventLog:
    """A log of these cases; `attributes` has a row for each of their events.

    Example:
        >>> case = Cases(*map(np.array, ([0, 1], [0, 60_000_000], [0, 2], [0])), n_activities=2)
        >>> fresh_log(case, ["admit", "leave"], Randomness()).cases["concept:name"].to_list()
        ['case-1']
    """
    order = random.permutation(len(cases))
    if attributes is not None and attributes.width:
        events = replace(cases, codes=np.arange(len(cases.codes))).take(order).codes
        attributes = attributes[pl.Series(events, dtype=pl.UInt32)]
    return log_of(cases.take(order), activities, seeded=random.seeded, attributes=attributes)


def log_of(
    cases: Cases,
    activities: Sequence[str],
    *,
    seeded: bool,
    attributes: pl.DataFrame | None = None,
    first: int = 1,
    instances: InstanceMode | None = None,
    of_cases: pl.DataFrame | None = None,
) -> EventLog:
    """A log of these cases in this order; `attributes` has a row for each event, `first` is the number of the first id.

    `of_cases` has a row for each case.

    `instances` says what its events are: the starts of instances, or the transitions of events, are among the attributes then.
    """
    occurring = np.bincount(cases.codes, minlength=len(activities)) > 0
    used, codes = np.flatnonzero(occurring), (np.cumsum(occurring) - 1)[cases.codes]
    labels = pl.Series(ACTIVITY, [activities[code] for code in used.tolist()], dtype=pl.String)
    events = pl.DataFrame(
        {
            CASE_INDEX: cases.rows,
            ACTIVITY: labels.gather(pl.Series(codes, dtype=pl.UInt32)),
            TIMESTAMP: pl.Series(cases.micros, dtype=pl.Int64).cast(UTC_MICROSECONDS),
        }
    )
    if attributes is not None:
        events = events.hstack(attributes)
    numbers = pl.int_range(first, first + len(cases), eager=True).cast(pl.String)
    ids = pl.DataFrame({CASE_NAME: id_prefix(seeded=seeded) + numbers})
    log = EventLog(events, ids if of_cases is None else ids.hstack(of_cases), instances=instances)
    return replace(log, metadata=fresh_metadata(log, seeded=seeded)) if seeded else log


def id_prefix(*, seeded: bool) -> str:
    """What stands before the number in each case id."""
    return SEEDED_PREFIX if seeded else "case-"


def fresh_metadata(log: EventLog, *, seeded: bool) -> LogMetadata:
    """The header of such a log: nothing, or that it was drawn with a seed."""
    return replace(default_metadata(log), attributes=(DRAWN_WITH_A_SEED,)) if seeded else LogMetadata()


def placeholder_times(offsets: Integers) -> Integers:
    """A time for every event: each case begins with the year 2000 and goes on by the minute.

    Example:
        >>> (placeholder_times(np.array([0, 2, 3])) - FIRST).tolist()
        [0, 60000000, 0]
    """
    return FIRST + MINUTE * (np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)))
