"""The small logs of an audit: a few cases as plain data, and the event log they make.

In: `Case`s, each with its activities, its times, a value of an attribute and a person. Out: an `EventLog` with all four, as a
reader would have given it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import polars as pl

from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP

ATTRIBUTE, AMOUNT, PERSON = "group", "amount", "person"
COMMON_VALUE = "common"


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        trace: Its activities.
        micros: When each happened, in microseconds since 1970.
        value: Of the attribute that all cases have.
        amount: Of the number that all cases have.
        person: Whose case it is; None for a person with no other case.

    Example:
        >>> Case(("triage", "leave"), (0, 60_000_000)).seconds
        60.0
    """

    trace: tuple[str, ...]
    micros: tuple[int, ...]
    value: str = COMMON_VALUE
    amount: float = 1.0
    person: str | None = None

    @property
    def start(self) -> int:
        """When the earliest event happened."""
        return min(self.micros)

    @property
    def seconds(self) -> float:
        """From the earliest event to the latest."""
        return (max(self.micros) - self.start) / 1e6

    @property
    def longest_gap(self) -> float:
        """The longest time between two events that follow each other, in seconds."""
        return max((later - earlier for earlier, later in pairwise(self.micros)), default=0) / 1e6


def case_id(number: int) -> str:
    """The id of the case with this number.

    Example:
        >>> case_id(7)
        'original 7'
    """
    return f"original {number}"


def log_of_cases(cases: Sequence[Case], *, individuals: bool = False) -> EventLog:
    """The event log of these cases; with a column that says whose case is whose, where that is asked for.

    Example:
        >>> log = log_of_cases([Case(("triage", "leave"), (0, 60_000_000)), Case(("triage",), (5,), value="rare")])
        >>> log.n_cases, log.n_events, log.cases["group"].to_list()
        (2, 3, ['common', 'rare'])
    """
    names = [case_id(number) for number in range(len(cases))]
    events = pl.DataFrame(
        {
            CASE_INDEX: np.repeat(np.arange(len(cases)), [len(case.trace) for case in cases]),
            ACTIVITY: pl.Series(list(chain.from_iterable(case.trace for case in cases)), dtype=pl.String),
            TIMESTAMP: pl.Series(list(chain.from_iterable(case.micros for case in cases)), dtype=pl.Int64).cast(UTC_MICROSECONDS),
        }
    )
    frame = pl.DataFrame(
        {
            CASE_NAME: pl.Series(names, dtype=pl.String),
            ATTRIBUTE: pl.Series([case.value for case in cases], dtype=pl.String),
            AMOUNT: pl.Series([case.amount for case in cases], dtype=pl.Float64),
            PERSON: pl.Series([case.person or name for case, name in zip(cases, names, strict=True)], dtype=pl.String),
        }
    )
    return EventLog(events, frame, individual=PERSON) if individuals else EventLog(events, frame.drop(PERSON))
