"""The Spark engine: cases counted on many machines by the kernels that every engine shares; of individuals, a few cases each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Integers, Table, Unit, VariantRule
from libra.engines.counting.blocks import codes_among
from libra.engines.counting.count import needs_cases
from libra.engines.spark.kernels import (
    PASSED,
    SUMS,
    CountCases,
    CountVariants,
    SelectVariants,
    Shares,
    add_pieces,
    add_to,
    from_pieces,
    pieces_of,
)
from libra.engines.spark.session import Spark, in_one_line, session_of, without_warnings
from libra.engines.spark.source import Events, Found, drawn_key, events_of, takes, words_of
from libra.engines.spark.tables import open_table
from libra.errors import InputError
from libra.eventlog.cases import Traces, concatenated
from libra.eventlog.log import FoundRole
from libra.eventlog.options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

BLANK = r"(?U)^\s*$"
SHARES = 4  # in which draws with a seed are made, whatever the cluster
FEW_PIECES = 4  # that every share may send to the driver; more are added up on the way


def drawn_cases(events: Events, most: int, random: Randomness, spark: Spark, column: str, rate: float = 1.0) -> DataFrame:
    """The ids (`case`) of at most so many cases of each individual; one without a name is an individual of its own.

    Args:
        events: All of them, with `individual`.
        most: How many cases of an individual count.
        random: Gives the key of the draws.
        spark: Where to keep whose case is whose.
        column: What the individual's column is called there.
        rate: Of a Poisson subsample: only individuals count that are in it.

    Raises:
        InputError: Some event cannot be used or does not say whose case it is, or events of one case do not agree on it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

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
    place = events.place
    with in_one_line(place):
        lacking, changing, problem = cases.agg(F.max("lacking"), F.max("changing"), F.max("problem")).collect()[0]
    if problem is not None:
        raise events.refused(problem)
    remedy = "Choose a column with one value for all events of a case for --individual"
    if lacking:
        raise InputError(f'no value in "{column}"', place=place, remedy=remedy)
    if changing:
        raise InputError(f'"{column}" changes within a case', place=place, remedy=remedy)
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


def in_shares(frame: DataFrame, by: Sequence[str], random: Randomness) -> tuple[DataFrame, Shares]:
    """A frame, and where its shares draw from; with a seed, the same rows are always in the same share."""
    if not random.seeded:
        return frame, Shares(None)
    return frame.repartition(SHARES, *by), Shares(int(random.words(1)[0]))


def added(frames: Sequence[DataFrame], pieces: int, place: str) -> dict[int, Integers]:
    """The sums of all shares of one frame or two, piece by piece, by one job; `place` is what is read, for errors."""
    totals: dict[int, Integers] = {}
    if frames:
        together = frames[0] if len(frames) == 1 else frames[0].unionAll(frames[1])
        if pieces > FEW_PIECES:
            together = mapped(together.repartition(min(pieces, SHARES), "piece"), add_pieces, SUMS)
        add_to(totals, collected(together, place))
    return totals


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
        """The labels that codes stand for."""
        return self.events.labels if self.chosen is None else self.chosen

    @cached_property
    def cases(self) -> DataFrame:
        """A row a case: its id, and in the order of its events their codes and times."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        numbers = list(zip(self.events.labels, range(len(self.events.labels)), strict=True))
        codes = self.spark.session.createDataFrame(numbers, "label string, code int")
        event = F.struct(*dict.fromkeys((*self.events.order, "micros", "code")))
        grouped = (
            self.events.read.join(F.broadcast(codes), "label")
            .groupBy("case")
            .agg(F.sort_array(F.collect_list(event)).alias("events"), F.max("problem").alias("problem"))
            .select("case", "problem", F.col("events.code").alias("codes"), F.col("events.micros").alias("micros"))
        )
        kept = self.spark.keep(grouped)
        with in_one_line(self.events.place):
            problem = kept.agg(F.max("problem")).collect()[0][0]
        if problem is not None:
            raise self.events.refused(problem)
        return kept

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
        shapes, other_shapes = ([table.shape for table in some] for some in (of_cases, of_variants))
        first, n_labels = pieces_of(shapes), len(self.labels)
        new_codes = None if self.chosen is None else codes_among(self.events.labels, self.labels)
        frames = []
        if of_cases:
            frames.append(mapped(self.cases.select("codes", "micros"), CountCases(of_cases, n_labels, new_codes), SUMS))
        if of_variants:
            count = CountVariants(of_variants, n_labels, self.kept, first, new_codes)
            frames.append(mapped(self.variants, count, SUMS))
        totals = added(frames, first + pieces_of(other_shapes), self.events.place)
        from_cases, from_variants = iter(from_pieces(totals, shapes)), iter(from_pieces(totals, other_shapes, first))
        return [next(from_cases if needs_cases(table) else from_variants) for table in tables]

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these; each draw is made by the task that sends what passed."""
        self._refuse_fewer_labels()
        variants, shares = in_shares(self.variants, ["codes"], random)
        select = SelectVariants(rule, len(self.labels), self.kept, shares)
        passed = collected(mapped(variants, select, PASSED), self.events.place)
        codes = passed.column("codes").combine_chunks()
        lengths = codes.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        flat = np.asarray(codes.flatten().to_numpy(zero_copy_only=False), np.int64)
        noisy = np.asarray(passed.column("noisy").to_numpy(), np.int64)
        return Traces(flat, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))), noisy

    def subsampled(self, rate: float, random: Randomness) -> SparkEngine:
        """Every case with probability `rate`, independently, decided by its id before anything is grouped."""
        self._refuse_fewer_labels()
        self.spark.forget()
        return replace(self, events=self.events.sampled(rate, drawn_key(random)))

    def tail(self, kept: Traces) -> SparkEngine:
        """The cases whose trace is none of the kept ones."""
        self._refuse_fewer_labels()
        known = kept if self.kept is None else concatenated([self.kept, kept])
        tail = replace(self, kept=known)
        tail.__dict__["variants"] = self.variants  # computed once for both; whole cases are not asked of a tail
        return tail

    def with_labels(self, labels: tuple[str, ...]) -> SparkEngine:
        """The same cases without the events of all other labels; a case with none left is left out. For tables alone."""
        self._refuse_fewer_labels()
        if labels == self.labels:
            return self
        fewer = replace(self, chosen=labels)
        kept = ("cases", "variants") if self.kept is None else ("variants",)
        fewer.__dict__.update({name: getattr(self, name) for name in kept})  # computed once for both
        return fewer

    def _refuse_fewer_labels(self) -> None:
        if self.chosen is not None:
            raise AssertionError("labels are dropped last, for tables alone")

    def close(self) -> None:
        """Free what Spark keeps of the log; a session that somebody else opened goes on."""
        self.spark.close()


