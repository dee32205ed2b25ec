"""Step 5, combine: the subsamples become one log, in which nothing but activities and times is left of the original.

In: the cases kept of each subsample. Out: an `EventLog` in random order of cases, under fresh ids, without any attribute or
header.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP
from libra.mechanisms.cases import Cases, together
from libra.privacy.randomness import SEEDED, Randomness


def combine(subsamples: Sequence[Cases], activities: Sequence[str], random: Randomness) -> EventLog:
    """One log of all cases; `activities` are the labels that the codes stand for.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.mechanisms.cases import cases_of
        >>> log = simulate(cases=50)
        >>> combine([cases_of(log)], log.activities, Randomness()).cases["concept:name"].head(3).to_list()
        ['1', '2', '3']
    """
    cases = together(subsamples)
    cases = cases.take(random.permutation(len(cases)))
    labels = pl.Series(ACTIVITY, activities, dtype=pl.String)
    events = pl.DataFrame(
        {
            CASE_INDEX: np.repeat(np.arange(len(cases)), cases.lengths),
            ACTIVITY: labels.gather(pl.Series(cases.codes, dtype=pl.UInt32)),
            TIMESTAMP: pl.Series(cases.micros, dtype=pl.Int64).cast(UTC_MICROSECONDS),
        }
    )
    ids = pl.DataFrame({CASE_NAME: pl.int_range(1, len(cases) + 1, eager=True).cast(pl.String)})
    stamp = (Attribute("privacy", "string", SEEDED),) if random.seeded else ()
    return EventLog(events, ids, LogMetadata(attributes=stamp))
