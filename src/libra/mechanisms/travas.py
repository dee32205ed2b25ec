"""TraVaS (Rafiei, Wangelik and van der Aalst 2022): variants with noisy counts, where those are high enough.

Each variant that occurs gets its count with truncated geometric noise, which is at most k; it is released if that is above k, so
what nobody follows never is. One case moves one count by one: no probability changes by more than e^epsilon, but for one end
of the noise, of probability delta at most. The claim holds. The authors' choice of `repeats` by its result on the raw log is
left out, as it would be a release that nobody counts. No label is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from libra._system.arguments import checked_whole
from libra._system.randomness import Randomness
from libra.engines.polars import PolarsEngine
from libra.errors import UsageError
from libra.eventlog.cases import Integers, Traces, concatenated
from libra.mechanisms import parameters as p
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget
from libra.mechanisms.peers import proved
from libra.mechanisms.variant_queries import Counted, Times, VariantQuery, largest_mu
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import Gate, geometric_entry
from libra.privacy.guarantee import Guarantee
from libra.privacy.ledger import Entry, Ledger
from libra.privacy.noise import NoiseTable, truncated_geometric

MOST_REPEATS = 100
DELTA_OF_QUERY = 0.5  # of delta, where times get the rest
NO_LABEL_PUBLIC = "No label is public: a variant is released only where enough cases follow it."
ROOM = 0.999  # of delta: the rest is for tables of noise, which are not quite the distributions that they stand for


@dataclass(frozen=True)
class Travas(VariantQuery):
    """TraVaS: the variants whose noisy counts pass a threshold. Proved.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Travas(epsilon=1.0, delta=1e-4).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.has_times
        ('proved', False)
    """

    name: ClassVar[str] = "travas"
    private_labels: ClassVar[bool] = True

    epsilon: float = p.EPSILON.field(1.0)
    delta: float = p.DELTA.field(1e-5)
    repeats: int = p.Parameter("Number of queries whose counts are averaged.", f"1 to {MOST_REPEATS}").field(1)
    times: Times = p.TIMES.field("none")
    budget: Budget | dict[str, float] | str = p.BUDGET.field(DEFAULT_BUDGET)
    time_zone: str = p.TIME_ZONE.field("UTC")
    shares: Budget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check(repeats=checked_whole("repeats", self.repeats, 1, MOST_REPEATS))
        if delta_of_ledger(Ledger(tuple(self.entries())), self.epsilon) > self.delta:  # makes the noise, which may refuse too
            why = "Tables of noise are not exact enough for so large an epsilon, so small a delta or so many repeats."
            raise UsageError(f"{why} Ask for a smaller epsilon, a larger delta or fewer repeats.")
        _ = self.mu_times

    @property
    def proved(self) -> bool:
        """Whether the guarantee is proved: always."""
        return True

    def _answer(self, engine: PolarsEngine, gate: Gate, random: Randomness) -> Counted:
        parts = (gate.count_variants(self._one_query[0], -self.noise.first) for _ in range(self.repeats))
        return _averaged([(kept, noisy.counts) for kept, noisy in parts])

    @property
    def _one_query(self) -> tuple[float, float]:
        """Epsilon and delta of one run of the query."""
        delta = ROOM * self.delta * (DELTA_OF_QUERY if self.times == "model" else 1.0)
        return self.query_epsilon / self.repeats, delta / self.repeats

    @cached_property
    def noise(self) -> NoiseTable:
        """The noise of one run of the query."""
        return truncated_geometric(*self._one_query)

    @cached_property
    def mu_times(self) -> float | None:
        """What may be spent on times: all that the query leaves."""
        return None if self.times == "none" else largest_mu(self.entries(), self.epsilon, self.delta)

    def entries(self) -> list[Entry]:
        """What the query writes into the ledger."""
        return [geometric_entry(self._one_query[0], -self.noise.first)] * self.repeats

    def _other_query(self, entries: Sequence[Entry]) -> Iterator[str]:
        if list(entries) != self.entries():
            yield "variant counts do not have the noise that these parameters give them, or not so often"

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised of a release."""
        return proved(self.epsilon, self.delta, NO_LABEL_PUBLIC, seeded=seeded, most_cases=1 if individuals else None)


def _averaged(parts: list[tuple[Traces, Integers]]) -> Counted:
    """The counts of several answers, averaged and rounded; where a variant was not released it counts as none."""
    traces = concatenated([part for part, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    if len(parts) == 1:
        return Counted(traces, counts)
    row: dict[bytes, int] = {}
    of_row = np.array([row.setdefault(trace, len(row)) for trace in traces.as_bytes()], np.int64)
    _, first = np.unique(of_row, return_index=True)
    sums = np.bincount(of_row, counts, len(row))
    return Counted(traces.take(first), np.floor(sums / len(parts) + 0.5).astype(np.int64))
