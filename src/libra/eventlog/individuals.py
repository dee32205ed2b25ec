"""Whose case is whose: a number for every case, the same for the same individual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog


def individuals_of(individual: pl.Series) -> npt.NDArray[np.int64]:
    """For every case the number of the first case of its individual; a case without an entry is somebody's only one.

    Blank text and what is not a number are no entries.

    Example:
        >>> individuals_of(pl.Series(["bert", "ann", None, "bert", None, " "])).tolist()
        [0, 1, 2, 0, 4, 5]
    """
    individual = individual.alias("whose")
    if individual.dtype.is_float():
        individual = individual.fill_nan(None)
    elif individual.dtype == pl.String:
        individual = individual.set(individual.str.strip_chars() == "", None)
    row, whose = pl.col("row").cast(pl.Int64), pl.col("whose")
    numbered = individual.to_frame().with_row_index("row")
    return numbered.select(pl.when(whose.is_null()).then(row).otherwise(row.min().over(whose))).to_series().to_numpy()


def whose_cases(log: EventLog) -> npt.NDArray[np.int64]:
    """The same for the cases of a log; where it does not say whose they are, each is somebody's only one.

    Example:
        >>> from libra.example.simulate import simulate
        >>> whose_cases(simulate(cases=3)).tolist()
        [0, 1, 2]
    """
    return np.arange(log.n_cases) if log.individual is None else individuals_of(log.cases[log.individual])
