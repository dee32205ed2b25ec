"""The directly-follows edges of two logs on one list, matched by the labels of their activities.

In: two logs, each with its own activity codes. Out: `PairedEdges`, what both have to say about every edge that either uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.log import HOUR, DirectlyFollows, EventLog
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
        whole_hours = np.bincount(self.step_edge, self.step_micros // HOUR, minlength=len(self.counts))
        return whole_hours.astype(np.int64)


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
    """For both logs, the code that each of their activities has among the labels of the two together.

    Labels are compared as they are, letter by letter.
    """
    code = {label: i for i, label in enumerate(common_labels(original, anonymized))}
    return (
        np.array([code[label] for label in original.activities], np.int64),
        np.array([code[label] for label in anonymized.activities], np.int64),
    )


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
    codes, other_codes = common_codes(original, anonymized)
    keys, other_keys = _keys(original.directly_follows, codes), _keys(anonymized.directly_follows, other_codes)
    union, position = np.unique(np.concatenate((keys, other_keys)), return_inverse=True)
    return PairedEdges(
        common_labels(original, anonymized),
        union,
        _use(original.directly_follows, position[: len(keys)], len(union)),
        _use(anonymized.directly_follows, position[len(keys) :], len(union)),
    )


def _keys(edges: DirectlyFollows, codes: Integers) -> Integers:
    return (codes[edges.source] << 32) + codes[edges.target]


def _use(edges: DirectlyFollows, position: Integers, n_edges: int) -> EdgeUse:
    counts = np.zeros(n_edges, np.int64)
    counts[position] = edges.counts
    return EdgeUse(counts, position[edges.step_edge], edges.step_micros)
