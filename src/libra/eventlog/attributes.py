"""Attributes that may be released: what is declared of each, and what each value says by itself.

An `Attribute` comes from the log's description and is public. `case_values` and `event_values` bring the values of a log into one
form: text for categories, whole numbers for everything else (units of the last decimal, microseconds, 0 and 1). What a value
becomes depends on that value and on the declaration alone, and what a case has depends on that case alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError, UsageError, did_you_mean
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import CASE_INDEX, CASE_PREFIX, LIFECYCLE, RESOURCE, unnamed
from libra.eventlog.options import Place
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.values import COMMA_NUMBER, as_text

Integers = npt.NDArray[np.int64]
Kind = Literal["boolean", "category", "number", "date"]
Level = Literal["case", "event"]
DAYS = "days"  # the unit of a date without a time of day
SECOND, DAY = 1_000_000, 86_400_000_000  # microseconds
FARTHEST = 10**12  # seconds: no date is as far from another, and so many microseconds fit into 64 bits
MOST_DECIMALS = 9
LARGEST = 10**15  # units of the last decimal: numbers beyond it count as it, and floats hold every whole number up to there
OTHERWISE = "add it to missing if it means no value, describe the attribute otherwise, or set release = false"
EXACT = 2**53  # below it floats hold every whole number
ROLES_THEY_PLAY = {"lifecycle": LIFECYCLE, "resource": RESOURCE}  # what is released of these roles, under the standard's name
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


@dataclass(frozen=True)
class Attribute:
    """What is declared of an attribute; all of it is public.

    An attribute of the case has one value a case: that of a `case:` column; or, in a column of events, the first value that an
    event of the case has, with `at` the first that an event of that activity has. An attribute of events has one for each event.

    Example:
        >>> Attribute("Age", "number", at="ER Registration", lowest=0, highest=110).to_dict()
        {'name': 'Age', 'kind': 'number', 'at': 'ER Registration', 'lowest': 0, 'highest': 110}
    """

    name: str  # of its column in a flat table: that of an attribute of the case in XES begins with "case:"
    kind: Kind
    level: Level = "case"
    at: str | None = None  # the activity whose first event has the value; None where every event has it, or the case itself
    values: tuple[str, ...] | None = None  # all that a category can be, from outside the log; None where they are private
    lowest: float | None = None  # of numbers, or of dates in days from the start of the case: what is below counts as this
    highest: float | None = None
    decimals: int = 0
    unit: str = ""
    counter: bool = False  # whether a number of events only grows along a case: its increments are released
    missing: tuple[str, ...] = ()  # texts that mean that there is no value, beside none and blank ones
    release: bool = True  # whether it may be released; what is said of the others does not change how a log is read

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.kind not in get_args(Kind) or self.level not in get_args(Level):
            raise UsageError(f'The attribute "{self.name}" is of no known kind or level: {self.kind!r}, {self.level!r}.')
        if (self.lowest, self.highest) != (None, None):
            low, high = (-math.inf if self.lowest is None else self.lowest), (math.inf if self.highest is None else self.highest)
            if self.kind not in ("number", "date"):
                raise UsageError(f'"{self.name}" is a {self.kind}: bounds (lowest, highest) are for numbers and dates.')
            if not low < high:
                raise UsageError(f'The lowest of "{self.name}" ({low:.12g}) has to be below its highest ({high:.12g}).')
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise UsageError(f'"{self.name}" can have from 0 to {MOST_DECIMALS} decimals, not {self.decimals}.')
        if self.kind == "date" and self.unit not in ("", DAYS):
            raise UsageError(f'The unit of "{self.name}" is "{DAYS}" or nothing: dates are whole days, or whole seconds.')
        if self.kind in ("number", "date") and self.bounds[0] > self.bounds[1]:
            what = (
                f"number with {self.decimals} decimals" if self.kind == "number" else "whole day" if self.unit else "whole second"
            )
            raise UsageError(f'No {what} is within the bounds of "{self.name}".')
        self._refuse_texts()
        if self.at is not None and (self.level == "event" or self.in_cases):
            raise UsageError(f'"{self.name}" has a value for every event or case, so that "at" cannot name an activity.')
        if self.level == "event" and self.name.startswith(CASE_PREFIX):
            raise UsageError(f'"{self.name}" is a column of cases, and cannot have another value for each event.')
        if self.counter and (self.kind != "number" or self.level != "event"):
            raise UsageError(f'"{self.name}" is called a counter, and only a number of events can be one.')

    def _refuse_texts(self) -> None:
        """Refuse lists of texts that no value of a log can be, or that contradict each other."""
        values = self.values or ()
        if self.values is not None and self.kind != "category":
            raise UsageError(f'"{self.name}" is a {self.kind}: a list of values is for categories.')
        if self.values is not None and not values:
            raise UsageError(f'The list of values of "{self.name}" is empty. Remove it if the values are private.')
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise UsageError(f'The list of values of "{self.name}" has "{twice}" twice.')
        for key, texts in {"values": values, "missing": self.missing}.items():
            if padded := next((text for text in texts if text.strip() not in ("", text)), None):
                raise UsageError(f'In {key} of "{self.name}" remove the spaces around "{padded}": values are read without them.')
        if not all(value.strip() for value in values):
            raise UsageError(f'The list of values of "{self.name}" has an empty text, which means that there is no value.')
        if both := {*values} & {*self.missing}:
            raise UsageError(f'"{min(both)}" is in values and in missing of "{self.name}": remove it from one of them.')

    @property
    def in_cases(self) -> bool:
        """Whether it is a column of cases."""
        return self.level == "case" and self.name.startswith(CASE_PREFIX)

    @property
    def grain(self) -> int:
        """What a date is a whole number of, from the start of its case or its event, in microseconds."""
        return DAY if self.unit == DAYS else SECOND

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest number in units of the last decimal; of a date, in grains from the start."""
        most, unit = (FARTHEST * SECOND // self.grain, DAY // self.grain) if self.kind == "date" else (LARGEST, 10**self.decimals)
        low = -LARGEST if self.lowest is None else max(self.lowest, -LARGEST)
        high = LARGEST if self.highest is None else min(self.highest, LARGEST)
        lowest, highest = (Decimal(str(bound)) * unit for bound in (low, high))  # 0.29 is 29 hundredths, not 28.99
        return max(math.ceil(lowest), -most), min(math.floor(highest), most)

    def begins(self, starts: Integers) -> Integers:
        """From where its dates are counted: the start itself, or its day where they are whole days."""
        return starts // DAY * DAY if self.unit == DAYS else starts

    def to_dict(self) -> dict[str, Any]:
        """What is said of it, JSON-ready, without what is as by default."""
        said = {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Attribute:
        """An attribute from what `to_dict` gives; a `UsageError` for anything else."""
        said: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
        try:
            return cls(**said)
        except TypeError as error:
            raise UsageError(f"attributes has something that is no declaration: {dict(plain)!r}.") from error


def by_level(attributes: Sequence[Attribute]) -> tuple[list[Attribute], list[Attribute]]:
    """Attributes of cases, and attributes of events."""
    return [one for one in attributes if one.level == "case"], [one for one in attributes if one.level == "event"]


def column_of(attribute: Attribute, roles: Mapping[str, Sequence[str]]) -> str:
    """The column of a table that has the values of an attribute: of resources and transitions, the one that plays that role.

    Example:
        >>> column_of(Attribute("org:resource", "category", "event"), {"resource": ("Clerk",)})
        'Clerk'
    """
    playing = next((roles[role][0] for role, name in ROLES_THEY_PLAY.items() if name == attribute.name and role in roles), None)
    return attribute.name if playing is None else playing


def plain_values(values: pl.Series, attribute: Attribute, place: Place = "".format) -> pl.Series:
    """A column as text (categories) or whole numbers (all others); null where there is no value.

    A value that is none of its kind is an `InputError`; `place` says where a row stands. Dates as text are ISO 8601. A text that
    means no value does so as it stands, or as the number, date or truth that it says: whether a column is text or has a type
    depends on all of its values, and what one of them means must not.

    Example:
        >>> plain_values(pl.Series(["1.25", "", "7", "400"]), Attribute("x", "number", decimals=1, highest=100)).to_list()
        [12, None, 70, 1000]
    """
    if attribute.kind == "number" and values.dtype.is_numeric() and not attribute.missing:
        return _in_units(unnamed(values).cast(pl.Float64), attribute)  # what these say needs no text
    text = _text(values, attribute)
    if attribute.kind == "category":
        return text
    if attribute.kind == "boolean":
        said = lower = text.str.to_lowercase()
        found = lower.replace_strict({**dict.fromkeys(TRUE, 1), **dict.fromkeys(FALSE, 0)}, default=None, return_dtype=pl.Int64)
    elif attribute.kind == "date":
        moments = unnamed(values) if values.dtype == UTC_MICROSECONDS else read_iso_dates(text)[0]
        said, found = as_text(moments) if attribute.missing else text, moments.to_physical().cast(pl.Int64)
        found = found // DAY * DAY if attribute.unit == DAYS else found
    else:
        numbers = (unnamed(values) if values.dtype.is_numeric() else text.cast(pl.Float64, strict=False)).cast(pl.Float64)
        text = text.set(numbers.is_nan().fill_null(False), None)  # which says that there is no number
        said = as_text(numbers.set(numbers.abs() >= EXACT, None)) if attribute.missing else text
        found = _in_units(numbers, attribute)
    if attribute.missing:
        text = text.set(said.is_in(list(attribute.missing)).fill_null(False), None)
    lost = text.is_not_null() & found.is_null()
    if lost.any():
        row = int(lost.arg_true()[0])
        what = f'"{attribute.name}" is described as a {attribute.kind}, and "{text[row][:60]}" is none'
        comma = attribute.kind == "number" and "," in text[row]
        first = "If the comma is its decimal mark, correct --decimal; if not, correct it" if comma else "Correct it"
        first = "Write dates as YYYY-MM-DD, with or without a time (ISO 8601)" if attribute.kind == "date" else first
        remedy = f"{first}, {OTHERWISE}"
        raise InputError(what, place=place(row), remedy=remedy)
    return found.set(text.is_null(), None)


def _in_units(numbers: pl.Series, attribute: Attribute) -> pl.Series:
    """Numbers within their bounds, in units of the last decimal; null where there is none."""
    units: pl.Series = (numbers.fill_nan(None) * 10**attribute.decimals).clip(*attribute.bounds)
    return units.round(mode="half_to_even").cast(pl.Int64)


def from_text(text: pl.Series, attribute: Attribute, decimal: str | None, place: Place) -> pl.Series:
    """A column of a text file: nothing where it says that there is no value, and numbers with a decimal point.

    Example:
        >>> from_text(pl.Series(["1,25", " ", "7"]), Attribute("x", "number", decimals=1), ",", "".format).to_list()
        ['1.25', None, '7']
    """
    text = _text(text, attribute)
    if attribute.kind != "number" or decimal != ",":
        return text
    misfits = text.str.contains(".", literal=True).fill_null(False)
    if misfits.any():
        row = int(misfits.arg_true()[0])
        what = f'"{text[row][:60]}" in "{attribute.name}" is no number with a decimal comma'
        remedy = f"Write numbers without thousands separators, correct --decimal, {OTHERWISE}"
        raise InputError(what, place=place(row), remedy=remedy)
    return text.str.replace(",", ".", literal=True).zip_with(text.str.contains(COMMA_NUMBER).fill_null(False), text)


def _text(values: pl.Series, attribute: Attribute) -> pl.Series:
    """The values as text, null where they say that there is none."""
    text = as_text(values)
    if values.dtype == pl.String:
        text = text.str.strip_chars()
        text = text.set(text == "", None)
    return text.set(text.is_in(list(attribute.missing)), None) if attribute.missing else text


def event_values(log: EventLog, attribute: Attribute) -> pl.Series:
    """For every event the value of an attribute, in the form of `plain_values`; none where the log has no such column.

    A column without any value is not kept in a log. That there is one in the file, `checked_columns` sees to when it is read.
    """
    return plain_values(_column(log.events, attribute.name), attribute)


def case_values(log: EventLog, attribute: Attribute) -> pl.Series:
    """For every case the value of an attribute of the case, in the form of `plain_values`."""
    if attribute.in_cases:
        return plain_values(_column(log.cases, attribute.name.removeprefix(CASE_PREFIX)), attribute)
    cases, column = log.events[CASE_INDEX], _column(log.events, attribute.name)
    if attribute.at is not None:
        code = dict(zip(log.activities, range(len(log.activities)), strict=True)).get(attribute.at, len(log.activities))
        here = pl.Series(log.activity_codes == code)
        cases, column = cases.filter(here), column.filter(here)
    values = plain_values(column, attribute)
    case = cases.filter(values.is_not_null()).to_numpy()
    first = np.flatnonzero(np.diff(case.astype(np.int64), prepend=-1))  # the events of a case are next to each other
    place = np.full(log.n_cases, -1)
    place[case[first]] = first
    places = pl.Series(place)
    return values.drop_nulls().gather(places.set(places < 0, None))


def checked_columns(
    events: pl.DataFrame, cases: pl.DataFrame, attributes: Sequence[Attribute], source: str, places: tuple[Place, Place]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frames of a log on its way, with nothing where an attribute says that it has no value.

    An `InputError` for an attribute that has no column, or a value that is none of its kind; `places` say where a row of events,
    and a row of cases, stands.
    """
    known = [*(name for name in events.columns if name != CASE_INDEX), *(CASE_PREFIX + name for name in cases.columns)]
    for attribute in attributes:
        if attribute.name not in known:
            raise no_column(attribute.name, known, source)
        if attribute.in_cases:
            cases = _without_blanks(cases, attribute.name.removeprefix(CASE_PREFIX), attribute, places[1])
        elif attribute.name in events.columns:
            events = _without_blanks(events, attribute.name, attribute, places[0])
    return events, cases


def no_column(name: str, known: Sequence[str], source: str) -> InputError:
    """The error for an attribute of a description that no column holds."""
    what, prefixed = f'there is no column "{name}", which is described', CASE_PREFIX + name
    close = did_you_mean(prefixed if prefixed in known else name, known).strip()
    return InputError(what, place=source, remedy=f"{close} Correct its name, or remove its description".strip())


def changes_within(attribute: Attribute, place: str) -> InputError:
    """The error for an attribute of the case that has two values in one."""
    what = f'"{attribute.name}" is described as an attribute of the case and changes within one'
    return InputError(what, place=place, remedy="Correct the file")


def _without_blanks(frame: pl.DataFrame, name: str, attribute: Attribute, place: Place) -> pl.DataFrame:
    """A frame with nothing where a column says that there is no value."""
    values = frame[name]
    blank = plain_values(values, attribute, place).is_null()
    return frame if blank.sum() == values.null_count() else frame.with_columns(unnamed(values).set(blank, None).alias(name))


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    return frame[name] if name in frame.columns else pl.repeat(None, frame.height, dtype=pl.String, eager=True)
