"""The Spark engine: cases counted on many machines by the kernels that every engine shares; of individuals, a few cases each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.contract import Integers, Table, Unit, VariantRule
from libra.engines.counting import attributes as of_attributes
from libra.engines.counting.blocks import codes_among, offsets_of
from libra.engines.counting.count import needs_cases
from libra.engines.event_tables import EventTable
from libra.engines.sequences import forms_among
from libra.engines.spark import kernels
from libra.engines.spark.session import F, Spark, in_one_line, session_of, without_warnings
from libra.engines.spark.source import BLANK, INSTANCE_COLUMNS, Events, drawn_key, events_of, takes, words_of
from libra.engines.spark.tables import open_table
from libra.errors import InputError
from libra.eventlog.attributes import Attribute, by_level
from libra.eventlog.cases import Traces, concatenated
from libra.eventlog.log import FoundRole
from libra.eventlog.options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

SHARES = 4  # in which draws with a seed are made, whatever the cluster
FEW_PIECES = 4  # that every share may send to the driver; more are added up on the way


def drawn_cases(events: Events, most: int, random: Randomness, spark: Spark, column: str, rate: float = 1.0) -> DataFrame:
    """The ids (`case`) of at most so many cases of each individual; one without a name is an individual of its own.

    With a `rate` below 1, of those individuals alone that are in a Poisson subsample. `column` is what the individual's column is
    called. An error where some event cannot be used or does not say whose case it is, or events of one case do not agree on it.
    """
    from pyspark.sql import Window

    whose = F.col("individual")
    cases = spark.keep(
        events.read.groupBy("case").agg(
            F.min(whose).alias("whose"),
            F.max(whose.isNull()).alias("lacking"),
            (F.min(whose) != F.max(whose)).alias("changing"),
            F.max("problem").alias("problem"),
        ),
        lasting=True,
    )
    with in_one_line(events.place):
        lacking, changing, problem = cases.agg(F.max("lacking"), F.max("changing"), F.max("problem")).collect()[0]
    if problem is not None:
        raise events.refused(problem)
    remedy = "Choose a column with one value for all events of a case for --individual"
    if lacking or changing:
        what = f'no value in "{column}"' if lacking else f'"{column}" changes within a case'
        raise InputError(what, place=events.place, remedy=remedy)
    nameless = F.col("whose").rlike(BLANK)
    name = F.when(nameless, F.concat(F.lit("case "), F.col("case"))).otherwise(F.concat(F.lit("individual "), F.col("whose")))
    if rate < 1:
        cases = cases.filter(takes(name, rate, drawn_key(random)))
    order = Window.partitionBy(name).orderBy(words_of(F.col("case"), drawn_key(random)), "case")
    return cases.withColumn("place", F.row_number().over(order)).filter(F.col("place") <= most).select("case")


def mapped(frame: DataFrame, kernel: Callable[[Any], Any], schema: str) -> DataFrame:
    """What a kernel makes of every share of a frame; nothing is computed yet."""
    with without_warnings():
        return frame.mapInArrow(lambda batches: kernel(batches), schema)


def collected(frame: DataFrame, place: str) -> pa.Table:
    """All rows of a frame, on the driver."""
    with in_one_line(place), without_warnings():
        return frame.toArrow()


@dataclass(frozen=True, eq=False, repr=False)
class SparkEngine:
    """Raw cases on Spark, behind the contract; `kept` are the variants that a tail is without, `chosen` the labels that stay."""

    events: Events
    spark: Spark
    chosen: tuple[str, ...] | None = None
    kept: Traces | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.events.counted_labels if self.chosen is None else self.chosen

    @cached_property
    def cases(self) -> DataFrame:
        """A row a case: its id, in the order of its events their codes and times, and for each attribute its value or theirs."""
        numbers = list(zip(self.events.labels, range(len(self.events.labels)), strict=True))
        codes = self.spark.session.createDataFrame(numbers, "label string, code int")
        attributes, aside = self.events.attributes, self.events.keeps_others
        events = self.events.with_values if attributes else self.events.read
        said = [name for name in INSTANCE_COLUMNS if name in events.columns]
        if "is_start" in said and not self.events.order:  # of one moment: a start comes before what it may be completed by
            events = events.withColumn("completes", ~F.col("is_start"))
        first = ["completes"] if "completes" in events.columns else []
        said += [kernels.value_column(number) for number in range(len(attributes))]
        event = F.struct(*dict.fromkeys((*self.events.order, "micros", "code", *first, *said)))
        listed = [F.col("events.code").alias("codes"), *(F.col(f"events.{name}").alias(name) for name in ("micros", *said))]
        coded = events.join(F.broadcast(codes), "label", "left" if aside else "inner")
        if (
            aside and "key" in said
        ):  # labels that are not listed have one code, and their events are not to be paired across labels
            coded = coded.withColumn("key", F.when(F.col("code").isNull(), F.xxhash64("label", "key")).otherwise(F.col("key")))
        grouped = (
            coded.withColumn("code", F.coalesce("code", F.lit(-1)))
            .groupBy("case")
            .agg(F.sort_array(F.collect_list(event)).alias("events"), F.max("problem").alias("problem"))
            .select("case", "problem", *listed)
        )
        if self.events.paired or attributes:
            forms = forms_among(self.events.labels, self.events.counted_labels) if self.events.paired else None
            make = kernels.Sequences(len(self.events.counted_labels), forms, attributes, self.events.place)
            grouped = mapped(grouped, make, make.schema)
        kept = self.spark.keep(grouped)
        with in_one_line(self.events.place):
            problem = kept.agg(F.max("problem")).collect()[0][0]
        if problem is not None:
            raise self.events.refused(problem)
        return kept

    @cached_property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """For each attribute the texts that its values stand for, sorted unless they are declared."""
        found = []
        for number, attribute in enumerate(self.events.attributes):
            texts = attribute.values or ()
            if kernels.is_private(attribute):
                said = F.col(kernels.value_column(number))
                said = said if attribute.level == "case" else F.explode(F.array_distinct(said))
                rows = collected(self.cases.select(said.alias(kernels.VALUE)).dropna().distinct(), self.events.place)
                texts = tuple(sorted(rows.column(0).to_pylist()))
            found.append(texts)
        return tuple(found)

    def _columns(self, of_cases: Sequence[int], of_events: Sequence[int]) -> kernels.Columns:
        """The columns of these attributes, by their places among those of cases and among those of events."""
        first = len(by_level(self.events.attributes)[0])
        numbers = [*of_cases, *(first + number for number in of_events)]
        names = [kernels.value_column(number) for number in numbers]
        private = [number for number in numbers if kernels.is_private(self.events.attributes[number])]
        texts = {kernels.value_column(number): self.values[number] for number in private}
        return kernels.Columns(tuple(names[: len(of_cases)]), tuple(names[len(of_cases) :]), texts)

    def _with_columns(self, tables: Sequence[Table]) -> tuple[tuple[Table, ...], kernels.Columns]:
        """Tables about cases, and the columns of values that they need: of events those alone that are asked for, from 0 on."""
        asked = sorted({table.side.number for table in tables if isinstance(table, EventTable)})
        narrow: list[Table] = []
        for table in tables:
            if isinstance(table, EventTable):
                table = replace(table, side=replace(table.side, number=asked.index(table.side.number)))
            narrow.append(table)
        with_cases = any(type(table) in of_attributes.COUNTERS for table in tables)
        of_cases = range(len(by_level(self.events.attributes)[0])) if with_cases else ()
        return tuple(narrow), self._columns(of_cases, asked)

    @cached_property
    def variants(self) -> DataFrame:
        """A row a distinct trace: its codes, and how many cases follow it."""
        return self.spark.keep(self.cases.groupBy("codes").count())

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        """For each table `scale` times the counts, in its shape; all of them by one job."""
        of_cases = tuple(table for table in tables if needs_cases(table))
        of_variants = tuple(table for table in tables if not needs_cases(table))
        if of_cases and self.kept is not None:
            raise AssertionError("tables about times are about all cases, not about a tail")
        first, n_labels, frames = kernels.pieces_of(of_cases), len(self.labels), []
        if of_cases:
            narrow, columns = self._with_columns(of_cases)
            count = kernels.Count(narrow, n_labels, new_codes=self._new_codes, columns=columns)
            frames.append(mapped(self._lists(columns), count, kernels.SUMS))
        if of_variants:
            frames.append(
                mapped(self.variants, kernels.Count(of_variants, n_labels, first, self.kept, self._new_codes), kernels.SUMS)
            )
        totals: dict[int, Integers] = {}
        if frames:
            together, pieces = reduce(lambda one, other: one.unionAll(other), frames), first + kernels.pieces_of(of_variants)
            if pieces > FEW_PIECES:
                together = mapped(together.repartition(min(pieces, SHARES), "piece"), kernels.add_pieces, kernels.SUMS)
            kernels.add_to(totals, collected(together, self.events.place))
        from_cases, from_variants = (
            iter(kernels.from_pieces(totals, of_cases)),
            iter(kernels.from_pieces(totals, of_variants, first)),
        )
        return [next(from_cases if needs_cases(table) else from_variants) for table in tables]

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these; each draw is made by the task that sends what passed."""
        self._refuse_fewer_labels()
        variants = self.variants.repartition(SHARES, "codes") if random.seeded else self.variants  # always in the same share
        draw = int(random.words(1)[0]) if random.seeded else None
        select = kernels.SelectVariants(rule, len(self.labels), self.kept, draw)
        passed = collected(mapped(variants, select, kernels.PASSED), self.events.place)
        lengths, codes = kernels.lists([passed.column("codes").combine_chunks()])
        return Traces(codes, offsets_of(lengths)), np.asarray(passed.column("noisy").to_numpy(), np.int64)

    def select_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """The distinct values of an attribute whose noisy counts pass, and these; drawn as variants are."""
        self._refuse_tail()
        cases, private = self.cases, kernels.is_private(self.events.attributes[attribute])
        if self.chosen is not None:
            stay = np.flatnonzero(codes_among(self.events.counted_labels, self.labels) >= 0).tolist()
            cases = cases.filter(F.exists("codes", lambda code: code.isin(stay)))
        counts = cases.select(F.col(kernels.value_column(attribute)).alias(kernels.VALUE)).dropna().groupBy(kernels.VALUE).count()
        return self._selected(self._numbered(counts, self.values[attribute]) if private else counts, rule, random)

    def select_event_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """The distinct values of an attribute of events whose noisy weights pass, and these; drawn as variants are."""
        self._refuse_tail()
        columns = self._columns((), (attribute,))
        weigh = kernels.WeighValues(len(self.labels), columns, self._new_codes)
        weights = mapped(self._lists(columns), weigh, kernels.WEIGHTS).groupBy(kernels.VALUE).agg(F.sum("count").alias("count"))
        return self._selected(weights, rule, random)

    def _selected(self, counts: DataFrame, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """Of values, each in a row with its `count`, those that pass."""
        counts = counts.repartition(SHARES, kernels.VALUE) if random.seeded else counts  # always in the same share
        select = kernels.SelectValues(rule, int(random.words(1)[0]) if random.seeded else None)
        passed = collected(mapped(counts, select, kernels.PASSED_VALUES), self.events.place)
        values, noisy = (np.asarray(passed.column(name).to_numpy(), np.int64) for name in (kernels.VALUE, "noisy"))
        return values, noisy

    def _numbered(self, counts: DataFrame, texts: Sequence[str]) -> DataFrame:
        """Texts with their counts, as their numbers."""
        import pyarrow as pa

        numbers = {kernels.VALUE: pa.array(texts, pa.string()), "number": pa.array(range(len(texts)), pa.int64())}
        with without_warnings():
            codes = self.spark.session.createDataFrame(pa.table(numbers))
        return counts.join(F.broadcast(codes), kernels.VALUE).select(F.col("number").alias(kernels.VALUE), "count")

    def subsampled(self, rate: float, random: Randomness) -> SparkEngine:
        """Every case with probability `rate`, independently, decided by its id before anything is grouped."""
        self._refuse_fewer_labels()
        self.spark.forget()
        return replace(self, events=self.events.sampled(rate, drawn_key(random)))

    def tail(self, kept: Traces) -> SparkEngine:
        self._refuse_fewer_labels()
        tail = replace(self, kept=kept if self.kept is None else concatenated([self.kept, kept]))
        tail.__dict__["variants"] = self.variants  # computed once for both; whole cases are not asked of a tail
        return tail

    def with_labels(self, labels: tuple[str, ...]) -> SparkEngine:
        self._refuse_fewer_labels()
        if labels == self.labels:
            return self
        fewer = replace(self, chosen=labels)
        of_cases = ("cases", "values") if self.events.attributes else ("cases",)
        kept = (*of_cases, "variants") if self.kept is None else ("variants",)
        fewer.__dict__.update({name: getattr(self, name) for name in kept})  # computed once for both
        return fewer

    @cached_property
    def _new_codes(self) -> Integers | None:
        return None if self.chosen is None else codes_among(self.events.counted_labels, self.labels)

    def _lists(self, columns: kernels.Columns) -> DataFrame:
        """A row a case: its codes, its times, and the values in these columns."""
        return self.cases.select("codes", "micros", *columns.of_cases, *columns.of_events)

    def _refuse_tail(self) -> None:
        if self.kept is not None:
            raise AssertionError("attributes are those of all cases, not of a tail")

    def _refuse_fewer_labels(self) -> None:
        if self.chosen is not None:
            raise AssertionError("labels are dropped last, for tables alone")

    def close(self) -> None:
        """Free what Spark keeps of the log; a session that somebody else opened goes on."""
        self.spark.close()


@dataclass(frozen=True, eq=False, repr=False)
class SparkLog:
    """A log on Spark: what is known of it before it is read, and engines of it."""

    spark: Spark
    events: Events
    has_zone: bool
    individual: str  # empty where the log does not say whose case is whose
    roles: tuple[FoundRole, ...]
    notes: tuple[str, ...]
    allow_empty: bool

    @property
    def has_individual(self) -> bool:
        return bool(self.individual)

    def engine(
        self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None,
        attributes: Sequence[Attribute] = (),
    ) -> SparkEngine:  # fmt: skip
        """The engine of all cases, or of a Poisson subsample; where individuals are protected, of as many cases as count."""
        self.spark.forget()  # what an engine before this one kept
        events = self.events.of_attributes(attributes)
        events = events if labels is None else events.of_labels(labels)
        if not events.labels and not self.allow_empty:
            remedy = "Check the columns and transitions that were named"
            raise InputError("no usable event is left", place=events.place, remedy=remedy)
        if unit.most_cases is not None and self.has_individual:
            drawn = drawn_cases(events, unit.most_cases, random, self.spark, self.individual, rate)
            return SparkEngine(events.of_cases(drawn), self.spark)
        engine = SparkEngine(events, self.spark)
        return engine if rate == 1 else engine.subsampled(rate, random)

    def close(self) -> None:
        """Free what Spark keeps of the log, and stop a session that was opened for it."""
        self.spark.close()


def open_log(source: str | DataFrame, options: ReadOptions, master: str | None = None) -> SparkLog:
    """A log on Spark: a data frame in its own session, or a path or table in the session that is open or in a new one.

    A path is that of a file or folder of Parquet or CSV; `master` is where a new session computes, such as "local[2]".
    """
    spark = session_of(master) if isinstance(source, str) else Spark(source.sparkSession)
    try:
        return SparkLog(spark, *events_of(open_table(source, options, spark), options), options.allow_empty)
    except BaseException:
        spark.close()
        raise
