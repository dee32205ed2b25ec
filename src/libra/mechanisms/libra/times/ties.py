"""What ties the times of a case together: slow steps that follow slow ones, and how long cases last that take the same path.

Steps are slow or fast: their edge is cut in two. A sum for each pair of edges says how far both go together; one that does not
stand out from the noise ties nothing. Cases of a frequent variant, and others of about the same length, have totals of their own.
"""

from __future__ import annotations

import numpy as np

from libra._system.ordering import stable_order
from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.engines.time_tables import WEIGHT, EdgeCells, GroupedTotals, SlowPairs
from libra.eventlog.cases import Floats, Integers, Traces
from libra.mechanisms.libra.times.durations import EdgeShares, Norms, Steps, drawable
from libra.mechanisms.libra.times.histogram import TINY, denoise, tree
from libra.privacy.gaussian import upper_quantiles
from libra.privacy.noise import NoisyTable

OF_NORM = 0.5  # the clip of sums of pairs, of the norm of a case in which all products were 1: most are far smaller
CLIPPED_AT = 0.75  # the quantile of such norms
EXPECTED = 3.0  # standard deviations that a sum could reach, for a pair to be asked for
FALSE_TIES = 0.02  # pairs that a release may be expected to tie although they are not
MOST_PAIRS = 4000
OWN_VARIANT, OWN_LENGTHS = 4.0, 8.0  # standard deviations of a cell that the cases of a row should hold
MOST_VARIANTS, MOST_LENGTHS = 200, 7
GROUPS = 16  # of totals, equally many cases each, for all rows
ROUNDS = 10  # in which rows and groups are brought to their sums


def grouped_totals(traces: Traces, counts: Integers, parts: tuple[int, ...], shares: Floats, mu: float) -> GroupedTotals | None:
    """Which cases have totals of their own; None where they would drown in noise.

    `counts` cases follow each trace, and `shares` of them have a total in each part of the bins of totals.
    """
    frequent = np.flatnonzero(counts >= OWN_VARIANT * GROUPS / 4 / mu)
    frequent = frequent[np.argsort(-counts[frequent], kind="stable")[:MOST_VARIANTS]]
    others = np.delete(np.arange(len(traces)), frequent)
    lengths, cases = traces.lengths[others], counts[others]
    n_groups = min(int(cases.sum() * mu / (OWN_LENGTHS * GROUPS / 4)), MOST_LENGTHS)
    order = np.argsort(lengths, kind="stable")
    until = np.cumsum(cases[order])
    at = np.searchsorted(until, cases.sum() * np.arange(1, n_groups) / max(n_groups, 1))
    cuts = np.unique(lengths[order][at])
    cuts = cuts[cuts > lengths.min(initial=cuts.max(initial=0))]
    if len(frequent) + len(cuts) + bool(cases.any()) < 2:  # one row would only say again how long all cases last
        return None
    middle = np.cumsum(shares) - shares / 2
    group = np.minimum(GROUPS * middle / max(float(shares.sum()), TINY), GROUPS - 1).astype(np.int64)
    group = np.unique(np.maximum.accumulate(group), return_inverse=True)[1]
    return GroupedTotals(traces.take(frequent), tuple(cuts.tolist()), parts, tuple(group.tolist()))


def row_shares(noisy: NoisyTable, rows: Integers, drawn: Integers, table: GroupedTotals, shares: Floats) -> Floats:
    """The share of the cases of each row in every part of the bins of totals.

    `rows` and `drawn` are the row and the part of each case as it was drawn: a row is taken to be like that where its own counts
    say little. All rows together have the `shares` of all cases.
    """
    n_rows, n_groups = table.shape
    group = np.array(table.groups)
    together = np.bincount(group, shares, minlength=n_groups)
    cases = np.bincount(rows, minlength=n_rows).astype(np.float64)
    like = np.bincount(rows * n_groups + group[drawn], minlength=n_rows * n_groups).reshape(n_rows, n_groups) + together
    size = 1 << (n_groups - 1).bit_length()
    values, variances, expected = (np.zeros((n_rows, size)) for _ in range(3))
    values[:, :n_groups], variances[:], expected[:, :n_groups] = noisy.values, noisy.sd**2, like / (cases[:, None] + 1)
    found = denoise(tree(values, variances), expected, np.maximum(values.sum(1), noisy.sd))[:, :n_groups]
    found = cases[:, None] * found + TINY
    for _ in range(ROUNDS):
        found *= cases.sum() * together / np.maximum(found.sum(0), TINY)
        found *= (cases / np.maximum(found.sum(1), TINY))[:, None]
    inside = np.divide(shares, together[group], out=np.zeros(len(shares)), where=together[group] > 0)
    spread_out: Floats = found[:, group] * inside
    return spread_out


