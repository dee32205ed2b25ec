"""What is in a log, in figures: the facts behind `libra inspect`.

In: a log. Out: a `Summary`. Its figures are exact and therefore confidential: they are for the person who holds the log.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from libra.eventlog.attributes import Kind
from libra.eventlog.classify import FoundAttribute, Role, classified
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import HOUR, XES_TYPES, EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, CASE_PREFIX, START_TIMESTAMP, TIMESTAMP

if TYPE_CHECKING:
    from libra.measures.risk import LogRisk

TOP_VARIANTS = 10
FEW = 20  # cases; with fewer than that a label may point at somebody


@dataclass(frozen=True)
class TraceLength:
    """How many events a case has."""

    min: int
    median: float
    max: int


@dataclass(frozen=True)
class TopVariant:
    """A frequent variant: its activities and how many cases follow it."""

    trace: tuple[str, ...]
    cases: int


@dataclass(frozen=True)
class RareLabel:
    """An activity that few cases have."""

    label: str
    cases: int


@dataclass(frozen=True)
class AttributeSummary:
    """An attribute of the cases or of the events: its type, in the words of XES, and how many of them have a value.

    What it is stands in `role`, and why in `reason`; both are None for what is no attribute to be released, such as start times.
    """

    name: str
    level: Literal["case", "event"]
    type: str
    filled_share: float
    filled_of: Literal["case", "event"]  # whose share: of cases also where events have the one value of their case
    role: Role | None = None
    reason: str | None = None
    releasable: bool | None = None
    kind: Kind | None = None
    at: str | None = None  # the activity that has it, where it is recorded once a case
    depends_on: str | None = None  # the column that determines it

    @property
    def column(self) -> str:
        """What its column in a flat table is called."""
        return CASE_PREFIX + self.name if self.level == "case" else self.name


@dataclass(frozen=True)
class InstanceSummary:
    """What became of start and complete events. Counts of events are None where a column says when rows started."""

    with_start: int  # instances that have a start
    paired: int | None  # start and complete events that met
    without_start: int | None  # complete events that no start came before
    not_completed: int | None  # start events that nothing completes
    left_out: dict[str, int]  # events in other transitions


@dataclass(frozen=True)
class Summary:
    """The figures of a log. What an empty log does not have is None."""

    cases: int
    events: int
    activities: int
    variants: int
    start: str | None  # the earliest time, ISO 8601
    end: str | None  # the latest time, ISO 8601
    columns: dict[str, str | list[str]]  # which column plays which role; a list where several form it
    variants_unique_share: float  # of variants that occur in exactly one case
    cases_unique_share: float  # of cases whose variant no other case shares
    cases_of_one_individual_share: float | None  # whose variant no case of another shares; None where nobody says whose they are
    trace_length: TraceLength | None
    median_case_duration_hours: float | None  # from the earliest event of a case to the latest
    top_variants: tuple[TopVariant, ...]  # the most frequent ones, ten at most
    rare_labels: tuple[RareLabel, ...]  # of fewer than 20 cases, the rarest first
    attributes: tuple[AttributeSummary, ...]  # all besides the case id, the activity and the timestamp
    notes: tuple[str, ...]  # on how the log was read
    instances: InstanceSummary | None = None  # None where rows are single events
    risk: LogRisk | None = None  # how many cases stand alone by what somebody knows of them; None where it was not asked for

    def to_dict(self) -> dict[str, Any]:
        """The figures as `libra inspect --json` prints them; risk and instances only where there are any."""
        return {name: value for name, value in asdict(self).items() if name not in ("risk", "instances") or value is not None}


def summarize(log: EventLog) -> Summary:
    """Count what is in a log.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = summarize(simulate())
        >>> found.cases, found.activities, found.top_variants[0].trace[:3]
        (2000, 22, ('Arrive', 'Triage', 'Register'))
    """
    unique, top = int((log.variants.counts == 1).sum()), log.variants.traces.head(TOP_VARIANTS)
    lengths, (earliest, latest) = np.diff(log.case_offsets), log.case_spans
    labels = log.events.group_by(ACTIVITY).agg(pl.col(CASE_INDEX).n_unique().cast(pl.Int64).alias("cases"))
    return Summary(
        cases=log.n_cases,
        events=log.n_events,
        activities=len(log.activities),
        variants=len(log.variants),
        start=_iso(log.timestamps.min()) if log.n_events else None,
        end=_iso(log.timestamps.max()) if log.n_events else None,
        columns=log.role_columns,
        variants_unique_share=unique / max(len(log.variants), 1),
        cases_unique_share=unique / max(log.n_cases, 1),
        cases_of_one_individual_share=None if log.individual is None else _of_one_individual(log),
        trace_length=TraceLength(int(lengths.min()), float(np.median(lengths)), int(lengths.max())) if log.n_cases else None,
        median_case_duration_hours=float(np.median(latest - earliest)) / HOUR if log.n_cases else None,
        top_variants=tuple(TopVariant(tuple(log.activities[code] for code in trace), count) for trace, count in top.rows()),
        rare_labels=tuple(RareLabel(*row) for row in labels.filter(pl.col("cases") < FEW).sort("cases", ACTIVITY).rows()),
        attributes=_attributes(log),
        notes=log.notes,
        instances=_instances(log) if log.instances == "pair" else None,
    )


def _instances(log: EventLog) -> InstanceSummary:
    found, with_start = log.pairing, log.events[START_TIMESTAMP].count()
    if found is None:
        return InstanceSummary(with_start, None, None, None, {})
    return InstanceSummary(with_start, found.paired, found.without_start, found.not_completed, dict(found.left_out))


def _of_one_individual(log: EventLog) -> float:
    variant, whose = log.variants.of_case, whose_cases(log)
    somebody = np.zeros(len(log.variants), np.int64)
    somebody[variant] = whose
    shared = np.bincount(variant, whose != somebody[variant]) > 0
    return float((~shared[variant]).mean()) if log.n_cases else 0.0


def _iso(micros: np.int64) -> str:
    """UTC to the second, or to the microsecond where there are any."""
    unit: Literal["s", "us"] = "s" if micros % 1_000_000 == 0 else "us"
    return f"{np.datetime_as_string(np.datetime64(int(micros), 'us'), unit=unit)}+00:00"


def _attributes(log: EventLog) -> tuple[AttributeSummary, ...]:
    frames: dict[Literal["case", "event"], pl.DataFrame] = {
        "case": log.cases.drop(CASE_NAME),
        "event": log.events.drop(CASE_INDEX, ACTIVITY, TIMESTAMP),
    }
    plain = [
        AttributeSummary(column.name, level, XES_TYPES[column.dtype.base_type()], column.count() / max(frame.height, 1), level)
        for level, frame in frames.items()
        for column in frame
    ]
    found = {one.attribute.name: one for one in classified(log)}
    return tuple(_with_role(attribute, found.get(attribute.column)) for attribute in plain)


def _with_role(attribute: AttributeSummary, found: FoundAttribute | None) -> AttributeSummary:
    if found is None:
        return attribute
    proposed = found.attribute
    return replace(
        attribute, role=found.role, reason=found.reason, releasable=found.releasable, kind=proposed.kind, at=proposed.at,
        depends_on=found.depends_on, filled_share=found.filled, filled_of=proposed.level,
    )  # fmt: skip
