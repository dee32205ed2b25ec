"""Noise on times: each case is shifted as a whole, then every gap gets noise of its own.

In: cases at their own times, and the gaps of the original. Out: the same cases at other times. The shift is bounded Laplace noise
around none that keeps the case between the first and the last time of the log, of whose distance it has the scale. Then, from the
first event of a case to the last: a gap gets bounded Laplace noise, between the shortest gap of the log (or itself, where it is
shorter by now) and the time that the next event happens at (the end of the log for the last event); its sensitivity is how far
apart the gaps of the same two activities are. This is the gap noise that the text describes. The code of its authors, and
pm4py's, sets it up and never adds it.
"""

from __future__ import annotations

import numpy as np

from libra.eventlog.cases import Cases, Traces
from libra.mechanisms.pripel.context import by_position
from libra.mechanisms.pripel.gaps import Gaps
from libra.mechanisms.pripel.randomize import Reals, bounded_laplace
from libra.mechanisms.relative_times import at_relative_times
from libra.privacy.randomness import Randomness

SECOND = 1_000_000.0  # microseconds: no sensitivity is below


def randomized_times(cases: Cases, gaps: Gaps, span: tuple[int, int], epsilon: float, random: Randomness) -> Cases:
    """The cases at noisy times.

    Args:
        cases: What is released, each case in order.
        gaps: Those of the original.
        span: The first and the last time of the original.
        epsilon: Of the shift, and of every gap.
        random: Where the draws come from.

    Example:
        >>> from libra.mechanisms.pripel.gaps import gaps_of
        >>> cases = Cases(*map(np.array, ([0, 1, 0, 1], [0, 7000, 0, 9000], [0, 2, 4], [0, 0])), n_activities=2)
        >>> noisy = randomized_times(cases, gaps_of(cases), (0, 9000), 1.0, Randomness())
        >>> bool((np.diff(noisy.micros)[[0, 2]] > 0).all())
        True
    """
    if not len(cases):
        return cases
    times = (cases.micros - span[0]).astype(np.float64)
    length = float(span[1] - span[0])
    times += np.repeat(_shifts(cases, times, length, epsilon, random), cases.lengths)
    _move_gaps(Traces(cases.codes, cases.offsets), times, gaps, length, epsilon, random)
    first = cases.offsets[:-1]
    relative = np.diff(times, prepend=0)
    relative[first] = times[first]
    return at_relative_times(cases, relative, span[0])


def _shifts(cases: Cases, times: Reals, length: float, epsilon: float, random: Randomness) -> Reals:
    """How far each case is moved."""
    begin, end = times[cases.offsets[:-1]], times[cases.offsets[1:] - 1]
    low, high = -begin, length - end
    high = np.where(high > low, np.maximum(high, 0), length - begin)  # a case longer than the log may end after it
    return bounded_laplace(np.zeros(len(cases)), low, high, np.full(len(cases), length), epsilon, random)


def _move_gaps(traces: Traces, times: Reals, gaps: Gaps, length: float, epsilon: float, random: Randomness) -> None:
    """Put noise on all gaps, in place: an event is placed between its new predecessor and where its successor is now."""
    reach = np.maximum(gaps.ranges(traces).astype(np.float64), SECOND)
    last = np.zeros(len(times), bool)
    last[traces.offsets[1:] - 1] = True
    for events in by_position(traces)[1:]:
        before, now = times[events - 1], times[events]
        after = np.where(last[events], length, times[np.minimum(events + 1, len(times) - 1)])
        most = np.maximum(after, now) - before
        least = np.minimum(float(gaps.shortest), now - before)
        times[events] = before + bounded_laplace(now - before, least, most, reach[events], epsilon, random)
