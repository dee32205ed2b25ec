"""Blocks: the pieces in which an engine holds what it counts, whole cases or distinct traces.

Every table is a sum over cases, but for `RareCases`, a sum over variants. Those about times are counted from blocks of `Cases`;
those about control flow from blocks of distinct traces, of which no two blocks of an engine have one in common as long as all
labels are there. With fewer labels they may: then `RareCases` is not asked. What a block adds are whole numbers, so the sum is
the same however cases are divided into blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from libra.engines.contract import Integers
from libra.engines.control_flow_tables import Uses, edge_uses
from libra.eventlog.cases import Cases, Traces


@dataclass(frozen=True, eq=False, repr=False)
class VariantBlock:
    """Distinct traces; `counts[i]` cases follow row i of `traces`. Where labels were dropped, `before` has -1 for their events.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> block = VariantBlock(traces_of([[0, 1], [1]]), np.array([5, 2]), n_labels=2)
        >>> block.rows_of(traces_of([[1], [0]])).tolist()
        [1, -1]
    """

    traces: Traces
    counts: Integers
    n_labels: int
    before: VariantBlock | None = None

    @property
    def direct(self) -> VariantBlock:
        """The same cases with all events: two that one was dropped between do not follow each other."""
        return self if self.before is None else self.before

    @cached_property
    def edge_uses(self) -> Uses:
        """How often each trace uses each edge."""
        return edge_uses(self.traces, self.n_labels)

    def rows_of(self, variants: Traces) -> Integers:
        """The row of each of these variants, -1 for one that no case follows."""
        return np.array([self._row_of.get(trace, -1) for trace in variants.as_bytes()], np.int64)

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


Block = TypeVar("Block", Cases, VariantBlock)


def distinct(traces: Traces, counts: Integers, n_labels: int) -> VariantBlock:
    """Every distinct trace once, in no order that means anything."""
    if not len(traces):
        return VariantBlock(traces, counts, n_labels)
    group = np.unique(traces.fingerprints(), return_inverse=True)[1]
    some = _one_of_each(group)
    like = traces.take(some[group])
    if not (np.array_equal(like.offsets, traces.offsets) and np.array_equal(like.codes, traces.codes)):  # two share a fingerprint
        numbers: dict[bytes, int] = {}
        group = np.array([numbers.setdefault(trace, len(numbers)) for trace in traces.as_bytes()])
        some = _one_of_each(group)
    summed = np.zeros(len(some), np.int64)
    np.add.at(summed, group, counts)
    return VariantBlock(traces.take(some), summed, n_labels)


def _one_of_each(group: Integers) -> Integers:
    """A row of each group, as a number per row."""
    some = np.zeros(group.max() + 1, np.int64)
    some[group] = np.arange(len(group))
    return some


def offsets_of(lengths: npt.NDArray[Any]) -> Integers:
    """Where rows of these lengths begin, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def codes_among(labels: Sequence[str], staying: Sequence[str]) -> Integers:
    """For the code of every label its code among those that stay, -1 for one that does not."""
    code = {label: i for i, label in enumerate(staying)}
    return np.array([code.get(label, -1) for label in labels], np.int64)


def relabelled(block: Block, new_codes: Integers, n_labels: int) -> Block:
    """The same cases or traces in new codes, without the events whose new code is -1; those with none left are left out.

    Traces that have become equal are one.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> block = VariantBlock(traces_of([[0, 1], [1], [0]]), np.array([5, 2, 1]), n_labels=2)
        >>> fewer = relabelled(block, np.array([-1, 0]), 1)
        >>> fewer.traces.to_lists(), fewer.counts.tolist()
        ([[0]], [7])
    """
    traces = block.traces if isinstance(block, VariantBlock) else Traces(block.codes, block.offsets)
    new = new_codes[traces.codes] if len(traces.codes) else traces.codes
    stays = new >= 0
    left = np.unique(np.concatenate(([0], np.cumsum(stays)))[traces.offsets])
    if isinstance(block, VariantBlock):
        some = np.bincount(traces.rows[stays], minlength=len(traces)) > 0
        before = VariantBlock(Traces(new, traces.offsets), block.counts, n_labels)
        return replace(distinct(Traces(new[stays], left), block.counts[some], n_labels), before=before)
    kept = np.bincount(traces.rows[stays], minlength=len(traces)) > 0
    attributes = tuple(values[kept] for values in block.attributes)
    of_events = tuple(values[stays] for values in block.of_events)
    return Cases(new[stays], block.micros[stays], left, np.zeros(len(left) - 1, np.int64), n_labels, attributes, of_events)
