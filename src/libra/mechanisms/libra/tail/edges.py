"""Which edges the tail really has: those that stand out from the noise, joined so that each is part of a whole trace.

In: the noisy edges. Out: edges that can be believed, and figures for all that may be used. A weak edge is more often false than
not; it is used, but counts for a part of its noisy value, so that few of the true ones are missing altogether.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Integers
from libra.privacy.noisy import NoisyTable
from libra.privacy.normal import upper_quantiles

Floats = npt.NDArray[np.float64]
FALSE_SHARE = 0.1  # of the edges that are taken, at most so many are false (Benjamini and Hochberg, 1995)
# Chosen on the eight public logs, several seeds; the mean error of the edges hardly depends on them: shares of 0.3 and 0.7,
# counts of 0.1 and 0.4 move it by 1 %.
WEAK_FALSE_SHARE = 0.5  # the same of all edges together, once weak ones are added
WEAK_COUNTS = 0.2  # what a weak edge counts of its noisy value
LIKELY = 0.5  # standard deviations, for an edge that a kept variant has: the tail is near to what is kept


def significant_edges(base: NoisyTable, known: Integers) -> Integers:
    """The edges of the tail, as cells of the table in ascending order; `known` are those of the kept variants.

    Example:
        >>> noisy = NoisyTable(np.array([[0, 90, 0], [0, 5, 80], [70, 1, 0]]), scale=1, sd=5.0)
        >>> significant_edges(noisy, known=np.zeros(0, np.int64)).tolist()
        [1, 5, 6]
    """
    likely = known[base.values.ravel()[known] > LIKELY * base.sd]
    found = np.union1d(_standing_out(base, FALSE_SHARE), likely)
    return joined(found, base.values) if len(found) else found


def weak_edges(base: NoisyTable, edges: Integers) -> Integers:
    """Further edges between the nodes of these, which stand out less.

    Example:
        >>> noisy = NoisyTable(np.array([[11, 90, 0], [0, 5, 80], [70, 1, 0]]), scale=1, sd=5.0)
        >>> weak_edges(noisy, np.array([1, 5, 6])).tolist()
        [0]
        >>> weak_edges(noisy, np.array([0, 1, 5])).tolist()
        []
    """
    nodes = len(base.counts)
    leaves, comes = np.zeros(nodes, bool), np.zeros(nodes, bool)
    leaves[edges // nodes], comes[edges % nodes] = True, True
    weak = np.setdiff1d(_standing_out(base, WEAK_FALSE_SHARE), edges)
    source, target = np.divmod(weak, nodes)
    inside = (source < nodes - 1) & (target < nodes - 1)
    return weak[inside & leaves[source] & comes[target]]


def believed(base: NoisyTable, weak: Integers) -> NoisyTable:
    """The noisy edges, of which weak ones count a part.

    Example:
        >>> believed(NoisyTable(np.array([[40, 90], [5, 80]]), scale=1, sd=5.0), weak=np.array([0])).counts.tolist()
        [[8, 90], [5, 80]]
    """
    counts = base.counts.copy()
    counts.ravel()[weak] = np.rint(WEAK_COUNTS * counts.ravel()[weak])
    return NoisyTable(counts, base.scale, base.sd)


def _standing_out(base: NoisyTable, false_share: float) -> Integers:
    """The cells that stand out; starts and ends are judged by themselves."""
    scores = base.values / base.sd
    outside = len(scores) - 1
    chosen = np.zeros(scores.shape, bool)
    chosen[:-1, :-1] = _stand_out(scores[:-1, :-1], false_share)
    chosen[outside, :-1] = _stand_out(scores[outside, :-1], false_share)
    chosen[:-1, outside] = _stand_out(scores[:-1, outside], false_share)
    return np.flatnonzero(chosen)


def _stand_out(scores: Floats, false_share: float) -> npt.NDArray[np.bool_]:
    """The rule of Benjamini and Hochberg, one-sided: the last score, from the highest on, that passes the bound of its rank."""
    above = np.sort(scores[scores > 1])[::-1]
    tails = false_share * np.arange(1, len(above) + 1) / max(scores.size, 1)
    passing = np.flatnonzero(above >= upper_quantiles(tails, 0.5 - tails))
    return scores >= above[passing[-1]] if len(passing) else np.zeros(scores.shape, bool)


def joined(edges: Integers, values: Floats) -> Integers:
    """The edges, and the likeliest starts and ends that are still needed to reach and to leave every one of them.

    Example:
        >>> joined(np.array([1]), np.array([[0, 9, 1], [0, 0, 7], [5, 2, 0]])).tolist()
        [1, 5, 6]
    """
    n_labels = len(values) - 1
    start, end = n_labels, n_labels + 1
    found = edges.tolist()
    while True:
        source, target = _nodes(found, n_labels)
        lacking = np.unique(source[~_reached(source, target, start, n_labels + 2)[source]])
        if not len(lacking):
            break
        found.append(n_labels * (n_labels + 1) + int(lacking[np.argmax(values[n_labels, lacking])]))
    while True:
        source, target = _nodes(found, n_labels)
        lacking = np.unique(target[~_reached(target, source, end, n_labels + 2)[target]])
        if not len(lacking):
            return np.unique(found)
        found.append(int(lacking[np.argmax(values[lacking, n_labels])]) * (n_labels + 1) + n_labels)


def _nodes(edges: list[int], n_labels: int) -> tuple[Integers, Integers]:
    """Where edges come from and go to, the end being a node of its own."""
    source, target = np.divmod(np.array(edges, np.int64), n_labels + 1)
    return source, np.where(target == n_labels, n_labels + 1, target)


def _reached(source: Integers, target: Integers, origin: int, n_nodes: int) -> npt.NDArray[np.bool_]:
    reached = np.zeros(n_nodes, bool)
    reached[origin] = True
    while True:
        grown = reached.copy()
        grown[target[reached[source]]] = True
        if (grown == reached).all():
            return reached
        reached = grown
