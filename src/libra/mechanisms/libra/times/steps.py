"""The steps of a control flow: which edge each one is, and how much its cases weigh in a table that is clipped.

In: traces that are released anyway. Out: plain arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Traces

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
        >>> from libra.eventlog.cases import traces_of
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


def clip_of(steps: Steps, n_labels: int, counts: Integers | None = None) -> Clip:
    """The median norm of the edge counts of a case, at least 1 and at most `LARGEST`; `counts` cases follow each trace, or one.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> steps = steps_of(traces_of([[0, 1, 1, 1, 1], [0, 1], [0, 2]]), 3)
        >>> clip_of(steps, 3)
        Clip(norm=1.0, kept=0.5441518440112253)
        >>> clip_of(steps, 3, np.array([9, 1, 1])).norm
        3.1622776601683795
    """
    if not len(steps.edge):
        return Clip(1.0, 1.0)
    keys = np.sort(steps.row * np.int64(n_labels**2) + steps.edge)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    times, row = np.diff(first, append=len(keys)), keys[first] // n_labels**2
    squares, sizes = np.bincount(row, np.square(times, dtype=np.float64)), np.bincount(row, times)
    stepping = np.flatnonzero(sizes)
    cases = np.ones(len(stepping), np.int64) if counts is None else counts[stepping]
    if not cases.any():
        return Clip(1.0, 1.0)
    norms, sizes = np.sqrt(squares[stepping]), sizes[stepping] * cases
    norm = min(max(_median(norms, cases), 1.0), LARGEST)
    return Clip(norm, float(np.minimum(1.0, norm / norms) @ sizes / sizes.sum()))


def _median(values: Floats, times: Integers) -> float:
    """The median of values that come so many times each."""
    order = np.argsort(values, kind="stable")
    until = np.cumsum(times[order])
    middle = np.searchsorted(until, [(until[-1] - 1) // 2, until[-1] // 2], side="right")
    return float(values[order[middle]].mean())
