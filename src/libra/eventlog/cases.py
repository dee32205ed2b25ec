"""Cases as arrays: what a mechanism works on, whole cases at a time.

In: an `EventLog`. Out: `Cases`, which holds what the paper assumes of a log and nothing else: per event the code of its activity
and its time, per case where its events lie and which variant it follows. Ids, attributes and the header stay behind. Immutable;
`take` makes a new one, with cases in another order, left out or repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.eventlog.log import EventLog

Integers = npt.NDArray[np.int64]
MINUTE = 60_000_000  # microseconds
DAY = 24 * 60 * MINUTE


@dataclass(frozen=True, eq=False, repr=False)
class Cases:
    """Some cases of a log.

    `codes` and `micros` hold the activity code and the time (microseconds since 1970) of every event; case i has the events from
    `offsets[i]` up to `offsets[i + 1]` and follows variant `variant[i]` of the log. `n_activities` is the number of labels.
    """

    codes: Integers
    micros: Integers
    offsets: Integers
    variant: Integers
    n_activities: int

    def __len__(self) -> int:
        """How many cases there are."""
        return len(self.variant)

    @property
    def lengths(self) -> Integers:
        """How many events each case has."""
        return np.diff(self.offsets)

    def take(self, rows: Integers) -> Cases:
        """The cases in these rows, in this order; a row that comes twice gives the case twice.

        Example:
            >>> log_cases = Cases(*map(np.array, ([0, 1, 2], [10, 20, 30], [0, 2, 3], [0, 1])), n_activities=3)
            >>> taken = log_cases.take(np.array([1, 0, 1]))
            >>> taken.codes.tolist(), taken.offsets.tolist(), taken.variant.tolist()
            ([2, 0, 1, 2], [0, 1, 3, 4], [1, 0, 1])
        """
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        events = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Cases(self.codes[events], self.micros[events], offsets, self.variant[rows], self.n_activities)


def cases_of(log: EventLog) -> Cases:
    """The cases of a log.

    Example:
        >>> from libra.example.simulate import simulate
        >>> len(cases_of(simulate(cases=50)))
        50
    """
    return Cases(log.activity_codes.astype(np.int64), log.timestamps, log.case_offsets, log.variants.of_case, len(log.activities))


def together(parts: Sequence[Cases]) -> Cases:
    """All cases of some parts of the same log, one part after the other.

    Example:
        >>> from libra.example.simulate import simulate
        >>> cases = cases_of(simulate(cases=50))
        >>> len(together([cases, cases.take(np.array([3, 4]))]))
        52
    """
    lengths = np.concatenate([part.lengths for part in parts])
    return Cases(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.micros for part in parts]),
        np.concatenate(([0], np.cumsum(lengths))),
        np.concatenate([part.variant for part in parts]),
        parts[0].n_activities,
    )
