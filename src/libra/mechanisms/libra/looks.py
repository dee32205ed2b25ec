"""Two noisy looks at what had to pass a threshold on the first: kept variants, and values of attributes that were chosen.

The first look is too high on average: its likelihood is that of a normal number above the threshold.
"""

from __future__ import annotations

import math

import numpy as np

from libra.eventlog.cases import Floats
from libra.privacy.gaussian import upper_tails
from libra.privacy.noise import NoisyTable

HALVINGS = 50
FAR = 8.0  # standard deviations from which on the tail's ratio is computed by its expansion


def likeliest_counts(first: NoisyTable, second: NoisyTable, threshold: float) -> Floats:
    """The counts, nowhere below zero, under which both looks are likeliest."""
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
    found[near] = np.exp(-(scores[near] ** 2) / 2) / math.sqrt(2 * math.pi) / upper_tails(scores[near])
    return found
