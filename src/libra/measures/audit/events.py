"""The telling event: what to look for in a release to tell whether the canary is in it, and what it proves.

From some runs with the canary and as many without, an `Event` is chosen: a figure (or all of them weighed together) that reaches
a threshold, or stays below it, more often on one side. Other runs then give a `Bound`. If a mechanism is (epsilon, delta)-
differentially private, every event has p <= e^epsilon q + delta, p and q being its probabilities on the two sides. So bounds on
p from below and on q from above give one on epsilon from below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from libra.measures.distances import Floats
from libra.measures.intervals import clopper_pearson
from libra.privacy.gaussian import LARGEST_EXPONENT, LARGEST_MU, delta_of, least

THRESHOLDS = 60  # tried of each figure
CONFIRMED = 3  # times as many runs as an event is chosen from, about, are there to confirm it
SURE = NormalDist().inv_cdf(1 - 1e-3)
RIDGE = 0.1  # of the variance of a figure, against weights that chance made
ROUNDING = 1e-9  # of a figure: what varies by less does not vary
OVERSPEND = 1.25
POWER = 0.9
MOST_RUNS = 10**9


@dataclass(frozen=True)
class Event:
    """Something that happens in a run or not: the weighed sum of its figures reaches a threshold, or stays below.

    Example:
        >>> event = Event((0.0, 1.0), 2.0, above=True, with_canary=True)
        >>> event.happens(np.array([[9.0, 1.0], [9.0, 2.0]])).tolist()
        [False, True]
    """

    weights: tuple[float, ...]  # one is 1 and the others 0 where a single figure is looked at
    threshold: float
    above: bool  # whether reaching it is the event, or staying below
    with_canary: bool  # whether the event is likelier with the canary than without
    promised: float = 0.0  # the epsilon that it would prove if it came as often in three times as many runs

    def happens(self, runs: Floats) -> npt.NDArray[np.bool_]:
        """In which runs it happens."""
        return np.asarray((_weighed(runs, np.array(self.weights)) >= self.threshold) == self.above)

    @property
    def figure(self) -> int | None:
        """Which figure it is about; None for all of them together."""
        used = np.flatnonzero(self.weights)
        return int(used[0]) if len(used) == 1 else None


def telling_event(with_canary: Floats, without: Floats, delta: float) -> Event:
    """The event that promises to prove most; both sides of equally many runs."""
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
            low, high = _wilson(likelier, n, -SURE), _wilson(other, n, SURE)
            promised = np.log(np.maximum(low - delta, 1e-9) / np.maximum(high, 1e-9))  # if these shares came again in n runs
            best = int(promised.argmax())
            found.append((float(promised[best]), float(thresholds[best]), above, side))
    return max(found)


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


@dataclass(frozen=True)
class Bound:
    """What an event proves: in how many of the runs it happened on the side where it is likelier, and on the other side."""

    hits: int
    runs: int
    other_hits: int
    other_runs: int
    p_low: float  # its probability where it is likelier, from below
    q_high: float  # its probability on the other side, from above

    def epsilon(self, delta: float) -> float:
        """The epsilon that is proved at this delta; 0 where nothing is."""
        above = self.p_low - delta
        return math.log(above / self.q_high) if above > self.q_high else 0.0

    def delta(self, epsilon: float) -> float:
        """The delta that is proved at this epsilon; 0 where nothing is."""
        return max(0.0, self.p_low - math.exp(min(epsilon, LARGEST_EXPONENT)) * self.q_high)


def bound_of(event: Event, with_canary: Floats, without: Floats, mistaken: float) -> Bound:
    """What fresh runs say about an event; wrong with probability `mistaken` at most."""
    likelier, other = (with_canary, without) if event.with_canary else (without, with_canary)
    hits, other_hits = int(event.happens(likelier).sum()), int(event.happens(other).sum())
    low, _ = clopper_pearson(hits, len(likelier), mistaken / 2)
    _, high = clopper_pearson(other_hits, len(other), mistaken / 2)
    return Bound(hits, len(likelier), other_hits, len(other), low, high)


def runs_needed(epsilon: float, delta: float, mistaken: float, overspend: float = OVERSPEND, power: float = POWER) -> int:
    """How many runs a side refute a claim that is overspent, with probability `power`; at best.

    The reference is Gaussian noise with so much more epsilon than claimed, at the same delta, and the event that tells most. An
    attacker who sees less of it needs more runs.
    """
    mu = least(lambda mu: delta_of(mu, overspend * epsilon) >= delta, 0.0, LARGEST_MU)
    normal, times = NormalDist(), math.exp(epsilon)
    sure, likely = -normal.inv_cdf(mistaken / 2), normal.inv_cdf(power)
    fewest = float(MOST_RUNS)
    for threshold in np.linspace(-3, mu + 6, 400).tolist():
        p, q = normal.cdf(mu - threshold), normal.cdf(-threshold)
        gap = p - delta - times * q
        if gap > 0:
            needed = _needed(p, q, gap, times, sure, likely)
            fewest = min(fewest, max(needed, -math.log(mistaken / 2) * times / gap))  # a q of 0 is not proved by fewer
    return math.ceil(fewest)


def _needed(p: float, q: float, gap: float, times: float, sure: float, likely: float) -> float:
    """How many runs a side show such a gap between p and so many times q, in two terms of an expansion by their number.

    The first is how wide the bounds are and what chance adds to that; the second, that bounds on what is rare are lopsided.
    """
    spread_p, spread_q = math.sqrt(p * (1 - p)), times * math.sqrt(q * (1 - q))
    both = math.hypot(spread_p, spread_q) or 1.0
    width = sure * (spread_p + spread_q) + likely * both
    chance_p, chance_q = likely * spread_p / both, likely * spread_q / both
    lean_p = (1 - 2 * p) * ((sure * sure - 1) / 3 + (2 * sure + chance_p) * chance_p / 4)
    lean_q = (1 - 2 * q) * ((sure * sure - 1) / 3 + (2 * sure + chance_q) * chance_q / 4)
    lopsided = p - lean_p + times * (1 - q + lean_q)
    return ((width + math.sqrt(max(width * width + 4 * gap * lopsided, 0.0))) / (2 * gap)) ** 2
