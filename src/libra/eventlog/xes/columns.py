"""Attributes on their way from XES text to typed columns.

An attribute is of the type it is declared with. Where the declarations differ, or a value is not of its declared type, the whole
column is text (float, where they are int and float): what is read never depends on where the pieces were cut. Whatever type a
column has, `as_text` of it says of each value what it says of that value alone: ids and labels are that text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError
from libra.eventlog.options import Place
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.values import as_text

NAIVE = "Some timestamps carry no time zone and were read as UTC."
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
FLOATS = {"INF": "inf", "+INF": "inf", "-INF": "-inf", "Infinity": "inf", "-Infinity": "-inf", "nan": "NaN"}
_EXACT = 2**53


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


class Columns:
    """The attributes of all cases, or of all events, as they come in."""

    def __init__(self) -> None:
        self.height = 0
        self.zones: dict[str, dict[bool, tuple[int, str]]] = defaultdict(dict)  # key to first row and value with and without one
        self.unreadable: dict[str, str] = {}  # key and declared type of values that are not of that type
        self.mixed: dict[str, str] = {}  # key and the types it was declared with
        self.first_unreadable: dict[str, tuple[int, str]] = {}  # key to row and value
        self._values: dict[tuple[str, str], list[pl.Series]] = defaultdict(list)
        self._owners: dict[tuple[str, str], list[npt.NDArray[np.uint32]]] = defaultdict(list)

    def add(self, parts: Sequence[Part], height: int) -> None:
        """Take in the parts of the next `height` cases or events."""
        for part in parts:
            self._values[part.key, part.type].append(self._typed(part))
            self._owners[part.key, part.type].append((part.owners + self.height).astype(np.uint32))
        self.height += height

    def frame(self) -> pl.DataFrame:
        """All of them, one row an owner."""
        by_key: dict[str, dict[str, pl.Series]] = defaultdict(dict)
        for (key, kind), pieces in self._values.items():
            together = pl.concat(_in_one_type(pieces))
            by_key[key][kind] = _spread(together, np.concatenate(self._owners[key, kind]), self.height)
        columns = {key: self._settled(key, kinds) for key, kinds in by_key.items()}
        return pl.DataFrame(columns) if columns else pl.DataFrame(height=self.height)

    def notes(self) -> list[str]:
        """What is worth knowing about the types, as sentences; complete once `frame` has been asked for."""
        notes = [NAIVE] if any(False in found for found in self.zones.values()) else []
        reasons = (
            (self.mixed, "declared with different types in different places"),
            (self.unreadable, "with values that are not of their declared type"),
        )
        for found, why in reasons:
            if found:
                listed = ", ".join(f"{key} ({types})" for key, types in sorted(found.items()))
                notes.append(f"Attributes {why} were read as text: {listed}.")
        return notes

    def _typed(self, part: Part) -> pl.Series:
        """The values as declared; as text if any of them is not, the others in the spelling of their type."""
        values = part.values
        if part.type == "date":
            read, naive = read_iso_dates(values)
            for has_zone, where in ((True, ~naive & read.is_not_null()), (False, naive)):
                if where.any():
                    row = int(where.arg_true()[0])
                    self.zones[part.key].setdefault(has_zone, (self.height + int(part.owners[row]), values[row]))
        elif part.type == "boolean":
            read = values.str.to_lowercase().replace_strict(BOOLEANS, default=None, return_dtype=pl.Boolean)
        elif part.type == "int":
            read = values.cast(pl.Int64, strict=False)
        elif part.type == "float":
            read = values.cast(pl.Float64, strict=False)
            if read.null_count():
                read = values.replace(FLOATS).cast(pl.Float64, strict=False)
        else:
            return values
        if not read.null_count():
            return read
        self.unreadable[part.key] = part.type
        row = int(read.is_null().arg_true()[0])
        self.first_unreadable.setdefault(part.key, (self.height + int(part.owners[row]), values[row]))
        return as_text(read).zip_with(read.is_not_null(), values)

    def first_declared(self, key: str) -> dict[str, int]:
        """For every type that a key is declared with the first row that does so."""
        return {kind: int(owners[0][0]) for (of, kind), owners in self._owners.items() if of == key and len(owners[0])}

    def _settled(self, key: str, kinds: dict[str, pl.Series]) -> pl.Series:
        """One column of those with the same key and different declared types."""
        columns = list(kinds.values())
        if {column.dtype for column in columns} == {pl.Int64(), pl.Float64()} and all(map(_is_exact, columns)):
            columns = [column.cast(pl.Float64) for column in columns]
        elif len({column.dtype for column in columns}) > 1:
            self.mixed[key] = ", ".join(sorted(kinds))
            self.unreadable.pop(key, None)
        first, *others = _in_one_type(columns)
        for other in others:
            first = first.zip_with(first.is_not_null(), other)
        return first


def _is_exact(numbers: pl.Series) -> bool:
    """Whether floats can hold them all: beyond that, two whole numbers would become one."""
    return numbers.dtype == pl.Float64 or bool(numbers.is_between(-_EXACT, _EXACT).all())


def _in_one_type(columns: Sequence[pl.Series]) -> list[pl.Series]:
    """The columns as they are if they are of one type, else as text."""
    same = len({column.dtype for column in columns}) == 1
    return list(columns) if same else [as_text(column) for column in columns]


def texts(parts: Sequence[Part], key: str, height: int) -> pl.Series:
    """What stands under a key as labels or ids, null where nothing does: each value by itself, as `as_text` of its column."""
    found = [part for part in parts if part.key == key]
    typed = Columns()
    return spread([as_text(typed._typed(part)) for part in found], [part.owners for part in found], height)


def spread(values: Sequence[pl.Series], owners: Sequence[npt.NDArray[np.int64]], height: int) -> pl.Series:
    """Values, each at its owner; null where there is none."""
    together = pl.concat(values) if values else pl.Series([], dtype=pl.String)
    return _spread(together, np.concatenate(owners) if owners else np.zeros(0, np.int64), height)


def _spread(values: pl.Series, owners: npt.NDArray[np.integer], height: int) -> pl.Series:
    if len(values) == height and (np.diff(owners.astype(np.int64)) > 0).all():  # every owner has one, in order
        return values
    source = np.full(height, len(values), np.uint32)  # what lies behind the values: a null
    source[owners] = np.arange(len(values), dtype=np.uint32)
    return values.extend_constant(None, 1)[source]


class XesColumns:
    """The attributes of some keys; `first` are those of the first traces, each of so many owners.

    Example:
        >>> part = Part("age", "int", np.array([1]), pl.Series(["71"]))
        >>> XesColumns(["age"], [[part]]).frame([part], 2, str)["age"].to_list()
        [None, 71]
    """

    def __init__(self, keys: Collection[str], first: Sequence[Sequence[Part]]) -> None:
        self._keys = keys
        self._telling: list[Part] = []  # one value of each declared type, and one that is not of it
        for parts in first:
            self._remember(self._of_keys(parts))
        self._types = self._typed([], 0)[0].schema

    def frame(self, parts: Sequence[Part], height: int, place: Place) -> pl.DataFrame:
        """The attributes of the next `height` owners; `place` says where one of them is."""
        parts = self._of_keys(parts)
        typed, before = self._typed(parts, height)
        for name, dtype in self._types.items():
            if typed.schema[name] != dtype:
                owner = min(int(part.owners[0]) for part in parts if part.key == name)
                what = f'the attribute "{name}" is from here on not of the type it had ({dtype})'
                raise InputError(what, place=place(owner), remedy="Declare it with one type throughout the file")
        self._remember(parts)
        missing = [name for name in self._keys if name not in typed.columns]
        nothing = [pl.repeat(None, typed.height, dtype=pl.String, eager=True).alias(name) for name in missing]
        return typed.with_columns(nothing)[before:]

    def _of_keys(self, parts: Sequence[Part]) -> list[Part]:
        return [part for part in parts if part.key in self._keys and len(part.owners)]

    def _typed(self, parts: Sequence[Part], height: int) -> tuple[pl.DataFrame, int]:
        """The parts with the telling ones before them, and how many rows those take."""
        columns = Columns()
        for part in self._telling:
            columns.add([part], 1)
        before = columns.height
        columns.add(parts, height)
        return columns.frame(), before

    def _remember(self, parts: Sequence[Part]) -> None:
        known = {(part.key, part.type) for part in self._telling}
        for part in parts:
            columns = Columns()
            if (part.key, part.type) not in known:
                self._telling.append(_alone(part, part.values[0]))
            if part.type not in ("string", "id"):
                columns.add([part], int(part.owners[-1]) + 1)
            for _, value in columns.first_unreadable.values():
                self._telling.append(_alone(part, value))
        self._telling = list({(part.key, part.type, part.values[0]): part for part in self._telling}.values())


def _alone(part: Part, value: str) -> Part:
    return Part(part.key, part.type, np.zeros(1, np.int64), pl.Series([value], dtype=pl.String))
