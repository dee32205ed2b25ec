"""Step 3a, trace noise: cases are copied or deleted so that the transitions of the sample's automaton carry noise.

The paper takes the approach of Amun (Elkoumy et al. 2022) and lets the noise, ceil(Laplace(1/epsilon)), be negative too. As long
as a transition lacks copies, one is picked at random, and as many variants as it lacks are drawn from those that use it; each
counts up all transitions on its path. Downwards alike: up minus down of a variant is the number of its cases to copy or delete.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

import numpy as np

from libra._system.ordering import ranks
from libra._system.randomness import Randomness
from libra.eventlog.cases import Cases, Integers, Traces

Trace: TypeAlias = Sequence[int]
START = 0  # the first state of an automaton


def trace_noise(cases: Cases, epsilon: float, random: Randomness) -> Cases:
    """The cases of a subsample, some copied and some deleted."""
    if not len(cases):
        return cases
    group, counts, paths = variant_paths(cases)
    return cases.take(changed(group, counts, copies_and_deletions(paths, epsilon, random), random))


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """Which transitions each variant uses (`of_variant`), and which variants use each transition (`users`)."""

    of_variant: list[Integers]
    users: list[Integers]


def variant_paths(cases: Cases) -> tuple[Integers, Integers, Paths]:
    """The variant of each case, at least one, how many cases each variant has, and the paths of the variants."""
    _, first, group, counts = np.unique(cases.variant, return_index=True, return_inverse=True, return_counts=True)
    return group, counts, transition_paths(Traces(cases.codes, cases.offsets).take(first).to_lists())


def transition_paths(traces: list[list[int]]) -> Paths:
    """The paths of distinct traces through their minimal automaton."""
    automaton = minimal_automaton(traces)
    of_variant = [np.array(automaton.path(trace), np.int64) for trace in traces]
    used = np.concatenate(of_variant)
    variant = np.repeat(np.arange(len(traces)), [len(path) for path in of_variant])
    by_transition = np.argsort(used, kind="stable")
    bounds = np.cumsum(np.bincount(used, minlength=len(automaton.targets)))[:-1]
    return Paths(of_variant, np.split(variant[by_transition], bounds))


def copies_and_deletions(paths: Paths, epsilon: float, random: Randomness) -> Integers:
    """For each variant how many of its cases to copy, or to delete where negative."""
    noise = np.ceil(random.laplace(1 / epsilon, len(paths.users))).astype(np.int64)
    return cover(np.maximum(noise, 0), paths, random) - cover(np.maximum(-noise, 0), paths, random)


def cover(
    needed: Integers, paths: Paths, random: Randomness, *, cases: Integers | None = None, most_events: float = math.inf
) -> Integers:
    """How often each variant is drawn until every transition has been used at least as often as needed.

    To pick at random among those that still lack, again and again, is to go through all in random order and to pass over those
    that lack nothing any more: a transition once served never lacks again. With the number of `cases` of each variant, cases are
    drawn as Amun does: a transition that lacks draws all that it needs, from the cases that use it. Without, it draws what it
    lacks, from the variants that use it. It stops as soon as the variants drawn have more than `most_events`.
    """
    drawn = np.zeros(len(paths.of_variant), np.int64)
    served = np.zeros_like(needed)
    wanted = np.flatnonzero(needed)
    events = 0
    for transition in wanted[random.permutation(len(wanted))]:
        lacking = int(needed[transition] - served[transition])
        if lacking > 0:
            users = paths.users[transition]
            if cases is None:
                picked = random.below(len(users), lacking)
            else:
                shares = np.cumsum(cases[users]) / cases[users].sum()
                picked = np.searchsorted(shares, random.uniform(int(needed[transition])))
            chosen, times = np.unique(users[picked], return_counts=True)
            drawn[chosen] += times
            for variant, often in zip(chosen, times, strict=True):
                served[paths.of_variant[variant]] += often
                events += int(often) * len(paths.of_variant[variant])
            if events > most_events:
                break
    return drawn


def changed(group: Integers, counts: Integers, change: Integers, random: Randomness) -> Integers:
    """The rows of the cases that stay, then of those copied: both chosen at random within their variant."""
    shuffled = random.permutation(len(group))
    by_group = shuffled[np.argsort(group[shuffled], kind="stable")]
    staying = by_group[ranks(counts) >= np.repeat(np.maximum(-change, 0), counts)]
    copied = np.repeat(np.arange(len(counts)), np.maximum(change, 0))
    picks = (np.cumsum(counts) - counts)[copied] + (random.uniform(len(copied)) * counts[copied]).astype(np.int64)
    return np.concatenate((staying, by_group[picks]))


@dataclass(frozen=True)
class Automaton:
    """The smallest automaton of some sequences, from the state `START` on."""

    steps: tuple[dict[int, int], ...]  # for each state, from a symbol to the number of a transition
    targets: tuple[int, ...]  # where transitions lead
    final: frozenset[int]  # the states at which a sequence may end

    def path(self, trace: Trace) -> list[int]:
        """The transitions that a sequence takes; a `KeyError` where there is none. No transition comes twice."""
        state, taken = START, []
        for symbol in trace:
            transition = self.steps[state][symbol]
            taken.append(transition)
            state = self.targets[transition]
        return taken


def minimal_automaton(traces: Iterable[Trace]) -> Automaton:
    """The smallest automaton that accepts exactly these sequences."""
    children: list[dict[int, int]] = [{}]
    final: set[int] = set()
    known: dict[tuple[object, ...], int] = {}
    path = [START]  # the states along the latest sequence ...
    before: tuple[int, ...] = ()  # ... which is this

    def settle(depth: int) -> None:
        """Nothing below this depth of the latest sequence changes any more: share its states with equal ones."""
        while len(path) > depth + 1:
            state = path.pop()
            same = known.setdefault((state in final, *children[state].items()), state)
            children[path[-1]][before[len(path) - 1]] = same

    for trace in sorted({tuple(trace) for trace in traces}):
        settle(sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(before, trace, strict=False))))
        for symbol in trace[len(path) - 1 :]:
            children.append({})
            children[path[-1]][symbol] = len(children) - 1
            path.append(len(children) - 1)
        final.add(path[-1])
        before = trace
    settle(0)
    return _numbered(children, final)


def _numbered(children: Sequence[dict[int, int]], final: set[int]) -> Automaton:
    """Number the states that can still be reached, and their transitions, from the start on."""
    number = {START: 0}
    queue: list[int] = [START]
    steps: list[dict[int, int]] = []
    targets: list[int] = []
    for state in queue:
        of_state = {}
        for symbol, target in children[state].items():
            if target not in number:
                number[target] = len(number)
                queue.append(target)
            of_state[symbol] = len(targets)
            targets.append(number[target])
        steps.append(of_state)
    return Automaton(tuple(steps), tuple(targets), frozenset(number[state] for state in final if state in number))
