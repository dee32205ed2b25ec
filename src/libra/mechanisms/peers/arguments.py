"""Checks of the parameters that several mechanisms of other authors take: in goes what was said, out comes its one form."""

from __future__ import annotations

from typing import Literal, TypeAlias

from libra.errors import UsageError
from libra.privacy.arguments import checked, checked_whole

Times: TypeAlias = Literal["none", "model"]
TIMES: tuple[Times, ...] = ("none", "model")
DEFAULT_PRUNE = 0.01
LONGEST = 1_000


def checked_prune(prune: float) -> float:
    """A share of the cases below 1, or a whole number of cases from 1 up.

    Example:
        >>> checked_prune(0.01), checked_prune(20)
        (0.01, 20.0)
    """
    prune = checked("prune", prune, lambda prune: 0 <= prune < 1e9, "from 0 to 1,000,000,000")
    if prune >= 1 and not prune.is_integer():
        raise UsageError(f"prune is a share of the cases below 1, or a whole number of cases, not {prune:g}.")
    return prune


def prune_count(prune: float, n_cases: float) -> float:
    """The count from which on something is kept.

    Example:
        >>> prune_count(0.01, 1650), prune_count(20.0, 1650)
        (16.5, 20.0)
    """
    return prune * n_cases if prune < 1 else prune


def checked_max_length(max_length: int | None) -> int | None:
    """The number of events of the longest trace; None for the average.

    Example:
        >>> checked_max_length(None), checked_max_length(12)
        (None, 12)
    """
    return None if max_length is None else checked_whole("max_length", max_length, 1, LONGEST)


def checked_times(times: Times) -> Times:
    """Whether times are released.

    Example:
        >>> checked_times("model")
        'model'
    """
    if times not in TIMES:
        raise UsageError(f"times is one of {', '.join(TIMES)}, not {times!r}.")
    return times
