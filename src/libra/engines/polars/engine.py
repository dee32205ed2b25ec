"""The engine in memory: cases as arrays, their variants found once, every table counted by the function for its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from libra.engines.contract import Integers, Table
from libra.engines.features import Uses, edge_uses
from libra.engines.polars import control_flow, prefixes, times
from libra.engines.polars.individuals import drawn_cases
from libra.eventlog.cases import Cases, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.traces import Traces
from libra.eventlog.variants import Variants, variants_of
from libra.privacy.randomness import Randomness
from libra.privacy.unit import CASE, Unit

COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {**control_flow.COUNTERS, **prefixes.COUNTERS, **times.COUNTERS}


@dataclass(frozen=True, eq=False, repr=False)
class PolarsEngine:
    """Raw cases in memory, behind the contract.

    `counts[i]` cases follow row i of `traces`; the cases themselves are among `of_log`, those whose variant is in `rows`.

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

    @cached_property
    def cases(self) -> Cases:
        """The cases, with their times."""
        if len(self.of_log) == self.counts.sum():
            return self.of_log
        chosen = np.zeros(self.of_log.variant.max(initial=-1) + 1, bool)
        chosen[self.rows] = True
        return self.of_log.take(np.flatnonzero(chosen[self.of_log.variant]))

    @cached_property
    def edge_uses(self) -> Uses:
        """How often each trace uses each edge."""
        return edge_uses(self.traces, len(self.labels))

    def count(self, table: Table) -> Integers:
        """`scale` times the counts, in the shape of the table."""
        return COUNTERS[type(table)](self, table).reshape(table.shape)

    def variants(self) -> tuple[Traces, Integers]:
        """The distinct traces and how many cases follow each."""
        return self.traces, self.counts

    def label_sets(self) -> tuple[Integers, Integers]:
        """Case and label (each pair once) of everything that happens, ordered by case."""
        case = np.repeat(np.arange(len(self.cases)), self.cases.lengths)
        n_labels = max(len(self.labels), 1)
        case, label = np.divmod(np.unique(case * n_labels + self.cases.codes), n_labels)
        return case, label

    def subsampled(self, rate: float, random: Randomness) -> PolarsEngine:
        """Every case with probability `rate`, independently."""
        at_most = np.uint64(min(int(Fraction(rate) * 2**64), 2**64 - 1))  # the probability is the rate or a hair less
        return self.restricted(np.flatnonzero(random.words(len(self.cases)) < at_most))

    def restricted(self, numbers: Integers) -> PolarsEngine:
        """Only the cases of these numbers."""
        cases = self.cases.take(numbers)
        counts = np.bincount(cases.variant, minlength=self.rows.max(initial=-1) + 1)[self.rows]
        present = np.flatnonzero(counts)
        return replace(self, of_log=cases, rows=self.rows[present], traces=self.traces.take(present), counts=counts[present])

    def tail(self, kept: Traces) -> PolarsEngine:
        """The cases whose trace is none of the kept ones."""
        others = np.ones(len(self.traces), bool)
        rows = self.rows_of(kept)
        others[rows[rows >= 0]] = False
        rows = np.flatnonzero(others)
        return replace(self, rows=self.rows[rows], traces=self.traces.take(rows), counts=self.counts[rows])

    def with_labels(self, labels: tuple[str, ...]) -> PolarsEngine:
        """The same cases without the events of all other labels; a case with none left is left out."""
        code = {label: i for i, label in enumerate(labels)}
        new = np.array([code.get(label, -1) for label in self.labels], np.int64)[self.cases.codes]
        stays = new >= 0
        left = np.unique(np.concatenate(([0], np.cumsum(stays)))[self.cases.offsets])
        found = variants_of(new[stays].astype(np.uint32), left)
        cases = Cases(new[stays], self.cases.micros[stays], left, found.of_case, len(labels))
        return _engine(cases, found, labels)

    def rows_of(self, variants: Traces) -> Integers:
        """The row of each of these variants, -1 for one that no case follows."""
        row = self._row_of
        return np.array([row.get(trace, -1) for trace in variants.as_bytes()], np.int64)

    @cached_property
    def _row_of(self) -> dict[bytes, int]:
        """Rows by trace: exact, because a lookup that confuses two traces would let one case change the counts of another."""
        return {trace: row for row, trace in enumerate(self.traces.as_bytes())}


def engine_of(log: EventLog, unit: Unit = CASE, random: Randomness | None = None) -> PolarsEngine:
    """The engine of a log; where individuals are protected, of as many cases of each as count.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> traces, counts = engine_of(log).variants()
        >>> len(traces) == len(log.variants), int(counts.sum())
        (True, 50)
    """
    whole = _engine(cases_of(log), log.variants, tuple(log.activities))
    if unit.most_cases is None or log.individual is None:
        return whole
    return whole.restricted(drawn_cases(log.cases[log.individual], unit.most_cases, random or Randomness()))


def _engine(cases: Cases, found: Variants, labels: tuple[str, ...]) -> PolarsEngine:
    lengths = found.traces["trace"].list.len().to_numpy()
    codes = found.traces["trace"].explode(empty_as_null=False).to_numpy().astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return PolarsEngine(cases, np.arange(len(found)), Traces(codes, offsets), found.counts, labels)
