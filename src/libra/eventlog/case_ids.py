"""Case ids that tell cases apart."""

from __future__ import annotations

import polars as pl


def told_apart(ids: pl.Series) -> pl.Series:
    """The ids, with a number behind every repeated one, so that each is unique.

    Example:
        >>> told_apart(pl.Series(["a", "b", "a"])).to_list()
        ['a', 'b', 'a (2)']
    """
    while ids.is_duplicated().any():
        number = pl.int_range(pl.len()).over("id") + 1
        numbered = pl.when(number > 1).then(pl.format("{} ({})", "id", number)).otherwise("id")
        ids = pl.DataFrame({"id": ids}).select(numbered).to_series().alias(ids.name)
    return ids
