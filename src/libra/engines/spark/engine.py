"""The engine on Spark: cases are grouped and counted where they lie, and only small tables and what passed come back.

In: events that Spark has not read yet. Out: what the contract asks. Cases are grouped once and kept in Spark's storage; so are
the distinct traces, of which there may be hundreds of millions: they never leave the executors but for those that passed.

Why noise is drawn in the last step of one action, and nowhere else: a frame of Spark is a recipe, not a result. A frame with
noise in it that is looked at twice, or of which an executor is lost, is computed again, with new draws. Whoever sees two draws
for the same count can average them, which costs twice what the ledger says; and two steps that see different draws give a
release that contradicts itself. So the rule is applied by the tasks whose results go straight to the driver, in a single action.
A task that fails is run again, one that is slow may run twice, and of either the driver takes exactly one result; what it has
lives there and is never computed again. Counts before noise may be computed as often as Spark likes: they are whole numbers, and
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from libra.engines.contract import Integers, LabelRule, Table, VariantRule
from libra.engines.counting.count import needs_cases
from libra.engines.spark.draws import drawn_key
from libra.engines.spark.kernels import (
    PASSED,
    SUMS,
    CountCases,
    CountVariants,
    SelectVariants,
    Shares,
    WeighLabels,
    add_pieces,
    add_to,
    from_pieces,
    pieces_of,
)
from libra.engines.spark.session import Spark, in_one_line, without_warnings
from libra.engines.spark.source import Events
from libra.eventlog.traces import Traces, concatenated
from libra.privacy.randomness import Randomness

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

SHARES = 4  # in which draws with a seed are made, whatever the cluster
FEW_PIECES = 4  # that every share may send to the driver; more are added up on the way


@dataclass(frozen=True, eq=False, repr=False)
class SparkEngine:
    """Raw cases on Spark, behind the contract; `kept` are the variants that a tail is without."""

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

        numbers = list(zip(self.labels, range(len(self.labels)), strict=True))
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
        frames = []
        if of_cases:
            frames.append(_mapped(self.cases.select("codes", "micros"), CountCases(of_cases, n_labels), SUMS))
        if of_variants:
            frames.append(_mapped(self.variants, CountVariants(of_variants, n_labels, self.kept, first), SUMS))
        totals = self._added(frames, first + pieces_of(other_shapes))
        from_cases, from_variants = iter(from_pieces(totals, shapes)), iter(from_pieces(totals, other_shapes, first))
        return [next(from_cases if needs_cases(table) else from_variants) for table in tables]

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these; each draw is made by the task that sends what passed."""
        variants, shares = self._in_shares(self.variants, ["codes"], random)
        passed = self._collected(_mapped(variants, SelectVariants(rule, len(self.labels), self.kept, shares), PASSED))
        codes = passed.column("codes").combine_chunks()
        lengths = codes.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        flat = np.asarray(codes.flatten().to_numpy(zero_copy_only=False), np.int64)
        noisy = np.asarray(passed.column("noisy").to_numpy(), np.int64)
        return Traces(flat, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))), noisy

    def select_labels(self, rule: LabelRule, random: Randomness) -> tuple[str, ...]:
        """The labels whose noisy weights pass, sorted; weights are added up by one job, and noise is drawn on the driver."""
        cases, shares = self._in_shares(self.cases.select("case", "codes", "micros"), ["case"], random)
        if shares.draw is not None:
            cases = cases.sortWithinPartitions("case")
        weigh = WeighLabels(rule, len(self.labels), shares)
        totals = self._added([_mapped(cases, weigh, SUMS)], pieces_of([weigh.shape]))
        weights, occurs = from_pieces(totals, [weigh.shape])[0]
        codes = np.flatnonzero(occurs)
        return tuple(sorted(self.labels[code] for code in codes[rule.passing(weights[codes], random)]))

    def subsampled(self, rate: float, random: Randomness) -> SparkEngine:
        """Every case with probability `rate`, independently, decided by its id before anything is grouped."""
        self.spark.forget()
        return replace(self, events=self.events.sampled(rate, drawn_key(random)))

    def tail(self, kept: Traces) -> SparkEngine:
        """The cases whose trace is none of the kept ones."""
        known = kept if self.kept is None else concatenated([self.kept, kept])
        tail = replace(self, kept=known)
        tail.__dict__["variants"] = self.variants  # computed once for both
        return tail

    def with_labels(self, labels: tuple[str, ...]) -> SparkEngine:
        """The same cases without the events of all other labels; a case with none left is left out."""
        if self.kept is not None:
            raise AssertionError("labels are chosen before variants are")
        return replace(self, chosen=labels)

    def close(self) -> None:
        """Free what Spark keeps of the log; a session that somebody else opened goes on."""
        self.spark.close()

    def _in_shares(self, frame: DataFrame, by: list[str], random: Randomness) -> tuple[DataFrame, Shares]:
        """A frame and where its shares draw from; with a seed, shares are always the same."""
        if not random.seeded:
            return frame, Shares(None)
        return frame.repartition(SHARES, *by), Shares(int(random.words(1)[0]))

    def _added(self, frames: list[DataFrame], pieces: int) -> dict[int, Integers]:
        """The sums of all shares, piece by piece."""
        totals: dict[int, Integers] = {}
        if frames:
            together = frames[0] if len(frames) == 1 else frames[0].unionAll(frames[1])
            if pieces > FEW_PIECES:
                together = _mapped(together.repartition(min(pieces, SHARES), "piece"), add_pieces, SUMS)
            add_to(totals, self._collected(together))
        return totals

    def _collected(self, frame: DataFrame) -> pa.Table:
        with in_one_line(self.events.place), without_warnings():
            return frame.toArrow()


def _mapped(frame: DataFrame, kernel: Callable[[Any], Any], schema: str) -> DataFrame:
    with without_warnings():
        return frame.mapInArrow(lambda batches: kernel(batches), schema)
