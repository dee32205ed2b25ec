"""The gate: raw counts go in, noisy tables come out, and every passage is written into the ledger.

The promise: nothing leaves but with noise on it or through a private selection, and all of it is in the ledger. What is asked for
(which table, which clip, how much noise) has to be public or to follow from what has left already.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.attribute_tables import Interactions, Pair, PairCounts
from libra.engines.contract import FINE, Engine, Table
from libra.engines.control_flow_tables import MOST_LABELS, LabelWeights, OneCell
from libra.engines.counting.attributes import interactions_of
from libra.engines.counting.blocks import codes_among
from libra.engines.sequences import starts_among
from libra.eventlog.cases import Integers, Traces
from libra.privacy.ledger import (
    DISCRETE_LAPLACE,
    LABEL_SELECTION,
    ROUNDED_GAUSSIAN,
    TRUNCATED_GEOMETRIC,
    VALUE_SELECTION,
    VARIANT_SELECTION,
    Entry,
    Group,
    Ledger,
)
from libra.privacy.noise import NoisyTable, discrete_laplace, geometric_sd, geometric_within, rounded_gaussian
from libra.privacy.selection import BoundedRule, GaussianRule, highest_first, labels_passing, labels_show, variant_shows

VARIANT_COUNTS = "which variants are kept, and how many cases follow each"
KEPT_VARIANTS, KEPT_LABELS = "which variants are kept", LabelWeights.purpose
KEPT_VALUES = "which values of attributes are kept, and how many cases have each"
KEPT_EVENT_VALUES = "which values of event attributes are kept"


@dataclass(repr=False)
class Seconds:
    """How long it took, by stage; running times are for the custodian and no part of a release."""

    aggregate: float = 0.0
    privatize: float = 0.0

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Count what is done inside towards a stage."""
        begin = perf_counter()
        try:
            yield
        finally:
            setattr(self, stage, getattr(self, stage) + perf_counter() - begin)


