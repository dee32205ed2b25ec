"""Distinct traces: equal ones brought together and their counts added up, exactly and without a loop.

In: traces, each with the number of cases that follow it. Out: every distinct trace once. Traces are sorted by a fingerprint and
then compared code by code with the first of their fingerprint; where two different ones share it, which next to never happens,
they are compared byte by byte.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from libra.engines.contract import Integers
from libra.engines.counting.blocks import VariantBlock
from libra.eventlog.cases import Traces


def distinct(traces: Traces, counts: Integers, n_labels: int) -> VariantBlock:
    """Every distinct trace once, in no order that means anything.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> block = distinct(traces_of([[0, 1], [1], [0, 1]]), np.array([1, 1, 5]), n_labels=2)
        >>> sorted(zip(block.traces.to_lists(), block.counts.tolist()))
        [([0, 1], 6), ([1], 1)]
    """
    if not len(traces):
        return VariantBlock(traces, counts, n_labels)
    prints = traces.fingerprints()
    order = np.argsort(prints)
    prints = prints[order]
    new = np.concatenate(([True], prints[1:] != prints[:-1]))
    first = order[new]
    group = np.empty(len(traces), np.int64)
    group[order] = np.cumsum(new) - 1
    if not _as_first(traces, first[group]):
        group, first = _compared(traces)
    summed = np.zeros(len(first), np.int64)
    np.add.at(summed, group, counts)
    return VariantBlock(traces.take(first), summed, n_labels)


def _as_first(traces: Traces, first: Integers) -> bool:
    """Whether every trace equals the one in the row given for it."""
    lengths = traces.lengths
    if not np.array_equal(lengths, lengths[first]):
        return False
    others = np.repeat(traces.offsets[first] - traces.offsets[:-1], lengths)
    return bool((traces.codes[others + np.arange(len(others))] == traces.codes).all())


def _compared(traces: Traces) -> tuple[Integers, Integers]:
    """For every trace the number of its like, and for each of these the first row."""
    whole = pl.Series("trace", traces.as_bytes(), dtype=pl.Binary).to_frame().with_row_index("row")
    groups = whole.group_by("trace", maintain_order=True).agg("row")
    group = np.empty(len(traces), np.int64)
    group[groups["row"].explode().to_numpy()] = np.repeat(np.arange(groups.height), groups["row"].list.len().to_numpy())
    return group, groups["row"].list.first().to_numpy().astype(np.int64)
