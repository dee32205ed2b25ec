"""From released figures to a log, in parts of bounded size, ordered by start.

Pure and deterministic: the same figures give the same cases, in any process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from libra._system.ordering import stable_order
from libra._system.parallel import one_blas_thread
from libra._system.randomness import Randomness, derived_seed
from libra.eventlog.attributes import Attribute, by_level
from libra.eventlog.cases import MISSING, Cases, Floats, Integers, Traces, concatenated, together
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import EventLog
from libra.mechanisms.fresh_log import log_of
from libra.mechanisms.libra.attributes.chain import EventModel, deal_events, fitted_events
from libra.mechanisms.libra.attributes.columns import columns_of, schema_of
from libra.mechanisms.libra.attributes.fit import Model, dealt, fitted, places_among
from libra.mechanisms.libra.figures import Figures, case_counts, weighted
from libra.mechanisms.libra.instances import as_released, mode_of, released_traces, within_instances
from libra.mechanisms.libra.times.generate import finest_grain, generate_times

PART_EVENTS = 1_000_000  # that a part has about; larger ones take more memory, smaller ones more time for each event
NOTHING = np.zeros(0, np.int64)
NO_CASES = Cases(NOTHING, NOTHING, np.zeros(1, np.int64), NOTHING, 0)


class Flow(NamedTuple):
    """The control flow of a run: its traces, their weights, and its first part with times, where somebody has made it."""

    traces: Traces
    weights: Floats
    first: Cases | None = None


def generate(runs: Sequence[Figures]) -> Cases:
    """The cases of all runs together, in the codes of `labels_of`: all parts of the log, one after the other."""
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


@dataclass(frozen=True, eq=False, repr=False)
class PlannedRun:
    """The control flow of a run: the distinct traces that any case has, and how many cases have each."""

    figures: Figures
    traces: Traces
    counts: Integers
    models: tuple[Model, ...] = ()  # of its attributes of cases
    of_events: tuple[EventModel, ...] = ()  # of its attributes of events
    made: Cases | None = None  # its cases, where they are all in one part and were needed to fit the models

    @property
    def n_cases(self) -> int:
        """How many cases come from this run."""
        return int(self.counts.sum())

    def dealt(self, begin: int, part: int, n_parts: int) -> Traces:
        """The traces of its cases in one part; `begin` is the number of cases of the runs before."""
        ends = begin + np.cumsum(self.counts)
        until = (np.concatenate(([begin], ends)) - part + n_parts - 1) // n_parts  # cases of this part up to there
        return self.traces.take(np.repeat(np.arange(len(self.traces)), np.diff(until)))

    def timed(self, traces: Traces, random: Randomness) -> Cases:
        """Cases that follow these traces, with a time for every event."""
        figures, n_labels = self.figures, self.figures.control.n_labels
        completion = figures.control.completion
        within = None if completion is None else within_instances(traces, completion)
        micros = generate_times(figures.times, traces, n_labels, figures.time_zone, random, within)
        return Cases(traces.codes, micros, traces.offsets, np.zeros(len(traces), np.int64), n_labels)

    def random(self, part: int, n_parts: int) -> Randomness:
        """What one of so many parts is drawn from."""
        seed = self.figures.draw ^ 1
        return Randomness(seed if n_parts == 1 else derived_seed(seed, part))

    def first(self, n_parts: int) -> Cases:
        """Its cases in the first of so many parts, by start, without values."""
        return _by_start(self.timed(self.dealt(0, 0, n_parts), self.random(0, n_parts)))

    def with_models(self, n_parts: int, first: Cases | None) -> PlannedRun:
        """The run with models of its attributes, fitted to the first of so many parts."""
        figures = self.figures
        if figures.attributes is None or not figures.each_attribute:
            return self
        random = Randomness(figures.draw ^ 4)
        like = first or self.first(n_parts)
        if not len(like):
            return self
        models, like = fitted(figures.attributes, figures.labels, like, random)
        of_events = tuple(fitted_events(one, like, random) for one in figures.of_events)
        return replace(self, models=models, of_events=of_events, made=like if n_parts == 1 else None)

    def with_values(
        self, cases: Cases, attributes: Sequence[Attribute], texts: Sequence[Sequence[str]], random: Randomness
    ) -> Cases:
        """Its cases with values of these attributes, those of categories as places among the texts."""
        of_cases, of_events = map(len, by_level(attributes))
        if not self.models and not self.of_events:  # what it would take to say any value was not released
            nothing = (np.full(len(cases), MISSING),) * of_cases, (np.full(len(cases.codes), MISSING),) * of_events
            return replace(cases, attributes=nothing[0], of_events=nothing[1])
        if cases is not self.made:
            cases = dealt(self.models, cases, random)
        values = [*cases.attributes, *(deal_events(model, cases, random) for model in self.of_events)]
        for number, one in enumerate(self.figures.each_attribute):
            if one.attribute.kind == "category":
                values[number] = places_among(texts[number], one, values[number])
        return replace(cases, attributes=tuple(values[:of_cases]), of_events=tuple(values[of_cases:]))

    def codes_among(self, labels: Sequence[str]) -> Integers:
        """The code that each of its labels has among these."""
        code = {label: code for code, label in enumerate(labels)}
        return np.array([code[label] for label in self.figures.labels], np.int64)


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
        """How many events all parts have together; an instance is one."""
        return sum(int(run.counts @ released_traces(run.traces, run.figures.labels)[0].lengths) for run in self.runs)

    @property
    def _labels(self) -> tuple[str, ...]:
        return labels_of([run.figures for run in self.runs])

    @cached_property
    def _attributes(self) -> tuple[Attribute, ...]:
        return tuple(one.attribute for one in max((run.figures.each_attribute for run in self.runs), key=len, default=()))

    @cached_property
    def _texts(self) -> list[list[str]]:
        """For each attribute the texts of its values, of all runs."""
        every = [each for run in self.runs if (each := run.figures.each_attribute)]
        return [sorted({text for each in every for text in each[i].texts}) for i in range(len(self._attributes))]

    def part(self, i: int) -> Cases:
        """The cases of part i in the codes of `labels_of`, the one that starts first coming first."""
        begin, parts, labels = 0, [], self._labels
        for run in self.runs:
            random = run.random(i, self.n_parts)
            cases = run.timed(run.dealt(begin, i, self.n_parts), random) if run.made is None else run.made
            cases = run.with_values(cases, self._attributes, self._texts, random)
            parts.append(replace(cases, codes=run.codes_among(labels)[cases.codes], n_activities=len(labels)))
            begin += run.n_cases
        return _by_start(parts[0] if len(parts) == 1 else together(parts))

    def log(self, i: int, *, seeded: bool) -> EventLog:
        """Part i as a log; the numbers in its case ids go on from the parts before."""
        before = _first_case(i, self.n_cases, self.n_parts)
        return self._log(self.part(i), seeded=seeded, first=before + 1)

    def in_parts(self, *, seeded: bool) -> EventLog:
        """The whole log: in memory where it is one part, otherwise made when it is looked at."""
        if self.n_parts == 1:
            return self.log(0, seeded=seeded)
        labels = self._labels
        counted = concatenated([Traces(run.codes_among(labels)[run.traces.codes], run.traces.offsets) for run in self.runs])
        traces, activities = released_traces(counted, labels)
        return LogInParts(
            self.n_parts,
            partial(self.log, seeded=seeded),
            n_cases=self.n_cases,
            n_events=self.n_events,
            n_variants=len(np.unique(traces.fingerprints())),
            labels=tuple(activities[code] for code in np.unique(traces.codes)),
            grain=math.gcd(*(finest_grain(run.figures.times) for run in self.runs)),
            metadata=self._log(NO_CASES, seeded=seeded).metadata,
            instances=mode_of(labels),
            attributes=schema_of(self._attributes),
        )

    def _log(self, cases: Cases, *, seeded: bool, first: int = 1) -> EventLog:
        """Generated cases as a log."""
        made, activities, columns = as_released(cases, self._labels)
        mode, of_cases = mode_of(self._labels), None
        if made.attributes or made.of_events:
            of_events, of_cases = columns_of(made, activities, self._attributes, self._texts)
            columns = of_events if columns is None else columns.hstack(of_events.drop(columns.columns, strict=False))
        return log_of(made, activities, seeded=seeded, attributes=columns, first=first, instances=mode, of_cases=of_cases)


def planned(runs: Sequence[Figures], flows: Sequence[Flow] | None = None, *, part_events: int = PART_EVENTS) -> PlannedLog:
    """The plan of the log that these figures stand for; `flows` is their control flow, where somebody has it already."""
    flows, made = flows or [Flow(*weighted(run.control, Randomness(run.draw))) for run in runs], []
    for run, flow in zip(runs, flows, strict=True):
        counts = case_counts(flow.weights, run.weight, run.cases, Randomness(run.draw ^ 2))
        used = np.flatnonzero(counts)
        made.append(PlannedRun(run, flow.traces.take(used), counts[used]))
    n_parts = _parts(PlannedLog(tuple(made), 1).n_events, part_events)
    as_counted = len(runs) == 1 and runs[0].weight == 1 and runs[0].cases is None  # then its first part is that of the flow
    with one_blas_thread():
        runs_made = [run.with_models(n_parts, flow.first if as_counted else None) for run, flow in zip(made, flows, strict=True)]
    return PlannedLog(tuple(runs_made), n_parts)


def first_cases(n_cases: int, n_events: int) -> Integers:
    """Where the parts of a log of this size begin: within a part, cases are in the order in which they start."""
    parts = _parts(n_events, PART_EVENTS)
    return np.array([_first_case(i, n_cases, parts) for i in range(parts)])


def _by_start(cases: Cases) -> Cases:
    """The cases, the one that starts first coming first."""
    starts = cases.micros[cases.offsets[:-1]]
    return cases if (starts[1:] >= starts[:-1]).all() else cases.take(stable_order(starts))


def _parts(events: int, part_events: int) -> int:
    return max(1, -(-events // part_events))


def _first_case(i: int, n_cases: int, n_parts: int) -> int:
    return i * (n_cases // n_parts) + min(i, n_cases % n_parts)
