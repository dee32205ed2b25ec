"""The steps of the paper's Algorithm 1 but for trace noise: clip, subsample, time noise, relevance, combine."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import DAY, MINUTE, Cases, together
from libra.eventlog.log import EventLog
from libra.mechanisms.fresh_log import fresh_log
from libra.mechanisms.libra2022.claim import default_subsamples
from libra.mechanisms.peers import at_relative_times, relative_times

Abstraction = Literal["activities", "starts", "ends", "edges", "cycle_times", "case_durations"]
ALL: tuple[Abstraction, ...] = get_args(Abstraction)
OMEGA_MINUTES = 20.0  # of the authors' experiments; the paper does not say


def clipping_threshold(epsilon: float, delta: float, n_variants: int) -> int:
    """C = (1/epsilon) ln(2k/delta), rounded to a whole number of cases (Lemma III.1, after Chaudhuri and Mishra 2006)."""
    return round(math.log(2 * n_variants / delta) / epsilon) if n_variants else 0


def clip(cases: Cases, threshold: int) -> Cases:
    """Step 1: the cases whose variant occurs at least `threshold` times, by the exact count, as published."""
    counts = np.bincount(cases.variant)
    return cases.take(np.flatnonzero(counts[cases.variant] >= threshold))


def largest_count(cases: Cases) -> int:
    """How often the most frequent variant occurs: no threshold above it keeps anything."""
    return int(np.bincount(cases.variant).max(initial=0))


def poisson_subsample(cases: Cases, rate: float, random: Randomness) -> Cases:
    """Step 2: each case with probability `rate`, independently of all others (Definition III.5, Poisson sampling)."""
    return cases.take(np.flatnonzero(random.uniform(len(cases)) < rate))


def number_of_subsamples(asked: int | Literal["paper"] | None, rate: float, n_cases: int) -> int:
    """How many subsamples are drawn: as asked, or round(1/rate), or the paper's rate times the number of clipped cases."""
    if asked is None:
        return default_subsamples(rate)
    return max(1, round(rate * n_cases)) if asked == "paper" else asked


def time_noise(cases: Cases, epsilon: float, random: Randomness, *, signed: bool = False) -> Cases:
    """Step 3b: the cases with Laplace noise of scale 1/epsilon on starts, in days, and on cycle times, in minutes.

    The text lets a noisy cycle time fall below zero. Tools that sort by time would then see variants that never occurred, against
    the paper's own promise, so that a millisecond is the least here unless `signed` asks for the text.
    """
    if not len(cases):
        return cases
    relative = relative_times(cases)
    unit = np.full(len(relative), MINUTE)
    unit[cases.offsets[:-1]] = DAY
    noisy = relative + unit * random.laplace(1 / epsilon, len(relative))
    return at_relative_times(cases, noisy, int(cases.micros.min()), signed=signed)


def sufficient_after(d: float = 0.05, z: float = 0.99) -> int:
    """N, the cases without news in a row that make a sample discovery sufficient: (-2d^2 + z^2 + sqrt z) / 2d."""
    return math.ceil((-2 * d**2 + z**2 + math.sqrt(z)) / (2 * d))


def relevant_cases(
    cases: Cases,
    random: Randomness,
    *,
    abstractions: Collection[Abstraction] = ALL,
    omega: float = OMEGA_MINUTES,
    patience: int | None = None,
) -> Cases:
    """Step 4: the cases that bring news, in the order of the visit (Equation 1 of the paper, after Bauer et al. 2018).

    Cases are visited in random order. A case is kept if it brings an activity, a first or last activity or a directly-follows
    edge that none of those kept had, or if it moves their mean case duration, or the mean cycle time of an edge, by more than
    omega minutes. The sample is discovery sufficient, and the scan stops, once N cases in a row (`patience`, or
    `sufficient_after()`) brought nothing new. Where all were visited without that, the whole subsample stays.
    """
    unknown = set(abstractions) - set(ALL)
    if unknown or not abstractions:
        raise UsageError(f"An abstraction is one of {', '.join(ALL)}, not {', '.join(sorted(unknown)) or 'nothing'}.")
    visited = cases.take(random.permutation(len(cases)))
    kept = _scan(visited, set(abstractions), omega, sufficient_after() if patience is None else patience)
    return visited if kept is None else visited.take(np.array(kept, np.int64))


