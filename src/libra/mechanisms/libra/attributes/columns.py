"""Values that were dealt out as columns of the released log, where those of the original stood and of the same kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from libra.engines.counting.attributes import has_any
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import MISSING, Cases, Integers
from libra.eventlog.instances import STARTED, split_label
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import CASE_PREFIX, OTHER

EARLIEST, LATEST = -62_135_596_800_000_000, 253_402_300_799_000_000  # the years 1 to 9999, in microseconds since 1970


def type_of(attribute: Attribute) -> pl.DataType:
    """The type of its column."""
    types = {"boolean": pl.Boolean(), "category": pl.String(), "date": UTC_MICROSECONDS}
    return types.get(attribute.kind, pl.Float64() if attribute.decimals else pl.Int64())


def schema_of(attributes: Sequence[Attribute]) -> dict[str, pl.DataType]:
    """The columns of attributes in a flat table, those of cases first."""
    ordered = sorted(attributes, key=lambda attribute: not attribute.in_cases)
    return {attribute.name: type_of(attribute) for attribute in ordered}


def labels_at(attribute: Attribute, labels: Sequence[str]) -> Integers:
    """The codes of the labels on whose events a value stands: its activity, in whatever transition, but no start.

    Example:
        >>> labels_at(Attribute("Age", "number", at="admit"), ["admit", "leave"]).tolist()
        [0]
    """
    stands = (not label.endswith(STARTED) and split_label(label)[0] == attribute.at for label in labels)
    return np.flatnonzero(np.fromiter(stands, bool, len(labels)))


def able_at(at: Integers | None, cases: Cases) -> Integers:
    """1 for every case that has an event of one of these labels, and 0 for all others; None stands for any."""
    return np.ones(len(cases), np.int64) if at is None else has_any(cases, at.tolist())


def able_to_have(attributes: Sequence[Attribute], labels: Sequence[str], cases: Cases) -> list[Integers]:
    """For each attribute 1 for every case that can have a value, because of what happens in it, and 0 for all others."""
    at = {one.at: None if one.at is None else labels_at(one, labels) for one in attributes}
    able = {place: able_at(codes, cases) for place, codes in at.items()}
    return [able[one.at] for one in attributes]


def columns_of(
    cases: Cases, activities: Sequence[str], attributes: Sequence[Attribute], texts: Sequence[Sequence[str]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns of events and those of cases; `texts` are those that the values of each category stand for."""
    rows, places = cases.rows, {one.at for one in attributes if one.level == "case" and not one.in_cases}
    on_events = {at: _standing(None if at is None else [label == at for label in activities], cases, rows) for at in places}
    columns = []
    for attribute, values, names in zip(attributes, (*cases.attributes, *cases.of_events), texts, strict=True):
        column = _column(attribute, values, names, cases)
        if attribute.level == "case" and not attribute.in_cases:
            column = column.gather(on_events[attribute.at])
        columns.append(column.alias(attribute.name))
    of_cases = {one.name for one in attributes if one.in_cases}
    in_cases = [column.alias(column.name.removeprefix(CASE_PREFIX)) for column in columns if column.name in of_cases]
    return pl.DataFrame([column for column in columns if column.name not in of_cases]), pl.DataFrame(in_cases)


def _standing(labels: Sequence[bool] | None, cases: Cases, rows: Integers) -> pl.Series:
    """For every event the row of its case, where labels are named only if it is the first of these there; null elsewhere."""
    found = pl.Series(rows, dtype=pl.UInt32)
    if labels is None:
        return found
    here = np.flatnonzero(np.array(labels, bool)[cases.codes])
    elsewhere = np.ones(len(rows), bool)
    elsewhere[here[np.diff(rows[here], prepend=-1) > 0]] = False
    return found.set(pl.Series(elsewhere), None)


def _column(attribute: Attribute, values: Integers, texts: Sequence[str], cases: Cases) -> pl.Series:
    """The values of cases, or of events, in the type of the column; dates are counted from the start of the case or the event."""
    numbers = pl.Series(values, dtype=pl.Int64)
    numbers = numbers.set(numbers == MISSING, None)
    if attribute.kind == "category":
        return pl.Series([*texts, OTHER], dtype=pl.String).gather(numbers.cast(pl.UInt32))
    if attribute.kind == "boolean":
        return numbers.cast(pl.Boolean)
    if attribute.kind == "date":
        since = cases.spans[0] if attribute.level == "case" else cases.micros
        begins = pl.Series(attribute.begins(since), dtype=pl.Int64)
        return (
            (begins + numbers * attribute.grain)
            .clip(EARLIEST, LATEST // attribute.grain * attribute.grain)
            .cast(UTC_MICROSECONDS)
        )
    return (numbers / 10**attribute.decimals).round(attribute.decimals) if attribute.decimals else numbers
