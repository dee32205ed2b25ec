"""Which activity always, sometimes or never follows or precedes which: read off traces, and checked on prefixes.

In: traces. Out: `Relations`, which says of every prefix and every label, or the end, whether going on like that breaks one. An
activity may follow or precede at any distance. "Sometimes" cannot be broken, and "never precedes" is "never follows" seen from
the other side, so three relations are left. They take a byte for each pair of labels, so too many labels are refused beforehand;
everything else is worked through in parts of a bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from libra.errors import UsageError
from libra.eventlog.cases import Integers, Traces

Booleans = npt.NDArray[np.bool_]
MOST_LABELS = 12_000  # three relations of so many labels take 432 MB
AT_ONCE = 2_000_000  # pairs of occurrences, and cells of a matrix, that are held at once


def check_labels(n_labels: int) -> None:
    """A `UsageError` where there are more labels than can be related to each other.

    Example:
        >>> check_labels(12_001)
        Traceback (most recent call last):
        libra.errors.UsageError: sacofa relates every label to every other, and more than 12,000 of them do not fit into memory.
        Group the labels, or use prefix-laplace, which relates none.
    """
    if n_labels > MOST_LABELS:
        raise UsageError(
            f"sacofa relates every label to every other, and more than {MOST_LABELS:,} of them do not fit into memory. Group the "
            "labels, or use prefix-laplace, which relates none."
        )


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
            >>> from libra.eventlog.cases import traces_of
            >>> relations = relations_of(traces_of([[0, 1, 2], [0, 1]]), n_labels=3)
            >>> relations.broken(np.array([[0], [1]])).tolist()  # after 0 must come 1, before 1 must have come 0
            [[True, False, True, True], [True, True, True, False]]
        """
        n_labels = len(self.never_followed)
        found = np.empty((len(prefixes), n_labels + 1), bool)
        some = _rows_at_once(n_labels)
        for begin in range(0, len(prefixes), some):
            found[begin : begin + some] = self._broken(prefixes[begin : begin + some])
        return found

    def _broken(self, prefixes: Integers) -> Booleans:
        n, n_labels = len(prefixes), len(self.never_followed)
        rows = np.arange(n)
        seen, owed, banned = (np.zeros((n, n_labels), bool) for _ in range(3))
        met = np.zeros((n, n_labels), np.int32)  # how many of those that have to come before a label are there
        for codes in prefixes.T:
            new = np.flatnonzero(~seen[rows, codes])
            met[new] += self.always_preceded.T[codes[new]]
            seen[rows, codes] = True
            owed[rows, codes] = False
            owed |= self.always_followed[codes]
            banned |= self.never_followed[codes]
        return np.column_stack((banned | (met < self._n_before), owed.any(axis=1)))

    @cached_property
    def _n_before(self) -> Integers:
        """How many have to come before each label."""
        n_before: Integers = self.always_preceded.sum(axis=1)
        return n_before


def relations_of(traces: Traces, n_labels: int) -> Relations:
    """The relations that hold in all these traces; where a label does not occur, all of them hold of it.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> relations = relations_of(traces_of([[0, 1, 0], [1, 2]]), n_labels=3)
        >>> relations.never_followed[2].tolist(), relations.always_followed[1].tolist(), relations.always_preceded[2].tolist()
        ([True, True, True], [False, False, False], [False, True, False])
    """
    trace, label, first, last = _occurrences(traces, n_labels)
    of_trace = np.searchsorted(trace, np.arange(len(traces) + 1))
    by_label = np.argsort(label, kind="stable")
    of_label = np.searchsorted(label, np.arange(n_labels + 1), sorter=by_label)
    relations = Relations(*(np.empty((n_labels, n_labels), bool) for _ in range(3)))
    some = _rows_at_once(n_labels)
    for begin in range(0, n_labels, some):
        end = min(begin + some, n_labels)
        ones = by_label[of_label[begin] : of_label[end]]
        after, always_after, always_before = (np.zeros((end - begin) * n_labels, np.int64) for _ in range(3))
        for one, other in _pairs(ones, of_trace[trace[ones]], of_trace[trace[ones] + 1]):
            cell = (label[one] - begin) * n_labels + label[other]
            after += np.bincount(cell[last[other] > first[one]], minlength=len(after))
            always_after += np.bincount(cell[last[other] > last[one]], minlength=len(after))
            always_before += np.bincount(cell[first[other] < first[one]], minlength=len(after))
        everywhere, shape = np.diff(of_label[begin : end + 1])[:, None], (end - begin, n_labels)
        relations.never_followed[begin:end] = after.reshape(shape) == 0
        relations.always_followed[begin:end] = always_after.reshape(shape) == everywhere
        relations.always_preceded[begin:end] = always_before.reshape(shape) == everywhere
    return relations


def _rows_at_once(n_labels: int) -> int:
    return max(AT_ONCE // max(n_labels, 1), 1)


def _occurrences(traces: Traces, n_labels: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Trace and label of everything that happens, each pair once, ordered by trace, with the first and the last position."""
    keys = traces.rows * max(n_labels, 1) + traces.codes
    found, first = np.unique(keys, return_index=True)
    _, from_behind = np.unique(keys[::-1], return_index=True)
    trace, label = np.divmod(found, max(n_labels, 1))
    return trace, label, first, len(keys) - 1 - from_behind


def _pairs(ones: Integers, begins: Integers, ends: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Each of these rows with each of its group, from `begins` up to `ends`; some at a time, all of a row together."""
    sizes = ends - begins
    total = np.concatenate(([0], np.cumsum(sizes)))
    low = 0
    while low < len(ones):
        high = max(int(np.searchsorted(total, total[low] + AT_ONCE, side="right")) - 1, low + 1)
        size = sizes[low:high]
        shift = begins[low:high] - (total[low:high] - total[low])
        yield np.repeat(ones[low:high], size), np.arange(total[high] - total[low]) + np.repeat(shift, size)
        low = high
