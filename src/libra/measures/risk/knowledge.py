"""What an attacker may know about a case, and which variants fit it.

For cases drawn with replacement, a few of their events become known in random order. Knowing k of them means the first k, so that
whoever knows more knows all that was known before. What is known of these events is one of `KINDS`; each holds what those before
it hold, but for `days`, which adds days to `multiset` and leaves the order within a day open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from libra._system.ordering import stable_order
from libra._system.randomness import Randomness
from libra.eventlog.cases import DAY, Traces
from libra.eventlog.log import EventLog
from libra.measures.distances import Floats, Integers

Kind = Literal["set", "multiset", "sequence", "days"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SIZES = (1, 2, 3, 5)
NONE = -1
AT_ONCE = 4_000_000  # events that are shuffled together
ROOM = 16  # times as many events as are needed are shuffled, where a case has more
KEPT = 20_000_000  # places that are kept for later questions
DEARER, AN_ACTIVITY = 25, 10_000  # what it costs to look up one pair by itself, and an activity for all, in cells
Fits = npt.NDArray[np.bool_]


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
        known = np.sort(self.events[:, :k].astype(np.uint64), axis=1).astype(np.int64)  # NONE becomes the largest, and comes last
        none = known == NONE
        return Knowledge(self.case, np.where(none, NONE, codes[known]), np.where(none, NONE, timestamps[known] // DAY))


def draw(log: EventLog, n: int, random: Randomness, most: int = SIZES[-1]) -> Sample:
    """Draw n cases, each as likely as any other every time, and `most` of the events of each, or all where it has fewer."""
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


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Some variants."""

    traces: Traces
    weights: Floats  # for each variant the number of its cases and the sum of their numbers
    activities: Integers  # those that are asked for, ascending

    @cached_property
    def _uses(self) -> tuple[Integers, Integers, Integers]:
        """The events ordered by activity: the place of each, the row of its variant, and its activity."""
        order = stable_order(self.traces.codes)
        rows = self.traces.rows[order]
        return order + rows, rows, self.traces.codes[order]

    @cached_property
    def counts(self) -> npt.NDArray[np.uint8]:
        """How often, up to 255 times, each variant has the activities that are asked for: a row an activity."""
        _, variants, ordered = self._uses
        row = np.searchsorted(self.activities, ordered)
        asked = self.activities[np.minimum(row, len(self.activities) - 1)] == ordered
        cells = row[asked] * len(self.traces) + variants[asked]
        counts = np.bincount(cells, minlength=len(self.activities) * len(self.traces))
        return np.minimum(counts, 255).astype(np.uint8).reshape(len(self.activities), len(self.traces))

    @cached_property
    def begins(self) -> Integers:
        """The place where each variant begins."""
        return self.traces.offsets[:-1] + np.arange(len(self.traces))

    @property
    def given_up(self) -> int:
        """The place of those who did not find an activity: nothing comes after it."""
        return len(self.traces.codes) + len(self.traces)

    @cached_property
    def _kept(self) -> dict[int, Integers]:
        return {}

    def after_next(self, activity: int) -> Integers:
        """For every place, the one after the next use of this activity in the variant; `given_up` where there is none."""
        if activity in self._kept:
            return self._kept[activity]
        places, variants, ordered = self._uses
        these = slice(*np.searchsorted(ordered, (activity, activity + 1)))
        after = places[these] + 1
        reached = np.maximum(self.begins[variants[these]], np.concatenate(([0], after[:-1])))  # from there on it is the next
        bounds = np.concatenate(([0], np.column_stack((reached, after)).ravel(), [self.given_up + 1]))
        values = np.full(len(bounds) - 1, self.given_up)
        values[1::2] = after
        found = np.repeat(values, np.diff(bounds))
        if (len(self._kept) + 1) * len(found) <= KEPT:
            self._kept[activity] = found
        return found

    def after_next_of(self, activities: Integers, places: Integers, variants: Integers) -> Integers:
        """The same for single places in variants, each with an activity of its own."""
        used, rows, ordered = self._uses
        at = np.searchsorted(self._ordered_places, activities * (self.given_up + 1) + places)
        found = np.minimum(at, len(used) - 1)
        there = (at < len(used)) & (ordered[found] == activities) & (rows[found] == variants)
        return np.where(there, used[found] + 1, self.given_up)

    @cached_property
    def _ordered_places(self) -> Integers:
        """For every event its activity and its place in one number, ascending."""
        places, _, ordered = self._uses
        return ordered * (self.given_up + 1) + places


def often_enough(block: Block, questions: Integers, times: Integers | Fits) -> Fits:
    """Whether a variant has all these activities, each at least so often."""
    rows, small = np.searchsorted(block.activities, questions), times.astype(np.uint8)
    fit = np.ones((len(questions), len(block.traces)), bool)
    for column in range(questions.shape[1]):
        fit &= block.counts[rows[:, column]] >= small[:, column, None]
    return fit


def in_order(block: Block, questions: Integers) -> Fits:
    """Whether a variant has these activities in this order, whatever lies between: each is sought from after the one before."""
    fit = often_enough(block, questions, how_manieth(questions))
    pairs, activities = np.flatnonzero(fit), len(np.unique(questions))
    if DEARER * len(pairs) < fit.size + activities * (AN_ACTIVITY + block.given_up):
        fit[:] = False
        fit[_those_in_order(block, questions, *np.divmod(pairs, fit.shape[1]))] = True
        return fit
    place, before = block.begins[None], np.zeros(len(questions), np.int64)
    for known in range(questions.shape[1]):  # questions that begin alike go the same way so far
        ways, first, way = np.unique(questions[:, : known + 1], axis=0, return_index=True, return_inverse=True)
        steps = zip(ways[:, -1].tolist(), place[before[first]], strict=True)
        place = np.stack([at if activity == NONE else block.after_next(activity)[at] for activity, at in steps])
        before = way
    return np.not_equal(place, block.given_up)[before]


def sums(fit: Fits, weights: Floats) -> Floats:
    """For each question the summed weights of the variants that fit."""
    if DEARER * np.count_nonzero(fit) > fit.size:
        return fit @ weights
    question, variant = np.divmod(np.flatnonzero(fit), fit.shape[1])
    return np.column_stack([np.bincount(question, one, minlength=len(fit)) for one in weights[variant].T])


def _those_in_order(block: Block, questions: Integers, question: Integers, variant: Integers) -> tuple[Integers, Integers]:
    """Of these questions and variants those that fit, each looked up by itself."""
    place = block.begins[variant]
    for column in questions.T:
        activity = column[question]
        place = np.where(activity == NONE, place, block.after_next_of(activity, place, variant))
        goes_on = place != block.given_up
        question, variant, place = question[goes_on], variant[goes_on], place[goes_on]
    return question, variant


FITS: dict[Kind, Callable[[Block, Integers], Fits]] = {
    "set": lambda block, questions: often_enough(block, questions, questions != NONE),
    "multiset": lambda block, questions: often_enough(block, questions, how_manieth(questions)),
    "sequence": in_order,
}
