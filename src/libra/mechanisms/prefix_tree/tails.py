"""Noise on counts of prefixes as published, and how often noise alone reaches a threshold."""

from __future__ import annotations

import math

import numpy as np

from libra.eventlog.cases import Integers
from libra.privacy.randomness import Randomness


def truncated_laplace(scale: float, n: int, random: Randomness) -> Integers:
    """Laplace noise in floats, cut to whole numbers toward 0, as the authors of the prefix query have it.

    Example:
        >>> noise = truncated_laplace(2.0, 100_000, Randomness(seed=1))
        >>> bool(abs((noise >= 3).mean() - truncated_tail(2.0, 3)) < 0.003)
        True
    """
    return np.trunc(random.laplace(scale, n)).astype(np.int64)


def truncated_tail(scale: float, least: int) -> float:
    """The probability that such noise is at least so much, from 1 up.

    Example:
        >>> truncated_tail(1.0, 2) == math.exp(-2) / 2
        True
    """
    return math.exp(-least / scale) / 2


def discrete_tail(scale: float, least: int) -> float:
    """The same of discrete Laplace noise.

    Example:
        >>> round(discrete_tail(1.0, 1), 4)  # what is not 0, on one side
        0.2689
    """
    return math.exp(-least / scale) / (1 + math.exp(-1 / scale))
