"""What stands out from noise: the years in which cases start, and the last bin of a histogram that can be believed.

A single false year or a false bin of ten-year durations would spoil a whole log, so what does not stand out is not generated.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.mechanisms.libra.times.histogram import Level
from libra.privacy.noisy import NoisyTable

Floats = npt.NDArray[np.float64]
CERTAIN, NEIGHBOUR, POOLED = 4.5, 3.0, 4.0  # standard deviations: of a year by itself; of one beside it; of the best window
ADDED_UP = 2.0  # standard deviations of everything from the last clear bin up to some later one
YEAR_2000 = 30  # of 52 weeks each, since 1970
LAST_RESORT = 37  # bins of totals, up to 116 days: none longer is believed where nothing stands out
WINDOW = 5  # bins at most that are looked at together
CLEAR, LITTLE, STILL = 4.0, 2.0, 3.0  # standard deviations of a window, of its last bin, and of a window right after


def active_years(years: NoisyTable) -> tuple[int, ...]:
    """The years that stand out and the neighbours that go with them.

    Where no single year does, the best window of up to five years, if that stands out; otherwise nothing is known, and the year
    is a public one, in which 2000 begins.

    Example:
        >>> active_years(NoisyTable(np.array([0, 3, 40, 9, -2, 12]), scale=1, sd=3.0))
        (2, 3)
        >>> active_years(NoisyTable(np.array([0, 7, 8, 9, -2, 1]), scale=1, sd=3.0))
        (1, 2, 3)
    """
    score = years.values / years.sd
    active = score >= CERTAIN
    if not active.any():
        begin, end, best = _best_window(score)
        return tuple(range(begin, end)) if best >= POOLED else (min(YEAR_2000, len(score) - 1),)
    likely = score >= NEIGHBOUR
    while True:
        beside = np.zeros_like(active)
        beside[1:] |= active[:-1]
        beside[:-1] |= active[1:]
        grown = active | (beside & likely)
        if (grown == active).all():
            return tuple(np.flatnonzero(active).tolist())
        active = grown


def busy_spans(years: tuple[int, ...], score: Floats) -> npt.NDArray[np.bool_]:
    """Which spans of the active years cases may start in: none before the first or after the last that stands out.

    `score` has counts in standard deviations, a row a year. Years that follow each other are looked at together; where nothing
    stands out in them, all their spans are kept, and so is what is more than noise when it is added up from there on.

    Example:
        >>> busy_spans((40, 41), np.array([[0.3, 9.0, 8.0], [7.0, 1.0, -1.0]])).tolist()
        [[False, True, True], [True, False, False]]
    """
    busy = np.ones(score.shape, np.bool_)
    for rows in np.split(np.arange(len(years)), np.flatnonzero(np.diff(years) > 1) + 1):
        line = score[rows].ravel()
        last = _last_clear(line)
        if last >= 0:
            first, last = len(line) - 1 - _drawn_out(line[::-1], _last_clear(line[::-1])), _drawn_out(line, last)
            place = np.arange(len(line))
            busy[rows] = ((place >= first) & (place <= last)).reshape(len(rows), -1)
    return busy


def _drawn_out(score: Floats, last: int) -> int:
    """The last bin, or the one after it up to which all together stand out most, if they do."""
    after = np.cumsum(score[last + 1 :]) / np.sqrt(np.arange(1, len(score) - last))
    return last + 1 + int(np.argmax(after)) if len(after) and after.max() >= ADDED_UP else last


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

    `score` has counts in standard deviations of their noise. Where no window stands out, the end of the best one, but no bin
    that only noise can make so long.

    Example:
        >>> last_bin(np.array([17.0, 30.0, 10.0, 4.0, -1.3, 1.0, 0.7]))
        3
    """
    last = _last_clear(score)
    return last if last >= 0 else _best_window(score[:LAST_RESORT])[1] - 1


def _last_clear(score: Floats) -> int:
    """As `last_bin`; -1 where no window stands out."""
    sums = np.concatenate(([0.0], np.cumsum(score)))
    last = -1
    for width in range(1, min(WINDOW, len(score)) + 1):
        window = (sums[width:] - sums[:-width]) / np.sqrt(width)
        ends = np.flatnonzero((window >= CLEAR) & (score[width - 1 :] >= LITTLE)) + width - 1
        last = max(last, int(ends[-1]) if len(ends) else -1)
    while last >= 0:
        ends = np.arange(last + 1, min(last + WINDOW + 1, len(score)))
        after = (sums[ends + 1] - sums[last + 1]) / np.sqrt(ends - last)
        more = ends[(after >= STILL) & (score[ends] > 0)]
        if not len(more):
            break
        last = int(more[-1])
    return last


def _best_window(score: Floats) -> tuple[int, int, float]:
    """The window of bins that stands out most: where it begins and ends, and by how many standard deviations."""
    sums = np.concatenate(([0.0], np.cumsum(score)))
    found = (0, 1, -np.inf)
    for width in range(1, min(WINDOW, len(score)) + 1):
        window = (sums[width:] - sums[:-width]) / np.sqrt(width)
        begin = int(np.argmax(window))
        found = max(found, (begin, begin + width, float(window[begin])), key=lambda each: each[2])
    return found
