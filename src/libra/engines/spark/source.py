"""A log in Spark: which columns are what, events that cannot be used, and keyed draws of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from libra._system.randomness import Randomness
from libra.engines.sampling import KEY_WORDS, limit_of
from libra.engines.sequences import TRANSITIONS, both_forms, with_transitions
from libra.engines.spark.kernels import ReadValues, here_column, value_column
from libra.engines.spark.moments import AFTER, FIRST, UNREADABLE, Moments, moments_of
from libra.engines.spark.session import F, in_one_line, without_warnings
from libra.engines.spark.tables import FILE_NUMBER, SAMPLE, OpenTable, is_nested
from libra.errors import InputError, UsageError
from libra.eventlog.attributes import Attribute, by_level, column_of, no_column
from libra.eventlog.instances import COMPLETE, NO_START, REPLACEMENT, SEPARATOR, START
from libra.eventlog.log import FoundRole
from libra.eventlog.names import INSTANCE, START_TIMESTAMP
from libra.eventlog.notes import ENOUGH, OpenChoice, instances_are_open, starts_are_open
from libra.eventlog.options import InstanceMode, ReadOptions
from libra.eventlog.pairing import PAIRED, STARTS_DROPPED, decided_by_values, lifecycle_of
from libra.eventlog.tables.flat import decided, deciding
from libra.eventlog.tables.in_batches import late_start
from libra.eventlog.tables.roles import FLAGS, REQUIRED, WORDS, any_time, find_roles, unused_clocks
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SPOILT = "spoilt"
INSTANCE_COLUMNS = ("start", "is_start", "key")  # what is said of events where instances are counted (`instances_of`)
BLANK, AROUND, PLUS = r"(?U)^\s*$", r"(?U)^\s+|\s+$", r"^\++"
FIXED, TRAILING = r"^-?[0-9]+\.[0-9]+$", r"\.?0+$"  # of decimals: with digits behind the point, and those that say nothing
MOST_LABELS = 1_000_000  # that are told apart at all
NO_ORDER = "A data frame has no order: events of a case are ordered by time, and by their label where times are equal."
DROPPED = "Events without a case id, an activity or a timestamp that can be used are left out, if there are any."
DROP = "or drop such events with --drop-invalid"
PROBLEMS = {  # by the number that marks an event
    1: ("no case id", f"Fill it in, {DROP}"),
    2: ("no activity", f"Fill it in, {DROP}"),
    3: ("an event has no timestamp that can be read", f"Give the format with --timestamp-format, {DROP}"),
    4: (f"a timestamp is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder", f"Correct it, {DROP}"),
    5: ("some rows are in a file that was added during reading", "Try again when nobody writes there"),
    6: ("some text is not in UTF-8", "Name the encoding with --encoding"),
    7: ("some text is not in the encoding that was named", "Name the right one with --encoding, or correct the text"),
}
ALWAYS_REFUSED = 5  # from there on, events are never left out
REPLACED = "\ufffd"  # what stands for bytes that are no text
DIGITS = 16  # of 64 bits


def drawn_key(random: Randomness) -> bytes:
    """A key for draws that have nothing to do with any others."""
    return random.words(KEY_WORDS).tobytes()


def words_of(ids: Column, key: bytes) -> Column:
    """A random word of 64 bits for every id, in hexadecimal digits, the same wherever and however often Spark computes it.

    Spark may compute a column twice (a lost executor, speculation), so the word is a keyed hash of the id, nested as in HMAC.
    """
    secret = F.lit(bytearray(key))
    inner = F.sha2(F.concat(secret, F.encode(ids, "UTF-8")), 256)
    return F.substring(F.sha2(F.concat(secret, F.encode(inner, "UTF-8")), 256), 1, DIGITS)


def takes(ids: Column, rate: float, key: bytes) -> Column:
    """Whether the case of an id takes part in a Poisson subsample: with the probability `rate`, or a hair less."""
    return words_of(ids, key) < f"{int(limit_of(rate)):0{DIGITS}x}"


@dataclass(frozen=True, eq=False, repr=False)
class Events:
    """Events that Spark has not read yet: one row each, with `case`, `label`, its times, its order and perhaps `individual`."""

    frame: DataFrame  # times are as they stand in the table
    order: tuple[str, ...]  # the columns that order the events of a case, before their time and label
    moments: Moments
    drop_invalid: bool  # whether events that cannot be used are left out, rather than an error
    place: str  # what to call the source in errors
    unreadable: int | None = None  # the problem of events with bytes that are no text; None where the source is no text file
    whole: Events | None = None  # what these are a part of; labels are those of the whole
    listed: tuple[str, ...] | None = None  # the labels, where they are given
    instances: InstanceMode | None = None  # whether starts are counted, or transitions, which are in the labels then
    attributes: tuple[Attribute, ...] = ()  # of which the frame has a column each, as it stands in the table
    decimal: str | None = None  # the decimal sign of numbers, where the source is a text file

    def sampled(self, rate: float, key: bytes) -> Events:
        """Only those of cases that take part in a Poisson subsample, and those without a case, which are an error."""
        case = F.col("case")
        return replace(self, frame=self.frame.filter(case.isNull() | takes(case, rate, key)), whole=self.whole or self)

    def of_labels(self, labels: tuple[str, ...]) -> Events:
        """Only those of these labels, and those without a label, which are an error."""
        return replace(self, listed=with_transitions(labels) if self.instances == "events" else labels)

    def of_attributes(self, attributes: Sequence[Attribute]) -> Events:
        """With these attributes alone: those of cases first, then those of events."""
        attributes = tuple(chain(*by_level(attributes)))
        if not set(attributes) <= set(self.attributes):
            raise AssertionError("only values of attributes that are read can be counted")
        values = []
        for number, attribute in enumerate(attributes):
            known = self.attributes.index(attribute)
            values += [F.col(column(known)).alias(column(number)) for column in _columns_of(attribute)]
        narrow = self.frame.select(*self.frame.drop(*self._of_attributes).columns, *values)
        return replace(self, frame=narrow, attributes=attributes)

    def of_cases(self, cases: DataFrame) -> Events:
        """Only those of these cases, and those without a case, which are an error."""
        marked = self.frame.join(cases.withColumn("counts", F.lit(True)), "case", "left")
        chosen = marked.filter(F.col("case").isNull() | F.col("counts")).drop("counts")
        return replace(self, frame=chosen, whole=self.whole or self)

    @property
    def read(self) -> DataFrame:
        """The events of the labels that are given, with `micros`, and with `problem` where one cannot be used."""
        return self._read(self._of_listed(self.frame.drop(*self._of_attributes)))

    @property
    def with_values(self) -> DataFrame:
        """The same, with a column for each attribute; where `keeps_others`, events of all other labels are there too."""
        events = self._read(self.frame if self.keeps_others else self._of_listed(self.frame))
        if not self.attributes:
            return events
        schema = events.drop(*self._of_attributes).schema
        for number, attribute in enumerate(self.attributes):
            schema = schema.add(value_column(number), "string" if attribute.kind == "category" else "long")
        with without_warnings():
            is_text = self.unreadable is not None
            return events.mapInArrow(ReadValues(self.attributes, self.place, is_text, self.decimal), schema)

    @property
    def keeps_others(self) -> bool:
        """Whether events of labels that are not listed are kept: the value of a case may be theirs."""
        return self.listed is not None and any(one.level == "case" for one in self.attributes)

    def _of_listed(self, frame: DataFrame) -> DataFrame:
        label = F.col("label")
        return frame if self.listed is None else frame.filter(label.isNull() | label.isin(list(self.listed)))

    @property
    def _of_attributes(self) -> list[str]:
        """The columns of the frame that are about attributes."""
        return [column(number) for number, one in enumerate(self.attributes) for column in _columns_of(one)]

    def _read(self, frame: DataFrame) -> DataFrame:
        micros = F.col("micros")
        unplaced = F.col(FILE_NUMBER).isNull() if FILE_NUMBER in self.order else F.lit(False)
        problem = (
            F.when(F.col("case").isNull(), 1)
            .when(F.col("label").isNull(), 2)
            .when(micros.isNull(), 3)
            .when((micros < FIRST) | (micros >= AFTER), 4)
            .when(unplaced, 5)
        )
        if self.unreadable is not None:
            problem = F.when(F.col(SPOILT), self.unreadable).otherwise(problem)
        events = self.moments.read(frame)
        start, has_starts = F.col("start"), "start" in events.columns
        if has_starts and not self.drop_invalid:
            problem = F.coalesce(problem, F.when(start == UNREADABLE, 3).when((start < FIRST) | (start >= AFTER), 4))
        events = events.withColumn("problem", problem)
        if has_starts:
            events = events.withColumn("start", F.when((start >= FIRST) & (start < AFTER), start).otherwise(F.lit(NO_START)))
        usable = F.coalesce("problem", F.lit(ALWAYS_REFUSED)) >= ALWAYS_REFUSED
        return events.filter(usable) if self.drop_invalid else events

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of the whole log, sorted: all that is looked at are those, unless events may have to be left out."""
        if self.listed is not None:
            return self.listed
        if self.whole is not None:
            return self.whole.labels
        with in_one_line(self.place):
            events = self.read if self.drop_invalid else self.frame
            labels = [row[0] for row in events.select(F.col("label")).distinct().limit(MOST_LABELS + 1).collect()]
        if None in labels:
            raise self.refused(2)
        if len(labels) > MOST_LABELS:
            raise UsageError(f"There are more than {MOST_LABELS:,} activity labels. Name the column of activities: --activity.")
        return tuple(sorted(labels))

    @property
    def paired(self) -> bool:
        """Whether starts and completions of instances are counted."""
        return self.instances == "pair"

    @cached_property
    def counted_labels(self) -> tuple[str, ...]:
        """The labels that are counted, sorted."""
        return both_forms(self.labels) if self.paired else self.labels

    def refused(self, problem: int) -> InputError:
        """What to say of an event that cannot be used."""
        what, remedy = PROBLEMS[problem]
        return InputError(what, place=self.place, remedy=remedy)


