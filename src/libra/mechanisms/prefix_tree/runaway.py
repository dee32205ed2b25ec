"""How large a tree of prefixes would become, said before it is grown; what runs away is refused, with a setting that does not.

In: the noise, the threshold, the number of labels and levels, and at most how many cases there are, where that is known. Out:
nothing, or a `UsageError`. Each open prefix has a cell for every label, nearly all of them empty; where noise alone lets more
than one of them through, each level has more made-up prefixes than the one before. Nothing here looks at counts of the log.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from libra.errors import UsageError

MOST_CELLS = 50_000_000  # of all levels together
LARGEST_PRUNE = 1_000_000_000
Tail = Callable[[float, int], float]


@dataclass(frozen=True)
class Growth:
    """What decides how a tree grows.

    Attributes:
        tail: The probability that noise of a scale is at least so much.
        scale: Of the noise.
        least: The count from which on a prefix is kept.
        n_labels: How many labels there are.
        levels: How many symbols the longest prefix has.
        n_cases: How many cases there are, or a bound on their variants; None where it is not known.

    Example:
        >>> from libra.mechanisms.prefix_tree.tails import truncated_tail
        >>> growth = Growth(truncated_tail, scale=1.0, least=2, n_labels=16, levels=15)
        >>> round(growth.made_up, 2), growth.with_least(3).made_up < 1
        (1.08, True)
    """

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

    def with_least(self, least: int) -> Growth:
        """The same with another threshold."""
        return Growth(self.tail, self.scale, least, self.n_labels, self.levels, self.n_cases)


def refuse_runaway(growth: Growth, remedy: Callable[[int], str]) -> None:
    """A `UsageError` where a tree would run away; `remedy` puts the smallest threshold that helps into words.

    Example:
        >>> from libra.mechanisms.prefix_tree.tails import truncated_tail
        >>> refuse_runaway(Growth(truncated_tail, 10.0, 10, n_labels=16, levels=15), lambda least: f"Ask for --prune {least}.")
        Traceback (most recent call last):
        libra.errors.UsageError: Noise alone would make 2.9 prefixes of each at every level, so the tree would run away.
        Ask for --prune 21.
    """
    if not growth.runs_away:
        return
    why = (
        f"Noise alone would make {growth.made_up:,.1f} prefixes of each at every level, so the tree would run away"
        if growth.made_up > 1
        else f"The tree of prefixes would have more than {MOST_CELLS:,} cells"
    )
    raise UsageError(f"{why}. {remedy(smallest_threshold(growth))}")


def smallest_threshold(growth: Growth) -> int:
    """The smallest threshold with which a tree does not run away.

    Example:
        >>> from libra.mechanisms.prefix_tree.tails import truncated_tail
        >>> smallest_threshold(Growth(truncated_tail, 10.0, 10, n_labels=16, levels=15))
        21
    """
    low, high = 0, growth.least
    while growth.with_least(high).runs_away and high < LARGEST_PRUNE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if growth.with_least(middle).runs_away else (low, middle)
    return high


def threshold(prune_count: float) -> int:
    """The smallest whole count that is kept: none is kept of which there is no case.

    Example:
        >>> threshold(16.5), threshold(20.0), threshold(0.0)
        (17, 20, 1)
    """
    return max(math.ceil(prune_count), 1)
