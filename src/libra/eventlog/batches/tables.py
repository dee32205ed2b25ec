"""A flat table, one row an event, to batches of events: what `tables.flat` does, for tables larger than memory.

In: a `Table`, some rows of it to decide on and a way to go through all. Out: `EventBatches`. The cases, activities and times are
those that the in-memory reader finds; a row that it would have read otherwise is an `InputError` that names its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from libra.eventlog.batches.event_batches import EventBatches
from libra.eventlog.batches.table_rows import Place, TableRows
from libra.eventlog.log import FoundRole
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.roles import DESCRIBED, find_roles

_SURE = ("named in the call", DESCRIBED, "its name is the XES standard's")


@dataclass(frozen=True)
class Table:
    """A table larger than memory.

    Attributes:
        source: What it is called in errors.
        sample: Some rows with all their columns: the roles and forms of columns are found in them.
        place: Where a row of the sample stands.
        rows: All rows in order, some at a time, with where a row stands; only these columns are needed.
        height: How many rows there are, or a guess.
        individual: The column that is known to say whose cases they are, unless the user names one.
        notes: What is worth knowing about how the rows are read; complete after the last ones.
    """

    source: str
    sample: pl.DataFrame
    place: Place
    rows: Callable[[Sequence[str]], Iterator[tuple[pl.DataFrame, Place]]]
    height: int
    individual: FoundRole | None = None
    notes: Callable[[], Sequence[str]] = field(default=tuple)


def table_batches(table: Table, options: ReadOptions, roles: tuple[FoundRole, ...] | None = None) -> EventBatches:
    """The events of a table; the roles of its columns are found in the sample unless they are given.

    Example:
        >>> frame = pl.DataFrame({"case": [7, 7], "activity": ["a", "b"], "time": ["2024-05-06", "2024-05-07"]})
        >>> table = Table("a table", frame, "row {}".format, lambda names: iter([(frame.select(names), "row {}".format)]), 2)
        >>> [batch.select("case", "activity").rows() for batch in table_batches(table, ReadOptions())]
        [[(7, 'a'), (7, 'b')]]
    """
    roles = find_roles(table.sample, options, table.source) if roles is None else roles
    if table.individual is not None and not options.described and all(role.role != "individual" for role in roles):
        roles = (*roles, table.individual)
    reading = _Reading(table, options, roles)
    return EventBatches(
        roles,
        reading.notes,
        any(role.role == "individual" for role in roles),
        table.height,
        reading.rows.times.has_zone,
        reading.batches,
    )


class _Reading:
    """The rows of a table on their way to events, and what there is to say about them."""

    def __init__(self, table: Table, options: ReadOptions, roles: tuple[FoundRole, ...]) -> None:
        self.table, self.options, self.roles = table, options, roles
        self.rows = self._fresh()

    def _fresh(self) -> TableRows:
        table = self.table
        known = table.individual if table.individual in self.roles else None
        return TableRows(table.sample, self.roles, self.options, table.source, table.place, may_lack_individual=known is not None)

    def batches(self) -> Iterator[pl.DataFrame]:
        """All events."""
        self.rows = rows = self._fresh()
        for frame, place in self.table.rows(rows.columns):
            events = rows.events(frame, place)
            if events.height:
                yield events
        rows.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        notes = [*self.table.notes(), *self.rows.notes()]
        if self.table.height > self.table.sample.height and any(role.reason not in _SURE for role in self.roles):
            notes.append("Which column plays which role was found from some of the rows; it can be named in the call.")
        return tuple(dict.fromkeys(notes))
