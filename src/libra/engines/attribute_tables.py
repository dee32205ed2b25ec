"""What the mechanism asks about attributes of cases: one request a table, and the cells that values and cases fall into.

Every parameter is declared by the custodian (lists of values, bounds) or comes out of an earlier release (values, bins, groups).
A value is a whole number: a place among names for categories, units of the last decimal for numbers, `MISSING` where a case has
none. Every case falls into one cell of every side, so tables can be centred: a case adds its cell less the mean of all cells,
which is shorter than a whole count. What is lost thereby, the number of cases, is known from the control flow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from libra.engines.control_flow_tables import OneCell
from libra.eventlog.cases import Integers

FINE = 1 << 14  # the scale of interactions: what rounding toward zero loses of a count is below a hundredth in 160 cases
GRAINS = tuple(digit * 10**power for power in range(12) for digit in (1, 5))
SAFE = 1 + 1e-12  # of norms, for the rounding of square roots


@dataclass(frozen=True)
class Coding:
    """Which cell a value falls into: that of missing values, then those of single values (atoms), then those of intervals."""

    atoms: tuple[int, ...] = ()  # ascending
    bounds: tuple[int, ...] | None = ()  # where intervals begin, but for the first; None where atoms are all there is
    groups: tuple[int, ...] | None = None  # for every cell the group that counts in its place; None: each by itself

    @property
    def n_cells(self) -> int:
        """How many cells, or groups, there are."""
        return self.n_plain if self.groups is None else max(self.groups) + 1

    @property
    def n_plain(self) -> int:
        """How many cells there are before they are grouped."""
        return 1 + len(self.atoms) + (0 if self.bounds is None else len(self.bounds) + 1)

    @cached_property
    def arrays(self) -> tuple[Integers, Integers]:
        """Atoms and bounds as arrays."""
        return np.array(self.atoms, np.int64), np.array(self.bounds or (), np.int64)


@dataclass(frozen=True)
class OfAttribute:
    """The cells of an attribute."""

    number: int  # its place among the attributes asked for
    coding: Coding

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.coding.n_cells


@dataclass(frozen=True)
class HasActivity:
    """Whether a case has an event of a label."""

    code: int
    n_cells: ClassVar[int] = 2


@dataclass(frozen=True)
class _Group:
    bounds: tuple[int, ...]  # where all groups but the first begin

    @property
    def n_cells(self) -> int:
        """How many groups there are."""
        return len(self.bounds) + 1


@dataclass(frozen=True)
class LengthGroup(_Group):
    """How many events a case has, in groups."""


@dataclass(frozen=True)
class DurationGroup(_Group):
    """How long a case takes in microseconds, in groups."""


Side: TypeAlias = OfAttribute | HasActivity | LengthGroup | DurationGroup
Pair: TypeAlias = tuple[Side, Side]


@dataclass(frozen=True)
class ValueCounts:
    """How many cases fall into each cell of an attribute, less an even share of all cases."""

    purpose: ClassVar[str] = "values of attributes"
    side: OfAttribute

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.side.n_cells,)

    @property
    def clip(self) -> float:
        return math.sqrt(1 - 1 / self.side.n_cells) * SAFE

    @property
    def scale(self) -> int:
        return self.side.n_cells  # a case adds a whole number to every cell: one less than there are cells, or -1


@dataclass(frozen=True)
class ValueGrains(OneCell):
    """How round numbers are: which of `GRAINS` is the largest that divides each. Zero and single values count nowhere.

    For numbers and dates alone: that of a category's text is a place among all texts, which depends on other cases.
    """

    purpose: ClassVar[str] = "how round numbers of attributes are"
    shape: ClassVar[tuple[int, ...]] = (len(GRAINS),)
    side: OfAttribute


@dataclass(frozen=True)
class PairCounts:
    """How many cases fall into each pair of cells, for several pairs of sides one after the other.

    It is counted for the choice of pairs, which releases none of it: a case moves one cell of each pair by 1.
    """

    purpose: ClassVar[str] = "which attributes go together"
    scale: ClassVar[int] = 1
    pairs: tuple[Pair, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(one.n_cells * other.n_cells for one, other in self.pairs),)

    @property
    def clip(self) -> float:
        return math.sqrt(len(self.pairs)) * SAFE


@dataclass(frozen=True)
class Interactions:
    """How pairs of sides go together, beyond what each does by itself: pairs of cells, centred on both sides."""

    purpose: ClassVar[str] = "how attributes go together"
    scale: ClassVar[int] = FINE
    pairs: tuple[Pair, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(one.n_cells * other.n_cells for one, other in self.pairs),)

    @property
    def clip(self) -> float:
        return math.sqrt(sum((1 - 1 / one.n_cells) * (1 - 1 / other.n_cells) for one, other in self.pairs)) * SAFE
