"""A column of times read piece by piece, each piece as if all were read at once.

How text and numbers are read (day or month first, the unit of epochs, the zone) depends on the whole column. The few values that
tell it are remembered, every piece is read beside them, and a value that would change how one of them was read is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import unnamed
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.dates import telling_dates
from libra.eventlog.tables.timestamps import (
    FIRST_YEAR,
    ISO_ZONE,
    LAST_YEAR,
    Column,
    epochs,
    has_zone,
    iso_timestamps,
    quoted,
    read_moments,
    stripped,
    usable_moments,
)


def first_misfit(count: int, fits: Callable[[int], bool]) -> int:
    """The first of `count` values that does not fit those before it, where `fits(n)` says it of the first n and not of all.

    Example:
        >>> first_misfit(100, lambda n: n <= 17)
        17
    """
    fitting, breaking = 0, count
    while breaking - fitting > 1:
        middle = (fitting + breaking) // 2
        if fits(middle):
            fitting = middle
        else:
            breaking = middle
    return breaking - 1


Place = Callable[[int], str]
_FIRST, _LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (FIRST_YEAR, LAST_YEAR + 1))
_NEVER_DATES = ((10**9, 10**10), (10**12, 10**13), (10**15, 10**16))  # as many digits as epochs have and no date has
_REMEDY = "Give the format with --timestamp-format, or say --day-first or --month-first if it is their order that is open"


class Times:
    """One column of times, read as its first values show.

    Example:
        >>> times = Times(pl.Series(["05/13/2024"]), None, ReadOptions(), "when", place="row {}".format)
        >>> times.read(pl.Series(["05/06/2024"]), None, "row {}".format).dt.month().to_list(), times.has_zone
        ([5], False)
        >>> times.read(pl.Series(["05/06/2024", "16/06/2024"]), None, "row {}".format)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        libra.errors.InputError: row 1: timestamp "16/06/2024" does not fit the way those before it were read. Give the format ...
    """

    def __init__(
        self, sample: pl.Series, beside: tuple[str, pl.Series] | None, options: ReadOptions, column: str, *, place: Place
    ) -> None:
        """`beside` is another column of times, which may show the order of day and month where this one does not."""
        self._options, self._column = options, column
        self._beside = None if beside is None else (beside[0], unnamed(beside[1]).clear())
        values = stripped(sample, column, place)
        self._values, self._moments = values.clear(), pl.Series([], dtype=UTC_MICROSECONDS)
        self._decided_zone: bool | None = None
        others = {} if beside is None else {beside[0]: beside[1]}
        _, self._notes = read_moments(values, options, Column(column, lambda value: place(_row_of(value, values)), others))
        if not options.described and not isinstance(values.dtype, pl.Date | pl.Datetime):
            self._remember(values, None if beside is None else beside[1])
        self._decided_zone = has_zone(self._notes, options, column)
        self._begun = False

    @property
    def has_zone(self) -> bool:
        """Whether the times say which zone they are in."""
        return self._decided_zone is not False

    def notes(self) -> list[str]:
        """What was assumed about all that was read so far."""
        return list(self._notes)

    def read(self, values: pl.Series, beside: pl.Series | None, place: Place) -> pl.Series:
        """The moments of the next values, null where there is none to be used; `place` says where a row of them stands."""
        continued, self._begun = self._begun, self._begun or len(values) > 0
        if isinstance(values.dtype, pl.Date | pl.Datetime):
            values = unnamed(values)
            moments = _of_our_years(values)
            if moments is None:
                far, _ = read_moments(values, self._options, Column(self._column))
                moments, _ = usable_moments(far, values, self._options, place, continued=continued)
            return moments
        values = stripped(values, self._column, place)
        if self._options.described:  # then every value is read by itself
            read, _ = read_moments(values, self._options, Column(self._column, lambda value: place(_row_of(value, values))))
            return usable_moments(read, values, self._options, place, continued=continued)[0]
        before = (self._values, self._moments, self._beside)

        def fits(count: int) -> bool:
            self._values, self._moments, self._beside = before
            try:
                self._remember(values[:count], None if beside is None else beside[:count])
            except _ContradictionError:
                return False
            return True

        try:
            moments = self._remember(values, beside)
        except _ContradictionError:
            row = first_misfit(len(values), fits)
            what = f"timestamp {quoted(values[row])} does not fit the way those before it were read"
            raise InputError(what, place=place(row), remedy=_REMEDY) from None
        return usable_moments(moments, values, self._options, place, continued=continued)[0]

    def _remember(self, values: pl.Series, beside: pl.Series | None) -> pl.Series:
        """The moments of more values; the telling ones among them are kept."""
        if beside is not None and self._beside is not None:
            self._beside = (self._beside[0], _merged(self._beside[1], beside))
        at_once = None if self._options.timestamp_format or self._options.epoch_unit else _at_once(values)
        if at_once is not None and self._keep(values, *at_once):
            return at_once[0]
        moments = self._read(pl.concat([self._values, values]))[0][len(self._values) :]
        if not self._keep(values, moments, self._telling(values, moments)):
            raise _ContradictionError
        return moments

    def _keep(self, values: pl.Series, moments: pl.Series, rows: pl.Series) -> bool:
        """Keep the telling values in these rows, unless they and those kept before would be read otherwise together."""
        kept, known = pl.concat([self._values, values[rows]]), pl.concat([self._moments, moments[rows]])
        again, notes = self._read(kept)
        if not again.equals(known) or self._decided_zone not in (None, has_zone(notes, self._options, self._column)):
            return False
        few = self._telling(kept, known)
        self._values, self._moments, self._notes = kept[few], known[few], notes
        return True

    def _telling(self, values: pl.Series, moments: pl.Series) -> pl.Series:
        """The rows that tell how all the values are read."""
        if self._options.timestamp_format:
            return moments.is_not_null().arg_true().head(1)
        if values.dtype != pl.String and not values.dtype.is_integer():
            return _extremes(values)
        text = values.cast(pl.String)
        return pl.concat([telling_dates(text, moments.is_not_null()).cast(pl.UInt32), _extremes(text)]).unique().sort()

    def _read(self, values: pl.Series) -> tuple[pl.Series, list[str]]:
        beside = {} if self._beside is None else {self._beside[0]: self._beside[1]}
        try:
            return read_moments(values, self._options, Column(self._column, beside=beside))
        except InputError as error:
            if self._options.timestamp_format:
                raise
            raise _ContradictionError from error


class _ContradictionError(Exception):
    """A value would change how others are read."""


def _of_our_years(values: pl.Series) -> pl.Series | None:
    """Dates and datetimes that all lie in years we know; None where one does not."""
    unit = values.dtype.time_unit if isinstance(values.dtype, pl.Datetime) else "days"
    counts = values.to_physical()
    low, high = counts.min(), counts.max()
    per_micro, micros = {"ns": (1000, 1), "us": (1, 1), "ms": (1, 1000), "days": (1, 86_400_000_000)}[unit or "us"]
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    if not _FIRST <= low * micros // per_micro <= high * micros // per_micro < _LAST:
        return None
    if per_micro > 1:
        counts = counts // per_micro
    elif micros > 1:
        counts = counts.cast(pl.Int64) * micros
    return counts.cast(UTC_MICROSECONDS)


def _at_once(values: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """The moments of values that are all of one common form, and the rows that tell how they are read; None for others."""
    if values.dtype == pl.String:
        moments = iso_timestamps(values)
        if moments is None:
            return None
        endings = pl.DataFrame({"ending": values.str.tail(6)}).with_row_index("row").drop_nulls().unique("ending", keep="first")
        return moments, endings.with_columns(pl.col("ending").str.extract(ISO_ZONE)).unique("ending", keep="any")["row"]
    low, high = (values.min(), values.max()) if values.dtype.is_integer() else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or not any(lo <= low and high < hi for lo, hi in _NEVER_DATES):
        return None
    return epochs(values.cast(pl.Float64), values.name)[0], _extremes(values)


def _extremes(values: pl.Series) -> pl.Series:
    """The rows of the largest and the smallest number, if there are any."""
    numbers = values.cast(pl.Float64, strict=False) if values.dtype == pl.String or values.dtype.is_numeric() else None
    sizes = None if numbers is None else numbers.fill_nan(None).abs()
    rows = set() if sizes is None else {sizes.arg_max(), sizes.arg_min()}
    return pl.Series(sorted(row for row in rows if row is not None), dtype=pl.UInt32)


def _merged(seen: pl.Series, more: pl.Series) -> pl.Series:
    """The telling dates of another column, with those of more of its values."""
    more = unnamed(more)
    if more.dtype != pl.String or iso_timestamps(more) is not None:
        return seen
    dates = pl.concat([seen, more]).str.strip_chars().unique(maintain_order=True)
    return dates[telling_dates(dates, dates.is_null())]


def _row_of(value: str, values: pl.Series) -> int:
    return int((values.cast(pl.String) == value).arg_true()[0])
