"""Which activity always, sometimes or never follows or precedes which: read off traces, and checked on prefixes.

In: traces. Out: `Relations`, which says of every prefix and every label, or the end, whether going on like that breaks one. An
activity may follow or precede at any distance. "Sometimes" cannot be broken, and "never precedes" is "never follows" seen from
the other side, so three relations are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.eventlog.traces import Integers, Traces

Booleans = npt.NDArray[np.bool_]
MOST_PAIRS = 5_000_000  # that are held at once


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """What holds in all of some traces; `relation[a, b]` is about b, seen from a.

    Attributes:
        never_followed: No b ever comes after an a.
        always_followed: After every a comes a b.
        always_preceded: Before every a comes a b.
    """

    never_followed: Booleans
    always_followed: Booleans
    always_preceded: Booleans

    def broken(self, prefixes: Integers) -> Booleans:
        """Whether a relation breaks where each prefix (a row of codes) goes on to each label, or to the end (the last column).

        Example:
            >>> from libra.eventlog.traces import traces_of
            >>> relations = relations_of(traces_of([[0, 1, 2], [0, 1]]), n_labels=3)
            >>> relations.broken(np.array([[0], [1]])).tolist()  # after 0 must come 1, before 1 must have come 0
            [[True, False, True, True], [True, True, True, False]]
        """
        n, n_labels = len(prefixes), len(self.never_followed)
        rows = np.arange(n)
        seen, owed, banned = (np.zeros((n, n_labels), bool) for _ in range(3))
        for codes in prefixes.T:
            seen[rows, codes] = True
            owed[rows, codes] = False
            owed |= self.always_followed[codes]
            banned |= self.never_followed[codes]
        lacking = ~seen @ self.always_preceded.T  # some label that has to come before is not there
        return np.column_stack((banned | lacking, owed.any(axis=1)))


def relations_of(traces: Traces, n_labels: int) -> Relations:
    """The relations that hold in all these traces; where a label does not occur, all of them hold of it.

    Example:
        >>> from libra.eventlog.traces import traces_of
        >>> relations = relations_of(traces_of([[0, 1, 0], [1, 2]]), n_labels=3)
        >>> relations.never_followed[2].tolist(), relations.always_followed[1].tolist(), relations.always_preceded[2].tolist()
        ([True, True, True], [False, False, False], [False, True, False])
    """
    trace, label, first, last = _occurrences(traces, n_labels)
    cells = n_labels * n_labels
    after, always_after, always_before = (np.zeros(cells, np.int64) for _ in range(3))
    offsets = np.searchsorted(trace, np.arange(len(traces) + 1))
    pairs = np.concatenate(([0], np.cumsum(np.diff(offsets) ** 2)))
    begin = 0
    while begin < len(traces):
        end = max(int(np.searchsorted(pairs, pairs[begin] + MOST_PAIRS, side="right")) - 1, begin + 1)
        one, other = _pairs(offsets[begin : end + 1])
        cell = label[one] * n_labels + label[other]
        after += np.bincount(cell[last[other] > first[one]], minlength=cells)
        always_after += np.bincount(cell[last[other] > last[one]], minlength=cells)
        always_before += np.bincount(cell[first[other] < first[one]], minlength=cells)
        begin = end
    everywhere = np.bincount(label, minlength=n_labels)[:, None]
    square = (n_labels, n_labels)
    return Relations(
        after.reshape(square) == 0, always_after.reshape(square) == everywhere, always_before.reshape(square) == everywhere
    )


def _occurrences(traces: Traces, n_labels: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Trace and label of everything that happens, each pair once, ordered by trace, with the first and the last position."""
    keys = traces.rows * max(n_labels, 1) + traces.codes
    found, first = np.unique(keys, return_index=True)
    _, from_behind = np.unique(keys[::-1], return_index=True)
    trace, label = np.divmod(found, max(n_labels, 1))
    return trace, label, first, len(keys) - 1 - from_behind


def _pairs(offsets: Integers) -> tuple[Integers, Integers]:
    """All pairs of rows within the same group; group i has the rows from `offsets[i]` up to `offsets[i + 1]`."""
    sizes = np.diff(offsets)
    size_of = np.repeat(sizes, sizes)
    one = np.repeat(np.arange(offsets[0], offsets[-1]), size_of)
    begins = np.repeat(np.repeat(offsets[:-1], sizes), size_of)
    place = np.arange(len(one)) - np.repeat(np.cumsum(size_of) - size_of, size_of)
    return one, begins + place
