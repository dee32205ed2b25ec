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
AT_ONCE = 4_000_000  # events that are shuffled together
ROOM = 16  # times as many events as are needed are shuffled, where a case has more


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
    begin, lengths = log.case_offsets[case], np.diff(log.case_offsets)[case]
    ends = np.cumsum(lengths)
    parts = np.split(np.arange(n), np.searchsorted(ends, np.arange(AT_ONCE, ends[-1], AT_ONCE)))
    events = [begin[part, None] + _places(lengths[part], most, random) for part in parts if len(part)]
    return Sample(case, np.maximum(np.concatenate(events), NONE))


def _places(lengths: Integers, most: int, random: Randomness) -> Integers:
    """For cases of these lengths, places of so many events in random order; far below 0 where there is no more.

    Every event draws a word, and those with the smallest words come first. So whatever draws a large one can be left aside, as
    long as enough are left.
    """
    row = np.repeat(np.arange(len(lengths)), lengths)
    words = random.words(len(row))
    likely = (2.0**64 * np.minimum(ROOM * most / lengths, 0.5)).astype(np.uint64)
    left = (words <= likely[row]) | (lengths <= 2 * ROOM * most)[row]
    left |= (np.bincount(row[left], minlength=len(lengths)) < most)[row]
    event = np.flatnonzero(left)
    row = row[event]
    event = event[np.lexsort((words[event], row))]  # rows stay together, each in random order
    many = np.bincount(row, minlength=len(lengths))
    rank = np.arange(len(event)) - np.repeat(np.cumsum(many) - many, many)
    found = np.full((len(lengths), most), np.iinfo(np.int64).min, np.int64)
    taken = rank < most
    found[row[taken], rank[taken]] = (event - (np.cumsum(lengths) - lengths)[row])[taken]
    return found


def how_manieth(questions: Integers) -> Integers:
    """For every entry of a row, how many equal ones the row has up to here; 0 for `NONE`.

    Example:
        >>> how_manieth(np.array([[3, 7, 3, NONE]])).tolist()
        [[1, 1, 2, 0]]
    """
    same = questions[:, :, None] == questions[:, None, :]
    return np.where(questions == NONE, 0, np.tril(same).sum(axis=2))
