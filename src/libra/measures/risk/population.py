"""The cases among which an attacker looks for somebody, laid out so that many questions are answered at once.

In: a log, and the code of each of its activities. Out: a `Population`, and its variants some at a time as `Block`s: cases of the
same variant give the same answer to every question about activities. `Crowds` is what such questions are answered with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from libra.eventlog.cases import Traces
from libra.eventlog.log import EventLog
from libra.measures.distances import Integers
from libra.measures.risk.block import Block

if TYPE_CHECKING:
    from libra.measures.risk.owners import Owners


@dataclass(frozen=True, eq=False, repr=False)
class Crowds:
    """The cases that fit, for each row of knowledge.

    Attributes:
        size: How many they are.
        total: The sum of their numbers: where there is only one, the case itself.
        individuals: Of how many different individuals they are; None where nobody says whose cases they are.
        others: Those of other individuals than the one whose case is sought: none, one and which, or at least 2 for more. None
            where nobody says whose cases they are.
    """

    size: Integers
    total: Integers
    individuals: Integers | None = None
    others: Crowds | None = None

    @property
    def units(self) -> Integers:
        """Among how many a case can hide: individuals where it is known whose cases they are, and cases elsewhere."""
        return self.size if self.individuals is None else self.individuals

    def without(self, cases: Integers) -> Crowds:
        """The crowds that are left when each row's own case, which fits, is taken out, and all of its individual's."""
        return Crowds(self.size - 1, self.total - cases) if self.others is None else self.others


@dataclass(frozen=True, eq=False, repr=False)
class Population:
    """Cases to be matched.

    Attributes:
        codes: Per event the code of its activity.
        timestamps: Per event its time, in microseconds since 1970.
        offsets: Case i has the events from `offsets[i]` up to `offsets[i + 1]`.
        variant: Per case its variant.
        counts: Per variant the number of its cases.
        owners: Whose cases they are, where somebody says so. What is asked is then about cases of this population.
    """

    codes: Integers
    timestamps: Integers
    offsets: Integers
    variant: Integers
    counts: Integers
    owners: Owners | None = None

    def blocks(self, size: int, activities: Integers) -> Iterator[Block]:
        """The variants, at most so many at a time, for questions about these activities."""
        a_case = np.unique(self.variant, return_index=True)[1]
        traces = Traces(self.codes, self.offsets)
        numbers = np.bincount(self.variant, np.arange(len(self.variant), dtype=np.float64))  # whole, and exact below 2^53
        weights = np.column_stack((self.counts, numbers)).astype(np.float64)
        for begin in range(0, len(a_case), size):
            yield Block(traces.take(a_case[begin : begin + size]), weights[begin : begin + size], activities)


def population_of(log: EventLog, codes: Integers, owners: Owners | None = None) -> Population:
    """The cases of a log, with these codes for its activities and these owners.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=20)
        >>> people = population_of(log, np.arange(len(log.activities)))
        >>> all_of_them = next(people.blocks(size=20, activities=np.array([log.activities.index("Arrive")])))
        >>> set(all_of_them.counts[0].tolist())
        {1}
    """
    of_events = codes[log.activity_codes.astype(np.int64)] if len(codes) else np.zeros(0, np.int64)
    return Population(of_events, log.timestamps, log.case_offsets, log.variants.of_case, log.variants.counts, owners)
