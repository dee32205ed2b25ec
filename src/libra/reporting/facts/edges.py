"""The edges of both logs on one list: how often each is taken, and how long that takes.

In: two logs. Out: `NamedEdges`, every edge with its activities, and an `EdgeTable` of the heaviest ones, up to a limit. Edges are
ordered by the original's counts, in public mode by the anonymized log's. A step's duration may be negative where a file's order
contradicts its clock; in means and medians it counts as what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from libra.measures.distances import Floats, Integers, sort_grouped
from libra.measures.edges import EdgeUse, PairedEdges, common_codes, pair_edges
from libra.reporting.facts.duration_bins import SECOND
from libra.reporting.facts.pair import Pair


@dataclass(frozen=True)
class EdgeRow:
    """One edge in both logs.

    Attributes:
        source: The activity that comes first.
        target: The activity that directly follows.
        count_original: How often; None in public mode.
        count_anonymized: The same in the anonymized log.
        mean_original: Seconds from one to the other on average; None in public mode and where the edge is never taken.
        mean_anonymized: The same in the anonymized log; None also where its times are placeholders.
        median_original: The median, likewise.
        median_anonymized: The same in the anonymized log.
        w1_log: How far the durations are apart, in powers of ten; None unless both logs have the edge, and times.
    """

    source: str
    target: str
    count_original: int | None
    count_anonymized: int
    mean_original: float | None
    mean_anonymized: float | None
    median_original: float | None
    median_anonymized: float | None
    w1_log: float | None


@dataclass(frozen=True)
class EdgeTable:
    """The heaviest edges; how many are not shown, and which share of the steps (of the original, if there is one) they have."""

    rows: tuple[EdgeRow, ...]
    left_out: int
    left_out_share: float


@dataclass(frozen=True, eq=False)
class NamedEdges:
    """All edges of a pair of logs; in public mode nothing is on the original's side."""

    pair: Pair
    use: PairedEdges

    @property
    def leading(self) -> Integers:
        """The counts that order them."""
        return self.use.anonymized.counts if self.pair.is_public else self.use.original.counts

    @cached_property
    def heaviest(self) -> Integers:
        """Their places in the list, the heaviest first."""
        return np.lexsort((-self.use.anonymized.counts, -self.leading))

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """The two activities of each."""
        logs = (self.pair.compared_with, self.pair.anonymized)
        labels = sorted({label for log in logs for label in log.activities})
        keys = {
            key
            for log, codes in zip(logs, common_codes(*logs), strict=True)
            for key in zip(codes[log.directly_follows.source].tolist(), codes[log.directly_follows.target].tolist(), strict=True)
        }
        return [(labels[source], labels[target]) for source, target in sorted(keys)]  # in the order of pair_edges

    def counts(self, place: int) -> tuple[int | None, int]:
        """How often the original, if it is shown, and the anonymized log take an edge."""
        original = None if self.pair.is_public else int(self.use.original.counts[place])
        return original, int(self.use.anonymized.counts[place])


def edges_of(pair: Pair) -> NamedEdges:
    """Put the edges of both logs on one list.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> edges = edges_of(Pair(log, log))
        >>> len(edges.names) == len(log.directly_follows)
        True
    """
    return NamedEdges(pair, pair_edges(pair.compared_with, pair.anonymized))


def edge_table(pair: Pair, most: int = 1000, *, has_times: bool = True) -> EdgeTable:
    """Count and time the heaviest edges; `has_times` says whether the anonymized log's timestamps mean anything.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> found = edge_table(Pair(log, log))
        >>> found.left_out, {row.w1_log for row in found.rows}
        (0, {0.0})
    """
    edges = edges_of(pair)
    shown, leading = edges.heaviest[:most], edges.leading
    nothing = np.full(len(leading), np.nan)
    before = _middles(edges.use.original)
    after, apart = (_middles(edges.use.anonymized), _apart(edges.use)) if has_times else ((nothing, nothing), nothing)
    columns = (_listed(values[shown]) for values in (before[0], after[0], before[1], after[1], apart))
    rows = tuple(
        EdgeRow(source, target, *edges.counts(place), *times)
        for place, *times in zip(shown.tolist(), *columns, strict=True)
        for source, target in [edges.names[place]]
    )
    left_out = leading[edges.heaviest[most:]]
    return EdgeTable(rows, len(left_out), int(left_out.sum()) / max(int(leading.sum()), 1))


def _middles(use: EdgeUse) -> tuple[Floats, Floats]:
    """Mean and median seconds of every edge; not a number where it is never taken."""
    counts = use.counts
    means, medians = np.full(len(counts), np.nan), np.full(len(counts), np.nan)
    taken = counts > 0
    if taken.any():
        order = np.argsort(use.step_micros)
        ordered = use.step_micros[order[np.argsort(use.step_edge[order], kind="stable")]]
        begin = np.cumsum(counts) - counts
        low, high = (ordered[(begin + (counts - odd) // 2)[taken]] / SECOND for odd in (1, 0))
        medians[taken] = (low + high) / 2
        means[taken] = np.bincount(use.step_edge, use.step_micros / SECOND, minlength=len(counts))[taken] / counts[taken]
    return means, medians


def _apart(use: PairedEdges) -> Floats:
    """The distance of every edge's durations on log10(1 + seconds); not a number where a log lacks the edge."""
    original, anonymized = use.original, use.anonymized
    together = sort_grouped(
        original.step_edge, original.step_micros, anonymized.step_edge, anonymized.step_micros, len(original.counts)
    )
    apart = together.distances(np.log10(1 + together.values.clip(min=0) / SECOND))
    apart[(original.counts == 0) | (anonymized.counts == 0)] = np.nan
    return apart


def _listed(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]
