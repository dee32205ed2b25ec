"""Timestamps that say nothing, for logs whose mechanism releases no times: the same for every log."""

from __future__ import annotations

import numpy as np

from libra.eventlog.cases import MINUTE, Integers

PLACEHOLDERS = (
    "case ids made anew and activities; timestamps are placeholders, a minute from event to event, and say nothing; no attribute "
    "and no header of the original"
)
FIRST = int(np.datetime64("2000-01-01", "us").astype(np.int64))


def placeholder_times(offsets: Integers) -> Integers:
    """A time for every event: each case begins with the year 2000 and goes on by the minute.

    Example:
        >>> (placeholder_times(np.array([0, 2, 3])) - FIRST).tolist()
        [0, 60000000, 0]
    """
    return FIRST + MINUTE * (np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)))
