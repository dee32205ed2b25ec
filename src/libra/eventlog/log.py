"""What an event log is: events in the order of their file, cases they belong to, and what the header said.

An `EventLog` is immutable. `events` has one row an event, the events of a case next to each other and in file order; `@case` is
the row of the case in `cases`; `concept:name` (text) and `time:timestamp` (UTC, microseconds) are never null. `cases` has one row
a case, in order of first appearance; `concept:name` is its id, unique and never null. Attributes are text, Int64, Float64,
Boolean or UTC microsecond timestamps; null means missing. What is derived (codes, variants, directly-follows) is computed once.

If `instances` is "pair", a row is an activity instance: `time:timestamp` is its completion and `start_timestamp` its start, which
is before the completion or null. The rows of a case are then in order of completion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.metadata import AttributeType, LogMetadata
from libra.eventlog.names import (
    ACTIVITY,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    EVENT_ROLES,
    LIFECYCLE,
    START_TIMESTAMP,
    TIMESTAMP,
    column,
    unnamed,
)
from libra.eventlog.options import InstanceMode

if TYPE_CHECKING:
    import pandas as pd

    from libra.eventlog.attributes import Attribute

Scalar = TypeVar("Scalar", bound=np.generic)
UTC_MICROSECONDS = pl.Datetime("us", "UTC")
HOUR = 3_600_000_000  # microseconds
ATTRIBUTE_TYPES: tuple[pl.DataType, ...] = (pl.String(), pl.Int64(), pl.Float64(), pl.Boolean(), UTC_MICROSECONDS)
XES_TYPES: dict[type[pl.DataType], AttributeType] = dict(
    zip((dtype.base_type() for dtype in ATTRIBUTE_TYPES), ("string", "int", "float", "boolean", "date"), strict=True)
)


def frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The array, from now on read-only."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False, repr=False)
class Variants:
    """The distinct traces of a log.

    `traces` holds one row a variant: `trace` (list of activity codes) and `count` (cases), most frequent first, ties by
    first appearance. `of_case` is the row of every case's variant.
    """

    traces: pl.DataFrame
    of_case: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return self.traces.height

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many cases follow each variant."""
        return self.traces["count"].to_numpy()


def variants_of(codes: npt.NDArray[np.uint32], case_offsets: npt.NDArray[np.int64]) -> Variants:
    """Group cases by their trace."""
    case = np.repeat(np.arange(len(case_offsets) - 1, dtype=np.uint32), np.diff(case_offsets))
    by_case = pl.DataFrame({"case": case, "trace": codes}).group_by("case", maintain_order=True).agg("trace")
    groups = by_case.group_by("trace", maintain_order=True).agg(pl.len().cast(pl.Int64).alias("count"), "case")
    groups = groups.sort("count", descending=True, maintain_order=True)
    of_case = np.empty(by_case.height, np.int64)
    of_case[groups["case"].explode().to_numpy()] = np.repeat(np.arange(groups.height), groups["count"].to_numpy())
    return Variants(groups.select("trace", "count"), frozen(of_case))


