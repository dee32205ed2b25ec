"""What runs prove: a lower bound on epsilon, with the probability that it is wrong; and how many runs it takes to prove much.

If a mechanism is (epsilon, delta)-differentially private, every event has p <= e^epsilon q + delta, p and q being its
probabilities on the two sides. So bounds on p from below and on q from above give one on epsilon from below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from libra.measures.audit.events import Event, Floats
from libra.measures.intervals import clopper_pearson
from libra.privacy.gaussian import LARGEST_EXPONENT, LARGEST_MU, delta_of, least

OVERSPEND = 1.25
POWER = 0.9
MOST_RUNS = 10**9


@dataclass(frozen=True)
class Bound:
    """What an event proves.

    Attributes:
        hits: In how many runs it happened on the side where it is likelier.
        runs: Of how many.
        other_hits: The same on the other side.
        other_runs: Likewise.
        p_low: Its probability where it is likelier, from below.
        q_high: Its probability on the other side, from above.

    Example:
        >>> Bound(900, 1000, 0, 1000, 0.87, 0.007).epsilon(delta=0.01) > 4
        True
    """

    hits: int
    runs: int
    other_hits: int
    other_runs: int
    p_low: float
    q_high: float

    def epsilon(self, delta: float) -> float:
        """The epsilon that is proved at this delta; 0 where nothing is."""
        above = self.p_low - delta
        return math.log(above / self.q_high) if above > self.q_high else 0.0

    def delta(self, epsilon: float) -> float:
        """The delta that is proved at this epsilon; 0 where nothing is."""
        return max(0.0, self.p_low - math.exp(min(epsilon, LARGEST_EXPONENT)) * self.q_high)


def bound_of(event: Event, with_canary: Floats, without: Floats, mistaken: float) -> Bound:
    """What fresh runs say about an event; wrong with probability `mistaken` at most.

    Example:
        >>> event = Event((1.0,), 0.5, above=True, with_canary=True)
        >>> runs = np.repeat([[1.0], [0.0]], [450, 50], axis=0)
        >>> bound_of(event, runs, np.zeros((500, 1)), mistaken=1e-3).other_hits
        0
    """
    likelier, other = (with_canary, without) if event.with_canary else (without, with_canary)
    hits, other_hits = int(event.happens(likelier).sum()), int(event.happens(other).sum())
    low, _ = clopper_pearson(hits, len(likelier), mistaken / 2)
    _, high = clopper_pearson(other_hits, len(other), mistaken / 2)
    return Bound(hits, len(likelier), other_hits, len(other), low, high)


def runs_needed(epsilon: float, delta: float, mistaken: float, overspend: float = OVERSPEND, power: float = POWER) -> int:
    """How many runs a side refute a claim that is overspent, with probability `power`; at best.

    The reference is Gaussian noise with so much more epsilon than claimed, at the same delta, and the event that tells most. An
    attacker who sees less of it needs more runs.

    Example:
        >>> runs_needed(1.0, 0.01, mistaken=0.01) > runs_needed(1.0, 0.01, mistaken=0.01, overspend=2.0)
        True
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
