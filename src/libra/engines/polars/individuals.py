"""Individuals: of each, a few cases at most, drawn at random.

In: whose case each case is. Out: the numbers of the cases that count. The promise that guarantees for individuals rest on: which
cases of somebody are drawn depends on chance and on that somebody alone, never on anybody else; and there are never more than so
many of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.engines.sampling import chosen
from libra.eventlog.ids import individuals_of
from libra.privacy.randomness import Randomness


def drawn_cases(individual: pl.Series, most: int, random: Randomness, rate: float = 1.0) -> npt.NDArray[np.int64]:
    """The numbers of at most so many cases of each individual; one without an entry is an individual of its own.

    With a `rate` below 1, of those individuals alone that are in a Poisson subsample.

    Example:
        >>> drawn_cases(pl.Series(["ann", "bert", "ann", None, None]), 1, Randomness(seed=1)).tolist()
        [1, 2, 3, 4]
    """
    n, whose = len(individual), individuals_of(individual)
    order = np.lexsort((random.words(n), whose))
    whose = whose[order]
    first = np.searchsorted(whose, whose)
    counts = np.arange(n) - first < most
    if rate < 1:
        counts &= chosen(random.words(n), rate)[first]  # the word at an individual's first place is the individual's
    return np.sort(order[counts])
