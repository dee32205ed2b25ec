"""Logs written down case by case, and what plain Python makes of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import polars as pl

from libra.eventlog.log import EventLog

BEGIN = datetime(2024, 5, 6, 8, tzinfo=UTC)  # a Monday
Cases = Sequence[Sequence[tuple[str, float]]]


def log_of(cases: Cases, begin: datetime = BEGIN, attributes: Mapping[str, Sequence[Any]] | None = None) -> EventLog:
    """A log with the activities of each case and their seconds since `begin`; attributes are those of events."""
    flat = [(row, activity, begin + timedelta(seconds=at)) for row, case in enumerate(cases) for activity, at in case]
    columns: Mapping[str, Any] = {
        "@case": pl.Series([row for row, _, _ in flat], dtype=pl.UInt32),
        "concept:name": pl.Series([activity for _, activity, _ in flat], dtype=pl.String),
        "time:timestamp": pl.Series([moment for _, _, moment in flat], dtype=pl.Datetime("us", "UTC")),
    }
    ids = pl.Series([f"c{row}" for row in range(len(cases))], dtype=pl.String)
    return EventLog(pl.DataFrame(dict(columns) | dict(attributes or {})), pl.DataFrame({"concept:name": ids}))


def steps(cases: Cases) -> dict[tuple[str, str], list[float]]:
    """The seconds of every step, edge by edge."""
    found: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        for (source, before), (target, after) in pairwise(case):
            found.setdefault((source, target), []).append(after - before)
    return found


def traces(cases: Cases) -> Counter[tuple[str, ...]]:
    """How many cases follow each variant."""
    return Counter(tuple(activity for activity, _ in case) for case in cases)


def numbers_in(fact: object) -> Iterator[float]:
    """All numbers in a fact, however deep."""
    if isinstance(fact, bool):
        return
    if isinstance(fact, int | float):
        yield fact
    elif isinstance(fact, tuple | list):
        for part in fact:
            yield from numbers_in(part)
    elif is_dataclass(fact):
        for field in fields(fact):
            yield from numbers_in(getattr(fact, field.name))


def all_finite(fact: object) -> bool:
    return all(math.isfinite(number) for number in numbers_in(fact))


HANDLING: Cases = [
    [("register", 0), ("triage", 60), ("leave", 3660)],
    [("register", 100), ("triage", 130), ("leave", 200)],
    [("register", 7200), ("leave", 7200)],
    [("register", 86400), ("triage", 86401), ("triage", 86400), ("leave", 259200)],
    [("register", 90000), ("leave", 90002.5)],
]
RELEASED: Cases = [
    [("register", 0), ("triage", 90), ("leave", 4000)],
    [("register", 50), ("leave", 60)],
    [("triage", 500), ("register", 900)],
    [("triage", 500), ("register", 1000)],
]
