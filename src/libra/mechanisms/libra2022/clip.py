"""Step 1, clip: cases of rare variants are left out (Lemma III.1 of the paper, after Chaudhuri and Mishra 2006).

In: all cases. Out: those whose variant occurs at least C = (1/epsilon) ln(2k/delta) times, k being the number of variants. As
published, the comparison is with the exact count, and C follows from the exact number of variants.
"""

from __future__ import annotations

import math

import numpy as np

from libra.eventlog.cases import Cases


def clipping_threshold(epsilon: float, delta: float, n_variants: int) -> int:
    """C = (1/epsilon) ln(2k/delta), rounded to a whole number of cases.

    Example:
        >>> clipping_threshold(epsilon=0.4287, delta=1e-3, n_variants=846)
        33
    """
    return round(math.log(2 * n_variants / delta) / epsilon) if n_variants else 0


def clip(cases: Cases, threshold: int) -> Cases:
    """The cases whose variant occurs at least `threshold` times.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.eventlog.cases import cases_of
        >>> kept = clip(cases_of(simulate(cases=500)), 10)
        >>> bool((np.bincount(kept.variant)[kept.variant] >= 10).all())
        True
    """
    counts = np.bincount(cases.variant)
    return cases.take(np.flatnonzero(counts[cases.variant] >= threshold))


def largest_count(cases: Cases) -> int:
    """How often the most frequent variant occurs: no threshold above it keeps anything.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.eventlog.cases import cases_of
        >>> cases = cases_of(simulate(cases=500))
        >>> len(clip(cases, largest_count(cases))) > 0, len(clip(cases, largest_count(cases) + 1))
        (True, 0)
    """
    return int(np.bincount(cases.variant).max(initial=0))
