"""Blocks: the pieces in which an engine holds what it counts, whole cases or distinct traces.

Every table is a sum over cases. Those about times are counted from blocks of `Cases`; those about control flow from blocks of
distinct traces, of which no two blocks of an engine have one in common as long as all labels are there (with fewer labels they
may: no table relies on it). What a block adds are whole numbers, so the sum is the same however cases are divided into blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.engines.contract import Integers
from libra.engines.control_flow_tables import Uses, edge_uses
from libra.eventlog.cases import Cases, Traces


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


def distinct(traces: Traces, counts: Integers, n_labels: int) -> VariantBlock:
    """Every distinct trace once, in no order that means anything."""
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


def codes_among(labels: Sequence[str], staying: Sequence[str]) -> Integers:
    """For the code of every label its code among those that stay, -1 for one that does not."""
    code = {label: i for i, label in enumerate(staying)}
    return np.array([code.get(label, -1) for label in labels], np.int64)


def relabelled(cases: Cases, new_codes: Integers, n_labels: int) -> Cases:
    """The same cases in new codes, without the events whose new code is -1; a case with none left is left out.

    Example:
        >>> cases = Cases(*map(np.array, ([1, 0, 1, 0], [1, 2, 3, 4], [0, 3, 4], [0, 1])), n_activities=2)
        >>> fewer = relabelled(cases, np.array([-1, 0]), 1)
        >>> fewer.codes.tolist(), fewer.micros.tolist(), fewer.offsets.tolist()
        ([0, 0], [1, 3], [0, 2])
    """
    new, stays, left = _left(cases.codes, cases.offsets, new_codes)
    return Cases(new[stays], cases.micros[stays], left, np.zeros(len(left) - 1, np.int64), n_labels)


def relabelled_block(block: VariantBlock, new_codes: Integers, n_labels: int) -> VariantBlock:
    """The same traces in new codes, likewise; those that have become equal are one.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> block = VariantBlock(traces_of([[0, 1], [1], [0]]), np.array([5, 2, 1]), n_labels=2)
        >>> fewer = relabelled_block(block, np.array([-1, 0]), 1)
        >>> fewer.traces.to_lists(), fewer.counts.tolist()
        ([[0]], [7])
    """
    traces = block.traces
    new, stays, left = _left(traces.codes, traces.offsets, new_codes)
    some = np.bincount(traces.rows[stays], minlength=len(traces)) > 0
    return distinct(Traces(new[stays], left), block.counts[some], n_labels)


def _left(codes: Integers, offsets: Integers, new_codes: Integers) -> tuple[Integers, npt.NDArray[np.bool_], Integers]:
    """The new code of every event, which events stay, and where the rows that have any left begin and end."""
    new = new_codes[codes] if len(codes) else codes
    stays = new >= 0
    return new, stays, np.unique(np.concatenate(([0], np.cumsum(stays)))[offsets])
