"""Traces with counts: what a query about control flow gives.

In: cases. Out: `Counted`, the distinct traces among them and how many cases follow each; queries give back the same with noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.cases import Cases, Integers, Traces


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """Some traces, and how many cases follow each.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> Counted(traces_of([[0, 1], [2]]), np.array([2, 1])).repeated().to_lists()
        [[0, 1], [0, 1], [2]]
    """

    traces: Traces
    counts: Integers

    def __len__(self) -> int:
        """How many different traces there are."""
        return len(self.traces)

    @property
    def n_cases(self) -> int:
        """How many cases follow all of them together."""
        return int(self.counts.sum())

    def repeated(self) -> Traces:
        """A trace for every case."""
        return self.traces.take(np.repeat(np.arange(len(self.traces)), self.counts))


def counted_of(cases: Cases) -> Counted:
    """The variants of some cases.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> found = counted_of(cases_of(log))
        >>> len(found) == len(log.variants), found.n_cases
        (True, 50)
    """
    _, first, counts = np.unique(cases.variant, return_index=True, return_counts=True)
    return Counted(Traces(cases.codes, cases.offsets).take(first), counts)
