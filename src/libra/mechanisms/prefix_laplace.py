"""The prefix query with Laplace noise (Mannhardt, Koschmider, Baracaldo, Weidlich and Michael 2019).

Level by level, every open prefix is extended by every label and by the end. Each extension gets the number of cases that begin
like it, with Laplace noise, and is kept where that reaches a threshold. What ends is released with its noisy count; what is still
open after the last level is dropped. As published, the claim of epsilon-differential privacy does not hold, because a case counts
at each level; with `split_budget` it does (`Split`). Labels are public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import CASE_LENGTH_BINS, CaseLengths, CaseNumber, PrefixLevel
from libra.engines.counting.control_flow import continuations
from libra.engines.polars import PolarsEngine
from libra.errors import UsageError
from libra.eventlog.cases import Integers
from libra.mechanisms import parameters as p
from libra.mechanisms import prefix_tree as tree
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget
from libra.mechanisms.peers import LABELS_PUBLIC, proved
from libra.mechanisms.prefix_tree import Growth, PrefixQuery, grow, refuse_runaway
from libra.mechanisms.variant_queries import DEFAULT_PRUNE, Counted, Times, largest_mu
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import Gate
from libra.privacy.guarantee import Guarantee
from libra.privacy.ledger import DISCRETE_LAPLACE, Entry, Ledger
from libra.privacy.noise import LARGEST_SCALE, SMALLEST_SCALE, NoisyTable

SOURCE = (
    "F. Mannhardt, A. Koschmider, N. Baracaldo, M. Weidlich and J. Michael: Privacy-Preserving Process Mining, Business & "
    "Information Systems Engineering 2019"
)
ROOM = 0.999  # of delta, for what the accountant rounds up
SHARE = 0.05  # of epsilon, for the number of cases, and as much for their lengths, where they are needed
STANDS_OUT = 2.0  # standard deviations from which on a bin of lengths counts
FEWEST_LEVELS = 2  # a trace of one event, and its end
MOST_LEVELS = 400  # so many losses can be added up exactly
LONGEST_FOUND = int(CASE_LENGTH_BINS[-1])


@dataclass(frozen=True)
class PrefixLaplace(PrefixQuery):
    """Prefix query: frequent prefixes, as traces. Claimed by its authors; proved with split_budget=true.

    Delta is that of the modelled times; with `split_budget`, that of the guarantee, which also covers what tables are off by.

    Example:
        >>> PrefixLaplace().guarantee(seeded=False, individuals=False).kind
        'claimed'
        >>> PrefixLaplace(prune=60, max_length=6, split_budget=True).guarantee(seeded=False, individuals=False).kind
        'proved'
    """

    name: ClassVar[str] = "prefix-laplace"

    epsilon: float = p.EPSILON.field(1.0)
    prune: float = p.PRUNE.field(DEFAULT_PRUNE)
    max_length: int | None = p.MAX_LENGTH.field(None)
    split_budget: bool = p.Parameter("Split the budget over the levels: the sound form.", "true or false").field(False)
    times: Times = p.TIMES.field("none")
    budget: Budget | dict[str, float] | str = p.BUDGET.field(DEFAULT_BUDGET)
    delta: float = p.DELTA.field(1e-5)
    time_zone: str = p.TIME_ZONE.field("UTC")
    shares: Budget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.split_budget, bool):
            raise UsageError(f"split_budget is either True or False, not {self.split_budget!r}.")
        self._check()

    @property
    def proved(self) -> bool:
        """Whether the guarantee is proved: with the budget split."""
        return self.split_budget

    def _answer(self, engine: PolarsEngine, gate: Gate, random: Randomness) -> Counted:
        n_labels = len(engine.labels)
        if self.split_budget:
            return self._split.counts(gate, n_labels)
        counted, scale = Counted(*engine.variants()), 1 / self.query_epsilon
        levels = tree.longest_trace(self.max_length, counted) + 1  # the end is one
        least = self._least_count(counted, n_labels, levels)

        def level(prefixes: Integers, last: bool) -> Integers:
            true = continuations(counted.traces, counted.counts, prefixes, n_labels)
            noisy = true + tree.truncated_laplace(scale, true.size, random).reshape(true.shape)
            return np.where(noisy >= least, noisy, 0)

        return grow(level, n_labels, levels)[0]

    @cached_property
    def _split(self) -> Split:
        return Split(self.query_epsilon, self.prune, self.max_length)

    @cached_property
    def mu_times(self) -> float | None:
        """What may be spent on times; with the budget split, all that the query leaves."""
        if not self.split_budget:
            return super().mu_times
        split = self._split
        possible = {split.most_levels if split.max_length is not None else FEWEST_LEVELS, split.most_levels}
        tables = max(delta_of_ledger(Ledger(tuple(split.entries(levels))), self.epsilon) for levels in possible)
        if tables > self.delta / 2:
            power = 10.0 ** np.ceil(np.log10(2 * tables))  # the next power of ten
            larger = f" Ask for --delta {power:g}." if tables < 0.01 else " Ask for a smaller --epsilon."
            raise UsageError(f"Tables of noise are not exact enough for delta {self.delta:g} at this epsilon.{larger}")
        if self.times == "none":
            return None
        worst = Entry("prefixes", DISCRETE_LAPLACE, 1.0, 1 / split.epsilon)  # however the epsilon is split, it tells no more
        return largest_mu([worst], self.epsilon, ROOM * self.delta - tables)

    def _other_query(self, entries: Sequence[Entry]) -> Iterator[str]:
        return self._split.departures(entries)

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised of a release."""
        if self.split_budget:
            return proved(self.epsilon, self.delta, LABELS_PUBLIC, seeded=seeded, most_cases=1 if individuals else None)
        levels = self._levels(None if self.max_length is None else self.max_length + 1)
        return self._claimed(SOURCE, (levels,), individuals=individuals)


