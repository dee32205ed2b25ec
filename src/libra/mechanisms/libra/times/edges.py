"""How long the steps of each edge take: noisy cells turned into shares of duration bins.

In: the noisy tables of edges. Out: a row of shares an edge, and one for all edges without cells of their own. An edge is as
fine as its cells; below that it follows all steps together. The noise of many empty cells adds up, so those that come out empty
are taken out and the rest is looked at once more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.mechanisms.libra.times.groups import DEPTH
from libra.mechanisms.libra.times.histogram import KNOWN, TINY, UNKNOWN, Level, combined, denoise, tree
from libra.mechanisms.libra.times.overall import Overall, overall_steps, with_longest
from libra.mechanisms.libra.times.release import TimeFigures
from libra.mechanisms.libra.times.totals import last_total

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
FINEST = 1 << DEPTH  # groups of duration bins
EMPTY = 0.25  # standard deviations: a cell with less, at the first look, is taken out
SURE = 0.1  # how far, relatively, the control flow may be off about the count of an edge


def edge_shares(figures: TimeFigures, counts: Integers) -> Floats:
    """For every edge with cells of its own, and for all others together, the share of its steps in each duration bin.

    `counts` says how many steps of the control flow each row has.
    """
    overall = overall_steps(figures.noisy["steps"], figures.noisy["longest"], last_total(figures.noisy, figures.parts))
    groups = np.array(figures.cells.groups)
    expected = np.bincount(groups, overall.shares, minlength=FINEST).astype(np.float64)
    levels = _levels(figures, overall, expected, None)
    totals = _totals(levels[0], counts)
    first_look = denoise(levels, expected, totals) * totals[:, None]
    shares = denoise(_levels(figures, overall, expected, first_look), expected, totals)
    within = np.divide(overall.shares, expected[groups], out=np.zeros(len(groups)), where=expected[groups] > 0)
    return np.asarray(shares[:, groups] * within)


def _totals(seen: Level, counts: Integers) -> Floats:
    """How many steps of each row were counted: what the noisy cells say, and what the control flow does, in proportion."""
    kept: Floats = counts.astype(np.float64) * (max(float(seen.values.sum()), 1.0) / max(int(counts.sum()), 1))
    guess = Level(kept[:, None], (SURE * kept[:, None] + 1) ** 2)
    return np.maximum(combined(seen, guess).values[:, 0], 1.0)


def _levels(figures: TimeFigures, overall: Overall, expected: Floats, first_look: Floats | None) -> list[Level]:
    """The noisy cells of every row as a tree; below what a row was counted in, nothing is known.

    Rows with equally many cells are treated together. `first_look` has the counts that a first look gave each finest group.
    """
    steps, longest = figures.noisy["edges"], figures.noisy["longest_edges"]
    longest_mass = np.bincount(np.array(figures.cells.groups), overall.shares * overall.longest, minlength=FINEST)
    merged, last_group = np.array(figures.cells.merged), figures.cells.groups[-1]
    levels = [
        Level(np.zeros((len(merged), 1 << depth)), np.full((len(merged), 1 << depth), UNKNOWN)) for depth in range(DEPTH + 1)
    ]
    for power in np.unique(merged).tolist():
        rows, size, present = np.flatnonzero(merged == power), FINEST >> power, (last_group >> power) + 1
        part = longest_mass.reshape(size, -1).sum(1) / np.maximum(expected.reshape(size, -1).sum(1), TINY)
        cells = figures.cells.first_cells[rows][:, None] + np.arange(present)
        seen = Level(steps.values[cells], np.full(cells.shape, steps.sd**2))
        better = with_longest(seen, longest.values[cells], longest.sd**2, part[:present])
        values, variances = np.zeros((len(rows), size)), np.full((len(rows), size), KNOWN)
        values[:, :present], variances[:, :present] = better
        if first_look is not None:
            empty = first_look[rows].reshape(len(rows), size, -1).sum(2) < EMPTY * np.sqrt(variances)
            values[empty], variances[empty] = 0.0, KNOWN
        for level, own in zip(levels, tree(values, variances), strict=False):
            level.values[rows], level.variances[rows] = own
    return levels
