"""What the sound mechanism may ask of raw cases, and what an engine has to answer: small integer tables.

An engine holds raw cases. It is asked for a `Table`, which is plain data: what to count, its shape, and `clip`, the largest L2
norm by which one case, added or removed, can change the counts. Every parameter of a table is public or comes out of an earlier
release. The engine answers with whole numbers (`scale` times the counts, each case's contribution rounded toward zero), and only
`privacy.gate` may look at the answer.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from libra.eventlog.traces import Traces
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]


class Table(Protocol):
    """A request for counts.

    Attributes:
        purpose: What the table is for, as it stands in the ledger.
    """

    purpose: ClassVar[str]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the counts."""

    @property
    def clip(self) -> float:
        """The largest L2 norm of what one case adds to the counts."""

    @property
    def scale(self) -> int:
        """What counts are multiplied with before they are rounded to whole numbers."""


class Engine(Protocol):
    """Raw cases behind a contract: tables of counts, or other cases behind the same contract."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that codes stand for."""

    def count(self, table: Table) -> Integers:
        """`scale` times the counts, in the shape of the table."""

    def variants(self) -> tuple[Traces, Integers]:
        """The distinct traces and how many cases follow each: for private selection only."""

    def label_sets(self) -> tuple[Integers, Integers]:
        """Case and label (each pair once) of everything that happens, ordered by case: for private selection only."""

    def subsampled(self, rate: float, random: Randomness) -> Engine:
        """Every case with probability `rate`, independently."""

    def tail(self, kept: Traces) -> Engine:
        """The cases whose trace is none of the kept ones."""

    def with_labels(self, labels: tuple[str, ...]) -> Engine:
        """The same cases without the events of all other labels; a case with none left is left out."""
