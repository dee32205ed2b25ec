"""Two noisy looks at what had to pass a threshold on the first: kept variants, and values of attributes that were chosen.

The first look is too high on average: its likelihood is that of a normal number above the threshold.
"""

from __future__ import annotations

import math

import numpy as np

from libra.eventlog.cases import Floats
from libra.privacy.gaussian import upper_tails
from libra.privacy.noise import NoisyTable

STEPS = 20  # at most; a handful are enough
CLOSE = 1e-12  # standard deviations that a step may still lead
FAR = 8.0  # standard deviations from which on the tail's ratio is computed by its expansion


def likeliest_counts(first: NoisyTable, second: NoisyTable, threshold: float) -> Floats:
    """The counts, nowhere below zero, under which both looks are likeliest.

    Without the threshold it would be their mean. From there on Newton's steps lead down to the right count and never below it.
    """
    trust, trust_second = 1 / first.sd**2, 1 / second.sd**2
    count = (trust * first.values + trust_second * second.values) / (trust + trust_second)
    for _ in range(STEPS):
        scores = (threshold - count) / first.sd
        passing = _hazard(scores)
        rises = trust * (first.values - count) - passing / first.sd + trust_second * (second.values - count)
        step = rises / (trust * (1 - passing * (passing - scores)) + trust_second)
        count = count + step
        if (np.abs(step) <= CLOSE * first.sd).all():
            break
    return np.maximum(count, 0.0)


def expected_counts(first: NoisyTable, second: NoisyTable, decay: float, bound: int) -> Floats:
    """The mean of all counts from 1 on, each weighted with how likely it makes both looks.

    The noise of the first is geometric, P(z) proportional to e^(-decay |z|), and at most `bound`.
    """
    noise = np.arange(-bound, bound + 1)
    counts = first.values[:, None] - noise
    likely = -decay * np.abs(noise) - (second.values[:, None] - counts) ** 2 / (2 * second.sd**2)
    likely = np.where(counts >= 1, likely, -np.inf)
    weights = np.exp(likely - likely.max(axis=1, keepdims=True))
    return np.asarray((weights * counts).sum(axis=1) / weights.sum(axis=1))


def _hazard(scores: Floats) -> Floats:
    """The normal density over its upper tail."""
    far = np.maximum(scores, FAR)
    found = far + 1 / far - 2 / far**3
    near = np.flatnonzero(scores < FAR)
    found[near] = np.exp(-(scores[near] ** 2) / 2) / math.sqrt(2 * math.pi) / upper_tails(scores[near])
    return found
