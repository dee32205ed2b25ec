"""What a sample says about the truth behind it: bounds for a probability from hits, and for a mean from a few repetitions.

Those of Clopper and Pearson are exact: each is wrong with at most the probability asked for, whatever the truth is. SciPy knows
them to about twelve digits, and they are moved outwards by more than that. Those of Student for a mean take it that what is
repeated is about normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from libra.errors import UsageError

OUTWARDS = 5e-11  # of the odds: more than the arithmetic may be off by


def clopper_pearson(hits: int, n: int, mistaken: float) -> tuple[float, float]:
    """Bounds from below and above for the probability of something that happened `hits` times in `n` independent tries.

    Each bound on its own is wrong with probability at most `mistaken`, so both hold with probability 1 - 2 mistaken at least.

    Example:
        >>> lowest, highest = clopper_pearson(hits=7, n=10, mistaken=0.025)
        >>> f"{lowest:.4f} {highest:.4f}"
        '0.3475 0.9333'
        >>> clopper_pearson(hits=0, n=0, mistaken=0.025)
        (0.0, 1.0)
    """
    from scipy.special import betaincinv  # a few are asked for, and importing it takes time

    if not 0 <= hits <= n:
        raise UsageError(f"There cannot be {hits} hits in {n} tries.")
    if not 0 < mistaken <= 0.5:
        raise UsageError(f"The probability of a mistake is above 0 and at most a half, not {mistaken}.")

    def least(hits: int) -> float:
        """The smallest p for which so many hits or more have probability `mistaken`."""
        p = float(betaincinv(hits, n - hits + 1, mistaken)) if hits else 0.0
        return p - OUTWARDS * p * (1 - p)

    return least(hits), math.nextafter(1 - least(n - hits), 1.0)


def student(values: Sequence[float], mistaken: float) -> tuple[float, float]:
    """Bounds from below and above for the mean of what these values are independent repetitions of, each wrong with `mistaken`.

    Example:
        >>> lowest, highest = student([0.1, 0.2, 0.3], mistaken=0.025)
        >>> f"{lowest:.4f} {highest:.4f}"
        '-0.0484 0.4484'
    """
    from scipy.special import stdtrit

    if len(values) < 2:
        raise UsageError("One value alone says nothing about how much such values vary.")
    away = -float(stdtrit(len(values) - 1, mistaken)) * stdev(values) / math.sqrt(len(values))
    return fmean(values) - away, fmean(values) + away
