"""One set of bins for all durations, so that charts compare: none, below a second, then about twofold each, to a thousand years.

In: microseconds. Out: how many are in each bin, and which bins to show. What is negative counts as none. Bounds are those that
people use. A chart shows the bins from the first to the last that hold anything; short durations that next to nobody has are put
together into one bin, so that a single stray second does not squeeze the days.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from libra.measures.distances import Integers

SECOND = 1_000_000  # microseconds
MINUTE, HOUR, DAY, WEEK, MONTH, YEAR = 60, 3600, 86_400, 604_800, 2_629_800, 31_557_600  # seconds
STEPS = (
    (1, "s", (1, 2, 4, 8, 15, 30)),
    (MINUTE, "min", (1, 2, 4, 8, 15, 30)),
    (HOUR, "h", (1, 2, 4, 8, 16)),
    (DAY, "day", (1, 2, 4)),
    (WEEK, "week", (1, 2)),
    (MONTH, "month", (1, 2, 3, 6)),
    (YEAR, "year", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
SHORT = ("s", "min", "h")  # units without a plural
BOUNDS = (0.0, 0.0, *(float(unit * times) for unit, _, several in STEPS for times in several))  # seconds
WORDS = ("0", "0", *(f"{n:,} {unit if n == 1 or unit in SHORT else unit + 's'}" for _, unit, several in STEPS for n in several))
UNIT_OF = ("", "", *(unit for _, unit, several in STEPS for _ in several))
UNITS = tuple(place for place, word in enumerate(WORDS) if word.startswith("1 "))
N_BINS = len(BOUNDS) - 1
NEGLIGIBLE = 0.005  # of the durations of a log
_BEGIN = np.array([1, *(int(SECOND * bound) for bound in BOUNDS[2:-1])], np.int64)  # of all bins but the first, in microseconds


@dataclass(frozen=True)
class Bins:
    """The bins to show: bin i goes from the bound in place `places[i]` to the one in place `places[i + 1]`.

    Example:
        >>> Bins((0, 1, 8, 9)).labels
        ('0 or less', 'below 1 min', '1 to 2 min')
    """

    places: tuple[int, ...]

    @property
    def bounds(self) -> tuple[float, ...]:
        """In seconds; the bin of no time at all goes from 0 to 0."""
        return tuple(BOUNDS[place] for place in self.places)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each bin holds."""
        return tuple(_label(low, high) for low, high in pairwise(self.places))

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Nothing, and the units of time that begin within: where, counted in bins, and their names."""
        zero = ((0.5, "0"),) if self.places[0] == 0 else ()
        return (*zero, *((float(column), WORDS[place]) for column, place in enumerate(self.places) if place in UNITS))

    def merged(self, counts: Integers) -> Integers:
        """What `counted` gave, on these bins."""
        return np.add.reduceat(counts[: self.places[-1]], self.places[:-1])


def counted(micros: Integers) -> Integers:
    """How many durations are in each of all bins.

    Example:
        >>> counted(np.array([-5, 0, 1, 999_999, 1_000_000, 60_000_000]))[:9].tolist()
        [2, 2, 1, 0, 0, 0, 0, 0, 1]
    """
    return np.bincount(np.searchsorted(_BEGIN, micros, side="right"), minlength=N_BINS)


def bins_for(*counts: Integers) -> Bins:
    """The bins that show all of these counts; one at least.

    Example:
        >>> bins_for(counted(np.array([0, 70_000_000])), counted(np.array([130_000_000]))).labels
        ('0 or less', 'below 1 min', '1 to 2 min', '2 to 4 min')
    """
    used = np.flatnonzero(sum(counts, np.zeros(N_BINS, np.int64)))
    if not len(used):
        return Bins((0, 1))
    first, last = int(used[0]), int(used[-1]) + 1
    below = np.max([np.cumsum(one[1:last]) / max(int(one.sum()), 1) for one in counts], axis=0)  # short ones, none aside
    telling = 1 + int(np.searchsorted(below, NEGLIGIBLE, side="right"))
    unit = max((place for place in UNITS if place <= min(telling, last)), default=1)
    if first >= unit:
        return Bins(tuple(range(first, last + 1)))
    return Bins(tuple(sorted({min(first, 1), 1, *range(unit, last + 1)})))


def _label(low: int, high: int) -> str:
    if low < 2:
        return "0 or less" if low == 0 else f"below {WORDS[high]}"
    begin = WORDS[low].partition(" ")[0] if UNIT_OF[low] == UNIT_OF[high] else WORDS[low]
    return f"{begin} to {WORDS[high]}"
