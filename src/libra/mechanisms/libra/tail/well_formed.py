"""Sequences of starts and completions that instances can be made of: every start is completed, and completions have starts.

A Markov chain by itself would start instances that it never completes. So a walk that does not fit what it has open is given up,
as if all walks were drawn and the ill-formed ones left out. Where hardly any is left, as with many activities in parallel, walks
try another step in place of one that does not fit. Steps that kept variants only take while nothing is open are waits: no walk
takes them with an instance open, which would be open for as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.counting.blocks import offsets_of
from libra.eventlog.cases import Floats, Integers, Traces, concatenated
from libra.eventlog.instances import Flags, pairs
from libra.mechanisms.libra.instances import within_instances
from libra.privacy.noise import NoisyTable

ROUNDS = 4  # in which walks are drawn, until there are enough that fit; and as many in which they try other steps
TRIES = 20  # for another step
SUPPORTED = 2.0  # standard deviations: what a step between completions counts at least that is not known otherwise
AT_ONCE = 0.9  # share of starts that are completed before anything else happens: nearly always
CLEAR = 2.0  # standard deviations from which on there are completions without a start


def lacking_starts(base: NoisyTable, edges: Integers, completion: Integers) -> Floats:
    """For every label the share of its events that complete what was never started, as far as that stands out from the noise.

    `edges` are those that the tail has, as cells of the noisy table, and `completion` is for the label of a start the code of its
    activity's label, -1 for others.
    """
    target, n_labels = edges % len(base.counts), len(completion)
    comes = np.bincount(target, np.maximum(base.values.ravel()[edges], 0.0), minlength=n_labels + 1)[:n_labels]
    sd = base.sd * np.sqrt(np.bincount(target, minlength=n_labels + 1)[:n_labels])
    starts = np.flatnonzero(completion >= 0)
    ends = completion[starts]
    started, completed, noise = comes[starts], comes[ends], CLEAR * np.hypot(sd[starts], sd[ends])
    share = np.divide(completed - started, completed, out=np.ones(len(starts)), where=completed > 0)
    lacking = np.zeros(n_labels)
    lacking[ends] = np.where(started <= 0, 1.0, np.where(completed - started > noise, share, 0.0))
    return lacking


def waits_of(kept: Traces, completion: Integers) -> Flags:
    """Which edges are steps of kept variants, and never while an instance is open; edge (a, b) is cell a * (n_labels + 1) + b."""
    nodes = len(completion) + 1
    following = np.ones(len(kept.codes), bool)
    following[kept.offsets[:-1][kept.lengths > 0]] = False
    position = np.flatnonzero(following)
    edge = kept.codes[position - 1] * nodes + kept.codes[position]
    used, within = (np.bincount(edge, by, minlength=nodes**2) for by in (None, within_instances(kept, completion)[position]))
    waits: Flags = (used > 0) & (within == 0)
    return waits


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """Which steps fit."""

    completion: Integers  # for the label of a start the code of its activity's label, -1 for others
    lacking: Floats  # for every label the share of its events that complete what was never started
    waits: Flags  # the edges that are taken while nothing is open


class Open:
    """What walkers have open."""

    def __init__(self, rules: Rules, walkers: int, tries: int) -> None:
        """Nothing yet; `tries` is how many other steps may be tried in place of one that does not fit."""
        completion, starts = rules.completion, np.flatnonzero(rules.completion >= 0)
        self._change = np.zeros(len(completion) + 1, np.int64)  # of what is open, by node; the last one is the end
        self._change[starts], self._change[completion[starts]] = 1, -1
        self._column = np.zeros(len(completion) + 1, np.int64)
        self._column[starts] = self._column[completion[starts]] = np.arange(len(starts))
        self._lacking, self._waits, self._tries = np.append(rules.lacking, 0.0), rules.waits, tries
        self._open = np.zeros((walkers, len(starts)), np.int32)
        self._in_all = np.zeros(walkers, np.int64)

    def fitting(
        self, walker: Integers, at: Integers, node: Integers, draw: Callable[[Integers], Integers], random: Randomness
    ) -> Flags:
        """Which walkers' steps from where they are to these nodes fit; where others may be tried, nodes are changed in place.

        `draw` gives new nodes for some of the walkers, by their position here.
        """
        unfit, end = np.arange(len(walker)), len(self._change) - 1
        for left in range(self._tries, -1, -1):
            who, to = walker[unfit], node[unfit]
            busy = self._in_all[who] > 0
            closes = (self._change[to] < 0) & (self._open[who, self._column[to]] == 0)
            closes &= random.uniform(len(to)) >= self._lacking[to]
            unfit = unfit[closes | (busy & ((to == end) | self._waits[at[unfit] * (end + 1) + to]))]
            if left and len(unfit):
                node[unfit] = draw(unfit)
        fits = np.ones(len(walker), bool)
        fits[unfit] = False
        return fits

    def take(self, walker: Integers, node: Integers) -> None:
        """Walkers take steps to these nodes."""
        change, column = self._change[node], self._column[node]
        has = self._open[walker, column]
        change = np.where((change < 0) & (has == 0), 0, change)
        self._open[walker, column] = has + change
        self._in_all[walker] += change


def drawn_well_formed(draw: Callable[..., Traces], n: int, rules: Rules) -> Traces:
    """About so many traces that fit, of which `draw` gives as many as come out of so many walks; none where none fits."""
    found: list[Traces] = []
    for number in range(2 * ROUNDS):
        found.append(draw(n, opened=Open(rules, n, 0 if number < ROUNDS else TRIES)))
        if sum(map(len, found)) >= n // 2:
            break
    return concatenated(found)


def with_supported_steps(
    traces: Traces, weights: Floats, kept: Traces, base: NoisyTable, edges: Integers, completion: Integers
) -> Integers:
    """The rows of traces whose steps from completion to completion are known, or stand out by these weights.

    Starts are released as parts of instances, so these are the steps of the log. Where activities overlap, a sequence whose every
    edge is certain may still complete one after the other as nobody did. Steps are known from kept variants and from `edges`:
    where one leads from a completion to another, or to a start that is nearly always completed next.
    """
    nodes, least = len(completion) + 1, SUPPORTED * base.sd
    source, target = np.divmod(edges, nodes)
    taken = np.maximum(base.values.ravel()[edges], 0.0)
    completes = np.append(completion, -1)
    leaves = np.bincount(source, taken, minlength=nodes)
    at_once = np.bincount(source, taken * (completes[source] == target), minlength=nodes) >= AT_ONCE * np.maximum(leaves, 1e-300)
    ended = np.where(completes[target] >= 0, completes[target], target)
    follows = (completes[source] < 0) & ((completes[target] < 0) | at_once[target])
    known = np.zeros(nodes**2, bool)
    known[_steps(kept, completion)[1]] = True
    known[(source * nodes + ended)[follows]] = True
    row, step = _steps(traces, completion)
    stays = np.ones(len(traces), bool)
    while True:
        counts = np.bincount(step, weights[row] * stays[row], minlength=nodes**2)
        weak = (counts < least) & ~known
        fewer = stays & (np.bincount(row, weak[step], minlength=len(traces)) == 0)
        if fewer.sum() == stays.sum():
            return np.flatnonzero(stays)
        stays = fewer


def _steps(traces: Traces, completion: Integers) -> tuple[Integers, Integers]:
    """The steps from completion to completion of traces, the first and the last included: the row of each, and its cell."""
    ends = (completion < 0)[traces.codes]
    row, codes, outside = traces.rows[ends], traces.codes[ends], len(completion)
    first = np.concatenate((np.ones(min(len(row), 1), bool), row[1:] != row[:-1]))
    last = np.concatenate((row[1:] != row[:-1], np.ones(min(len(row), 1), bool)))
    before = np.where(first, outside, np.concatenate((codes[:1], codes[:-1])))
    steps = before * (outside + 1) + codes
    return np.concatenate((row, row[last])), np.concatenate((steps, codes[last] * (outside + 1) + outside))


def without_open(traces: Traces, completion: Integers) -> Traces:
    """The traces without starts that nothing completes; a row may become empty.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> without_open(traces_of([[1, 0, 1], [1]]), np.array([-1, 0])).to_lists()
        [[1, 0], []]
    """
    is_start = (completion >= 0)[traces.codes]
    if not is_start.any():
        return traces
    activity = np.where(is_start, completion[traces.codes], traces.codes)
    found = pairs(traces.rows, activity, None, np.arange(len(activity)), is_start, in_order=True)
    stays = np.ones(len(activity), bool)
    stays[found.ends[is_start[found.ends]]] = False
    return Traces(traces.codes[stays], offsets_of(np.bincount(traces.rows[stays], minlength=len(traces))))
