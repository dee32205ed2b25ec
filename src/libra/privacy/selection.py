"""Private choice from what is not known in advance: variants, and labels where they are private.

In: raw counts, the noise, a threshold in whole numbers. Out: what was chosen. A rule is plain data and draws for every row by
itself, so that it can be applied wherever counts lie, share by share. The promise: what only one case has shows with no more than
the probability that `variant_shows` or `labels_show` gives; everything else is as private as its Gaussian noise. Proofs are in
docs/guarantees.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.eventlog.traces import Traces
from libra.privacy.noise import rounded_gaussian
from libra.privacy.noise_table import NoiseTable
from libra.privacy.normal import upper_tail
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]
ROUNDING = 1 + 1e-12  # what probabilities in floats are raised by


def variant_shows(mu: float, threshold: int, scale: int, cases: int = 1) -> float:
    """The largest probability that a variant passes which nobody else has: of a case, or of somebody with so many cases.

    A variant of c cases passes if c times scale, with noise of standard deviation scale / mu, reaches the threshold. Several
    cases may follow one variant or several, whatever is worst.

    Example:
        >>> round(variant_shows(mu=0.25, threshold=18, scale=1), 6)
        1.9e-05
        >>> round(variant_shows(mu=0.25, threshold=18, scale=1, cases=3), 6)
        0.000144
    """
    shown = [upper_tail((threshold - c * scale - 0.5) * mu / scale) for c in range(1, cases + 1)]
    if shown[-1] == 1:
        return 1.0
    hidden = [0.0]  # the logarithm of the smallest probability that so many cases stay hidden
    for n in range(1, cases + 1):
        hidden.append(min(hidden[n - c] + math.log1p(-shown[c - 1]) for c in range(1, n + 1)))
    return min(1.0, -math.expm1(hidden[-1]) * ROUNDING) if cases > 1 else shown[0] * ROUNDING


def labels_show(mu: float, threshold: int, scale: int, most: int) -> float:
    """The largest probability that any label passes which a single case has.

    A case of m labels gives each the same weight, at most scale / sqrt(m); in the worst case all of them are its own.

    Example:
        >>> labels_show(0.25, 30, 1, most=1) == variant_shows(0.25, 30, 1) < labels_show(0.25, 30, 1, most=10)
        True
    """
    single = [upper_tail((threshold - _weight(scale, m) - 0.5) * mu / scale) for m in range(1, most + 1)]
    return max(1.0 if one == 1 else -math.expm1(m * math.log1p(-one)) for m, one in enumerate(single, 1)) * ROUNDING


@dataclass(frozen=True)
class GaussianRule:
    """A variant passes if its count times `scale`, with Gaussian noise of standard deviation scale / mu, reaches the threshold.

    Example:
        >>> rows, noisy = GaussianRule(0.5, 30, 1).passing(np.array([1, 900]), Randomness(seed=1))
        >>> rows.tolist(), bool(abs(noisy[0] - 900) < 20)
        ([1], True)
    """

    mu: float
    threshold: int
    scale: int

    def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
        """The rows that pass, and their noisy counts times `scale`."""
        noisy = self.scale * counts + rounded_gaussian(self.scale / self.mu, len(counts), random)
        passed = np.flatnonzero(noisy >= self.threshold)
        return passed, noisy[passed]


@dataclass(frozen=True)
class BoundedRule:
    """A variant passes if its noisy count is above the largest noise; what nobody follows never is.

    Example:
        >>> from libra.privacy.noise_table import truncated_geometric
        >>> rows, noisy = BoundedRule(truncated_geometric(1.0, 1e-9)).passing(np.array([900, 1]), Randomness())
        >>> rows.tolist(), bool(abs(noisy[0] - 900) < 30)
        ([0], True)
    """

    noise: NoiseTable

    def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
        """The rows that pass, and their noisy counts."""
        noisy = counts + self.noise.draw(len(counts), random)
        passed = np.flatnonzero(noisy > -self.noise.first)
        return passed, noisy[passed]


def highest_first(kept: Traces, noisy: Integers) -> tuple[Traces, Integers]:
    """Kept variants in an order that follows from what is released: by noisy count, then by trace.

    Example:
        >>> from libra.eventlog.traces import traces_of
        >>> kept, noisy = highest_first(traces_of([[1], [0, 1], [0]]), np.array([30, 40, 30]))
        >>> kept.to_lists(), noisy.tolist()
        ([[0, 1], [0], [1]], [40, 30, 30])
    """
    lists = kept.to_lists()
    order = np.array(sorted(range(len(kept)), key=lambda row: (-noisy[row], lists[row])), np.int64)
    return kept.take(order), noisy[order]


@dataclass(frozen=True)
class GaussianLabels:
    """A label passes if its weight, with Gaussian noise of standard deviation scale / mu, reaches the threshold.

    Each case spreads a weight of L2 norm `scale` over its labels; one that has more than `most` over so many of them, drawn at
    random.

    Example:
        >>> rule, random = GaussianLabels(0.5, 30, 1, most=4), Randomness(seed=1)
        >>> labels, weights = rule.weights(np.arange(1000), np.repeat([3, 5], [999, 1]), random)
        >>> labels.tolist(), weights.tolist(), labels[rule.passing(weights, random)].tolist()
        ([3, 5], [999, 1], [3])
    """

    mu: float
    threshold: int
    scale: int
    most: int

    def weights(self, case: Integers, label: Integers, random: Randomness) -> tuple[Integers, Integers]:
        """The labels that cases have, sorted, and what these cases add to the weight of each."""
        case, label = _at_most(case, label, self.most, random)
        present, cells = np.unique(label, return_inverse=True)
        weight = np.array([0] + [_weight(self.scale, m) for m in range(1, self.most + 1)])
        return present, np.bincount(cells, weight[np.bincount(case)[case]], len(present)).astype(np.int64)

    def passing(self, weights: Integers, random: Randomness) -> Integers:
        """The rows whose noisy weights reach the threshold."""
        return np.flatnonzero(weights + rounded_gaussian(self.scale / self.mu, len(weights), random) >= self.threshold)


def _weight(scale: int, labels: int) -> int:
    """The weight of one of so many labels: scale / sqrt(labels), rounded toward zero, in whole numbers."""
    return math.isqrt(scale * scale // labels)


def _at_most(case: Integers, label: Integers, most: int, random: Randomness) -> tuple[Integers, Integers]:
    """At most so many labels of each case, drawn at random where there are more."""
    large = np.bincount(case)[case] > most
    drawn, among = case[large], label[large]
    order = np.lexsort((random.words(len(drawn)), drawn))
    drawn, among = drawn[order], among[order]
    rank = np.arange(len(drawn)) - np.searchsorted(drawn, drawn)
    taken = rank < most
    return np.concatenate((case[~large], drawn[taken])), np.concatenate((label[~large], among[taken]))
