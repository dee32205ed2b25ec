"""Naming a column exactly. Polars takes `*` and `^…$` for patterns, and an attribute of a log may be called just that."""

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
