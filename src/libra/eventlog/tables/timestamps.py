"""Timestamps of any kind to UTC microseconds.

In: a column of text, numbers, dates or datetimes. Out: the same moments as `Datetime("us", "UTC")` and notes on what was
assumed. Nothing is guessed silently: an open choice (no time zone, day or month first, epochs) gives a note, a value that cannot
be read an `InputError` with its place, or null where invalid events are to be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.date_text import DateReading, read_dates

FIRST_YEAR, LAST_YEAR = 1678, 2261  # what nanosecond tools such as pandas can hold
_ISO = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.Z+-]|$)"
_EPOCH_UNITS = ((10**11, "seconds", 1_000_000), (10**14, "milliseconds", 1000), (10**17, "microseconds", 1))
_SAMPLE = 300
PlaceOf = Callable[[str], str]
"""Says where a value stands."""


def read_timestamps(
    values: pl.Series, options: ReadOptions, *, column: str, place: Callable[[int], str]
) -> tuple[pl.Series, list[str]]:
    """Read a column as moments in time; `place(row)` says where a row comes from.

    Example:
        >>> moments, notes = read_timestamps(
        ...     pl.Series(["06.05.2024 08:00", "27.05.2024 09:30"]), ReadOptions(), column="when", place=str
        ... )
        >>> moments[1].isoformat(), notes
        ('2024-05-27T09:30:00+00:00', ['The timestamps in "when" carry no time zone and were read as UTC.'])
    """
    if values.dtype == pl.String:
        values = values.str.strip_chars()
        values = values.set(values == "", None)

    def place_of(value: str) -> str:
        return place(int((values.cast(pl.String) == value).arg_true()[0]))

    read, notes = _read(values, options, column, place_of)
    unreadable = read.is_null() & values.is_not_null()
    if unreadable.any() and not options.drop_invalid:
        row = int(unreadable.arg_true()[0])
        correction = "Correct --timestamp-format" if options.timestamp_format else "Give the format with --timestamp-format"
        raise InputError(
            f"timestamp {_quoted(values[row])} cannot be read",
            place=place(row),
            remedy=f"{correction}, or drop such events with --drop-invalid",
        )
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in (FIRST_YEAR, LAST_YEAR + 1))
    outside = ((read < first) | (read >= last)).fill_null(False)
    if outside.any():
        if not options.drop_invalid:
            row = int(outside.arg_true()[0])
            raise InputError(
                f"timestamp {_quoted(values[row])} is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder",
                place=place(row),
                remedy="Correct it, or drop such events with --drop-invalid",
            )
        read = read.set(outside, None)
    return read.alias(values.name), notes


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
    if not sample.len() or not (epochs or sample.cast(pl.String).str.contains(r"\D").all()):
        return False
    try:
        read, _ = _read(sample, options, values.name, str)
    except InputError:  # dates that contradict each other are dates
        return True
    return read.null_count() <= sample.len() // 10


def _read(values: pl.Series, options: ReadOptions, column: str, place_of: PlaceOf) -> tuple[pl.Series, list[str]]:
    """Moments with null where a value cannot be read."""
    dtype = values.dtype
    if dtype == pl.Date or (isinstance(dtype, pl.Datetime) and dtype.time_zone is None):
        return values.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"), [_naive_note(column)]
    if isinstance(dtype, pl.Datetime):
        return values.dt.convert_time_zone("UTC").cast(UTC_MICROSECONDS), []
    if dtype.is_float():
        return _epochs(values, column)
    if dtype.is_integer():
        values = values.cast(pl.String)
    elif dtype != pl.String:
        return pl.Series(values.name, [None] * values.len(), UTC_MICROSECONDS), []
    distinct = values.unique()
    if distinct.len() * 2 > values.len():
        return _read_text(values, options, column, place_of)
    read, notes = _read_text(distinct, options, column, place_of)
    moments = pl.DataFrame({"text": values}).join(
        pl.DataFrame({"text": distinct, "moment": read}), on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return moments["moment"], notes


def _read_text(values: pl.Series, options: ReadOptions, column: str, place_of: PlaceOf) -> tuple[pl.Series, list[str]]:
    if options.timestamp_format:
        return _by_format(values, options.timestamp_format, column)
    read = iso_timestamps(values)
    if read is not None:
        return read, _zone_notes(
            values.str.tail(6).unique().str.extract(r"(Z|[+-]\d{2}:?(?:\d{2})?)$").unique().to_list(), column
        )
    reading = read_dates(values, options.day_first)
    if reading.micros.null_count() == values.len() and values.null_count() < values.len():
        return _epochs(values.cast(pl.Float64, strict=False), column)
    return _micros(reading.micros), _date_notes(reading, column, place_of)


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


def _by_format(values: pl.Series, pattern: str, column: str) -> tuple[pl.Series, list[str]]:
    zoned = "%z" in pattern or "%:z" in pattern or "%#z" in pattern
    chrono = pattern.replace(".%f", "%.f").replace("%z", "%#z").replace("%:z", "%#z")
    if ("%H" in pattern or "%I" in pattern) and "%M" not in pattern:  # Polars wants minutes with hours
        values, chrono = values + " 00", f"{chrono} %M"
    try:
        read = values.str.to_datetime(chrono, time_unit="us", strict=False)
    except pl.exceptions.PolarsError as error:
        remedy = "Use strftime codes, such as %d.%m.%Y %H:%M:%S"
        raise InputError(f'--timestamp-format "{pattern}" does not describe a moment', remedy=remedy) from error
    return (read, []) if zoned else (read.dt.replace_time_zone("UTC"), [] if "%s" in pattern else [_naive_note(column)])


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


def _date_notes(reading: DateReading, column: str, place_of: PlaceOf) -> list[str]:
    if reading.contradiction:
        one, other = reading.contradiction
        raise InputError(
            f'the dates in "{column}" contradict each other: in "{one}" the day comes first, in "{other}" the month',
            place=place_of(other),
            remedy="Bring them into one order, or say which with --day-first or --month-first and add --drop-invalid",
        )
    read = pl.DataFrame({"offset": reading.offset}).filter(reading.micros.is_not_null())
    offsets = [None if offset is None else str(offset) for offset in read["offset"].unique().to_list()]
    notes = _zone_notes(offsets, column)
    if reading.ambiguous:
        notes.append(
            f'No date in "{column}" shows whether day or month comes first; "{reading.ambiguous}" was read day first. '
            "Say --month-first if that is wrong, --day-first if it is right."
        )
    return notes


def _zone_notes(offsets: list[str | None], column: str) -> list[str]:
    zones = {offset for offset in offsets if offset is not None}
    if not zones:
        return [_naive_note(column)] if offsets else []
    if None in offsets:
        return [f'Some timestamps in "{column}" carry no time zone and were read as UTC, the others were converted to UTC.']
    if len({"+00:00" if zone in ("Z", "+0000", "+00", "0") else zone for zone in zones}) > 1:
        return [f'The timestamps in "{column}" carry different time zones and were converted to UTC.']
    return []


def _naive_note(column: str) -> str:
    return f'The timestamps in "{column}" carry no time zone and were read as UTC.'


def _quoted(value: object) -> str:
    text = " ".join(str(value).split())
    return f'"{text[:60]}…"' if len(text) > 60 else f'"{text}"'
