"""Distances between the attributes of two logs: values, pairs of them, and how they go with activities, durations and each other.

In: two logs, and what is declared of their attributes, if anything. Out: a figure for each attribute that both logs have, and
means over them; None where no attribute has such a figure. `docs/measures.md` defines each one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import fmean

import numpy as np
import polars as pl

from libra.errors import InputError
from libra.eventlog.attributes import FALSE, TRUE, Attribute, Kind, Level, plain_values
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import (
    ACTIVITY,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    INSTANCE,
    LIFECYCLE,
    OTHER,
    PSEUDONYM,
    RESOURCE,
    START_TIMESTAMP,
    TIMESTAMP,
    unnamed,
)
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.values import as_text
from libra.measures.distances import Floats, Integers, sort_grouped, total_variation
from libra.measures.edges import common_codes

ONE_IN = 20  # a number that at least one in so many of the original's cases have is not put into a bin with others
COMMON = 0.05  # of the original's cases, the share that has to have an activity, and the share that has to be without it
MOST_TABLES = 1_000  # of two attributes, or of an attribute and an activity: more are thinned out evenly, in the order of columns
NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$"  # not 007, which is a code
NAMES = (LIFECYCLE, "org:")  # columns that begin so hold names, also where these are digits
NOT_ATTRIBUTES = (CASE_NAME,), (CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP, INSTANCE)  # of cases, of events
MOST_RESOURCES = 500  # that are matched
STRONG, MOST_LISTED = 0.1, 20  # Cramer's V in the original from which on an association counts, and how many are listed
CASE_DURATION = "case duration"
Logs = tuple[EventLog, EventLog]
Values = tuple[Floats, Floats]  # of the original and the anonymized log: numbers or codes of categories, NaN if missing


@dataclass(frozen=True)
class AttributeFigures:
    """How far the values of one attribute are apart."""

    name: str  # of its column in a flat table
    level: Level
    kind: Kind
    tv: float  # of the case: total variation of its values; of events: of activities and values
    w1_relative: float | None = None  # of numbers of the case: Wasserstein-1, by the original's mean deviation from the median
    handover_tv: float | None = None  # of categories of events: total variation of values and next values within a case


@dataclass(frozen=True)
class AttributesKept:
    """How far the attributes of two logs are apart; a mean is None where no attribute has such a figure."""

    attribute_tv: float | None = None
    attribute_pair_tv: float | None = None
    attribute_activity_tv: float | None = None
    attribute_activity_tv_given: float | None = None
    attribute_duration_tv: float | None = None
    association_l1: float | None = None
    number_w1_relative: float | None = None
    event_attribute_tv: float | None = None
    handover_tv: float | None = None
    attributes: tuple[AttributeFigures, ...] = ()
    associations: tuple[Association, ...] = ()  # the strongest of the original


@dataclass(frozen=True)
class Association:
    """How strongly an attribute of cases goes together with something else: Cramer's V in both logs, from 0 to 1."""

    attribute: str
    other: str  # another attribute, an activity that a case has or not, or `CASE_DURATION`
    is_activity: bool
    original: float
    anonymized: float


@dataclass(frozen=True, eq=False)
class SharedAttribute:
    """An attribute that both logs have, with a value for each of their cases or events."""

    name: str
    level: Level
    kind: Kind
    values: Values


@dataclass(frozen=True, eq=False)
class Coded:
    """For both logs a code from 0 up to `size` for each case or event."""

    original: Integers
    anonymized: Integers
    size: int
    name: str = ""

    def counts(self) -> tuple[Integers, Integers]:
        """How often each code occurs in the two logs."""
        original, anonymized = (np.bincount(codes, minlength=self.size) for codes in (self.original, self.anonymized))
        return original, anonymized

    def tv(self) -> float:
        """The total variation of the codes."""
        return total_variation(*self.counts())


