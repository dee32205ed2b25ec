"""Counting: which kernel counts which table, and what it counts it from.

In: a request and a block. Out: what the block adds to the table, `scale` times, in the table's shape. Only `privacy.gate` may
look at the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from libra.engines.contract import Integers, Table
from libra.engines.counting import control_flow, times
from libra.engines.counting.blocks import VariantBlock
from libra.eventlog.cases import Cases

OF_VARIANTS: dict[type, Callable[[VariantBlock, Any], Integers]] = control_flow.COUNTERS
OF_CASES: dict[type, Callable[[Cases, Any], Integers]] = times.COUNTERS
TABLES = frozenset((*OF_VARIANTS, *OF_CASES))


def needs_cases(table: Table) -> bool:
    """Whether a table is counted from whole cases, rather than from distinct traces.

    Example:
        >>> from libra.engines.control_flow_tables import Size
        >>> needs_cases(Size())
        False
    """
    return type(table) in OF_CASES


def count_variants(table: Table, block: VariantBlock) -> Integers:
    """What distinct traces add to a table."""
    return OF_VARIANTS[type(table)](block, table).reshape(table.shape)


def count_cases(table: Table, block: Cases) -> Integers:
    """What whole cases add to a table."""
    return OF_CASES[type(table)](block, table).reshape(table.shape)
