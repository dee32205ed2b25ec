"""The directly-follows edges of two logs on one list, matched by the labels of their activities, and how many they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from libra.engines.counting.blocks import codes_among
from libra.eventlog.log import HOUR, EventLog
from libra.measures.distances import Integers, SortedPair, sort_grouped


@dataclass(frozen=True, eq=False)
class EdgeUse:
    """How one log uses the edges of the common list: counts per edge, and every step's edge and duration."""

    counts: Integers
    step_edge: Integers
    step_micros: Integers

    @property
    def hours(self) -> Integers:
        """Per edge the sum of its durations in whole hours, each floored (a negative one towards minus infinity)."""
        return np.bincount(self.step_edge, self.step_micros // HOUR, minlength=len(self.counts)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PairedEdges:
    """The union of the edges of two logs, and how each log uses it."""

    labels: list[str]
    keys: Integers  # the places of two labels, the first in the upper 32 bits
    original: EdgeUse
    anonymized: EdgeUse

    def name(self, edge: int) -> tuple[str, str]:
        """The two activities of an edge."""
        source, target = divmod(int(self.keys[edge]), 1 << 32)
        return self.labels[source], self.labels[target]

    def sorted_steps(self) -> SortedPair:
        """The durations of both logs' steps, edge by edge."""
        one, other = self.original, self.anonymized
        return sort_grouped(one.step_edge, one.step_micros, other.step_edge, other.step_micros, len(one.counts))


def common_labels(original: EventLog, anonymized: EventLog) -> list[str]:
    """The labels of both logs, in order."""
    return sorted({*original.activities, *anonymized.activities})


def common_codes(original: EventLog, anonymized: EventLog) -> tuple[Integers, Integers]:
    """For both logs, the code that each of their activities has among the labels of the two together, letter by letter."""
    labels = common_labels(original, anonymized)
    return codes_among(original.activities, labels), codes_among(anonymized.activities, labels)


def pair_edges(original: EventLog, anonymized: EventLog) -> PairedEdges:
    """Put the edges of two logs on one list.

    Example:
        >>> from libra.eventlog.log import empty_log
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=20)
        >>> pair = pair_edges(log, empty_log(log))
        >>> int(pair.original.counts.sum()) == log.n_events - log.n_cases, int(pair.anonymized.counts.sum())
        (True, 0)
    """
    both = original.directly_follows, anonymized.directly_follows
    codes = common_codes(original, anonymized)
    keys = [(code[edges.source] << 32) + code[edges.target] for edges, code in zip(both, codes, strict=True)]
    union, position = np.unique(np.concatenate(keys), return_inverse=True)
    uses = []
    for edges, place in zip(both, np.split(position, [len(keys[0])]), strict=True):
        counts = np.zeros(len(union), np.int64)
        counts[place] = edges.counts
        uses.append(EdgeUse(counts, place[edges.step_edge], edges.step_micros))
    return PairedEdges(common_labels(original, anonymized), union, *uses)


@dataclass(frozen=True)
class SharedEdges:
    """How far two logs have the same edges, first and last activities: 1 for equal logs, None where there are none to share."""

    precision: float | None  # of those that the anonymized log has, the share that the original has
    recall: float | None  # of those that the original has, the share that the anonymized log has
    recall_weighted: float | None  # the same, each counted as often as the original uses it


def shared_edges(original: EventLog, anonymized: EventLog, pair: PairedEdges) -> SharedEdges:
    """How many edges, first and last activities the logs share; `pair` are their edges.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log, fewer = simulate(cases=50), simulate(cases=20)
        >>> shared_edges(log, log, pair_edges(log, log)).precision, shared_edges(log, fewer, pair_edges(log, fewer)).recall < 1
        (1.0, True)
    """
    codes = common_codes(original, anonymized)
    there, copied = (
        np.concatenate((use.counts, *_first_and_last(log, code, len(pair.labels))))
        for log, code, use in zip((original, anonymized), codes, (pair.original, pair.anonymized), strict=True)
    )
    in_original, in_copy = there > 0, copied > 0
    both = in_original & in_copy
    precision, recall = (_share(both.sum(), found.sum()) for found in (in_copy, in_original))
    return SharedEdges(precision, recall, _share(there[both].sum(), there.sum()))


def _first_and_last(log: EventLog, codes: Integers, n_labels: int) -> Iterator[Integers]:
    """How many cases begin, and how many end, with each label of the common list."""
    traces = log.variants.traces.filter(pl.col("trace").list.len() > 0)
    for column in (pl.col("trace").list.first(), pl.col("trace").list.last()):
        label, cases = traces.select(column.alias("label"), "count").to_numpy().astype(np.int64).T
        yield np.bincount(codes[label], cases, minlength=n_labels).astype(np.int64)


def _share(part: np.int64, whole: np.int64) -> float | None:
    return int(part) / int(whole) if whole else None
