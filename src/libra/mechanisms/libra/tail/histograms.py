"""Noisy histograms of the tail: where they end, what they hold, and the clip they advise.

A bin in which there is only noise would make traces of thousands of events, or a clip that drowns everything in noise. So a
histogram ends at the last window of bins that stands out, and nothing is believed beyond.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from libra.engines.control_flow_tables import NORM_BINS
from libra.privacy.noisy import NoisyTable

Floats = npt.NDArray[np.float64]
STANDS_OUT = 4.0  # standard deviations
WINDOWS = (5, 15)  # bins in a window, at most; the second is for histograms in which no short window stands out
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # of a standard normal number
SMALLEST_CLIP = 2.0


def last_bin(histogram: NoisyTable) -> int | None:
    """The last bin of a window that stands out, itself above its noise; None where no window does.

    Example:
        >>> last_bin(NoisyTable(np.array([50, 90, 30, 12, -4, 3, 2]), scale=1, sd=3.0))
        3
    """
    filled = histogram.values > histogram.sd
    sums = np.concatenate(([0.0], np.cumsum(histogram.values)))
    for widest in WINDOWS:
        found = -1
        for width in range(1, min(widest, len(sums) - 1) + 1):
            scores = (sums[width:] - sums[:-width]) / (histogram.sd * math.sqrt(width))
            ends = np.flatnonzero((scores >= STANDS_OUT) & filled[width - 1 :])
            found = max(found, int(ends[-1]) + width - 1) if len(ends) else found
        if found >= 0:
            return found
    return None


def on_simplex(values: Floats, total: float) -> Floats:
    """The nearest numbers that are nowhere below zero and add up to the total.

    Example:
        >>> on_simplex(np.array([8.0, 3.0, -2.0]), 10.0).tolist()
        [7.5, 2.5, 0.0]
    """
    if total <= 0:
        return np.zeros_like(values)
    descending = np.sort(values)[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(descending > excess)[-1]]
    nearest: Floats = np.maximum(values - shift, 0.0)
    return nearest


def best_clip(norms: Floats, edges: float, mu: float, weight: float) -> float:
    """The clip at which noise and what is cut off are smallest together.

    Args:
        norms: How many cases there are in each bin of the squared norm.
        edges: On how many edges the noise counts.
        mu: Of the release; the noise of an edge has standard deviation clip / mu.
        weight: How much one unit of norm that is cut off counts. Balancing makes up for a part of it.

    Example:
        >>> cases = np.zeros(len(NORM_BINS)); cases[7] = 1000
        >>> best_clip(cases, edges=10, mu=0.5, weight=0.5) > best_clip(cases, edges=1000, mu=0.5, weight=0.5)
        True
    """
    ends = np.sqrt(np.append(NORM_BINS[1:], 2 * NORM_BINS[-1]))
    middles = np.sqrt((NORM_BINS + np.append(NORM_BINS[1:], NORM_BINS[-1])) / 2)[: len(norms)]
    clips = ends[ends >= SMALLEST_CLIP / 2]
    cut_off = (norms * np.maximum(middles - clips[:, None], 0.0)).sum(axis=1)
    return float(clips[int(np.argmin(edges * MEAN_ABSOLUTE * clips / mu + weight * cut_off))])
