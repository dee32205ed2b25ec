"""The two figures of the Libra paper, EMD Freq and EMD Time, as its authors compute them.

Both take the earth mover's distance between two *sets of numbers*, one number an edge, over the edges that either log uses
(an edge that a log lacks has the number 0). Which edge carries which number makes no difference, nothing is normalised, and
so an empty log scores the mean of the original's numbers. Read them beside that value and beside the figures by label.
"""

from __future__ import annotations

import numpy as np

from libra.measures.distances import Integers
from libra.measures.edges import PairedEdges


def emd_freq(pair: PairedEdges) -> float:
    """Earth mover's distance of the directly-follows frequencies."""
    return _emd(pair.original.counts, pair.anonymized.counts)


def emd_time(pair: PairedEdges) -> float:
    """Earth mover's distance of the summed whole hours that the edges took."""
    return _emd(pair.original.hours, pair.anonymized.hours)


def _emd(one: Integers, other: Integers) -> float:
    """Of two sets of equally many numbers: the mean difference of the sorted values."""
    return float(np.abs(np.sort(one) - np.sort(other)).mean()) if len(one) else 0.0
