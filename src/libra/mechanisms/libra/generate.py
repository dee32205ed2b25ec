"""From released figures to a log, in parts of bounded size, ordered by start.

Pure and deterministic: the same figures give the same cases, in any process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from libra._system.ordering import stable_order
from libra._system.randomness import Randomness, derived_seed
from libra.eventlog.cases import Cases, Floats, Integers, Traces, concatenated, together
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import EventLog
from libra.mechanisms.fresh_log import log_of
from libra.mechanisms.libra.control_flow import case_counts, weighted
from libra.mechanisms.libra.figures import Figures
from libra.mechanisms.libra.times import generate_times
from libra.mechanisms.libra.times.generate import finest_grain

PART_EVENTS = 1_000_000  # that a part has about; larger ones take more memory, smaller ones more time for each event
NOTHING = np.zeros(0, np.int64)
NO_CASES = Cases(NOTHING, NOTHING, np.zeros(1, np.int64), NOTHING, 0)
Weighted = tuple[Traces, Floats]


def generate(runs: Sequence[Figures]) -> Cases:
    """The cases of all runs together, in the codes of `labels_of`: all parts of the log, one after the other."""
    from libra.mechanisms.libra.generate import planned

    plan = planned(runs)
    return together([plan.part(i) for i in range(plan.n_parts)])


def labels_of(runs: Sequence[Figures]) -> tuple[str, ...]:
    """The labels of all runs; where labels are private, each run has chosen its own."""
    return tuple(sorted({label for run in runs for label in run.labels}))


def sharing_cases(runs: Sequence[Figures], filled: Sequence[bool], cases: int | None) -> list[Figures]:
    """The figures with so many cases to generate in all, in even parts for the runs in which there is anything."""
    if cases is None:
        return list(runs)
    bounds = cases * np.cumsum([0, *filled]) // max(sum(filled), 1)
    return [replace(run, cases=int(part)) for run, part in zip(runs, np.diff(bounds), strict=True)]


def with_times(figures: Figures, traces: Traces, random: Randomness | None = None) -> Cases:
    """Control flow of one run with a time for every event, drawn by the figures' own seed where no other randomness is given."""
    random = random or Randomness(figures.draw ^ 1)
    micros = generate_times(figures.times, traces, figures.control.n_labels, figures.time_zone, random)
    return Cases(traces.codes, micros, traces.offsets, np.zeros(len(traces), np.int64), figures.control.n_labels)


def in_order(runs: Sequence[Figures], generated: Sequence[Cases]) -> Cases:
    """All cases in the codes of `labels_of`, the one that starts first coming first."""
    code = {label: code for code, label in enumerate(labels_of(runs))}
    parts = []
    for run, cases in zip(runs, generated, strict=True):
        codes = np.array([code[label] for label in run.labels], np.int64)[cases.codes]
        parts.append(replace(cases, codes=codes, n_activities=len(code)))
    cases = together(parts)
    return cases.take(stable_order(cases.micros[cases.offsets[:-1]])) if len(cases) else cases


"""The control flow of a run: distinct traces, and how many cases each stands for."""


@dataclass(frozen=True, eq=False, repr=False)
class PlannedRun:
    """What one run contributes."""

    figures: Figures  # what was released
    traces: Traces  # the distinct traces that any case has
    counts: Integers  # how many cases have each

    @property
    def n_cases(self) -> int:
        """How many cases come from this run."""
        return int(self.counts.sum())

    def dealt(self, begin: int, part: int, n_parts: int) -> Traces:
        """The traces of its cases in one part; `begin` is the number of cases of the runs before."""
        ends = begin + np.cumsum(self.counts)
        until = (np.concatenate(([begin], ends)) - part + n_parts - 1) // n_parts  # cases of this part up to there
        return self.traces.take(np.repeat(np.arange(len(self.traces)), np.diff(until)))