class SparkLog:
    """A log on Spark: what is known of it before it is read, and engines of it."""

    def __init__(self, found: Found, spark: Spark, *, allow_empty: bool = False) -> None:
        """Take a log by its events; nothing is read yet."""
        self.spark = spark
        self._found, self._allow_empty = found, allow_empty

    @property
    def has_zone(self) -> bool:
        """Whether its times are in a zone."""
        return self._found.has_zone

    @property
    def individual(self) -> str | None:
        """The attribute of cases that says whose they are."""
        return self._found.individual

    @property
    def has_individual(self) -> bool:
        """Whether the log says whose case is whose."""
        return self.individual is not None

    @property
    def roles(self) -> tuple[FoundRole, ...]:
        """Which column plays which role, and why."""
        return self._found.roles

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed about the log."""
        return self._found.notes

    def engine(self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None) -> SparkEngine:
        """The engine of all cases, or of a Poisson subsample; where individuals are protected, of as many cases as count."""
        self.spark.forget()  # what an engine before this one kept
        events = self._found.events if labels is None else self._found.events.of_labels(labels)
        if not events.labels and not self._allow_empty:
            remedy = "Check the columns and transitions that were named"
            raise InputError("no event is left that can be used", place=events.place, remedy=remedy)
        if unit.most_cases is not None and self.has_individual:
            drawn = drawn_cases(events, unit.most_cases, random, self.spark, self._found.individual_column, rate)
            return SparkEngine(events.of_cases(drawn), self.spark)
        engine = SparkEngine(events, self.spark)
        return engine if rate == 1 else engine.subsampled(rate, random)

    def close(self) -> None:
        """Free what Spark keeps of the log, and stop a session that was opened for it."""
        self.spark.close()


def open_log(source: str | DataFrame, options: ReadOptions, master: str | None = None) -> SparkLog:
    """A log on Spark: a data frame in its own session, or a path or table in the session that is open or in a new one.

    Args:
        source: A data frame of Spark, a path of a file or folder of Parquet or CSV, or the name of a table.
        options: What the user says about it.
        master: Where a new session computes, such as "local[2]".
    """
    spark = session_of(master) if isinstance(source, str) else Spark(source.sparkSession, ours=False)
    try:
        return SparkLog(events_of(open_table(source, options, spark), options), spark, allow_empty=options.allow_empty)
    except BaseException:
        spark.close()
        raise


def engine_of(
    source: str | DataFrame,
    options: ReadOptions,
    unit: Unit = CASE,
    random: Randomness | None = None,
    master: str | None = None,
) -> SparkEngine:
    """The engine of a log on Spark, in one step; see `open_log`."""
    return open_log(source, options, master).engine(unit, random or Randomness())