def slow_pairs(steps: Steps, counts: Integers, cells: EdgeCells, shares: Floats, mu: float) -> SlowPairs | None:
    """Which pairs of edges are asked about; None where none could stand out.

    `counts` cases follow each trace, and `shares` of the steps of each row are in each group of `cells`.
    """
    n_labels, slow, share = cells.n_labels, *_cut_in_two(cells, shares)
    first = np.flatnonzero(np.diff(steps.row) == 0)
    keys, place = np.unique(steps.edge[first] * n_labels + steps.edge[first + 1] % n_labels, return_inverse=True)
    if not len(keys):
        return None
    cases = counts[steps.row[first]]
    known, times = np.unique(steps.row[first] * np.int64(len(keys)) + place, return_counts=True)
    squares = np.bincount(known // len(keys), np.square(times, dtype=np.float64))
    some = np.flatnonzero((squares > 0) & (counts[: len(squares)] > 0))
    if not len(some):
        return None
    clip = drawable(OF_NORM * Norms(np.sqrt(squares[some]), some, counts[some]).quantile(CLIPPED_AT), mu, SlowPairs.scale)
    in_parts = np.rint(WEIGHT * share).astype(np.int64)
    spread = in_parts * (WEIGHT - in_parts) / WEIGHT**2
    one, other = (cells.row_of[edge] for edge in edges_of(keys, n_labels))
    could = np.bincount(place, cases, minlength=len(keys)) * np.sqrt(spread[one] * spread[other]) * mu / clip
    chosen = np.flatnonzero(could >= EXPECTED)
    chosen = np.sort(chosen[np.argsort(-could[chosen], kind="stable")[:MOST_PAIRS]])
    if not len(chosen):
        return None
    return SlowPairs(clip, cells, tuple(slow.tolist()), tuple(in_parts.tolist()), tuple(keys[chosen].tolist()))


def edges_of(pairs: Integers, n_labels: int) -> tuple[Integers, Integers]:
    """The first edges of pairs, and the second ones."""
    first, target = np.divmod(pairs, n_labels)
    return first, first % n_labels * n_labels + target


def _cut_in_two(cells: EdgeCells, shares: Floats) -> tuple[Integers, Floats]:
    """For every row the fine bin from which steps are slow, and their share: the classes differ most, on a logarithmic scale.

    (The rule of Otsu, 1979, for grey levels.)
    """
    bounds = tables.fine_bounds()[[0, *cells.ends]]
    middle = np.log10(1 + np.sqrt(np.maximum(bounds[:-1], 1) * bounds[1:]) / tables.SECOND)
    below = np.cumsum(shares, axis=1)[:, :-1]
    sums = np.cumsum(shares * middle, axis=1)
    between = (sums[:, -1:] * below - sums[:, :-1]) ** 2 / np.maximum(below * (1 - below), TINY)
    between[(below < 1e-9) | (below > 1 - 1e-9)] = 0.0
    at = np.argmax(between, axis=1)
    rows = np.arange(len(shares))
    return np.array(cells.ends)[at], np.where(between[rows, at] > 0, 1 - below[rows, at], 0.0)


def uses_of(pairs: SlowPairs, steps: Steps, counts: Integers) -> tuple[int, ...]:
    """How often each pair occurs in a control flow in which so many cases follow each trace."""
    place, found = _places_among(pairs, steps)
    first = np.flatnonzero(np.diff(steps.row) == 0)[found]
    return tuple(np.bincount(place[found], counts[steps.row[first]], minlength=len(pairs.pairs)).astype(np.int64).tolist())


def _places_among(pairs: SlowPairs, steps: Steps) -> tuple[Integers, Integers]:
    """For each two steps in a line their place among the pairs, and which of these places are right."""
    keys, n_labels = np.array(pairs.pairs), pairs.cells.n_labels
    first = np.flatnonzero(np.diff(steps.row) == 0)
    wanted = steps.edge[first] * n_labels + steps.edge[first + 1] % n_labels
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, np.flatnonzero(keys[place] == wanted)


def places(
    tie: tuple[NoisyTable, SlowPairs, tuple[int, ...]] | None, shares: EdgeShares, steps: Steps, row: Integers, random: Randomness
) -> Floats:
    """For every step a place between 0 and 1 among those of its row, from the shortest to the longest.

    Where pairs are tied, whether a step is slow depends on the one before it: a chain along each case. `tie` has the noisy sums
    of the pairs, and how often each was counted.
    """
    place: Floats = random.uniform(len(row))
    if tie is None:
        return place
    noisy, pairs, uses = tie
    slower = _slow_shares(pairs, shares)
    slopes = _slopes(noisy, pairs, slower, np.array(uses))
    among, found = _places_among(pairs, steps)
    found = found[slopes[among[found]] != 0]
    tied, slope = (np.flatnonzero(np.diff(steps.row) == 0) + 1)[found], slopes[among[found]]
    if not len(tied):
        return place
    share = slower[row]
    slow = place >= 1 - share
    depth = _depths(tied)
    for now in np.split(stable_order(depth), np.cumsum(np.bincount(depth))[:-1])[1:]:
        step = tied[now]
        chance = np.clip(share[step] + slope[now] * (slow[step - 1] - share[step - 1]), 0.0, 1.0)
        is_slow = place[step] >= 1 - chance
        inside = np.where(
            is_slow, (place[step] - (1 - chance)) / np.maximum(chance, TINY), place[step] / np.maximum(1 - chance, TINY)
        )
        slow[step] = is_slow
        place[step] = np.where(is_slow, 1 - share[step] * (1 - inside), (1 - share[step]) * inside)
    return place


def _slow_shares(pairs: SlowPairs, shares: EdgeShares) -> Floats:
    """The share of slow steps in each row, as known now."""
    at = np.searchsorted(shares.ends, np.array(pairs.slow))  # slow steps begin with a group
    below = np.cumsum(shares.groups, axis=1)[np.arange(len(at)), at]
    return np.where(np.array(pairs.shares) > 0, np.clip(1 - below, 0.0, 1.0), 0.0)


def _slopes(noisy: NoisyTable, pairs: SlowPairs, slower: Floats, uses: Integers) -> Floats:
    """How much more often a step is slow after a slow one than after a fast one, for each pair that stands out."""
    one, other = (pairs.cells.row_of[edge] for edge in edges_of(np.array(pairs.pairs), pairs.cells.n_labels))
    assumed = np.array(pairs.shares) / WEIGHT
    shift = (slower[one] - assumed[one]) * (slower[other] - assumed[other])
    rarely = np.array([FALSE_TIES / (2 * len(uses))])
    stands_out = np.abs(noisy.values) >= upper_quantiles(rarely, 0.5 - rarely) * noisy.sd
    together = np.where(stands_out, noisy.values / np.maximum(uses, 1) - shift, 0.0)
    spread = slower[one] * (1 - slower[one])
    most = np.sqrt(spread * slower[other] * (1 - slower[other]))
    slopes: Floats = np.divide(np.clip(together, -most, most), spread, out=np.zeros(len(uses)), where=spread > 0)
    return slopes


def _depths(tied: Integers) -> Integers:
    """How many steps in a line, up to each of these, depend on the one before: 1 for the first of them."""
    goes_on = np.diff(tied, prepend=-2) == 1
    count = np.arange(len(tied))
    return 1 + count - np.maximum.accumulate(np.where(goes_on, 0, count))
