"""Whose case is whose: a number for every case, the same for the same individual."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl


def individuals_of(individual: pl.Series) -> npt.NDArray[np.int64]:
    """For every case the number of the first case of its individual; a case without an entry is somebody's only one.

    Example:
        >>> individuals_of(pl.Series(["bert", "ann", None, "bert", None])).tolist()
        [0, 1, 2, 0, 4]
    """
    row, whose = pl.col("row").cast(pl.Int64), pl.col("whose")
    numbered = individual.alias("whose").to_frame().with_row_index("row")
    return numbered.select(pl.when(whose.is_null()).then(row).otherwise(row.min().over(whose))).to_series().to_numpy()
