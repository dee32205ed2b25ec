"""Requests about control flow: which counts of traces may be asked for, and how far one case can move each.

Bins are fixed in advance. `clip` is 1 where a case falls into exactly one cell; elsewhere a case's vector is scaled down to that
norm. Every other parameter is public (labels) or released before (kept variants, contexts, clips).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from libra.engines.contract import FINE
from libra.eventlog.cases import Integers, Traces

LONGEST = 5_000
LENGTH_BINS = np.unique(np.append(np.arange(21), np.geomspace(21, LONGEST, 22).round().astype(np.int64)))
MOST_LABELS = 64  # of a case, that it gives weight to
NORM_BINS = np.concatenate(([0.0], 2.0 ** (np.arange(50) / 2)))  # left ends, of the squared norm
CAP = 2  # base edges count a case's first two uses of an edge, excess edges all others
PARTS = 16  # in which the share of cases with a label is given, so that cases deviate from it by whole numbers of them
CASE_LENGTH_BINS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 58, 70, 84, 100])  # left ends


class OneCell:
    """What all tables share in which a case falls into one cell, or none."""

    clip: ClassVar[float] = 1.0
    scale: ClassVar[int] = 1


@dataclass(frozen=True)
class Size(OneCell):
    """How many cases there are."""

    purpose: ClassVar[str] = "number of rare cases"
    shape: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True)
class CaseNumber(OneCell):
    """How many cases there are."""

    purpose: ClassVar[str] = "number of cases"
    shape: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True)
class RareCases(OneCell):
    """How many cases have a variant that no more than `most` follow, about.

    Of a variant of more, the fewer count the more follow it, from twice as many on none. So this is no sum over cases; but one
    more of a variant adds 1, takes 1 away or changes nothing. It is about whole traces.
    """

    purpose: ClassVar[str] = "cases of rare variants"
    shape: ClassVar[tuple[int, ...]] = (1,)
    most: int


@dataclass(frozen=True, eq=False)
class _PerVariant(OneCell):
    variants: Traces

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.variants),)


@dataclass(frozen=True, eq=False)
class VariantCounts(_PerVariant):
    """How many cases follow each of these variants."""

    purpose: ClassVar[str] = "cases that follow each kept variant"


@dataclass(frozen=True, eq=False)
class NearestCounts(_PerVariant):
    """How many cases each of these variants is nearest to, by the cosine of their edges; no case where there is no variant."""

    purpose: ClassVar[str] = "cases that each kept variant is nearest to"
    n_labels: int


@dataclass(frozen=True, eq=False)
class LabelWeights:
    """How much cases say for each label that is not known yet: of m such labels a case gives each 1 / sqrt(m), of norm 1.

    A case of more than `MOST_LABELS` gives its weight to so many of them, spread evenly over the order in which they first occur.
    """

    purpose: ClassVar[str] = "which labels are kept"
    scale: ClassVar[int] = FINE
    n_labels: int
    known: Integers

    @property
    def clip(self) -> float:
        return 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_labels,)  # known ones included


@dataclass(frozen=True)
class Lengths(OneCell):
    """How long the traces are."""

    purpose: ClassVar[str] = "lengths of rare cases"
    shape: ClassVar[tuple[int, ...]] = (len(LENGTH_BINS),)


@dataclass(frozen=True)
class CaseLengths(OneCell):
    """How many events cases have; those of 100 and more count as 100."""

    purpose: ClassVar[str] = "lengths of cases"
    shape: ClassVar[tuple[int, ...]] = (len(CASE_LENGTH_BINS),)


@dataclass(frozen=True)
class BaseNorms(OneCell):
    """How large the cases' vectors of base edges are."""

    purpose: ClassVar[str] = "sizes of rare cases: the norm of their edges, each used twice at most"
    shape: ClassVar[tuple[int, ...]] = (len(NORM_BINS),)


