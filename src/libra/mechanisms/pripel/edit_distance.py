"""Edit distances between many traces at once: how many events to insert, delete or replace to make one trace of another.

In: two sets of traces. Out: the matrix of their Levenshtein distances. A column of the usual table is held as the bits of a word,
64 events of the first trace at a time, and moves on by an event of the second trace with a few operations on words (Myers 1999,
Hyyro 2003); these run on all pairs at once. The time is that of the number of pairs times the length of the second, and of the
first by 64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Traces

Words = npt.NDArray[np.uint64]
Distances = npt.NDArray[np.int32]
BITS = 64
ONE, TOP = np.uint64(1), np.uint64(BITS - 1)
ALL = np.uint64(2**64 - 1)
AT_A_TIME = 500_000  # pairs: their words fit into the caches and a few megabytes


def edit_distances(one: Traces, other: Traces) -> Distances:
    """How far each trace of one set is from each of the other.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> edit_distances(traces_of([[0, 1, 2], [3]]), traces_of([[0, 2], [], [1, 2, 3]])).tolist()
        [[1, 3, 2], [2, 1, 2]]
    """
    found = np.zeros((len(one), len(other)), np.int32)
    by_length = np.argsort(-other.lengths, kind="stable")
    texts = other.take(by_length)
    rows = max(AT_A_TIME // max(len(other), 1), 1)
    for begin in range(0, len(one), rows):
        part = one.take(np.arange(begin, min(begin + rows, len(one))))
        found[begin : begin + rows, by_length] = _from_longest(part, texts)
    return found


def _from_longest(patterns: Traces, texts: Traces) -> Distances:
    """The distances, the texts being ordered from the longest down."""
    masks = _masks(patterns, int(max(patterns.codes.max(initial=-1), texts.codes.max(initial=-1))) + 1)
    n_blocks = masks.shape[1]
    end = patterns.lengths - 1
    block_of_end, bit_of_end = np.maximum(end, 0) // BITS, (np.maximum(end, 0) % BITS).astype(np.uint64)[:, None]
    ends_in = [np.flatnonzero((block_of_end == block) & (end >= 0)) for block in range(n_blocks)]
    up = np.full((n_blocks, len(patterns), len(texts)), ALL)
    down = np.zeros_like(up)
    score = np.repeat(patterns.lengths[:, None], len(texts), axis=1).astype(np.int32)
    score[end < 0] = texts.lengths
    still = len(texts)
    for position in range(int(texts.lengths.max(initial=0))):
        still = int(np.searchsorted(-texts.lengths[:still], -position))
        symbols = texts.codes[texts.offsets[:still] + position]
        rises, falls = np.full((len(patterns), still), ONE), np.zeros((len(patterns), still), np.uint64)
        for block in range(n_blocks):
            equal = masks[:, block, symbols]
            was_up, was_down = up[block, :, :still], down[block, :, :still]
            sideways = equal | was_down
            equal |= falls
            across = (((equal & was_up) + was_up) ^ was_up) | equal
            higher = was_down | ~(across | was_up)
            lower = was_up & across
            ending = ends_in[block]
            if len(ending):
                bit = bit_of_end[ending]
                score[ending, :still] += ((higher[ending] >> bit) & ONE).astype(np.int32)
                score[ending, :still] -= ((lower[ending] >> bit) & ONE).astype(np.int32)
            carried_up, carried_down = higher >> TOP, lower >> TOP
            higher, lower = (higher << ONE) | rises, (lower << ONE) | falls
            up[block, :, :still] = lower | ~(sideways | higher)
            down[block, :, :still] = higher & sideways
            rises, falls = carried_up, carried_down
    return score


def _masks(patterns: Traces, n_symbols: int) -> Words:
    """For every trace, block of 64 events and symbol, the events of the block that are this symbol."""
    n_blocks = max(-(-int(patterns.lengths.max(initial=0)) // BITS), 1)
    masks = np.zeros((len(patterns), n_blocks, n_symbols), np.uint64)
    position = np.arange(len(patterns.codes)) - np.repeat(patterns.offsets[:-1], patterns.lengths)
    bits = ONE << (position % BITS).astype(np.uint64)
    np.bitwise_or.at(masks, (patterns.rows, position // BITS, patterns.codes), bits)
    return masks
