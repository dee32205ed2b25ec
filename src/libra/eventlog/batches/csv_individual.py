"""The column of a CSV file that says whose case it is, some rows at a time.

In: its values in the first rows, then more of them. Out: values of the type that the in-memory reader finds for the whole column,
as far as it matters for telling individuals apart: whole numbers stay text. Values that would make it another type are an
`InputError`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import polars as pl

from libra.errors import InputError
from libra.eventlog.batches.misfits import first_misfit
from libra.eventlog.columns import unnamed
from libra.eventlog.tables.csv_types import infer_types
from libra.eventlog.tables.timestamps import quoted


class CsvIndividual:
    """The column `name`, of the type it has in the sample; columns of `text` are text whatever they hold.

    Example:
        >>> column = CsvIndividual("whose", pl.DataFrame({"whose": ["1.0", "2"]}), (), None, ",")
        >>> column.typed(pl.Series("whose", ["1"]), str).to_list()
        [1.0]
    """

    def __init__(self, name: str, sample: pl.DataFrame, text: Collection[str], decimal: str | None, delimiter: str) -> None:
        self.name, self._delimiter = name, delimiter
        self._text = name in text
        self._type = infer_types(sample, text, decimal, delimiter)[0].schema[name]
        comma = self._type == pl.Float64 and bool(unnamed(sample[name]).str.contains(",", literal=True).any())
        self._decimal = "," if comma else "." if self._type == pl.Float64 else decimal

    def typed(self, values: pl.Series, place: Callable[[int], str]) -> pl.Series:
        """More values."""
        if self._text or self._type == pl.String or values.null_count() == values.len():
            return values
        found = self._typed(values)
        if self._type == pl.Int64 and found.dtype != pl.Float64:
            return values
        if self._type == pl.Float64 and found.dtype == pl.Int64:
            return found.cast(pl.Float64)
        if found.dtype == self._type:
            return found
        row = first_misfit(values.len(), lambda count: self._typed(values[:count]).dtype in (self._type, pl.Int64))
        raise InputError(
            f'{quoted(values[row])} in "{self.name}" is not written as the values before it',
            place=place(row),
            remedy="Write the column in one form, or put all its values in quotation marks and those of another column not",
        )

    def _typed(self, values: pl.Series) -> pl.Series:
        return infer_types(values.to_frame(), (), self._decimal, self._delimiter)[0].to_series()
