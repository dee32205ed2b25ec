"""The most frequent variants of both logs, and how many cases follow variants that only one of them has.

In: two logs. Out: a `VariantTable`, ordered by the original's counts and followed by a few frequent variants that the original
never has; in public mode ordered by the anonymized log's counts. Traces are cut where they are long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from libra.eventlog.log import EventLog
from libra.measures.distances import Integers
from libra.measures.edges import common_codes
from libra.reporting.facts.pair import Pair

LONGEST = 30  # activities of a trace that are shown
MOST_UNSEEN = 5


@dataclass(frozen=True)
class VariantRow:
    """A variant: its activities, how many more there are, and the cases that follow it (None for the original: public mode)."""

    trace: tuple[str, ...]
    cut: int
    original: int | None
    anonymized: int


@dataclass(frozen=True)
class VariantTable:
    """The most frequent variants.

    Attributes:
        rows: The variants; after them the most frequent ones of the anonymized log that the original never has.
        unseen_shown: How many of the last rows those are; 0 in public mode.
        variants_original: How many variants the original has; None in public mode.
        variants_anonymized: How many the anonymized log has.
        shown_share_original: The share of the original's cases that follow one of the variants shown; None in public mode.
        shown_share_anonymized: The same of the anonymized log, variants that the original never has aside.
        unseen_share: The share of anonymized cases whose variant never occurs in the original; None in public mode.
        lost_share: The share of original cases whose variant does not come out; None in public mode.
    """

    rows: tuple[VariantRow, ...]
    unseen_shown: int
    variants_original: int | None
    variants_anonymized: int
    shown_share_original: float | None
    shown_share_anonymized: float
    unseen_share: float | None
    lost_share: float | None


def top_variants(pair: Pair, most: int = 20) -> VariantTable:
    """The most frequent variants and how often each log has them.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> found = top_variants(Pair(log, log), most=3)
        >>> len(found.rows), found.unseen_share, found.rows[0].original == found.rows[0].anonymized
        (3, 0.0, True)
    """
    labels, table = _paired(pair)
    before, after = (table[name].to_numpy() for name in ("original", "anonymized"))
    first = after if pair.is_public else before
    order = np.lexsort((-after, -first))
    compared = not pair.is_public
    unseen = order[before[order] == 0][:MOST_UNSEEN].tolist() if compared else []
    shown = [place for place in order[:most].tolist() if first[place]]
    return VariantTable(
        rows=tuple(_row(table, place, labels, compared) for place in (*shown, *unseen)),
        unseen_shown=len(unseen),
        variants_original=int((before > 0).sum()) if compared else None,
        variants_anonymized=int((after > 0).sum()),
        shown_share_original=_share(before[shown], before) if compared else None,
        shown_share_anonymized=_share(after[shown], after),
        unseen_share=_share(after[before == 0], after) if compared else None,
        lost_share=_share(before[after == 0], before) if compared else None,
    )


def _paired(pair: Pair) -> tuple[list[str], pl.DataFrame]:
    """The labels of both logs, and every variant as places among them with its cases in each log."""
    logs = (pair.compared_with, pair.anonymized)
    labels = sorted({label for log in logs for label in log.activities})
    codes, other_codes = common_codes(*logs)
    none = pl.lit(0, pl.Int64)
    both = pl.concat(
        (
            _recoded(logs[0], codes).select("trace", original="count", anonymized=none),
            _recoded(logs[1], other_codes).select("trace", original=none, anonymized="count"),
        )
    )
    return labels, both.group_by("trace", maintain_order=True).agg(pl.col("original", "anonymized").sum())


def _recoded(log: EventLog, codes: Integers) -> pl.DataFrame:
    if not log.n_cases:
        return pl.DataFrame(schema={"trace": pl.List(pl.UInt32), "count": pl.Int64})
    recoded = pl.element().replace_strict(np.arange(len(codes)), codes, return_dtype=pl.UInt32)
    return log.variants.traces.with_columns(pl.col("trace").list.eval(recoded))


def _row(table: pl.DataFrame, place: int, labels: list[str], compared: bool) -> VariantRow:
    trace, before, after = table.row(place)
    return VariantRow(
        tuple(labels[code] for code in trace[:LONGEST]), max(len(trace) - LONGEST, 0), before if compared else None, after
    )


def _share(some: Integers, cases: Integers) -> float:
    """0 where there is no case."""
    total = int(cases.sum())
    return int(some.sum()) / total if total else 0.0