def _columns_of(attribute: Attribute) -> list[Callable[[int], str]]:
    """What the columns of an attribute are called by its number: its values, and whether they stand on the right activity."""
    return [value_column] if attribute.at is None else [value_column, here_column]


def events_of(table: OpenTable, options: ReadOptions) -> tuple[Events, bool, str, tuple[FoundRole, ...], tuple[str, ...]]:
    """The events of an open table, by the roles of its columns, which a sample of its rows shows; and what was found out.

    That is whether times are in a zone, the column that says whose case it is (or none: ""), all roles, and what to say. An error
    where a role that every event must have is not played by any column.
    """
    if table.individual is not None and options.roles.individual is None and not options.described:
        options = replace(options, roles=replace(options.roles, individual=table.individual))
    sample = table.sample()
    if not sample.height and not options.allow_empty:
        raise InputError("there are no events", place=table.place, remedy="Check that the export is complete")
    roles = find_roles(sample, options, table.place)
    columns = {role.role: role.columns for role in roles}
    mode, note = decided(sample, roles, options)
    frame = _of_transitions(table, columns, options)
    lifecycle, chosen = lifecycle_of(roles), _chosen(table, columns)
    detected = options.instances is None and not options.described
    if detected and lifecycle is not None and (mode is None or isinstance(note, OpenChoice)):
        moments = moments_of(table, columns, sample, options)
        transition, whose = _transition(table, lifecycle), chosen.get("individual", chosen["case"])
        shown = {"whose": whose, "opens": _starts(transition), "closes": _completes(transition)}
        narrow = frame.select(*(column.alias(name) for name, column in (chosen | shown).items()), *moments.columns)
        found = _cases_with_both(Events(narrow, (), moments, options.drop_invalid, table.place))
        if found:
            mode, note = "pair", str(note or PAIRED) if found == ENOUGH else note or instances_are_open(PAIRED)
    if detected and not (mode == "pair" and "start_timestamp" in columns):
        _refuse_late_starts(table, frame, columns, options)
    if mode == "complete" and "start_timestamp" in columns:
        note = STARTS_DROPPED
    has_starts = mode == "pair" and "start_timestamp" in columns
    moments = moments_of(table, columns, sample, options, starts=has_starts)
    starts = columns.get("start_timestamp", ())
    open_starts = [starts_are_open(name) for name in starts if decided_by_values(sample[name], roles, options)]
    notes = [*moments.notes, *open_starts, *([note] if note else [])]
    if clocks := ", ".join(f'"{name}"' for name in unused_clocks(sample, roles, options)):
        notes.append(f"The timestamps are dates only. If {clocks} holds times of day, join it with the dates in one column.")
    notes += [*([] if table.order else [NO_ORDER]), *([DROPPED] if options.drop_invalid else [])]
    values = _values_of(table, options.attributes, chosen["label"], columns)
    more, texts = [], list(chosen.values())
    chosen["label"] = F.translate(chosen["label"], SEPARATOR, REPLACEMENT)
    if mode is not None and lifecycle is not None:
        transition = _transition(table, lifecycle)
        texts.append(transition)
        if mode == "events":
            chosen["label"] = _with_transition(chosen["label"], table, lifecycle)
        elif mode == "pair":
            frame = frame.filter(_starts(transition) | _completes(transition))
            more = [_starts(transition).alias("is_start"), _key(table, columns).alias("key")]
            texts += _keys(table, columns).values()
        else:
            frame = frame.filter(_completes(transition))
    order = ("micros", *table.order) if options.sort_by_time and table.order else table.order
    unreadable = (6 if options.encoding is None else 7) if table.is_text else None
    if table.is_text:  # bytes that are no text have become a mark, before any separator does
        more.append(F.concat_ws(" ", *texts).contains(REPLACED).alias(SPOILT))
    named = [column.alias(name) for name, column in chosen.items()]
    narrow = frame.select(*named, *table.order, *moments.columns, *more, *values)
    events = Events(
        narrow, order, moments, options.drop_invalid, table.place, unreadable,
        instances=mode, attributes=options.attributes, decimal=options.decimal,
    )  # fmt: skip
    return events, moments.has_zone, columns.get("individual", ("",))[0], roles, tuple(notes)


