"""The mechanisms that single values go through, each with the whole epsilon: for truth values, numbers and words.

In: values. Out: as many others. They are what PRIPEL takes from the literature: randomized response; Laplace noise cut to a
domain (Holohan et al. 2018), whose scale is what the cut asks for; and an exponential mechanism under which the true word scores
1 and every other 0. Each is epsilon-differentially private for one value, if its domain is not taken from the data.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Integers
from libra.privacy.randomness import Randomness

Reals = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
HALVINGS = 40


def randomized_response(values: Truths, epsilon: float, random: Randomness) -> Truths:
    """Each value, or its opposite where the draw says so.

    Example:
        >>> kept = randomized_response(np.ones(20_000, bool), 1.0, Randomness(seed=1)).mean()
        >>> abs(float(kept) - math.e / (math.e + 1)) < 0.01
        True
    """
    return values ^ (random.uniform(len(values)) < math.exp(-epsilon) / (1 + math.exp(-epsilon)))


def random_words(words: Integers, n_words: int, epsilon: float, random: Randomness) -> Integers:
    """Each word, by its number, or one of the others where the draw says so.

    Example:
        >>> drawn = random_words(np.zeros(20_000, np.int64), 3, 2.0, Randomness(seed=1))
        >>> (np.bincount(drawn) / 20_000).round(2).tolist(), round(math.e / (math.e + 2), 2)
        ([0.58, 0.21, 0.21], 0.58)
    """
    others = n_words - 1
    keep = 1 / (1 + others * math.exp(-epsilon / 2))
    stays = random.uniform(len(words)) < keep
    other = (words + 1 + random.below(max(others, 1), len(words))) % n_words
    return np.where(stays, words, other)


def bounded_laplace(values: Reals, low: Reals, high: Reals, sensitivity: Reals, epsilon: float, random: Randomness) -> Reals:
    """Each value with Laplace noise, within its bounds.

    Args:
        values: Within the bounds.
        low: The least that may come out.
        high: The most.
        sensitivity: How far apart two values may be that must not be told apart; at most the bounds are.
        epsilon: For one value.
        random: Where the draws come from.

    Example:
        >>> same = np.full(20_000, 3.0)
        >>> noisy = bounded_laplace(same, 0 * same, 10 + 0 * same, 10 + 0 * same, 1.0, Randomness(seed=1))
        >>> bool((noisy >= 0).all()), bool((noisy <= 10).all()), 4.2 < float(noisy.mean()) < 4.6
        (True, True, True)
    """
    apart = high - low
    reach = np.minimum(sensitivity, apart)
    scale = np.where(reach > 0, bounded_scale(reach, apart, epsilon), 1.0)
    below, above = 0.5 * np.exp((low - values) / scale), 0.5 * np.exp((values - high) / scale)  # what the bounds cut off
    drawn = random.uniform(len(values)) * (1 - below - above)
    downward = drawn + below < 0.5
    left = np.where(downward, drawn + below, 1 - below - drawn)
    moved = scale * np.log(2 * np.maximum(left, np.finfo(float).tiny))
    return np.where(reach > 0, np.clip(values + np.where(downward, moved, -moved), low, high), values)


def bounded_scale(sensitivity: Reals, apart: Reals, epsilon: float) -> Reals:
    """The smallest scale with which cut Laplace noise keeps the ratio of all probabilities within e^epsilon.

    A value at the edge loses more to the cut than one a `sensitivity` inside, by a factor C of the scale b. What is needed is
    sensitivity / b + ln C(b) <= epsilon, which holds at twice the scale of plain Laplace noise and is found by halving.

    Example:
        >>> bounded_scale(np.array([10.0, 1.0]), np.array([10.0, 10.0]), 0.5).round(3).tolist()
        [20.0, 3.528]
    """
    least, most = sensitivity / epsilon, 2 * sensitivity / epsilon
    for _ in range(HALVINGS):
        scale = np.maximum((least + most) / 2, np.finfo(float).tiny)
        inside, rest, whole = (-np.expm1(-length / scale) for length in (sensitivity, apart - sensitivity, apart))
        lost = np.divide(inside + rest, whole, out=np.ones_like(whole), where=whole > 0)
        enough = sensitivity / scale + np.log(lost) <= epsilon
        least, most = np.where(enough, least, scale), np.where(enough, scale, most)
    return most
