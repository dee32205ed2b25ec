"""Attributes of the small logs of an audit: those that a mechanism is asked for, or two of cases where it is asked for none.

A case says of each of its values only whether it is a common one, another that many have, or one of its own: an extreme number, a
text that nobody else has, no boolean at all. The declaration of an attribute says what that is. What a case says is a pair: of
attributes of cases, and of the events of a case, every other one follows its first or second half. So both halves of a case
differ in values that nobody else has together, if all others have the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from libra.eventlog.attributes import DAY, Attribute, plain_values
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import CASE_PREFIX

COMMON, OTHER, RARE = range(3)
RELEASED = (Attribute(f"{CASE_PREFIX}group", "category"), Attribute(f"{CASE_PREFIX}amount", "number"))
TEXTS = ("common", "other", "rare")
RARE_AMOUNT = 1_000_000
RARE_DATES = 21_915  # 60 years in days, from the start of the case
TYPES: Final = {"boolean": pl.Boolean(), "category": pl.String(), "number": pl.Float64(), "date": UTC_MICROSECONDS}


def value_of(attribute: Attribute, which: int, start: int) -> Any:
    """The common, the other or the rare value of an attribute, in a case that starts then.

    Example:
        >>> [value_of(Attribute("case:age", "number", lowest=18), which, 0) for which in (COMMON, OTHER, RARE)]
        [18.0, 19.0, 1000018.0]
    """
    if attribute.kind == "boolean":
        return (True, False, None)[which]
    if attribute.kind == "category":
        listed = attribute.values or TEXTS
        return listed[min(which, len(listed) - 1)]
    if attribute.kind == "date":
        (low, high), a_day = attribute.bounds, DAY // attribute.grain
        near = (-a_day, -2 * a_day) if low <= -2 * a_day and -a_day <= high else (low, min(low + 1, high))
        return int(attribute.begins(np.array(start))) + (*near, min(RARE_DATES * a_day, high))[which] * attribute.grain
    least = 0 if attribute.lowest is None else attribute.bounds[0]
    return (least + (0, 1, RARE_AMOUNT * 10**attribute.decimals)[which]) / 10**attribute.decimals


def column(attribute: Attribute, values: Sequence[Any]) -> pl.Series:
    """A column of such values."""
    raw = pl.Int64() if attribute.kind == "date" else TYPES[attribute.kind]
    return pl.Series(values, dtype=raw, strict=True).cast(TYPES[attribute.kind])


def plain_value(attribute: Attribute, which: int, start: int) -> Any:
    """The same as everybody understands it: a text, or a whole number within the bounds."""
    return plain_values(column(attribute, [value_of(attribute, which, start)]), attribute)[0]