@dataclass(frozen=True, eq=False, repr=False)
class DirectlyFollows:
    """The directly-follows relation of a log.

    Edge i goes from activity code `source[i]` to `target[i]` and was taken `counts[i]` times; edges are ordered by source,
    then target. Step j took edge `step_edge[j]` and `step_micros[j]` microseconds.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    step_edge: npt.NDArray[np.int64]
    step_micros: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class Pairing:
    """How the events of a log became activity instances: counts of events, which are confidential."""

    paired: int | None  # starts and completions that met; None where a column says when rows started
    without_start: int | None  # completions that no start came before
    not_completed: int | None  # starts that nothing completes
    left_out: Mapping[str, int]  # events in other transitions


@dataclass(frozen=True)
class FoundRole:
    """Which column (or columns) of the source plays a role, and why we think so."""

    role: str
    columns: tuple[str, ...]
    reason: str


def role_columns(roles: Sequence[FoundRole]) -> dict[str, str | list[str]]:
    """Which column of a source plays which role; a list where several form it."""
    return {role.role: role.columns[0] if len(role.columns) == 1 else list(role.columns) for role in roles}


@dataclass(frozen=True, eq=False)
class EventLog:
    """An event log; see the module's text for what its frames hold.

    Example:
        >>> from datetime import datetime, UTC
        >>> noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0, 0, 1], "concept:name": ["triage", "leave", "triage"], "time:timestamp": [noon] * 3}),
        ...     pl.DataFrame({"concept:name": ["anna", "bert"]}),
        ... )
        >>> log.n_cases, log.n_events, log.activities
        (2, 3, ['leave', 'triage'])
    """

    events: pl.DataFrame
    cases: pl.DataFrame
    metadata: LogMetadata = field(default_factory=LogMetadata)
    roles: tuple[FoundRole, ...] = ()
    notes: tuple[str, ...] = ()
    individual: str | None = None  # the column of `cases` that says whose case it is
    has_zone: bool = True  # whether the source said which zone its times are in; if not, they are a clock on some wall
    instances: InstanceMode | None = None  # what a row is (`pairing.py`); None for events whose transition is not released
    pairing: Pairing | None = field(default=None, compare=False, repr=False)  # how events became instances, where they did
    declared: tuple[Attribute, ...] | None = None  # the attributes it was read by; None where it was not read from anything

    def __post_init__(self) -> None:
        if self.instances == "pair" and START_TIMESTAMP not in self.events.columns:
            object.__setattr__(self, "events", self.events.with_columns(pl.lit(None, UTC_MICROSECONDS).alias(START_TIMESTAMP)))
        kept = {"pair": START_TIMESTAMP, "events": LIFECYCLE}.get(self.instances or "")
        object.__setattr__(self, "events", _canonical(self.events, needed=(CASE_INDEX, ACTIVITY, TIMESTAMP), kept=kept))
        object.__setattr__(self, "cases", _canonical(self.cases, needed=(CASE_NAME,), kept=self.individual))
        texts = ((self.events, ACTIVITY, pl.String), (self.cases, CASE_NAME, pl.String))
        for frame, name, dtype in (*texts, (self.events, TIMESTAMP, UTC_MICROSECONDS)):
            if frame.schema[name] != dtype or frame[name].null_count():
                raise ValueError(f"{name} must be {dtype} and never null")
        index, rows = self.events[CASE_INDEX], self.cases.height
        if not index.is_sorted() or index.n_unique() != rows or (rows and index[-1] != rows - 1):
            raise ValueError("events must be grouped by case, every case with at least one event")
        if self.cases[CASE_NAME].n_unique() != rows:
            raise ValueError("case ids must be unique")
        if self.individual is not None and self.individual not in self.cases.columns:
            raise ValueError(f"the individual must be a column of the cases, and {self.individual} is none")

    @property
    def n_cases(self) -> int:
        """How many cases the log has."""
        return self.cases.height

    @property
    def n_events(self) -> int:
        """How many events the log has."""
        return self.events.height

    @property
    def activities(self) -> list[str]:
        """The activity labels in use, sorted; a label's position is its code."""
        return list(self._labels)

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(self.events[ACTIVITY].unique().sort())

    @cached_property
    def activity_codes(self) -> npt.NDArray[np.uint32]:
        """For every event, the position of its activity in `activities`."""
        if not self._labels:
            return np.zeros(0, np.uint32)
        return frozen(self.events[ACTIVITY].cast(pl.Enum(self._labels)).to_physical().cast(pl.UInt32).to_numpy())

    @cached_property
    def case_offsets(self) -> npt.NDArray[np.int64]:
        """Case i holds the events from `case_offsets[i]` up to `case_offsets[i + 1]`."""
        lengths = np.bincount(self.events[CASE_INDEX].to_numpy(), minlength=self.n_cases)
        return frozen(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))

    @cached_property
    def timestamps(self) -> npt.NDArray[np.int64]:
        """For every event, microseconds since 1970 in UTC."""
        return frozen(self.events[TIMESTAMP].to_physical().to_numpy())

    @cached_property
    def variants(self) -> Variants:
        """The distinct traces with their counts."""
        return variants_of(self.activity_codes, self.case_offsets)

    @cached_property
    def n_variants(self) -> int:
        """How many distinct traces the log has."""
        return len(self.variants)

    def parts(self) -> Iterator[EventLog]:
        """The log itself: only a `LogInParts` comes in several."""
        yield self

    def finer_than(self, micros: int, times: pl.Series, /) -> bool:
        """Whether any time of this column is no multiple of so many microseconds."""
        return bool((unnamed(times).to_physical() % micros != 0).any())

    @cached_property
    def directly_follows(self) -> DirectlyFollows:
        """How often, and after how long, one activity directly follows another within a case."""
        codes, n_activities = self.activity_codes, len(self._labels)
        within_case = np.ones(max(len(codes) - 1, 0), bool)
        within_case[self.case_offsets[1:-1] - 1] = False
        pair = (codes[:-1].astype(np.int64) * n_activities + codes[1:])[within_case]
        edges, step_edge, counts = np.unique(pair, return_inverse=True, return_counts=True)
        source, target = np.divmod(edges, max(n_activities, 1))
        return DirectlyFollows(*map(frozen, (source, target, counts, step_edge, np.diff(self.timestamps)[within_case])))

    @cached_property
    def case_spans(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For every case its earliest and its latest timestamp, in microseconds."""
        if not self.n_cases:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        starts, began = self.case_offsets[:-1], self.timestamps
        if self.instances == "pair":  # a case begins with its first start
            began = self.events.select(pl.min_horizontal(TIMESTAMP, START_TIMESTAMP)).to_series().to_physical().to_numpy()
        earliest, latest = np.minimum.reduceat(began, starts), np.maximum.reduceat(self.timestamps, starts)
        return frozen(earliest), frozen(latest)

    @property
    def in_time_order(self) -> bool:
        """Whether no case has an event that its clock puts before an earlier one of the file."""
        within_case = np.diff(self.events[CASE_INDEX].to_numpy()) == 0
        return not (np.diff(self.timestamps)[within_case] < 0).any()

    @property
    def role_columns(self) -> dict[str, str | list[str]]:
        """Which column of the source plays which role; a list where several form it."""
        return role_columns(self.roles)

    def with_notes(self, *notes: str) -> EventLog:
        """The same log with more to say about how it was read."""
        noted = copy(self)  # what was computed already comes along
        object.__setattr__(noted, "notes", (*self.notes, *notes))
        return noted

    def equals(self, other: EventLog) -> bool:
        """Whether two logs hold the same cases, events, attributes and metadata, column order aside.

        Roles and notes tell where a log came from and do not count.
        """
        frames = ((self.events, other.events), (self.cases, other.cases))
        same = all(set(one.columns) == set(two.columns) and one.equals(two[one.columns]) for one, two in frames)
        return same and self.metadata == other.metadata and self.individual == other.individual

    def to_polars(self) -> pl.DataFrame:
        """One flat frame in pm4py's column convention, attributes of the case prefixed with `case:`."""
        per_case, events = self.cases.select(pl.all().name.prefix(CASE_PREFIX)), in_tables(self.events, self.instances)
        return pl.concat([per_case[events[CASE_INDEX]], events.drop(CASE_INDEX)], how="horizontal")

    def to_pandas(self) -> pd.DataFrame:
        """The flat frame of `to_polars` for pandas and pm4py (needs the `pandas` extra)."""
        from libra.eventlog.tables.frames import to_pandas

        return to_pandas(self)

    def __repr__(self) -> str:
        # Without any figure of the log: it may end up in a log file.
        return f"EventLog({', '.join(self.events.columns[1:])})"


def in_tables(events: pl.DataFrame, instances: InstanceMode | None) -> pl.DataFrame:
    """The events as tables have them: an instance without a start starts when it is completed.

    pm4py orders instances by their starts, and would put those with an empty one last. To Libra they take no time either way.
    """
    return events.with_columns(pl.col(START_TIMESTAMP).fill_null(pl.col(TIMESTAMP))) if instances == "pair" else events


def _canonical(frame: pl.DataFrame, needed: tuple[str, ...], kept: str | None = None) -> pl.DataFrame:
    """Known columns first, proper types, and no attribute that is null throughout (XES could not say it either), but for one."""
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        raise ValueError(f"an event log needs the column {lacking[0]}")
    of_events = CASE_INDEX in needed
    frame = frame.with_columns(
        column(name).cast(pl.UInt32 if name == CASE_INDEX else UTC_MICROSECONDS)
        for name in frame.columns
        if (of_events and name == CASE_INDEX) or frame.schema[name].is_temporal()
    )
    used = [name for name in frame.columns if name in (*needed, kept) or frame[name].null_count() < frame.height]
    first = (CASE_INDEX, *EVENT_ROLES) if of_events else needed
    used.sort(key=lambda name: first.index(name) if name in first else len(first))
    for name in used:
        if not (of_events and name == CASE_INDEX) and frame.schema[name] not in ATTRIBUTE_TYPES:
            raise ValueError(f"column {name} has the type {frame.schema[name]}, which no event log can hold")
    return frame[used]


def empty_log(like: EventLog) -> EventLog:
    """A log with the header of another one and no case: the baseline that every release has to beat."""
    return EventLog(like.events.clear(), like.cases.clear(), like.metadata, like.roles)
