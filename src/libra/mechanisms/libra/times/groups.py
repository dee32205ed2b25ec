"""Groups of duration bins: as few cells as an edge can fill.

In: the noisy histogram of all durations and the edges of the released control flow. Out: 32 groups of bins in a line, nested
like a binary tree, and for every edge how many of them it should count as one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.engines.time_tables import DURATION_BINS, duration_bounds

Floats = npt.NDArray[np.float64]
DEPTH, SHALLOWEST = 5, 2  # of the tree of groups: 32 of them, and 4 for the edges with the fewest
ENOUGH = 1.0  # standard deviations that the mean cell of an edge should hold
VISIBLE = 1.0  # standard deviations that an edge needs for cells of its own
WEIGHTS = (1.0, 0.5, 2.0)  # of mass, hours and width of a group
MOST_EDGES = 4000


def duration_groups(shares: Floats) -> tuple[int, ...]:
    """The group of every duration bin: halves, quarters and so on of mass, of hours and of width together.

    Example:
        >>> groups = duration_groups(np.full(DURATION_BINS, 1 / DURATION_BINS))
        >>> groups[0], groups[-1], len(set(groups))
        (0, 31, 32)
    """
    bounds = duration_bounds()
    middle = np.sqrt(np.maximum(bounds[:-1], 1) * np.maximum(bounds[1:], 1))
    hours = shares * middle
    present = shares > 0
    width = np.where(present, np.diff(np.log10(1 + bounds / 1e6)), 0)
    parts = zip(WEIGHTS, (shares, hours, width), strict=True)
    weight = sum((by * part / part.sum() if part.sum() > 0 else part for by, part in parts), np.zeros(DURATION_BINS))
    groups = np.zeros(DURATION_BINS, np.int64)
    ranges = [(0, DURATION_BINS)]
    for _ in range(DEPTH):
        halves: list[tuple[int, int]] = []
        for begin, end in ranges:
            cut = _halved(weight, begin, end)
            halves += [(begin, cut), (cut, end)]
        ranges = halves
    for group, (begin, end) in enumerate(ranges):
        groups[begin:end] = group
    return tuple(groups.tolist())


def _halved(weight: Floats, begin: int, end: int) -> int:
    """Where to cut a range of bins so that both parts weigh about the same; a range of one bin goes to the left."""
    if end - begin < 2:
        return end
    sums = np.cumsum(weight[begin:end])
    if sums[-1] <= 0:
        return end
    return begin + 1 + int(np.argmin(np.abs(sums[:-1] - sums[-1] / 2)))


def merged_groups(counts: Floats, sd: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The edges that are visible at all, and for each (and for all others together) how many groups, as a power of two, to merge.

    `counts` is how often each edge will be counted, as far as is known, and `sd` the noise of a cell.

    Example:
        >>> merged_groups(np.array([9.0, 50.0, 1000.0]), sd=20.0)
        ((1, 2), (3, 0, 3))
    """
    depth = np.clip(np.floor(np.log2(np.maximum(counts / (ENOUGH * sd), 1))).astype(np.int64), SHALLOWEST, DEPTH)
    edges = np.flatnonzero(counts >= VISIBLE * sd)
    if len(edges) > MOST_EDGES:
        edges = np.sort(edges[np.argsort(-counts[edges], kind="stable")[:MOST_EDGES]])
    others = float(counts.sum() - counts[edges].sum())
    others_depth = int(np.clip(np.floor(np.log2(max(others / (ENOUGH * sd), 1))), SHALLOWEST, DEPTH))
    return tuple(edges.tolist()), (*(DEPTH - depth[edges]).tolist(), DEPTH - others_depth)
