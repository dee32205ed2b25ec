"""What happens to the times: how long cases and steps take, and when cases start.

In: two logs, or their paired edges. Out: Wasserstein-1 distances in the unit of the name, from exact microseconds. A case
starts with its earliest event and lasts until its latest, whatever the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.log import HOUR, EventLog
from libra.measures.distances import Floats, sort_grouped, wasserstein
from libra.measures.edges import PairedEdges

SECOND = 1_000_000
DAY = 24 * HOUR


def case_duration_w1_hours(original: EventLog, anonymized: EventLog) -> float:
    """Wasserstein-1 distance of the case durations; an empty log counts as if its cases took no time."""
    (start, end), (other_start, other_end) = original.case_spans, anonymized.case_spans
    return wasserstein(end - start, other_end - other_start) / HOUR


def arrival_w1_days(original: EventLog, anonymized: EventLog) -> float | None:
    """Wasserstein-1 distance of the days on which cases start; None where exactly one log has no case."""
    if bool(original.n_cases) != bool(anonymized.n_cases):
        return None
    return wasserstein(original.case_spans[0], anonymized.case_spans[0]) / DAY


@dataclass(frozen=True)
class StepDurations:
    """How far the durations of the steps are apart, edge by edge, averaged with the original's edge counts as weights.

    Attributes:
        hours: The distance in hours.
        relative: The same, divided by the original's mean absolute step duration, so that an empty log scores 1. None where
            that mean is zero and the distance is not.
        log: The distance on the scale log10(1 + seconds), negative durations taken as zero.
    """

    hours: float | None
    relative: float | None
    log: float | None


def step_durations(pair: PairedEdges) -> StepDurations:
    """Compare how long the steps take on every edge of the original.

    An edge that the anonymized log lacks counts as if all its steps took no time there; an edge that only the anonymized log
    has does not count. All figures are 0 where neither log has an edge, and None where only the original has none.

    Example:
        >>> from libra.eventlog.log import empty_log
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.edges import pair_edges
        >>> log = simulate(cases=20)
        >>> round(step_durations(pair_edges(log, empty_log(log))).relative, 9)
        1.0
    """
    original, anonymized = pair.original, pair.anonymized
    if not len(original.step_edge):
        nothing = None if len(anonymized.step_edge) else 0.0
        return StepDurations(nothing, nothing, nothing)
    together = sort_grouped(
        original.step_edge, original.step_micros, anonymized.step_edge, anonymized.step_micros, len(original.counts)
    )

    def mean_over_edges(distances: Floats) -> float:
        return float(distances @ original.counts / original.counts.sum())

    hours = mean_over_edges(together.distances(together.values)) / HOUR
    log = mean_over_edges(together.distances(np.log10(1 + together.values.clip(min=0) / SECOND)))
    mean_step = float(np.abs(original.step_micros).mean()) / HOUR
    relative = hours / mean_step if mean_step else (None if hours else 0.0)
    return StepDurations(hours, relative, log)
