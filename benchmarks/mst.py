"""MST, a synthesizer for tables, written small: what a user would take for attributes instead of libra.

McKenna, Miklau and Sheldon, "Winning the NIST Contest" (2021). A third of the squared budget each goes to the counts of every
column, to the choice of a maximum spanning tree of pairs of columns, and to the counts of its pairs. On a tree, the distribution
follows from tables that agree on their columns, without a library. In: columns of codes. Out: a `Tree` to draw rows from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Edge = tuple[int, int]
RARE = 3.0  # standard deviations: codes with lower noisy counts are one cell from then on, as in the authors' code
ROUNDS = 100  # of projections; those of two convex sets come together fast on tables of this size
NEARLY_NONE = 1e-6  # the share of cells as likely as each other that is mixed in, so that nothing given is impossible
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Tree:
    """A distribution over columns, and what it took to learn it."""

    edges: tuple[Edge, ...]  # parent and child; the first column is the root, and parents come before their children
    shares: tuple[Floats, ...]  # of the cells of each column
    tables: tuple[Floats, ...]  # of each edge: the shares of pairs of cells, a row for each cell of the parent
    cells: tuple[Integers, ...]  # of each column: the cell that a code is in
    spent: tuple[float, ...]  # mu of each noisy answer; their squares add up


def learnt(columns: Sequence[Integers], sizes: Sequence[int], mu: float, n_rows: float, random: np.random.Generator) -> Tree:
    """A tree from columns of codes, which are below these sizes.

    `n_rows` is how many rows there are, by a release that is there already. A choice at epsilon spends mu = epsilon / 2: its
    zero-concentrated cost, epsilon^2 / 8, is that of such a Gaussian mechanism, mu^2 / 2. This is the authors' accounting.
    """
    third, most_edges = mu / math.sqrt(3), max(len(columns) - 1, 1)
    of_column, of_edge = third / math.sqrt(len(columns)), third / math.sqrt(most_edges)
    cells, first, variances = [], [], []
    for codes, size in zip(columns, sizes, strict=True):
        counts = np.bincount(codes, minlength=size) + random.normal(0, 1 / of_column, size)
        cells.append(without_rare(counts, RARE / of_column))
        first.append(np.bincount(cells[-1], counts) / n_rows)
        variances.append(np.bincount(cells[-1]) / (of_column * n_rows) ** 2)
    inner = [own[codes] for own, codes in zip(cells, columns, strict=True)]
    shares = [_on_simplex(one[None], np.ones(1))[0] for one in first]
    edges = chosen(inner, shares, 2 * of_edge, n_rows, random)
    tables = []
    for one, other in edges:
        counts = _counts(inner[one], inner[other], (len(shares[one]), len(shares[other])))
        tables.append((counts + random.normal(0, 1 / of_edge, counts.shape)) / n_rows)
    shares = _together(first, variances, edges, tables, (of_edge * n_rows) ** 2)
    fitted = [with_sums(table, shares[one], shares[other]) for (one, other), table in zip(edges, tables, strict=True)]
    spent = (*[of_column] * len(columns), *[of_edge] * 2 * len(edges))
    return Tree(tuple(edges), tuple(shares), tuple(fitted), tuple(cells), spent)


def without_rare(counts: Floats, least: float) -> Integers:
    """For every code its cell: one for each code that is not rare, then one for all that are.

    Example:
        >>> without_rare(np.array([9.0, 1.0, 8.0, 2.0]), 3.0).tolist()
        [0, 2, 1, 2]
    """
    often = counts >= least
    return np.where(often, np.cumsum(often) - 1, int(often.sum())).astype(np.int64)


def _counts(one: Integers, other: Integers, shape: tuple[int, int]) -> Floats:
    return np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def chosen(
    inner: Sequence[Integers], shares: Sequence[Floats], epsilon: float, n_rows: float, random: np.random.Generator
) -> list[Edge]:
    """The edges of a tree, each chosen at epsilon among those that join two parts, by how far a pair is from independent.

    A row more or less changes a score by 1 at most. Gumbel noise and the largest is the exponential mechanism.
    """
    pairs = list(combinations(range(len(inner)), 2))
    ends, scores = np.array(pairs, np.int64).reshape(-1, 2), np.zeros(len(pairs))
    for place, (one, other) in enumerate(pairs):
        expected = n_rows * np.multiply.outer(shares[one], shares[other])
        scores[place] = np.abs(_counts(inner[one], inner[other], (len(shares[one]), len(shares[other]))) - expected).sum()
    part, edges = np.arange(len(inner)), []
    for _ in range(len(inner) - 1):
        joins = np.flatnonzero(part[ends[:, 0]] != part[ends[:, 1]])
        one, other = pairs[joins[np.argmax(scores[joins] * epsilon / 2 + random.gumbel(size=len(joins)))]]
        edges.append((one, other))
        part[part == part[other]] = part[one]
    reached, rooted = [0], list[Edge]()
    for parent in reached:  # which grows
        children = [one + other - parent for one, other in edges if parent in (one, other)]
        rooted += [(parent, child) for child in children if child not in reached]
        reached += [child for child in children if child not in reached]
    return rooted


def _together(
    first: Sequence[Floats], variances: Sequence[Floats], edges: Sequence[Edge], tables: Sequence[Floats], precision: float
) -> list[Floats]:
    """The shares of cells by the counts of columns and the sums of tables, weighted by their noise."""
    trust = [1 / variance for variance in variances]
    sums = [own * one for own, one in zip(first, trust, strict=True)]
    for edge, table in zip(edges, tables, strict=True):
        for column, axis in zip(edge, (1, 0), strict=True):
            sums[column] = sums[column] + table.sum(axis=axis) * precision / table.shape[axis]
            trust[column] = trust[column] + precision / table.shape[axis]
    found = [_on_simplex((one / own)[None], np.ones(1))[0] for one, own in zip(sums, trust, strict=True)]
    return [(1 - NEARLY_NONE) * one + NEARLY_NONE / len(one) for one in found]


def _on_simplex(values: Floats, totals: Floats) -> Floats:
    """The nearest rows that are nowhere negative and have these sums."""
    falling = -np.sort(-values, axis=1)
    excess = (np.cumsum(falling, axis=1) - totals[:, None]) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((falling > excess).sum(axis=1) - 1, 0)
    found: Floats = np.maximum(values - np.take_along_axis(excess, last[:, None], 1), 0.0)
    return found


def with_sums(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The nearest table that is nowhere negative and has these sums of rows and columns, which are positive.

    Dykstra's projections find it. Proportional fitting then meets the sums exactly.
    """
    found, off = table, [np.zeros_like(table), np.zeros_like(table)]
    for _ in range(ROUNDS):
        before = found + off[0]
        found = _on_simplex(before, rows)
        off[0], before = before - found, found + off[1]
        found = _on_simplex(before.T, columns).T
        off[1] = before - found
    found = found + NEARLY_NONE * np.multiply.outer(rows, columns)
    for _ in range(ROUNDS):
        found = found * (columns / found.sum(axis=0))
        found = found * (rows / found.sum(axis=1))[:, None]
    return found


