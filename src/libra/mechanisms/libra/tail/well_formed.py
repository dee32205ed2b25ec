"""Sequences of starts and completions that instances can be made of: every start is completed, and completions have starts.

Where activities are started and completed, a Markov chain by itself would start instances that it never completes. So a walker
takes no step that does not fit what it has open, and tries another one instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.counting.blocks import offsets_of
from libra.eventlog.cases import Floats, Integers, Traces
from libra.eventlog.instances import Flags, pairs
from libra.privacy.noise import NoisyTable

TRIES = 50  # for a step that fits; a walker that finds none leads nowhere
CLEAR = 2.0  # standard deviations from which on there are completions without a start


def lacking_starts(edges: NoisyTable, completion: Integers) -> Floats:
    """For every label the share of its events that complete what was never started, as far as that stands out from the noise.

    `completion` is for the label of a start the code of its activity's label, -1 for others. It is 0 for starts, and 1 for labels
    that are no completion at all.
    """
    comes = np.maximum(edges.values, 0.0)[:, :-1].sum(axis=0)
    sd = edges.sd * np.sqrt(len(edges.counts))
    starts = np.flatnonzero(completion >= 0)
    lacking = np.ones(len(completion))
    lacking[starts] = 0.0
    started, completed = comes[starts], comes[completion[starts]]
    more = np.where(completed - started > CLEAR * sd, completed - started, 0.0)
    lacking[completion[starts]] = np.divide(more, completed, out=np.zeros(len(starts)), where=completed > 0)
    return lacking


class Open:
    """What walkers have open."""

    def __init__(self, completion: Integers, lacking: Floats, walkers: int) -> None:
        """Nothing; `completion` and `lacking` as for `lacking_starts`."""
        starts = np.flatnonzero(completion >= 0)
        self._change = np.zeros(len(completion) + 1, np.int64)  # of what is open, by node; the last one is the end
        self._change[starts], self._change[completion[starts]] = 1, -1
        self._column = np.zeros(len(completion) + 1, np.int64)
        self._column[starts] = self._column[completion[starts]] = np.arange(len(starts))
        self._lacking = np.append(lacking, 0.0)
        self._open = np.zeros((walkers, max(len(starts), 1)), np.int32)
        self._in_all = np.zeros(walkers, np.int32)

    def fitting(self, walker: Integers, node: Integers, draw: Callable[[Integers], Integers], random: Randomness) -> Flags:
        """Make steps fit, in place: those of these walkers to these nodes, drawn anew where they do not; which of them do then.

        `draw` gives new nodes for some of the walkers, by their position here.
        """
        fits = np.ones(len(walker), bool)
        open_ones = np.arange(len(walker))
        for last in range(TRIES, -1, -1):
            there, to = walker[open_ones], node[open_ones]
            closes = (self._change[to] < 0) & (self._open[there, self._column[to]] == 0)
            ends = (to == len(self._change) - 1) & (self._in_all[there] > 0)
            refused = ends | (closes & (random.uniform(len(to)) >= self._lacking[to]))
            open_ones = open_ones[refused]
            if not len(open_ones):
                break
            if last:
                node[open_ones] = draw(open_ones)
        fits[open_ones] = False
        return fits

    def take(self, walker: Integers, node: Integers) -> None:
        """Walkers take steps to these nodes."""
        change, column = self._change[node], self._column[node]
        has = self._open[walker, column]
        change = np.where((change < 0) & (has == 0), 0, change)
        self._open[walker, column] = has + change
        self._in_all[walker] += change.astype(np.int32)


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
