"""What happens to the control flow: directly-follows frequencies by label, variants, trace lengths.

In: two logs, or their paired edges. Out: shares and distances that, unlike the paper's, notice when labels are swapped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from libra.eventlog.log import EventLog
from libra.measures.distances import Integers, total_variation, wasserstein
from libra.measures.edges import PairedEdges, common_codes


def dfg_l1(pair: PairedEdges) -> float | None:
    """The sum of all differences in directly-follows frequency, as a share of the original's frequencies.

    None where the original has no edge and the anonymized log has some: nothing to take a share of.
    """
    differences, size = int(np.abs(pair.original.counts - pair.anonymized.counts).sum()), int(pair.original.counts.sum())
    if not size:
        return None if differences else 0.0
    return differences / size


def dfg_tv(pair: PairedEdges) -> float:
    """Total variation of the directly-follows frequencies, each log's scaled to sum to 1."""
    return total_variation(pair.original.counts, pair.anonymized.counts)


@dataclass(frozen=True, eq=False)
class PairedVariants:
    """For every variant that either log has, the cases that follow it in the two."""

    original: Integers
    anonymized: Integers


def pair_variants(original: EventLog, anonymized: EventLog) -> PairedVariants:
    """Match the variants of two logs by the labels of their activities.

    Example:
        >>> from libra.eventlog.log import empty_log
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=20)
        >>> pair = pair_variants(empty_log(log), log)
        >>> int(pair.original.sum()), int(pair.anonymized.sum())
        (0, 20)
    """
    codes, other_codes = common_codes(original, anonymized)
    table = pl.concat(
        [
            _traces(original, codes).select("trace", original="count", anonymized=pl.lit(0, pl.Int64)),
            _traces(anonymized, other_codes).select("trace", original=pl.lit(0, pl.Int64), anonymized="count"),
        ]
    )
    counts = table.group_by("trace", maintain_order=True).agg(pl.col("original", "anonymized").sum())
    return PairedVariants(counts["original"].to_numpy(), counts["anonymized"].to_numpy())


def _traces(log: EventLog, codes: Integers) -> pl.DataFrame:
    """The log's variants with their activities recoded."""
    recoded = pl.element().replace_strict(np.arange(len(codes)), codes, return_dtype=pl.UInt32)
    return log.variants.traces.with_columns(pl.col("trace").list.eval(recoded))


def variant_tv(pair: PairedVariants) -> float:
    """Total variation of the variants' shares of cases."""
    return total_variation(pair.original, pair.anonymized)


def unseen_variant_share(pair: PairedVariants) -> float:
    """The share of anonymized cases whose variant never occurs in the original; 0 where there is no case."""
    cases = int(pair.anonymized.sum())
    return int(pair.anonymized[pair.original == 0].sum()) / cases if cases else 0.0


def length_w1(original: EventLog, anonymized: EventLog) -> float:
    """Wasserstein-1 distance of the trace lengths, in events."""
    return wasserstein(np.diff(original.case_offsets), np.diff(anonymized.case_offsets))
