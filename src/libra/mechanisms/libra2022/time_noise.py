"""Step 3b, time noise: Laplace noise of scale 1/epsilon on the start of each case, in days, and on each cycle time, in minutes.

In: cases. Out: the same cases at other times. The start of a case is its distance from the first start (of whichever log: it
cancels out), the cycle time of an event its distance from the event before; both get noise in their unit, and adding them up
again gives timestamps. The text lets a noisy cycle time fall below zero. Events would then be out of order and tools that sort
by time would see variants that never occurred, against the paper's own promise, so that a millisecond is the least here unless
`signed` asks for the text.
"""

from __future__ import annotations

import numpy as np

from libra.eventlog.cases import DAY, MINUTE, Cases
from libra.mechanisms.relative_times import at_relative_times, relative_times
from libra.privacy.randomness import Randomness


def time_noise(cases: Cases, epsilon: float, random: Randomness, *, signed: bool = False) -> Cases:
    """The cases with noisy starts and noisy cycle times, to the millisecond.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.eventlog.cases import cases_of
        >>> cases = cases_of(simulate(cases=50))
        >>> noisy = time_noise(cases, 0.4, Randomness())
        >>> bool((noisy.codes == cases.codes).all()), bool((noisy.micros == cases.micros).all())
        (True, False)
    """
    if not len(cases):
        return cases
    relative = relative_times(cases)
    unit = np.full(len(relative), MINUTE)
    unit[cases.offsets[:-1]] = DAY
    noisy = relative + unit * random.laplace(1 / epsilon, len(relative))
    return at_relative_times(cases, noisy, int(cases.micros.min()), signed=signed)
