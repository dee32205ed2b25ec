"""The telling event: what to look for in a release to tell whether the canary is in it.

In: the figures of many runs with the canary and of as many without, one row a run. Out: an `Event`, a figure (or all of them
weighed together) that reaches a threshold, or stays below it, more often on one side. It is chosen from some runs and has to
prove itself on others: what is found here is a guess, and no bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
THRESHOLDS = 60  # tried of each figure
CONFIRMED = 3  # times as many runs as an event is chosen from, about, are there to confirm it
SURE = NormalDist().inv_cdf(1 - 1e-3)
RIDGE = 0.1  # of the variance of a figure, against weights that chance made
ROUNDING = 1e-9  # of a figure: what varies by less does not vary


@dataclass(frozen=True)
class Event:
    """Something that happens in a run or not.

    Attributes:
        weights: Of the figures, which are added up so; one of them is 1 and the others 0 where a single figure is looked at.
        threshold: What the sum has to reach.
        above: Whether reaching it is the event, or staying below.
        with_canary: Whether the event is likelier with the canary than without.
        promised: The epsilon that it would prove if it came as often in three times as many runs.

    Example:
        >>> event = Event((0.0, 1.0), 2.0, above=True, with_canary=True)
        >>> event.happens(np.array([[9.0, 1.0], [9.0, 2.0]])).tolist()
        [False, True]
    """

    weights: tuple[float, ...]
    threshold: float
    above: bool
    with_canary: bool
    promised: float = 0.0

    def happens(self, runs: Floats) -> npt.NDArray[np.bool_]:
        """In which runs it happens."""
        return np.asarray((_weighed(runs, np.array(self.weights)) >= self.threshold) == self.above)

    @property
    def figure(self) -> int | None:
        """Which figure it is about; None for all of them together."""
        used = np.flatnonzero(self.weights)
        return int(used[0]) if len(used) == 1 else None


def telling_event(with_canary: Floats, without: Floats, delta: float) -> Event:
    """The event that promises to prove most; both sides of equally many runs.

    Example:
        >>> random = np.random.default_rng(1)
        >>> noise = random.normal(size=(2, 1000, 2))
        >>> event = telling_event(noise[0] + [0.0, 2.0], noise[1], delta=0.01)
        >>> event.figure, event.above == event.with_canary
        (1, True)
    """
    n_figures, half = with_canary.shape[1], len(with_canary) // 2
    single = [(_best(with_canary[:, i], without[:, i], delta), np.eye(n_figures)[i]) for i in range(n_figures)]
    weights = _weights(with_canary[:half], without[:half])
    together = (_best(_weighed(with_canary[half:], weights), _weighed(without[half:], weights), delta), weights)
    (promised, threshold, above, side), chosen = max((*single, together), key=lambda candidate: candidate[0][0])
    return Event(tuple(chosen.tolist()), threshold, above, side, promised)


def _best(with_canary: Floats, without: Floats, delta: float) -> tuple[float, float, bool, bool]:
    """What the best threshold of a figure promises; the threshold, whether to be above it, and on which side that is likelier."""
    values = np.unique(np.concatenate((with_canary, without)))
    thresholds = values[np.unique(np.linspace(0, len(values) - 1, THRESHOLDS).astype(int))]
    reached = [1 - np.searchsorted(np.sort(side), thresholds) / len(side) for side in (with_canary, without)]
    n = CONFIRMED * len(with_canary)
    found = []
    for above in (True, False):
        shares = reached if above else [1 - share for share in reached]
        for side, (likelier, other) in ((True, shares), (False, shares[::-1])):
            promised = _promised(likelier, other, n, delta)
            best = int(promised.argmax())
            found.append((float(promised[best]), float(thresholds[best]), above, side))
    return max(found)


def _promised(likelier: Floats, other: Floats, n: int, delta: float) -> Floats:
    """The epsilons that these shares would prove if they came again in n runs."""
    low, high = _wilson(likelier, n, -SURE), _wilson(other, n, SURE)
    return np.log(np.maximum(low - delta, 1e-9) / np.maximum(high, 1e-9))


def _wilson(share: Floats, n: int, z: float) -> Floats:
    """A bound on a probability, nearly: Wilson's."""
    middle = share + z * z / (2 * n)
    return np.clip((middle + z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n), 0, 1)


def _weighed(runs: Floats, weights: Floats) -> Floats:
    """The figures of each run, added up so: always in the same order, so that equal runs have equal sums, to the last bit."""
    return np.asarray(np.multiply(runs, weights, order="C").sum(axis=1))


def _weights(with_canary: Floats, without: Floats) -> Floats:
    """Weights of the figures that tell the sides apart: Fisher's discriminant, with a ridge."""
    spread = np.sqrt((with_canary.var(0) + without.var(0)) / 2)
    used = spread > ROUNDING * (1 + np.abs(without.mean(0)))
    weights = np.zeros(with_canary.shape[1])
    if used.any():
        scaled = [side[:, used] / spread[used] for side in (with_canary, without)]
        covariance = sum((np.cov(side, rowvar=False, ddof=0).reshape(used.sum(), -1) for side in scaled), np.zeros(1)) / 2
        ridge = RIDGE * np.eye(int(used.sum()))
        weights[used] = np.linalg.solve(covariance + ridge, scaled[0].mean(0) - scaled[1].mean(0)) / spread[used]
    return weights
