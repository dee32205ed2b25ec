"""Individuals: of each, a few cases at most, drawn at random.

In: whose case each case is. Out: the numbers of the cases that count. The promise that guarantees for individuals rest on: which
cases of somebody are drawn depends on chance and on that somebody alone, never on anybody else; and there are never more than so
many of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.individuals import individuals_of
from libra.privacy.randomness import Randomness


def drawn_cases(individual: pl.Series, most: int, random: Randomness) -> npt.NDArray[np.int64]:
    """The numbers of at most so many cases of each individual; one without an entry is an individual of its own.

    Example:
        >>> drawn_cases(pl.Series(["ann", "bert", "ann", None, None]), 1, Randomness(seed=1)).tolist()
        [1, 2, 3, 4]
    """
    n, whose = len(individual), individuals_of(individual)
    order = np.lexsort((random.words(n), whose))
    whose = whose[order]
    place = np.arange(n) - np.searchsorted(whose, whose)
    return np.sort(order[place < most])
