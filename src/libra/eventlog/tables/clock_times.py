"""Times of day in a column of their own, beside a column of dates.

In: a column such as "08:30", "8:30 pm", "083000", or Excel's bare times, which stand on a day of 1899. Out: what to add to a
date. A column counts as the clock of the dates by its exact name and its values; a name that merely speaks of time (a waiting
time, the time of the start) makes it a candidate that is worth a note.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from libra.errors import InputError
from libra.eventlog.columns import unnamed
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.date_text import read_dates
from libra.eventlog.tables.role_names import normal

_DAY_ZERO = r"(?:1899-12-3[01]|1900-01-0[01]|12/3[01]/1899|3[01][./-]12[./-]1899)[T\s]+"
_CLOCK = (
    rf"(?i)^\s*(?:{_DAY_ZERO})?([0-9]{{1,2}})[:.h]?([0-9]{{2}})(?:[:.]?([0-9]{{2}})(?:[.,]([0-9]+))?)?"
    r"\s*(?:uhr|h)?\s*([ap]\.?m\.?)?\s*$"
)
_NAMES = (
    *("time", "clock", "clocktime", "timeofday", "hour", "eventtime", "uhrzeit", "zeit", "tijd", "heure"),
    *("utime", "uzeit", "erzet", "cputm"),  # SAP's
)
_WORDS = ("time", "clock", "hour", "zeit", "tijd", "heure")


def is_named_clock(name: str) -> bool:
    """Whether a column's name says outright that it holds times of day.

    Example:
        >>> is_named_clock("Uhrzeit"), is_named_clock("Waiting time")
        (True, False)
    """
    return normal(name) in _NAMES


def looks_like_clock_times(values: pl.Series) -> bool:
    """Whether a column's name speaks of time and nearly all its values could be times of day.

    Example:
        >>> looks_like_clock_times(pl.Series("Uhrzeit", ["08:30", "9:15"])), looks_like_clock_times(pl.Series("score", ["3:1"]))
        (True, False)
    """
    if not (is_named_clock(values.name) or any(word in normal(values.name) for word in _WORDS)):
        return False
    return values.dtype == pl.Time or (values.dtype == pl.String and _mostly(unnamed(values), _CLOCK))


def stands_on_day_zero(values: pl.Series) -> bool:
    """Whether a column holds times of day as Excel and Access export them: all on the day before their calendar begins."""
    values = unnamed(values)
    if isinstance(values.dtype, pl.Datetime):
        return bool(values.drop_nulls().len()) and bool((values.dt.year() < 1901).all()) and values.dt.date().n_unique() <= 2
    return values.dtype == pl.String and _mostly(values, rf"^\s*{_DAY_ZERO}")


def _mostly(values: pl.Series, pattern: str) -> bool:
    fits = values.filter(values.str.strip_chars() != "").str.contains(pattern)
    return bool(fits.len()) and int(fits.sum()) * 10 >= fits.len() * 9


def read_clock_times(values: pl.Series, options: ReadOptions, *, place: Callable[[int], str]) -> pl.Series:
    """The time since midnight; null where it is missing. One that cannot be read is an error, or null under drop_invalid.

    Example:
        >>> read_clock_times(pl.Series(["8:30 pm", "083000", None]), ReadOptions(), place=str).to_list()
        [datetime.timedelta(seconds=73800), datetime.timedelta(seconds=30600), None]
    """
    name, values = values.name, unnamed(values)
    if values.dtype == pl.Time:
        return (values.to_physical() // 1000).cast(pl.Duration("us"))
    text = values.str.strip_chars()
    text = text.set(text == "", None)
    parts = pl.DataFrame([text.str.extract(_CLOCK, i + 1).alias(name) for i, name in enumerate(("h", "m", "s", "f", "half"))])
    missing = {"s": "00", "f": "0", "half": ""}
    clock = parts.select(pl.format("1970-01-01 {}:{}:{}.{} {}", "h", "m", *(pl.col(n).fill_null(v) for n, v in missing.items())))
    read = read_dates(clock.to_series().str.strip_chars()).micros.cast(pl.Duration("us"))
    unreadable = read.is_null() & text.is_not_null()
    if unreadable.any() and not options.drop_invalid:
        row = int(unreadable.arg_true()[0])
        raise InputError(
            f'time of day "{text[row][:60]}" in "{name}" cannot be read',
            place=place(row),
            remedy="Correct it, or drop such events with --drop-invalid",
        )
    return read
