"""Case ids and individuals: unique ids, ids that differ only in spelling, and whose case is whose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog

_NUMBER = r"^\+?(-?)0*([0-9]+)(?:[.,]0*)?$"  # a whole number, however it is written


def told_apart(ids: pl.Series) -> pl.Series:
    """The ids, with a number behind every repeated one, so that each is unique."""
    while ids.is_duplicated().any():
        number = pl.int_range(pl.len()).over("id") + 1
        numbered = pl.when(number > 1).then(pl.format("{} ({})", "id", number)).otherwise("id")
        ids = pl.DataFrame({"id": ids}).select(numbered).to_series().alias(ids.name)
    return ids


def alike_notes(individuals: Mapping[str, pl.Series], cases: Mapping[str, pl.Series]) -> Iterator[str]:
    """A note for each of these columns with ids that differ only in how they are written; it holds no id and no count."""
    whose = {**dict.fromkeys(cases, "cases"), **dict.fromkeys(individuals, "individuals")}
    for column, values in {**cases, **individuals}.items():
        distinct = values.drop_nulls().unique() if values.dtype == pl.String else values.clear()
        plain = distinct.cast(pl.String).str.strip_chars().str.to_lowercase().str.replace(_NUMBER, "${1}${2}")
        if plain.n_unique() < distinct.len():
            yield (
                f'Some ids in "{column}" differ only in how they are written (7 and 7.0, 07 and 7, A1 and a1, or by space around '
                f"them): they count as different {whose[column]}. Write them alike if they are the same."
            )


def individuals_of(individual: pl.Series) -> npt.NDArray[np.int64]:
    """For every case the number of the first case of its individual.

    A case with no entry is treated as belonging to a person with no other case. Blank text and what is not a number
    are no entries.
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
    """The same for the cases of a log; where it does not say whose they are, each is taken for another person's."""
    return np.arange(log.n_cases) if log.individual is None else individuals_of(log.cases[log.individual])
