"""From released figures to cases with activities and times, in the order in which they start.

Pure and deterministic: the same figures give the same cases, in any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from libra.eventlog.cases import Cases, Traces, together
from libra.eventlog.ordering import stable_order
from libra.mechanisms.libra.figures import Figures
from libra.mechanisms.libra.times import generate_times
from libra.privacy.randomness import Randomness


def generate(runs: Sequence[Figures]) -> Cases:
    """The cases of all runs together, in the codes of `labels_of`: all parts of the log, one after the other.

    Example:
        >>> import libra
        >>> from libra.example.simulate import simulate
        >>> release = libra.anonymize(simulate(cases=500), delta=1e-4)
        >>> generate(release.figures).micros.tolist() == release.log.timestamps.tolist()
        True
    """
    from libra.mechanisms.libra.parts import planned

    plan = planned(runs)
    return together([plan.part(i) for i in range(plan.n_parts)])


def labels_of(runs: Sequence[Figures]) -> tuple[str, ...]:
    """The labels of all runs; where labels are private, each run has chosen its own.

    Example:
        >>> import libra
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=500)
        >>> labels_of(libra.anonymize(log, delta=1e-4, labels="public").figures) == tuple(sorted(log.activities))
        True
    """
    return tuple(sorted({label for run in runs for label in run.labels}))


def sharing_cases(runs: Sequence[Figures], filled: Sequence[bool], cases: int | None) -> list[Figures]:
    """The figures with so many cases to generate in all, in even parts for the runs in which there is anything.

    Example:
        >>> import libra
        >>> from libra.example.simulate import simulate
        >>> runs = libra.anonymize(simulate(cases=500), delta=1e-4, subsamples=3).figures
        >>> [run.cases for run in sharing_cases(runs, [True, False, True], 101)]
        [50, 0, 51]
    """
    if cases is None:
        return list(runs)
    bounds = cases * np.cumsum([0, *filled]) // max(sum(filled), 1)
    return [replace(run, cases=int(part)) for run, part in zip(runs, np.diff(bounds), strict=True)]


def with_times(figures: Figures, traces: Traces, random: Randomness | None = None) -> Cases:
    """Control flow of one run with a time for every event, drawn by the figures' own seed where no other randomness is given.

    Example:
        >>> import libra
        >>> from libra.eventlog.cases import traces_of
        >>> from libra.example.simulate import simulate
        >>> (figures,) = libra.anonymize(simulate(cases=500), delta=1e-4).figures
        >>> cases = with_times(figures, traces_of([[0, 1], [2]]))
        >>> cases.codes.tolist(), len(cases.micros)
        ([0, 1, 2], 3)
    """
    random = random or Randomness(figures.draw ^ 1)
    micros = generate_times(figures.times, traces, figures.control.n_labels, figures.time_zone, random)
    return Cases(traces.codes, micros, traces.offsets, np.zeros(len(traces), np.int64), figures.control.n_labels)


def in_order(runs: Sequence[Figures], generated: Sequence[Cases]) -> Cases:
    """All cases in the codes of `labels_of`, the one that starts first coming first.

    Example:
        >>> import libra
        >>> from libra.example.simulate import simulate
        >>> from libra.eventlog.cases import traces_of
        >>> runs = libra.anonymize(simulate(cases=500), delta=1e-4).figures
        >>> cases = in_order(runs, [with_times(run, traces_of([[0, 1], [2], [0, 3]])) for run in runs])
        >>> bool((np.diff(cases.micros[cases.offsets[:-1]]) >= 0).all())
        True
    """
    code = {label: code for code, label in enumerate(labels_of(runs))}
    parts = []
    for run, cases in zip(runs, generated, strict=True):
        codes = np.array([code[label] for label in run.labels], np.int64)[cases.codes]
        parts.append(replace(cases, codes=codes, n_activities=len(code)))
    cases = together(parts)
    return cases.take(stable_order(cases.micros[cases.offsets[:-1]])) if len(cases) else cases
