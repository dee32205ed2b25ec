"""Everything that was released of one run, and the control flow that follows from it.

Figures are plain data that can be written to JSON and read back: another process that has them, and nothing else, generates the
same log.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.sequences import starts_among
from libra.eventlog.cases import Floats, Integers, Traces, concatenated, traces_of
from libra.eventlog.instances import SEPARATOR, split_label
from libra.eventlog.names import RESOURCE
from libra.mechanisms.libra.attributes.events import ReleasedEvents
from libra.mechanisms.libra.attributes.release import AttributeFigures, ReleasedAttribute
from libra.mechanisms.libra.expected import tail_steps
from libra.mechanisms.libra.looks import expected_counts, likeliest_counts
from libra.mechanisms.libra.tail.generate import weighted_traces
from libra.mechanisms.libra.tail.release import TailFigures
from libra.mechanisms.libra.tail.well_formed import without_open
from libra.mechanisms.libra.times.release import TimeFigures
from libra.privacy.noise import NoisyTable

THERE = 1.0  # standard deviations: from here on the noisy number of rare cases is nearer to the truth than none
# Of the steps that rare cases take by their lengths, what their traces have to take at least: where there is nothing else in the
# log, and beside kept variants. On public and simulated logs, releases with less hardly differ from an empty log in the first
# case, and are as good without such traces in the second.
LEAST_ALONE, LEAST_BESIDE = 1 / 3, 1 / 10
# What kept variants stand for at most, in times their own cases: a few cases say nothing of thousands. Up to there, public logs
# come out better than without the others; beyond, logs of many unlike variants come out worse than empty.
MOST_TIMES = 4.0
PLAIN = ("time_zone", "weight", "cases", "draw")  # fields of `Figures` that JSON has as they are


@dataclass(frozen=True, eq=False, repr=False)
class ControlFigures:
    """What was released about control flow."""

    n_labels: int  # how many labels there are
    kept: Traces  # the kept variants
    first: NoisyTable  # their noisy counts in the first look, which had to pass the threshold
    second: NoisyTable | None  # the same in the second look; with rare cases counted to the nearest, where that was asked for
    threshold: float  # of the first look
    tail: TailFigures | None  # what was released about all other cases; None where they are not modelled
    nearest: bool  # whether the second look counts every case
    completion: Integers | None = None  # of a start's label that of its activity, -1 for others; None where there are no starts
    decay: float | None = None  # the epsilon of the geometric noise of the first look; None where that is Gaussian
    rare_cases: NoisyTable | None = None  # how many cases rare variants have, where that decided what else was asked

    @property
    def counts(self) -> Floats:
        """How many cases follow each kept variant, by all looks at them."""
        if self.second is None:
            return self.first.values
        if self.nearest:
            return np.maximum(self.second.values, 0.0)
        if self.decay is None:
            return likeliest_counts(self.first, self.second, self.threshold)
        return expected_counts(self.first, self.second, self.decay, int(self.threshold) - 1)

    @property
    def counts_sd(self) -> float:
        """The noise of these counts."""
        if self.second is None:
            return self.first.sd
        return self.second.sd if self.nearest else 1 / math.hypot(1 / self.first.sd, 1 / self.second.sd)

    @property
    def own_cases(self) -> Floats:
        """How many cases follow each kept variant, without those that are only like it."""
        return np.maximum(self.first.values, 0.0) if self.nearest else self.counts


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """What was released in one run."""

    labels: tuple[str, ...]  # the labels that codes stand for
    control: ControlFigures  # about control flow
    times: TimeFigures  # about times
    time_zone: str  # whose hours and days they are
    weight: float  # how many generated cases one counted case becomes: 1 over the rate of the subsample and the number of runs
    cases: int | None  # how many cases to generate; None for as many as the figures say
    draw: int  # the seed of everything random in the generation. It is no secret
    attributes: AttributeFigures | None = None  # about attributes of cases, where attributes were asked for
    of_events: tuple[ReleasedEvents, ...] = ()  # about attributes of events

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        control = self.control
        return {
            "labels": list(map(_plain_label, self.labels)),
            "kept": control.kept.to_lists(),
            "first": control.first.to_dict(),
            "second": None if control.second is None else control.second.to_dict(),
            "decay": control.decay,
            "rare_cases": None if control.rare_cases is None else control.rare_cases.to_dict(),
            "threshold": control.threshold,
            "nearest": control.nearest,
            "tail": None if control.tail is None else control.tail.to_dict(),
            "times": self.times.to_dict(),
            "attributes": None if self.attributes is None else self.attributes.to_dict(),
            "of_events": [one.to_dict() for one in self.of_events],
        } | {name: getattr(self, name) for name in PLAIN}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Figures:
        """The figures of a JSON document."""
        labels = tuple(one if isinstance(one, str) else SEPARATOR.join(one) for one in plain["labels"])
        control = ControlFigures(
            n_labels=len(labels),
            kept=traces_of(plain["kept"]),
            first=NoisyTable.from_dict(plain["first"]),
            second=None if plain["second"] is None else NoisyTable.from_dict(plain["second"]),
            threshold=plain["threshold"],
            tail=None if plain["tail"] is None else TailFigures.from_dict(plain["tail"]),
            nearest=plain["nearest"],
            completion=completion_of(labels),
            decay=plain.get("decay"),
            rare_cases=None if plain.get("rare_cases") is None else NoisyTable.from_dict(plain["rare_cases"]),
        )
        times = TimeFigures.from_dict(plain["times"])
        attributes = None if plain["attributes"] is None else AttributeFigures.from_dict(plain["attributes"])
        of_events = tuple(map(ReleasedEvents.from_dict, plain.get("of_events", ())))
        if any(len(one.rows) != len(labels) for one in of_events):
            raise ValueError("every label has a row, or none, in each attribute of events")
        return cls(labels, control, times, **{name: plain[name] for name in PLAIN}, attributes=attributes, of_events=of_events)

    @property
    def each_attribute(self) -> tuple[ReleasedAttribute, ...]:
        """What is known of every attribute by itself, those of cases first."""
        of_cases = () if self.attributes is None else self.attributes.each
        return (*of_cases, *(one.of for one in self.of_events))


def with_pseudonyms(runs: Sequence[Figures]) -> list[Figures]:
    """The figures of some runs with resources called R1, R2 and so on, that with the highest released count first.

    Names that are declared are public, and stay. No order is left that follows from the names.
    """
    counts: Counter[str] = Counter()
    for one in (one for run in runs for one in run.each_attribute if _is_resource(one)):
        counts.update(dict(zip(one.texts, one.counts[1:].tolist(), strict=False)))
    shuffled = [sorted(counts)[i] for i in Randomness(runs[0].draw ^ 8).permutation(len(counts)).tolist()]  # so are equal counts
    names = {text: f"R{place}" for place, text in enumerate(sorted(shuffled, key=lambda text: -counts[text]), 1)}

    def texts(one: ReleasedAttribute) -> list[str]:
        return [names[text] for text in one.texts]

    found = []
    for run in runs:
        of_cases = run.attributes
        for number, one in enumerate([] if of_cases is None else of_cases.each):
            of_cases = of_cases.renamed(number, texts(one)) if of_cases is not None and _is_resource(one) else of_cases
        of_events = tuple(one.renamed(texts(one.of)) if _is_resource(one.of) else one for one in run.of_events)
        found.append(replace(run, attributes=of_cases, of_events=of_events))
    return found


def _is_resource(one: ReleasedAttribute) -> bool:
    return one.attribute.name == RESOURCE and one.attribute.kind == "category" and one.attribute.values is None


def completion_of(labels: tuple[str, ...]) -> Integers | None:
    """Of each label of a start the code of its activity's label, -1 for others; None where there are no starts."""
    found = starts_among(labels)
    return found if (found >= 0).any() else None


