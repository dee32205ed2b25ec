"""Naming a column exactly. Polars takes `*` and `^…$` for patterns, and a column of a log may be called just that.

In a frame, `column` is the one of that very name. A series is no safer: Polars runs most methods of a series as an expression on
the column of its name, so what works on values that somebody else named takes them `unnamed`.
"""

from __future__ import annotations

import polars as pl
import polars.selectors as cs


def column(name: str) -> pl.Expr:
    """The column of that very name.

    Example:
        >>> pl.DataFrame({"*": [1], "cost": [2]}).select(column("*")).columns
        ['*']
    """
    return cs.by_name(name).as_expr()


def without(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The frame without the columns of those very names, where it has them.

    Example:
        >>> without(pl.DataFrame({"*": [1], "cost": [2]}), "*").columns
        ['cost']
    """
    return frame.drop(cs.by_name(*names, require_all=False))


def unnamed(values: pl.Series) -> pl.Series:
    """The values without their name, for methods that would take it for a pattern.

    Example:
        >>> unnamed(pl.Series("^cost$", [2, None])).drop_nulls().to_list()
        [2]
    """
    return values.alias("")