@dataclass(frozen=True, eq=False)
class ExcessNorms(OneCell):
    """How large the cases' vectors of excess edges are, as far as they are among these edges."""

    purpose: ClassVar[str] = "repetitions of rare cases: the norm of their uses of edges beyond the second"
    shape: ClassVar[tuple[int, ...]] = (len(NORM_BINS),)
    edges: Integers
    n_labels: int


@dataclass(frozen=True)
class _PerEdge:
    scale: ClassVar[int] = FINE
    n_labels: int
    clip: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_labels + 1, self.n_labels + 1)  # from each label or the start, to each label or the end


@dataclass(frozen=True)
class BaseEdges(_PerEdge):
    """Directly-follows edges, the first two uses in a case.

    `direct`: where labels were dropped, what comes before and after a dropped event does not follow each other.
    """

    purpose: ClassVar[str] = "edges of rare cases, the first two uses"
    direct: bool = False


@dataclass(frozen=True, eq=False)
class ExcessEdges(_PerEdge):
    """Directly-follows edges, all further uses in a case, as far as they are among these edges."""

    purpose: ClassVar[str] = "edges of rare cases, all uses beyond the second"
    edges: Integers


@dataclass(frozen=True, eq=False)
class DoubtfulEdges:
    """Direct base edges once more, as far as they are among these edges, with a clip of 1."""

    purpose: ClassVar[str] = "doubtful edges of rare cases, a second look"
    scale: ClassVar[int] = FINE
    n_labels: int
    edges: Integers  # in ascending order

    @property
    def clip(self) -> float:
        return 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.edges),)


@dataclass(frozen=True, eq=False)
class Contexts:
    """Where cases go on after each of these edges, the first two times."""

    purpose: ClassVar[str] = "what rare cases do next after each frequent edge"
    scale: ClassVar[int] = FINE
    n_labels: int
    contexts: Integers
    clip: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.contexts), self.n_labels + 1)  # from each context, to each label or the end


@dataclass(frozen=True, eq=False)
class Occurring:
    """How many cases have each of these labels."""

    purpose: ClassVar[str] = "activities of rare cases"
    scale: ClassVar[int] = FINE
    n_labels: int
    labels: Integers  # in ascending order
    clip: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.labels),)


@dataclass(frozen=True, eq=False)
class Together:
    """How labels go together: for every pair of them, the products of how far cases deviate from what is usual in having each.

    A case with a label deviates by 1 - usual / PARTS, one without by -usual / PARTS. Most cases deviate little, so that the
    products can be clipped to a far smaller norm than the pairs of labels that a case has. What is usual is where products are
    counted from; wherever that is, they say how often two labels occur together.
    """

    purpose: ClassVar[str] = "which activities occur together in rare cases"
    scale: ClassVar[int] = FINE
    n_labels: int
    labels: Integers  # in ascending order
    usual: Integers  # the share of cases that have each of them, in `PARTS`
    clip: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.labels) * (len(self.labels) - 1) // 2,)  # in the order of `np.triu_indices`


@dataclass(frozen=True, eq=False)
class PrefixLevel(OneCell):
    """How cases go on that begin with one of these prefixes: rows of codes, all different and equally long."""

    purpose: ClassVar[str] = "cases by their prefix and what comes next"
    prefixes: Integers
    n_labels: int  # this code stands for the end

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prefixes), self.n_labels + 1)  # from each prefix, to each label or the end


@dataclass(frozen=True, eq=False, repr=False)
class Uses:
    """How often (`times`) the trace in row `row` uses cell `cell`; ordered by row, then cell, each pair once."""

    row: Integers
    cell: Integers
    times: Integers

    def base(self) -> Uses:
        """The first two uses."""
        return Uses(self.row, self.cell, np.minimum(self.times, CAP))

    def excess(self) -> Uses:
        """All uses beyond the first two."""
        more = self.times > CAP
        return Uses(self.row[more], self.cell[more], self.times[more] - CAP)

    def of(self, cells: Integers, n_cells: int) -> Uses:
        """The uses of these cells alone."""
        wanted = np.zeros(n_cells, bool)
        wanted[cells] = True
        chosen = wanted[self.cell]
        return Uses(self.row[chosen], self.cell[chosen], self.times[chosen])

    def among(self, cells: Integers, n_cells: int) -> Uses:
        """The uses of these cells alone, which are in ascending order, each in the place that it has among them."""
        chosen = self.of(cells, n_cells)
        return Uses(chosen.row, np.searchsorted(cells, chosen.cell), chosen.times)

    def square_norms(self, n_rows: int) -> Integers:
        """For every row, the squared L2 norm of its uses."""
        return np.bincount(self.row, self.times * self.times, minlength=n_rows).astype(np.int64)


