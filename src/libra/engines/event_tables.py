"""What the mechanism asks about attributes of events: values by activity, and values by the ones before them.

A case counts in as many cells as its events do, and is clipped to an L2 norm. Each clip comes from a histogram of norms, in which
a case counts once. Which events count, and in which row, follows from their labels, which are released: starts of instances
count nowhere. How many events have no value is a table of its own; in all others they are as if they were not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from libra.engines.attribute_tables import GRAINS, Coding
from libra.engines.contract import FINE
from libra.engines.control_flow_tables import NORM_BINS, OneCell

NOWHERE = -1  # the row of labels whose events do not count


@dataclass(frozen=True)
class OfEvents:
    """The cells of an attribute of events, and the rows that events count in."""

    number: int  # its place among the attributes of events asked for
    coding: Coding
    rows: tuple[int, ...]  # for every label; `NOWHERE` where its events do not count

    @property
    def n_values(self) -> int:
        """How many cells there are for values; events without one have another."""
        return self.coding.n_cells - 1

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return max(self.rows, default=NOWHERE) + 1


@dataclass(frozen=True)
class EventNorms(OneCell):
    """How many cases have how large a vector of counts in `EventCounts` or, where `following`, in `NextCounts`."""

    purpose: ClassVar[str] = "sizes of cases by values of event attributes"
    shape: ClassVar[tuple[int, ...]] = (len(NORM_BINS),)
    side: OfEvents
    following: bool = False


@dataclass(frozen=True)
class _Clipped:
    scale: ClassVar[int] = FINE
    side: OfEvents
    clip: float


@dataclass(frozen=True)
class EventFills(_Clipped):
    """How many events of each row have no value, and how many have one; a case is clipped."""

    purpose: ClassVar[str] = "which events have values of attributes"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.side.n_rows, 2)


@dataclass(frozen=True)
class EventCounts(_Clipped):
    """How many events of each row fall into each cell, events without a value left out; a case is clipped."""

    purpose: ClassVar[str] = "values of event attributes"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.side.n_rows, self.side.n_values)


@dataclass(frozen=True)
class NextCounts(_Clipped):
    """How often a value (a row) is followed by a value (a column) within a case, events without one left out; clipped."""

    purpose: ClassVar[str] = "next values of event attributes"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.side.n_values, self.side.n_values)


@dataclass(frozen=True)
class EventGrains(_Clipped):
    """How round the numbers of events are: which of `GRAINS` is the largest that divides each, as in `ValueGrains`; clipped."""

    purpose: ClassVar[str] = "how round numbers of event attributes are"
    shape: ClassVar[tuple[int, ...]] = (len(GRAINS),)


EventTable: TypeAlias = EventFills | EventNorms | EventCounts | NextCounts | EventGrains
