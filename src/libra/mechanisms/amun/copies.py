"""Which cases are copied: every transition of the log's minimal automaton is to be used more often, by noise that only adds.

In: cases and an epsilon. Out: their rows, each once, then those of the copies. A transition draws ceil(|Laplace(1/epsilon)|). As
long as one lacks copies, one such is picked at random and draws as many cases as its noise says from those that use it; each
counts on all transitions of its path. No case is ever left out. Copies may be more than memory holds: this is known from the
variants drawn, before any case is copied, and refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces
from libra.mechanisms.amun.guesses import advantage_of, epsilon_of
from libra.mechanisms.libra2022.trace_noise import Paths, changed, cover, transition_paths
from libra.privacy.randomness import Randomness

MOST_EVENTS = 50_000_000  # beyond this, memory would run out
ROOM = 0.8
LARGEST_TRIED = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class OnAutomaton:
    """Cases and their way through the minimal automaton of their variants.

    Attributes:
        cases: The cases.
        group: The variant of each case, numbered from 0 without gaps.
        counts: The cases of each variant.
        paths: The transitions of each variant.
    """

    cases: Cases
    group: Integers
    counts: Integers
    paths: Paths

    def transitions(self) -> Integers:
        """For every event the transition that it takes."""
        lengths = [len(path) for path in self.paths.of_variant]
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        return Traces(np.concatenate(self.paths.of_variant), offsets).take(self.group).codes


def on_automaton(cases: Cases) -> OnAutomaton:
    """The cases, at least one, on the minimal automaton of their variants.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> cases = cases_of(simulate(cases=50))
        >>> len(on_automaton(cases).transitions()) == len(cases.codes)
        True
    """
    _, first, group, counts = np.unique(cases.variant, return_index=True, return_inverse=True, return_counts=True)
    return OnAutomaton(cases, group, counts, transition_paths(Traces(cases.codes, cases.offsets).take(first).to_lists()))


def copied_rows(log: OnAutomaton, epsilon: float, random: Randomness) -> Integers:
    """The row of every case, then of every copy.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> rows = copied_rows(on_automaton(cases_of(simulate(cases=50))), 0.5, Randomness())
        >>> len(rows) > 50, len(np.unique(rows))
        (True, 50)
    """
    drawn = _drawn(log, epsilon, random, MOST_EVENTS)
    if drawn is None:
        raise _refusal(log, epsilon, random)
    return changed(log.group, log.counts, drawn, random)


def expected_noise(epsilon: float) -> float:
    """The mean of ceil(|Laplace(1/epsilon)|), which is geometric.

    Example:
        >>> round(expected_noise(1.0), 3)
        1.582
    """
    return -1 / math.expm1(-epsilon)


def _drawn(log: OnAutomaton, epsilon: float, random: Randomness, most_events: float) -> Integers | None:
    """How often each variant is copied; None where that gives a log of more events than this."""
    room = most_events - len(log.cases.codes)
    if expected_noise(epsilon) * len(log.paths.users) > room:  # a copied event serves one transition
        return None
    needed = np.ceil(np.abs(random.laplace(1 / epsilon, len(log.paths.users)))).astype(np.int64)
    drawn = cover(needed, log.paths, random, cases=log.counts, most_events=room)
    lengths = np.array([len(path) for path in log.paths.of_variant])
    return drawn if int(drawn @ lengths) <= room else None


def _refusal(log: OnAutomaton, epsilon: float, random: Randomness) -> UsageError:
    """What to say, with a setting that was tried: it leaves room for the noise of another run."""
    reason = f"amun would copy cases until there are more than {MOST_EVENTS:,} events, which do not fit into memory."
    advantage = advantage_of(epsilon)
    while advantage < LARGEST_TRIED:
        advantage = min(float(f"{2 * advantage:.1g}"), LARGEST_TRIED)
        tried = epsilon_of(advantage)
        if _drawn(log, tried, random, ROOM * MOST_EVENTS) is not None:
            return UsageError(f"{reason} --guessing-advantage {advantage:g} (--epsilon {tried:.2g}) would work.")
    return UsageError(f"{reason} This log has too many variants for it at any setting.")
