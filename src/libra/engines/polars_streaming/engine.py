"""The engine for logs larger than memory: whole cases in blocks that spill, every table counted block by block.

In: a store of cases. Out: what the contract asks. A pass over the blocks serves all tables that are asked for together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from libra.engines.contract import Integers, LabelRule, Table, VariantRule
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.count import count_cases, count_variants, needs_cases
from libra.engines.counting.labels import label_pairs, relabelled
from libra.engines.polars_streaming.stores import Store
from libra.engines.sampling import chosen
from libra.eventlog.traces import Traces, concatenated
from libra.parallel import in_order
from libra.privacy.randomness import Randomness

Block = TypeVar("Block")


@dataclass(frozen=True, eq=False, repr=False)
class StreamingEngine:
    """Raw cases in a store, behind the contract; `kept` are the variants that a tail is without.

    Example:
        >>> from libra.engines.control_flow_tables import Size
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> engine = StreamingEngine(Store(tuple(log.activities), [lambda: cases_of(log)], 1))
        >>> engine.count_all([Size()])[0].tolist()
        [50]
    """

    store: Store
    kept: Traces | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that codes stand for."""
        return self.store.labels

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        """For each table `scale` times the counts, in its shape; in one pass over cases and one over distinct traces."""
        of_cases = [table for table in tables if needs_cases(table)]
        if of_cases and self.kept is not None:
            raise AssertionError("tables about times are about all cases, not about a tail")
        from_cases = _summed(of_cases, count_cases, self.store.cases())
        of_variants = [table for table in tables if not needs_cases(table)]
        from_variants = _summed(of_variants, count_variants, self._variants())
        return [next(from_cases if needs_cases(table) else from_variants) for table in tables]

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these; drawn block by block, each block once."""
        traces, counts = [], [np.zeros(0, np.int64)]
        for block in self._variants():
            rows, noisy = rule.passing(block.counts, random)
            traces.append(block.traces.take(rows))
            counts.append(noisy)
        return concatenated(traces), np.concatenate(counts)

    def select_labels(self, rule: LabelRule, random: Randomness) -> tuple[str, ...]:
        """The labels whose noisy weights pass, sorted."""
        sums, there = np.zeros(len(self.labels), np.int64), np.zeros(len(self.labels), bool)
        for block in self.store.cases():
            codes, weights = rule.weights(*label_pairs(block), random)
            sums[codes] += weights
            there[codes] = True
        codes = np.flatnonzero(there)
        return tuple(sorted(self.labels[code] for code in codes[rule.passing(sums[codes], random)]))

    def subsampled(self, rate: float, random: Randomness) -> StreamingEngine:
        """Every case with probability `rate`, independently."""
        self._refuse_tail()
        drawn = (np.flatnonzero(chosen(random.words(len(block)), rate)) for block in self.store.cases())
        parts = (partial(block.take, rows) for block, rows in zip(self.store.cases(), drawn, strict=True))
        return StreamingEngine(Store(self.labels, parts, len(self.store)))

    def tail(self, kept: Traces) -> StreamingEngine:
        """The cases whose trace is none of the kept ones."""
        self._refuse_tail()
        return StreamingEngine(self.store, kept)

    def with_labels(self, labels: tuple[str, ...]) -> StreamingEngine:
        """The same cases without the events of all other labels; a case with none left is left out."""
        self._refuse_tail()
        parts = (partial(relabelled, block, self.labels, labels) for block in self.store.cases())
        return StreamingEngine(Store(labels, parts, len(self.store)))

    def close(self) -> None:
        """Forget all cases."""
        self.store.close()

    def _refuse_tail(self) -> None:
        if self.kept is not None:
            raise AssertionError("what a tail is of is settled before it is taken")

    def _variants(self) -> Iterator[VariantBlock]:
        for block in self.store.variants():
            yield block if self.kept is None else block.take(block.without(self.kept))


def _summed(tables: Sequence[Table], count: Callable[[Table, Block], Integers], blocks: Iterator[Block]) -> Iterator[Integers]:
    """What all blocks add to each table; where no table is asked for, no block is looked at."""
    sums = [np.zeros(table.shape, np.int64) for table in tables]
    if tables:
        for counts in in_order(lambda block: [count(table, block) for table in tables], blocks):
            for total, added in zip(sums, counts, strict=True):
                total += added
    return iter(sums)
