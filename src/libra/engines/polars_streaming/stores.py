"""Stores: whole cases and distinct traces in blocks, each a few million events at most, in memory or spilled.

In: blocks of cases, one after the other. Out: the same blocks as often as they are asked for, and all distinct traces, in blocks
of which no two have one in common. Codes are kept in as few bytes as they need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from libra.engines.contract import Integers
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.distinct import distinct
from libra.engines.polars_streaming.spill import Arrays, ArraySpill
from libra.eventlog.cases import Cases, Traces, concatenated
from libra.parallel import in_order

VARIANT_SHELVES = 64
SHELF_BITS = np.uint64(64 - VARIANT_SHELVES.bit_length() + 1)


class Store:
    """Whole cases of some labels, and their distinct traces.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> store = Store(tuple(log.activities), [lambda: cases_of(log)], 1)
        >>> [len(block) for block in store.cases()], sum(int(block.counts.sum()) for block in store.variants())
        ([50], 50)
    """

    def __init__(self, labels: tuple[str, ...], blocks: Iterable[Callable[[], Cases]], most: int) -> None:
        """Take in blocks, of which there are so many at most; each is made when its turn comes, on any core."""
        self.labels = labels
        self._cases = ArraySpill(most)
        self._traces = ArraySpill(VARIANT_SHELVES)
        self._dtype = np.min_scalar_type(max(len(labels) - 1, 0))
        self._filled = 0
        try:
            for whole, dealt in in_order(self._made, blocks):
                self._cases.put(self._filled, whole)
                self._filled += 1
                for shelf, piece in dealt:
                    self._traces.put(shelf, piece)
            self._merge()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        """How many blocks of cases there are."""
        return self._filled

    def cases(self) -> Iterator[Cases]:
        """The blocks of cases."""
        for number in range(self._filled):
            for piece in self._cases.take(number):
                yield _cases(piece, len(self.labels))

    def variants(self) -> Iterator[VariantBlock]:
        """The distinct traces, in blocks."""
        for shelf in range(VARIANT_SHELVES):
            for piece in self._traces.take(shelf):
                yield _variants(piece, len(self.labels))

    def close(self) -> None:
        """Forget everything."""
        self._cases.close()
        self._traces.close()

    def _made(self, make: Callable[[], Cases]) -> tuple[Arrays, list[tuple[int, Arrays]]]:
        """A block as it is kept, and its distinct traces dealt out to shelves, equal ones to the same."""
        cases = make()
        traces = Traces(cases.codes, cases.offsets)
        found = distinct(traces, np.ones(len(traces), np.int64), cases.n_activities)
        shelf = (found.traces.fingerprints() >> SHELF_BITS).astype(np.uint8)
        found = found.take(np.argsort(shelf, kind="stable"))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(shelf, minlength=VARIANT_SHELVES))))
        kept = self._kept(found)
        pieces: list[tuple[int, Arrays]] = []
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            rows = slice(bounds[number], bounds[number + 1])
            events = slice(*found.traces.offsets[[rows.start, rows.stop]])
            pieces.append((number, (kept[0][events], kept[1][rows], kept[2][rows])))
        return (cases.codes.astype(self._dtype), cases.micros, cases.lengths.astype(np.uint32)), pieces

    def _kept(self, block: VariantBlock) -> Arrays:
        return block.traces.codes.astype(self._dtype), block.traces.lengths.astype(np.uint32), block.counts

    def _merge(self) -> None:
        """Bring equal traces of each shelf together."""
        merged = ArraySpill(VARIANT_SHELVES)
        for shelf in range(VARIANT_SHELVES):
            pieces = [_variants(piece, len(self.labels)) for piece in self._traces.take(shelf)]
            if pieces:
                self._traces.empty(shelf)
                whole = distinct(
                    concatenated([piece.traces for piece in pieces]),
                    np.concatenate([piece.counts for piece in pieces]),
                    len(self.labels),
                )
                merged.put(shelf, self._kept(whole))
        self._traces.close()
        self._traces = merged


def _cases(piece: Arrays, n_labels: int) -> Cases:
    codes, micros, lengths = piece
    offsets, variant = _offsets(lengths), np.zeros(len(lengths), np.int64)
    return Cases(codes.astype(np.int64), micros.astype(np.int64, copy=False), offsets, variant, n_labels)


def _variants(piece: Arrays, n_labels: int) -> VariantBlock:
    codes, lengths, counts = piece
    return VariantBlock(Traces(codes.astype(np.int64), _offsets(lengths)), counts.astype(np.int64, copy=False), n_labels)


def _offsets(lengths: npt.NDArray[Any]) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))
