"""Counting control flow: every table from the distinct traces and how many cases follow each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from libra.engines import control_flow_tables as tables
from libra.engines.contract import Integers, Table
from libra.engines.control_flow_tables import PARTS, Uses, context_uses, edge_uses, label_sets
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.clipping import add_clipped
from libra.eventlog.cases import Traces

CHUNK = 1_000_000  # products of traces and kept variants, or of labels in traces, that are held at once


def _nearest(block: VariantBlock, table: tables.NearestCounts) -> Integers:
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


def _label_weights(block: VariantBlock, table: tables.LabelWeights) -> Integers:
    """In the order in which labels first occur in a trace, so that which of many count does not depend on other cases' labels."""
    unknown = np.ones(table.n_labels, bool)
    unknown[table.known] = False
    events = np.flatnonzero(unknown[block.traces.codes])
    pairs = block.traces.rows[events] * np.int64(table.n_labels) + block.traces.codes[events]
    pairs = pairs[np.sort(np.unique(pairs, return_index=True)[1])]
    row, label = np.divmod(pairs, max(table.n_labels, 1))
    many = np.bincount(row, minlength=len(block.traces))[row]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    chosen = (many <= tables.MOST_LABELS) | (
        (place + block.traces.lengths[row]) * tables.MOST_LABELS % np.maximum(many, 1) < tables.MOST_LABELS
    )
    return _clipped(block, Uses(row[chosen], label[chosen], np.ones(chosen.sum(), np.int64)), table)


def continuations(traces: Traces, counts: Integers, prefixes: Integers, n_labels: int) -> Integers:
    """How many cases go on from each prefix (a row) to each label, or to the end (the last column).

    `counts[i]` cases follow trace i; prefixes are rows of codes, all different and equally long.

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
        if not len(rows):
            return np.zeros((n_prefixes, n_labels + 1), np.int64)
    prefix_of = np.zeros(n_prefixes, np.int64)
    prefix_of[of_prefix] = np.arange(n_prefixes)
    ends = lengths[rows] == depth
    symbol = np.where(ends, n_labels, traces.codes[np.where(ends, 0, events + depth)] if len(rows) else 0)
    cells = n_prefixes * (n_labels + 1)
    found = np.bincount(prefix_of[of_trace] * (n_labels + 1) + symbol, counts[rows], minlength=cells)
    return found.astype(np.int64).reshape(n_prefixes, n_labels + 1)


def _binned(values: Integers, left_ends: Any, counts: Integers) -> Integers:
    cells = np.searchsorted(left_ends, values, side="right") - 1
    return np.bincount(cells, counts, minlength=len(left_ends)).astype(np.int64)


def _square_norms(block: VariantBlock, uses: Uses) -> Integers:
    return _binned(uses.square_norms(len(block.traces)), tables.NORM_BINS, block.counts)


def _excess(block: VariantBlock, table: tables.ExcessNorms | tables.ExcessEdges) -> Uses:
    return block.edge_uses.excess().of(table.edges, (table.n_labels + 1) ** 2)


def _clipped(block: VariantBlock, uses: Uses, table: Table) -> Integers:
    cells = int(np.prod(table.shape))
    return add_clipped(uses.row, uses.cell, cells, table.clip, table.scale, weights=block.counts, amounts=uses.times)


def _base(block: VariantBlock, table: tables.BaseEdges) -> Integers:
    return _clipped(block, block.edge_uses.base(), table)


def _occurring(block: VariantBlock, table: tables.Occurring) -> Integers:
    """The sets of labels that traces have, each with the cases of all of its traces; so for the products."""
    sets, cases = _sets(block, table)
    row, cell = np.nonzero(sets)
    return add_clipped(row, cell, len(table.labels), table.clip, table.scale, weights=cases)


def _together(block: VariantBlock, table: tables.Together) -> Integers:
    """Products of parts are whole numbers, `PARTS` squared to the unit."""
    sets, cases = _sets(block, table)
    one, other = np.triu_indices(len(table.labels), 1)
    unit, total = PARTS**2, np.zeros(len(one), np.int64)
    most_rows = max(1, CHUNK // max(len(one), 1))
    for begin in range(0, len(sets), most_rows):
        some = PARTS * sets[begin : begin + most_rows].astype(np.int64) - table.usual
        products = some[:, one] * some[:, other]
        row, cell = np.nonzero(products)
        weights, amounts = cases[begin : begin + most_rows], products[row, cell]
        total += add_clipped(row, cell, len(one), table.clip * unit, table.scale // unit, weights=weights, amounts=amounts)
    return total


def _sets(block: VariantBlock, table: tables.Occurring | tables.Together) -> tuple[Integers, Integers]:
    sets, kind = label_sets(block.traces, table.labels, table.n_labels)
    return sets, np.bincount(kind, block.counts, minlength=len(sets)).astype(np.int64)


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {
    tables.Size: lambda block, table: block.counts.sum(),
    tables.CaseNumber: lambda block, table: block.counts.sum(),
    tables.RareCases: lambda block, table: np.minimum(block.counts, np.maximum(2 * table.most - block.counts, 0)).sum(),
    tables.VariantCounts: lambda block, table: np.append(block.counts, 0)[block.rows_of(table.variants)],  # 0 where no case is
    tables.NearestCounts: _nearest,
    tables.LabelWeights: _label_weights,
    tables.Lengths: lambda block, table: _binned(block.traces.lengths, tables.LENGTH_BINS, block.counts),
    tables.CaseLengths: lambda block, table: _binned(block.traces.lengths, tables.CASE_LENGTH_BINS, block.counts),
    tables.BaseNorms: lambda block, table: _square_norms(block, block.edge_uses.base()),
    tables.ExcessNorms: lambda block, table: _square_norms(block, _excess(block, table)),
    tables.BaseEdges: lambda block, table: _base(block.direct if table.direct else block, table),
    tables.DoubtfulEdges: lambda block, table: _clipped(
        block.direct, block.direct.edge_uses.base().among(table.edges, (table.n_labels + 1) ** 2), table
    ),
    tables.ExcessEdges: lambda block, table: _clipped(block, _excess(block, table), table),
    tables.Contexts: lambda block, table: _clipped(
        block, context_uses(block.traces, table.contexts, table.n_labels).base(), table
    ),
    tables.Occurring: _occurring,
    tables.Together: _together,
    tables.PrefixLevel: lambda block, table: continuations(block.traces, block.counts, table.prefixes, table.n_labels),
}