@dataclass(frozen=True, eq=False, repr=False)
class Gate:
    """Where raw counts become released figures.

    Gates made from a gate (`tail`, `with_labels`) write into the same ledger; a subsample has its own, which knows its rate.
    Individuals have `most_cases` at most. Noise is asked for by the mu of one case; the ledger knows that there may be several.

    Example:
        >>> from libra.engines.control_flow_tables import Size
        >>> from libra.engines.polars import engine_of
        >>> from libra.example.simulate import simulate
        >>> gate = Gate(engine_of(simulate(cases=500)), Randomness())
        >>> gate.release(Size(), mu=0.5).sd, gate.ledger().entries[0].mu
        (2.0, 0.5)
    """

    _engine: Engine
    _random: Randomness
    group: Group = "all"
    rate: float = 1.0
    most_cases: int = 1
    seconds: Seconds = field(default_factory=Seconds)
    _entries: list[Entry] = field(default_factory=list)
    _ahead: dict[int, tuple[Table, Integers]] = field(default_factory=dict)
    _of_pairs: dict[Pair, Integers] = field(default_factory=dict)  # counts that were looked at for scores

    def release(self, table: Table, mu: float, group: Group | None = None) -> NoisyTable:
        """The table with rounded Gaussian noise, such that the release is mu-Gaussian-differentially private.

        `group` is "kept" where the table counts cases of kept variants alone; otherwise that of the gate.
        """
        with self.seconds.of("aggregate"):
            counts = self._counts(table)
        with self.seconds.of("privatize"):
            sd = table.clip / mu
            noise = rounded_gaussian(sd * table.scale, counts.size, self._random).reshape(counts.shape)
            self._write(Entry(table.purpose, ROUNDED_GAUSSIAN, table.clip, sd, group or self.group))
            return NoisyTable(counts + noise, table.scale, sd)

    def release_whole(self, table: Table, scale: float, group: Group | None = None) -> NoisyTable:
        """The table with discrete Laplace noise, P(z) proportional to e^(-|z| / scale): pure, with an epsilon of 1 / scale.

        In the table a case counts in one cell, so that it moves one number by 1; `group` as for `release`.
        """
        if not isinstance(table, OneCell):
            raise AssertionError(f'In "{table.purpose}" a case may move several numbers; this noise is for one.')
        with self.seconds.of("aggregate"):
            counts = self._counts(table)
        with self.seconds.of("privatize"):
            noise = discrete_laplace(scale)
            self._write(Entry(table.purpose, DISCRETE_LAPLACE, table.clip, scale, group or self.group))
            sd = geometric_sd(1 / scale)
            return NoisyTable(counts + noise.draw(counts.size, self._random).reshape(counts.shape), table.scale, sd)

    def look_ahead(self, *tables: Table) -> None:
        """Count tables that will be released, in one look at the cases; nothing leaves before they are."""
        with self.seconds.of("aggregate"):
            self._ahead.update(zip(map(id, tables), zip(tables, self._engine.count_all(tables), strict=True), strict=True))

    def _counts(self, table: Table) -> Integers:
        if id(table) in self._ahead:
            return self._ahead.pop(id(table))[1]
        if isinstance(table, Interactions) and all(pair in self._of_pairs for pair in table.pairs):
            counted = (self._of_pairs[one, other].reshape(one.n_cells, other.n_cells) for one, other in table.pairs)
            return interactions_of(list(counted), table)
        return self._engine.count_all([table])[0]

    def select_variants(self, mu: float, threshold: int, scale: int) -> tuple[Traces, NoisyTable]:
        """The variants whose noisy counts, times `scale`, reach the threshold, and these counts, the highest first."""
        with self.seconds.of("aggregate"):
            kept, noisy = highest_first(*self._engine.select_variants(GaussianRule(mu, threshold, scale), self._random))
        shows = variant_shows(mu, threshold, scale, self.most_cases)
        self._write(Entry(KEPT_VARIANTS, VARIANT_SELECTION, 1.0, 1 / mu, self.group, shows))
        return kept, NoisyTable(noisy, scale, 1 / mu)

    def select_labels(self, known: tuple[str, ...], mu: float, threshold: int, most: int | None = None) -> tuple[str, ...]:
        """The labels that are known, and of all others those whose noisy weights reach the threshold; at most so many of them.

        In the order of their names. Weights are those that the cases of this gate give to labels that are not known; the
        threshold is in their whole numbers. Starts of activities give none: their labels go with those of the activities.
        """
        labels = self._engine.labels
        of_known, starts = codes_among(labels, known) >= 0, starts_among(labels) >= 0
        table = LabelWeights(len(labels), np.flatnonzero(of_known | starts))
        if most is not None and starts.any():
            most //= 2
        with self.seconds.of("aggregate"):
            weights = self._counts(table)
        with self.seconds.of("privatize"):
            passed = labels_passing(weights, mu, threshold, table.scale, self._random, most)
            shows = labels_show(mu, threshold, table.scale, MOST_LABELS, self.most_cases)
            self._write(Entry(table.purpose, LABEL_SELECTION, table.clip, 1 / mu, self.group, shows))
        return self._names(np.union1d(np.flatnonzero(of_known), passed))

    def select_values(self, attribute: int, mu: float, threshold: int, scale: int) -> tuple[Integers, NoisyTable]:
        """The values of an attribute whose noisy counts, times `scale`, reach the threshold, and these counts, by value.

        A case has one value of an attribute at most. For a category, a value is its place among the engine's texts.
        """
        with self.seconds.of("aggregate"):
            values, noisy = self._engine.select_values(attribute, GaussianRule(mu, threshold, scale), self._random)
        shows = variant_shows(mu, threshold, scale, self.most_cases)
        self._write(Entry(KEPT_VALUES, VALUE_SELECTION, 1.0, 1 / mu, self.group, shows))
        order = np.argsort(values)
        return values[order], NoisyTable(noisy[order], scale, 1 / mu)

    def select_event_values(self, attribute: int, mu: float, threshold: int, scale: int, most: int) -> Integers:
        """The values of an attribute of events whose noisy weights, times `scale`, reach the threshold; at most so many.

        In ascending order. Of m values a case gives each a weight of 1 / sqrt(m).
        """
        if scale != FINE:
            raise AssertionError("weights are multiplied with the scale of tables whose cases are clipped")
        rule = GaussianRule(mu, threshold, scale, weighed=True)
        with self.seconds.of("aggregate"):
            values, noisy = self._engine.select_event_values(attribute, rule, self._random)
        shows = labels_show(mu, threshold, scale, MOST_LABELS, self.most_cases)
        self._write(Entry(KEPT_EVENT_VALUES, VALUE_SELECTION, 1.0, 1 / mu, self.group, shows))
        return np.sort(values[np.lexsort((values, -noisy))[:most]])

    def texts_of(self, attribute: int, values: Integers) -> tuple[str, ...]:
        """The texts of values that are released, in an order that follows from them."""
        names = self._engine.values[attribute]
        texts = tuple(names[value] for value in values.tolist())
        if any(one >= other for one, other in pairwise(texts)):
            raise AssertionError("the texts of an engine are not in their order, which would say more than they do")
        return texts

    def release_scores(self, pairs: PairCounts, expected: Integers, mu: float) -> NoisyTable:
        """How far each pair is from what was expected: the summed differences of its counts, each of which a case moves by 1."""
        with self.seconds.of("aggregate"):
            counts = self._counts(pairs)
            ends = np.cumsum([one.n_cells * other.n_cells for one, other in pairs.pairs])
            scores = np.add.reduceat(np.abs(counts - expected), np.concatenate(([0], ends[:-1])))
            self._of_pairs.update(zip(pairs.pairs, np.split(counts, ends[:-1]), strict=True))
        with self.seconds.of("privatize"):
            sd = pairs.clip / mu
            self._write(Entry(pairs.purpose, ROUNDED_GAUSSIAN, pairs.clip, sd, self.group))
            return NoisyTable(scores + rounded_gaussian(sd, len(scores), self._random), 1, sd)

    def labels_of(self, kept: Traces) -> tuple[str, ...]:
        """The labels that kept variants have, in the order of their names."""
        return self._names(np.unique(kept.codes))

    def recoded(self, kept: Traces, labels: tuple[str, ...]) -> Traces:
        """Kept variants in the codes of labels that are released; the engine's own codes count labels that are not."""
        return Traces(codes_among(self._engine.labels, labels)[kept.codes], kept.offsets)

    def _names(self, codes: Integers) -> tuple[str, ...]:
        """The names of labels that may be released; where starts are counted, that of an activity's start goes with its own."""
        labels = self._engine.labels
        completion = starts_among(labels)
        with_starts = np.union1d(codes, np.flatnonzero(np.isin(completion, codes)))
        return tuple(labels[code] for code in with_starts)

    def count_variants(self, epsilon: float, bound: int) -> tuple[Traces, NoisyTable]:
        """The variants whose counts, with truncated geometric noise, are above its bound, and these counts, the highest first."""
        with self.seconds.of("aggregate"):
            rule = BoundedRule(geometric_within(epsilon, bound))
            kept, noisy = highest_first(*self._engine.select_variants(rule, self._random))
        self._write(geometric_entry(epsilon, bound))
        return kept, NoisyTable(noisy, 1, geometric_sd(epsilon))

    def tail(self, kept: Traces) -> Gate:
        """The gate to the cases whose trace is none of the kept ones."""
        with self.seconds.of("aggregate"):
            engine = self._engine.tail(kept)
        return Gate(engine, self._random, "tail", self.rate, self.most_cases, self.seconds, self._entries)

    def with_labels(self, labels: tuple[str, ...]) -> Gate:
        """The gate to the same cases without the events of all other labels: for tables alone, the last thing that is done."""
        with self.seconds.of("aggregate"):
            engine = self._engine.with_labels(labels)
        return Gate(engine, self._random, self.group, self.rate, self.most_cases, self.seconds, self._entries)

    def subsampled(self, rate: float) -> Gate:
        """The gate to a Poisson subsample: every case with this probability, independently."""
        with self.seconds.of("aggregate"):
            engine = self._engine.subsampled(rate, self._random)
        return Gate(engine, self._random, self.group, self.rate * rate, self.most_cases, self.seconds)

    def ledger(self, times: int = 1, asked: float | None = None) -> Ledger:
        """What went through so far, done so many times, each on a subsample of its own; `asked` is the mu that could be spent."""
        return Ledger(tuple(self._entries), self.rate, times, self.most_cases, asked)

    def _write(self, entry: Entry) -> None:
        self._entries.append(entry)


def geometric_entry(epsilon: float, bound: int) -> Entry:
    """What stands in the ledger for variant counts with this truncated geometric noise."""
    return Entry(VARIANT_COUNTS, TRUNCATED_GEOMETRIC, 1.0, 1 / epsilon, bound=bound)