def attribute_figures(original: EventLog, anonymized: EventLog, declared: Sequence[Attribute] = ()) -> AttributesKept:
    """Compare the attributes that both logs have; what is `declared` of some of them decides on their level, place and kind.

    Example:
        >>> from datetime import UTC, datetime
        >>> noon = [datetime(2024, 5, 6, 12, tzinfo=UTC)] * 2
        >>> events = pl.DataFrame({"@case": [0, 1], "concept:name": ["a", "a"], "time:timestamp": noon})
        >>> one, other = (
        ...     EventLog(events, pl.DataFrame({"concept:name": ["1", "2"], "sex": sexes})) for sexes in (["f", "m"], ["f", "f"])
        ... )
        >>> attribute_figures(one, other).attributes
        (AttributeFigures(name='case:sex', level='case', kind='category', tv=0.5, w1_relative=None, handover_tv=None),)
    """
    logs = original, anonymized
    columns = list(shared_attributes(logs, declared))
    of_events = [_of_events(logs, column) for column in columns if column.level == "event"]
    columns = [column for column in columns if column.level == "case"]
    coded = [replace(coded_values(column.kind, column.values), name=column.name) for column in columns]
    of_cases = [
        AttributeFigures(column.name, "case", column.kind, codes.tv(), _w1_relative(column))
        for column, codes in zip(columns, coded, strict=True)
    ]
    activities, durations = (list(_activities(logs)), [_durations(logs)]) if coded else ([], [])
    pairs, with_activities = (_thinned(list(tables)) for tables in (combinations(coded, 2), product(coded, activities)))
    with_durations = list(product(coded, durations))
    associations = sorted(
        (*_strong([*pairs, *with_durations]), *_strong(with_activities, are_activities=True)),
        key=lambda one: (-one.original, one.attribute, one.other),
    )
    strength = sum(one.original for one in associations)
    return AttributesKept(
        attribute_tv=_mean(one.tv for one in of_cases),
        attribute_pair_tv=_mean(_joint(*pair).tv() for pair in pairs),
        attribute_activity_tv=_mean(_joint(*both).tv() for both in with_activities),
        attribute_activity_tv_given=_mean(_tv_given(*both) for both in with_activities),
        attribute_duration_tv=_mean(_joint(*both).tv() for both in with_durations),
        association_l1=sum(abs(one.original - one.anonymized) for one in associations) / strength if strength else None,
        number_w1_relative=_mean(one.w1_relative for one in of_cases),
        event_attribute_tv=_mean(one.tv for one in of_events),
        handover_tv=_mean(one.handover_tv for one in of_events),
        attributes=(*of_cases, *of_events),
        associations=tuple(associations[:MOST_LISTED]),
    )


def _strong(tables: Iterable[tuple[Coded, Coded]], *, are_activities: bool = False) -> Iterator[Association]:
    """The associations that are strong in the original."""
    for one, other in tables:
        before = cramers_v(one.original, other.original)
        if before >= STRONG:
            yield Association(one.name, other.name, are_activities, before, cramers_v(one.anonymized, other.anonymized))


