"""Directly-follows: which activity comes right after which within a case, how often and after how long.

In: coded events, their times, where each case begins. Out: `DirectlyFollows`, one entry an edge in use plus, for every
single step, its edge and its duration. No artificial start or end. Durations may be negative where a file's order
contradicts its clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.eventlog.frozen import frozen


@dataclass(frozen=True, eq=False, repr=False)
class DirectlyFollows:
    """The directly-follows relation of a log.

    Edge i goes from activity code `source[i]` to `target[i]` and was taken `counts[i]` times; edges are ordered by source,
    then target. Step j took edge `step_edge[j]` and `step_micros[j]` microseconds.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    step_edge: npt.NDArray[np.int64]
    step_micros: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """How many different edges were taken."""
        return len(self.counts)


def directly_follows(
    codes: npt.NDArray[np.uint32],
    micros: npt.NDArray[np.int64],
    case_offsets: npt.NDArray[np.int64],
    n_activities: int,
) -> DirectlyFollows:
    """Count the edges and time the steps of all cases.

    Example:
        >>> steps = directly_follows(np.array([0, 1, 0, 1], np.uint32), np.array([0, 5, 0, 7]), np.array([0, 2, 4]), 2)
        >>> steps.source.tolist(), steps.target.tolist(), steps.counts.tolist(), steps.step_micros.tolist()
        ([0], [1], [2], [5, 7])
    """
    within_case = np.ones(max(len(codes) - 1, 0), bool)
    within_case[case_offsets[1:-1] - 1] = False
    pair = (codes[:-1].astype(np.int64) * n_activities + codes[1:])[within_case]
    micros_taken = (micros[1:] - micros[:-1])[within_case]
    edges, step_edge, counts = np.unique(pair, return_inverse=True, return_counts=True)
    source, target = np.divmod(edges, max(n_activities, 1))
    return DirectlyFollows(*map(frozen, (source, target, counts, step_edge, micros_taken)))
