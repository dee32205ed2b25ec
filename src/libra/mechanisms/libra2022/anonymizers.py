"""Mechanisms of other authors as anonymizers of a subsample, as the paper proposes.

In: the name of a mechanism. Out: a function from the cases of a subsample and an epsilon to cases. Those that release no times
get some here: a trace takes over the times of a random case that follows it; one that no case follows starts when a random case
does, and each event comes as long after the one before as a random event of its activity. The paper's time noise goes on top.
Prefix queries are pruned at 1 % of the cases or, as subsamples are small, at what keeps their tree from running away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces
from libra.mechanisms.libra2022.time_noise import time_noise
from libra.mechanisms.mechanism import mechanism, names, parameters_of
from libra.mechanisms.peers.counted import Counted, counted_of
from libra.mechanisms.prefix_tree.parameters import enough_to_prune
from libra.privacy.randomness import Randomness


def named_anonymizer(name: str, delta: float) -> Callable[[Cases, float, Randomness], Cases]:
    """The anonymizer of this name; `delta` is for those that take one.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> anonymized = named_anonymizer("travas", 1e-3)(cases_of(simulate(cases=500)), 2.0, Randomness())
        >>> len(anonymized) > 0
        True
    """
    refuse_other(name)

    def anonymized(cases: Cases, epsilon: float, random: Randomness) -> Cases:
        known = parameters_of(name)
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        if "prune" in known:
            asked["prune"] = enough_to_prune(counted_of(cases), epsilon, cases.n_activities)
        made: Any = mechanism(name, {key: value for key, value in asked.items() if key in known})
        if hasattr(made, "anonymized"):
            result: Cases = made.anonymized(cases, random)
            return result
        if not hasattr(made, "variants"):
            raise UsageError(f'"{name}" cannot anonymize a subsample: it has neither anonymized() nor variants().')
        return time_noise(with_times_of(made.variants(cases, random), cases, random), epsilon, random)

    return anonymized


def refuse_other(name: str) -> None:
    """A `UsageError` for what cannot anonymize a subsample.

    Example:
        >>> refuse_other("libra")
        Traceback (most recent call last):
        libra.errors.UsageError: "libra" cannot anonymize a subsample. There is: amun, pripel, prefix-laplace, sacofa, travas.
    """
    possible = [other for other in names() if other not in ("libra", "libra2022")]
    if name not in possible:
        raise UsageError(f'"{name}" cannot anonymize a subsample. There is: {", ".join(possible)}.')


def with_times_of(counted: Counted, cases: Cases, random: Randomness) -> Cases:
    """A case for each of the traces, with times from these cases.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> cases = cases_of(simulate(cases=50))
        >>> timed = with_times_of(counted_of(cases), cases, Randomness())
        >>> len(timed), sorted(timed.lengths.tolist()) == sorted(cases.lengths.tolist())
        (50, True)
    """
    keep = np.flatnonzero(counted.traces.lengths)
    counted = Counted(counted.traces.take(keep), counted.counts[keep])
    traces, variant = counted.repeated(), np.repeat(np.arange(len(counted)), counted.counts)
    if not len(cases) or not len(traces):
        return Cases(traces.codes, traces.codes, traces.offsets, variant, cases.n_activities)
    row = _followers(counted, cases, random)
    position = np.arange(len(traces.codes)) - np.repeat(traces.offsets[:-1], traces.lengths)
    gaps = np.diff(cases.micros, prepend=cases.micros[:1])
    follows = np.repeat(row >= 0, traces.lengths)
    taken_over = gaps[np.where(follows, np.repeat(cases.offsets[row], traces.lengths) + position, 0)]
    gap = np.where(follows, taken_over, _drawn(cases, gaps, traces, random))
    gap[traces.offsets[:-1]] = 0
    elsewhere = random.below(len(cases), len(traces))
    start = cases.micros[cases.offsets[np.where(row >= 0, row, elsewhere)]]
    total = np.cumsum(gap)
    micros = total - np.repeat(total[traces.offsets[:-1]], traces.lengths) + np.repeat(start, traces.lengths)
    return Cases(traces.codes, micros, traces.offsets, variant, cases.n_activities)


def _followers(counted: Counted, cases: Cases, random: Randomness) -> Integers:
    """For every case of the answer, the row of a random case that follows the same trace; -1 where none does."""
    _, group, sizes = np.unique(cases.variant, return_inverse=True, return_counts=True)
    known = {trace: number for number, trace in enumerate(counted_of(cases).traces.as_bytes())}
    of_trace = np.array([known.get(trace, -1) for trace in counted.traces.as_bytes()], np.int64)
    number = np.repeat(of_trace, counted.counts)
    begin = np.cumsum(sizes) - sizes
    picked = begin[number] + (random.uniform(len(number)) * sizes[number]).astype(np.int64)
    by_group = np.argsort(group, kind="stable")
    return np.where(number >= 0, by_group[picked], -1)


def _drawn(cases: Cases, gaps: Integers, traces: Traces, random: Randomness) -> Integers:
    """For every event the time since the one before of a random event of its activity; of any activity where that has none."""
    later = np.ones(len(gaps), bool)
    later[cases.offsets[:-1]] = False
    codes, gaps = cases.codes[later], gaps[later]
    if not len(gaps):
        return np.zeros(len(traces.codes), np.int64)
    gaps = gaps[np.argsort(codes, kind="stable")]
    sizes = np.bincount(codes, minlength=cases.n_activities)
    begin = np.cumsum(sizes) - sizes
    begin[sizes == 0], sizes[sizes == 0] = 0, len(gaps)
    picked: Integers = gaps[begin[traces.codes] + (random.uniform(len(traces.codes)) * sizes[traces.codes]).astype(np.int64)]
    return picked
