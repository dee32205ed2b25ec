"""How many cases follow each kept variant, from two noisy looks at it.

In: the first look, which a variant had to pass to be kept, and the second. Out: the likeliest counts. The first look is too high
on average, because only those that were high enough are there: its likelihood is that of a normal number above the threshold.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from libra.privacy.noisy import NoisyTable
from libra.privacy.normal import upper_tail

Floats = npt.NDArray[np.float64]
HALVINGS = 50
FAR = 8.0  # standard deviations from which on the tail's ratio is computed by its expansion


def likeliest_counts(first: NoisyTable, second: NoisyTable, threshold: float) -> Floats:
    """The counts, nowhere below zero, under which both looks are likeliest.

    Example:
        >>> just, well = NoisyTable(np.array([31, 300]), 1, 8.0), NoisyTable(np.array([20, 304]), 1, 5.0)
        >>> likeliest_counts(just, well, threshold=30.0).round().tolist()
        [19.0, 303.0]
    """
    above, below = np.maximum(first.values, second.values) + 1, np.zeros(len(first.values))
    trust, trust_second = 1 / first.sd**2, 1 / second.sd**2
    for _ in range(HALVINGS):
        count = (above + below) / 2
        passing = _hazard((threshold - count) / first.sd) / first.sd
        rises = trust * (first.values - count) - passing + trust_second * (second.values - count) > 0
        above, below = np.where(rises, above, count), np.where(rises, count, below)
    return (above + below) / 2


def _hazard(scores: Floats) -> Floats:
    """The normal density over its upper tail."""
    far = np.maximum(scores, FAR)
    found = far + 1 / far - 2 / far**3
    near = np.flatnonzero(scores < FAR)
    tails = np.array([upper_tail(score) for score in scores[near]])
    found[near] = np.exp(-(scores[near] ** 2) / 2) / math.sqrt(2 * math.pi) / tails
    return found
