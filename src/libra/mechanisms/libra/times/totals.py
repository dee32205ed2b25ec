"""How long cases last, from two noisy histograms: one in coarse bins, one that cuts these where counts allow.

In: the noisy tables of case durations. Out: shares of cells, as fine as their bin was cut, none above the last bin that can be
believed. A bin that is not cut was counted twice, so nothing is lost where there is little to count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.engines import time_tables as tables
from libra.mechanisms.libra.times.histogram import UNKNOWN, Level, combined, denoise, tree
from libra.mechanisms.libra.times.significance import last_believed
from libra.privacy.noisy import NoisyTable

Floats = npt.NDArray[np.float64]
FINEST = 6  # a bin of totals is cut in 64 parts at most, each less than 1 % wide
ENOUGH = 2.0  # standard deviations that the mean part should hold


class Histogram(NamedTuple):
    """Shares of cells, and where these begin and end."""

    shares: Floats
    bounds: Floats


def parts_of(totals: NoisyTable, sd: float) -> tuple[int, ...]:
    """In how many parts, as a power of two, each bin is to be counted when the noise of a part has this standard deviation.

    Example:
        >>> parts_of(NoisyTable(np.array([900, 900, 20, 900, 300]), 1, 3.0), sd=20.0)
        (0, 0, 0, 4, 2)
    """
    filled = np.maximum(totals.values / (ENOUGH * sd), 1)
    parts = np.clip(np.floor(np.log2(filled)).astype(np.int64), 0, FINEST)
    parts[:2] = 0
    return tuple(parts.tolist())


def counted_twice(totals: NoisyTable, cut: NoisyTable, parts: tuple[int, ...]) -> Level:
    """The best counts of the bins of totals, from both tables.

    Example:
        >>> once, again = NoisyTable(np.array([9, 1]), 1, 2.0), NoisyTable(np.array([5, 1, 2]), 1, 2.0)
        >>> both = counted_twice(once, again, (0, 1))
        >>> both.values.round(2).tolist(), both.variances.round(2).tolist()
        ([[7.0, 1.67]], [[2.0, 2.67]])
    """
    first = tables.CaseDurationParts(parts).first_cells
    again = np.add.reduceat(cut.values, first[:-1])
    sizes = np.diff(first)
    return combined(
        Level(totals.values[None, :], np.full((1, len(parts)), totals.sd**2)), Level(again[None, :], sizes[None, :] * cut.sd**2)
    )


def last_total(noisy: Mapping[str, NoisyTable], parts: tuple[int, ...]) -> int:
    """The last bin of totals that can be believed."""
    return last_believed(counted_twice(noisy["totals"], noisy["total_parts"], parts), noisy["longest"])


def total_histogram(totals: NoisyTable, cut: NoisyTable, parts: tuple[int, ...], last: int) -> Histogram:
    """The shares of cases in each part of each bin of totals, none above the last bin given."""
    bins = counted_twice(totals, cut, parts)
    size = 1 << (len(parts) - 1).bit_length()
    values, variances, wanted = np.zeros((1, size)), np.ones((1, size)), np.zeros(size)
    values[:, : last + 1], variances[:, : last + 1] = bins.values[:, : last + 1], bins.variances[:, : last + 1]
    wanted[: last + 1] = 1.0
    total = np.array([max(float(values.sum()), totals.sd)])
    shares = denoise(tree(values, variances), wanted, total)[0, : len(parts)]
    within = denoise(_trees(cut, parts), np.ones(1 << FINEST), shares * total)
    cells = [row.reshape(1 << part, -1).sum(1) for row, part in zip(shares[:, None] * within, parts, strict=True)]
    return Histogram(np.concatenate(cells), tables.part_bounds(parts))


def _trees(cut: NoisyTable, parts: tuple[int, ...]) -> list[Level]:
    """A tree a bin, each as deep as all can be; below its parts nothing is known."""
    first = tables.CaseDurationParts(parts).first_cells
    levels = [
        Level(np.zeros((len(parts), 1 << depth)), np.full((len(parts), 1 << depth), UNKNOWN)) for depth in range(FINEST + 1)
    ]
    for row in range(len(parts)):
        for level, own in zip(levels, tree(cut.values[None, first[row] : first[row + 1]], cut.sd**2), strict=False):
            level.values[row], level.variances[row] = own.values[0], own.variances[0]
    return levels
