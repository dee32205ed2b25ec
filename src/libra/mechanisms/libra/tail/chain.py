"""A Markov chain of activities, and traces drawn from it.

The next activity depends on the last one and, where the last step is one of the `contexts`, on the one before as well. The chain
starts and ends in the artificial node. Drawing is vectorized: all traces take their next step together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Integers, Traces, order_of
from libra.eventlog.ordering import Ladder
from libra.privacy.randomness import Randomness

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """Weights of steps.

    Attributes:
        first: From each node, to each node; a row of zeros is a dead end, which no step with weight leads to.
        contexts: Edges in ascending order.
        second: From each context, to each node; no row of zeros.
    """

    first: Floats
    contexts: Integers
    second: Floats


def draw_traces(chain: Chain, n: int, longest: int, random: Randomness) -> Traces:
    """Traces of the chain, without those that are empty or longer than `longest`; so there may be fewer than `n`.

    Example:
        >>> to_and_fro = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0.0]])
        >>> drawn = draw_traces(Chain(to_and_fro, np.zeros(0, np.int64), np.zeros((0, 3))), 200, 3, Randomness(seed=1))
        >>> sorted({tuple(trace) for trace in drawn.to_lists()})
        [(0,), (0, 1, 0)]
    """
    nodes = len(chain.first)
    outside = nodes - 1
    rows = np.vstack((chain.first, chain.second))
    totals = rows.sum(axis=1, keepdims=True)
    steps = np.cumsum(rows, axis=1) / np.where(totals > 0, totals, 1)
    ladder = Ladder((np.minimum(steps, 1.0) + 2.0 * np.arange(len(rows))[:, None]).ravel())  # every row on a stretch of its own
    row_of_edge = np.full(nodes * nodes, -1)
    row_of_edge[chain.contexts] = nodes + np.arange(len(chain.contexts))

    walker, node = np.arange(n), np.full(n, outside)
    row = node
    finished = np.zeros(n, bool)
    who, what = [walker[:0]], [node[:0]]
    for _ in range(longest + 1):
        following = np.minimum(ladder.places(random.uniform(len(row)) + 2 * row) - row * nodes, outside)
        goes_on = following != outside
        finished[walker[~goes_on]] = True
        walker, edge, node = walker[goes_on], (node * nodes + following)[goes_on], following[goes_on]
        if not len(walker):
            break
        who.append(walker)
        what.append(node)
        row = np.where(row_of_edge[edge] >= 0, row_of_edge[edge], node)
    walkers, codes = np.concatenate(who), np.concatenate(what)
    order = order_of(walkers)
    lengths = np.bincount(walkers, minlength=n)
    drawn = Traces(codes[order], np.concatenate(([0], np.cumsum(lengths))))
    return drawn.take(np.flatnonzero(finished & (lengths > 0) & (lengths <= longest)))
