"""TraVaS (Rafiei, Wangelik and van der Aalst 2022): variants with noisy counts, where those are high enough.

Each variant that occurs gets its count with truncated geometric noise, which is at most k; it is released if that is above k, so
what nobody follows never is, and no list of possible variants is needed. One case moves one count by one: no probability changes
by more than e^epsilon, but for one end point of the noise that has probability delta at most. The claim holds, for one case, or
for one individual where the log says whose case is whose (one case of each, drawn at random, counts). `repeats` makes the query
so often, at (epsilon / repeats, delta / repeats) each, and averages, as its authors propose; their choice of that number by its
result on the raw log is left out, as it would be a release that nobody counts. No label is public. There are no times, unless
our own model adds some from a share of the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from libra.engines.polars import engine_of
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces, concatenated
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.assumptions import AS_READ, NOTHING_ELSE
from libra.mechanisms.assumptions import individuals as of_individuals
from libra.mechanisms.libra.arguments import checked_budget, checked_time_zone
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget
from libra.mechanisms.peers.arguments import Times, checked_times
from libra.mechanisms.peers.counted import Counted, counted_of
from libra.mechanisms.peers.release import Answer, contents_of, release_of
from libra.mechanisms.peers.spending import largest_mu
from libra.mechanisms.release import Release
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.arguments import checked_whole, delta_of_guarantee
from libra.privacy.gate import Gate, geometric_entry
from libra.privacy.gaussian import checked_epsilon
from libra.privacy.guarantee import Guarantee
from libra.privacy.ledger import Entry, Ledger
from libra.privacy.noise_table import NoiseTable, truncated_geometric
from libra.privacy.randomness import Randomness
from libra.privacy.selection import BoundedRule
from libra.privacy.unit import CASE, Unit

MOST_REPEATS = 100
DELTA_OF_QUERY = 0.5  # of delta, where times get the rest
NO_LABEL_PUBLIC = "No label is public: a variant is released only where enough cases follow it."
ROOM = 0.999  # of delta: the rest is for tables of noise, which are not quite the distributions that they stand for


@dataclass(frozen=True)
class Travas:
    """TraVaS, with its parameters.

    Attributes:
        epsilon: Of the guarantee.
        delta: Likewise; well below one over the number of cases.
        repeats: How often the query is made, its counts being averaged.
        times: "none" for placeholders, "model" for times from our private model.
        budget: Shares of control flow and times, where times are modelled.
        time_zone: Whose hours and days the times are in.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Travas(epsilon=1.0, delta=1e-4).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.has_times
        ('proved', False)
    """

    name: ClassVar[str] = "travas"
    private_labels: ClassVar[bool] = True
    accepts_empty: ClassVar[bool] = True

    epsilon: float = 1.0
    delta: float = 1e-5
    repeats: int = 1
    times: Times = "none"
    budget: Budget | dict[str, float] | str = DEFAULT_BUDGET
    time_zone: str = "UTC"
    shares: Budget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Bring the parameters into their one form and refuse what cannot be meant."""
        budget = checked_budget(self.budget)
        for name, value in (
            ("epsilon", checked_epsilon(self.epsilon)),
            ("delta", delta_of_guarantee(self.delta)),
            ("repeats", checked_whole("repeats", self.repeats, 1, MOST_REPEATS)),
            ("times", checked_times(self.times)),
            ("budget", dict(vars(budget))),
            ("time_zone", checked_time_zone(self.time_zone)),
            ("shares", budget),
        ):
            object.__setattr__(self, name, value)
        if self.times == "none" and (budget != DEFAULT_BUDGET or self.time_zone != "UTC"):
            raise UsageError("budget and time_zone are about times, and none are released. Ask for them: --times model.")
        if delta_of_ledger(Ledger(tuple(self.entries())), self.epsilon) > self.delta:  # makes the noise, which may refuse too
            raise UsageError(
                "Tables of noise are not exact enough for so large an epsilon, so small a delta or so many repeats. Ask for a "
                "smaller epsilon, a larger delta or fewer repeats."
            )
        _ = self.mu_times

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log."""
        unit = CASE if log.individual is None else Unit(most_cases=1)
        engine = engine_of(log, unit, random)
        gate = Gate(engine, random)
        progress(1, 3)
        parts = [gate.thresholded_counts(*self._one_query) for _ in range(self.repeats)]
        progress(2, 3)
        release = release_of(self, log, Answer(_averaged(parts), engine.labels, gate), random)
        progress(3, 3)
        return release

    def variants(self, cases: Cases, random: Randomness) -> Counted:
        """The answer of the query about some cases.

        Example:
            >>> from libra.eventlog.cases import cases_of
            >>> from libra.example.simulate import simulate
            >>> Travas(epsilon=2.0).variants(cases_of(simulate(cases=500)), Randomness()).n_cases > 0
            True
        """
        counted = counted_of(cases)
        chosen = [BoundedRule(self.noise).passing(counted.counts, random) for _ in range(self.repeats)]
        return _averaged([(counted.traces.take(rows), noisy) for rows, noisy in chosen])

    @property
    def _one_query(self) -> tuple[float, float]:
        """Epsilon and delta of one run of the query."""
        modelled = self.times == "model"
        epsilon = self.epsilon * (self.shares.control if modelled else 1.0) / self.repeats
        return epsilon, ROOM * self.delta * (DELTA_OF_QUERY if modelled else 1.0) / self.repeats

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
        return [geometric_entry(self._one_query[0], self.noise)] * self.repeats

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger, those about times aside, differ from what the query writes."""
        if list(entries) != self.entries():
            yield "variant counts do not have the noise that these parameters give them, or not so often"

    @property
    def contents(self) -> str:
        """What a release holds."""
        return contents_of(self.times)

    def claim(self) -> None:
        """Nothing is only claimed."""

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised of a release."""
        unit = Unit(most_cases=1) if individuals else CASE
        assumed = (NO_LABEL_PUBLIC, NOTHING_ELSE, AS_READ, *((of_individuals("one case"),) if individuals else ()))
        return Guarantee.proved(self.epsilon, self.delta, unit, assumed, seeded=seeded)

    def parameters(self) -> dict[str, Any]:
        """What was asked for, as far as it played a part."""
        plain = {parameter.name: getattr(self, parameter.name) for parameter in fields(self) if parameter.init}
        if self.times == "none":
            del plain["budget"], plain["time_zone"]
        return plain


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
