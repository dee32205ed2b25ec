"""The edges that are almost certainly there: doubtful ones get a second look, and few of those taken are false.

The first look has a noisy number for every possible edge, most of which are nothing but noise. The second is at those alone that
the first leaves in doubt, so that a case has few of them and counts in full. Both together decide.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Floats, Integers
from libra.mechanisms.libra.tail.edges import LIKELY, by_family, reached
from libra.privacy.gaussian import upper_quantiles, upper_tails
from libra.privacy.noise import NoisyTable

FALSE_SHARE = 0.02  # of the edges that are taken, at most so many are false (Benjamini and Hochberg, 1995)
CLEAR = 4.5  # standard deviations from which on the first look is enough
MOST_NOISE = 500  # edges that are nothing but noise: about so many at most get a second look, or it would drown in them
POINTS, HIGHEST = 100, 12.0  # of an integral over the first look; the highest score that is told from others


def doubtful_edges(base: NoisyTable, known: Integers) -> Integers:
    """The cells that a second look is for, in ascending order; `known` are those of the kept variants, which are certain."""
    scores = base.values.ravel() / base.sd
    doubtful = (scores > _least_score(scores.size)) & (scores < CLEAR)
    doubtful[known] = False
    doubtful[-1:] = False  # from the start to the end: a case without events
    return np.flatnonzero(doubtful)


def certain_edges(base: NoisyTable, known: Integers, doubtful: Integers, second: NoisyTable | None) -> Integers:
    """The edges that stand out after both looks, as far as they lie on paths from a start to an end, in ascending order."""
    scores = base.values.ravel() / base.sd
    tails = np.ones(scores.size)
    clear = np.flatnonzero(scores >= CLEAR)
    tails[clear] = upper_tails(scores[clear])
    if second is not None:
        trust, trust_second = 1 / base.sd**2, 1 / second.sd**2
        both = trust + trust_second
        together = (base.values.ravel()[doubtful] * trust + second.values * trust_second) / np.sqrt(both)
        tails[doubtful] = tails_of_two(together, float(np.sqrt(trust / both)), _least_score(scores.size))
    chosen = by_family(tails.reshape(base.counts.shape), discovered)
    chosen.ravel()[known[scores[known] > LIKELY]] = True
    return on_paths(np.flatnonzero(chosen), len(base.counts))


def _least_score(cells: int) -> float:
    """The score of the first look from which on an edge is in doubt."""
    tail = min(MOST_NOISE / max(cells, 1), 0.5)
    return max(LIKELY, float(upper_quantiles(np.array([tail]), np.array([0.5 - tail]))[0]))


def tails_of_two(scores: Floats, weight: float, least: float) -> Floats:
    """How probable it is for an edge that no case has to be in doubt and then to reach such a score, or a higher one.

    Such a score is a sum of those of both looks, with squared weights that add up to 1. That of the first, which has this weight,
    was between `least` and `CLEAR`. The probability is an integral over its density, computed on a grid of scores.
    """
    grid, log_tails = _log_tails(weight, least)
    return np.asarray(np.exp(np.interp(scores, grid, log_tails)))


@lru_cache(maxsize=100)
def _log_tails(weight: float, least: float) -> tuple[Floats, Floats]:
    """A grid of scores, and the logarithm of the probability at each; many runs of an audit ask for the same."""
    nodes, weights = _nodes()
    first = least + (CLEAR - least) * (nodes + 1) / 2
    weights = weights * (CLEAR - least) / 2 * np.exp(-(first**2) / 2) / np.sqrt(2 * np.pi)
    grid = np.linspace(0.0, HIGHEST, POINTS)
    needed = (grid[:, None] - weight * first) / np.sqrt(1 - weight**2)
    return grid, np.log(upper_tails(needed) @ weights)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Where the integral is evaluated, from -1 to 1, and what each value weighs."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    return nodes, weights


def discovered(tails: Floats) -> npt.NDArray[np.bool_]:
    """The rule of Benjamini and Hochberg: the last probability, from the lowest on, that is within the bound of its rank."""
    ordered = np.sort(tails[tails < 1])
    passing = np.flatnonzero(ordered <= FALSE_SHARE * np.arange(1, len(ordered) + 1) / max(tails.size, 1))
    return tails <= ordered[passing[-1]] if len(passing) else np.zeros(tails.shape, bool)


def on_paths(edges: Integers, n_nodes: int) -> Integers:
    """The edges that lie on some path from a start to an end: no trace can use any other."""
    start, end = n_nodes - 1, n_nodes  # the end is a node of its own
    source, target = np.divmod(edges, n_nodes)
    target = np.where(target == start, end, target)
    arrives, leaves = reached(source, target, start, n_nodes + 1), reached(target, source, end, n_nodes + 1)
    return edges[arrives[source] & leaves[target]]
