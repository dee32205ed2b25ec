"""Ids that may be meant alike but are written in different ways, and so count as different: a note for the custodian."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

_NUMBER = r"^\+?(-?)0*([0-9]+)(?:[.,]0*)?$"  # a whole number, however it is written


def alike_notes(individuals: Mapping[str, pl.Series], cases: Mapping[str, pl.Series]) -> Iterator[str]:
    """A note for each of these columns with ids that differ only in how they are written; it holds no id and no count.

    Example:
        >>> [note] = alike_notes({"Patient": pl.Series(["7", "7.0"])}, {"Visit": pl.Series(["1", "2"])})
        >>> print(note)  # doctest: +ELLIPSIS
        Some ids in "Patient" differ only in how they are written (...): they count as different individuals. Write them alike ...
    """
    whose = {**dict.fromkeys(cases, "cases"), **dict.fromkeys(individuals, "individuals")}
    for column, values in {**cases, **individuals}.items():
        if written_apart(values):
            yield (
                f'Some ids in "{column}" differ only in how they are written (7 and 7.0, 07 and 7, A1 and a1, or by space around '
                f"them): they count as different {whose[column]}. Write them alike if they are the same."
            )


def written_apart(ids: pl.Series) -> bool:
    """Whether two ids are the same but for leading zeros, .0 at the end, space around them, or upper and lower case.

    Example:
        >>> [written_apart(pl.Series(ids)) for ids in (["7", "7.0"], ["007", "7"], ["A1", "a1 "], ["7", "7.5", "0", "70", "7A"])]
        [True, True, True, False]
    """
    if ids.dtype != pl.String:
        return False
    distinct = ids.drop_nulls().unique()
    plain = distinct.str.strip_chars().str.to_lowercase().str.replace(_NUMBER, "${1}${2}")
    return plain.n_unique() < distinct.len()
