"""Distances between distributions: Wasserstein-1 of samples, of samples in many groups at once, and total variation.

In: plain integer arrays. Out: floats that are never negative and exactly zero for equal samples, because the two
cumulative counts are kept as integers until they are compared.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def total_variation(one: Integers, other: Integers) -> float:
    """Half the L1 distance of two vectors of counts, each scaled to sum to 1.

    Where one vector holds nothing at all the distance is 1, where both do it is 0.

    Example:
        >>> total_variation(np.array([3, 1, 0]), np.array([1, 0, 1]))
        0.5
    """
    size, other_size = int(one.sum()), int(other.sum())
    if not size or not other_size:
        return float(size != other_size)
    return min(float(np.abs(one / size - other / other_size).sum()) / 2, 1.0)


def wasserstein(one: Integers, other: Integers) -> float:
    """The Wasserstein-1 distance of two samples; a sample without values counts as a single zero.

    Example:
        >>> wasserstein(np.array([0, 1, 3]), np.array([5, 6, 8]))
        5.0
    """
    sorted_pair = sort_grouped(np.zeros(len(one), np.int64), one, np.zeros(len(other), np.int64), other, 1)
    return float(sorted_pair.distances(sorted_pair.values)[0])


class SortedPair:
    """Two samples split into the same groups and sorted together, ready for distances on any monotone scale.

    `values` holds all values of both samples by group, then by size. Build it with `sort_grouped`.
    """

    def __init__(self, group: Integers, values: Integers, from_one: npt.NDArray[np.bool_], n_groups: int) -> None:
        """Take both samples, already sorted by group and value, and count up each along the way."""
        self.values = values
        self._group, self._n_groups, self._from_one = group, n_groups, from_one
        size = np.bincount(group, minlength=n_groups)
        size_one = np.bincount(group[from_one], minlength=n_groups)
        seen_one = np.cumsum(from_one, dtype=np.int64)
        seen_other = np.arange(1, len(group) + 1) - seen_one
        before_one = (np.cumsum(size_one) - size_one)[group]
        before_other = (np.cumsum(size - size_one) - (size - size_one))[group]
        self._apart = np.abs((seen_one - before_one) / size_one[group] - (seen_other - before_other) / (size - size_one)[group])

    def distances(self, scaled: Floats | Integers) -> Floats:
        """Per group the Wasserstein-1 distance, with `scaled` for `values` (same order, never decreasing within a group)."""
        moved: Floats = self._apart[:-1] * np.diff(scaled)  # at a group's end the two are not apart: both have seen all
        return np.bincount(self._group[:-1], moved, minlength=self._n_groups).astype(np.float64)

    def percentiles(self, percent: int) -> tuple[Integers, Integers]:
        """Per group and for both samples the smallest value that at least so many percent of the sample do not exceed."""
        one, other = (
            self.values[own][np.cumsum(size) - size - (-percent * size // 100) - 1]
            for own in (self._from_one, ~self._from_one)
            for size in (np.bincount(self._group[own], minlength=self._n_groups),)
        )
        return one, other


def sort_grouped(group: Integers, values: Integers, other_group: Integers, other_values: Integers, n_groups: int) -> SortedPair:
    """Sort two grouped samples together, all groups at once.

    A group that one sample lacks counts as holding a single zero there.

    Example:
        >>> pair = sort_grouped(np.array([0, 0, 1]), np.array([1, 3, 7]), np.array([0]), np.array([2]), 2)
        >>> pair.distances(pair.values).tolist()
        [1.0, 7.0]
    """
    lacking = np.flatnonzero(np.bincount(group, minlength=n_groups) == 0)
    other_lacking = np.flatnonzero(np.bincount(other_group, minlength=n_groups) == 0)
    n_one = len(group) + len(lacking)
    groups = np.concatenate((group, lacking, other_group, other_lacking))
    pooled = np.concatenate((values, np.zeros(len(lacking), np.int64), other_values, np.zeros(len(other_lacking), np.int64)))
    order = np.argsort(pooled)
    narrow = groups.astype(np.min_scalar_type(n_groups))  # few groups: a radix sort
    order = order[np.argsort(narrow[order], kind="stable")]
    return SortedPair(groups[order], pooled[order], order < n_one, n_groups)
