"""What a source larger than memory gives: its events in file order, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from libra.eventlog.log import FoundRole


@dataclass(frozen=True, eq=False)
class EventBatches:
    """The events of a source in file order, some at a time; they can be gone through again, which reads the source again.

    A batch has the columns "case" (text, or whole numbers), "activity" (text), "micros" (microseconds since 1970 in UTC) and,
    where `has_individual`, "individual" (text, or whole numbers): none is ever null. Equal values of "case" are one case, equal
    values of "individual" one individual; what does not say whose it is has a value of its own. Whether an individual is the
    same throughout each case is for those to check who hold whole cases.

    Attributes:
        roles: Which column of the source plays which role, and why.
        notes: What is worth knowing about what was read so far; complete after the last batch.
        has_individual: Whether the source says whose case each event belongs to.
        estimated_events: How many events there are: exact for Parquet and frames, a guess for others.
        zoned: Whether the source says which zone its times are in.
        opened: The batches from the first one on.
    """

    roles: tuple[FoundRole, ...]
    notes: Callable[[], tuple[str, ...]]
    has_individual: bool
    estimated_events: int
    zoned: bool
    opened: Callable[[], Iterator[pl.DataFrame]]

    def has_zone(self) -> bool:
        """Whether the source says which zone its times are in; if not, they are a clock on some wall."""
        return self.zoned

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """The batches from the first one on."""
        return self.opened()
