"""Requests about prefixes: how many cases there are, how long they are, and how those that begin alike go on.

A case counts in one cell of each table, or in none, so one case more or less moves one number by 1. Prefixes are released before;
bins are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from libra.engines.control_flow_tables import OneCell
from libra.eventlog.cases import Integers

CASE_LENGTH_BINS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 58, 70, 84, 100])  # left ends


@dataclass(frozen=True)
class CaseNumber(OneCell):
    """How many cases there are."""

    purpose: ClassVar[str] = "number of cases"
    shape: ClassVar[tuple[int, ...]] = (1,)


@dataclass(frozen=True)
class CaseLengths(OneCell):
    """How many events cases have; those of 100 and more count as 100."""

    purpose: ClassVar[str] = "lengths of cases"
    shape: ClassVar[tuple[int, ...]] = (len(CASE_LENGTH_BINS),)


@dataclass(frozen=True, eq=False)
class PrefixLevel(OneCell):
    """How cases go on that begin with one of these prefixes.

    Attributes:
        prefixes: A row of codes each, all different and equally long.
        n_labels: How many labels there are; this code stands for the end.
    """

    purpose: ClassVar[str] = "cases by their prefix and what comes next"
    prefixes: Integers
    n_labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        """From each prefix, to each label or the end."""
        return (len(self.prefixes), self.n_labels + 1)
