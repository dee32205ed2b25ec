"""A figure that was sampled, with the bounds that the sample allows: the currency of all risk figures."""

from __future__ import annotations

from dataclasses import dataclass

from libra.measures.intervals import clopper_pearson

MISTAKEN = 0.025  # each bound on its own: together they hold with 95 %


@dataclass(frozen=True)
class Estimate:
    """A value, and between which bounds the truth lies with a confidence of 95 %.

    Example:
        >>> found = share(7, 10)
        >>> found.value, round(found.lowest, 4), round(found.highest, 4)
        (0.7, 0.3475, 0.9333)
    """

    value: float
    lowest: float
    highest: float


def share(hits: int, tries: int) -> Estimate:
    """How often something happens, from independent tries (Clopper and Pearson).

    Example:
        >>> share(0, 10).value
        0.0
    """
    return Estimate(hits / tries, *clopper_pearson(hits, tries, MISTAKEN))


def share_of_any(hits: int, tries: int) -> Estimate | None:
    """The same; None where nothing was tried.

    Example:
        >>> share_of_any(0, 0) is None
        True
    """
    return share(hits, tries) if tries else None


def exactly(value: float) -> Estimate:
    """A figure that was counted, not sampled.

    Example:
        >>> exactly(1.0).lowest
        1.0
    """
    return Estimate(value, value, value)
