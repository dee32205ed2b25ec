"""A log larger than memory: read in batches, grouped into cases, and of each individual a few cases at most.

The cases of an individual come together by a hash and are then drawn from exactly as in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from threading import Lock

import numpy as np
import polars as pl

from libra._system.randomness import Randomness
from libra.engines.contract import Integers, Unit
from libra.engines.counting.blocks import codes_among, relabelled
from libra.engines.polars import drawn_cases, places_among
from libra.engines.polars_streaming.engine import Store, StreamingEngine
from libra.engines.polars_streaming.spill import HASH_SEED, Spill, buckets_for, deal_out, grouped
from libra.engines.sampling import KeyedSample
from libra.engines.sequences import (
    as_counted,
    both_forms,
    event_labels,
    forms_among,
    in_sequence,
    instances_of,
    rows_with_values,
    since,
    with_transitions,
)
from libra.eventlog.attributes import Attribute, by_level, changes_within
from libra.eventlog.cases import MISSING, Cases
from libra.eventlog.in_parts import EventBatches, attribute_column
from libra.eventlog.instances import NO_START, label_texts
from libra.eventlog.log import FoundRole
from libra.eventlog.select import OUT_OF_ORDER

SHELVES = 64


class Whose:
    """Whose cases those of all blocks are.

    Example:
        >>> whose = Whose(blocks=2)
        >>> whose.put(0, pl.Series(["ann", "bert"]))
        >>> whose.put(1, pl.Series(["ann", "ann"]))
        >>> drawn = whose.drawn(1, Randomness(seed=1))
        >>> sum(len(rows) for rows in drawn), 1 in drawn[0].tolist()
        (2, True)
    """

    def __init__(self, blocks: int) -> None:
        """Nobody has a case yet."""
        self.dealt = Spill[pl.DataFrame](SHELVES)
        self._counts = [np.zeros(0, np.bool_)] * blocks

    def put(self, block: int, individual: pl.Series) -> None:
        """Whose cases those of a block are."""
        shelf = (individual.hash(HASH_SEED).to_numpy() >> np.uint64(64 - SHELVES.bit_length() + 1)).astype(np.uint8)
        rows = pl.DataFrame({"whose": individual, "block": np.full(len(individual), block, np.uint32)}).with_row_index("row")
        for one in np.unique(shelf).tolist():
            self.dealt.put(one, rows.filter(pl.Series(shelf == one)))
        self._counts[block] = np.zeros(len(individual), np.bool_)

    def drawn(self, most: int, random: Randomness) -> list[Integers]:
        """For every block the numbers of the cases that count: at most so many of each individual, in all blocks together."""
        for shelf in range(SHELVES):
            pieces = list(self.dealt.take(shelf))
            if pieces:
                together = pl.concat(pieces).sort("block", "row")  # blocks come in whatever order they are ready
                counting = together[drawn_cases(together["whose"], most, random)]
                for part in counting.partition_by("block"):
                    self._counts[part["block"][0]][part["row"].to_numpy()] = True
        return [np.flatnonzero(counts) for counts in self._counts]


class Values:
    """Attributes of cases, and then those of events, on their way to whole numbers.

    The code of a text is given at first sight. When all cases are there, codes are those of the texts that cases have, sorted.
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        """No value has been seen yet."""
        self.of_cases, self.of_events = by_level(attributes)
        self.attributes = (*self.of_cases, *self.of_events)
        self._seen = {one.name: pl.Categories.random() for one in attributes if one.kind == "category" and one.values is None}
        self._alive = {name: pl.Series(dtype=pl.Categorical(seen)) for name, seen in self._seen.items()}
        self._had = {name: np.zeros(0, np.int64) for name in self._seen}
        self._lock = Lock()

    def in_numbers(self, batch: pl.DataFrame) -> pl.DataFrame:
        """A batch with whole numbers for values, `MISSING` for none; dates are moments yet."""
        columns = []
        for attribute in self.attributes:
            values = batch[attribute_column(attribute)]
            if attribute.at is not None:
                values = values.set(batch["activity"] != attribute.at, None)
            if attribute.name in self._seen:
                values = values.cast(self._alive[attribute.name].dtype).to_physical().cast(pl.Int64)
            elif attribute.values is not None:
                values = places_among(values, attribute.values)
            columns.append(values.fill_null(MISSING).alias(attribute_column(attribute)))
        return batch.with_columns(columns)

    def as_counted(self, cases: Cases) -> Cases:
        """Cases with what is counted of values: of moments, seconds since the start; the texts that they have are remembered."""
        for attribute, values in zip(self.attributes, (*cases.attributes, *cases.of_events), strict=True):
            if attribute.name in self._seen:
                here = np.unique(values[values != MISSING])
                with self._lock:
                    self._had[attribute.name] = np.union1d(self._had[attribute.name], here)
        starts, both = cases.spans[0], zip(self.of_cases, cases.attributes, strict=True)
        attributes = tuple(since(starts, values, attribute) if attribute.kind == "date" else values for attribute, values in both)
        return as_counted(replace(cases, attributes=attributes), self.of_events)

    def named(self) -> tuple[tuple[tuple[str, ...], ...], tuple[Integers | None, ...]]:
        """For each attribute the texts that its values stand for, and the new code of each that was given at first sight."""
        names, codes = list[tuple[str, ...]](), list[Integers | None]()
        for attribute in self.attributes:
            texts, new_codes = attribute.values or (), None
            if attribute.name in self._seen:
                seen, had = self._seen[attribute.name].to_series(), self._had[attribute.name]
                texts_of_cases = seen.gather(pl.Series(had, dtype=pl.UInt32))
                order = texts_of_cases.arg_sort()
                new_codes = np.full(len(seen), MISSING)
                new_codes[had[order.to_numpy()]] = np.arange(len(had))
                texts = tuple(texts_of_cases.gather(order))
            names.append(texts)
            codes.append(new_codes)
        return tuple(names), tuple(codes)


