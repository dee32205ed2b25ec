"""Attributes of an XES file in the types they have throughout it, some traces at a time.

In: the attributes of the first traces, then of more. Out: a frame, a column a key, in the types that `xes.columns` finds for the
whole file. An attribute whose type the first traces do not tell right is an `InputError`: it would have been read otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import polars as pl

from libra.errors import InputError
from libra.eventlog.xes.columns import Columns
from libra.eventlog.xes.parts import Part


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

    def frame(self, parts: Sequence[Part], height: int, place: Callable[[int], str]) -> pl.DataFrame:
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
