"""Control flow from released figures: how many cases follow each kept variant, and the traces of the tail.

A kept variant had to pass a threshold on its first noisy look, which is therefore too high on average: its likelihood is that of
a normal number above the threshold.
"""

from __future__ import annotations

import math

import numpy as np

from libra._system.randomness import Randomness
from libra.eventlog.cases import Floats, Integers, Traces, concatenated
from libra.mechanisms.libra.figures import ControlFigures
from libra.mechanisms.libra.tail import weighted_traces
from libra.privacy.gaussian import upper_tail
from libra.privacy.noise import NoisyTable

HALVINGS = 50
FAR = 8.0  # standard deviations from which on the tail's ratio is computed by its expansion
THERE = 1.0  # standard deviations: from here on the noisy number of rare cases is nearer to the truth than none


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
    tails = np.array([upper_tail(score) for score in scores[near]])
    found[near] = np.exp(-(scores[near] ** 2) / 2) / math.sqrt(2 * math.pi) / tails
    return found


def weighted(figures: ControlFigures, random: Randomness) -> tuple[Traces, Floats]:
    """Kept variants and candidates for the tail, and how many cases each stands for."""
    traces, first, second = figures.kept, figures.first, figures.second
    weights = np.maximum(second.values, 0.0) if figures.nearest else likeliest_counts(first, second, figures.threshold)
    if figures.tail is not None:
        rare, rare_weights = weighted_traces(figures.tail, figures.kept, figures.n_labels, random)
        (cases, sd), kept = figures.tail.cases, weights.sum()
        if kept > 0 and cases > THERE * sd:  # kept variants stand for the rare cases that have no traces
            weights = weights * (1 + max(cases - rare_weights.sum(), 0.0) / kept)
        traces, weights = concatenated([traces, rare]), np.concatenate((weights, rare_weights))
    order = np.lexsort((traces.fingerprints(), traces.lengths))
    return traces.take(order), weights[order]


def case_counts(weights: Floats, weight: float, cases: int | None, random: Randomness) -> Integers:
    """How many cases follow each trace, `weight` times as many as the weights say, or `cases` in all.

    Where nothing stood out from the noise there is no trace to follow, whatever number of cases was asked for.
    """
    total = weights.sum()
    if total <= 0:
        return np.zeros(len(weights), np.int64)
    return rounded(weights * (weight if cases is None else cases / total), random)


def rounded(weights: Floats, random: Randomness) -> Integers:
    """Whole numbers, each at most one away from its weight, whose running sums are at most one away from those of the weights."""
    sums = np.cumsum(weights)
    near = np.rint(sums)
    sums = np.where(np.abs(sums - near) < 1e-6, near, sums)  # a sum that is meant to be whole is
    steps = np.floor(sums + random.uniform(1))
    return np.diff(steps, prepend=0.0).astype(np.int64)
