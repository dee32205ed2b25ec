"""What a person may say about how a log is to be read; everything has a default that is found from the data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from libra.eventlog.attributes import Attribute

EpochUnit = Literal["s", "ms", "us", "ns"]
Zone = Literal["file", "none", "utc"]
Form = Literal["xes", "csv", "table"]
InstanceMode = Literal["pair", "complete", "events"]
"""What becomes an event of a log: a pair of start and complete, a completion alone, or each event with its transition."""
ISO, ANY = "iso", "any"  # timestamp formats beside strftime codes: ISO 8601, and any form that is known, each value by itself

Place = Callable[[int], str]
"""Says where a row comes from, for errors."""
Progress = Callable[[int, int], None]
"""Called with (done, in all) while a file is read (bytes) or written (events)."""


def no_progress(_done: int, _total: int) -> None:
    """The progress of those who do not want to know."""


def stage(progress: Progress, name: str, what: Any = "") -> AbstractContextManager[Progress]:
    """One stage of longer work, such as "read" of a file: the callback for this stage.

    A callback with a method `stage(name, what)`, as the command line has, is told the name; any other gets the figures alone.
    """
    begin = getattr(progress, "stage", None)
    if begin is None:
        return nullcontext(progress)
    told: AbstractContextManager[Progress] = begin(name, Path(what).name if isinstance(what, str | Path) else "the log")
    return told


@dataclass(frozen=True)
class RoleNames:
    """Columns named by the user for the roles; empty means: find it. Several columns may form a case id or an activity."""

    case_id: tuple[str, ...] = ()
    activity: tuple[str, ...] = ()
    timestamp: str | None = None
    clock: str | None = None  # the time of day, where the timestamp is a date; no flag names it
    start_timestamp: str | None = None
    lifecycle: str | None = None
    resource: str | None = None
    individual: str | None = None


@dataclass(frozen=True)
class ReadOptions:
    """All choices of a read. `None` means: detect."""

    roles: RoleNames = field(default_factory=RoleNames)
    lifecycle_keep: tuple[str, ...] = ()  # keep only events in these transitions, whatever their case of letters
    instances: InstanceMode | None = None  # None with a description: each event by itself, and its transition is not released
    timestamp_format: str | None = None  # strftime codes, or ISO or ANY
    day_first: bool | None = None  # 03/04/2024 is the third of April
    epoch_unit: EpochUnit | None = None  # what Unix times count
    zone: Zone | None = None  # every time carries its own, none does, or those without are in UTC
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None  # "." or ","
    quote: str | None = None  # what encloses fields; empty for nothing
    line_end: str | None = None
    sort_by_time: bool = False  # order each case's events by time; ties keep file order
    drop_invalid: bool = False  # leave out events without a usable case id, activity or timestamp
    allow_empty: bool = False  # a header without events is an empty log, not an error
    progress: Progress = no_progress
    described: str = ""  # the description that all of this is from, by its name; then nothing is detected
    form: Form | None = None  # what the description is of
    attributes: tuple[Attribute, ...] = ()  # that the description says may be released: their values are read as it says
