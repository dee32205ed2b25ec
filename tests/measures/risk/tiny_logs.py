"""Logs of a few cases, written as text: `log_of("a0 b5", "a0")` is two cases, the letters activities, the numbers minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from hypothesis import strategies as st

from libra.eventlog.log import EventLog
from libra.measures.edges import common_codes
from libra.measures.risk.crowds import Population, population_of

START = datetime(2024, 5, 6, tzinfo=UTC)
DAY = 24 * 60  # minutes
Event = tuple[str, float]


def log_of(*cases: str) -> EventLog:
    return log_from([[(event[0], float(event[1:])) for event in case.split()] for case in cases])


def log_from(cases: list[list[Event]]) -> EventLog:
    rows = [(i, label, START + timedelta(minutes=minute)) for i, case in enumerate(cases) for label, minute in case]
    schema = {"@case": pl.UInt32(), "concept:name": pl.String(), "time:timestamp": pl.Datetime("us", "UTC")}
    names = pl.DataFrame({"concept:name": [f"c{i}" for i in range(len(cases))]}, schema={"concept:name": pl.String})
    return EventLog(pl.DataFrame(rows, schema=schema, orient="row"), names)


def traces(*words: str) -> EventLog:
    """A log of cases without interesting times: one letter an event."""
    return log_from([[(letter, i) for i, letter in enumerate(word)] for word in words])


def owned(log: EventLog, persons: Sequence[str | None]) -> EventLog:
    """The same log, which says whose case each is."""
    return replace(log, cases=log.cases.with_columns(pl.Series("person", persons, dtype=pl.String)), individual="person")


def people_of(log: EventLog) -> Population:
    return population_of(log, np.arange(len(log.activities)))


def pair_of(one: EventLog, other: EventLog) -> tuple[Population, Population]:
    codes, other_codes = common_codes(one, other)
    return population_of(one, codes), population_of(other, other_codes)


events = st.tuples(st.sampled_from("abc"), st.integers(-DAY, 3 * DAY))
some_cases = st.lists(st.lists(events, min_size=1, max_size=7), max_size=7)
