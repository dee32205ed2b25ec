"""The types of CSV columns, found from their values as a whole.

In: a frame of text columns. Out: Int64, Float64, Boolean and UTC timestamps where every value is one, text otherwise. What would
not read back as it was written stays text: leading zeros, a plus sign, numbers beyond 64 bits, dates without a time, and codes
such as 3E2.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from libra.eventlog.columns import unnamed
from libra.eventlog.tables.moments import iso_timestamps

_WHOLE = r"^-?(?:0|[1-9][0-9]*)$"
_POWER = r"[eE][+-][0-9]+"  # without a sign or a decimal mark it may be a code, such as ward 3E2
_NUMBER = rf"^(?:-?(?:(?:0|[1-9][0-9]*)(?:{_POWER})?|(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|NaN|-?inf)$"
_COMMA_NUMBER = rf"^-?(?:0|[1-9][0-9]*)(?:(?:{_POWER})?|,[0-9]+(?:[eE][+-]?[0-9]+)?)$"
_WITH_GROUPS = r"^-?[0-9]{1,3}(?:(?:[.'\s][0-9]{3})*(?:,[0-9]+)?|(?:,[0-9]{3})*(?:\.[0-9]+)?)$"
_POINT_GROUPS = r"^-?[0-9]{1,3}(?:\.[0-9]{3})+$"
_GROUP = r"^-?[1-9][0-9]{0,2}[.,'\s][0-9]{3}(?:[^0-9]|$)"
_TRUTH = r"^(?:true|false|True|False|TRUE|FALSE)$"
_ISO_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
_SAMPLE = 50


def infer_types(
    frame: pl.DataFrame, text: Collection[str], decimal: str | None, delimiter: str
) -> tuple[pl.DataFrame, list[str]]:
    """Give every column but those of `text` its type; `decimal` is the user's word for the decimal mark.

    Example:
        >>> table = pl.DataFrame({"n": ["1", "2"], "plz": ["01067", "10115"], "cost": ["2,5", "3"]})
        >>> infer_types(table, (), None, ";")[0].rows()
        [(1, '01067', 2.5), (2, '10115', 3.0)]
    """
    columns = {name: unnamed(frame[name]) for name in frame.columns if name not in text}
    typed: dict[str, pl.Series] = {}
    with_comma: list[str] = []
    notes: list[str] = []
    for name, values in columns.items():
        found = _typed(values)
        if found is not None:
            typed[name] = found
        elif _all(values, _COMMA_NUMBER):
            with_comma.append(name)
    with_point = [name for name in typed if typed[name].dtype == pl.Float64 and _any_point(columns[name])]
    if decimal is None:
        points = any(not _all(columns[name], _POINT_GROUPS) for name in with_point)
        decimal = "," if delimiter != "," and with_comma and not points else "."
    if decimal == ",":
        typed = {name: values for name, values in typed.items() if name not in with_point}
    if decimal == "," and with_comma:
        listed = ", ".join(f'"{name}"' for name in with_comma)
        notes.append(f"The numbers in {listed} were read with a decimal comma.")
        for name in with_comma:
            typed[name] = columns[name].str.replace(",", ".", literal=True).cast(pl.Float64)
    grouped = [name for name, values in columns.items() if name not in typed and _has_groups(values)]
    if grouped:
        listed = ", ".join(f'"{name}"' for name in grouped)
        notes.append(f"The numbers in {listed} are written with thousands separators and were kept as text.")
    naive = [name for name in typed if isinstance(typed[name].dtype, pl.Datetime) and _is_naive(columns[name])]
    if naive:
        listed = ", ".join(f'"{name}"' for name in naive)
        notes.append(f"The dates in {listed} carry no time zone and were read as UTC.")
    return frame.with_columns(values.alias(name) for name, values in typed.items()), notes


def _typed(values: pl.Series) -> pl.Series | None:
    """The values in the one type they all have; None for text."""
    if _all(values, _WHOLE):
        whole = values.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == values.null_count() else None
    if _all(values, _NUMBER):
        return values.cast(pl.Float64)
    if _all(values, _TRUTH):
        return values.str.to_lowercase() == "true"
    if _all(values, _ISO_TIME):
        return iso_timestamps(values)
    return None


def _all(values: pl.Series, pattern: str) -> bool:
    sample = values.head(1000).drop_nulls().head(_SAMPLE)
    return (
        values.null_count() < values.len()
        and bool(sample.str.contains(pattern).all())
        and bool(values.str.contains(pattern).all(ignore_nulls=True))
    )


def _has_groups(values: pl.Series) -> bool:
    """Whether all values are numbers and some have thousands separators."""
    return _all(values, _WITH_GROUPS) and bool(values.str.contains(_GROUP).any())


def _any_point(values: pl.Series) -> bool:
    return bool(values.str.contains(".", literal=True).any())


def _is_naive(values: pl.Series) -> bool:
    first = values.drop_nulls()[0]
    return not first.endswith("Z") and "+" not in first and "-" not in first[10:]
