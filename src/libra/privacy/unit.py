"""Whom a guarantee protects: the unit whose presence a release hides."""

from __future__ import annotations

from dataclasses import dataclass

from libra.privacy.arguments import checked_whole

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
