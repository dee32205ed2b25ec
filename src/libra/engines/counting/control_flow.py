"""Counting control flow: every table from the distinct traces and how many cases follow each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from libra.engines.contract import Integers
from libra.engines.control_flow_tables import (
    CASE_LENGTH_BINS,
    LENGTH_BINS,
    MOST_LABELS,
    NORM_BINS,
    BaseEdges,
    BaseNorms,
    CaseLengths,
    CaseNumber,
    Contexts,
    ExcessEdges,
    ExcessNorms,
    LabelWeights,
    Lengths,
    NearestCounts,
    PrefixLevel,
    Size,
    Uses,
    VariantCounts,
    context_uses,
    edge_uses,
)
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.clipping import add_clipped
from libra.eventlog.cases import Traces

CHUNK = 1_000_000  # products of traces and kept variants that are held at once


def _size(block: VariantBlock, table: Size) -> Integers:
    return np.array([block.counts.sum()])


def _variants(block: VariantBlock, table: VariantCounts) -> Integers:
    rows = block.rows_of(table.variants)
    return np.append(block.counts, 0)[rows]  # the last one for those that no case follows


def _nearest(block: VariantBlock, table: NearestCounts) -> Integers:
    """Each distinct trace goes to itself or to the variant with the largest cosine; in chunks, to bound memory.

    Products are sums of whole numbers, exact in any order, and norms come after: no trace's choice depends on other cases.
    """
    if not len(table.variants):
        return np.zeros(0, np.int64)
    cells = (table.n_labels + 1) ** 2
    theirs = edge_uses(table.variants, table.n_labels)
    used, place = np.unique(theirs.cell, return_inverse=True)
    vectors = np.zeros((len(used), len(table.variants)))
    vectors[place, theirs.row] = theirs.times
    norms = np.sqrt((vectors**2).sum(axis=0))
    uses = block.edge_uses.of(used, cells)
    nearest = np.zeros(len(block.traces), np.int64)
    most_rows = max(1, CHUNK // len(table.variants))
    for begin in range(0, len(block.traces), most_rows):
        first, last = np.searchsorted(uses.row, (begin, begin + most_rows))
        own = np.zeros((min(most_rows, len(block.traces) - begin), len(used)))
        own[uses.row[first:last] - begin, np.searchsorted(used, uses.cell[first:last])] = uses.times[first:last]
        nearest[begin : begin + most_rows] = np.argmax((own @ vectors) / norms, axis=1)
    rows = block.rows_of(table.variants)
    nearest[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return np.bincount(nearest, block.counts, minlength=len(table.variants)).astype(np.int64)


def _label_weights(block: VariantBlock, table: LabelWeights) -> Integers:
    """In the order in which labels first occur in a trace, so that which of many count does not depend on other cases' labels."""
    unknown = np.ones(table.n_labels, bool)
    unknown[table.known] = False
    events = np.flatnonzero(unknown[block.traces.codes])
    pairs = block.traces.rows[events] * np.int64(table.n_labels) + block.traces.codes[events]
    pairs = pairs[np.sort(np.unique(pairs, return_index=True)[1])]
    row, label = np.divmod(pairs, max(table.n_labels, 1))
    many = np.bincount(row, minlength=len(block.traces))[row]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    chosen = (many <= MOST_LABELS) | ((place + block.traces.lengths[row]) * MOST_LABELS % np.maximum(many, 1) < MOST_LABELS)
    row, label = row[chosen], label[chosen]
    amounts = np.ones(len(row), np.int64)
    return add_clipped(row, label, table.n_labels, table.clip, table.scale, weights=block.counts, amounts=amounts)


def _lengths(block: VariantBlock, table: Lengths) -> Integers:
    return _binned(block.traces.lengths, LENGTH_BINS, block.counts)


def _base_norms(block: VariantBlock, table: BaseNorms) -> Integers:
    return _binned(block.edge_uses.base().square_norms(len(block.traces)), NORM_BINS, block.counts)


def _excess_norms(block: VariantBlock, table: ExcessNorms) -> Integers:
    return _binned(_excess(block, table).square_norms(len(block.traces)), NORM_BINS, block.counts)


