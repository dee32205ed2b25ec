"""What the sound mechanism may ask of raw cases, and what an engine has to answer: small integer tables.

An engine holds raw cases. It is asked for a `Table`, which is plain data: what to count, its shape, and `clip`, the largest L2
norm by which one case, added or removed, can change the counts. Every parameter of a table is public or comes out of an earlier
release. The engine answers with whole numbers (`scale` times the counts, each case's contribution rounded toward zero), and only
`privacy.gate` may look at the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from libra._system.arguments import checked_whole
from libra._system.randomness import Randomness
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import Traces

Integers = npt.NDArray[np.int64]
FINE = 1024  # the scale of tables whose cases are clipped: what rounding toward zero loses is below a thousandth of a count
LARGEST_CASES = 1_000


@dataclass(frozen=True)
class Unit:
    """One case, or one individual, of whose cases at most so many count.

    Example:
        >>> CASE.statement(), Unit(most_cases=1).statement()
        ('one case, added or removed', 'one individual, with all cases, added or removed')
        >>> Unit(most_cases=0)
        Traceback (most recent call last):
        libra.errors.UsageError: the largest number of cases of an individual has to be a whole number from 1 to 1,000, not 0.
    """

    most_cases: int | None = None  # None: the unit is a case

    def __post_init__(self) -> None:
        """Refuse an individual without cases."""
        if self.most_cases is not None:
            checked_whole("the largest number of cases of an individual", self.most_cases, 1, LARGEST_CASES)

    def __str__(self) -> str:
        """What is protected, in words that go into a sentence."""
        return "one case" if self.most_cases is None else "one individual"

    def statement(self) -> str:
        """What may change between two logs that a release must not tell apart."""
        return f"{self}, added or removed" if self.most_cases is None else f"{self}, with all cases, added or removed"


CASE = Unit()


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


class VariantRule(Protocol):
    """How variants are chosen privately: plain data, so that it can be applied wherever counts lie."""

    def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
        """The rows whose noisy counts pass, and these noisy counts; every row has a draw of its own."""


class Engine(Protocol):
    """Raw cases behind a contract: tables of counts, private choices, or other cases behind the same contract."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that codes stand for, sorted."""

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """For each attribute the texts that its values stand for, sorted; none for those that are numbers by themselves.

        Those of cases come first, then those of events. Where a list of values is declared, they are in its order.
        """

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        """For each table `scale` times the counts, in its shape; for all of them in one look at the cases."""

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        """The distinct traces whose noisy counts pass, and these, in whatever order; each trace has one draw, made once."""

    def select_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """The distinct values of an attribute of cases whose noisy counts pass, and these, in any order; each has one draw."""

    def select_event_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        """The distinct values of an attribute of events whose noisy weights pass, and these, in any order; each has one draw.

        Weights are those of `value_weights`, times `FINE`; `attribute` is a place among attributes of events.
        """

    def subsampled(self, rate: float, random: Randomness) -> Engine:
        """Every case with probability `rate`, independently."""

    def tail(self, kept: Traces) -> Engine:
        """The cases whose trace is none of the kept ones: for tables about control flow."""

    def with_labels(self, labels: tuple[str, ...]) -> Engine:
        """The same cases without the events of all other labels; a case with none left is left out. For tables alone."""


class Origin(Protocol):
    """A log before any case of it is held: where an engine comes from."""

    @property
    def has_individual(self) -> bool:
        """Whether the log says whose case is whose."""

    @property
    def has_zone(self) -> bool:
        """Whether its times are in a zone; if not, they are a clock on some wall."""

    def engine(
        self, unit: Unit, random: Randomness, rate: float = 1.0, labels: tuple[str, ...] | None = None,
        attributes: Sequence[Attribute] = (),
    ) -> Engine:  # fmt: skip
        """The engine of all cases, or of a Poisson subsample; where individuals are protected, of as many of each as count.

        A subsample is drawn of whom is protected: of individuals with all their cases, or of cases. Labels are those of the whole
        log, whatever the subsample, or those that are given: then events of all others are as if they were not there.
        """