def _chosen(table: OpenTable, columns: Mapping[str, tuple[str, ...]]) -> dict[str, Column]:
    """The case and the label of events, and whose they are, as text."""
    ids = [_text(table, name, "case_id") for name in columns["case_id"]]
    labels = [_text(table, name, "activity") for name in columns["activity"]]
    lengths = [(F.length(part).cast("string"), F.lit(":"), part) for part in ids]  # so that no two combinations give the same id
    case = ids[0] if len(ids) == 1 else F.concat(*chain.from_iterable(lengths))
    label = F.concat(labels[0], *chain.from_iterable((F.lit("+"), part) for part in labels[1:]))  # missing where one of them is
    if "individual" not in columns:
        return {"case": case, "label": label}
    same = columns["individual"] == columns["case_id"]
    return {"case": case, "label": label, "individual": case if same else _text(table, columns["individual"][0], "individual")}


def _values_of(
    table: OpenTable, attributes: Sequence[Attribute], activity: Column, roles: Mapping[str, tuple[str, ...]]
) -> list[Column]:
    """The columns of attributes as they stand in a table, and whether events are of the activity that these stand on."""
    columns = []
    for number, attribute in enumerate(attributes):
        name = column_of(attribute, roles)
        if name not in table.names or is_nested(table.kind_of(name)):
            raise no_column(attribute.name, table.names, table.place)
        columns.append(table.column(name).alias(value_column(number)))
        if attribute.at is not None:
            columns.append(F.coalesce(activity == F.lit(attribute.at), F.lit(False)).alias(here_column(number)))
    return columns