@dataclass(frozen=True)
class Split:
    """The query in a form whose guarantee is proved: everything goes through the gate, and epsilon is split over levels.

    At each level a case counts in one cell, so each level is a pure release of 1 over the scale of its discrete Laplace noise.
    How many levels there are and what is pruned has to be public: where it is not said, the number of cases and their lengths are
    released first, for a small share of epsilon each. Once noise is drawn nothing is refused: a refusal would tell of it what no
    ledger counts. Where a tree would run away, more is pruned.
    """

    epsilon: float
    prune: float
    max_length: int | None

    def __post_init__(self) -> None:
        if self.max_length is not None and self.max_length >= MOST_LEVELS:
            raise UsageError(
                f"With split_budget the longest trace has fewer than {MOST_LEVELS} events. Ask for --set max_length=N."
            )
        if self._asks_number and self._first_scale > LARGEST_SCALE:
            raise UsageError("So small an epsilon does not give the number of cases. Ask for a count: --set prune=N.")
        if self.max_length is None and self._first_scale > LARGEST_SCALE:
            raise UsageError("So small an epsilon does not give the lengths of cases. Ask for --set max_length=N.")
        if self.max_length is not None:
            self.scale(self.max_length + 1)

    @property
    def _asks_number(self) -> bool:
        return 0 < self.prune < 1

    @property
    def _first_scale(self) -> float:
        return max(1 / (SHARE * self.epsilon), SMALLEST_SCALE)

    @property
    def most_levels(self) -> int:
        """How many levels there are at most; one more than the longest trace has events, for the end."""
        return (LONGEST_FOUND if self.max_length is None else self.max_length) + 1

    def scale(self, levels: int) -> float:
        """The scale of the noise on each of so many levels."""
        left = self.epsilon * (1 - SHARE * (self._asks_number + (self.max_length is None)))
        scale = max(levels / left, SMALLEST_SCALE)
        if scale > LARGEST_SCALE:
            remedy = f"Ask for a larger --epsilon, or for --set max_length={max(int(LARGEST_SCALE * left) - 1, 1)}."
            raise UsageError(f"So small an epsilon cannot be split over {levels} levels. {remedy}")
        return scale

    def entries(self, levels: int) -> list[Entry]:
        """What the query writes into the ledger, with so many levels."""
        first = [CaseNumber.purpose] if self._asks_number else []
        first += [CaseLengths.purpose] if self.max_length is None else []
        of_level = Entry(PrefixLevel.purpose, DISCRETE_LAPLACE, 1.0, self.scale(levels))
        return [*(Entry(purpose, DISCRETE_LAPLACE, 1.0, self._first_scale) for purpose in first), *[of_level] * levels]

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger differ from what the query writes."""
        levels = sum(entry.purpose == PrefixLevel.purpose for entry in entries)
        fewest = self.most_levels if self.max_length is not None else FEWEST_LEVELS
        if not fewest <= levels <= self.most_levels:
            possible = f"{fewest} to {self.most_levels}" if self.max_length is None else f"{fewest}"
            yield f"there are {levels} levels of prefixes, and with these parameters there are {possible}"
        elif list(entries) != self.entries(levels):
            yield "releases about prefixes are not those of these parameters, or do not have the noise that they get"

    def counts(self, gate: Gate, n_labels: int) -> Counted:
        """The answer of the query."""
        if self.max_length is not None and not self._asks_number:
            growth = self._growth(self.max_length + 1, None, n_labels)
            refuse_runaway(growth, lambda enough: f"Ask for --set prune={enough}, or for a larger --epsilon.")
        number = float(gate.release_whole(CaseNumber(), self._first_scale).values[0]) if self._asks_number else None
        longest = self.max_length
        if longest is None:
            longest = tree.longest_of(average_of(gate.release_whole(CaseLengths(), self._first_scale)))
        growth = self._growth(longest + 1, number, n_labels)
        scale, least = growth.scale, tree.smallest_threshold(growth) if growth.runs_away else growth.least

        def level(prefixes: Integers, last: bool) -> Integers:
            noisy = gate.release_whole(PrefixLevel(prefixes, n_labels), scale).counts
            return np.where(noisy >= least, noisy, 0)

        return grow(level, n_labels, longest + 1)[0]

    def _growth(self, levels: int, number: float | None, n_labels: int) -> Growth:
        """How a tree of so many levels grows, given the noisy number of cases where it was asked for."""
        cases = None if number is None else max(number, 1.0)
        least = tree.threshold(self.prune, cases or 1.0)
        return Growth(tree.discrete_tail, self.scale(levels), least, n_labels, levels, cases)


def average_of(lengths: NoisyTable) -> float:
    """The average length of a case from the noisy numbers of cases by length: those that stand out; 1 where none does."""
    middle = (CASE_LENGTH_BINS + np.append(CASE_LENGTH_BINS[1:] - 1, LONGEST_FOUND)) / 2
    found = np.where(lengths.values >= STANDS_OUT * lengths.sd, lengths.values, 0.0)
    return float(found @ middle / found.sum()) if found.any() else 1.0
