"""Clipping: each case's counts are brought down to a given L2 norm, made whole, and only then summed.

In: which case counts in which cell. Out: the summed table. The promise that sensitivities rest on: what one case adds never has
an L2 norm above `clip * scale`, in exact arithmetic. A case within the norm counts in full; one beyond it is scaled down with a
margin that is far larger than what floats may be off by, and rounded toward zero.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from libra._system.ordering import stable_order

Integers = npt.NDArray[np.int64]
SAFE = 1 - 1e-12  # more than all the rounding errors of a product of a few floats
EXACT = 2**53  # up to here floats hold every whole number


def add_clipped(
    case: Integers,
    cell: Integers,
    cells: int,
    clip: float,
    scale: int,
    weights: Integers | None = None,
    amounts: Integers | None = None,
) -> Integers:
    """Sum what all cases count, each case clipped to the L2 norm `clip`, times `scale`, rounded toward zero.

    `case` and `cell` are those of every occurrence, both from 0; there are so many `cells`. `weights` says how many equal cases
    each case stands for. Every occurrence counts 1, or what `amounts` says, where every pair of case and cell is given once;
    amounts may be negative.

    Example:
        >>> case, cell = np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0])
        >>> add_clipped(case, cell, cells=3, clip=1.0, scale=100).tolist()
        [144, 89, 0]
    """
    if not len(case):
        return np.zeros(cells, np.int64)
    if amounts is None:
        case, cell, amounts = counted(case, cell, cells)
    squares = np.bincount(case, np.square(amounts, dtype=np.float64))
    limit = math.floor(Fraction(clip) ** 2)  # squares are whole numbers: within the clip means up to here
    factors = np.full(len(squares), float(scale))
    beyond = squares > limit
    factors[beyond] = scale * clip / np.sqrt(squares[beyond]) * SAFE
    contributions = np.trunc(amounts * factors.take(case)).astype(np.int64)
    if weights is not None:
        contributions = contributions * weights[case]
    if float(np.abs(contributions).sum(dtype=np.float64)) < EXACT:
        return np.bincount(cell, contributions, minlength=cells).astype(np.int64)
    total = np.zeros(cells, np.int64)
    np.add.at(total, cell, contributions)
    return total


def counted(case: Integers, cell: Integers, cells: int, amounts: Integers | None = None) -> tuple[Integers, Integers, Integers]:
    """Every pair of case and cell once, and how often it occurs, or the sum of its amounts."""
    keys = case * np.int64(cells) + cell
    if amounts is not None:
        order = stable_order(keys)
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        case = keys[first] // cells
        return case, keys[first] - case * cells, np.add.reduceat(amounts[order], first) if len(first) else amounts
    if (int(case.max()) + 1) * cells <= 2**32:
        keys = keys.astype(np.uint32)  # half the bytes to sort
    keys.sort()
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    kept = keys[first].astype(np.int64)
    case = kept // cells
    return case, kept - case * cells, np.diff(first, append=len(keys))