def _of_transitions(table: OpenTable, columns: Mapping[str, tuple[str, ...]], options: ReadOptions) -> DataFrame:
    """The rows of the transitions that the user wants."""
    if not options.lifecycle_keep:
        return table.frame
    if "lifecycle" not in columns:
        remedy = "Name it with --lifecycle, or leave --lifecycle-keep out"
        raise InputError("there is no lifecycle column to choose transitions by", place=table.place, remedy=remedy)
    wanted = [name.strip().lower() for name in options.lifecycle_keep]
    return table.frame.filter(F.lower(_text(table, columns["lifecycle"][0], "lifecycle")).isin(wanted))


def _cases_with_both(events: Events) -> int:
    """How many cases (or individuals) have starts, or completions if these are fewer, up to as many as decide."""
    with in_one_line(events.place):
        rows = events.read if events.drop_invalid else events.frame
        return min(rows.filter(F.col(kind)).select("whose").distinct().limit(ENOUGH).count() for kind in ("opens", "closes"))


def _refuse_late_starts(table: OpenTable, frame: DataFrame, columns: Mapping[str, tuple[str, ...]], options: ReadOptions) -> None:
    """An `InputError` if a column without a start in the sample has one elsewhere."""
    (name,) = columns.get("start_timestamp", (START_TIMESTAMP,))
    if name not in table.names or is_nested(table.kind_of(name)):
        return
    known, sample = "start_timestamp" in columns, deciding(table.sample(), columns, options)
    if known and sample[name].null_count() < sample.height:
        return
    values = table.column(name)
    with in_one_line(table.place), without_warnings():
        found = frame.filter(~values.cast("string").rlike(BLANK)).select(values.alias(name)).distinct().limit(SAMPLE)
        late = pl.DataFrame(found.toArrow())[name]
    if len(late) and (known or len(late) == SAMPLE or any_time(late, options)):
        raise late_start(table.place)


