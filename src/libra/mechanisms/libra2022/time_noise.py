"""Step 3b, time noise: Laplace noise of scale 1/epsilon on the start of each case, in days, and on each cycle time, in minutes.

In: cases. Out: the same cases at other times. The start of a case is its distance from the first start (of whichever log: it
cancels out), the cycle time of an event its distance from the event before; both get noise in their unit, and adding them up
again gives timestamps. The text lets a noisy cycle time fall below zero. Events would then be out of order and tools that sort
by time would see variants that never occurred, against the paper's own promise, so that a millisecond is the least here unless
`signed` asks for the text. At either end of the years that a log may have, each event leaves room for the others of its case.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from libra.eventlog.cases import DAY, MINUTE, Cases
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR
from libra.privacy.randomness import Randomness

MILLISECOND = 1000  # microseconds
EARLIEST = np.datetime64(f"{FIRST_YEAR}-01-01", "ms").astype(np.int64)
LATEST = np.datetime64(f"{LAST_YEAR + 1}-01-01", "ms").astype(np.int64) - 1


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
    first = cases.offsets[:-1]
    relative = np.diff(cases.micros, prepend=0)
    relative[first] = cases.micros[first] - cases.micros.min()
    unit = np.full(len(relative), MINUTE)
    unit[first] = DAY
    noisy = relative + unit * random.laplace(1 / epsilon, len(relative))
    if not signed:
        least = np.full(len(noisy), float(MILLISECOND))
        least[first] = -np.inf
        noisy = np.maximum(noisy, least)
    span = LATEST - EARLIEST
    millis = np.clip(np.rint(noisy / MILLISECOND), -span, span).astype(np.int64)
    total = np.cumsum(millis)
    of_case = total - np.repeat(total[first] - millis[first], cases.lengths)
    before = np.arange(len(total)) - np.repeat(first, cases.lengths)
    after = np.repeat(cases.lengths - 1, cases.lengths) - before
    since_1970 = np.clip(of_case + cases.micros.min() // MILLISECOND, EARLIEST + before, LATEST - after)
    return replace(cases, micros=since_1970 * MILLISECOND)
