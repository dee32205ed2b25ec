"""The model of largest entropy that agrees with noisy counts: how cases of each kind are divided into groups of values.

In: the kinds of cases that were generated, how many cases should be in each group, and tables that say how groups go together
with cells of the kinds, each with how far its noise lets one trust it. Out: a parameter for each group, and for each pair of a
cell and a group. The search is Newton's. The equations of a step may have thousands of unknowns, so they are solved by conjugate
gradients; what makes these fast is the curvature that every group would have by itself if it were independent of everything.
The search ends where everything is met closer than its noise, or after some steps. A table that cannot be true of these cases,
whose durations are not quite the original's, is left out. Pure post-processing.

Within, everything has a row for each group, because there are few groups and many kinds and cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import NamedTuple

import numpy as np

from libra._system.ordering import stable_order
from libra.eventlog.cases import Floats, Integers

HOPELESS = 5.0  # standard deviations that tables are off by if not all of them can be met
CLOSE = 0.4  # standard deviations that everything may be off by, in the quadratic mean
STEPS, TRIES, ROUGHLY = 60, 200, 0.2  # steps at most; tries to solve the equations of one, and what is left of them then
FARTHEST, SHORTEST = 10.0, 1e-3  # how far a step may lead, and what is left of one that is given up
SLIGHT = 1e-3  # penalty of the parameters of groups, whose counts are trusted
LAST = 20  # corrections of the counts of groups
MOST_KINDS = 512  # of sides that are looked at together


class Wanted(NamedTuple):
    """A side of the kinds of cases, and how groups should go together with it."""

    cells: Integers  # of every kind
    counts: Floats  # a row a cell, a column a group
    trust: Floats  # penalties of the parameters, in the same form
    sd: Floats | float  # how far counts may be off, for every group
    joined: Integers | None = None  # for every group those that share parameters here, as one was counted; None: each has its own


@dataclass(frozen=True, eq=False, repr=False)
class _Sides:
    """Some sides looked at together: the distinct combinations of their cells."""

    rows: slice  # of all cells
    combined: Integers  # the combination of every kind
    order: Integers | None  # the kinds by their combinations; None where that is how they are ordered
    begins: Integers  # of every combination, where its kinds begin in that order
    has: Floats  # a row a combination, a column a cell: 1 where it has the cell

    @classmethod
    def of(cls, rows: slice, combined: Integers, has: Floats) -> _Sides:
        """Sides of which every combination is that of some kind."""
        ordered = bool((combined[1:] >= combined[:-1]).all())
        sizes = np.bincount(combined, minlength=len(has))
        return cls(rows, combined, None if ordered else stable_order(combined), np.cumsum(sizes) - sizes, has)

    def spread(self, parameters: Floats) -> Floats:
        """For every kind the sum of the parameters of its cells."""
        return (parameters[:, self.rows] @ self.has.T).take(self.combined, axis=1, mode="clip")  # of modes the fastest

    def gathered(self, of_kinds: Floats) -> Floats:
        """For every cell the sum over the kinds that have it."""
        ordered = of_kinds if self.order is None else of_kinds.take(self.order, axis=1, mode="clip")
        return np.add.reduceat(ordered, self.begins, axis=1) @ self.has


def _met(sides: Sequence[_Sides], times: Floats) -> Floats:
    """How many cases have both of two cells, for all pairs of them."""
    n_cells = sides[-1].rows.stop
    met = np.empty((n_cells, n_cells))
    for one, other in combinations_with_replacement(sides, 2):
        n, m = len(one.has), len(other.has)
        both = np.bincount(one.combined * m + other.combined, times, n * m).reshape(n, m)
        met[one.rows, other.rows] = one.has.T @ (both @ other.has)
        met[other.rows, one.rows] = met[one.rows, other.rows].T
    return met


def _together(wanted: Sequence[Wanted], n_kinds: int) -> list[_Sides]:
    """All sides, as few at a time as their combinations allow. The first cell of all is one that every kind has."""
    found, combined, has, begin = list[_Sides](), np.zeros(n_kinds, np.int64), np.ones((1, 1)), 0
    for one in wanted:
        n_cells = len(one.counts)
        seen, first, more = np.unique(combined * n_cells + one.cells, return_index=True, return_inverse=True)
        here = np.eye(n_cells)
        if len(seen) > MOST_KINDS and has.shape[1] > 1:
            found.append(_Sides.of(slice(begin, begin + has.shape[1]), combined, has))
            begin += has.shape[1]
            seen, first, more = np.unique(one.cells, return_index=True, return_inverse=True)
            has = here[seen]
        else:
            has = np.hstack((has[combined[first]], here[one.cells[first]]))
        combined = more
    return [*found, _Sides.of(slice(begin, begin + has.shape[1]), combined, has)]


def largest_entropy(counts: Floats, sds: Floats, wanted: Sequence[Wanted], times: Floats) -> tuple[Floats, list[Floats]]:
    """The parameters of groups, and those of each side in the form of its counts.

    `counts` are the cases that should be in each group, which are met all but exactly, and `times` the cases of each kind.

    Example:
        >>> table = Wanted(np.array([0, 1]), np.array([[30.0, 10.0], [10.0, 30.0]]), np.full((2, 2), 1e-6), 1.0)
        >>> _, (found,) = largest_entropy(np.array([40.0, 40.0]), np.ones(2), [table], np.array([40.0, 40.0]))
        >>> odds = float(np.exp(found[0, 0] - found[0, 1] - found[1, 0] + found[1, 1]))  # 9 are wanted
        >>> 8 < odds < 10
        True
    """
    left, tables = list(range(len(wanted))), [np.zeros(one.counts.shape) for one in wanted]
    while True:
        of_groups, found, off = _searched(counts, sds, [wanted[i] for i in left], times)
        if not left or np.sqrt(np.mean(off**2)) <= HOPELESS:
            for i, one in zip(left, found, strict=True):
                tables[i] = one
            return of_groups, tables
        del left[int(np.argmax(off))]  # it says what cannot be true of these cases, and would spoil all others


def _searched(counts: Floats, sds: Floats, wanted: Sequence[Wanted], times: Floats) -> tuple[Floats, list[Floats], Floats]:
    """The parameters of groups and of each side, and how far each side is off in the end, in standard deviations."""
    sides = _together(wanted, len(times))
    aim = np.vstack([counts[None, :], *(one.counts for one in wanted)]).T
    trust = np.vstack([np.full((1, len(counts)), SLIGHT), *(one.trust for one in wanted)]).T
    off = np.vstack([sds[None, :], *(np.broadcast_to(one.sd, one.counts.shape) for one in wanted)]).T
    met = _met(sides, times)
    n_cases = np.maximum(met.diagonal(), 1e-9)
    aim += (met.diagonal() - aim.sum(axis=0)) / len(aim)  # the groups of a cell have all of its cases together
    alone = (counts / counts.sum() * (1 - counts / counts.sum()))[:, None, None] * met  # curvature of independent groups
    alone[:, range(len(met)), range(len(met))] += trust
    inverse, usual = np.linalg.inv(alone), np.diagonal(alone, axis1=1, axis2=2)
    sharing = [(part, has @ (has.T / has.sum(axis=0)[:, None])) for part, has in _joined(wanted)]

    def shared(of_cells: Floats) -> Floats:
        """The same for all groups that share parameters: their mean."""
        found = of_cells.copy() if sharing else of_cells
        for part, mean in sharing:
            found[:, part] = mean @ found[:, part]
        return found

    off = shared(off)

    def spread(parameters: Floats) -> Floats:
        found = sides[0].spread(parameters)
        for one in sides[1:]:
            found += one.spread(parameters)
        return found

    def gathered(of_kinds: Floats) -> Floats:
        return np.hstack([one.gathered(of_kinds) for one in sides])

    def shares_at(parameters: Floats) -> tuple[Floats, float]:
        """The shares of groups in every kind, and how good these parameters are; less is better."""
        shares = spread(parameters)
        highest = shares.max(axis=0)
        shares -= highest
        np.exp(shares, out=shares)
        sums = shares.sum(axis=0)
        shares /= sums
        value = np.sum(times * (np.log(sums) + highest)) - np.sum(aim * parameters) + np.sum(trust * parameters**2) / 2
        return shares, float(value)

    def step_from(shares: Floats, expected: Floats, lacking: Floats) -> Floats:
        """Roughly the step that would meet what is lacking, if curvature stayed as it is here."""
        scale = np.sqrt(usual / (expected * (1 - expected / n_cases) + trust))
        step, left, weights = np.zeros_like(lacking), lacking.copy(), shares * times
        better = shared(scale * np.einsum("gij,gj->gi", inverse, scale * left))
        direction, size = better, float(np.sum(left * better))
        enough = ROUGHLY**2 * size
        for _ in range(TRIES):
            change = spread(direction)
            change -= np.einsum("gk,gk->k", shares, change)
            change *= weights
            curved = shared(gathered(change) + trust * direction)
            length = size / float(np.sum(direction * curved))
            step += length * direction
            left -= length * curved
            better = shared(scale * np.einsum("gij,gj->gi", inverse, scale * left))
            before, size = size, float(np.sum(left * better))
            if size <= enough:
                break
            direction = better + size / before * direction
        return step

    parameters = np.zeros_like(aim)
    parameters[:, 0] = np.log(counts / counts.sum())
    shares, value = shares_at(parameters)
    for _ in range(STEPS if wanted else 0):
        expected = gathered(shares * times)
        lacking = shared(aim - expected - trust * parameters)
        if np.mean((lacking / off) ** 2) <= CLOSE**2:
            break
        step = step_from(shares, expected, lacking)
        length, down = min(1.0, FARTHEST / float(np.abs(step).max())), float(np.sum(lacking * step))
        while True:
            there = parameters + length * step
            shares_there, value_there = shares_at(there)
            if value_there <= value - 1e-4 * length * down or length < SHORTEST:
                break
            length /= 2
        if value_there >= value:
            break
        parameters, shares, value = there, shares_there, value_there
    missed = shared(aim - gathered(shares * times) - trust * parameters) / off
    for _ in range(LAST):
        change = np.clip(counts / np.maximum(shares / shares.sum(axis=0) @ times, 1e-9), 0.1, 10)
        shares *= change[:, None]
        parameters[:, 0] += np.log(change)
    parameters = parameters.T
    how_far = np.array([np.sqrt(np.mean(missed[:, part] ** 2)) for part in _parts(wanted)])
    return parameters[0], [parameters[part] for part in _parts(wanted)], how_far


def _parts(wanted: Sequence[Wanted]) -> list[slice]:
    """Where the cells of each side stand, after one that all cases have."""
    ends = np.cumsum([1, *(len(one.counts) for one in wanted)]).tolist()
    return [slice(begin, end) for begin, end in pairwise(ends)]


def _joined(wanted: Sequence[Wanted]) -> Iterator[tuple[slice, Floats]]:
    """The sides on which groups share parameters: where they stand, and 1 where a group is one of those that share some."""
    for part, one in zip(_parts(wanted), wanted, strict=True):
        if one.joined is not None:
            yield part, np.eye(int(one.joined.max()) + 1)[one.joined]
