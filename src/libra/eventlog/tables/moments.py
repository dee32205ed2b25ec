"""How a column of times is to be read, found from all its values together.

In: a column of text, numbers, dates or datetimes, text stripped. Out: moments, null where a value is none, and notes on what was
assumed: the zone, whether day or month comes first, the unit of epochs. What the values of a column decide about each other is
decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.attributes import as_text, utc_moments
from libra.eventlog.tables.date_format import as_regex, needs_own_reading
from libra.eventlog.tables.date_text import DateReading, read_dates, read_pattern

_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.Z+-]|$)"
ISO_ZONE = r"(Z|[+-][0-9]{2}:?(?:[0-9]{2})?)$"
_EPOCH_UNITS = ((10**11, "seconds", 1_000_000), (10**14, "milliseconds", 1000), (10**17, "microseconds", 1))


@dataclass(frozen=True)
class Column:
    """What is said about a column: its name, where a value stands in it, and the other columns of times."""

    name: str
    place_of: Callable[[str], str] = str
    beside: Mapping[str, pl.Series] = field(default_factory=dict)


def read_moments(values: pl.Series, options: ReadOptions, column: Column) -> tuple[pl.Series, list[str]]:
    """Moments with null where a value cannot be read, as all the values together are to be read; and notes on that.

    Example:
        >>> read_moments(pl.Series(["05/06/2024", "05/13/2024"]), ReadOptions(), Column("when"))[0].dt.month().to_list()
        [5, 5]
    """
    dtype = values.dtype
    if isinstance(dtype, pl.Date | pl.Datetime):
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        return utc_moments(values), [] if zoned else [naive_note(column.name)]
    if dtype.is_float() and not options.timestamp_format:
        return epochs(values, column.name)
    if dtype.is_integer() or dtype.is_float():
        values = as_text(values)
    elif dtype != pl.String:
        return pl.Series(values.name, [None] * values.len(), UTC_MICROSECONDS), []
    distinct = values.unique()
    if distinct.len() * 2 > values.len():
        return _read_text(values, options, column)
    read, notes = _read_text(distinct, options, column)
    moments = pl.DataFrame({"text": values}).join(
        pl.DataFrame({"text": distinct, "moment": read}), on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return moments["moment"], notes


def _read_text(values: pl.Series, options: ReadOptions, column: Column) -> tuple[pl.Series, list[str]]:
    if options.timestamp_format:
        return _by_format(values, options.timestamp_format, column)
    read = iso_timestamps(values)
    if read is not None:
        return read, _zone_notes(values.str.tail(6).unique().str.extract(ISO_ZONE).unique().to_list(), column.name)
    reading = read_dates(values, options.day_first)
    if reading.micros.null_count() == values.len() and values.null_count() < values.len():
        return epochs(values.cast(pl.Float64, strict=False), column.name)
    order = _order_beside(column) if reading.ambiguous else None
    if order is None:
        return _micros(reading.micros), _date_notes(reading, column)
    beside, day_first = order
    reading = read_dates(values, day_first)
    order_note = (
        f'No date in "{column.name}" shows whether day or month comes first; they were read '
        f'{"day" if day_first else "month"} first, as in "{beside}".'
    )
    return _micros(reading.micros), [*_date_notes(reading, column), order_note]


def _order_beside(column: Column) -> tuple[str, bool] | None:
    """Another column of times that shows whether the day comes first, and its word."""
    for name, values in column.beside.items():
        if values.dtype == pl.String:
            reading = read_dates(values.unique().str.strip_chars())
            if reading.proven is not None and not reading.contradiction:
                return name, reading.proven
    return None


def iso_timestamps(values: pl.Series) -> pl.Series | None:
    """The common shapes of ISO 8601 in one step; None unless every value is one.

    Example:
        >>> iso_timestamps(pl.Series(["2024-05-06T08:00:00Z"])).dt.hour().to_list(), iso_timestamps(pl.Series(["6 May"]))
        ([8], None)
    """
    text = values.drop_nulls()
    if not text.len() or not text.str.contains(_ISO).all():
        return None
    separator = text[0][10]
    zoned = text[0][-1] == "Z" or "+" in text[0] or "-" in text[0][10:]
    zone = "%#z" if zoned else ""
    for pattern in ["%+"] * (zoned and separator == "T") + [f"%Y-%m-%d{separator}%H:%M:%S%.f{zone}"]:
        read = values.str.to_datetime(pattern, time_unit="us", strict=False)
        if read.null_count() == values.null_count():
            return read if zoned else read.dt.replace_time_zone("UTC")
    return None


def _by_format(values: pl.Series, pattern: str, column: Column) -> tuple[pl.Series, list[str]]:
    if needs_own_reading(pattern):
        regex = as_regex(pattern)
        if regex is None:
            raise InputError(
                f'--timestamp-format "{pattern}" cannot be followed',
                remedy="Beside %f or %Z use %Y or %y, %m or %b, %d, %H or %I, %M, %S, %p and %z, each at most once",
            )
        reading = read_pattern(values, regex)
        return _micros(reading.micros), _date_notes(reading, column)
    zoned = "%z" in pattern or "%:z" in pattern or "%#z" in pattern
    chrono = pattern.replace(".%f", "%.f").replace("%z", "%#z").replace("%:z", "%#z")
    if ("%H" in pattern or "%I" in pattern) and "%M" not in pattern:  # Polars wants minutes with hours
        values, chrono = values + " 00", f"{chrono} %M"
    try:
        read = values.str.to_datetime(chrono, time_unit="us", strict=False)
    except pl.exceptions.PolarsError as error:
        remedy = "Use strftime codes, such as %d.%m.%Y %H:%M:%S"
        raise InputError(f'--timestamp-format "{pattern}" does not describe a moment', remedy=remedy) from error
    return (read, []) if zoned else (read.dt.replace_time_zone("UTC"), [] if "%s" in pattern else [naive_note(column.name)])


def epochs(numbers: pl.Series, column: str) -> tuple[pl.Series, list[str]]:
    """Unix times; their size says whether they count seconds or smaller units. Small numbers are not taken for times.

    Example:
        >>> epochs(pl.Series([1.7e9]), "when")[1]
        ['The numbers in "when" were read as Unix times in seconds.']
    """
    largest = numbers.abs().max()
    if not isinstance(largest, int | float) or not 10**8 <= largest < 10**19:
        return pl.Series(numbers.name, [None] * numbers.len(), UTC_MICROSECONDS), []
    unit, factor = next(((name, by) for limit, name, by in _EPOCH_UNITS if largest < limit), ("nanoseconds", 0.001))
    micros = (numbers * factor).round().cast(pl.Int64, strict=False)
    return _micros(micros), [f'The numbers in "{column}" were read as Unix times in {unit}.']


def _micros(micros: pl.Series) -> pl.Series:
    return micros.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def _date_notes(reading: DateReading, column: Column) -> list[str]:
    if reading.contradiction:
        one, other = reading.contradiction
        raise InputError(
            f'the dates in "{column.name}" contradict each other: in "{one}" the day comes first, in "{other}" the month',
            place=column.place_of(other),
            remedy="Bring them into one order, or say which with --day-first or --month-first and add --drop-invalid",
        )
    read = pl.DataFrame({"offset": reading.offset}).filter(reading.micros.is_not_null())
    offsets = [None if offset is None else str(offset) for offset in read["offset"].unique().to_list()]
    notes = _zone_notes(offsets, column.name)
    if reading.ambiguous:
        notes.append(
            f'No date in "{column.name}" shows whether day or month comes first; "{reading.ambiguous}" was read day first. '
            "Say --month-first if that is wrong, --day-first if it is right."
        )
    if reading.short_year:
        notes.append(
            f'The years in "{column.name}" have two digits; "{reading.short_year}" was read with the year '
            f"{'first' if reading.year_first else 'last'}. If that is wrong, give the format with --timestamp-format."
        )
    return notes


def _zone_notes(offsets: list[str | None], column: str) -> list[str]:
    zones = {offset for offset in offsets if offset is not None}
    if not zones:
        return [naive_note(column)] if offsets else []
    if None in offsets:
        return [f'Some timestamps in "{column}" carry no time zone and were read as UTC, the others were converted to UTC.']
    if len({"+00:00" if zone in ("Z", "+0000", "+00", "0") else zone for zone in zones}) > 1:
        return [f'The timestamps in "{column}" carry different time zones and were converted to UTC.']
    return []


def naive_note(column: str) -> str:
    """What is said about a column whose times are in no zone."""
    return f'The timestamps in "{column}" carry no time zone and were read as UTC.'
