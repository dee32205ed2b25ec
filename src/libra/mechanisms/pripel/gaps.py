"""The time from an event to the next, by the two activities: what is drawn from where a trace has no time of its own.

In: cases. Out: `Gaps`, all gaps of the cases in one array, those of a pair of activities next to each other. A gap against the
clock counts as none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.cases import Cases, Integers, Traces
from libra.privacy.randomness import Randomness


@dataclass(frozen=True, eq=False, repr=False)
class Gaps:
    """The gaps of pair `pairs[i]` are the `sizes[i]` of `micros` from `begins[i]` on, from the shortest up."""

    micros: Integers
    pairs: Integers
    begins: Integers
    sizes: Integers
    n_activities: int

    @property
    def shortest(self) -> int:
        """The shortest gap of all."""
        return int(self.micros.min()) if len(self.micros) else 0

    def draw(self, traces: Traces, random: Randomness) -> Integers:
        """For every event a random gap of its pair, or of any where no case has the pair; 0 where there is no gap at all."""
        if not len(self.micros):
            return np.zeros(len(traces.codes), np.int64)
        begins, sizes = self._of(traces)
        return self.micros[begins + (random.uniform(len(begins)) * sizes).astype(np.int64)]

    def ranges(self, traces: Traces) -> Integers:
        """For every event how far apart the gaps of its pair are, or all gaps where no case has the pair."""
        if not len(self.micros):
            return np.zeros(len(traces.codes), np.int64)
        begins, sizes = self._of(traces)
        overall = np.int64(self.micros.max() - self.micros.min())
        return np.where(sizes == len(self.micros), overall, self.micros[begins + sizes - 1] - self.micros[begins])

    def _of(self, traces: Traces) -> tuple[Integers, Integers]:
        """For every event where the gaps to draw from begin, and how many they are; the first of a case may have any."""
        pair = _pairs(traces.codes, self.n_activities)
        place = np.minimum(np.searchsorted(self.pairs, pair), len(self.pairs) - 1)
        known = self.pairs[place] == pair
        return np.where(known, self.begins[place], 0), np.where(known, self.sizes[place], len(self.micros))


def gaps_of(cases: Cases) -> Gaps:
    """The gaps of some cases.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> cases = Cases(*map(np.array, ([0, 1, 0, 1], [0, 7, 20, 25], [0, 2, 4], [0, 0])), n_activities=2)
        >>> gaps_of(cases).micros.tolist(), gaps_of(cases).ranges(traces_of([[0, 1]]))[1]
        ([5, 7], np.int64(2))
    """
    later = np.ones(len(cases.codes), bool)
    later[cases.offsets[:-1]] = False
    pair = _pairs(cases.codes, cases.n_activities)[later]
    micros = np.maximum(np.diff(cases.micros, prepend=cases.micros[:1])[later], 0)
    order = np.lexsort((micros, pair))
    pairs, begins, sizes = np.unique(pair[order], return_index=True, return_counts=True)
    return Gaps(micros[order], pairs, begins, sizes, cases.n_activities)


def _pairs(codes: Integers, n_activities: int) -> Integers:
    """For every event its activity and that of the one before, as one number."""
    return np.concatenate((codes[:1], codes[:-1])) * n_activities + codes