def _plain_label(label: str) -> str | list[str]:
    """A label as JSON has it: its activity, or its activity and transition."""
    activity, transition = split_label(label)
    return activity if transition is None else [activity, transition]


def weighted(figures: ControlFigures, random: Randomness) -> tuple[Traces, Floats]:
    """Kept variants and candidates for the tail, and how many cases each stands for."""
    traces, weights = figures.kept, figures.counts
    if figures.tail is not None:
        rare, rare_weights = weighted_traces(figures.tail, figures.kept, figures.n_labels, random, figures.completion)
        (cases, sd), kept = figures.tail.cases, weights.sum()
        least = (LEAST_BESIDE if kept > 0 else LEAST_ALONE) * tail_steps(figures.tail)[0]
        if rare_weights @ np.maximum(rare.lengths - 1, 0) < least:  # little more is known of rare cases than their number
            rare, rare_weights = rare.take(np.zeros(0, np.int64)), np.zeros(0)
        if kept > 0 and cases > THERE * sd:  # kept variants stand for the rare cases that have no traces
            weights = weights * min(1 + max(cases - rare_weights.sum(), 0.0) / kept, MOST_TIMES)
        traces, weights = concatenated([traces, rare]), np.concatenate((weights, rare_weights))
    if figures.completion is not None:
        traces = without_open(traces, figures.completion)
        some = np.flatnonzero(traces.lengths)
        traces, weights = traces.take(some), weights[some]
    order = np.lexsort((traces.fingerprints(), traces.lengths))
    return traces.take(order), weights[order]


def case_counts(weights: Floats, weight: float, cases: int | None, random: Randomness) -> Integers:
    """How many cases follow each trace, `weight` times as many as the weights say, or `cases` in all.

    Where nothing stood out from the noise there is no trace to follow, whatever number of cases was asked for.
    """
    total = weights.sum()
    if total <= 0:
        return np.zeros(len(weights), np.int64)
    return rounded(weights * (weight if cases is None else cases / total), random)


def rounded(weights: Floats, random: Randomness) -> Integers:
    """Whole numbers, each at most one away from its weight, whose running sums are at most one away from those of the weights."""
    sums = np.cumsum(weights)
    near = np.rint(sums)
    sums = np.where(np.abs(sums - near) < 1e-6, near, sums)  # a sum that is meant to be whole is
    steps = np.floor(sums + random.uniform(1))
    return np.diff(steps, prepend=0.0).astype(np.int64)
