"""Blocks: the pieces in which an engine holds what it counts, whole cases or distinct traces.

Every table is a sum over cases. Those about times are counted from blocks of `Cases`; those about control flow from blocks of
distinct traces, of which no two blocks of an engine have one in common as long as all labels are there (with fewer labels they
may: no table relies on it). What a block adds are whole numbers, so the sum is the same however cases are divided into blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from libra.engines.contract import Integers
from libra.engines.features import Uses, edge_uses
from libra.eventlog.cases import Traces


@dataclass(frozen=True, eq=False, repr=False)
class VariantBlock:
    """Distinct traces; `counts[i]` cases follow row i of `traces`.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> block = VariantBlock(traces_of([[0, 1], [1]]), np.array([5, 2]), n_labels=2)
        >>> block.rows_of(traces_of([[1], [0]])).tolist()
        [1, -1]
    """

    traces: Traces
    counts: Integers
    n_labels: int

    @cached_property
    def edge_uses(self) -> Uses:
        """How often each trace uses each edge."""
        return edge_uses(self.traces, self.n_labels)

    def rows_of(self, variants: Traces) -> Integers:
        """The row of each of these variants, -1 for one that no case follows."""
        row = self._row_of
        return np.array([row.get(trace, -1) for trace in variants.as_bytes()], np.int64)

    def without(self, kept: Traces) -> Integers:
        """The rows of all traces but these."""
        others = np.ones(len(self.traces), bool)
        rows = self.rows_of(kept)
        others[rows[rows >= 0]] = False
        return np.flatnonzero(others)

    def take(self, rows: Integers) -> VariantBlock:
        """The traces in these rows."""
        return VariantBlock(self.traces.take(rows), self.counts[rows], self.n_labels)

    @cached_property
    def _row_of(self) -> dict[bytes, int]:
        """Rows by trace: exact, because a lookup that confuses two traces would let one case change the counts of another."""
        return {trace: row for row, trace in enumerate(self.traces.as_bytes())}
