"""The prefix query with Laplace noise (Mannhardt, Koschmider, Baracaldo, Weidlich and Michael 2019).

Level by level, every open prefix is extended by every label and by the end. Each extension gets the number of cases that begin
like it, with Laplace noise, and is kept where that reaches a threshold. What ends is released with its noisy count; what is still
open after the last level is dropped.

As published, noise of scale 1/epsilon is cut to a whole number, and the claim of epsilon-differential privacy does not hold: a
case counts at each level, so the losses of all levels add up. With `split_budget` it does: epsilon is split over the levels,
noise is discrete, and nothing else of the log is used without being counted (`split`). Labels are public. There are no times,
unless our own model adds some from a share of the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from libra.engines.counting.continuations import continuations
from libra.engines.polars import engine_of
from libra.engines.polars.engine import PolarsEngine
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.assumptions import AS_READ, LABELS_PUBLIC, NOTHING_ELSE
from libra.mechanisms.assumptions import individuals as of_individuals
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget
from libra.mechanisms.peers.arguments import DEFAULT_PRUNE, Times
from libra.mechanisms.peers.claim import EpsilonClaim
from libra.mechanisms.peers.counted import Counted, counted_of
from libra.mechanisms.peers.release import Answer, contents_of, release_of
from libra.mechanisms.peers.spending import Spending, largest_mu, shared
from libra.mechanisms.prefix_laplace.split import FEWEST_LEVELS, Split
from libra.mechanisms.prefix_tree import grow, truncated_laplace
from libra.mechanisms.prefix_tree.parameters import bring_into_form, least_count, longest_trace, told
from libra.mechanisms.prefix_tree.words import ASSUMPTIONS, of_levels, of_raw_figures, shared_caveats, statement
from libra.mechanisms.release import Release
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import Gate
from libra.privacy.guarantee import Guarantee
from libra.privacy.ledger import DISCRETE_LAPLACE, Entry, Ledger
from libra.privacy.randomness import Randomness
from libra.privacy.unit import CASE, Unit

SOURCE = (
    "F. Mannhardt, A. Koschmider, N. Baracaldo, M. Weidlich and J. Michael: Privacy-Preserving Process Mining, Business & "
    "Information Systems Engineering 2019"
)
ROOM = 0.999  # of delta, for what the accountant rounds up


@dataclass(frozen=True)
class PrefixLaplace:
    """The prefix query, with its parameters.

    Attributes:
        epsilon: What is claimed; with `split_budget`, of the guarantee.
        prune: From which noisy count on a prefix is kept: a share of the cases below 1, a whole count from 1 up.
        max_length: The number of events of the longest trace; None for the average of a case, rounded up.
        split_budget: Whether epsilon is split over the levels, which is the sound form.
        times: "none" for placeholders, "model" for times from our private model.
        budget: Shares of control flow and times, where times are modelled.
        delta: Of the modelled times. With `split_budget`, of the guarantee; without times it is there for what tables of
            noise are off by.
        time_zone: Whose hours and days the times are in.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=2_000)
        >>> PrefixLaplace(epsilon=1.0).anonymize(log, Randomness()).guarantee.kind
        'claimed'
        >>> PrefixLaplace(epsilon=2.0, prune=60, max_length=6, split_budget=True).anonymize(log, Randomness()).guarantee.kind
        'proved'
    """

    name: ClassVar[str] = "prefix-laplace"
    private_labels: ClassVar[bool] = False

    epsilon: float = 1.0
    prune: float = DEFAULT_PRUNE
    max_length: int | None = None
    split_budget: bool = False
    times: Times = "none"
    budget: Budget | dict[str, float] | str = DEFAULT_BUDGET
    delta: float = 1e-5
    time_zone: str = "UTC"
    shares: Budget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Bring the parameters into their one form and refuse what cannot be meant."""
        bring_into_form(self)
        if not isinstance(self.split_budget, bool):
            raise UsageError(f"split_budget is either True or False, not {self.split_budget!r}.")
        _ = self.spending  # what cannot be drawn is refused here

    @property
    def accepts_empty(self) -> bool:
        """Whether a log without cases is taken: where the guarantee is proved, a refusal must not depend on a single case."""
        return self.split_budget

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log."""
        one_of_each = self.split_budget and log.individual is not None
        engine = engine_of(log, Unit(most_cases=1) if one_of_each else CASE, random)
        gate = Gate(engine, random)
        progress(1, 3)
        counted = self._sound(gate, len(engine.labels)) if self.split_budget else self._published(engine, random)
        progress(2, 3)
        release = release_of(self, log, Answer(counted, engine.labels, gate), random)
        progress(3, 3)
        return release

    def variants(self, cases: Cases, random: Randomness) -> Counted:
        """The answer of the query about some cases.

        Example:
            >>> from libra.eventlog.cases import cases_of
            >>> from libra.example.simulate import simulate
            >>> PrefixLaplace().variants(cases_of(simulate(cases=500)), Randomness()).n_cases > 0
            True
        """
        counted = counted_of(cases)
        labels = tuple(str(code) for code in range(cases.n_activities))
        engine = PolarsEngine(cases, np.unique(cases.variant), counted.traces, counted.counts, labels)
        return self._sound(Gate(engine, random), len(labels)) if self.split_budget else self._published(engine, random)

    def _published(self, engine: PolarsEngine, random: Randomness) -> Counted:
        """The query as published."""
        counted, epsilon, n_labels = Counted(*engine.variants()), self.spending.epsilon, len(engine.labels)
        levels = longest_trace(self.max_length, counted) + 1  # the end is one
        least = least_count(self.prune, counted, epsilon, n_labels, levels)

        def level(prefixes: Integers, last: bool) -> Integers:
            true = continuations(counted.traces, counted.counts, prefixes, n_labels)
            noisy = true + truncated_laplace(1 / epsilon, true.size, random).reshape(true.shape)
            return np.where(noisy >= least, noisy, 0)

        return grow(level, n_labels, levels).finished

    def _sound(self, gate: Gate, n_labels: int) -> Counted:
        """The query with its budget split."""
        return self._split.counts(gate, n_labels)

    @property
    def _split(self) -> Split:
        share = self.shares.control if self.times == "model" else 1.0
        return Split(share * self.epsilon, self.prune, self.max_length)

    @cached_property
    def spending(self) -> Spending:
        """What control flow and times get."""
        if not self.split_budget:
            return shared(self.epsilon, self.delta, self.shares, self.times)
        split = self._split
        possible = {split.most_levels if split.max_length is not None else FEWEST_LEVELS, split.most_levels}
        tables = max(delta_of_ledger(Ledger(tuple(split.entries(levels))), self.epsilon) for levels in possible)
        if tables > self.delta / 2:
            larger = f" Ask for --delta {_power_above(2 * tables):g}." if tables < 0.01 else " Ask for a smaller --epsilon."
            raise UsageError(f"Tables of noise are not exact enough for delta {self.delta:g} at this epsilon.{larger}")
        if self.times == "none":
            return Spending(split.epsilon, None)
        worst = Entry("prefixes", DISCRETE_LAPLACE, 1.0, 1 / split.epsilon)  # however the epsilon is split, it tells no more
        return Spending(split.epsilon, largest_mu([worst], self.epsilon, ROOM * self.delta - tables))

    @property
    def mu_times(self) -> float | None:
        """What may be spent on times."""
        return self.spending.mu_times

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger, those about times aside, differ from what the sound query writes."""
        return self._split.departures(entries)

    @property
    def contents(self) -> str:
        """What a release holds."""
        return contents_of(self.times)

    def claim(self) -> EpsilonClaim | None:
        """What its authors claim; None for the sound form."""
        return None if self.split_budget else EpsilonClaim(self.epsilon, self.delta if self.times == "model" else 0.0)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised of a release."""
        if not self.split_budget:
            return Guarantee(
                kind="claimed",
                statement=statement(self.epsilon, self.delta if self.times == "model" else 0.0),
                source=SOURCE,
                assumptions=ASSUMPTIONS,
                caveats=tuple(self._caveats(individuals)),
            )
        unit = Unit(most_cases=1) if individuals else CASE
        assumed = (LABELS_PUBLIC, NOTHING_ELSE, AS_READ, *((of_individuals("one case"),) if individuals else ()))
        return Guarantee.proved(self.epsilon, self.delta, unit, assumed, seeded=seeded)

    def _caveats(self, individuals: bool) -> Iterator[str]:
        yield of_levels(self.spending.epsilon, None if self.max_length is None else self.max_length + 1)
        yield from of_raw_figures(self.prune, self.max_length)
        yield from shared_caveats(modelled=self.times == "model", individuals=individuals)

    def parameters(self) -> dict[str, Any]:
        """What was asked for, as far as it played a part."""
        plain = {parameter.name: getattr(self, parameter.name) for parameter in fields(self) if parameter.init}
        return told(plain, delta=self.split_budget or self.times == "model")


def _power_above(delta: float) -> float:
    """The next power of ten."""
    return float(10.0 ** np.ceil(np.log10(delta)))
