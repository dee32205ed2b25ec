"""Grouping: events in the order of a file become whole cases, bucket by bucket, in bounded memory.

In: batches of events. Out: whole cases. Events are dealt out to buckets by a hash of their case, so that all of a case come to
the same bucket in the order of the file; then each bucket is sorted by itself. Hashes only bring rows together: which rows are of
one case is decided by comparing case ids, so two cases are never taken for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.parallel import in_order
from libra.engines.contract import Integers
from libra.engines.polars_streaming.spill import FrameSpill
from libra.errors import InputError

DEALT = 500_000  # events that are dealt out at once
BUCKET_EVENTS = 1_500_000  # of an ordinary bucket: a few dozen MB for each array that is computed from it
LEAST_BUCKETS, MOST_BUCKETS = 16, 4096
HASH_SEED = 0x11B2A
CHANGES = "the individual changes within a case"
Words = npt.NDArray[np.uint64]
Prepare = Callable[[pl.DataFrame], pl.DataFrame]


class Grouped(NamedTuple):
    """A bucket as whole cases: codes and times of all events, case by case, the length of each case, and whose it is."""

    codes: npt.NDArray[np.uint32]
    micros: Integers
    lengths: Integers
    individual: pl.Series | None


def buckets_for(events: int) -> int:
    """How many buckets so many events are dealt out to: a power of two.

    Example:
        >>> buckets_for(1000), buckets_for(100_000_000)
        (16, 128)
    """
    wanted = max(events // BUCKET_EVENTS, 1)
    return min(max(1 << (wanted - 1).bit_length(), LEAST_BUCKETS), MOST_BUCKETS)


def deal_out(
    batches: Iterable[pl.DataFrame], buckets: int, prepared: Prepare = lambda batch: batch, onto: FrameSpill | None = None
) -> FrameSpill:
    """Events by bucket; all of a case in one, in the order in which they came.

    Args:
        batches: The events, in order.
        buckets: How many; a power of two.
        prepared: What is done to each batch before, on any core.
        onto: The shelves, one a bucket; new ones if left out.

    Example:
        >>> batches = [pl.DataFrame({"case": ["a", "b", "a"], "code": [0, 0, 1], "micros": [1, 2, 3]})]
        >>> dealt = deal_out(batches, 16)
        >>> sorted(len(set(piece["case"])) for bucket in range(16) for piece in dealt.take(bucket))
        [1, 1]
    """
    dealt = FrameSpill(buckets) if onto is None else onto
    for batch, ends in in_order(partial(_by_bucket, buckets=buckets, prepared=prepared), _large(batches)):
        begin = 0
        for number, end in enumerate(ends):
            if end > begin:
                dealt.put(number, batch[begin:end])
            begin = end
    return dealt


def _by_bucket(batch: pl.DataFrame, buckets: int, prepared: Prepare) -> tuple[pl.DataFrame, list[int]]:
    """The events of a batch ordered by bucket, and where each bucket ends."""
    batch = prepared(batch)
    bucket = (_hashes(batch["case"]) >> np.uint64(64 - buckets.bit_length() + 1)).astype(np.uint16)
    order = pl.Series(np.argsort(bucket, kind="stable").astype(np.uint32))
    ends: list[int] = np.cumsum(np.bincount(bucket, minlength=buckets)).tolist()
    return batch.select(pl.all().gather(order)), ends


def _large(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same events in batches that are worth dealing out."""
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(batch)
        if sum(one.height for one in held) >= DEALT:
            yield pl.concat(held, rechunk=True)
            held = []
    if held:
        yield pl.concat(held, rechunk=True)


def grouped(pieces: Iterable[pl.DataFrame], *, sort_by_time: bool) -> Grouped:
    """The whole cases of one bucket, in no order that means anything.

    Example:
        >>> piece = pl.DataFrame({"case": ["a", "b", "a"], "code": [0, 1, 2], "micros": [1, 2, 3]})
        >>> whole = grouped([piece], sort_by_time=False)
        >>> sorted(whole.lengths.tolist()), sorted(whole.codes.tolist())
        ([1, 2], [0, 1, 2])
    """
    held = list(pieces)
    if not held:
        nothing = np.zeros(0, np.int64)
        return Grouped(nothing.astype(np.uint32), nothing, nothing, None)
    events = pl.concat(held, rechunk=True)
    order, first = _by_case(events["case"])
    codes = events["code"].to_numpy()[order].astype(np.uint32)
    micros = events["micros"].to_numpy()[order]
    lengths = np.diff(first, append=len(codes))
    if sort_by_time:
        again = np.lexsort((micros, np.repeat(np.arange(len(lengths)), lengths)))
        codes, micros = codes[again], micros[again]
    if "individual" not in events.columns:
        return Grouped(codes, micros, lengths, None)
    individual = events["individual"].gather(pl.Series(order[first]))
    whose = events["individual"].gather(pl.Series(order))
    if whose.ne(individual.gather(pl.Series(np.repeat(np.arange(len(first)), lengths)))).any():
        raise InputError(CHANGES, remedy="Choose a column with one value for all events of a case for --individual")
    return Grouped(codes, micros, lengths, individual)


def _by_case(ids: pl.Series) -> tuple[Integers, Integers]:
    """The rows in an order in which those of a case are together and as they came, and where each case begins.

    A word holds as much of the case's hash as there is room for beside the number of the row: one sort of whole numbers.
    """
    bits = np.uint64(max(len(ids) - 1, 1).bit_length())
    words = (_hashes(ids) << bits) | np.arange(len(ids), dtype=np.uint64)
    words.sort()
    order = (words & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    parts = words >> bits
    new = np.concatenate(([True], parts[1:] != parts[:-1]))
    there = ids.gather(pl.Series(order))
    differs = (there != there.shift(1)).fill_null(True).to_numpy()
    if np.array_equal(differs, new):
        return order, np.flatnonzero(new)
    groups = ids.alias("case").to_frame().with_row_index("row").group_by("case", maintain_order=True).agg("row")
    lengths = groups["row"].list.len().to_numpy()
    return groups["row"].explode().to_numpy().astype(np.int64), np.cumsum(lengths, dtype=np.int64) - lengths


def _hashes(ids: pl.Series) -> Words:
    return ids.hash(HASH_SEED).to_numpy()
