"""Which attributes the logs have, how far they are filled, and what values those have that were released.

In: two logs. Out: rows for at most so many attributes, those that were released first. Values are shown of released attributes
alone, the most frequent ones or, of numbers, in bins of about equally many; and only values that several cases share, so that
a name that somebody left in a column does not end up on a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from libra.charts.numbers import number
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP, column, unnamed
from libra.reporting.facts.histogram import shares
from libra.reporting.facts.pair import Pair

Level = Literal["event", "case"]
MOST = 20
TOP = 8  # values
BINS = 10
FEWEST_CASES = 5  # that share a value
FEWEST_NUMBERS = 100  # for bins of numbers: some ten in each
NOT_ATTRIBUTES = {"event": (CASE_INDEX, ACTIVITY, TIMESTAMP), "case": (CASE_NAME,)}
TYPES = {
    pl.String(): "text",
    pl.Int64(): "whole number",
    pl.Float64(): "number",
    pl.Boolean(): "yes or no",
    UTC_MICROSECONDS: "time",
}
NUMBERS = ("whole number", "number")


@dataclass(frozen=True)
class Values:
    """What values an attribute has: the share of each among all that are filled; None for the original in public mode."""

    names: tuple[str, ...]
    original: tuple[float, ...] | None
    anonymized: tuple[float, ...]


@dataclass(frozen=True)
class AttributeRow:
    """An attribute.

    Attributes:
        name: Its name.
        level: Whether "event"s or "case"s have it.
        type: "text", "whole number", "number", "yes or no" or "time".
        filled_original: The share of events or cases that have a value; None in public mode and where only the other log has it.
        filled_anonymized: The same of the anonymized log; None where the attribute was not released.
        values: What values it has; None where it was not released, and where too few cases share one.
    """

    name: str
    level: Level
    type: str
    filled_original: float | None
    filled_anonymized: float | None
    values: Values | None


def attributes_of(pair: Pair, most: int = MOST) -> tuple[AttributeRow, ...]:
    """The attributes of the logs, released ones first, those of events before those of cases; `attribute_count` says of how many.

    Example:
        >>> from libra.eventlog.log import empty_log
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> found = attributes_of(Pair(log, empty_log(log)))
        >>> found[0].filled_original > 0
        True
    """
    return tuple(_row(pair, level, name) for level, name in _names(pair)[:most])


def attribute_count(pair: Pair) -> int:
    """How many attributes the logs have together.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> attribute_count(Pair(log, log)) == len(attributes_of(Pair(log, log)))
        True
    """
    return len(_names(pair))


def held_back(pair: Pair) -> tuple[str, ...]:
    """The names of attributes of the original that were not released.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> held_back(Pair(log, log))
        ()
    """
    return tuple(name for level, name in _names(pair) if name not in _frame(pair.anonymized, level).columns)


def _names(pair: Pair) -> list[tuple[Level, str]]:
    levels: tuple[Level, ...] = ("event", "case")
    found = {
        (level, name): None
        for level in levels
        for log in pair.logs
        for name in _frame(log, level).columns
        if name not in NOT_ATTRIBUTES[level]
    }
    return sorted(found, key=lambda one: one[1] not in _frame(pair.anonymized, one[0]).columns)


def _frame(log: EventLog, level: Level) -> pl.DataFrame:
    return log.events if level == "event" else log.cases


def _row(pair: Pair, level: Level, name: str) -> AttributeRow:
    frames = [_frame(log, level) for log in pair.logs]
    types = [TYPES[frame.schema[name]] for frame in frames if name in frame.columns]
    filled = [1 - frame[name].null_count() / max(frame.height, 1) if name in frame.columns else None for frame in frames]
    in_all = len(types) == len(frames)
    comparable = len(set(types)) == 1 or set(types) == set(NUMBERS)
    return AttributeRow(
        name,
        level,
        types[0],
        None if pair.is_public else filled[0],
        filled[-1],
        _values(frames, name, types[0], pair.is_public) if in_all and comparable else None,
    )


def _values(frames: list[pl.DataFrame], name: str, kind: str, is_public: bool) -> Values | None:
    if kind == "time":
        return None
    binned = _numbers(frames, name) if kind in NUMBERS else _words(frames, name)
    if binned is None:
        return None
    names, counts = binned
    return Values(names, None if is_public else counts[0], counts[-1])


Binned = tuple[tuple[str, ...], list[tuple[float, ...]]]


def _numbers(frames: list[pl.DataFrame], name: str) -> Binned | None:
    """In bins of about equally many values of the first log; its smallest and largest value are not told."""
    values = [
        one[np.isfinite(one)] for one in (unnamed(frame[name]).drop_nulls().cast(pl.Float64).to_numpy() for frame in frames)
    ]
    if len(values[0]) < FEWEST_NUMBERS:
        return None
    bounds = np.unique(np.quantile(values[0], np.arange(1, BINS) / BINS, method="inverted_cdf"))
    said = [number(bound) for bound in bounds]
    middle = (f"{low} to below {high}" for low, high in pairwise(said))
    counts = [np.bincount(np.searchsorted(bounds, one, side="right"), minlength=len(bounds) + 1) for one in values]
    return (f"below {said[0]}", *middle, f"{said[-1]} and more"), [shares(one) for one in counts]


def _words(frames: list[pl.DataFrame], name: str) -> Binned | None:
    """The most frequent values of the first log that several cases share, and all others together."""
    cases = column(CASE_INDEX).n_unique() if CASE_INDEX in frames[0].columns else pl.len()
    value = column(name).cast(pl.String)
    counted = frames[0].select(value.alias("value"), *([column(CASE_INDEX)] if CASE_INDEX in frames[0].columns else []))
    found = counted.drop_nulls("value").group_by("value").agg(pl.len().alias("n"), cases.alias("cases"))
    top = found.filter(pl.col("cases") >= FEWEST_CASES).sort(["n", "value"], descending=[True, False]).head(TOP)["value"]
    if not len(top):
        return None
    counts = []
    for frame in frames:
        present = frame.select(value.alias("value")).drop_nulls()["value"]
        tally = dict(present.filter(present.is_in(top.to_list())).value_counts().iter_rows())
        listed = [tally.get(label, 0) for label in top]
        counts.append(shares(np.array([*listed, len(present) - sum(listed)])))
    return (*top, "all others"), counts