def cramers_v(one: Integers, other: Integers) -> float:
    """Cramer's V of two codes, corrected for chance (Bergsma 2013): 0 for independent ones, 1 where one tells the other.

    Example:
        >>> codes = np.arange(100) % 2
        >>> round(cramers_v(codes, codes), 3), cramers_v(codes, np.arange(100) // 50)
        (1.0, 0.0)
    """
    (in_rows, in_columns), n = (np.bincount(codes).astype(np.float64) for codes in (one, other)), len(one)
    rows, columns = (int(np.count_nonzero(found)) for found in (in_rows, in_columns))
    if min(rows, columns) < 2:
        return 0.0
    codes, size = one * len(in_columns) + other, len(in_rows) * len(in_columns)
    if size <= 4 * n:
        of_each = np.bincount(codes, minlength=size)
        cells = np.flatnonzero(of_each)
        counts = of_each[cells]
    else:  # a table that may be larger than memory
        cells, counts = np.unique(codes, return_counts=True)
    phi = float((counts / in_rows[cells // len(in_columns)] * counts / in_columns[cells % len(in_columns)]).sum()) - 1
    excess = max(phi - (rows - 1) * (columns - 1) / (n - 1), 0.0)
    least = min(side - (side - 1) ** 2 / (n - 1) for side in (rows, columns)) - 1
    return min(float(np.sqrt(excess / least)), 1.0) if least > 0 else 0.0


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _thinned(tables: list[tuple[Coded, Coded]]) -> list[tuple[Coded, Coded]]:
    """All of them, or as many as are counted at most, evenly spread."""
    if len(tables) <= MOST_TABLES:
        return tables
    return [tables[i * len(tables) // MOST_TABLES] for i in range(MOST_TABLES)]


def shared_attributes(logs: Logs, declared: Sequence[Attribute] = ()) -> Iterator[SharedAttribute]:
    """The attributes that both logs have, those of cases first."""
    said_of, (original, anonymized) = {one.name: one for one in declared}, logs
    starts, of_event = [log.case_spans[0] for log in logs], [_case_of_event(log) for log in logs]
    for name in original.cases.columns:
        if name not in NOT_ATTRIBUTES[0] and name in anonymized.cases.columns:
            full = f"{CASE_PREFIX}{name}"
            kind, values = _values(original.cases[name], anonymized.cases[name], name, said_of.get(full))
            yield SharedAttribute(full, "case", kind, _since(values, starts) if kind == "date" else values)
    for name in original.events.columns:
        if name not in NOT_ATTRIBUTES[1] and name in anonymized.events.columns:
            said = said_of.get(name)
            column = with_names(logs) if name == RESOURCE else anonymized.events[name]
            kind, values = _values(original.events[name], column, name, said)
            if kind == "date":
                values = _since(values, [start[case] for start, case in zip(starts, of_event, strict=True)])
            if (said.level if said else _recognised(name, values[0], of_event[0])) == "event":
                yield SharedAttribute(name, "event", kind, values)
                continue
            if said is not None and said.at is not None:
                there = [(log.events[ACTIVITY] == said.at).to_numpy() for log in logs]
                values = np.where(there[0], values[0], np.nan), np.where(there[1], values[1], np.nan)
            one, other = (_first(*of_log) for of_log in zip(values, of_event, logs, strict=True))
            yield SharedAttribute(name, "case", kind, (one, other))


def level_of(log: EventLog, name: str, said: Attribute | None = None) -> Level:
    """The level of an attribute in a column of events: as it is declared, or else as `shared_attributes` finds it."""
    values = log.events[name]
    return said.level if said else _recognised(name, _values(values, values.clear(), name, None)[1][0], _case_of_event(log))


def with_names(logs: Logs) -> pl.Series:
    """The resources of the anonymized log; pseudonyms (R1, R2 and so on) are those of the original that they are most like.

    They are brought together so that as many events as possible have the same resource and activity in both logs.
    """
    names, pseudonyms = (unnamed(log.events[RESOURCE]).cast(pl.String) for log in logs)
    if not pseudonyms.drop_nulls().str.contains(PSEUDONYM).all() or names.drop_nulls().str.contains(PSEUDONYM).all():
        return pseudonyms
    from scipy.optimize import linear_sum_assignment

    activities = common_codes(*logs)
    n_activities = max(int(own.max(initial=0)) for own in activities) + 1
    tables, known = [], []
    for log, own, column in zip(logs, activities, (names, pseudonyms), strict=True):
        frequent = column.drop_nulls().value_counts(sort=True).head(MOST_RESOURCES)[column.name]
        frequent = frequent.filter(frequent != OTHER).sort()
        code = column.cast(pl.Enum(frequent), strict=False).to_physical().cast(pl.Int64)
        there = code.is_not_null().to_numpy()
        cells = code.drop_nulls().to_numpy() * n_activities + own[log.activity_codes][there]
        counts = np.bincount(cells, minlength=len(frequent) * n_activities).reshape(len(frequent), n_activities)
        tables.append(counts / max(log.n_events, 1))
        known.append(frequent)
    overlap = np.stack([np.minimum(tables[0], one).sum(axis=1) for one in tables[1]]) if len(tables[1]) else np.zeros((0, 0))
    matched = zip(*(found.tolist() for found in linear_sum_assignment(-overlap)), strict=True) if overlap.size else ()
    return pseudonyms.replace({known[1][i]: known[0][j] for i, j in matched})


def _case_of_event(log: EventLog) -> Integers:
    return log.events[CASE_INDEX].to_numpy().astype(np.int64)


def _since(values: Values, starts: Sequence[Integers]) -> Values:
    return values[0] - starts[0], values[1] - starts[1]


def _recognised(name: str, values: Floats, case: Integers) -> Level:
    """The level of an attribute of which nothing is declared: that of the case if none has two different values."""
    there = ~np.isnan(values)
    changes = ((np.diff(case[there]) == 0) & (np.diff(values[there]) != 0)).any()
    return "event" if changes or name in (LIFECYCLE, RESOURCE) else "case"


def _first(values: Floats, case: Integers, log: EventLog) -> Floats:
    """For every case the first value that one of its events has."""
    there = np.flatnonzero(~np.isnan(values))
    first = there[np.diff(case[there], prepend=-1) > 0]
    found = np.full(log.n_cases, np.nan)
    found[case[first]] = values[first]
    return found


def _values(one: pl.Series, other: pl.Series, name: str, said: Attribute | None) -> tuple[Kind, Values]:
    """The kind that both columns have in common, and their values: numbers, microseconds since 1970, or codes of what is said.

    Files that say nothing about types have to give the same figures, so text that says a number throughout is one.
    """
    one, other = unnamed(one), unnamed(other)
    if said is not None and said.kind == "date":
        with suppress(InputError):
            return "date", _split([_floats(plain_values(each, said)) for each in (one, other)])
    category = name.startswith(NAMES) if said is None else said.kind == "category"
    as_they_are = not category and (said is None or not said.missing)
    if as_they_are and one.dtype.is_numeric() and other.dtype.is_numeric():
        return "number", _split([_floats(one), _floats(other)])
    if as_they_are and one.dtype == other.dtype == UTC_MICROSECONDS:
        return "date", _split([_floats(each.to_physical()) for each in (one, other)])
    texts = pl.concat([as_text(one), as_text(other)]).str.strip_chars()
    texts = texts.str.to_lowercase() if name == LIFECYCLE else texts  # the standard's, which some logs have in capitals
    labels = texts.unique().drop_nulls().sort()
    labels = labels.filter((labels != "") & ~labels.is_in(list(said.missing if said else ())))
    kind, meaning = _meaning(labels, (one.dtype, other.dtype), category=category)
    codes = texts.cast(pl.Enum(labels), strict=False).to_physical()
    known = np.append(meaning, np.nan)[codes.cast(pl.Int64).fill_null(labels.len()).to_numpy()]
    return kind, _split(np.split(known, [one.len()]))


def _split(parts: Sequence[Floats]) -> Values:
    one, other = (np.where(np.isfinite(part), part, np.nan) for part in parts)
    return one, other


def _floats(values: pl.Series) -> Floats:
    return values.cast(pl.Float64).to_numpy()


def _meaning(labels: pl.Series, types: tuple[pl.DataType, pl.DataType], *, category: bool) -> tuple[Kind, Floats]:
    """What the values of two columns of these types are, and what number stands for each of these texts."""
    lower = labels.str.to_lowercase()
    if category or not labels.len():
        return "category", np.arange(labels.len(), dtype=np.float64)
    if lower.is_in([*TRUE, *FALSE] if pl.Boolean in types else ["true", "false"]).all():
        return "boolean", _floats(lower.is_in(list(TRUE)))
    if labels.str.contains(NUMBER).all():
        return "number", _floats(labels)
    if labels.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}").all():
        moments = read_iso_dates(labels)[0]
        if not moments.null_count():
            return "date", _floats(moments.to_physical())
    return _meaning(labels, types, category=True)


def coded_values(kind: Kind, values: Values) -> Coded:
    """Codes of the values: 0 if missing, one for each category, and bins of numbers.

    Numbers that many of the original's cases share have a bin each, all others the bin between two of the original's deciles.
    """
    if kind in ("boolean", "category"):
        one, other = (np.where(np.isnan(found), 0, found + 1).astype(np.int64) for found in values)
        return Coded(one, other, int(max(one.max(initial=0), other.max(initial=0))) + 1)
    known, counts = np.unique(values[0][~np.isnan(values[0])], return_counts=True)
    often = counts * ONE_IN >= len(values[0])
    shared, cuts = known[often], _cuts(np.repeat(known[~often], counts[~often]), 10)
    one, other = (_binned(found, shared, cuts) for found in values)
    return Coded(one, other, len(shared) + len(cuts) + 2)


def _binned(values: Floats, shared: Floats, cuts: Floats) -> Integers:
    place = np.searchsorted(shared, values)
    is_shared = np.append(shared, np.nan)[place] == values
    bins = np.where(is_shared, place, len(shared) + np.searchsorted(cuts, values))
    return np.where(np.isnan(values), 0, bins + 1).astype(np.int64)


def _cuts(in_order: Floats, parts: int) -> Floats:
    """The quantiles that divide sorted values into so many parts, each the largest value of its part; equal ones are one."""
    size = len(in_order)
    return np.unique(in_order[[-(-k * size // parts) - 1 for k in range(1, parts) if size]])


def _joint(one: Coded, other: Coded) -> Coded:
    """Codes of both together; only those that occur, where many do not."""
    original, anonymized = one.original * other.size + other.original, one.anonymized * other.size + other.anonymized
    size = one.size * other.size
    if size > 4 * (len(original) + len(anonymized)):
        occurring, places = np.unique(np.concatenate((original, anonymized)), return_inverse=True)
        return Coded(places[: len(original)], places[len(original) :], len(occurring))
    return Coded(original, anonymized, size)


def _tv_given(values: Coded, feature: Coded) -> float:
    """The total variation of the values where a feature is the same, weighted by how often the original has it.

    If the anonymized log never has it, all its values count.
    """
    distances = []
    for code, count in enumerate(feature.counts()[0]):
        there, copied = feature.original == code, feature.anonymized == code
        anonymized = values.anonymized[copied] if copied.any() else values.anonymized
        distances.append(int(count) * Coded(values.original[there], anonymized, values.size).tv())
    return sum(distances) / len(feature.original)


def _activities(logs: Logs) -> Iterator[Coded]:
    """For each activity that neither nearly all nor nearly no cases of the original have: whether a case has it."""
    codes, of_event = common_codes(*logs), [_case_of_event(log) for log in logs]
    for name, code in zip(logs[0].activities, codes[0], strict=True):
        original, anonymized = (np.zeros(log.n_cases, np.int64) for log in logs)
        for has, log, own, case in zip((original, anonymized), logs, codes, of_event, strict=True):
            has[case[own[log.activity_codes] == code]] = 1
        if COMMON <= original.mean() <= 1 - COMMON:
            yield Coded(original, anonymized, 2, name)


def _durations(logs: Logs) -> Coded:
    """Between which quartiles of the original a case's duration is."""
    durations = [(latest - earliest).astype(np.float64) for earliest, latest in (log.case_spans for log in logs)]
    cuts = _cuts(np.sort(durations[0]), 4)
    return Coded(np.searchsorted(cuts, durations[0]), np.searchsorted(cuts, durations[1]), len(cuts) + 1, CASE_DURATION)


def _w1_relative(column: SharedAttribute) -> float | None:
    """The Wasserstein-1 distance of numbers, as a share of the original's mean deviation from its median.

    None for other kinds, if a log has no number, and if the original's are all the same and the anonymized log's are not.
    """
    one, other = (found[~np.isnan(found)] for found in column.values)
    if column.kind != "number" or not len(one) or not len(other):
        return None
    numbers, ranks = np.unique(np.concatenate((one, other)), return_inverse=True)
    scale = float(np.abs(numbers).max()) or 1.0  # so that no sum overflows
    together = sort_grouped(
        np.zeros_like(ranks[: len(one)]), ranks[: len(one)], np.zeros_like(ranks[len(one) :]), ranks[len(one) :], 1
    )
    apart = float(together.distances(numbers[together.values] / scale)[0])
    spread = float(np.abs(one / scale - np.median(one / scale)).mean())
    with np.errstate(over="ignore"):
        relative = float(np.float64(apart) / spread) if spread else np.inf if apart else 0.0
    return relative if np.isfinite(relative) else None


def _of_events(logs: Logs, column: SharedAttribute) -> AttributeFigures:
    """Compare an attribute of events, over the activities at which either log has a value."""
    labels = [own[log.activity_codes] for own, log in zip(common_codes(*logs), logs, strict=True)]
    with_values = np.unique(np.concatenate([own[~np.isnan(found)] for own, found in zip(labels, column.values, strict=True)]))
    chosen = [np.isin(own, with_values) for own in labels]
    one, other = (found[those] for found, those in zip(column.values, chosen, strict=True))
    original, anonymized = (own[those] for own, those in zip(labels, chosen, strict=True))
    activities = Coded(original, anonymized, int(with_values.max(initial=0)) + 1)
    tv = _joint(activities, coded_values(column.kind, (one, other))).tv()
    handover = _handovers(logs, column).tv() if column.kind in ("boolean", "category") else None
    return AttributeFigures(column.name, "event", column.kind, tv, handover_tv=handover)


def _handovers(logs: Logs, column: SharedAttribute) -> Coded:
    """For each value of an event the next one within its case, events without a value left out."""
    codes = coded_values(column.kind, column.values)
    sides = []
    for found, log in zip((codes.original, codes.anonymized), logs, strict=True):
        there, case = found > 0, _case_of_event(log)
        within_case = np.diff(case[there]) == 0
        sides.append((found[there][:-1][within_case], found[there][1:][within_case]))
    (source, target), (other_source, other_target) = sides
    return _joint(Coded(source, other_source, codes.size), Coded(target, other_target, codes.size))
