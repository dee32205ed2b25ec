"""Timestamps of any kind to UTC microseconds.

In: a column of text, numbers, dates or datetimes. Out: the same moments as `Datetime("us", "UTC")` and notes on what was
assumed. Nothing is guessed silently: an open choice (no time zone, day or month first, epochs) gives a note, a value that cannot
be read an `InputError` with its place, or null where invalid events are to be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time

import polars as pl

from libra.errors import InputError
from libra.eventlog.columns import unnamed
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.moments import Column, read_moments

FIRST_YEAR, LAST_YEAR = 1678, 2261  # what nanosecond tools such as pandas can hold
_SAMPLE = 300
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


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
    name, values = values.name, stripped(values, column, place)

    def place_of(value: str) -> str:
        return place(int((values.cast(pl.String) == value).arg_true()[0]))

    read, notes = read_moments(values, options, Column(column, place_of, beside or {}))
    moments, all_used = usable_moments(read, values, options, place, optional=optional)
    if optional and not all_used:
        notes.append(f'Some times in "{column}" cannot be used and were left out; their events stay.')
    return moments.alias(name), notes


def stripped(values: pl.Series, column: str, place: Callable[[int], str]) -> pl.Series:
    """A column that may hold moments, text without the space around it and null where it is blank.

    Example:
        >>> stripped(pl.Series([" 2024-05-06", " "]), "when", str).to_list()
        ['2024-05-06', None]
    """
    if not isinstance(values.dtype, pl.String | pl.Date | pl.Datetime | pl.Null) and not values.dtype.is_numeric():
        what = f'"{column}" is of the type {values.dtype} and holds no moments in time'
        raise InputError(what, place=place(0), remedy="Name another column with --timestamp or --start-timestamp")
    values = unnamed(values)
    if values.dtype == pl.String:
        values = values.str.strip_chars()
        values = values.set(values == "", None)
    return values


def usable_moments(
    read: pl.Series,
    values: pl.Series,
    options: ReadOptions,
    place: Callable[[int], str],
    *,
    optional: bool = False,
    continued: bool = False,
) -> tuple[pl.Series, bool]:
    """The moments that lie in years of ours, and whether all that is not missing could be used; if not, an error by default.

    `continued` if other values of the column came before these.

    Example:
        >>> nothing = pl.Series([None], dtype=pl.Datetime("us", "UTC"))
        >>> usable_moments(nothing, pl.Series(["soon"]), ReadOptions(drop_invalid=True), str)[1]
        False
    """
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in (FIRST_YEAR, LAST_YEAR + 1))
    outside = ((read < first) | (read >= last)).fill_null(False)
    unreadable = read.is_null() & values.is_not_null()
    if values.dtype.is_temporal():  # no clock of ours goes as far
        outside, unreadable = outside | unreadable, unreadable.clear(unreadable.len()).fill_null(False)
    way_out = "leave such times out" if optional else "drop such events"
    if unreadable.any() and not options.drop_invalid:
        row = int(unreadable.arg_true()[0])
        at_once = row == 0 and not continued  # what is wrong with the first of all is hardly an exception
        numbers = at_once and _NUMBER.fullmatch(str(values[row])) is not None
        remedy = _correction(options, numbers=numbers) + ("" if at_once else f", or {way_out} with --drop-invalid")
        raise InputError(f"timestamp {quoted(values[row])} cannot be read", place=place(row), remedy=remedy)
    if outside.any() and not options.drop_invalid:
        row = int(outside.arg_true()[0])
        shown = "" if read.is_null()[row] else f" {quoted(values[row])}"
        raise InputError(
            f"timestamp{shown} is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder",
            place=place(row),
            remedy=f"Correct it, or {way_out} with --drop-invalid",
        )
    return read.set(outside, None), not (unreadable.any() or outside.any())


def _correction(options: ReadOptions, *, numbers: bool) -> str:
    """How to have times read that cannot be read so; `numbers` if they may be Unix times."""
    if options.epoch_unit or options.timestamp_format:
        return f"Correct {'--epoch-unit' if options.epoch_unit else '--timestamp-format'}"
    if numbers:
        return "Say --epoch-unit s, ms, us or ns if all times are Unix times, or give the format with --timestamp-format"
    return "Give the format with --timestamp-format"


def are_days(values: pl.Series, options: ReadOptions) -> bool:
    """Whether a column of dates never tells the time of day.

    Example:
        >>> are_days(pl.Series(["06.05.2024", "27.05.2024"]), ReadOptions()), are_days(pl.Series([17, 18]), ReadOptions())
        (True, False)
    """
    if values.dtype not in (pl.String, pl.Date) and values.dtype != pl.Datetime:
        return False
    days = unnamed(values)
    try:
        moments, _ = read_moments(days.str.strip_chars() if days.dtype == pl.String else days, options, Column(values.name))
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
    sample = unnamed(values).drop_nulls().gather_every(max(values.len() // _SAMPLE, 1)).head(_SAMPLE)
    if sample.dtype == pl.String:
        sample = sample.str.strip_chars()
        sample = sample.filter(sample != "")
    if not sample.len() or not (epochs or sample.cast(pl.Float64, strict=False).is_null().all()):
        return False
    try:
        read, _ = read_moments(sample, options, Column(values.name))
    except InputError:  # dates that contradict each other are dates
        return True
    return read.null_count() <= sample.len() // 10


def quoted(value: object) -> str:
    """A value as it is shown in an error: on one line, in quotes, not too long."""
    text = " ".join(str(value).split())
    return f'"{text[:60]}…"' if len(text) > 60 else f'"{text}"'
