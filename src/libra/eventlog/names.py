"""Column names of the field (XES, pm4py), and how to address a column by its exact name.

A log in memory always uses these names. In a flat table (CSV, Parquet, data frames) attributes of the case carry the
prefix `case:`; inside `EventLog.cases` they do not.
"""

from __future__ import annotations

import polars as pl
import polars.selectors as cs

ACTIVITY = "concept:name"
TIMESTAMP = "time:timestamp"
START_TIMESTAMP = "start_timestamp"
LIFECYCLE = "lifecycle:transition"
RESOURCE = "org:resource"
OTHER = "(other)"  # in a released log: stands for all values that were not chosen
PSEUDONYM = r"^(R[1-9]\d*|\(other\))$"  # what resources are called in a released log, unless names are asked for
INSTANCE = "concept:instance"  # what the events of one activity instance have in common

CASE_PREFIX = "case:"
CASE_NAME = "concept:name"  # within EventLog.cases
CASE_ID = CASE_PREFIX + CASE_NAME  # within a flat table

CASE_INDEX = "@case"  # the row of EventLog.cases that an event belongs to

ROLE_COLUMN = {
    "case_id": CASE_ID,
    "activity": ACTIVITY,
    "timestamp": TIMESTAMP,
    "start_timestamp": START_TIMESTAMP,
    "lifecycle": LIFECYCLE,
    "resource": RESOURCE,
}
EVENT_ROLES = tuple(column for role, column in ROLE_COLUMN.items() if role != "case_id")


def column(name: str) -> pl.Expr:
    """The column of that very name, also where it is called "*" or "^x$"."""
    return cs.by_name(name).as_expr()


def without(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The frame without the columns of those very names, where it has them."""
    return frame.drop(cs.by_name(*names, require_all=False))


def unnamed(values: pl.Series) -> pl.Series:
    """The values without their name, for methods that would take it for a pattern."""
    return values.alias("")
