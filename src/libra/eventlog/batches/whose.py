"""Whose case an event belongs to, some events at a time: equal values for the same individual, as `individuals` tells them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from libra.errors import InputError
from libra.eventlog.tables.flat import identity
from libra.eventlog.tables.roles import FLAGS

_REMEDY = f"Choose a column with one value for all events of a case for {FLAGS['individual']}"
_MARKED = "^[\0\1]"  # begins like those that `own_where_none` makes up, which no name may be taken for


def whose_events(values: pl.Series, usable: pl.Series | None, place: Callable[[int], str], *, may_lack: bool) -> pl.Series:
    """The individual of every event: whole numbers as they are, else text, null where it says nothing.

    Only what `may_lack` it may be missing in an event that is `usable`.

    Example:
        >>> whose_events(pl.Series(["ann", " "]), None, str, may_lack=False).to_list()
        ['ann', None]
    """
    whose = identity(values, place)
    if whose.null_count() and not may_lack:
        lacking = whose.is_null() if usable is None else whose.is_null() & usable
        if lacking.any():
            raise InputError(f'no value in "{values.name}"', place=place(int(lacking.arg_true()[0])), remedy=_REMEDY)
    if whose.dtype.is_integer() and not may_lack:
        return whose.fill_null(0)  # only events that are left out
    text = whose.cast(pl.String)
    text = text.set((text.str.strip_chars() == "").fill_null(False), None)
    first = text.min()
    return text.str.replace(_MARKED, "\1$0") if isinstance(first, str) and first < "\2" else text


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
