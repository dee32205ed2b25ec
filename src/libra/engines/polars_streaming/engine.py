"""The engine for logs larger than memory: whole cases in blocks that spill, every table counted block by block.

In: a store of cases. Out: what the contract asks. A pass over the blocks serves all tables that are asked for together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from libra.engines.contract import Integers, Table, VariantRule
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.count import count_cases, count_variants, needs_cases
from libra.engines.counting.labels import codes_among, relabelled, relabelled_block
from libra.engines.polars_streaming.stores import Store
from libra.engines.sampling import chosen
from libra.eventlog.cases import Cases, Traces, concatenated
from libra.parallel import in_order
from libra.privacy.randomness import Randomness

Block = TypeVar("Block")


@dataclass(frozen=True, eq=False, repr=False)
class StreamingEngine:
    """Raw cases in a store, behind the contract; `kept` are the variants that a tail is without, `chosen` the labels that stay.

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
    chosen: tuple[str, ...] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that codes stand for."""
        return self.store.labels if self.chosen is None else self.chosen

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        """For each table `scale` times the counts, in its shape; in one pass over cases and one over distinct traces."""
        of_cases = [table for table in tables if needs_cases(table)]
        if of_cases and self.kept is not None:
            raise AssertionError("tables about times are about all cases, not about a tail")
        from_cases = _summed(of_cases, count_cases, self._cases())
        of_variants = [table for table in tables if not needs_cases(table)]
        from_variants = _summed(of_variants, count_variants, self._variants())
        return [next(from_cases if needs_cases(table) else from_variants) for table in tables]

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these; drawn block by block, each block once."""
        self._refuse_fewer_labels()
        traces, counts = [], [np.zeros(0, np.int64)]
        for block in self._variants():
            rows, noisy = rule.passing(block.counts, random)
            traces.append(block.traces.take(rows))
            counts.append(noisy)
        return concatenated(traces), np.concatenate(counts)

    def subsampled(self, rate: float, random: Randomness) -> StreamingEngine:
        """Every case with probability `rate`, independently."""
        self._refuse_tail()
        self._refuse_fewer_labels()
        drawn = (np.flatnonzero(chosen(random.words(len(block)), rate)) for block in self.store.cases())
        parts = (partial(block.take, rows) for block, rows in zip(self.store.cases(), drawn, strict=True))
        return StreamingEngine(Store(self.labels, parts, len(self.store)))

    def tail(self, kept: Traces) -> StreamingEngine:
        """The cases whose trace is none of the kept ones."""
        self._refuse_tail()
        self._refuse_fewer_labels()
        return StreamingEngine(self.store, kept)

    def with_labels(self, labels: tuple[str, ...]) -> StreamingEngine:
        """The same cases without the events of all other labels; a case with none left is left out. For tables alone."""
        self._refuse_fewer_labels()
        return self if labels == self.labels else replace(self, chosen=labels)

    def close(self) -> None:
        """Forget all cases."""
        self.store.close()

    def _refuse_tail(self) -> None:
        if self.kept is not None:
            raise AssertionError("what a tail is of is settled before it is taken")

    def _refuse_fewer_labels(self) -> None:
        if self.chosen is not None:
            raise AssertionError("labels are dropped last, for tables alone")

    @cached_property
    def _new_codes(self) -> Integers:
        return codes_among(self.store.labels, self.labels)

    def _cases(self) -> Iterator[Cases]:
        for block in self.store.cases():
            yield block if self.chosen is None else relabelled(block, self._new_codes, len(self.labels))

    def _variants(self) -> Iterator[VariantBlock]:
        for block in self.store.variants():
            block = block if self.kept is None else block.take(block.without(self.kept))
            yield block if self.chosen is None else relabelled_block(block, self._new_codes, len(self.labels))


def _summed(tables: Sequence[Table], count: Callable[[Table, Block], Integers], blocks: Iterator[Block]) -> Iterator[Integers]:
    """What all blocks add to each table; where no table is asked for, no block is looked at."""
    sums = [np.zeros(table.shape, np.int64) for table in tables]
    if tables:
        for counts in in_order(lambda block: [count(table, block) for table in tables], blocks):
            for total, added in zip(sums, counts, strict=True):
                total += added
    return iter(sums)