@dataclass(frozen=True, eq=False, repr=False)
class PlannedLog:
    """A log that can be made part by part. It is plain data, and can be sent to where a part is to be made."""

    runs: tuple[PlannedRun, ...]
    n_parts: int

    @property
    def n_cases(self) -> int:
        """How many cases all parts have together."""
        return sum(run.n_cases for run in self.runs)

    @property
    def n_events(self) -> int:
        """How many events all parts have together."""
        return sum(int(run.counts @ run.traces.lengths) for run in self.runs)

    @property
    def n_variants(self) -> int:
        """How many distinct traces all parts have together."""
        return len(np.unique(concatenated([_in_codes_of(self._labels, run) for run in self.runs]).fingerprints()))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that any event has, sorted."""
        return tuple(sorted({run.figures.labels[code] for run in self.runs for code in np.unique(run.traces.codes).tolist()}))

    @property
    def _labels(self) -> tuple[str, ...]:
        return labels_of([run.figures for run in self.runs])

    def part(self, i: int) -> Cases:
        """The cases of part i in the codes of `labels_of`, the one that starts first coming first."""
        begin, generated = 0, []
        for run in self.runs:
            generated.append(with_times(run.figures, run.dealt(begin, i, self.n_parts), self._random(run.figures, i)))
            begin += run.n_cases
        return in_order([run.figures for run in self.runs], generated)

    def log(self, i: int, *, seeded: bool) -> EventLog:
        """Part i as a log; the numbers in its case ids go on from the parts before."""
        before = _first_case(i, self.n_cases, self.n_parts)
        return log_of(self.part(i), self._labels, seeded=seeded, first=before + 1)

    def in_parts(self, *, seeded: bool) -> EventLog:
        """The whole log: in memory where it is one part, otherwise made when it is looked at."""
        if self.n_parts == 1:
            return self.log(0, seeded=seeded)
        grain = math.gcd(*(finest_grain(run.figures.times) for run in self.runs))
        return LogInParts(
            self.n_parts,
            partial(self.log, seeded=seeded),
            n_cases=self.n_cases,
            n_events=self.n_events,
            n_variants=self.n_variants,
            labels=self.labels,
            grain=grain,
            metadata=log_of(NO_CASES, self._labels, seeded=seeded).metadata,
        )

    def _random(self, figures: Figures, i: int) -> Randomness:
        seed = figures.draw ^ 1
        return Randomness(seed if self.n_parts == 1 else derived_seed(seed, i))


def planned(runs: Sequence[Figures], flows: Sequence[Weighted] | None = None, *, part_events: int = PART_EVENTS) -> PlannedLog:
    """The plan of the log that these figures stand for.

    Args:
        runs: The released figures.
        flows: Their control flow, as `weighted` makes it, where somebody has it already.
        part_events: How many events a part has about.
    """
    if flows is None:
        flows = [weighted(run.control, Randomness(run.draw)) for run in runs]
    made = tuple(_planned_run(run, *flow) for run, flow in zip(runs, flows, strict=True))
    events = PlannedLog(made, 1).n_events
    return PlannedLog(made, _parts(events, part_events))


def first_cases(n_cases: int, n_events: int) -> Integers:
    """Where the parts of a log of this size begin: within a part, cases are in the order in which they start."""
    parts = _parts(n_events, PART_EVENTS)
    return np.array([_first_case(i, n_cases, parts) for i in range(parts)])


def _parts(events: int, part_events: int) -> int:
    return max(1, -(-events // part_events))


def _first_case(i: int, n_cases: int, n_parts: int) -> int:
    return i * (n_cases // n_parts) + min(i, n_cases % n_parts)


def _planned_run(figures: Figures, traces: Traces, weights: Floats) -> PlannedRun:
    counts = case_counts(weights, figures.weight, figures.cases, Randomness(figures.draw ^ 2))
    used = np.flatnonzero(counts)
    return PlannedRun(figures, traces.take(used), counts[used])


def _in_codes_of(labels: tuple[str, ...], run: PlannedRun) -> Traces:
    code = {label: code for code, label in enumerate(labels)}
    codes = np.array([code[label] for label in run.figures.labels], np.int64)
    return Traces(codes[run.traces.codes], run.traces.offsets)
