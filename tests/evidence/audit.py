"""The statistics of an audit: a lower bound on epsilon from many runs with and without one case.

In: for every run a few figures that an adversary can compute from what was released. On a quarter of the runs the most telling
event is chosen (a figure, a threshold, a side); on the others it is confirmed with Clopper-Pearson bounds. Out: an epsilon that
the mechanism cannot be below, but with a probability of one in a thousand. Nothing is assumed about the figures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

Floats = npt.NDArray[np.float64]
MISTAKEN = 1e-3  # how often the bound may be wrong
THRESHOLDS = 60


class Event(NamedTuple):
    """What is looked for: a figure at or above the threshold, or below it; likelier with the case, or without it."""

    figure: int
    threshold: float
    above: bool
    with_case: bool

    def share(self, runs: Floats, times: int) -> tuple[int, int]:
        """In how many runs it happens, and of how many; as if there were so many times as many."""
        reached = runs[:, self.figure] >= self.threshold
        return times * int((reached == self.above).sum()), times * len(runs)


def clopper_pearson(hits: int, n: int, mistaken: float) -> tuple[float, float]:
    """Bounds on a probability, each of which is wrong with the given probability at most."""
    low = 0.0 if hits == 0 else float(beta.ppf(mistaken, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - mistaken, hits + 1, n - hits))
    return low, high


def epsilon_low(event: Event, with_case: Floats, without: Floats, delta: float, times: int = 1) -> float:
    """The epsilon that runs with and without the case prove: ln((p_low - delta) / q_high), and 0 where they prove nothing."""
    likelier, other = (with_case, without) if event.with_case else (without, with_case)
    low, _ = clopper_pearson(*event.share(likelier, times), MISTAKEN / 2)
    _, high = clopper_pearson(*event.share(other, times), MISTAKEN / 2)
    return math.log((low - delta) / high) if low - delta > high else 0.0


def telling_event(with_case: Floats, without: Floats, delta: float) -> Event:
    """The event that would prove most on three times as many runs like these, which is what it is confirmed with."""
    events = []
    for figure in range(with_case.shape[1]):
        values = np.unique(np.concatenate((with_case[:, figure], without[:, figure])))
        thresholds = values[np.unique(np.linspace(0, len(values) - 1, THRESHOLDS).astype(int))]
        events += [Event(figure, float(t), above, case) for t in thresholds for above in (True, False) for case in (True, False)]
    return max(events, key=lambda event: epsilon_low(event, with_case, without, delta, times=3))


def audited_epsilon(with_case: Floats, without: Floats, delta: float) -> float:
    """A lower bound on epsilon, adding and removing the case both tried; one row a run, one column a figure."""
    first, rest = slice(None, None, 4), np.arange(len(with_case)) % 4 != 0
    event = telling_event(with_case[first], without[first], delta)
    return epsilon_low(event, with_case[rest], without[rest], delta)
