"""Variants: the distinct traces of a log, as integer codes, each with the number of its cases.

In: one code an event and where each case begins. Out: `Variants`, most frequent first. Exact, and vectorized:
traces are compared as lists of codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.frozen import frozen


@dataclass(frozen=True, eq=False, repr=False)
class Variants:
    """The distinct traces of a log.

    `traces` holds one row a variant: `trace` (list of activity codes) and `count` (cases), most frequent first, ties by
    first appearance. `of_case` is the row of every case's variant.
    """

    traces: pl.DataFrame
    of_case: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """How many distinct traces there are."""
        return self.traces.height

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many cases follow each variant."""
        return self.traces["count"].to_numpy()


def variants_of(codes: npt.NDArray[np.uint32], case_offsets: npt.NDArray[np.int64]) -> Variants:
    """Group cases by their trace.

    Example:
        >>> found = variants_of(np.array([0, 1, 0, 1, 1], np.uint32), np.array([0, 2, 4, 5]))
        >>> found.traces.rows(), found.of_case.tolist()
        ([([0, 1], 2), ([1], 1)], [0, 0, 1])
    """
    case = np.repeat(np.arange(len(case_offsets) - 1, dtype=np.uint32), np.diff(case_offsets))
    by_case = pl.DataFrame({"case": case, "trace": codes}).group_by("case", maintain_order=True).agg("trace")
    groups = (
        by_case.group_by("trace", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("count"), "case")
        .sort("count", descending=True, maintain_order=True)
    )
    of_case = np.empty(by_case.height, np.int64)
    of_case[groups["case"].explode().to_numpy()] = np.repeat(np.arange(groups.height), groups["count"].to_numpy())
    return Variants(groups.select("trace", "count"), frozen(of_case))
