"""Logs that do not fit in memory: a log made part by part, events read batch by batch, slices for writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import polars as pl

from libra._system.parallel import in_order
from libra.eventlog.log import UTC_MICROSECONDS, EventLog, FoundRole
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, CASE_PREFIX, LIFECYCLE, START_TIMESTAMP, TIMESTAMP
from libra.eventlog.options import InstanceMode

if TYPE_CHECKING:
    from libra.eventlog.attributes import Attribute

MakePart = Callable[[int], EventLog]
PART_SCHEMA = {CASE_PREFIX + CASE_NAME: pl.String(), ACTIVITY: pl.String(), TIMESTAMP: UTC_MICROSECONDS}  # of its flat table
_MORE: dict[str, dict[str, pl.DataType]] = {"pair": {START_TIMESTAMP: UTC_MICROSECONDS}, "events": {LIFECYCLE: pl.String()}}
SLICE_BYTES = 2_000_000  # of the log in memory; as text it is some five times as long
SLICE_EVENTS = 50_000


def part_schema(instances: InstanceMode | None, attributes: Mapping[str, pl.DataType] | None = None) -> dict[str, pl.DataType]:
    """The flat table of a part: with starts where its rows are activity instances, with transitions where they are events.

    Attributes of cases come after the case's id, those of events at the end.
    """
    of_cases = {name: dtype for name, dtype in (attributes or {}).items() if name.startswith(CASE_PREFIX)}
    first = dict(list(PART_SCHEMA.items())[:1])
    return first | of_cases | PART_SCHEMA | _MORE.get(instances or "", {}) | dict(attributes or {})


def attribute_column(attribute: Attribute) -> str:
    """What the values of an attribute are called in a batch."""
    return f"attribute:{attribute.name}"


class EventBatches(Protocol):
    """The events of a source in file order, some at a time; they can be gone through again, which reads the source again.

    A batch has the columns "case" (text, or whole numbers), "activity" (text), "micros" (microseconds since 1970 in UTC) and,
    where `has_individual`, "individual" (text, or whole numbers): none is ever null. Equal values of "case" are one case, equal
    values of "individual" one individual; what does not say whose it is has a value of its own. Whether an individual is the
    same throughout each case is for those to check who hold whole cases.

    `instances` says what else a batch has:
    "pair": "is_start" (Boolean) and "key" (UInt64), never null: rows are starts and completions, for `instances.pairs` to match
    within each case. Events in other transitions do not come. Where `has_starts`, also "start" (microseconds since 1970, before
    "micros", or null): when the instance started that this row completes, by what the row says itself.
    "complete": nothing else. Only completions come.
    "events" where `has_transitions`: "transition" (text, or null), as it stands in the source.
    None: nothing else. All events come.

    For each of `attributes` a batch has a column, called `attribute_column`, as `plain_values` makes it: what the event says, or
    what its case says. Whether an attribute in a column of cases is the same throughout each case is for those to check who hold
    whole cases.
    """

    source: str  # what to call it in errors
    attributes: tuple[Attribute, ...]  # whose values come along
    roles: tuple[FoundRole, ...]  # which column of the source plays which role, and why
    has_individual: bool  # whether the source says whose case each event belongs to
    instances: InstanceMode | None  # what becomes of start and complete events, as the user says or the first rows show
    has_starts: bool  # whether a column says when each instance started
    has_transitions: bool  # whether the source says in which transition an event is
    estimated_events: int  # exact for Parquet and frames, a guess for others
    has_zone: bool  # whether the source says which zone its times are in; if not, they are a clock on some wall

    def __iter__(self) -> Iterator[pl.DataFrame]: ...

    def notes(self) -> tuple[str, ...]:
        """What is worth knowing about what was read so far; complete after the last batch."""


class LogInParts(EventLog):
    """A log in parts."""

    def __init__(
        self, parts: int, part: MakePart, *, n_cases: int, n_events: int, labels: Sequence[str], n_variants: int | None = None,
        grain: int = 1, metadata: LogMetadata | None = None, instances: InstanceMode | None = None,
        attributes: Mapping[str, pl.DataType] | None = None,
    ) -> None:  # fmt: skip
        """Take what is known of the whole.

        `part` makes any of the parts (at least one), the same each time, with case ids that are unique over all; it goes along
        when the log is pickled. `labels` are the activity labels in use, sorted; all times are multiples of `grain` microseconds.
        Parts have the same `instances` as the whole, and the columns of `part_schema` with these `attributes`.
        """
        if parts < 1:
            raise ValueError("a log in parts has at least one part")
        self.n_parts, self._make, self._n_cases, self._n_events, self._grain = parts, part, n_cases, n_events, grain
        object.__setattr__(self, "metadata", metadata or LogMetadata())
        object.__setattr__(self, "instances", instances)
        self.schema = part_schema(instances, attributes)
        self.__dict__["_labels"] = tuple(labels)  # computed on first use in any other log
        if n_variants is not None:
            self.__dict__["n_variants"] = n_variants

    def part(self, i: int) -> EventLog:
        """Part i, made anew; ids of cases are those of the whole, rows of cases begin with 0."""
        made = self._make(i)
        of_cases = {name.removeprefix(CASE_PREFIX): kind for name, kind in self.schema.items() if name.startswith(CASE_PREFIX)}
        of_events = {CASE_INDEX: pl.UInt32()} | {
            name: kind for name, kind in self.schema.items() if not name.startswith(CASE_PREFIX)
        }
        if not (made.events.schema.items() <= of_events.items() and made.cases.schema.items() <= of_cases.items()):
            raise ValueError("a part of a log has other columns than the whole")
        if made.instances != self.instances:
            raise ValueError("the rows of a part of a log are what those of the whole are")
        for name, frame, kinds in (("events", made.events, of_events), ("cases", made.cases, of_cases)):
            if len(kinds) > frame.width:  # a log has no column without values, and a part of one may have to
                lacking = [pl.lit(None, kind).alias(each) for each, kind in kinds.items() if each not in frame.columns]
                object.__setattr__(made, name, frame.with_columns(lacking)[list(kinds)])
        return made

    def parts(self) -> Iterator[EventLog]:
        """The parts in turn, each made while those before it are used: as many at a time as there are cores, eight at most."""
        return in_order(self.part, range(self.n_parts))

    @property
    def n_cases(self) -> int:
        """How many cases the log has."""
        return self._n_cases

    @property
    def n_events(self) -> int:
        """How many events the log has."""
        return self._n_events

    @cached_property
    def events(self) -> pl.DataFrame:
        """All events, in memory."""
        return self._whole.events

    @cached_property
    def cases(self) -> pl.DataFrame:
        """All cases, in memory."""
        return self._whole.cases

    @cached_property
    def _whole(self) -> EventLog:
        events, cases, before = [], [], 0
        for part in self.parts():
            events.append(part.events.with_columns(pl.col(CASE_INDEX) + pl.lit(before, pl.UInt32)))
            cases.append(part.cases)
            before += part.n_cases
        return EventLog(pl.concat(events), pl.concat(cases), self.metadata, instances=self.instances)

    def finer_than(self, micros: int, _times: pl.Series, /) -> bool:
        """Whether any time of the log may be no multiple of so many microseconds."""
        return self._grain % micros != 0

    def __repr__(self) -> str:
        return f"LogInParts({ACTIVITY}, {TIMESTAMP})"


def slices(log: EventLog) -> Iterator[pl.DataFrame]:
    """The events in order, some at a time and fewer where their texts are long. A slice may begin and end within a case."""
    size = int(log.events.estimated_size()) + int(log.cases.estimated_size())
    return log.events.iter_slices(max(1, min(SLICE_EVENTS, SLICE_BYTES * log.n_events // max(size, 1))))