class StreamedLog:
    """A log that is read in batches.

    Example:
        >>> import libra.example
        >>> from libra.engines.control_flow_tables import Size
        >>> from libra.eventlog.read import batches_of
        >>> from libra.eventlog.options import ReadOptions
        >>> log = StreamedLog(batches_of(libra.example.path(), ReadOptions()))
        >>> engine = log.engine(Unit(), Randomness())
        >>> engine.count_all([Size()])[0].tolist()
        [2000]
    """

    def __init__(self, batches: EventBatches, *, sort_by_time: bool = False) -> None:
        """Take a log by its batches; nothing is read yet."""
        self._batches, self._sort_by_time = batches, sort_by_time
        self._engines: list[StreamingEngine] = []
        self._out_of_order = False
        self._paired, self._keeps_transitions = (batches.instances == mode for mode in ("pair", "events"))

    @property
    def has_individual(self) -> bool:
        return self._batches.has_individual

    @property
    def has_zone(self) -> bool:
        return self._batches.has_zone

    @property
    def roles(self) -> tuple[FoundRole, ...]:
        """Which column plays which role, and why."""
        return self._batches.roles

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing about how it was read; complete when it has been."""
        return (*self._batches.notes(), *((OUT_OF_ORDER,) if self._out_of_order else ()))

    def close(self) -> None:
        """Forget what was read."""
        for engine in self._engines:
            engine.close()
        self._engines.clear()

    def engine(
        self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None,
        attributes: Sequence[Attribute] = (),
    ) -> StreamingEngine:  # fmt: skip
        """The engine of all cases, or of a Poisson subsample of them; one that was made before it is gone."""
        self.close()
        if not set(attributes) <= set(self._batches.attributes):
            raise AssertionError("only values of attributes that are read can be counted")
        by_individual = unit.most_cases is not None and self.has_individual
        # Individuals take part as a whole or not at all: by cases, somebody with many would take part more often than agreed.
        sampled_by = "individual" if by_individual else "case"
        sample = KeyedSample.draw(rate, random) if rate < 1 else None
        categories = pl.Categories.random()  # a code is given at first sight and brought into the order of names at the end
        alive = pl.Series(dtype=pl.Categorical(categories))  # Polars forgets categories that no column has
        values = Values(attributes)
        unread = [attribute_column(one) for one in self._batches.attributes if one not in attributes]

        listed = with_transitions(labels) if labels is not None and self._keeps_transitions else labels

        def coded(batch: pl.DataFrame) -> pl.DataFrame:
            batch = values.in_numbers(batch.drop(unread))
            transition = batch["transition"] if "transition" in batch.columns else None
            named = label_texts(batch["activity"]) if transition is None else event_labels(batch["activity"], transition)
            batch = batch.with_columns(named.alias("activity")).drop("transition", strict=False)
            if listed is not None and not values.of_cases:  # an event of another label may have the value of its case
                batch = batch.filter(batch["activity"].is_in(list(listed)))
            if "start" in batch.columns:
                batch = batch.with_columns(pl.col("start").fill_null(NO_START))
            batch = batch.with_columns(batch["activity"].cast(alive.dtype).to_physical().alias("code")).drop("activity")
            return batch if sample is None else batch.filter(sample.takes(batch[sampled_by]))

        buckets = buckets_for(int(self._batches.estimated_events * rate))
        with ExitStack() as until_done:
            dealt, whose = Spill[pl.DataFrame](buckets), Whose(buckets) if by_individual else None
            for spill in (dealt, *(() if whose is None else (whose.dealt,))):
                until_done.callback(spill.close)
            deal_out(self._batches, coded, dealt)
            seen = categories.to_series()
            names = tuple(seen.sort()) if listed is None else listed
            names = both_forms(names) if self._paired else names
            codes = forms_among(tuple(seen), names) if self._paired else codes_among(tuple(seen), names)
            block = partial(self._block, dealt, codes=codes, n_labels=len(names), values=values, whose=whose)
            blocks = (partial(block, bucket) for bucket in range(buckets))
            store = Store(names, blocks, buckets, len(values.of_cases))
            store.name_values(*values.named())
            if whose is not None and unit.most_cases is not None:
                until_done.callback(store.close)
                drawn = whose.drawn(unit.most_cases, random)
                counting = (partial(block.take, rows) for block, rows in zip(store.cases(), drawn, strict=True))
                texts, store = store.values, Store(names, counting, buckets, store.n_attributes)
                store.name_values(texts)
        self._engines.append(StreamingEngine(store))
        return self._engines[-1]

    def _block(
        self, dealt: Spill[pl.DataFrame], bucket: int, codes: Integers, n_labels: int, values: Values, whose: Whose | None
    ) -> Cases:
        """The whole cases of a bucket."""
        found = grouped(dealt.take(bucket), sort_by_time=self._sort_by_time)
        dealt.empty(bucket)
        said, instances, whose_cases = dict(found.others), None, found.individual
        numbers = {one: said.pop(attribute_column(one), np.zeros(0, np.int64)) for one in values.attributes}
        of_log, of_events = np.zeros(len(found.offsets) - 1, np.int64), tuple(numbers[one] for one in values.of_events)
        events = Cases(found.codes, found.micros, found.offsets, of_log, n_labels, of_events=of_events)
        if self._paired:
            paired, start, instances = instances_of(events, said)
            cases = in_sequence(paired, start, codes, n_labels)
        else:
            cases = replace(events, codes=codes[events.codes])
        of_cases = []
        for attribute in values.of_cases:
            of_each = numbers[attribute]
            if attribute.in_cases and (of_each != np.repeat(of_each[events.offsets[:-1]], events.lengths)).any():
                raise changes_within(attribute, self._batches.source)
            rows = rows_with_values(events.offsets, of_each != MISSING, instances)
            of_cases.append(np.append(of_each, MISSING)[rows])
        cases = replace(cases, attributes=tuple(of_cases))
        if (cases.codes < 0).any():  # events of labels that are not listed: they were there for the values of their cases
            stays = pl.Series(np.logical_or.reduceat(cases.codes >= 0, cases.offsets[:-1]))
            whose_cases = None if whose_cases is None else whose_cases.filter(stays)
            cases = relabelled(cases, np.append(np.arange(n_labels), -1), n_labels)
        if whose is not None and whose_cases is not None:
            whose.put(bucket, whose_cases)
        if not self._paired:
            backwards = np.diff(cases.micros, prepend=0) < 0
            backwards[cases.offsets[:-1]] = False
            self._out_of_order |= bool(backwards.any())
        return values.as_counted(cases)
