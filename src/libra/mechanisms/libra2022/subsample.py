"""Step 2, subsample: every case is drawn or not, independently of all others (Definition III.5 of the paper, Poisson sampling).

In: the clipped cases. Out: a subsample of whole cases. How many there are varies from draw to draw, which is what makes
the sampling Poisson; nothing is drawn twice within one subsample.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from libra.eventlog.cases import Cases
from libra.mechanisms.libra2022.accounting import default_subsamples
from libra.privacy.randomness import Randomness


def poisson_subsample(cases: Cases, rate: float, random: Randomness) -> Cases:
    """Each case with probability `rate`.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.eventlog.cases import cases_of
        >>> cases = cases_of(simulate(cases=500))
        >>> len(poisson_subsample(cases, 1.0, Randomness())), len(poisson_subsample(cases, 0.0, Randomness()))
        (500, 0)
    """
    return cases.take(np.flatnonzero(random.uniform(len(cases)) < rate))


def number_of_subsamples(asked: int | Literal["paper"] | None, rate: float, n_cases: int) -> int:
    """How many subsamples are drawn: as asked, or round(1/rate), or the paper's rate times the number of clipped cases.

    Example:
        >>> number_of_subsamples(None, 0.05, 5000), number_of_subsamples("paper", 0.05, 5000), number_of_subsamples(7, 0.05, 5000)
        (20, 250, 7)
    """
    if asked is None:
        return default_subsamples(rate)
    return max(1, round(rate * n_cases)) if asked == "paper" else asked
