"""Attributes of traces and events on their way from XES text to typed columns.

Both parsers (the fast one of `xes.tokens` and the exact one of `xes.exact`) produce `Part`s: the values of one attribute as
text, each with the position of its trace or event. `to_frame` turns the parts of a piece of the file into a typed frame, and
`stack` puts the frames of all pieces together, where an attribute may have been declared differently in different places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import CASE_INDEX, TIMESTAMP

NUMERIC: dict[str, pl.DataType] = {"int": pl.Int64(), "float": pl.Float64()}
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
FLOATS = {"INF": "inf", "+INF": "inf", "-INF": "-inf", "Infinity": "inf", "-Infinity": "-inf", "nan": "NaN"}


@dataclass(frozen=True)
class Part:
    """The values of attribute `key`, declared as XES type `type`; `owners` counts traces or events within the piece."""

    key: str
    type: str
    owners: npt.NDArray[np.int64]
    values: pl.Series


@dataclass(frozen=True)
class Piece:
    """Some whole traces of a file: parts of traces and of events, and the trace (within the piece) of every event."""

    n_cases: int
    case_of_event: npt.NDArray[np.int64]
    case_parts: Sequence[Part]
    event_parts: Sequence[Part]


@dataclass
class Findings:
    """What is to be told about the attributes at the end; filled while pieces are converted."""

    unreadable: dict[str, str] = field(default_factory=dict)  # key and declared type of values that are not of that type
    mixed: dict[str, str] = field(default_factory=dict)  # key and the types it was declared with
    naive: bool = False  # some timestamp had no zone
    bad_times: dict[str, tuple[int, str]] = field(default_factory=dict)  # date key -> first event (in all) and its value

    def notes(self) -> list[str]:
        """The findings as sentences."""
        notes = ["Some timestamps carry no time zone and were read as UTC."] if self.naive else []
        if self.mixed:
            listed = ", ".join(f"{key} ({types})" for key, types in sorted(self.mixed.items()))
            notes.append(f"Attributes declared with different types in different places were read as text: {listed}.")
        if self.unreadable:
            listed = ", ".join(f"{key} ({kind})" for key, kind in sorted(self.unreadable.items()))
            notes.append(f"Attributes with values that are not of their declared type were read as text: {listed}.")
        return notes


def to_frame(parts: Sequence[Part], height: int, first_row: int, findings: Findings) -> pl.DataFrame:
    """One column for every part, typed as declared where all values allow it, missing values null.

    An attribute declared with two types in one piece gives text, except for int and float, which give float.
    """
    columns: dict[str, pl.Series] = {}
    for part in parts:
        column = _spread(_typed(part, first_row, findings), part.owners, height)
        earlier = columns.get(part.key)
        columns[part.key] = column if earlier is None else _merge(part.key, earlier, column, findings)
    return pl.DataFrame([column.alias(key) for key, column in columns.items()]) if columns else pl.DataFrame(height=height)


def stack(frames: Sequence[pl.DataFrame], findings: Findings) -> pl.DataFrame:
    """All pieces below each other; a column that changes its type along the way becomes text (or float, of numbers)."""
    types: dict[str, pl.DataType] = {}
    for frame in frames:
        for key, dtype in frame.schema.items():
            types[key] = _common(key, types.get(key, dtype), dtype, findings)
    aligned = [
        frame.with_columns(_as(frame[key], types[key]).alias(key) for key in frame.columns if frame.schema[key] != types[key])
        for frame in frames
    ]
    return pl.concat(aligned, how="diagonal") if aligned else pl.DataFrame()


def _typed(part: Part, first_row: int, findings: Findings) -> pl.Series:
    values = part.values
    if part.type == "date":
        read, naive = read_iso_dates(values)
        findings.naive |= naive
        bad = read.is_null() & values.is_not_null()
        if bad.any():
            worst = bad.arg_true()[0]
            findings.bad_times.setdefault(part.key, (first_row + int(part.owners[worst]), values[worst]))
    elif part.type == "boolean":
        read = values.str.to_lowercase().replace_strict(BOOLEANS, default=None, return_dtype=pl.Boolean)
    elif part.type in NUMERIC:
        read = values.cast(NUMERIC[part.type], strict=False)
        if part.type == "float" and read.null_count() > values.null_count():
            read = values.replace(FLOATS).cast(pl.Float64, strict=False)
    else:
        return values
    if read.null_count() > values.null_count() and part.key != TIMESTAMP:  # there it is an error with its place
        findings.unreadable[part.key] = part.type
        return values
    return read


def read_iso_dates(values: pl.Series) -> tuple[pl.Series, bool]:
    """ISO 8601 text as UTC timestamps, null where it is none; and whether any had no zone.

    Example:
        >>> read_iso_dates(pl.Series(["2024-05-06T08:00:00.5+02:00", "2024-05-06T08:00:00", "today"]))[0].dt.hour().to_list()
        [6, 8, None]
    """
    read = values.str.to_datetime("%+", time_unit="us", strict=False).cast(UTC_MICROSECONDS)
    naive = False
    for form in ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d"):
        if read.null_count() == values.null_count():
            break
        rest = (read.is_null() & values.is_not_null()).arg_true()
        text = values.gather(rest).str.replace(" ", "T", literal=True)
        if form == "%Y-%m-%d":
            found = text.str.to_date(form, strict=False).cast(pl.Datetime("us"))
        else:
            found = text.str.to_datetime(form, time_unit="us", strict=False)
        if not form.endswith("z"):
            naive |= found.null_count() < len(found)
            found = found.dt.replace_time_zone("UTC")
        read = read.scatter(rest, found.cast(UTC_MICROSECONDS))
    return read, naive


def _spread(values: pl.Series, owners: npt.NDArray[np.int64], height: int) -> pl.Series:
    if len(values) == height:  # every owner has one, in order
        return values
    source = np.full(height, len(values), np.uint32)  # what lies behind the values: a null
    source[owners] = np.arange(len(values), dtype=np.uint32)
    return values.extend_constant(None, 1)[source]


def _merge(key: str, one: pl.Series, other: pl.Series, findings: Findings) -> pl.Series:
    dtype = _common(key, one.dtype, other.dtype, findings)
    one, other = _as(one, dtype), _as(other, dtype)
    return one.zip_with(one.is_not_null(), other)


def _common(key: str, one: pl.DataType, other: pl.DataType, findings: Findings) -> pl.DataType:
    if one == other:
        return one
    if {one, other} == {pl.Int64(), pl.Float64()}:
        return pl.Float64()
    if key not in findings.unreadable:
        words = {_word(one), _word(other), *findings.mixed.get(key, "").split(", ")} - {""}
        findings.mixed[key] = ", ".join(sorted(words))
    return pl.String()


def _as(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype == pl.String and values.dtype == UTC_MICROSECONDS:
        return values.dt.to_string("iso:strict")
    return values.cast(dtype)


def _word(dtype: pl.DataType) -> str:
    names = {pl.Int64(): "int", pl.Float64(): "float", pl.Boolean(): "boolean", UTC_MICROSECONDS: "date"}
    return names.get(dtype, "string")


def frames_of(piece: Piece, cases_before: int, events_before: int, findings: Findings) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The events (with `@case`) and the cases of a piece as typed frames; positions count on from what came before."""
    events = to_frame(piece.event_parts, len(piece.case_of_event), events_before, findings)
    index = pl.Series(CASE_INDEX, piece.case_of_event + cases_before).cast(pl.UInt32)
    return events.insert_column(0, index), to_frame(piece.case_parts, piece.n_cases, cases_before, findings)
