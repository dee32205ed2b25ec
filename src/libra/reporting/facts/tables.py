"""Tables of both logs: their edges, their most frequent variants and their attributes.

Rows are ordered by the counts of the original, in public mode by those of the anonymized log. What is about the original is None
in public mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from libra.eventlog.attributes import Attribute
from libra.eventlog.in_parts import LogInParts, part_schema
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import (
    ACTIVITY,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    INSTANCE,
    LIFECYCLE,
    RESOURCE,
    START_TIMESTAMP,
    TIMESTAMP,
    column,
    unnamed,
)
from libra.measures.attributes import level_of, with_names
from libra.measures.distances import Floats, Integers
from libra.measures.edges import EdgeUse, PairedEdges, common_labels, pair_edges
from libra.measures.utility import log_distances, paired_variants
from libra.reporting.facts.pair import SECOND, Pair, shares
from libra.reporting.facts.verdicts import ABSENT, Absent
from libra.reporting.numbers import number

Level = Literal["event", "case"]
Binned = tuple[tuple[str, ...], list[tuple[float, ...]]]
LONGEST = 30  # activities of a trace that are shown
MOST_UNSEEN = 5  # variants that only the anonymized log has
MOST = 20  # attributes
TOP = 8  # values
BINS = 10
FEWEST_CASES = 5  # that share a value
FEWEST_NUMBERS = 100  # for bins of numbers: some ten in each
LEVELS: tuple[Level, ...] = ("event", "case")
NOT_ATTRIBUTES = {"event": (CASE_INDEX, ACTIVITY, TIMESTAMP), "case": (CASE_NAME,)}
ORGANIZATION = "org:"  # how the names of resources, roles and groups begin in XES
NUMBERS = ("whole number", "number")
TYPES = {
    pl.String(): "text",
    pl.Int64(): "whole number",
    pl.Float64(): "number",
    pl.Boolean(): "yes or no",
    UTC_MICROSECONDS: "time",
}


@dataclass(frozen=True)
class EdgeRow:
    """One edge in both logs."""

    source: str
    target: str
    count_original: int | None
    count_anonymized: int
    mean_original: float | None  # seconds; None where the edge is never taken, and of placeholders
    mean_anonymized: float | None
    median_original: float | None
    median_anonymized: float | None
    w1_log: float | None  # how far the durations are apart, in powers of ten; None unless both logs have the edge, and times


@dataclass(frozen=True)
class EdgeTable:
    """The heaviest edges; how many are not shown, and which share of the steps (of the original, if there is one) they have."""

    rows: tuple[EdgeRow, ...]
    left_out: int
    left_out_share: float


@dataclass(frozen=True, eq=False)
class ShownEdges:
    """All edges of a pair of logs: the counts that order them, their places from the heaviest on, and how shown logs use them."""

    paired: PairedEdges
    uses: tuple[EdgeUse, ...]
    leading: Integers
    heaviest: Integers


def edges_of(pair: Pair) -> ShownEdges:
    """Put the edges of both logs on one list."""
    paired = pair_edges(pair.compared_with, pair.anonymized)
    uses = (paired.original, paired.anonymized)[-len(pair.logs) :]
    return ShownEdges(paired, uses, uses[0].counts, np.lexsort((-uses[-1].counts, -uses[0].counts)))


def edge_table(pair: Pair, most: int = 1000, *, has_times: bool = True) -> EdgeTable:
    """Count and time the heaviest edges; `has_times` says whether the anonymized log's timestamps mean anything."""
    edges = edges_of(pair)
    uses, shown = edges.uses, edges.heaviest[:most].tolist()
    means, medians = zip(*(middles_of(use) for use in uses), strict=True)
    apart = log_distances(edges.paired.sorted_steps())
    apart[(edges.paired.original.counts == 0) | (edges.paired.anonymized.counts == 0)] = np.nan
    if not has_times:
        for times in (means[-1], medians[-1], apart):
            times[:] = np.nan
    rows = []
    for place in shown:
        counts = pair.sides([int(use.counts[place]) for use in uses])
        mean, median = (pair.sides([_or_none(one[place]) for one in of]) for of in (means, medians))
        rows.append(EdgeRow(*edges.paired.name(place), *counts, *mean, *median, _or_none(apart[place])))
    left_out = edges.leading[edges.heaviest[most:]]
    return EdgeTable(tuple(rows), len(left_out), int(left_out.sum()) / max(int(edges.leading.sum()), 1))


