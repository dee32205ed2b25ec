"""What an attacker may know about a case: some of its events, drawn at random, more or less of each.

In: a log. Out: `Knowledge`, for cases drawn with replacement a few of their events in random order. Knowing k of them means the
first k, so that whoever knows more knows all that was known before. What is known of these events is one of `KINDS`; each holds
what those before it hold, but for `days`, which adds days to `multiset` and leaves the order within a day open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from libra.eventlog.cases import DAY
from libra.eventlog.log import EventLog
from libra.measures.distances import Integers
from libra.privacy.randomness import Randomness

Kind = Literal["set", "multiset", "sequence", "days"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SIZES = (1, 2, 3, 5)
NONE = -1


@dataclass(frozen=True, eq=False, repr=False)
class Knowledge:
    """Some events of some cases: row i is about case `case[i]`, and holds one event a column, or `NONE` where there is no more.

    `codes` and `days` are the activities and the days since 1970 of these events.
    """

    case: Integers
    codes: Integers
    days: Integers


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Cases that were drawn, and for each the events that become known, one after the other; `NONE` after the last."""

    case: Integers
    events: Integers

    def knowing(self, k: int, codes: Integers, timestamps: Integers) -> Knowledge:
        """What is known after k events, in the order of the file; `codes` and `timestamps` are those of the log."""
        known = self.events[:, :k]
        last = np.iinfo(np.int64).max
        known = np.sort(np.where(known == NONE, last, known), axis=1)
        known = np.where(known == last, NONE, known)
        return Knowledge(
            self.case,
            np.where(known == NONE, NONE, codes[known]),
            np.where(known == NONE, NONE, timestamps[known] // DAY),
        )


def draw(log: EventLog, n: int, random: Randomness, most: int = SIZES[-1]) -> Sample:
    """Draw n cases, each as likely as any other every time, and `most` of the events of each, or all where it has fewer.

    Example:
        >>> from libra.example.simulate import simulate
        >>> sample = draw(simulate(cases=20), 50, Randomness(seed=1))
        >>> sample.case.shape, sample.events.shape
        ((50,), (50, 5))
    """
    case = random.below(log.n_cases, n)
    lengths = np.diff(log.case_offsets)[case]
    ends = np.cumsum(lengths)
    row = np.repeat(np.arange(n), lengths)
    place = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    shuffled = np.lexsort((random.words(len(place)), row))  # rows stay together, each in random order
    events = np.full((n, most), NONE, np.int64)
    taken = place < most
    events[row[taken], place[taken]] = (log.case_offsets[case][row] + place[shuffled])[taken]
    return Sample(case, events)
