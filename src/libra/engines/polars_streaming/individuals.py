"""Individuals: of each, a few cases at most, drawn at random, where cases lie in blocks.

In: whose case each case of each block is. Out: for every block, the cases that count. The cases of an individual come together by
a hash and are then drawn from exactly as in memory.
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import polars as pl

from libra.engines.contract import Integers
from libra.engines.polars.individuals import drawn_cases
from libra.engines.polars_streaming.grouping import HASH_SEED
from libra.engines.polars_streaming.spill import FrameSpill
from libra.privacy.randomness import Randomness

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

    def __init__(self, blocks: int, closed_by: ExitStack | None = None) -> None:
        """Nobody has a case yet."""
        self._dealt = FrameSpill(SHELVES, closed_by=closed_by)
        self._counts = [np.zeros(0, np.bool_)] * blocks

    def put(self, block: int, individual: pl.Series) -> None:
        """Whose cases those of a block are."""
        shelf = (individual.hash(HASH_SEED).to_numpy() >> np.uint64(64 - SHELVES.bit_length() + 1)).astype(np.uint8)
        number = np.full(len(individual), block, np.uint32)
        rows = pl.DataFrame({"whose": individual, "block": number}).with_row_index("row")
        for one in np.unique(shelf).tolist():
            self._dealt.put(one, rows.filter(pl.Series(shelf == one)))
        self._counts[block] = np.zeros(len(individual), np.bool_)

    def drawn(self, most: int, random: Randomness) -> list[Integers]:
        """For every block the numbers of the cases that count: at most so many of each individual, in all blocks together."""
        for shelf in range(SHELVES):
            pieces = list(self._dealt.take(shelf))
            if pieces:
                together = pl.concat(pieces).sort("block", "row")  # blocks come in whatever order they are ready
                counting = together[drawn_cases(together["whose"], most, random)]
                for part in counting.partition_by("block"):
                    self._counts[part["block"][0]][part["row"].to_numpy()] = True
        self._dealt.close()
        return [np.flatnonzero(counts) for counts in self._counts]
