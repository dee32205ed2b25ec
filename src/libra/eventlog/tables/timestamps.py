"""Columns of times to UTC microseconds, read as all their values together show: nowhere else do values decide about others.

What was assumed (the zone, whether day or month comes first, the unit of epochs) is a note; a value that cannot be read is an
error with its place, or null where invalid events are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import unnamed
from libra.eventlog.notes import numbers_among_dates, order_is_open, unit_is_open, year_is_open, zone_is_open
from libra.eventlog.options import ANY, ISO, EpochUnit, Place, ReadOptions, Zone
from libra.eventlog.tables import dates
from libra.eventlog.tables.dates import ZONE_OF_ISO, DateReading, read_dates
from libra.eventlog.tables.values import as_text, utc_moments

_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.Z+-]|$)"
ISO_ZONE = r"(Z|[+-][0-9]{2}:?(?:[0-9]{2})?)$"
_SMALLEST_EPOCH = 10**8
_EPOCH_UNITS: dict[EpochUnit, tuple[str, int, float]] = {
    "s": ("seconds", 10**11, 1_000_000),  # its name, the first number beyond it, and how many microseconds it has
    "ms": ("milliseconds", 10**14, 1000),
    "us": ("microseconds", 10**17, 1),
    "ns": ("nanoseconds", 10**20, 0.001),
}
FIRST_YEAR, LAST_YEAR = 1678, 2261  # what nanosecond tools such as pandas can hold
_FIRST, _LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (FIRST_YEAR, LAST_YEAR + 1))
_SAMPLE = 300
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

Beside = Mapping[str, pl.Series]
"""Other columns of times, which may show whether day or month comes first where one does not."""
_Read = tuple[pl.Series, pl.Series | bool, list[str]]
"""Moments, whether each (or all of them) carries a zone as far as the user says something on it, and what was assumed."""


@dataclass(frozen=True)
class Column:
    """What is said about a column: its name, where a value stands in it, and the other columns of times."""

    name: str
    place_of: Callable[[str], str] = str
    beside: Beside = field(default_factory=dict)


def read_moments(values: pl.Series, options: ReadOptions, column: Column) -> tuple[pl.Series, list[str]]:
    """Moments with null where a value cannot be read, as all the values together are to be read; and notes on that."""
    dtype = values.dtype
    if isinstance(dtype, pl.Date | pl.Datetime):
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        return _in_zone(values, (utc_moments(values), zoned, [] if zoned else [naive_note(column.name)]), options, column)
    if dtype.is_float() and (options.epoch_unit or not (options.described or options.timestamp_format)):
        return _in_zone(values, epochs(values, column.name, options.epoch_unit), options, column)
    if dtype.is_numeric():
        values = as_text(values)
    elif dtype != pl.String:
        return pl.Series(values.name, [None] * values.len(), UTC_MICROSECONDS), []
    distinct = values.unique(maintain_order=True)  # which value a note or an error names is always the same
    if distinct.len() * 2 > values.len():
        return _in_zone(values, _read_text(values, options, column), options, column)
    read, notes = _in_zone(distinct, _read_text(distinct, options, column), options, column)
    known = pl.DataFrame({"text": distinct, "moment": read})
    moments = values.alias("text").to_frame().join(known, on="text", how="left", nulls_equal=True, maintain_order="left")
    return moments["moment"], notes


def place_in(values: pl.Series, place: Place) -> Callable[[str], str]:
    """Where a value of a column stands first."""
    return lambda value: place(int((values.cast(pl.String) == value).arg_true()[0]))


def has_zone(notes: Collection[str], options: ReadOptions, column: str) -> bool:
    """Whether the times of a column say which zone they are in, as was said or as the notes on them tell."""
    return naive_note(column) not in notes if options.zone is None else options.zone != "none"


def _in_zone(values: pl.Series, read: _Read, options: ReadOptions, column: Column) -> tuple[pl.Series, list[str]]:
    """The moments that carry a zone or do not, as the user says all of them do; others are an error, or null."""
    moments, zoned, notes = read
    if options.zone is None:
        return moments, notes
    notes = [note for note in notes if note not in (naive_note(column.name), zone_is_open(column.name))]
    if options.zone == "utc" or zoned is (options.zone == "file"):
        return moments, notes
    each = pl.repeat(zoned, values.len(), eager=True) if isinstance(zoned, bool) else zoned.fill_null(False)
    misfit = moments.is_not_null() & (~each if options.zone == "file" else each)
    if misfit.any() and (isinstance(zoned, bool) or not options.drop_invalid):
        shown = str(values.cast(pl.String)[int(misfit.arg_true()[0])])
        raise zone_misfit(shown, options.zone, column.place_of(shown))
    return moments.set(misfit, None), notes


def zone_misfit(value: str, zone: Zone, place: str) -> InputError:
    """The error for a time that carries a zone where none does, or none where all do."""
    carries, asked = ("no", "every time carries one") if zone == "file" else ("a", "no time carries one")
    what = f'timestamp "{value[:60]}" carries {carries} time zone, and --zone says "{zone}": {asked}'
    remedy = "Write all times in one way, or correct --zone: it is file, none, or utc if times without a zone are in UTC"
    return InputError(what, place=place, remedy=remedy)


def _read_text(values: pl.Series, options: ReadOptions, column: Column) -> _Read:
    if options.epoch_unit:
        return epochs(values.cast(pl.Float64, strict=False), column.name, options.epoch_unit)
    if options.timestamp_format == ISO:
        moments, naive = dates.read_iso_dates(values)
        if options.zone is not None:
            return moments, ~naive, []
        endings = values.str.extract(ZONE_OF_ISO).alias("zone").to_frame().filter(moments.is_not_null()).unique().to_series()
        return moments, True, _zone_notes(endings.to_list(), column.name)
    if options.timestamp_format == ANY:
        return _of_dates(read_dates(values, options.day_first), column)
    if options.timestamp_format:
        return _by_format(values, options.timestamp_format, column)
    if options.described:
        what = f'"{column.name}" holds text or numbers, and {options.described} says nothing on how times are written'
        raise InputError(what, remedy="Add timestamp_format or epoch_unit there")
    read = iso_timestamps(values)
    if read is not None:
        endings = values.drop_nulls().str.tail(6).unique().str.extract(ISO_ZONE).unique()  # a missing time carries no zone
        notes = _zone_notes(endings.to_list(), column.name)
        return read, True if options.zone is None else values.str.contains(ZONE_OF_ISO), notes
    reading = read_dates(values, options.day_first)
    if reading.micros.null_count() == values.len() and values.null_count() < values.len():
        return epochs(values.cast(pl.Float64, strict=False), column.name)
    unread = values.filter(reading.micros.is_null()).drop_nulls().cast(pl.Float64, strict=False)
    more: list[str] = [numbers_among_dates(column.name)] if (unread.abs() >= _SMALLEST_EPOCH).any() else []
    for name, others in column.beside.items() if reading.ambiguous else ():
        beside = read_dates(unnamed(others).unique().str.strip_chars()) if others.dtype == pl.String else None
        if beside is not None and beside.proven is not None and not beside.contradiction:
            reading, first = read_dates(values, beside.proven), "day" if beside.proven else "month"
            order = f'No date in "{column.name}" shows whether day or month comes first; they were read {first} first, as in '
            more.append(f'{order}"{name}".')
            break
    moments, zoned, notes = _of_dates(reading, column)
    return moments, zoned, [*notes, *more]


def _of_dates(reading: DateReading, column: Column) -> _Read:
    if reading.contradiction:
        one, other = reading.contradiction
        what = f'the dates in "{column.name}" contradict each other: in "{one}" the day comes first, in "{other}" the month'
        remedy = "Bring them into one order, or say which with --day-first or --month-first and add --drop-invalid"
        raise InputError(what, place=column.place_of(other), remedy=remedy)
    offsets = reading.offset.filter(reading.micros.is_not_null()).unique().to_list()
    notes = _zone_notes([None if offset is None else str(offset) for offset in offsets], column.name)
    if reading.ambiguous:
        notes.append(order_is_open(column.name, reading.ambiguous))
    if reading.short_year:
        notes.append(year_is_open(column.name, reading.short_year, year_first=reading.year_first))
    return reading.micros.cast(UTC_MICROSECONDS), reading.offset.is_not_null(), notes


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


def _by_format(values: pl.Series, pattern: str, column: Column) -> _Read:
    reading = dates.read_format(values, pattern)
    if reading is not None:
        return _of_dates(reading, column)
    zoned = "%z" in pattern or "%:z" in pattern or "%#z" in pattern
    chrono = pattern.replace(".%f", "%.f").replace("%z", "%#z").replace("%:z", "%#z")
    if ("%H" in pattern or "%I" in pattern) and "%M" not in pattern:  # Polars wants minutes with hours
        values, chrono = values + " 00", f"{chrono} %M"
    try:
        read = values.str.to_datetime(chrono, time_unit="us", strict=False)
    except pl.exceptions.PolarsError as error:
        remedy = "Use strftime codes, such as %d.%m.%Y %H:%M:%S"
        raise InputError(f'--timestamp-format "{pattern}" does not describe a moment', remedy=remedy) from error
    if zoned:
        return read, True, []
    return read.dt.replace_time_zone("UTC"), "%s" in pattern, [] if "%s" in pattern else [naive_note(column.name)]


def epochs(numbers: pl.Series, column: str, unit: EpochUnit | None = None) -> tuple[pl.Series, bool, list[str]]:
    """Unix times in this unit, or in the one that the largest says; that they are in a zone, which is UTC; and notes.

    Small numbers are not taken for times unless the unit is given. The unit is open where some number alone says another one.
    """
    notes = []
    if unit is None:
        unit, smallest = (_unit_of(size) for size in (numbers.abs().max(), numbers.abs().min()))
        if unit is None:
            return pl.Series(numbers.name, [None] * numbers.len(), UTC_MICROSECONDS), True, []
        name = _EPOCH_UNITS[unit][0]
        agreed = f'The numbers in "{column}" were read as Unix times in {name}.'
        notes.append(agreed if smallest == unit else unit_is_open(column, name))
    return (numbers * _EPOCH_UNITS[unit][2]).round().cast(pl.Int64, strict=False).cast(UTC_MICROSECONDS), True, notes


def _unit_of(size: object) -> EpochUnit | None:
    """What a number counts as a Unix time, by its size; None where it is no time at all."""
    if not isinstance(size, int | float) or not _SMALLEST_EPOCH <= size < 10**19:
        return None
    return next(unit for unit, (_, limit, _) in _EPOCH_UNITS.items() if size < limit)


def _zone_notes(offsets: list[str | None], column: str) -> list[str]:
    zones = {offset for offset in offsets if offset is not None}
    if not zones:
        return [naive_note(column)] if offsets else []
    if None in offsets:
        return [zone_is_open(column)]
    if len({"+00:00" if zone in ("Z", "+0000", "+00", "0") else zone for zone in zones}) > 1:
        return [f'The timestamps in "{column}" carry different time zones and were converted to UTC.']
    return []


def naive_note(column: str) -> str:
    """What is said about a column whose times are in no zone."""
    return f'The timestamps in "{column}" carry no time zone and were read as UTC.'


def read_timestamps(
    values: pl.Series, options: ReadOptions, column: str, place: Place, beside: Beside | None = None, optional: bool = False
) -> tuple[pl.Series, list[str]]:
    """Read a column as moments in time; `place(row)` says where a row comes from.

    An event may do without an `optional` one.
    """
    name, values = values.name, stripped(values, column, place)
    read, notes = read_moments(values, options, Column(column, place_in(values, place), beside or {}))
    moments, all_used = usable_moments(read, values, options, place, optional=optional)
    if optional and not all_used:
        notes.append(f'Some times in "{column}" cannot be used and were left out; their events stay.')
    return moments.alias(name), notes


def stripped(values: pl.Series, column: str, place: Place) -> pl.Series:
    """A column that may hold moments, text without the space around it and null where it is blank."""
    if not isinstance(values.dtype, pl.String | pl.Date | pl.Datetime | pl.Null) and not values.dtype.is_numeric():
        what = f'"{column}" is of the type {values.dtype} and holds no moments in time'
        raise InputError(what, place=place(0), remedy="Name another column with --timestamp or --start-timestamp")
    values = unnamed(values)
    if values.dtype == pl.String:
        values = values.str.strip_chars()
        values = values.set(values == "", None)
    return values


def usable_moments(
    read: pl.Series, values: pl.Series, options: ReadOptions, place: Place, *, optional: bool = False, continued: bool = False
) -> tuple[pl.Series, bool]:
    """The moments that lie in years of ours, and whether all that is not missing could be used; if not, an error by default.

    `continued` if other values of the column came before these.
    """
    micros = read.to_physical()
    low, high = micros.min(), micros.max()
    all_inside = isinstance(low, int) and isinstance(high, int) and _FIRST <= low <= high < _LAST
    if all_inside and read.null_count() == values.null_count():
        return read, True
    outside = ((micros < _FIRST) | (micros >= _LAST)).fill_null(False)
    unreadable = read.is_null() & values.is_not_null()
    if values.dtype.is_temporal():  # no clock of ours goes as far
        outside, unreadable = outside | unreadable, unreadable.clear(unreadable.len()).fill_null(False)
    bad = unreadable if unreadable.any() else outside
    if not bad.any() or options.drop_invalid:
        return read.set(outside, None), not bad.any()
    row = int(bad.arg_true()[0])
    remedy = f"or {'leave such times out' if optional else 'drop such events'} with --drop-invalid"
    if bad is outside:
        shown = "" if read.is_null()[row] else f" {quoted(values[row])}"
        what = f"timestamp{shown} is outside the years {FIRST_YEAR} to {LAST_YEAR}, most likely a placeholder"
        raise InputError(what, place=place(row), remedy=f"Correct it, {remedy}")
    correction, at_once = "Give the format with --timestamp-format", row == 0 and not continued
    if options.epoch_unit or options.timestamp_format:
        correction = f"Correct {'--epoch-unit' if options.epoch_unit else '--timestamp-format'}"
    elif at_once and _NUMBER.fullmatch(str(values[row])):
        correction = "Say --epoch-unit s, ms, us or ns if all times are Unix times, or give the format with --timestamp-format"
    remedy = correction if at_once else f"{correction}, {remedy}"  # the first of all is hardly an exception
    raise InputError(f"timestamp {quoted(values[row])} cannot be read", place=place(row), remedy=remedy)


def are_days(values: pl.Series, options: ReadOptions) -> bool:
    """Whether a column of dates never tells the time of day."""
    if values.dtype not in (pl.String, pl.Date) and values.dtype != pl.Datetime:
        return False
    days = unnamed(values)
    try:
        moments, _ = read_moments(days.str.strip_chars() if days.dtype == pl.String else days, options, Column(values.name))
    except InputError:
        return False
    return moments.null_count() < moments.len() and bool((moments.dt.time() == time()).all())


def looks_like_timestamps(values: pl.Series, options: ReadOptions, *, epochs: bool = True) -> bool:
    """Whether nearly all values of a column read as dates, judged by a sample; bare numbers count only with `epochs`."""
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
