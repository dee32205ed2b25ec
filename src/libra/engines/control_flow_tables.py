"""Requests about control flow: which counts of traces may be asked for, and how far one case can move each.

Bins are fixed in advance. `clip` is 1 where a case falls into exactly one cell; elsewhere a case's vector is scaled down to that
norm. Every other parameter is public (labels) or released before (kept variants, contexts, clips).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from libra.eventlog.cases import Integers, Traces
from libra.privacy.noisy import FINE

SINGLE_LENGTHS = 20
LONGEST = 5_000
LENGTH_BINS = np.unique(
    np.concatenate((np.arange(SINGLE_LENGTHS + 1), np.geomspace(SINGLE_LENGTHS + 1, LONGEST, 22).round().astype(np.int64)))
)
MOST_LABELS = 64  # of a case, that it gives weight to
NORM_BINS = np.concatenate(([0.0], 2.0 ** (np.arange(50) / 2)))  # left ends, of the squared norm


class OneCell:
    """What all tables share in which a case falls into one cell, or none."""

    clip: ClassVar[float] = 1.0
    scale: ClassVar[int] = 1


@dataclass(frozen=True)
class Size(OneCell):
    """How many cases there are."""

    purpose: ClassVar[str] = "number of rare cases"
    shape: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True, eq=False)
class VariantCounts(OneCell):
    """How many cases follow each of these variants."""

    purpose: ClassVar[str] = "cases that follow each kept variant"
    variants: Traces

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell a variant."""
        return (len(self.variants),)


@dataclass(frozen=True, eq=False)
class NearestCounts(OneCell):
    """How many cases each of these variants is nearest to, by the cosine of their edges; no case where there is no variant."""

    purpose: ClassVar[str] = "cases that each kept variant is nearest to"
    variants: Traces
    n_labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell a variant."""
        return (len(self.variants),)


@dataclass(frozen=True, eq=False)
class LabelWeights:
    """How much cases say for each label that is not known yet: of m such labels a case gives each 1 / sqrt(m).

    A case of more than `MOST_LABELS` gives its weight to so many of them, spread evenly over the order in which they first occur.
    """

    purpose: ClassVar[str] = "which labels are kept"
    scale: ClassVar[int] = FINE
    n_labels: int
    known: Integers

    @property
    def clip(self) -> float:
        """Of m labels each has 1 / sqrt(m): a vector of norm 1."""
        return 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        """One cell a label, known ones included."""
        return (self.n_labels,)


@dataclass(frozen=True)
class Lengths(OneCell):
    """How long the traces are."""

    purpose: ClassVar[str] = "lengths of rare cases"
    shape: ClassVar[tuple[int, ...]] = (len(LENGTH_BINS),)


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
class BaseEdges:
    """Directly-follows edges, the first two uses in a case."""

    purpose: ClassVar[str] = "edges of rare cases, the first two uses"
    scale: ClassVar[int] = FINE
    n_labels: int
    clip: float

    @property
    def shape(self) -> tuple[int, ...]:
        """From each label or the start, to each label or the end."""
        return (self.n_labels + 1, self.n_labels + 1)


@dataclass(frozen=True, eq=False)
class ExcessEdges:
    """Directly-follows edges, all further uses in a case, as far as they are among these edges."""

    purpose: ClassVar[str] = "edges of rare cases, all uses beyond the second"
    scale: ClassVar[int] = FINE
    n_labels: int
    clip: float
    edges: Integers

    @property
    def shape(self) -> tuple[int, ...]:
        """From each label or the start, to each label or the end."""
        return (self.n_labels + 1, self.n_labels + 1)


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
        """From each context, to each label or the end."""
        return (len(self.contexts), self.n_labels + 1)