def edge_uses(traces: Traces, n_labels: int) -> Uses:
    """How often each trace uses each edge; edge (a, b) is cell a * (n_labels + 1) + b.

    A code of -1 is an event whose label is not known: no edge leads to it or away from it.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> uses = edge_uses(traces_of([[0, 0, 0, 0]]), n_labels=1)
        >>> uses.cell.tolist(), uses.times.tolist()
        ([0, 1, 2], [3, 1, 1])
    """
    source, target = _ends(traces, n_labels)
    row, named = _rows(traces), (source >= 0) & (target >= 0)
    return _counted(row[named], (source * (n_labels + 1) + target)[named], (n_labels + 1) ** 2)


def context_uses(traces: Traces, contexts: Integers, n_labels: int) -> Uses:
    """How often each trace goes on from each of these edges, and where to.

    `contexts` are edges in ascending order; cell i * (n_labels + 1) + c says that c follows on `contexts[i]`.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> context_uses(traces_of([[0, 0, 0, 0]]), np.array([0]), n_labels=1).cell.tolist()
        [0, 1]
    """
    source, target = _ends(traces, n_labels)
    row, edge = _rows(traces), source * (n_labels + 1) + target
    place = np.full((n_labels + 1) ** 2, -1, np.int64)
    place[contexts] = np.arange(len(contexts))
    goes_on = (row[:-1] == row[1:]) & (place[edge[:-1]] >= 0)
    cell = place[edge[:-1][goes_on]] * (n_labels + 1) + edge[1:][goes_on] % (n_labels + 1)
    return _counted(row[:-1][goes_on], cell, len(contexts) * (n_labels + 1))


def label_sets(traces: Traces, labels: Integers, n_labels: int) -> tuple[Integers, Integers]:
    """The distinct sets of these labels that traces have, as rows of ones and zeros, and the number of that of each trace.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> sets, kind = label_sets(traces_of([[2, 0], [1], [0, 2, 2]]), np.array([0, 2]), n_labels=3)
        >>> sets[kind].tolist(), len(sets)
        ([[1, 1], [0, 0], [1, 1]], 2)
    """
    column = np.full(n_labels, -1)
    column[labels] = np.arange(len(labels))
    column = column[traces.codes]
    there = column >= 0
    has = np.zeros((len(traces), 64 * (len(labels) // 64 + 1)), bool)  # words of 64 labels
    has[traces.rows[there], column[there]] = True
    words = np.packbits(has, axis=1).view(np.uint64)
    alike = words[:, 0] if words.shape[1] == 1 else words
    rows, kind = np.unique(alike, axis=0, return_index=True, return_inverse=True)[1:]
    return has[rows, : len(labels)].astype(np.int64), kind.ravel()


def _ends(traces: Traces, n_labels: int) -> tuple[Integers, Integers]:
    """Where every single step comes from and leads to, from the artificial start to the artificial end, in order."""
    source, target = (np.insert(traces.codes, at, n_labels) for at in (traces.offsets[:-1], traces.offsets[1:]))
    return source, target


def _rows(traces: Traces) -> Integers:
    """The row of every single step."""
    return np.repeat(np.arange(len(traces)), traces.lengths + 1)


def _counted(row: Integers, cell: Integers, cells: int) -> Uses:
    pairs, times = np.unique(row * max(cells, 1) + cell, return_counts=True)
    return Uses(*np.divmod(pairs, max(cells, 1)), times)
