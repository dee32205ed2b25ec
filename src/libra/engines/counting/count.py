"""Counting: what a block of cases or of distinct traces adds to a table. Only `privacy.gate` may look at the sum."""

from __future__ import annotations

import numpy as np

from libra.engines.contract import Integers, Table
from libra.engines.counting import attributes, control_flow, events, times
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.clipping import add_clipped
from libra.eventlog.cases import Cases

OF_CASES = {**times.COUNTERS, **attributes.COUNTERS, **events.COUNTERS}
OCCURRENCES = {**times.OCCURRENCES, **events.OCCURRENCES}
TABLES = frozenset((*control_flow.COUNTERS, *times.CELLS, *OCCURRENCES, *OF_CASES))


def needs_cases(table: Table) -> bool:
    """Whether a table is counted from whole cases, rather than from distinct traces."""
    return type(table) not in control_flow.COUNTERS


def count(table: Table, block: Cases | VariantBlock) -> Integers:
    """What a block adds to a table, `scale` times, in the table's shape; whole cases where the table needs them.

    Example:
        >>> from libra.engines.control_flow_tables import Lengths
        >>> from libra.eventlog.cases import traces_of
        >>> count(Lengths(), VariantBlock(traces_of([[0, 1], [1]]), np.array([5, 2]), n_labels=2))[:4].tolist()
        [0, 2, 5, 0]
    """
    kind, cells = type(table), int(np.prod(table.shape))
    if not needs_cases(table):
        counts = control_flow.COUNTERS[kind](block, table)
    elif kind in OF_CASES:
        counts = OF_CASES[kind](block, table)
    elif kind in times.CELLS:
        counts = np.bincount(times.CELLS[kind](block, table), minlength=cells)
    else:
        counts = add_clipped(*OCCURRENCES[kind](block, table), cells, table.clip, table.scale)
    return counts.reshape(table.shape)
