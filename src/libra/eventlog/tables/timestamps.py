"""Timestamps of any kind to UTC microseconds.

In: a column of text, numbers, dates or datetimes. Out: the same moments as `Datetime("us", "UTC")` and notes on what was
assumed. Nothing is guessed silently: an open choice (no time zone, day or month first, epochs) gives a note, a value that cannot
be read an `InputError` with its place, or null where invalid events are to be dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.attributes import utc_moments
from libra.eventlog.tables.date_format import as_regex, needs_own_reading
from libra.eventlog.tables.date_text import DateReading, read_dates, read_pattern

FIRST_YEAR, LAST_YEAR = 1678, 2261  # what nanosecond tools such as pandas can hold
_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.Z+-]|$)"
_EPOCH_UNITS = ((10**11, "seconds", 1_000_000), (10**14, "milliseconds", 1000), (10**17, "microseconds", 1))
_SAMPLE = 300


@dataclass(frozen=True)
class _Column:
    """What is said about a column: its name, where a value stands in it, and the other columns of times."""

    name: str
    place_of: Callable[[str], str] = str
    beside: Mapping[str, pl.Series] = field(default_factory=dict)


def read_timestamps(
    values: pl.Series,
    options: ReadOptions,
    *,
    column: str,
    place: Callable[[int], str],
    optional: bool = False,
    beside: Mapping[str, pl.Series] | None = None,
) -> tuple[pl.Series, list[str]]:
    """Read a column as moments in time; `place(row)` says where a row comes from.

    An event may do without an `optional` one. `beside` holds other columns of times, which may show whether day or month comes
    first where this one does not.

    Example:
        >>> moments, notes = read_timestamps(
        ...     pl.Series(["06.05.2024 08:00", "27.05.2024 09:30"]), ReadOptions(), column="when", place=str
        ... )
        >>> moments[1].isoformat(), notes
        ('2024-05-27T09:30:00+00:00', ['The timestamps in "when" carry no time zone and were read as UTC.'])
    """
    if not isinstance(values.dtype, pl.String | pl.Date | pl.Datetime | pl.Null) and not values.dtype.is_numeric():
        what = f'"{column}" is of the type {values.dtype} and holds no moments in time'
        raise InputError(what, place=place(0), remedy="Name another column with --timestamp or --start-timestamp")
    if values.dtype == pl.String:
        values = values.str.strip_chars()
        values = values.set(values == "", None)

    def place_of(value: str) -> str:
        return place(int((values.cast(pl.String) == value).arg_true()[0]))

    read, notes = _read(values, options, _Column(column, place_of, beside or {}))
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in (FIRST_YEAR, LAST_YEAR + 1))
    outside = ((read < first) | (read >= last)).fill_null(False)
    unreadable = read.is_null() & values.is_not_null()
    if values.dtype.is_temporal():  # no clock of ours goes as far
        outside, unreadable = outside | unreadable, unreadable.clear(unreadable.len()).fill_null(False)
    way_out = "leave such times out" if optional else "drop such events"
    if unreadable.any() and not options.drop_invalid:
        row = int(unreadable.arg_true()[0])
        correction = "Correct --timestamp-format" if options.timestamp_format else "Give the format with --timestamp-format"
        raise InputError(
            f"timestamp {_quoted(values[row])} cannot be read",
            place=place(row),
            remedy=f"{correction}, or {way_out} with --drop-invalid",
        )
    if outside.any() and not options.drop_invalid:
        row = int(outside.arg_true()[0])
        shown = "" if read[row] is None else f" {_quoted(values[row])}"
        raise InputError(
            f"timestamp{shown} is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder",
            place=place(row),
            remedy=f"Correct it, or {way_out} with --drop-invalid",
        )
    if optional and (unreadable.any() or outside.any()):
        notes.append(f'Some times in "{column}" cannot be used and were left out; their events stay.')
    return read.set(outside, None).alias(values.name), notes


def are_days(values: pl.Series, options: ReadOptions) -> bool:
    """Whether a column of dates never tells the time of day.

    Example:
        >>> are_days(pl.Series(["06.05.2024", "27.05.2024"]), ReadOptions()), are_days(pl.Series([17, 18]), ReadOptions())
        (True, False)
    """
    if values.dtype not in (pl.String, pl.Date) and values.dtype != pl.Datetime:
        return False
    try:
        moments, _ = _read(values.str.strip_chars() if values.dtype == pl.String else values, options, _Column(values.name))
    except InputError:
        return False
    return moments.null_count() < moments.len() and bool((moments.dt.time() == time()).all())


def looks_like_timestamps(values: pl.Series, options: ReadOptions, *, epochs: bool = True) -> bool:
    """Whether nearly all values of a column read as dates, judged by a sample; bare numbers count only with `epochs`.

    Example:
        >>> looks_like_timestamps(pl.Series(["2024-05-06", "6 May 2024"]), ReadOptions())
        True
        >>> looks_like_timestamps(pl.Series(["register", "leave"]), ReadOptions())
        False
    """
    if values.dtype in (pl.Date, pl.Datetime):
        return True
    if not (values.dtype == pl.String or values.dtype.is_integer()):
        return False
    sample = values.drop_nulls().gather_every(max(values.len() // _SAMPLE, 1)).head(_SAMPLE)
    if sample.dtype == pl.String:
        sample = sample.str.strip_chars()
        sample = sample.filter(sample != "")
    if not sample.len() or not (epochs or sample.cast(pl.Float64, strict=False).is_null().all()):
        return False
    try:
        read, _ = _read(sample, options, _Column(values.name))
    except InputError:  # dates that contradict each other are dates
        return True
    return read.null_count() <= sample.len() // 10


def _read(values: pl.Series, options: ReadOptions, column: _Column) -> tuple[pl.Series, list[str]]:
    """Moments with null where a value cannot be read."""
    dtype = values.dtype
    if isinstance(dtype, pl.Date | pl.Datetime):
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        return utc_moments(values), [] if zoned else [naive_note(column.name)]
    if dtype.is_float():
        return _epochs(values, column.name)
    if dtype.is_integer():
        values = values.cast(pl.String)
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


def _read_text(values: pl.Series, options: ReadOptions, column: _Column) -> tuple[pl.Series, list[str]]:
    if options.timestamp_format:
        return _by_format(values, options.timestamp_format, column)
    read = iso_timestamps(values)
    if read is not None:
        return read, _zone_notes(
            values.str.tail(6).unique().str.extract(r"(Z|[+-][0-9]{2}:?(?:[0-9]{2})?)$").unique().to_list(), column.name
        )
    reading = read_dates(values, options.day_first)
    if reading.micros.null_count() == values.len() and values.null_count() < values.len():
        return _epochs(values.cast(pl.Float64, strict=False), column.name)
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


def _order_beside(column: _Column) -> tuple[str, bool] | None:
    """Another column of times that shows whether the day comes first, and its word."""
    for name, values in column.beside.items():
        if values.dtype == pl.String:
            reading = read_dates(values.unique().str.strip_chars())
            if reading.proven is not None and not reading.contradiction:
                return name, reading.proven
    return None


def iso_timestamps(values: pl.Series) -> pl.Series | None:
    """The common shapes of ISO 8601 in one step; None unless every value is one."""
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


def _by_format(values: pl.Series, pattern: str, column: _Column) -> tuple[pl.Series, list[str]]:
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


def _epochs(numbers: pl.Series, column: str) -> tuple[pl.Series, list[str]]:
    """Unix times; their size says whether they count seconds or smaller units. Small numbers are not taken for times."""
    largest = numbers.abs().max()
    if not isinstance(largest, int | float) or not 10**8 <= largest < 10**19:
        return pl.Series(numbers.name, [None] * numbers.len(), UTC_MICROSECONDS), []
    unit, factor = next(((name, by) for limit, name, by in _EPOCH_UNITS if largest < limit), ("nanoseconds", 0.001))
    micros = (numbers * factor).round().cast(pl.Int64, strict=False)
    return _micros(micros), [f'The numbers in "{column}" were read as Unix times in {unit}.']


def _micros(micros: pl.Series) -> pl.Series:
    return micros.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def _date_notes(reading: DateReading, column: _Column) -> list[str]:
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


def _quoted(value: object) -> str:
    text = " ".join(str(value).split())
    return f'"{text[:60]}…"' if len(text) > 60 else f'"{text}"'
