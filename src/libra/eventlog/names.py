"""The column names of the field: what XES, pm4py and everybody's notebooks call things.

A log in memory always uses these names, whatever its file called the columns. In a flat table (CSV, Parquet, data
frames) attributes of the case carry the prefix `case:`; inside `EventLog.cases` they do not.
"""

from __future__ import annotations

ACTIVITY = "concept:name"
TIMESTAMP = "time:timestamp"
START_TIMESTAMP = "start_timestamp"
LIFECYCLE = "lifecycle:transition"
RESOURCE = "org:resource"

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
