"""What stands out from noise: the years in which cases start, and the last bin of a histogram that can be believed.

A single false year or a false bin of ten-year durations would spoil a whole log, so what does not stand out is not generated.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.mechanisms.libra.times.histogram import Level
from libra.privacy.noisy import NoisyTable

Floats = npt.NDArray[np.float64]
CERTAIN, NEIGHBOUR = 4.5, 3.0  # standard deviations: a year that is taken by itself; one beside such a year
WINDOW = 5  # bins at most that are looked at together
CLEAR, LITTLE, STILL = 4.0, 2.0, 3.0  # standard deviations of a window, of its last bin, and of a window right after


def active_years(years: NoisyTable) -> tuple[int, ...]:
    """The years that stand out and the neighbours that go with them; the best one where none does.

    Example:
        >>> active_years(NoisyTable(np.array([0, 3, 40, 9, -2, 12]), scale=1, sd=3.0))
        (2, 3)
    """
    score = years.values / years.sd
    active = score >= CERTAIN
    if not active.any():
        active[int(np.argmax(score))] = True
    likely = score >= NEIGHBOUR
    while True:
        beside = np.zeros_like(active)
        beside[1:] |= active[:-1]
        beside[:-1] |= active[1:]
        grown = active | (beside & likely)
        if (grown == active).all():
            return tuple(np.flatnonzero(active).tolist())
        active = grown


def last_believed(totals: Level, longest: NoisyTable) -> int:
    """The last bin of totals that can be believed, by the durations of cases alone or together with their longest steps.

    Where cases last long because of one long step, both tables show it, each with noise of its own.

    Example:
        >>> longest, totals = np.zeros(20, np.int64), np.zeros(20, np.int64)
        >>> longest[:8], totals[:8] = 30, [90, 90, 90, 90, 90, 28, 28, 28]
        >>> last_believed(Level(totals[None, :], np.full((1, 20), 15.0**2)), NoisyTable(longest, 1, 15.0))
        7
    """
    sd = np.sqrt(totals.variances[0])
    score, other = totals.values[0] / sd, longest.values / longest.sd
    together = (score / sd + other / longest.sd) / np.hypot(1 / sd, 1 / longest.sd)
    return max(last_bin(score), last_bin(together))


def last_bin(score: Floats) -> int:
    """Where the last window of bins ends that stands out clearly, or one right after it that still does.

    `score` has counts in standard deviations of their noise. The best single bin where no window stands out.

    Example:
        >>> last_bin(np.array([17.0, 30.0, 10.0, 4.0, -1.3, 1.0, 0.7]))
        3
    """
    sums = np.concatenate(([0.0], np.cumsum(score)))
    last = -1
    for width in range(1, min(WINDOW, len(score)) + 1):
        window = (sums[width:] - sums[:-width]) / np.sqrt(width)
        ends = np.flatnonzero((window >= CLEAR) & (score[width - 1 :] >= LITTLE)) + width - 1
        last = max(last, int(ends[-1]) if len(ends) else -1)
    if last < 0:
        return int(np.argmax(score))
    while True:
        ends = np.arange(last + 1, min(last + WINDOW + 1, len(score)))
        after = (sums[ends + 1] - sums[last + 1]) / np.sqrt(ends - last)
        more = ends[(after >= STILL) & (score[ends] > 0)]
        if not len(more):
            return last
        last = int(more[-1])
