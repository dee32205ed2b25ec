"""Counting control flow: every table from the distinct traces and how many cases follow each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from libra.engines.contract import Integers
from libra.engines.control_flow_tables import (
    LENGTH_BINS,
    NORM_BINS,
    BaseEdges,
    BaseNorms,
    Contexts,
    ExcessEdges,
    ExcessNorms,
    Lengths,
    NearestCounts,
    Size,
    VariantCounts,
)
from libra.engines.features import Uses, context_uses, edge_uses
from libra.engines.polars.clipping import add_clipped

if TYPE_CHECKING:
    from libra.engines.polars.engine import PolarsEngine

CHUNK = 1_000_000  # products of traces and kept variants that are held at once


def _size(engine: PolarsEngine, table: Size) -> Integers:
    return np.array([engine.counts.sum()])


def _variants(engine: PolarsEngine, table: VariantCounts) -> Integers:
    rows = engine.rows_of(table.variants)
    return np.append(engine.counts, 0)[rows]  # the last one for those that no case follows


def _nearest(engine: PolarsEngine, table: NearestCounts) -> Integers:
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
    uses = engine.edge_uses.of(used, cells)
    nearest = np.zeros(len(engine.traces), np.int64)
    most_rows = max(1, CHUNK // len(table.variants))
    for begin in range(0, len(engine.traces), most_rows):
        first, last = np.searchsorted(uses.row, (begin, begin + most_rows))
        own = np.zeros((min(most_rows, len(engine.traces) - begin), len(used)))
        own[uses.row[first:last] - begin, np.searchsorted(used, uses.cell[first:last])] = uses.times[first:last]
        nearest[begin : begin + most_rows] = np.argmax((own @ vectors) / norms, axis=1)
    rows = engine.rows_of(table.variants)
    nearest[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return np.bincount(nearest, engine.counts, minlength=len(table.variants)).astype(np.int64)


def _lengths(engine: PolarsEngine, table: Lengths) -> Integers:
    return _binned(engine.traces.lengths, LENGTH_BINS, engine.counts)


def _base_norms(engine: PolarsEngine, table: BaseNorms) -> Integers:
    return _binned(engine.edge_uses.base().square_norms(len(engine.traces)), NORM_BINS, engine.counts)


def _excess_norms(engine: PolarsEngine, table: ExcessNorms) -> Integers:
    return _binned(_excess(engine, table).square_norms(len(engine.traces)), NORM_BINS, engine.counts)


def _base_edges(engine: PolarsEngine, table: BaseEdges) -> Integers:
    return _clipped(engine, engine.edge_uses.base(), table)


def _excess_edges(engine: PolarsEngine, table: ExcessEdges) -> Integers:
    return _clipped(engine, _excess(engine, table), table)


def _excess(engine: PolarsEngine, table: ExcessNorms | ExcessEdges) -> Uses:
    return engine.edge_uses.excess().of(table.edges, (table.n_labels + 1) ** 2)


def _contexts(engine: PolarsEngine, table: Contexts) -> Integers:
    return _clipped(engine, context_uses(engine.traces, table.contexts, table.n_labels).base(), table)


def _binned(values: Integers, left_ends: Any, counts: Integers) -> Integers:
    cells = np.searchsorted(left_ends, values, side="right") - 1
    return np.bincount(cells, counts, minlength=len(left_ends)).astype(np.int64)


def _clipped(engine: PolarsEngine, uses: Uses, table: BaseEdges | ExcessEdges | Contexts) -> Integers:
    cells = int(np.prod(table.shape))
    return add_clipped(uses.row, uses.cell, cells, table.clip, table.scale, weights=engine.counts, amounts=uses.times)


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {
    Size: _size,
    VariantCounts: _variants,
    NearestCounts: _nearest,
    Lengths: _lengths,
    BaseNorms: _base_norms,
    ExcessNorms: _excess_norms,
    BaseEdges: _base_edges,
    ExcessEdges: _excess_edges,
    Contexts: _contexts,
}
