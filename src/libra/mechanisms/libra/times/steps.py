"""The steps of a control flow: which edge each one is, and how much its cases weigh in a table that is clipped.

In: traces that are released anyway. Out: plain arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.eventlog.traces import Traces

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LARGEST = 256.0  # norm: more would need more noise than can be drawn exactly, at a tiny budget


class Steps(NamedTuple):
    """For every step: the position of the event it leads to, its trace, its edge (source code times labels plus target code)."""

    position: Integers
    row: Integers
    edge: Integers


def steps_of(traces: Traces, n_labels: int) -> Steps:
    """The steps of traces.

    Example:
        >>> from libra.eventlog.traces import traces_of
        >>> steps_of(traces_of([[0, 1, 1, 1], [2]]), 3).edge.tolist()
        [1, 4, 4]
    """
    following = np.ones(len(traces.codes), np.bool_)
    following[traces.offsets[:-1][traces.lengths > 0]] = False
    position = np.flatnonzero(following)
    return Steps(position, traces.rows[position], traces.codes[position - 1] * n_labels + traces.codes[position])


class Clip(NamedTuple):
    """The norm that counts of steps are clipped to, and what share of all steps is left then."""

    norm: float
    kept: float


def clip_of(steps: Steps, n_labels: int) -> Clip:
    """The median norm of the edge counts of a trace, at least 1 and at most `LARGEST`.

    Example:
        >>> from libra.eventlog.traces import traces_of
        >>> clip_of(steps_of(traces_of([[0, 1, 1, 1, 1], [0, 1], [0, 2]]), 3), 3)
        Clip(norm=1.0, kept=0.5441518440112253)
    """
    if not len(steps.edge):
        return Clip(1.0, 1.0)
    keys = np.sort(steps.row * np.int64(n_labels**2) + steps.edge)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts, row = np.diff(first, append=len(keys)), keys[first] // n_labels**2
    squares, sizes = np.bincount(row, np.square(counts, dtype=np.float64)), np.bincount(row, counts)
    norms, sizes = np.sqrt(squares[sizes > 0]), sizes[sizes > 0]
    norm = min(max(float(np.median(norms)), 1.0), LARGEST)
    return Clip(norm, float(np.minimum(1.0, norm / norms) @ sizes / sizes.sum()))
