"""Whose cases they are that fit: how many different individuals, and which of the cases are not of the one who is sought.

In: for every case of a log its variant and its individual, and which variants fit which questions. Out: counts of individuals,
and `Crowds` of the others' cases. Individuals whose cases have the same variants give the same answers, so they are asked
together, and answers are held as bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from libra.eventlog.log import variants_of
from libra.measures.distances import Integers
from libra.measures.risk.population import Crowds

CELLS = 4_000_000  # answers that are looked at together
Bits = npt.NDArray[np.uint8]  # a row a variant, eight questions a byte


@dataclass(frozen=True, eq=False, repr=False)
class Owners:
    """The individuals of a log, and the variants of their cases.

    Attributes:
        of_case: Per case the number of its individual.
        first: Individual i has the entries from `first[i]` up to `first[i + 1]`.
        variant: Per entry one of the variants that the individual's cases have.
        cases: Per entry how many of the individual's cases have that variant.
        total: Per entry the sum of the numbers of these cases.
    """

    of_case: Integers
    first: Integers
    variant: Integers
    cases: Integers
    total: Integers

    @cached_property
    def with_variant(self) -> Integers:
        """Per variant how many individuals have a case of it."""
        return np.bincount(self.variant)

    @cached_property
    def _alike(self) -> tuple[Integers, Integers, Integers]:
        """Individuals with the same variants: these one after the other, where each group's begin, and how many individuals."""
        groups = variants_of(self.variant.astype(np.uint32), self.first)
        lengths = groups.traces["trace"].list.len().to_numpy().astype(np.int64)
        variants = groups.traces["trace"].explode().to_numpy().astype(np.int64)
        return variants, np.concatenate(([0], np.cumsum(lengths))), groups.counts

    def who_fit(self, fits: Bits, questions: int) -> Integers:
        """How many individuals have a case that fits each question."""
        variants, begin, how_many = self._alike
        found, at_once = np.zeros(questions), max(CELLS // questions, 1)
        for group in range(0, len(how_many), at_once):
            bounds = begin[group : group + at_once + 1]
            either = np.bitwise_or.reduceat(fits[variants[bounds[0] : bounds[-1]]], bounds[:-1] - bounds[0], axis=0)
            found += how_many[group : group + at_once].astype(np.float64) @ np.unpackbits(either, axis=1, count=questions)
        return found.astype(np.int64)

    def others(self, fits: Bits, asked: Integers, sought: Integers, found: Crowds, individuals: Integers) -> Crowds:
        """For each case that is sought, with the question asked for it: the cases of other individuals among those found.

        None, one and which, or 2 for more. Who fits beside one other individual alone has to be asked for own cases.
        """
        others = Crowds(np.minimum(individuals - 1, 2), np.zeros(len(sought), np.int64))
        two = np.flatnonzero(individuals == 2)
        own = self._own(fits, asked[two], sought[two])
        others.size[two] = np.minimum(found.size[two] - own.size, 2)
        others.total[two] = found.total[two] - own.total
        return others

    def _own(self, fits: Bits, asked: Integers, sought: Integers) -> Crowds:
        """For each case that is sought, with the question asked for it: the cases of the same individual that fit."""
        begin = self.first[self.of_case[sought]]
        entries = self.first[self.of_case[sought] + 1] - begin
        own = Crowds(*np.zeros((2, len(sought)), np.int64))
        parts = np.searchsorted(np.cumsum(entries), np.arange(CELLS, entries.sum(), CELLS))
        for part in filter(len, np.split(np.arange(len(sought)), parts)):
            many = entries[part]
            rows = np.cumsum(many) - many
            entry = np.arange(many.sum()) + np.repeat(begin[part] - rows, many)
            answers = fits[self.variant[entry], np.repeat(asked[part] // 8, many)]
            fit = answers >> np.repeat((7 - asked[part] % 8).astype(np.uint8), many) & 1
            own.size[part] = np.add.reduceat(fit * self.cases[entry], rows)
            own.total[part] = np.add.reduceat(fit * self.total[entry], rows)
        return own


def owners_of(variant: Integers, whose: Integers) -> Owners:
    """The individuals of a log from the variant and the individual of each case.

    Example:
        >>> found = owners_of(np.array([0, 0, 1, 0]), np.array([5, 5, 5, 7]))
        >>> found.with_variant.tolist(), found.cases.tolist()
        ([2, 1], [2, 1, 1])
    """
    _, of_case = np.unique(whose, return_inverse=True)
    n_variants = int(variant.max(initial=0)) + 1
    pairs, entry = np.unique(of_case * n_variants + variant, return_inverse=True)
    first = np.searchsorted(pairs, np.arange(of_case.max(initial=-1) + 2) * n_variants)
    total = np.bincount(entry, np.arange(len(entry))).astype(np.int64)
    return Owners(of_case, first, pairs % n_variants, np.bincount(entry), total)


def own_alike(alike: Integers, whose: Integers) -> Crowds:
    """For every case those of the same individual that are alike, itself included; equal numbers say which are.

    Example:
        >>> own_alike(np.array([0, 0, 0, 1]), np.array([5, 5, 7, 5])).size.tolist()
        [2, 2, 1, 1]
    """
    _, both = np.unique(alike * (whose.max(initial=0) + 1) + whose, return_inverse=True)
    size, total = np.bincount(both), np.bincount(both, np.arange(len(both))).astype(np.int64)
    return Crowds(size[both], total[both])
