"""From released figures to cases with activities and times, in the order in which they start.

Pure and deterministic: the same figures give the same cases, in any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from libra.eventlog.traces import Traces
from libra.mechanisms.cases import Cases, together
from libra.mechanisms.libra.control_flow import Floats, weighted, whole_cases
from libra.mechanisms.libra.figures import Figures
from libra.mechanisms.libra.times import generate_times
from libra.privacy.randomness import Randomness


def generate(runs: Sequence[Figures]) -> Cases:
    """The cases of all runs together, in the codes of `labels_of`."""
    return in_order(runs, [with_times(run, traces_of_run(run)) for run in runs])


def labels_of(runs: Sequence[Figures]) -> tuple[str, ...]:
    """The labels of all runs; where labels are private, each run has chosen its own."""
    return tuple(sorted({label for run in runs for label in run.labels}))


def sharing_cases(runs: Sequence[Figures], filled: Sequence[bool], cases: int | None) -> list[Figures]:
    """The figures with so many cases to generate in all, in even parts for the runs in which there is anything."""
    if cases is None:
        return list(runs)
    bounds = cases * np.cumsum([0, *filled]) // max(sum(filled), 1)
    return [replace(run, cases=int(part)) for run, part in zip(runs, np.diff(bounds), strict=True)]


def traces_of_run(figures: Figures) -> Traces:
    """The control flow of one run."""
    return scaled(figures, *weighted(figures.control, Randomness(figures.draw)))


def scaled(figures: Figures, traces: Traces, weights: Floats) -> Traces:
    """As many traces as there are cases to be generated."""
    return whole_cases(traces, weights, figures.weight, figures.cases, Randomness(figures.draw ^ 2))


def with_times(figures: Figures, traces: Traces) -> Cases:
    """The control flow of one run with a time for every event."""
    random = Randomness(figures.draw ^ 1)
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
    return cases.take(np.argsort(cases.micros[cases.offsets[:-1]], kind="stable")) if len(cases) else cases