def _starts(transition: Column) -> Column:
    return F.coalesce(transition == START, F.lit(False))


def _completes(transition: Column) -> Column:
    return F.coalesce(transition == COMPLETE, F.lit(True))


def _transition(table: OpenTable, name: str) -> Column:
    """Transitions in lower case and without space around them; null where there is none."""
    text = F.lower(F.regexp_replace(_text(table, name, "lifecycle"), AROUND, ""))
    return F.when(text != "", text)


def _with_transition(label: Column, table: OpenTable, name: str) -> Column:
    """Labels with their transitions, as `event_labels` makes them."""
    said = F.regexp_replace(F.translate(_text(table, name, "lifecycle"), SEPARATOR, REPLACEMENT), PLUS, "")
    lower = F.regexp_replace(F.lower(_text(table, name, "lifecycle")), PLUS, "")
    transition = F.when(lower.isin(list(TRANSITIONS)), lower).otherwise(said)
    return F.when(transition.isNull(), label).otherwise(F.concat(label, F.lit(SEPARATOR), transition))


def _key(table: OpenTable, columns: Mapping[str, tuple[str, ...]]) -> Column:
    """What the start and the completion of an instance have in common, as `keys_of` says; which number it is means nothing."""
    marked = [F.concat(F.lit(mark), text) for mark, text in _keys(table, columns).items()]
    return F.coalesce(*(F.when(text.isNotNull(), F.xxhash64(text)) for text in marked), F.lit(0).cast("bigint"))


def _keys(table: OpenTable, columns: Mapping[str, tuple[str, ...]]) -> dict[str, Column]:
    """What may say which start and completion belong together, as text, by a letter for each."""
    instance = {"i": _text(table, INSTANCE, "instance")} if INSTANCE in table.names else {}
    return instance | ({"r": _text(table, columns["resource"][0], "resource")} if "resource" in columns else {})


def _text(table: OpenTable, name: str, role: str) -> Column:
    """A column as text, each value by itself: whole numbers as digits, also where they are floats or decimals.

    For what every event must have, blank text is missing. A moment becomes its microseconds since 1970: in the time zone of a
    session two of them may read the same.
    """
    kind, column = table.kind_of(name), table.column(name)
    if is_nested(kind):
        what = f'"{name}" is of the type {kind} and holds no text to serve as {WORDS.get(role, role)}'
        remedy = f"Name another column with {FLAGS[role]}" if role in FLAGS else "Write it as text, or leave it out"
        raise InputError(what, place=table.place, remedy=remedy)
    text = (F.unix_micros(column) if kind == "timestamp" else column).cast("string")
    if kind in ("float", "double"):
        small = F.when(F.abs(column) < 2.0**63, column)  # what has no 64 bits is null, and never rounded
        whole = F.floor(small) == small
        text = F.when(~F.isnan(column), F.when(whole, small.cast("bigint").cast("string")).otherwise(text))
    if kind.startswith("decimal"):
        text = F.when(text.rlike(FIXED), F.regexp_replace(text, TRAILING, "")).otherwise(text)
    return F.when(~text.rlike(BLANK), text) if role in REQUIRED else text