def middles_of(use: EdgeUse) -> tuple[Floats, Floats]:
    """Mean and median seconds of every edge; not a number where it is never taken."""
    counts = use.counts
    means, medians = np.full(len(counts), np.nan), np.full(len(counts), np.nan)
    taken = counts > 0
    if taken.any():
        order = np.argsort(use.step_micros)
        ordered = use.step_micros[order[np.argsort(use.step_edge[order], kind="stable")]]
        begin = np.cumsum(counts) - counts
        low, high = (ordered[(begin + (counts - odd) // 2)[taken]] / SECOND for odd in (1, 0))
        medians[taken] = (low + high) / 2
        means[taken] = np.bincount(use.step_edge, use.step_micros / SECOND, minlength=len(counts))[taken] / counts[taken]
    return means, medians


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True)
class VariantRow:
    """A variant: its activities, how many more there are, and the cases that follow it."""

    trace: tuple[str, ...]
    cut: int
    original: int | None
    anonymized: int


@dataclass(frozen=True)
class VariantTable:
    """The most frequent variants."""

    rows: tuple[VariantRow, ...]  # after them the most frequent ones of the anonymized log that the original never has
    unseen_shown: int  # how many of the last rows those are
    variants_original: int | None  # how many variants there are in all
    variants_anonymized: int
    shown_share_original: float | None  # the share of the cases that follow one of the variants shown
    shown_share_anonymized: float  # likewise, variants that the original never has aside
    unseen_share: float | None  # the share of anonymized cases whose variant never occurs in the original
    lost_share: float | None  # the share of original cases whose variant does not come out


def top_variants(pair: Pair, most: int = 20) -> VariantTable:
    """The most frequent variants and how often each log has them."""
    labels = common_labels(pair.compared_with, pair.anonymized)
    table = paired_variants(pair.compared_with, pair.anonymized)
    before, after = (table[name].to_numpy() for name in ("original", "anonymized"))
    compared = not pair.is_public
    first = before if compared else after
    order = np.lexsort((-after, -first))
    unseen = order[before[order] == 0][:MOST_UNSEEN].tolist() if compared else []
    shown = [place for place in order[:most].tolist() if first[place]]
    return VariantTable(
        rows=tuple(
            VariantRow(tuple(labels[code] for code in trace[:LONGEST]), max(len(trace) - LONGEST, 0), *pair.sides(cases))
            for trace, *cases in map(table.row, (*shown, *unseen))
        ),
        unseen_shown=len(unseen),
        variants_original=int((before > 0).sum()) if compared else None,
        variants_anonymized=int((after > 0).sum()),
        shown_share_original=_share(before[shown], before) if compared else None,
        shown_share_anonymized=_share(after[shown], after),
        unseen_share=_share(after[before == 0], after) if compared else None,
        lost_share=_share(before[after == 0], before) if compared else None,
    )


def _share(some: Integers, cases: Integers) -> float:
    """0 where there is no case."""
    return int(some.sum()) / max(int(cases.sum()), 1)


@dataclass(frozen=True)
class Values:
    """What values an attribute has: the share of each among all that are filled."""

    names: tuple[str, ...]
    original: tuple[float, ...] | None
    anonymized: tuple[float, ...]


@dataclass(frozen=True)
class AttributeRow:
    """An attribute."""

    name: str
    level: Level  # whether events or cases have it: as declared, or as `libra measure` finds it
    type: str  # "text", "whole number", "number", "yes or no" or "time"
    filled_original: float | None  # the share that has a value; None where only the other log has it
    filled_anonymized: float | None  # likewise; None where it was not released
    values: Values | None  # None where it was not released, and where too few cases share one


def attributes_of(pair: Pair, declared: Sequence[Attribute] = (), most: int = MOST) -> tuple[AttributeRow, ...]:
    """At most so many attributes of the logs, released ones first, those in columns of events before those of cases."""
    said_of = {one.name: one for one in declared}
    return tuple(_attribute(pair, level, name, said_of.get(name)) for level, name in attribute_names(pair)[:most])


IDS = ("case_id", "individual")  # columns that make up the ids of cases or persons are no attributes that anybody misses


def released_names(log: EventLog) -> tuple[str, ...]:
    """What the attributes of an anonymized log are called in a description; what says that a row is an instance is none."""
    roles = {CASE_INDEX, START_TIMESTAMP, INSTANCE, *part_schema(log.instances)}
    if isinstance(log, LogInParts):  # these are not made for that
        return tuple(name for name in log.schema if name not in roles)
    names = (*(CASE_PREFIX + name for name in log.cases.columns), *log.events.columns)
    return tuple(name for name in names if name not in roles)


def attribute_names(pair: Pair) -> list[tuple[Level, str]]:
    """The attributes that the logs have together and whose columns they are in, released ones first."""
    columns = ((level, name) for level in LEVELS for log in pair.logs for name in _frame(log, level).columns)
    found = dict.fromkeys((level, name) for level, name in columns if name not in NOT_ATTRIBUTES[level])
    return sorted(found, key=lambda one: one[1] not in _frame(pair.anonymized, one[0]).columns)


def absent_of(pair: Pair) -> tuple[Absent, ...]:
    """What the original says of its cases and events that the anonymized log does not: start times, resources, all else.

    A lifecycle column tells start times if it has a transition "start"; they are released in it or in a column of their own.
    Roles and groups are resources, but where resources are released they are attributes like others.
    """
    if pair.original is None:
        return ()
    released, events = pair.anonymized.events.columns, pair.original.events
    starts = {START_TIMESTAMP} & {*events.columns}
    if LIFECYCLE in events.columns and (events[LIFECYCLE].cast(pl.String).str.to_lowercase() == "start").any():
        starts.add(LIFECYCLE)
    kinds: dict[str, list[str]] = {kind: [] for kind in ABSENT}
    ids = {name.removeprefix(CASE_PREFIX) for role in pair.original.roles if role.role in IDS for name in role.columns}
    for level, name in attribute_names(pair):
        if name in _frame(pair.anonymized, level).columns or name in ids:
            continue
        if level == "event" and name in starts:
            kinds["starts"] += [] if {START_TIMESTAMP, LIFECYCLE} & {*released} else [name]
        else:
            lacking = name.startswith(ORGANIZATION) and RESOURCE not in released
            kinds["resources" if lacking else "attributes"].append(name)
    return tuple(Absent(kind, tuple(sorted(names, key=LIFECYCLE.__eq__))) for kind, names in kinds.items() if names)


def _frame(log: EventLog, level: Level) -> pl.DataFrame:
    return log.events if level == "event" else log.cases


def _attribute(pair: Pair, level: Level, name: str, said: Attribute | None) -> AttributeRow:
    frames = [_frame(log, level) for log in pair.logs]
    if pair.original is not None and level == "event" and name == RESOURCE and all(name in frame.columns for frame in frames):
        named = with_names((pair.original, pair.anonymized))  # pseudonyms beside the names that they are most like
        frames[1] = frames[1].with_columns(named.alias(name))
    if level == "event":
        level = level_of(next(log for log in pair.logs if name in log.events.columns), name, said)
        if level == "case":
            frames = [_by_case(frame, name, said) if name in frame.columns else frame for frame in frames]
    types = [TYPES[frame.schema[name]] for frame in frames if name in frame.columns]
    filled = [1 - frame[name].null_count() / max(frame.height, 1) if name in frame.columns else None for frame in frames]
    comparable = len(types) == len(frames) and (len(set(types)) == 1 or set(types) == set(NUMBERS)) and types[0] != "time"
    binned = None
    if comparable:
        binned = _numbers(frames, name) if types[0] in NUMBERS else _words(frames, name)
    values = None if binned is None else Values(binned[0], *pair.sides(binned[1]))
    return AttributeRow(name, level, types[0], *pair.sides(filled), values)


def _by_case(events: pl.DataFrame, name: str, said: Attribute | None) -> pl.DataFrame:
    """For every case the first value that one of its events has in a column."""
    values = column(name) if said is None or said.at is None else pl.when(column(ACTIVITY) == said.at).then(column(name))
    return events.group_by(CASE_INDEX).agg(values.drop_nulls().first().alias(name))


def _numbers(frames: list[pl.DataFrame], name: str) -> Binned | None:
    """In bins of about equally many values of the first log; its smallest and largest value are not told."""
    values = [
        one[np.isfinite(one)] for one in (unnamed(frame[name]).drop_nulls().cast(pl.Float64).to_numpy() for frame in frames)
    ]
    if len(values[0]) < FEWEST_NUMBERS:
        return None
    bounds = np.unique(np.quantile(values[0], np.arange(1, BINS) / BINS, method="inverted_cdf"))
    said = [number(bound) for bound in bounds]
    middle = (f"{low} to below {high}" for low, high in pairwise(said))
    counts = [np.bincount(np.searchsorted(bounds, one, side="right"), minlength=len(bounds) + 1) for one in values]
    return (f"below {said[0]}", *middle, f"{said[-1]} and more"), [shares(one) for one in counts]


def _words(frames: list[pl.DataFrame], name: str) -> Binned | None:
    """The most frequent values of the first log that several cases share, and all others together."""
    cases = column(CASE_INDEX).n_unique() if CASE_INDEX in frames[0].columns else pl.len()
    value = column(name).cast(pl.String)
    counted = frames[0].select(value.alias("value"), *([column(CASE_INDEX)] if CASE_INDEX in frames[0].columns else []))
    found = counted.drop_nulls("value").group_by("value").agg(pl.len().alias("n"), cases.alias("cases"))
    top = found.filter(pl.col("cases") >= FEWEST_CASES).sort(["n", "value"], descending=[True, False]).head(TOP)["value"]
    if not len(top):
        return None
    counts = []
    for frame in frames:
        present = frame.select(value.alias("value")).drop_nulls()["value"]
        tally = dict(present.filter(present.is_in(top.to_list())).value_counts().iter_rows())
        listed = [tally.get(label, 0) for label in top]
        counts.append(shares(np.array([*listed, len(present) - sum(listed)])))
    return (*top, "all others"), counts
