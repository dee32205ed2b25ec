"""Columns of any type to the types of an event log, or to text that says of each value what it says of that value alone."""

from __future__ import annotations

from datetime import date

import polars as pl

from libra.eventlog.log import ATTRIBUTE_TYPES, UTC_MICROSECONDS
from libra.eventlog.names import unnamed
from libra.eventlog.notes import listed

_MICROSECONDS = {"days": 86_400_000_000, "ms": 1000, "us": 1}
_CLOCK = "%H:%M:%S%.f"  # as many digits of the fraction as it needs, whatever the unit
_INT128 = 2.0**127
POWER = r"[eE][+-][0-9]+"  # without a sign or a decimal mark it may be a code, such as ward 3E2
COMMA_NUMBER = rf"^-?(?:0|[1-9][0-9]*)(?:(?:{POWER})?|,[0-9]+(?:[eE][+-]?[0-9]+)?)$"
_FIRST_DAY, _LAST_DAY = ((date(*day) - date(1970, 1, 1)).days for day in ((1, 1, 1), (9999, 12, 31)))


def as_attributes(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Bring every column into a type of an event log, or leave it out with a note."""
    dated = {name: dtype for name, dtype in frame.schema.items() if isinstance(dtype, pl.Date | pl.Datetime)}
    naive = [name for name, dtype in dated.items() if not (isinstance(dtype, pl.Datetime) and dtype.time_zone)]
    notes = [f"The dates in {listed(naive)} carry no time zone and were read as UTC."] if naive else []
    found = {values.name: as_attribute(unnamed(values), values.name) for values in frame}
    notes.extend(note for _, note in found.values() if note)
    return pl.DataFrame({name: typed for name, (typed, _) in found.items() if typed is not None}), notes


def as_text(values: pl.Series) -> pl.Series:
    """A column as labels or ids: what each value says is decided from that value alone, never from its neighbours.

    Whole numbers are their digits, also where they are floats or decimals, so a column of integers that became one of floats
    still says the same. Other numbers are the shortest text that reads back; moments are ISO 8601, in UTC where they have a zone.
    What is not a number, or is outside the years 1 to 9999, is missing.
    """
    values, dtype = unnamed(values), values.dtype
    if dtype.is_float():
        numbers = values.fill_nan(None)
        whole = (numbers.floor() == numbers) & (numbers.abs() < _INT128)
        digits = numbers.set(~whole, None).cast(pl.Int128).cast(pl.String)
        return digits.zip_with(whole.fill_null(True), numbers.cast(pl.String))
    if isinstance(dtype, pl.Decimal) and dtype.scale:
        return values.cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    if dtype == pl.Time:
        return values.dt.to_string(_CLOCK)  # a cast would leave out fractions, and make two ids one
    if isinstance(dtype, pl.Date | pl.Datetime):
        values = values.set(utc_moments(values).is_null(), None)
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            return values.dt.convert_time_zone("UTC").dt.to_string(f"%Y-%m-%dT{_CLOCK}+00:00")
        return values.dt.to_string("%Y-%m-%d" if dtype == pl.Date else f"%Y-%m-%dT{_CLOCK}")
    return values.cast(pl.String, strict=False)


def utc_moments(values: pl.Series) -> pl.Series:
    """Dates or datetimes of any unit and zone as UTC microseconds; null outside the years 1 to 9999, where clocks overflow."""
    unit = values.dtype.time_unit if isinstance(values.dtype, pl.Datetime) else "days"
    counts = values.to_physical().cast(pl.Int64)
    if unit == "ns":
        return (counts // 1000).cast(UTC_MICROSECONDS)
    micros = _MICROSECONDS[unit]
    first, last = (days * _MICROSECONDS["days"] // micros for days in (_FIRST_DAY, _LAST_DAY + 1))
    low, high = counts.min(), counts.max()
    if isinstance(low, int) and isinstance(high, int) and not first <= low <= high < last:
        counts = counts.set((counts < first) | (counts >= last), None)
    return (counts if micros == 1 else counts * micros).cast(UTC_MICROSECONDS)


def as_attribute(values: pl.Series, name: str) -> tuple[pl.Series | None, str | None]:
    """A column in a type of an event log, and the note on what that changes; None for one that no log can hold."""
    dtype = values.dtype
    if dtype in ATTRIBUTE_TYPES:
        return values, None
    if dtype.is_integer():
        whole = values.cast(pl.Int64, strict=False)
        if whole.null_count() > values.null_count():
            return values.cast(pl.String), f'The numbers in "{name}" are too large for 64 bits and are kept as text.'
        return whole, None
    if dtype.is_float() or dtype.is_decimal():
        return values.cast(pl.Float64), None
    if isinstance(dtype, pl.Date | pl.Datetime):
        moments = utc_moments(values)
        lost = moments.null_count() > values.null_count()
        return moments, f'Some times in "{name}" are outside the years 1 to 9999 and were left out.' if lost else None
    if isinstance(dtype, pl.Duration):
        counts = values.to_physical() // 1000 if dtype.time_unit == "ns" else values.to_physical()
        return counts / (1e3 if dtype.time_unit == "ms" else 1e6), f'The durations in "{name}" are kept as seconds.'
    if isinstance(dtype, pl.Categorical | pl.Enum | pl.Time):
        return values.cast(pl.String), None
    if dtype == pl.Null:
        return None, None
    return None, f'The column "{name}" has a type no event log can hold ({dtype}) and was left out.'
