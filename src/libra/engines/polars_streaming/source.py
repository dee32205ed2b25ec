"""A log larger than memory: read in batches, grouped into cases, and of each individual a few cases at most.

The cases of an individual come together by a hash and are then drawn from exactly as in memory.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from libra._system.randomness import Randomness
from libra.engines.contract import Integers, Unit
from libra.engines.counting.blocks import codes_among
from libra.engines.polars import drawn_cases
from libra.engines.polars_streaming.engine import Store, StreamingEngine
from libra.engines.polars_streaming.spill import HASH_SEED, Spill, buckets_for, deal_out, grouped
from libra.engines.sampling import KeyedSample
from libra.engines.sequences import both_forms, event_labels, forms_among, in_sequence, instances_of, with_transitions
from libra.eventlog.cases import Cases
from libra.eventlog.in_parts import EventBatches
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

    def engine(self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None) -> StreamingEngine:
        """The engine of all cases, or of a Poisson subsample of them; one that was made before it is gone."""
        self.close()
        by_individual = unit.most_cases is not None and self.has_individual
        # Individuals take part as a whole or not at all: by cases, somebody with many would take part more often than agreed.
        sampled_by = "individual" if by_individual else "case"
        sample = KeyedSample.draw(rate, random) if rate < 1 else None
        categories = pl.Categories.random()  # a code is given at first sight and brought into the order of names at the end
        alive = pl.Series(dtype=pl.Categorical(categories))  # Polars forgets categories that no column has

        listed = with_transitions(labels) if labels is not None and self._keeps_transitions else labels

        def coded(batch: pl.DataFrame) -> pl.DataFrame:
            transition = batch["transition"] if "transition" in batch.columns else None
            named = label_texts(batch["activity"]) if transition is None else event_labels(batch["activity"], transition)
            batch = batch.with_columns(named.alias("activity")).drop("transition", strict=False)
            if listed is not None:
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
            block = partial(self._block, dealt, codes=codes, n_labels=len(names), whose=whose)
            blocks = (partial(block, bucket) for bucket in range(buckets))
            store = Store(names, blocks, buckets)
            if whose is not None and unit.most_cases is not None:
                until_done.callback(store.close)
                drawn = whose.drawn(unit.most_cases, random)
                counting = (partial(block.take, rows) for block, rows in zip(store.cases(), drawn, strict=True))
                store = Store(names, counting, buckets)
        self._engines.append(StreamingEngine(store))
        return self._engines[-1]

    def _block(self, dealt: Spill[pl.DataFrame], bucket: int, codes: Integers, n_labels: int, whose: Whose | None) -> Cases:
        """The whole cases of a bucket."""
        found = grouped(dealt.take(bucket), sort_by_time=self._sort_by_time)
        dealt.empty(bucket)
        if whose is not None and found.individual is not None:
            whose.put(bucket, found.individual)
        events = Cases(found.codes, found.micros, found.offsets, np.zeros(len(found.offsets) - 1, np.int64), n_labels)
        if self._paired:
            return in_sequence(*instances_of(events, found.others), codes, n_labels)
        backwards = np.diff(events.micros, prepend=0) < 0
        backwards[events.offsets[:-1]] = False
        self._out_of_order |= bool(backwards.any())
        return replace(events, codes=codes[events.codes])