def drawn(tree: Tree, given: Mapping[int, Integers], n_rows: int, random: np.random.Generator) -> list[Integers]:
    """So many rows, column by column; columns that are `given` stay, and all others are drawn given these.

    This is as if rows were drawn until one has the codes that are given. Within a cell of rare codes all are equally likely.
    """
    known = [tree.cells[column][codes] for column, codes in given.items()]
    kinds, kind = np.unique(np.stack([*known, np.zeros(n_rows, np.int64)], 1), axis=0, return_inverse=True)
    weights = [np.ones((len(kinds), len(one))) for one in tree.shares]  # how likely what is given below a column is
    for place, column in enumerate(given):
        weights[column] = np.eye(len(tree.shares[column]))[kinds[:, place]]
    steps = [table / table.sum(axis=1, keepdims=True) for table in tree.tables]
    for (parent, child), step in reversed(list(zip(tree.edges, steps, strict=True))):
        below = weights[child] @ step.T
        weights[parent] = weights[parent] * below / below.max(axis=1, keepdims=True)
    cells = {0: _picked(tree.shares[0] * weights[0][kind], np.zeros(n_rows, np.int64), kind, random)}
    for (parent, child), step in zip(tree.edges, steps, strict=True):
        cells[child] = _picked(step[cells[parent]] * weights[child][kind], cells[parent], kind, random)
    return [given[column] if column in given else any_with(cells[column], tree.cells[column], random) for column in sorted(cells)]


def _picked(weights: Floats, parent: Integers, kind: Integers, random: np.random.Generator) -> Integers:
    """For every row a cell by its weights. Like rows get draws that are evenly spread, so that shares are met closely."""
    order = np.lexsort((random.permutation(len(kind)), kind, parent))
    draws = np.empty(len(kind))
    draws[order] = (random.random() + GOLDEN * np.arange(len(kind))) % 1.0
    ends = np.cumsum(weights, axis=1)
    picked: Integers = (draws[:, None] * ends[:, -1:] >= ends[:, :-1]).sum(axis=1)
    return picked


def matched(rows: Sequence[Integers], cases: Sequence[Integers], random: np.random.Generator) -> Integers:
    """For each case a row of its own, which has the same codes in all columns where possible; any other row where not.

    Example:
        >>> matched([np.array([0, 1, 1])], [np.array([1, 0, 0])], np.random.default_rng()).tolist()[1]
        0
    """
    n_rows = len(rows[0])
    together = np.unique(
        np.stack([np.concatenate(both) for both in zip(rows, cases, strict=True)], 1), axis=0, return_inverse=True
    )[1]
    of_rows, of_cases = (_numbered(codes, n_rows) for codes in (together[:n_rows], together[n_rows:]))
    _, same_rows, same_cases = np.intersect1d(of_rows, of_cases, return_indices=True)
    found = np.empty(n_rows, np.int64)
    found[same_cases] = same_rows
    others = [np.setdiff1d(np.arange(n_rows), same) for same in (same_cases, same_rows)]
    found[others[0]] = random.permutation(others[1])
    return found


def _numbered(codes: Integers, n_rows: int) -> Integers:
    """Codes with the number of equal ones before each, so that all differ."""
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    before = np.empty(n_rows, np.int64)
    before[order] = np.arange(n_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbered: Integers = codes * n_rows + before
    return numbered


def any_with(wanted: Integers, codes: Integers, random: np.random.Generator) -> Integers:
    """For each wanted code a random place among those that have it.

    Example:
        >>> any_with(np.array([2, 0]), np.array([0, 1, 2]), np.random.default_rng()).tolist()
        [2, 0]
    """
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    begins = np.cumsum(sizes) - sizes
    places: Integers = order[begins[wanted] + (random.random(len(wanted)) * sizes[wanted]).astype(np.int64)]
    return places
