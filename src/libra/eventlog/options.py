"""What a person may say about how a log is to be read; everything has a default that is found from the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[int, int], None]
"""Called with (done, in all) while a file is read (bytes) or written (events)."""


def no_progress(_done: int, _total: int) -> None:
    """The progress of those who do not want to know."""


@dataclass(frozen=True)
class RoleNames:
    """Columns named by the user for the roles; empty means: find it. Several columns may form a case id or an activity."""

    case_id: tuple[str, ...] = ()
    activity: tuple[str, ...] = ()
    timestamp: str | None = None
    start_timestamp: str | None = None
    lifecycle: str | None = None
    resource: str | None = None
    individual: str | None = None


@dataclass(frozen=True)
class ReadOptions:
    """All choices of a read. `None` means: detect."""

    roles: RoleNames = field(default_factory=RoleNames)
    lifecycle_keep: tuple[str, ...] = ()  # keep only events in these transitions, whatever their case of letters
    timestamp_format: str | None = None  # strftime codes
    day_first: bool | None = None  # 03/04/2024 is the third of April
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None  # "." or ","
    sort_by_time: bool = False  # order each case's events by time; ties keep file order
    drop_invalid: bool = False  # leave out events without a usable case id, activity or timestamp
    allow_empty: bool = False  # a header without events is an empty log, not an error
    progress: Progress = no_progress
