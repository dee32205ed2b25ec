"""The streaming engine: whole cases and distinct traces in blocks of a few million events, in memory or spilled.

No two blocks of distinct traces have one in common. Codes and values of events are kept in as few bytes as they need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from libra._system.parallel import in_order
from libra._system.randomness import Randomness
from libra.engines.contract import Integers, Table, VariantRule
from libra.engines.counting.attributes import value_counts
from libra.engines.counting.blocks import VariantBlock, codes_among, distinct, offsets_of, relabelled
from libra.engines.counting.count import count, needs_cases
from libra.engines.counting.events import value_weights
from libra.engines.polars_streaming.spill import Arrays, Spill
from libra.engines.sampling import chosen
from libra.eventlog.cases import MISSING, Cases, Traces, concatenated

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

    def __init__(self, labels: tuple[str, ...], blocks: Iterable[Callable[[], Cases]], most: int, n_attributes: int = 0) -> None:
        """Take in blocks, of which there are so many at most; each is made when its turn comes, on any core.

        Cases have so many attributes of their own; all others are those of their events.
        """
        self.labels, self.n_attributes = labels, n_attributes
        self.values: tuple[tuple[str, ...], ...] = ()
        self._codes: tuple[Integers | None, ...] = ()
        self._cases, self._traces = Spill[Arrays](most), Spill[Arrays](VARIANT_SHELVES)
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
            for codes, micros, lengths, *values in self._cases.take(number):
                of_log, new_codes = np.zeros(len(lengths), np.int64), self._codes or (None,) * len(values)
                all_values = tuple(recoded(widened(kept), new) for kept, new in zip(values, new_codes, strict=True))
                attributes, of_events = all_values[: self.n_attributes], all_values[self.n_attributes :]
                yield Cases(codes.astype(np.int64), micros, offsets_of(lengths), of_log, len(self.labels), attributes, of_events)

    def name_values(self, values: tuple[tuple[str, ...], ...], codes: tuple[Integers | None, ...] = ()) -> None:
        """Say which texts the values of each attribute stand for, and the code among them of each that is kept here."""
        self.values, self._codes = values, codes

    def variants(self) -> Iterator[VariantBlock]:
        """The distinct traces, in blocks."""
        for shelf in range(VARIANT_SHELVES):
            yield from self._variants(shelf)

    def close(self) -> None:
        """Forget everything."""
        self._cases.close()
        self._traces.close()

    def _made(self, make: Callable[[], Cases]) -> tuple[Arrays, list[tuple[int, Arrays]]]:
        """A block as it is kept, and its distinct traces dealt out to shelves, equal ones to the same."""
        cases = make()
        found = distinct(Traces(cases.codes, cases.offsets), np.ones(len(cases), np.int64), cases.n_activities)
        shelf = (found.traces.fingerprints() >> SHELF_BITS).astype(np.uint8)
        found = found.take(np.argsort(shelf, kind="stable"))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(shelf, minlength=VARIANT_SHELVES))))
        kept = self._kept(found)
        pieces: list[tuple[int, Arrays]] = []
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            rows = slice(bounds[number], bounds[number + 1])
            events = slice(*found.traces.offsets[[rows.start, rows.stop]])
            pieces.append((number, (kept[0][events], kept[1][rows], kept[2][rows])))
        values = (*cases.attributes, *map(narrowed, cases.of_events))
        return (cases.codes.astype(self._dtype), cases.micros, cases.lengths.astype(np.uint32), *values), pieces

    def _kept(self, block: VariantBlock) -> Arrays:
        return block.traces.codes.astype(self._dtype), block.traces.lengths.astype(np.uint32), block.counts

    def _variants(self, shelf: int) -> Iterator[VariantBlock]:
        for codes, lengths, counts in self._traces.take(shelf):
            yield VariantBlock(Traces(codes.astype(np.int64), offsets_of(lengths)), counts, len(self.labels))

    def _merge(self) -> None:
        """Bring equal traces of each shelf together."""
        merged = Spill[Arrays](VARIANT_SHELVES)
        for shelf in range(VARIANT_SHELVES):
            pieces = list(self._variants(shelf))
            if pieces:
                self._traces.empty(shelf)
                traces, counts = concatenated([piece.traces for piece in pieces]), [piece.counts for piece in pieces]
                merged.put(shelf, self._kept(distinct(traces, np.concatenate(counts), len(self.labels))))
        self._traces.close()
        self._traces = merged


def narrowed(values: Integers) -> npt.NDArray[np.signedinteger[Any]]:
    """Values in as few bytes as they need; none is the lowest number of their type.

    Example:
        >>> narrowed(np.array([3, MISSING])).tolist(), narrowed(np.array([3, 300])).dtype.name
        ([3, -128], 'int16')
    """
    there = values[values != MISSING]
    for kind in (np.int8, np.int16, np.int32):
        ends = np.iinfo(kind)
        if not len(there) or (there.min() > ends.min and there.max() <= ends.max):
            return np.where(values == MISSING, ends.min, values).astype(kind)
    return values


def widened(values: npt.NDArray[np.signedinteger[Any]]) -> Integers:
    """Values as they were before they were narrowed."""
    if values.dtype == np.int64:
        return values
    return np.where(values == np.iinfo(values.dtype).min, MISSING, values.astype(np.int64))


def recoded(values: Integers, new_codes: Integers | None) -> Integers:
    """Values in new codes, if there are any; no value stays none."""
    if new_codes is None or not len(values):
        return values
    return np.append(new_codes, MISSING)[np.where(values == MISSING, len(new_codes), values)]


@dataclass(frozen=True, eq=False, repr=False)
class StreamingEngine:
    """Raw cases in a store, behind the contract; `kept` are the variants that a tail is without, `chosen` the labels that stay.

    Example:
        >>> from libra.engines.control_flow_tables import Size
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> engine = StreamingEngine(Store(tuple(log.activities), [lambda: cases_of(log)], 1))
        >>> engine.count_all([Size()])[0].tolist()
        [50]
    """

    store: Store
    kept: Traces | None = None
    chosen: tuple[str, ...] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.store.labels if self.chosen is None else self.chosen

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        return self.store.values

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        """For each table `scale` times the counts, in its shape; in one pass over cases and one over distinct traces."""
        of_cases = [table for table in tables if needs_cases(table)]
        if of_cases and self.kept is not None:
            raise AssertionError("tables about times are about all cases, not about a tail")
        from_cases = _summed(of_cases, self._cases())
        from_variants = _summed([table for table in tables if not needs_cases(table)], self._variants())
        return [next(from_cases if needs_cases(table) else from_variants) for table in tables]

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these; drawn block by block, each block once."""
        self._refuse_fewer_labels()
        traces, counts = [], [np.zeros(0, np.int64)]
        for block in self._variants():
            rows, noisy = rule.passing(block.counts, random)
            traces.append(block.traces.take(rows))
            counts.append(noisy)
        return concatenated(traces), np.concatenate(counts)

    def select_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """The distinct values of an attribute whose noisy counts pass, and these; drawn when all blocks have been counted."""
        return self._selected(lambda block: value_counts(block, attribute), rule, random)

    def select_event_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """The distinct values of an attribute of events whose noisy weights pass, and these; drawn as those of cases are."""
        return self._selected(lambda block: value_weights(block, attribute), rule, random)

    def _selected(
        self, weighed: Callable[[Cases], tuple[Integers, Integers]], rule: VariantRule, random: Randomness
    ) -> tuple[Integers, Integers]:
        """Of the values that blocks have, each with a number that is summed, those that pass."""
        if self.kept is not None:
            raise AssertionError("attributes are those of all cases, not of a tail")
        found, weights = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for here, added in in_order(weighed, self._cases()):
            found, place = np.unique(np.concatenate((found, here)), return_inverse=True)
            together, weights = np.concatenate((weights, added)), np.zeros(len(found), np.int64)
            np.add.at(weights, place, together)
        rows, noisy = rule.passing(weights, random)
        return found[rows], noisy

    def subsampled(self, rate: float, random: Randomness) -> StreamingEngine:
        self._refuse_tail_or_fewer_labels()
        drawn = (np.flatnonzero(chosen(random.words(len(block)), rate)) for block in self.store.cases())
        parts = (partial(block.take, rows) for block, rows in zip(self.store.cases(), drawn, strict=True))
        some = Store(self.labels, parts, len(self.store), self.store.n_attributes)
        some.name_values(self.values)
        return StreamingEngine(some)

    def tail(self, kept: Traces) -> StreamingEngine:
        self._refuse_tail_or_fewer_labels()
        return StreamingEngine(self.store, kept)

    def with_labels(self, labels: tuple[str, ...]) -> StreamingEngine:
        self._refuse_fewer_labels()
        return self if labels == self.labels else replace(self, chosen=labels)

    def close(self) -> None:
        """Forget all cases."""
        self.store.close()

    def _refuse_tail_or_fewer_labels(self) -> None:
        if self.kept is not None:
            raise AssertionError("what a tail is of is settled before it is taken")
        self._refuse_fewer_labels()

    def _refuse_fewer_labels(self) -> None:
        if self.chosen is not None:
            raise AssertionError("labels are dropped last, for tables alone")

    @cached_property
    def _new_codes(self) -> Integers:
        return codes_among(self.store.labels, self.labels)

    def _cases(self) -> Iterator[Cases]:
        for block in self.store.cases():
            yield block if self.chosen is None else relabelled(block, self._new_codes, len(self.labels))

    def _variants(self) -> Iterator[VariantBlock]:
        for block in self.store.variants():
            block = block if self.kept is None else block.take(block.without(self.kept))
            yield block if self.chosen is None else relabelled(block, self._new_codes, len(self.labels))


def _summed(tables: Sequence[Table], blocks: Iterator[Cases | VariantBlock]) -> Iterator[Integers]:
    """What all blocks add to each table; where no table is asked for, no block is looked at."""
    sums = [np.zeros(table.shape, np.int64) for table in tables]
    if tables:
        for counts in in_order(lambda block: [count(table, block) for table in tables], blocks):
            for total, added in zip(sums, counts, strict=True):
                total += added
    return iter(sums)
