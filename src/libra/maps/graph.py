"""The directly-follows graph of one log, or of two on one list of nodes and edges, with an artificial start and end.

In: logs. Out: `Graph`, which activities and edges there are, and for each log a `Use`: how often it uses each of them, and how
long its steps take. Aggregates only. Labels are compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from libra.eventlog.log import EventLog
from libra.measures.distances import Floats, Integers

Booleans: TypeAlias = npt.NDArray[np.bool_]
MICROS = 1e6  # in a second


@dataclass(frozen=True, eq=False, repr=False)
class Use:
    """How one log uses a graph.

    `events` counts per activity, `counts` per edge. `seconds` is the mean duration of an edge's steps, `errors` the standard
    error of that mean, infinite for a single step; both are NaN where the log has no step. Edges from the start and to the end
    have no duration.
    """

    cases: int
    events: Integers
    counts: Integers
    seconds: Floats
    errors: Floats

    def without_times(self) -> Use:
        """The same of a log whose timestamps say nothing."""
        nothing = np.full(len(self.counts), np.nan)
        return replace(self, seconds=nothing, errors=nothing)

    @property
    def event_shares(self) -> Floats:
        """The share of the log's events that each activity has."""
        return self.events / max(int(self.events.sum()), 1)

    @property
    def step_shares(self) -> Floats:
        """The share of the log's steps that each edge has, the first and the last step of every case included."""
        return self.counts / max(int(self.counts.sum()), 1)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """The nodes and edges that the logs use together.

    Activity i has the label `labels[i]` and comes, on average, at `places[i]` of its cases: from 0, the beginning, to 1. Edge j
    goes from `source[j]` to `target[j]`, where `len(labels)` is the start and one more is the end.
    """

    labels: tuple[str, ...]
    places: Floats
    source: Integers
    target: Integers
    uses: tuple[Use, ...]

    @property
    def start(self) -> int:
        """The code of the artificial start."""
        return len(self.labels)

    @property
    def end(self) -> int:
        """The code of the artificial end."""
        return len(self.labels) + 1

    @property
    def is_step(self) -> Booleans:
        """Which edges are from activity to activity."""
        return (self.source < self.start) & (self.target < self.start)


def graph_of(*logs: EventLog) -> Graph:
    """The graph that the logs use together, with one `Use` a log, in their order.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=20)
        >>> graph = graph_of(log)
        >>> int(graph.uses[0].counts.sum()) == log.n_events + log.n_cases
        True
    """
    labels = sorted({label for log in logs for label in log.activities})
    code = {label: place for place, label in enumerate(labels)}
    codes = [np.array([code[label] for label in log.activities], np.int64) for log in logs]
    parts = [_edges(log, of, len(labels)) for log, of in zip(logs, codes, strict=True)]
    keys, position = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    source, target = np.divmod(keys, len(labels) + 2)
    found = np.split(position, np.cumsum([len(part[0]) for part in parts])[:-1])
    uses = tuple(
        _use(log, of, part, where, len(labels), len(keys)) for log, of, part, where in zip(logs, codes, parts, found, strict=True)
    )
    return Graph(tuple(labels), _places(logs, codes, len(labels)), source, target, uses)


def _edges(log: EventLog, codes: Integers, n_labels: int) -> tuple[Integers, Integers]:
    """The keys of the edges of a log, those between activities first, and their counts."""
    edges, ends, n_codes = log.directly_follows, log.case_offsets, n_labels + 2
    first = np.bincount(log.activity_codes[ends[:-1]], minlength=len(codes))
    last = np.bincount(log.activity_codes[ends[1:] - 1], minlength=len(codes))
    keys = (
        codes[edges.source] * n_codes + codes[edges.target],
        n_labels * n_codes + codes[first > 0],
        codes[last > 0] * n_codes + n_labels + 1,
    )
    return np.concatenate(keys), np.concatenate((edges.counts, first[first > 0], last[last > 0]))


def _use(log: EventLog, codes: Integers, part: tuple[Integers, Integers], where: Integers, n_labels: int, n_edges: int) -> Use:
    events, counts = np.zeros(n_labels, np.int64), np.zeros(n_edges, np.int64)
    events[codes] = np.bincount(log.activity_codes, minlength=len(codes))
    counts[where] = part[1]
    seconds, errors = np.full(n_edges, np.nan), np.full(n_edges, np.nan)
    steps = log.directly_follows
    taken, between = steps.step_micros / MICROS, where[: len(steps)]
    mean = np.bincount(steps.step_edge, taken, minlength=len(steps)) / steps.counts
    squares = np.bincount(steps.step_edge, (taken - mean[steps.step_edge]) ** 2, minlength=len(steps))
    several = np.maximum(steps.counts - 1, 1)
    seconds[between] = mean
    errors[between] = np.where(steps.counts > 1, np.sqrt(squares / several / steps.counts), np.inf)
    return Use(log.n_cases, events, counts, seconds, errors)


def _places(logs: Sequence[EventLog], codes: Sequence[Integers], n_labels: int) -> Floats:
    """Where in its cases an activity comes, on average, in the middle of what the logs say."""
    sums, said = np.zeros(n_labels), np.zeros(n_labels)
    for log, of in zip(logs, codes, strict=True):
        starts, lengths = log.case_offsets[:-1], np.diff(log.case_offsets)
        within = (np.arange(log.n_events) - np.repeat(starts, lengths) + 0.5) / np.repeat(lengths, lengths)
        sums[of] += np.bincount(log.activity_codes, within, minlength=len(of)) / np.bincount(
            log.activity_codes, minlength=len(of)
        )
        said[of] += 1
    return sums / np.maximum(said, 1)