def _base_edges(block: VariantBlock, table: BaseEdges) -> Integers:
    return _clipped(block, block.edge_uses.base(), table)


def _excess_edges(block: VariantBlock, table: ExcessEdges) -> Integers:
    return _clipped(block, _excess(block, table), table)


def _excess(block: VariantBlock, table: ExcessNorms | ExcessEdges) -> Uses:
    return block.edge_uses.excess().of(table.edges, (table.n_labels + 1) ** 2)


def _contexts(block: VariantBlock, table: Contexts) -> Integers:
    return _clipped(block, context_uses(block.traces, table.contexts, table.n_labels).base(), table)


def _binned(values: Integers, left_ends: Any, counts: Integers) -> Integers:
    cells = np.searchsorted(left_ends, values, side="right") - 1
    return np.bincount(cells, counts, minlength=len(left_ends)).astype(np.int64)


def _clipped(block: VariantBlock, uses: Uses, table: BaseEdges | ExcessEdges | Contexts) -> Integers:
    cells = int(np.prod(table.shape))
    return add_clipped(uses.row, uses.cell, cells, table.clip, table.scale, weights=block.counts, amounts=uses.times)


def continuations(traces: Traces, counts: Integers, prefixes: Integers, n_labels: int) -> Integers:
    """How many cases go on from each prefix (a row) to each label, or to the end (the last column).

    Args:
        traces: The traces.
        counts: How many cases follow each.
        prefixes: A row of codes each, all different and equally long.
        n_labels: How many labels there are.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> continuations(traces_of([[0, 1], [0], [1, 0]]), np.array([5, 3, 2]), np.array([[0], [1]]), n_labels=2).tolist()
        [[0, 5, 3], [2, 0, 0]]
    """
    n_prefixes, depth = prefixes.shape
    lengths = traces.lengths
    rows = np.flatnonzero(lengths >= depth) if n_prefixes else np.zeros(0, np.int64)
    events = traces.offsets[rows]
    of_prefix, of_trace, n_found = np.zeros(n_prefixes, np.int64), np.zeros(len(rows), np.int64), 1
    for position in range(depth):
        known, of_prefix = np.unique(of_prefix * n_labels + prefixes[:, position], return_inverse=True)
        number = np.full(n_found * n_labels, -1)  # of each beginning so far with each label; -1 where no prefix is like that
        number[known], n_found = np.arange(len(known)), len(known)
        of_trace = number[of_trace * n_labels + traces.codes[events + position]]
        alike = np.flatnonzero(of_trace >= 0)
        rows, events, of_trace = rows[alike], events[alike], of_trace[alike]
    prefix_of = np.zeros(n_prefixes, np.int64)
    prefix_of[of_prefix] = np.arange(n_prefixes)
    ends = lengths[rows] == depth
    symbol = np.where(ends, n_labels, traces.codes[np.where(ends, 0, events + depth)] if len(rows) else 0)
    cells = n_prefixes * (n_labels + 1)
    found = np.bincount(prefix_of[of_trace] * (n_labels + 1) + symbol, counts[rows], minlength=cells)
    return found.astype(np.int64).reshape(n_prefixes, n_labels + 1)


def _number(block: VariantBlock, table: CaseNumber) -> Integers:
    return np.array([block.counts.sum()])


def _case_lengths(block: VariantBlock, table: CaseLengths) -> Integers:
    cells = np.searchsorted(CASE_LENGTH_BINS, block.traces.lengths, side="right") - 1
    return np.bincount(cells, block.counts, minlength=len(CASE_LENGTH_BINS)).astype(np.int64)


def _level(block: VariantBlock, table: PrefixLevel) -> Integers:
    return continuations(block.traces, block.counts, table.prefixes, table.n_labels)


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {
    Size: _size,
    VariantCounts: _variants,
    NearestCounts: _nearest,
    LabelWeights: _label_weights,
    Lengths: _lengths,
    BaseNorms: _base_norms,
    ExcessNorms: _excess_norms,
    BaseEdges: _base_edges,
    ExcessEdges: _excess_edges,
    Contexts: _contexts,
    CaseNumber: _number,
    CaseLengths: _case_lengths,
    PrefixLevel: _level,
}