def _scan(cases: Cases, abstractions: Collection[Abstraction], omega: float, patience: int) -> list[int] | None:
    """The rows of the cases with news; None where the scan came to the end before it could stop."""
    features = _features(cases, abstractions)
    steps = _steps(cases)
    timed, clocked = "cycle_times" in abstractions, "case_durations" in abstractions
    seen: set[tuple[str, int]] = set()
    known: set[int] = set()  # variants of which everything is seen
    minutes, times = [0.0] * steps.n_edges, [0] * steps.n_edges
    duration = 0.0
    kept: list[int] = []
    quiet = 0
    for row, variant in enumerate(cases.variant.tolist()):
        of_case = range(steps.bounds[row], steps.bounds[row + 1])
        news = variant not in known and not seen.issuperset(features[variant])
        if not news and clocked:
            news = _moves(duration, len(kept), steps.durations[row], 1, omega)
        if not news and timed:
            for step in of_case:
                edge = steps.edges[step]
                if _moves(minutes[edge], times[edge], steps.minutes[step], steps.times[step], omega):
                    news = True
                    break
        if news:
            kept.append(row)
            quiet = 0
            known.add(variant)
            seen |= features[variant]
            duration += steps.durations[row]
            for step in of_case:
                minutes[steps.edges[step]] += steps.minutes[step]
                times[steps.edges[step]] += steps.times[step]
        else:
            quiet += 1
            if quiet == patience:
                return kept
    return None


def _moves(total: float, count: int, more: float, more_count: int, omega: float) -> bool:
    """Whether a mean moves by more than omega when more values join; the first ones always do."""
    return count == 0 or abs((total + more) / (count + more_count) - total / count) > omega


def _features(cases: Cases, abstractions: Collection[Abstraction]) -> dict[int, frozenset[tuple[str, int]]]:
    """What each variant shows besides its times."""
    variants, rows = np.unique(cases.variant, return_index=True)
    features: dict[int, frozenset[tuple[str, int]]] = {}
    for variant, row in zip(variants.tolist(), rows.tolist(), strict=True):
        codes = cases.codes[cases.offsets[row] : cases.offsets[row + 1]]
        shown = {
            "activities": codes.tolist(),
            "starts": codes[:1].tolist(),
            "ends": codes[-1:].tolist(),
            "edges": (codes[:-1] * cases.n_activities + codes[1:]).tolist(),
        }
        features[variant] = frozenset((name, value) for name in abstractions for value in shown.get(name, ()))
    return features


class _Steps(NamedTuple):
    """The minutes spent in each case, in all (`durations`) and edge by edge.

    Case i took edge `edges[j]`, `times[j]` times and `minutes[j]` minutes in all, for j from `bounds[i]` up to `bounds[i + 1]`.
    """

    durations: list[float]
    bounds: list[int]
    edges: list[int]
    minutes: list[float]
    times: list[int]
    n_edges: int


def _steps(cases: Cases) -> _Steps:
    first, last = cases.offsets[:-1], cases.offsets[1:] - 1
    later = np.ones(len(cases.codes), bool)
    later[first] = False
    arrival = np.flatnonzero(later)
    case = np.repeat(np.arange(len(cases)), cases.lengths - 1)
    pair = cases.codes[arrival - 1] * cases.n_activities + cases.codes[arrival]
    distinct, edge = np.unique(pair, return_inverse=True)
    key, group = np.unique(case * len(distinct) + edge, return_inverse=True)
    taken = (cases.micros[arrival] - cases.micros[arrival - 1]) / MINUTE
    return _Steps(
        durations=((cases.micros[last] - cases.micros[first]) / MINUTE).tolist(),
        bounds=np.searchsorted(key, np.arange(len(cases) + 1) * len(distinct)).tolist(),
        edges=(key % max(len(distinct), 1)).tolist(),
        minutes=np.bincount(group, taken, len(key)).tolist(),
        times=np.bincount(group, minlength=len(key)).tolist(),
        n_edges=len(distinct),
    )


def combine(subsamples: Sequence[Cases], activities: Sequence[str], random: Randomness) -> EventLog:
    """Step 5: one log of all cases, shuffled, under fresh ids; `activities` are the labels that the codes stand for."""
    return fresh_log(together(subsamples), activities, random)
