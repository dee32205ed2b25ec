"""Times of day in a column of their own, beside a column of dates.

In: a column such as "08:30" or "8:30 pm", or of times. Out: what to add to a date. Only a column whose name speaks of time and
whose values are all clock times counts.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from libra.errors import InputError
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.date_text import read_dates
from libra.eventlog.tables.role_names import normal

_CLOCK = r"(?i)^\s*[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\s*(?:[ap]\.?m\.?)?\s*$"
_WORDS = ("time", "clock", "hour", "zeit", "tijd", "heure")


def looks_like_clock_times(values: pl.Series) -> bool:
    """Whether a column is named after time and nearly all its values are times of day.

    Example:
        >>> looks_like_clock_times(pl.Series("Uhrzeit", ["08:30", "9:15"])), looks_like_clock_times(pl.Series("score", ["3:1"]))
        (True, False)
    """
    if not any(word in normal(values.name) for word in _WORDS):
        return False
    if values.dtype != pl.String:
        return values.dtype == pl.Time
    fits = values.filter(values.str.strip_chars() != "").str.contains(_CLOCK)
    return bool(fits.len()) and int(fits.sum()) * 10 >= fits.len() * 9


def read_clock_times(values: pl.Series, options: ReadOptions, *, place: Callable[[int], str]) -> pl.Series:
    """The time since midnight; null where it is missing. One that cannot be read is an error, or null under drop_invalid.

    Example:
        >>> read_clock_times(pl.Series(["8:30 pm", None]), ReadOptions(), place=str).to_list()
        [datetime.timedelta(seconds=73800), None]
    """
    if values.dtype == pl.Time:
        return (values.to_physical() // 1000).cast(pl.Duration("us"))
    text = values.str.strip_chars()
    text = text.set(text == "", None)
    clock = text.set(~text.str.contains(_CLOCK).fill_null(False), None)
    read = read_dates("1970-01-01 " + clock).micros.cast(pl.Duration("us"))
    unreadable = read.is_null() & text.is_not_null()
    if unreadable.any() and not options.drop_invalid:
        row = int(unreadable.arg_true()[0])
        raise InputError(
            f'time of day "{text[row][:60]}" in "{values.name}" cannot be read',
            place=place(row),
            remedy="Correct it, or drop such events with --drop-invalid",
        )
    return read
