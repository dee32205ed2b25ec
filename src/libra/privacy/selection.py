"""Private choice from what is not known in advance: variants, and labels where they are private.

In: raw counts, the noise, a threshold in whole numbers. Out: what was chosen, in an order that follows from
released figures alone. The promise: what only one case has shows with no more than the probability that `variant_shows` or
`labels_show` gives; everything else is as private as its Gaussian noise. The proofs are in docs/guarantees.md.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from libra.eventlog.traces import Traces
from libra.privacy.noise import rounded_gaussian
from libra.privacy.noise_table import NoiseTable
from libra.privacy.noisy import NoisyTable
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


def select_variants(
    traces: Traces, counts: Integers, mu: float, threshold: int, scale: int, random: Randomness
) -> tuple[Traces, NoisyTable]:
    """The variants whose noisy counts (times `scale`) reach the threshold, and these counts, the highest first.

    Example:
        >>> from libra.eventlog.traces import traces_of
        >>> two = traces_of([[0, 1], [1]])
        >>> kept, noisy = select_variants(two, np.array([1, 900]), 0.5, 30, 1, Randomness(seed=1))
        >>> kept.to_lists(), noisy.sd
        ([[1]], 2.0)
    """
    noisy = scale * counts + rounded_gaussian(scale / mu, len(counts), random)
    passed = np.flatnonzero(noisy >= threshold)
    kept, noisy = traces.take(passed), noisy[passed]
    lists = kept.to_lists()
    order = np.array(sorted(range(len(kept)), key=lambda row: (-noisy[row], lists[row])), np.int64)
    return kept.take(order), NoisyTable(noisy[order], scale, 1 / mu)


def thresholded_counts(traces: Traces, counts: Integers, noise: NoiseTable, random: Randomness) -> tuple[Traces, Integers]:
    """The variants whose noisy counts are above the largest noise, and these counts; what nobody follows never is.

    Example:
        >>> from libra.eventlog.traces import traces_of
        >>> from libra.privacy.noise_table import truncated_geometric
        >>> two, noise = traces_of([[0, 1], [1]]), truncated_geometric(1.0, 1e-9)
        >>> kept, noisy = thresholded_counts(two, np.array([900, 1]), noise, Randomness())
        >>> kept.to_lists(), bool(abs(noisy[0] - 900) < 30)
        ([[0, 1]], True)
    """
    noisy = counts + noise.draw(len(counts), random)
    passed = np.flatnonzero(noisy > -noise.first)
    return traces.take(passed), noisy[passed]


def select_labels(
    case: Integers, label: Integers, mu: float, threshold: int, scale: int, most: int, random: Randomness
) -> Integers:
    """The labels whose noisy weights (times `scale`) reach the threshold, sorted, from the pairs of a case and its label.

    Each case spreads a weight of L2 norm 1 over its labels; one that has more than `most` over so many of them, drawn at random.

    Example:
        >>> case, label = np.arange(1000), np.repeat([3, 5], [999, 1])
        >>> select_labels(case, label, 0.5, 30, 1, 4, Randomness(seed=1)).tolist()
        [3]
    """
    case, label = _at_most(case, label, most, random)
    present, cells = np.unique(label, return_inverse=True)
    weight = np.array([0] + [_weight(scale, m) for m in range(1, most + 1)])
    sums = np.bincount(cells, weight[np.bincount(case)[case]], len(present)).astype(np.int64)
    return present[sums + rounded_gaussian(scale / mu, len(present), random) >= threshold]


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
