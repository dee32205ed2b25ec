"""The tree of prefixes that prefix-laplace and sacofa grow level by level, and how large it would become.

Each open prefix has a cell for every label, nearly all of them empty; where noise alone lets more than one of them through, each
level has more made-up prefixes than the one before. Such a tree is refused before it is grown, with a threshold that works.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Integers, Traces, concatenated
from libra.mechanisms.peers import NO_GUARANTEE, EpsilonClaim, claimed
from libra.mechanisms.variant_queries import DEFAULT_PRUNE, LONGEST, Counted, VariantQuery, checked_max_length, checked_prune
from libra.privacy.guarantee import Guarantee

Query: TypeAlias = Callable[[Integers, bool], Integers]
Tail: TypeAlias = Callable[[float, int], float]
MOST_CELLS = 50_000_000  # of all levels together
LARGEST_PRUNE = 1_000_000_000
LEVELS = (
    "Noise is scaled for a case that moves one count. A case moves a count at every level, one for each of its prefixes, and "
    "their losses add up: to epsilon times the number of levels."
)
TRUNCATED = (
    "Noise is drawn in floats and cut to a whole number toward 0. That makes no noise at all twice as likely as it should be, so "
    "a count may tell ln 2 more than epsilon."
)
TIMES = "The epsilon claimed is that of control flow and times together. What comes from times alone is proved; the sum is not."


class PrefixQuery(VariantQuery):
    """A query that grows a tree of prefixes, with the parameters that both have and what is to be said of both as published."""

    prune: float
    max_length: int | None

    def _check(self, **others: Any) -> None:
        """Normalize the parameters and refuse invalid ones."""
        super()._check(prune=checked_prune(self.prune), max_length=checked_max_length(self.max_length), **others)
        _ = self.mu_times

    def claim(self) -> EpsilonClaim | None:
        """What its authors claim; None for a sound form."""
        return None if self.proved else EpsilonClaim(self.epsilon, self.delta if self.times == "model" else 0.0)

    def _claimed(self, source: str, caveats: tuple[str, ...], *, individuals: bool) -> Guarantee:
        """The claim in words; `caveats` are those of this query alone."""
        of_times = f" (and with delta {self.delta:g}, for the times)" if self.times == "model" else ""
        statement = (
            f"As claimed by its authors: epsilon-differential privacy for one case, with epsilon {self.epsilon:g}{of_times}. "
            f"This is no guarantee: the query {NO_GUARANTEE}"
        )
        raw = ["the number of cases"] if 0 < self.prune < 1 else []
        raw += ["the average length of a case"] if self.max_length is None else []
        named, verb = " and ".join(raw), "are" if len(raw) > 1 else "is"
        taken = f"{named[:1].upper()}{named[1:]} {verb} taken from the log without noise, and not counted."
        shared = (*((taken,) if raw else ()), TRUNCATED, *((TIMES,) if self.times == "model" else ()))
        return claimed(statement, source, "the activity labels are public", (*caveats, *shared), individuals=individuals)

    def _levels(self, levels: int | None) -> str:
        """Why one count is not all that a case moves; with the sum where the number of levels is a parameter."""
        if levels is None:
            return LEVELS
        return f"{LEVELS} With {levels} levels, that is up to {levels * self.query_epsilon:g} in place of {self.query_epsilon:g}."

    def _least_count(self, counted: Counted, n_labels: int, levels: int) -> int:
        """The count from which on prefixes are kept, with truncated Laplace noise; refused where the tree would run away."""
        least = threshold(self.prune, counted.n_cases)
        growth = Growth(truncated_tail, 1 / self.query_epsilon, least, n_labels, levels, counted.n_cases)
        refuse_runaway(growth, lambda enough: f"Ask for --set prune={enough} or more, or for a larger --epsilon.")
        return least


def grow(query: Query, n_labels: int, levels: int) -> tuple[Counted, Counted]:
    """Traces that ended within so many levels, and prefixes that are still open after them, with their noisy counts.

    `query` gives noisy counts (a row for each prefix, a column for each label and for the end) of prefixes, which come as rows of
    codes; 0 for what is pruned. It is told whether this is the last level.
    """
    prefixes, counts = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    finished: list[Traces] = []
    ended: list[Integers] = [np.zeros(0, np.int64)]
    cells = 0
    for level in range(levels):
        cells += len(prefixes) * (n_labels + 1)
        if cells > MOST_CELLS:
            raise UsageError("The tree of prefixes outgrows what can be held. Ask for a larger prune or --epsilon.")
        noisy = query(prefixes, level == levels - 1)
        parent = np.flatnonzero((noisy[:, n_labels] > 0) & (level > 0))  # no case is without events
        finished.append(_traces(prefixes[parent]))
        ended.append(noisy[parent, n_labels])
        parent, symbol = np.nonzero(noisy[:, :n_labels] > 0)
        counts = noisy[parent, symbol]
        prefixes = np.column_stack((prefixes[parent], symbol))
    return Counted(concatenated(finished), np.concatenate(ended)), Counted(_traces(prefixes), counts)


def _traces(prefixes: Integers) -> Traces:
    n, length = prefixes.shape
    return Traces(prefixes.ravel(), length * np.arange(n + 1))


def truncated_laplace(scale: float, n: int, random: Randomness) -> Integers:
    """Laplace noise in floats, cut to whole numbers toward 0, as the authors of the prefix query have it."""
    return np.trunc(random.laplace(scale, n)).astype(np.int64)


def truncated_tail(scale: float, least: int) -> float:
    """The probability that such noise is at least so much, from 1 up."""
    return math.exp(-least / scale) / 2


def discrete_tail(scale: float, least: int) -> float:
    """The same of discrete Laplace noise."""
    return math.exp(-least / scale) / (1 + math.exp(-1 / scale))


@dataclass(frozen=True)
class Growth:
    """What decides how a tree grows; `tail` is the probability that noise of a scale is at least so much."""

    tail: Tail
    scale: float
    least: int
    n_labels: int
    levels: int
    n_cases: float | None = None

    @property
    def made_up(self) -> float:
        """How many prefixes noise alone makes of each, from one level to the next."""
        return self.n_labels * self.tail(self.scale, self.least)

    @property
    def cells(self) -> float:
        """An upper bound on the expected number of cells in all levels."""
        per_case = max(1 / self.least, self.tail(self.scale, max(self.least - 1, 1)))  # prefixes that pass, for each case
        followed = per_case * (self.n_cases or 0)
        prefixes, cells = 1.0, 0.0
        for _ in range(self.levels):
            cells += prefixes * (self.n_labels + 1)
            prefixes = min(self.made_up * prefixes + followed, 1e30)
        return cells

    @property
    def runs_away(self) -> bool:
        """Whether it does."""
        return self.made_up > 1 or self.cells > MOST_CELLS


def refuse_runaway(growth: Growth, remedy: Callable[[int], str]) -> None:
    """A `UsageError` where a tree would run away; `remedy` puts the smallest threshold that helps into words."""
    if growth.runs_away:
        why = f"The tree of prefixes would have more than {MOST_CELLS:,} cells"
        if growth.made_up > 1:
            why = f"Noise alone would make {growth.made_up:,.1f} prefixes of each at every level, so the tree would run away"
        raise UsageError(f"{why}. {remedy(smallest_threshold(growth))}")


def smallest_threshold(growth: Growth) -> int:
    """The smallest threshold with which a tree does not run away."""
    high = growth.least
    while replace(growth, least=high).runs_away and high < LARGEST_PRUNE:
        high *= 2
    return bisect_left(range(high), True, lo=1, key=lambda least: not replace(growth, least=least).runs_away)


def threshold(prune: float, n_cases: float) -> int:
    """The smallest whole count that is kept: none is kept of which there is no case."""
    return max(math.ceil(prune * n_cases if prune < 1 else prune), 1)


def longest_of(average: float) -> int:
    """How many events the longest trace has where nobody says: the average of a case, rounded up."""
    return min(max(math.ceil(average), 1), LONGEST)


def longest_trace(max_length: int | None, counted: Counted) -> int:
    """How many events the longest trace has: as said, or as the cases themselves have on average."""
    average = float(counted.traces.lengths @ counted.counts) / max(counted.n_cases, 1)
    return longest_of(average) if max_length is None else max_length


def enough_to_prune(counted: Counted, epsilon: float, n_labels: int) -> int:
    """The default count to prune at, or the smallest with which the tree of a query of so few cases does not run away."""
    least = threshold(DEFAULT_PRUNE, counted.n_cases)
    growth = Growth(truncated_tail, 1 / epsilon, least, n_labels, longest_trace(None, counted) + 1, counted.n_cases)
    return smallest_threshold(growth) if growth.runs_away else least
