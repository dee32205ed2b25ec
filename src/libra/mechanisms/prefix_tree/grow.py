"""A tree of prefixes, grown level by level from noisy counts.

In: a query that answers, for all open prefixes at once, how many cases go on to each label or to the end, with noise, and 0 for
what is pruned. Out: the finished traces, and the prefixes that are still open after the last level. The tree sees noisy counts
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from libra.errors import UsageError
from libra.eventlog.cases import Integers, Traces, concatenated
from libra.mechanisms.peers.counted import Counted
from libra.mechanisms.prefix_tree.runaway import MOST_CELLS

Query: TypeAlias = Callable[[Integers, bool], Integers]


@dataclass(frozen=True, eq=False, repr=False)
class Grown:
    """What came of a tree.

    Attributes:
        finished: Traces that ended, with their noisy counts.
        still_open: Prefixes of as many events as there were levels, with theirs.
    """

    finished: Counted
    still_open: Counted


def grow(query: Query, n_labels: int, levels: int) -> Grown:
    """The tree of so many levels.

    Args:
        query: Noisy counts (a row for each prefix, a column for each label and for the end) of prefixes, which come as rows of
            codes; 0 for what is pruned. It is told whether this is the last level.
        n_labels: How many labels there are.
        levels: How many symbols the longest prefix has, the end counting as one.

    Example:
        >>> from libra.engines.counting.continuations import continuations
        >>> from libra.eventlog.cases import traces_of
        >>> log = traces_of([[0, 1], [0, 1, 1], [1]]), np.array([5, 3, 2])
        >>> grown = grow(lambda prefixes, last: continuations(*log, prefixes, 2), n_labels=2, levels=3)
        >>> grown.finished.traces.to_lists(), grown.finished.counts.tolist(), grown.still_open.traces.to_lists()
        ([[1], [0, 1]], [2, 5], [[0, 1, 1]])
    """
    prefixes, counts = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    finished: list[Traces] = []
    ended: list[Integers] = [np.zeros(0, np.int64)]
    cells = 0
    for level in range(levels):
        cells += len(prefixes) * (n_labels + 1)
        if cells > MOST_CELLS:
            raise UsageError("The tree of prefixes outgrows what can be held. Ask for a larger --prune or --epsilon.")
        noisy = query(prefixes, level == levels - 1)
        parent = np.flatnonzero((noisy[:, n_labels] > 0) & (level > 0))  # no case is without events
        finished.append(_traces(prefixes[parent]))
        ended.append(noisy[parent, n_labels])
        parent, symbol = np.nonzero(noisy[:, :n_labels] > 0)
        counts = noisy[parent, symbol]
        prefixes = np.column_stack((prefixes[parent], symbol))
    return Grown(Counted(concatenated(finished), np.concatenate(ended)), Counted(_traces(prefixes), counts))


def _traces(prefixes: Integers) -> Traces:
    n, length = prefixes.shape
    return Traces(prefixes.ravel(), length * np.arange(n + 1))
