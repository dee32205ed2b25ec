"""The engine for logs that fit into memory: cases as arrays, counted with Polars and NumPy.

The promise that guarantees for individuals rest on: which cases of somebody are drawn depends on chance and on that somebody
alone, never on anybody else, and there are never more than so many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Integers, Table, Unit, VariantRule
from libra.engines.counting.attributes import value_counts
from libra.engines.counting.blocks import VariantBlock, codes_among, relabelled
from libra.engines.counting.count import count, needs_cases
from libra.engines.counting.events import value_weights
from libra.engines.sampling import chosen
from libra.engines.sequences import as_counted, both_forms, sequences_of, since, with_event_labels, with_transitions
from libra.eventlog.attributes import Attribute, by_level, case_values, event_values
from libra.eventlog.cases import MISSING, Cases, Traces, cases_of
from libra.eventlog.ids import individuals_of
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_NAME
from libra.eventlog.select import keep_events


def drawn_cases(individual: pl.Series, most: int, random: Randomness, rate: float = 1.0) -> npt.NDArray[np.int64]:
    """The numbers of at most so many cases of each individual; one without an entry is an individual of its own.

    With a `rate` below 1, of those individuals alone that are in a Poisson subsample.
    """
    n, whose = len(individual), individuals_of(individual)
    order = np.lexsort((random.words(n), whose))
    whose = whose[order]
    first = np.searchsorted(whose, whose)
    counts = np.arange(n) - first < most
    if rate < 1:
        counts &= chosen(random.words(n), rate)[first]  # the word at an individual's first place is the individual's
    return np.sort(order[counts])


@dataclass(frozen=True, eq=False, repr=False)
class PolarsEngine:
    """Raw cases in memory, behind the contract.

    `counts[i]` cases follow row i of `traces`; the cases themselves are among `of_log`, those whose variant is in `rows`. With
    `new_codes`, tables are counted without the events whose label has none.

    Example:
        >>> from libra.engines.control_flow_tables import Size
        >>> from libra.example.simulate import simulate
        >>> engine_of(simulate(cases=50)).count(Size()).tolist()
        [50]
    """

    of_log: Cases
    rows: Integers
    traces: Traces
    counts: Integers
    labels: tuple[str, ...]
    new_codes: Integers | None = None
    values: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def cases(self) -> Cases:
        """The cases, with their times."""
        if self.new_codes is not None:
            return relabelled(replace(self, new_codes=None).cases, self.new_codes, len(self.labels))
        if len(self.of_log) == self.counts.sum():
            return self.of_log
        chosen = np.zeros(self.of_log.variant.max(initial=-1) + 1, bool)
        chosen[self.rows] = True
        return self.of_log.take(np.flatnonzero(chosen[self.of_log.variant]))

    @cached_property
    def block(self) -> VariantBlock:
        """The distinct traces and how many cases follow each."""
        block = VariantBlock(self.traces, self.counts, len(self.labels))
        return block if self.new_codes is None else relabelled(block, self.new_codes, len(self.labels))

    def count(self, table: Table) -> Integers:
        """`scale` times the counts, in the shape of the table."""
        return self.count_all([table])[0]

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        return [count(table, self.cases if needs_cases(table) else self.block) for table in tables]

    def variants(self) -> tuple[Traces, Integers]:
        """The distinct traces and how many cases follow each."""
        return self.block.traces, self.block.counts

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        self._refuse_fewer_labels()
        rows, noisy = rule.passing(self.counts, random)
        return self.traces.take(rows), noisy

    def select_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        found, counts = value_counts(self.cases, attribute)
        rows, noisy = rule.passing(counts, random)
        return found[rows], noisy

    def select_event_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        found, weights = value_weights(self.cases, attribute)
        rows, noisy = rule.passing(weights, random)
        return found[rows], noisy

    def subsampled(self, rate: float, random: Randomness) -> PolarsEngine:
        return self.restricted(np.flatnonzero(chosen(random.words(len(self.cases)), rate)))

    def restricted(self, numbers: Integers) -> PolarsEngine:
        """Only the cases of these numbers."""
        self._refuse_fewer_labels()
        cases = self.cases.take(numbers)
        counts = np.bincount(cases.variant, minlength=self.rows.max(initial=-1) + 1)[self.rows]
        present = np.flatnonzero(counts)
        return replace(self, of_log=cases, rows=self.rows[present], traces=self.traces.take(present), counts=counts[present])

    def tail(self, kept: Traces) -> PolarsEngine:
        self._refuse_fewer_labels()
        rows = self.block.without(kept)
        return replace(self, rows=self.rows[rows], traces=self.traces.take(rows), counts=self.counts[rows])

    def with_labels(self, labels: tuple[str, ...]) -> PolarsEngine:
        self._refuse_fewer_labels()
        return self if labels == self.labels else replace(self, labels=labels, new_codes=codes_among(self.labels, labels))

    def recoded(self, labels: tuple[str, ...]) -> PolarsEngine:
        """The same cases in the codes of these labels, which are all that there are, and perhaps more."""
        codes = codes_among(self.labels, labels)
        cases = replace(self.of_log, codes=codes[self.of_log.codes], n_activities=len(labels))
        return replace(self, of_log=cases, traces=Traces(codes[self.traces.codes], self.traces.offsets), labels=labels)

    def _refuse_fewer_labels(self) -> None:
        if self.new_codes is not None:
            raise AssertionError("labels are dropped last, for tables alone")


def as_numbers(values: pl.Series, attribute: Attribute) -> tuple[Integers, tuple[str, ...]]:
    """The values of an attribute as whole numbers, and the texts that those of a category stand for.

    Where a list of values is declared, others are the number after its last.
    """
    if attribute.kind != "category":
        return values.fill_null(MISSING).to_numpy(), ()
    names = attribute.values or tuple(values.drop_nulls().unique().sort())
    return places_among(values, names).fill_null(MISSING).to_numpy(), names


def places_among(values: pl.Series, names: Sequence[str]) -> pl.Series:
    """The place of every text among these, the number after the last for all others, and none where there is no text."""
    codes = values.cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int64)
    return codes.fill_null(len(names)).set(values.is_null(), None)


def engine_of(
    log: EventLog,
    unit: Unit = CASE,
    random: Randomness | None = None,
    rate: float = 1.0,
    labels: tuple[str, ...] | None = None,
    attributes: Sequence[Attribute] = (),
    *,
    with_starts: bool = False,
) -> PolarsEngine:
    """The engine of a log, or of a Poisson subsample; where individuals are protected, of as many cases of each as count.

    With starts, cases are the sequences of what is to be released (`sequences`); otherwise an instance is one event.
    """
    of_cases, of_events = by_level(attributes)
    found = {one.name: case_values(log, one) for one in of_cases}
    log, random, listed = with_event_labels(log) if with_starts else log, random or Randomness(), labels
    if labels is not None:
        listed = with_transitions(labels) if with_starts and log.instances == "events" else labels
        whole_log, log = log, keep_events(log, log.events[ACTIVITY].is_in(list(listed)))
        left = whole_log.cases[CASE_NAME].is_in(log.cases[CASE_NAME].implode())
        found = {name: values.filter(left) for name, values in found.items()}
        listed = both_forms(labels) if with_starts and log.instances == "pair" else listed
    events = [as_numbers(event_values(log, one), one) for one in of_events]
    numbers = tuple(found for found, _ in events)
    whole_cases = replace(cases_of(log), of_events=numbers)
    cases, variants, names = sequences_of(log, numbers) if with_starts else (whole_cases, log.variants, tuple(log.activities))
    offsets = np.concatenate(([0], np.cumsum(variants.traces["trace"].list.len().to_numpy(), dtype=np.int64)))
    traces = Traces(variants.traces["trace"].explode(empty_as_null=False).to_numpy().astype(np.int64), offsets)
    coded = [as_numbers(found[one.name], one) for one in of_cases]
    moments = [
        since(log.case_spans[0], one, of) if of.kind == "date" else one for of, (one, _) in zip(of_cases, coded, strict=True)
    ]
    cases = as_counted(replace(cases, attributes=tuple(moments)), of_events)
    values = tuple(texts for _, texts in (*coded, *events))
    whole = PolarsEngine(cases, np.arange(len(traces)), traces, variants.counts, names, values=values)
    if listed is not None:
        whole = whole.recoded(listed)
    if unit.most_cases is None or log.individual is None:
        return whole if rate == 1 else whole.subsampled(rate, random)
    return whole.restricted(drawn_cases(log.cases[log.individual], unit.most_cases, random, rate))


@dataclass(frozen=True, eq=False, repr=False)
class LogInMemory:
    """A log in memory."""

    log: EventLog

    @property
    def has_individual(self) -> bool:
        return self.log.individual is not None

    @property
    def has_zone(self) -> bool:
        return self.log.has_zone

    def engine(
        self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None,
        attributes: Sequence[Attribute] = (),
    ) -> PolarsEngine:  # fmt: skip
        return engine_of(self.log, unit, random, rate, labels, attributes, with_starts=True)
