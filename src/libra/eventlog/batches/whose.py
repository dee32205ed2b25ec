"""Whose case an event belongs to, some events at a time: equal values for the same individual, as `individuals` tells them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from libra.errors import InputError
from libra.eventlog.columns import unnamed
from libra.eventlog.tables.attributes import as_attributes, as_individual, one_zero
from libra.eventlog.tables.roles import FLAGS

_REMEDY = f"Choose a column with one value for all events of a case for {FLAGS['individual']}"


def whose_events(values: pl.Series, usable: pl.Series | None, place: Callable[[int], str], *, may_lack: bool) -> pl.Series:
    """The individual of every event: whole numbers as they are, else text, null where it says nothing.

    Only what `may_lack` it may be missing in an event that is `usable`.

    Example:
        >>> whose_events(pl.Series(["ann", " "]), None, str, may_lack=False).to_list()
        ['ann', None]
    """
    name, values = values.name, unnamed(as_individual(values))
    if not values.dtype.is_integer():
        typed = as_attributes(values.to_frame())[0]
        if not typed.width and not may_lack:
            raise InputError(f'"{name}" cannot say whose case it is', place=place(0), remedy=_REMEDY)
        values = typed.to_series() if typed.width else pl.repeat(None, len(values), dtype=pl.String, eager=True)
    if values.null_count() and not may_lack:
        lacking = values.is_null() if usable is None else values.is_null() & usable
        if lacking.any():
            raise InputError(f'no value in "{name}"', place=place(int(lacking.arg_true()[0])), remedy=_REMEDY)
    if values.dtype.is_integer() and not may_lack:
        return values
    text = (one_zero(values) if values.dtype.is_float() else values).cast(pl.String)
    return text.set((text.str.strip_chars() == "").fill_null(False), None)


def own_where_none(whose: pl.Series, case: pl.Series) -> pl.Series:
    r"""The individuals, and for an event that does not say whose it is one that only its case has.

    Example:
        >>> own_where_none(pl.Series(["ann", None]), pl.Series(["x", "y"])).to_list()
        ['ann', '\x00y']
    """
    if not whose.null_count():
        return whose
    own = pl.DataFrame({"case": case}).select(pl.format("\0{}", "case")).to_series()
    return whose.cast(pl.String).zip_with(whose.is_not_null(), own)
