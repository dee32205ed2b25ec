"""Some variants of a population, laid out so that many questions about activities are answered at once.

In: traces, and the activities that questions are about. Out: how often each variant has each of these, and from any place of a
trace on, where an activity comes next. Each is computed on first use and serves all questions. A place is that of an event, if
behind every trace there is one more for its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Traces, order_of
from libra.measures.distances import Floats, Integers

KEPT = 20_000_000  # places that are kept for later questions


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Some variants.

    Attributes:
        traces: The variants.
        weights: For each the number of its cases and the sum of their numbers.
        activities: Those that are asked for, ascending.
    """

    traces: Traces
    weights: Floats
    activities: Integers

    @cached_property
    def _uses(self) -> tuple[Integers, Integers, Integers]:
        """The events ordered by activity: the place of each, the row of its variant, and its activity."""
        order = order_of(self.traces.codes)
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
