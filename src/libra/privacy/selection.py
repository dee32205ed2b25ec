"""Private choice from what is not known in advance: variants, labels where they are private, values of attributes.

A rule is plain data and draws for every row by itself: it can be applied wherever counts lie, share by share. The promise: what
only one case has shows with no more than the probability that `variant_shows` or `labels_show` gives; everything else is as
private as its Gaussian noise. Proofs are in docs/guarantees.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from libra._system.randomness import Randomness
from libra.eventlog.cases import Integers, Traces
from libra.privacy.gaussian import upper_tail
from libra.privacy.noise import NoiseTable, rounded_gaussian

ROUNDING = 1 + 1e-12  # what probabilities in floats are raised by
FINER = 1.01  # steps in which squared weights are looked at


def variant_shows(mu: float, threshold: int, scale: int, cases: int = 1) -> float:
    """The largest probability that a variant passes which nobody else has: of a case, or of somebody with so many cases.

    A variant of c cases passes if c times scale, with noise of standard deviation scale / mu, reaches the threshold. Several
    cases may follow one variant or several, whatever is worst.
    """
    shown = [upper_tail((threshold - c * scale - 0.5) * mu / scale) for c in range(1, cases + 1)]
    if shown[-1] == 1:
        return 1.0
    hidden = [0.0]  # the logarithm of the smallest probability that so many cases stay hidden
    for n in range(1, cases + 1):
        hidden.append(min(hidden[n - c] + math.log1p(-shown[c - 1]) for c in range(1, n + 1)))
    return min(1.0, -math.expm1(hidden[-1]) * ROUNDING) if cases > 1 else shown[0] * ROUNDING


@lru_cache(maxsize=1000)
def labels_show(mu: float, threshold: int, scale: int, most: int, cases: int = 1) -> float:
    """The largest probability that any label passes which nobody else has: of a case, or of somebody with so many cases.

    A case of m labels gives each the same weight, at most scale / sqrt(m), for m up to `most`; at worst all are its own. The
    weights of several cases have an L2 norm of at most `cases` times scale, however they overlap. If labels of squared weight u
    stay hidden with probability e^-g(u), all of them do with at least e^-(cases^2 max g(u) / u).
    """

    def hidden(weight: float) -> float:
        """Minus the logarithm of the probability that a label of this weight stays hidden."""
        shown = upper_tail((threshold - weight - 0.5) * mu / scale)
        return math.inf if shown == 1 else -math.log1p(-shown)

    if cases == 1:
        worst = max(m * hidden(math.isqrt(scale * scale // m)) for m in range(1, most + 1))  # weights, rounded toward zero
    else:
        steps = math.ceil(math.log(most * cases**2) / math.log(FINER)) + 1
        ends = [FINER**step / most for step in range(steps + 1)]  # of squared weights in units of scale^2, from the least on
        worst = cases**2 * max(hidden(scale * math.sqrt(end)) / begin for begin, end in pairwise(ends))
    return min(1.0, -math.expm1(-worst) * ROUNDING)


@dataclass(frozen=True)
class GaussianRule:
    """A count passes if it reaches the threshold, times `scale` and with Gaussian noise of deviation scale / mu."""

    mu: float
    threshold: int
    scale: int
    weighed: bool = False  # whether what comes in are weights, which are multiplied with the scale already

    def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
        """The rows that pass, and their noisy counts times `scale`."""
        scaled = counts if self.weighed else self.scale * counts
        noisy = scaled + rounded_gaussian(self.scale / self.mu, len(counts), random)
        passed = np.flatnonzero(noisy >= self.threshold)
        return passed, noisy[passed]


@dataclass(frozen=True)
class BoundedRule:
    """A variant passes if its noisy count is above the largest noise; what nobody follows never is."""

    noise: NoiseTable

    def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
        """The rows that pass, and their noisy counts."""
        noisy = counts + self.noise.draw(len(counts), random)
        passed = np.flatnonzero(noisy > -self.noise.first)
        return passed, noisy[passed]


def highest_first(kept: Traces, noisy: Integers) -> tuple[Traces, Integers]:
    """Kept variants in an order that follows from what is released: by noisy count, then by trace."""
    lists = kept.to_lists()
    order = np.array(sorted(range(len(kept)), key=lambda row: (-noisy[row], lists[row])), np.int64)
    return kept.take(order), noisy[order]


def labels_passing(
    weights: Integers, mu: float, threshold: int, scale: int, random: Randomness, most: int | None = None
) -> Integers:
    """The labels whose weights, with Gaussian noise of standard deviation scale / mu, reach the threshold, in ascending order.

    A label to which no case gives weight is as one that is not there. If more than `most` pass, those with the highest noisy
    weights do.
    """
    there = np.flatnonzero(weights)
    noisy = weights[there] + rounded_gaussian(scale / mu, len(there), random)
    highest = np.argsort(-noisy, kind="stable")[:most]
    return np.sort(there[highest[noisy[highest] >= threshold]])
