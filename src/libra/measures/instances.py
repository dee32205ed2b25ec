"""Distances between logs of activity instances: service times by activity, waiting times by edge, and overlaps.

An instance without a start takes no time: it starts when it is completed. Nothing is defined if the original has no starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_INDEX, START_TIMESTAMP
from libra.measures.distances import Integers, SortedPair, sort_grouped
from libra.measures.edges import PairedEdges, common_codes

SECOND = 1_000_000


@dataclass(frozen=True)
class Overlaps:
    """The share of steps to an instance that starts before the previous one is completed; 0 for a log without steps."""

    original: float
    anonymized: float


@dataclass(frozen=True)
class InstanceFigures:
    """How far the instances of two logs are apart; all None if the original has no starts."""

    service_time_w1_log: float | None = None
    waiting_time_w1_log: float | None = None
    overlap_share: float | None = None
    overlaps: Overlaps | None = None


def starts_of(log: EventLog) -> Integers:
    """When each instance starts, in microseconds; its completion if it has no start."""
    if START_TIMESTAMP not in log.events.columns or log.instances != "pair":
        return log.timestamps
    own = log.events[START_TIMESTAMP].to_physical().to_numpy()
    return np.where(log.events[START_TIMESTAMP].is_null().to_numpy(), log.timestamps, own).astype(np.int64)


def has_starts(log: EventLog) -> bool:
    """Whether any instance of a log has a start."""
    return log.instances == "pair" and log.events[START_TIMESTAMP].null_count() < log.n_events


def waiting_times(log: EventLog) -> Integers:
    """For every step how long after a completion the next instance starts; negative where the two overlap."""
    within_case = np.diff(log.events[CASE_INDEX].to_numpy()) == 0
    return np.asarray((starts_of(log)[1:] - log.timestamps[:-1])[within_case])


def instance_figures(original: EventLog, anonymized: EventLog, edges: PairedEdges) -> InstanceFigures:
    """Compare the instances of two logs; `edges` are those of both.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.edges import pair_edges
        >>> log = simulate(cases=20)
        >>> instance_figures(log, log, pair_edges(log, log)).service_time_w1_log is None
        True
    """
    if not has_starts(original):
        return InstanceFigures()
    pair = original, anonymized
    codes = [code[log.activity_codes] for log, code in zip(pair, common_codes(*pair), strict=True)]
    counts = np.bincount(codes[0], minlength=max(int(code.max(initial=-1)) for code in codes) + 1)
    service = [log.timestamps - starts_of(log) for log in pair]
    by_activity = sort_grouped(codes[0], service[0], codes[1], service[1], len(counts))
    waiting = [waiting_times(log) for log in pair]
    steps = replace(
        edges,
        original=replace(edges.original, step_micros=waiting[0].clip(min=0)),
        anonymized=replace(edges.anonymized, step_micros=waiting[1].clip(min=0)),
    )
    overlaps = Overlaps(*(float((times < 0).mean()) if len(times) else 0.0 for times in waiting))
    return InstanceFigures(
        service_time_w1_log=_weighted_log(by_activity, counts),
        waiting_time_w1_log=_weighted_log(steps.sorted_steps(), edges.original.counts) if len(waiting[0]) else 0.0,
        overlap_share=abs(overlaps.original - overlaps.anonymized),
        overlaps=overlaps,
    )


def _weighted_log(times: SortedPair, counts: Integers) -> float:
    """The mean over groups of how far their times are apart on log10(1 + seconds), with these counts as weights."""
    return float(times.distances(np.log10(1 + times.values / SECOND)) @ counts / counts.sum())
