"""A histogram of the two logs on the same bins, as shares, ready to be drawn or told as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.measures.distances import Floats, Integers


@dataclass(frozen=True)
class Histogram:
    """How something is distributed in the original and in the anonymized log.

    Attributes:
        bounds: Where bins begin, and where the last one ends: bin i goes from `bounds[i]` up to, not including, `bounds[i + 1]`.
        labels: What each bin holds, in words.
        original: The share of each bin; None in public mode. All 0 where there is nothing to count.
        anonymized: The same of the anonymized log.
        ticks: Where to mark the axis, counted in bins from the left, and with what.
        unit: What the bounds are in: "events" or "seconds".
        median_original: The median; None in public mode and where there is nothing to count.
        median_anonymized: The same of the anonymized log.
        mean_original: The mean, likewise.
        mean_anonymized: The same of the anonymized log.
    """

    bounds: tuple[float, ...]
    labels: tuple[str, ...]
    original: tuple[float, ...] | None
    anonymized: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    unit: str
    median_original: float | None
    median_anonymized: float | None
    mean_original: float | None
    mean_anonymized: float | None


def shares(counts: Integers) -> tuple[float, ...]:
    """Counts as shares of their sum; all 0 where there is nothing.

    Example:
        >>> shares(np.array([1, 3])), shares(np.array([0]))
        ((0.25, 0.75), (0.0,))
    """
    return tuple((counts / max(int(counts.sum()), 1)).tolist())


def median_of(values: Integers | Floats) -> float | None:
    """The median; None where there is no value.

    Example:
        >>> median_of(np.array([1, 2, 9])), median_of(np.zeros(0))
        (2.0, None)
    """
    return float(np.median(values)) if len(values) else None


def mean_of(values: Integers | Floats) -> float | None:
    """The mean; None where there is no value.

    Example:
        >>> mean_of(np.array([1, 2, 9])), mean_of(np.zeros(0))
        (4.0, None)
    """
    return float(values.mean()) if len(values) else None
