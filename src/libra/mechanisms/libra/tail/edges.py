"""The edges of the tail: those that stand out from the noise, and the flow closest to them that adds up at every activity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from libra.eventlog.cases import Floats, Integers
from libra.privacy.gaussian import upper_quantiles
from libra.privacy.noise import NoisyTable

FALSE_SHARE = 0.1  # of the edges that are taken, at most so many are false (Benjamini and Hochberg, 1995)
# Chosen on the eight public logs, several seeds; the mean error of the edges hardly depends on them: shares of 0.3 and 0.7,
# counts of 0.1 and 0.4 move it by 1 %.
WEAK_FALSE_SHARE = 0.5  # the same of all edges together, once weak ones are added
WEAK_COUNTS = 0.2  # what a weak edge counts of its noisy value
LIKELY = 0.5  # standard deviations, for an edge that a kept variant has: the tail is near to what is kept
# Trust in the prior. Chosen on the eight public logs, three seeds: with a fifth of it the mean error of the edges is 14 % larger
# (the steps are too few then), with five times as much 7 %.
TAU = 0.01
# At most so many steps, a bound on time, and what a step has to gain, in the unit of the sum of squares. To go on for longer
# lowers the mean error of the edges by 3 %; where every edge is taken, logs are as they were in earlier versions.
PATIENT, HASTY = (250, 0.005), (80, 0.05)
MEMORY = 10  # steps that the curvature is estimated from, as is usual
LARGEST_EXPONENT = 30.0  # no weight becomes more than e^30 times its prior: nothing overflows
BACKTRACKS = 25  # of one step: by then it is too short to matter


def significant_edges(base: NoisyTable, known: Integers) -> Integers:
    """The edges of the tail, as cells of the table in ascending order; `known` are those of the kept variants."""
    likely = known[base.values.ravel()[known] > LIKELY * base.sd]
    found = np.union1d(_standing_out(base, FALSE_SHARE), likely)
    return joined(found, base.values) if len(found) else found


def weak_edges(base: NoisyTable, edges: Integers) -> Integers:
    """Further edges between the nodes of these, which stand out less."""
    nodes = len(base.counts)
    leaves, comes = np.zeros(nodes, bool), np.zeros(nodes, bool)
    leaves[edges // nodes], comes[edges % nodes] = True, True
    weak = np.setdiff1d(_standing_out(base, WEAK_FALSE_SHARE), edges)
    source, target = np.divmod(weak, nodes)
    inside = (source < nodes - 1) & (target < nodes - 1)
    return weak[inside & leaves[source] & comes[target]]


def believed(base: NoisyTable, weak: Integers) -> NoisyTable:
    """The noisy edges, of which weak ones, more often false than not, count a part: few of the true ones are missing then."""
    counts = base.counts.copy()
    counts.ravel()[weak] = np.rint(WEAK_COUNTS * counts.ravel()[weak])
    return NoisyTable(counts, base.scale, base.sd)


def _standing_out(base: NoisyTable, false_share: float) -> Integers:
    """The cells that stand out; starts and ends are judged by themselves."""
    return np.flatnonzero(by_family(base.values / base.sd, lambda scores: _stand_out(scores, false_share)))


def by_family(values: Floats, choose: Callable[[Floats], npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    """The chosen cells; steps, starts and ends are judged each by themselves."""
    chosen = np.zeros(values.shape, bool)
    for part in (np.s_[:-1, :-1], np.s_[-1, :-1], np.s_[:-1, -1]):
        chosen[part] = choose(values[part])
    return chosen


def _stand_out(scores: Floats, false_share: float) -> npt.NDArray[np.bool_]:
    """The rule of Benjamini and Hochberg, one-sided: the last score, from the highest on, that passes the bound of its rank."""
    above = np.sort(scores[scores > 1])[::-1]
    tails = false_share * np.arange(1, len(above) + 1) / max(scores.size, 1)
    passing = np.flatnonzero(above >= upper_quantiles(tails, 0.5 - tails))
    return scores >= above[passing[-1]] if len(passing) else np.zeros(scores.shape, bool)


def joined(edges: Integers, values: Floats) -> Integers:
    """The edges, and the likeliest starts and ends that are still needed to reach and to leave every one of them."""
    start, end = len(values) - 1, len(values)  # the end is a node of its own
    found = edges.tolist()

    def lacking(origin: int, *, backwards: bool) -> Integers:
        """The nodes that edges leave (or lead to) and no path from the origin (or to it) reaches."""
        source, target = np.divmod(np.array(found, np.int64), len(values))
        target = np.where(target == start, end, target)
        if backwards:
            source, target = target, source
        return np.unique(source[~reached(source, target, origin, len(values) + 1)[source]])

    while len(nodes := lacking(start, backwards=False)):
        found.append(start * len(values) + int(nodes[np.argmax(values[start, nodes])]))
    while len(nodes := lacking(end, backwards=True)):
        found.append(int(nodes[np.argmax(values[nodes, start])]) * len(values) + start)
    return np.unique(found)


def reached(source: Integers, target: Integers, origin: int, n_nodes: int) -> npt.NDArray[np.bool_]:
    """The nodes that some path along these edges leads to from the origin, which is one of them."""
    found = np.zeros(n_nodes, bool)
    found[origin] = True
    while True:
        known = int(found.sum())
        found[target[found[source]]] = True
        if int(found.sum()) == known:
            return found


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """One table of noisy figures and what candidates count in it."""

    target: Floats  # the noisy values
    sd: float  # the standard deviation of their noise
    candidate: Integers  # candidate i ...
    cell: Integers  # ... counts in this cell of `target` ...
    amount: Floats  # ... so much


@dataclass(frozen=True, eq=False, repr=False)
class Products:
    """A table with a noisy figure for every pair of labels: sums of products of how far candidates deviate in having each."""

    target: Floats  # the noisy values, of pairs in the order of `np.triu_indices`
    sd: float  # the standard deviation of their noise
    kind: Integers  # candidate i is of this kind ...
    sets: Integers  # ... which has a row of ones and zeros, for the labels that it has and has not ...
    usual: Floats  # ... and deviates by these numbers less, one for each label; ...
    factor: Floats  # ... its products are multiplied by this number


def balance(tables: Sequence[Figures | Products], prior: Floats, patience: tuple[int, float] = PATIENT) -> Floats:
    """The weights of the candidates."""
    system = _System(tables, len(prior))
    whole = system.curvature(prior) + TAU
    unit = 1 / np.sqrt(whole)  # each multiplier in the unit in which its curvature is 1, at first

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        scaled = multipliers * unit
        weights = prior * np.exp(np.minimum(system.transposed(scaled), LARGEST_EXPONENT))
        value = weights.sum() + ((TAU / 2 * scaled - system.target) * scaled).sum()
        return float(value), (system.counted(weights) + TAU * scaled - system.target) * unit

    found = minimum(dual, np.zeros(len(system.target)), *patience)
    return prior * np.exp(np.minimum(system.transposed(found * unit), LARGEST_EXPONENT))


class _System:
    """All figures in units of their noise: a matrix with a row a figure and a column a candidate, in parts."""

    def __init__(self, tables: Sequence[Figures | Products], n_candidates: int) -> None:
        figures = [table for table in tables if isinstance(table, Figures)]
        products = [_Products(table) for table in tables if isinstance(table, Products)]
        self._parts: list[_Sparse | _Products] = [_Sparse(figures, n_candidates), *products]
        self._ends = np.cumsum([len(part.target) for part in self._parts])[:-1]
        self.target = np.concatenate([part.target for part in self._parts])

    def counted(self, weights: Floats) -> Floats:
        """What the weighted candidates count in every figure."""
        return np.concatenate([part.counted(weights) for part in self._parts])

    def transposed(self, multipliers: Floats) -> Floats:
        """For every candidate, the multipliers of its figures, weighted by how much it counts in each."""
        of_parts = zip(self._parts, np.split(multipliers, self._ends), strict=True)
        return np.asarray(sum(part.transposed(some) for part, some in of_parts))

    def curvature(self, weights: Floats) -> Floats:
        """How fast each figure moves with its own multiplier."""
        return np.concatenate([part.curvature(weights) for part in self._parts])


class _Sparse:
    """Tables of figures, as a sparse matrix that is held both ways; SciPy multiplies it in half the time of NumPy."""

    def __init__(self, tables: list[Figures], n_candidates: int) -> None:
        begins = np.cumsum([0, *(len(table.target) for table in tables)])
        self.target = np.concatenate([table.target / table.sd for table in tables])
        row = np.concatenate([table.cell + begin for table, begin in zip(tables, begins, strict=False)])
        column = np.concatenate([table.candidate for table in tables])
        value = np.concatenate([table.amount / table.sd for table in tables])
        self._matrix = csr_array((value, (row, column)), shape=(len(self.target), n_candidates))
        self._turned = self._matrix.T.tocsr()

    def counted(self, weights: Floats) -> Floats:
        return np.asarray(self._matrix @ weights)

    def transposed(self, multipliers: Floats) -> Floats:
        return np.asarray(self._turned @ multipliers)

    def curvature(self, weights: Floats) -> Floats:
        return np.asarray(self._matrix.power(2) @ weights)


class _Products:
    """One table of products. Kinds are far fewer than candidates, and of labels a kind has only some.

    So products are multiplied out: (x - u) (y - v) = x y - v x - u y + u v. What is summed are pairs of labels that a kind has,
    labels that it has, and kinds. Squares are products as well: (x - u)^2 = (1 - 2 u) x + u^2, where x is 0 or 1.
    """

    def __init__(self, table: Products) -> None:
        self.target = table.target / table.sd
        self._kind, self._usual, self._factor = table.kind, table.usual, table.factor / table.sd
        self._one, self._other = np.triu_indices(len(table.usual), 1)
        row, label = np.nonzero(table.sets)
        following = np.searchsorted(row, row, side="right") - np.arange(1, len(row) + 1)  # labels of the same row after this one
        first = np.repeat(np.arange(len(row)), following)
        second = np.arange(1, len(first) + 1) - np.repeat(np.cumsum(following) - following, following) + first
        number = np.zeros((len(table.usual),) * 2, np.int64)  # of every pair
        number[self._one, self._other] = np.arange(len(self._one))
        kinds, pairs = np.arange(len(table.sets)), len(self._one)
        cell = np.concatenate((number[label[first], label[second]], pairs + label, np.full(len(kinds), pairs + len(table.usual))))
        used, place = np.unique(cell, return_inverse=True)
        row = np.concatenate((row[first], row, kinds))
        self._used, self._size = used, pairs + len(table.usual) + 1
        self._sums = _Sparse([Figures(np.zeros(len(used)), 1.0, row, place, np.ones(len(row)))], len(kinds))

    def counted(self, weights: Floats) -> Floats:
        return self._multiplied(self._of_kinds(weights) * self._factor, np.ones(len(self._usual)), -self._usual)

    def transposed(self, multipliers: Floats) -> Floats:
        one, other, size = self._one, self._other, len(self._usual)
        of_labels = np.bincount(one, multipliers * self._usual[other], minlength=size)
        of_labels += np.bincount(other, multipliers * self._usual[one], minlength=size)
        of_all = (multipliers * self._usual[one] * self._usual[other]).sum()
        whole = np.concatenate((multipliers, -of_labels, [of_all]))
        return np.asarray((self._sums.transposed(whole[self._used]) * self._factor).take(self._kind))

    def curvature(self, weights: Floats) -> Floats:
        return self._multiplied(self._of_kinds(weights) * self._factor**2, 1 - 2 * self._usual, self._usual**2)

    def _of_kinds(self, weights: Floats) -> Floats:
        return np.bincount(self._kind, weights, minlength=len(self._factor)).astype(np.float64)

    def _multiplied(self, of_kinds: Floats, slope: Floats, constant: Floats) -> Floats:
        """For every pair the sum over kinds, weighted so, of the products of slope times having a label plus constant."""
        sums = np.zeros(self._size)
        sums[self._used] = self._sums.counted(of_kinds)
        one, other, pairs = self._one, self._other, len(self._one)
        has, total = sums[pairs:-1], sums[-1]
        found = slope[one] * slope[other] * sums[:pairs] + constant[one] * constant[other] * total
        return np.asarray(found + slope[one] * constant[other] * has[one] + constant[one] * slope[other] * has[other])


def minimum(function: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int, enough: float) -> Floats:
    """Where a smooth convex function, given with its gradient, is smallest (L-BFGS with backtracking; Nocedal 1980).

    The search ends after so many steps, or with one that gains less than enough.
    """
    point = start
    value, gradient = function(point)
    history: list[tuple[Floats, Floats, float]] = []
    for _ in range(steps):
        direction = -_curved(gradient, history)
        slope = float((gradient * direction).sum())
        if slope >= 0:
            direction, history = -gradient, []
            slope = -float((gradient * gradient).sum())
        length = 1.0 if history else 1 / max(1.0, float(np.abs(gradient).sum()))
        for _ in range(BACKTRACKS):
            further = point + length * direction
            new_value, new_gradient = function(further)
            if new_value <= value + 1e-4 * length * slope:
                break
            length *= 0.4
        else:
            return point
        step, change = further - point, new_gradient - gradient
        curvature = float((step * change).sum())
        if curvature > 1e-12:
            history = [*history[1 - MEMORY :], (step, change, curvature)]
        gained = value - new_value
        point, value, gradient = further, new_value, new_gradient
        if gained < enough:
            break
    return point


def _curved(gradient: Floats, history: list[tuple[Floats, Floats, float]]) -> Floats:
    """The gradient times an estimate of the inverse curvature, from the last steps (the two-loop recursion)."""
    direction = gradient.copy()
    shares = []
    for step, change, curvature in reversed(history):
        share = float((step * direction).sum()) / curvature
        shares.append(share)
        direction -= share * change
    if history:
        _, change, curvature = history[-1]
        direction *= curvature / float((change * change).sum())
    for (step, change, curvature), share in zip(history, reversed(shares), strict=True):
        direction += step * (share - float((change * direction).sum()) / curvature)
    return direction
