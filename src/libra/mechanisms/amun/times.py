"""Noise on times: Laplace on each start and each gap, as much as a guess of it needs to stay within the guessing advantage.

In: cases on their automaton, and which of them are released, how often. Out: the released cases at other times. An attacker
guesses a gap from the gaps of the same transition, and a start from all starts: the prior is the share of those within 10
minutes, or one day, of the true one. `guesses` gives its epsilon; the noise has scale range / epsilon, the range being that of
the values guessed from, and is drawn anew for each copy. So no noise goes where nearly all agree, and a rare value gets *less*
than others: to guess it was unlikely before. A gap alone on its transition has no others to be guessed from: it gets noise as if
its prior were the worst and its range the precision. Gaps stay a millisecond long at least, so that events stay in order.
"""

from __future__ import annotations

import numpy as np

from libra.eventlog.cases import DAY, MINUTE, Cases, Integers
from libra.mechanisms.amun.copies import OnAutomaton
from libra.mechanisms.amun.guesses import Reals, epsilon_of, epsilon_of_guess
from libra.mechanisms.relative_times import at_relative_times, relative_times
from libra.privacy.randomness import Randomness

PRECISION = 10 * MINUTE  # of a guessed gap
START_PRECISION = DAY


def noisy_times(log: OnAutomaton, rows: Integers, advantage: float, random: Randomness) -> Cases:
    """The cases in these rows, at noisy times.

    Example:
        >>> from libra.eventlog.cases import cases_of
        >>> from libra.example.simulate import simulate
        >>> from libra.mechanisms.amun.copies import on_automaton
        >>> cases = cases_of(simulate(cases=50))
        >>> noisy = noisy_times(on_automaton(cases), np.arange(50), 0.2, Randomness())
        >>> bool((noisy.codes == cases.codes).all()), bool((noisy.micros == cases.micros).all())
        (True, False)
    """
    cases = log.cases
    relative = relative_times(cases)
    scales = noise_scales(relative, log.transitions(), cases.offsets[:-1], advantage)
    released = cases.take(rows)
    events = Cases(np.arange(len(cases.codes)), cases.micros, cases.offsets, cases.variant, 0).take(rows).codes
    noisy = relative[events] + scales[events] * random.laplace(1.0, len(events))
    return at_relative_times(released, noisy, int(cases.micros.min()))


def noise_scales(relative: Integers, transition: Integers, first: Integers, advantage: float) -> Reals:
    """The scale of the noise of every event, in microseconds.

    Args:
        relative: Starts and gaps.
        transition: Of every event.
        first: Which events are the first of their case.
        advantage: What a guess may gain.

    Example:
        >>> hour = 60 * MINUTE
        >>> gaps = np.array([1, 2, 3, 4, 5]) * hour
        >>> scales = noise_scales(gaps, np.zeros(5, np.int64), np.zeros(0, np.int64), 0.2)
        >>> (scales / (4 * hour) * epsilon_of_guess(np.full(5, 0.2), 0.2)).round(6).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    group = transition.copy()
    group[first] = transition.max(initial=-1) + 1
    precision = np.full(len(relative), PRECISION)
    precision[first] = START_PRECISION
    order = np.lexsort((relative, group))
    group, value, near = group[order], relative[order], precision[order]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(np.append(begins, len(group)))
    low, spread = value[begins], value[begins + sizes - 1] - value[begins]
    apart = np.cumsum(spread + 2 * near[begins] + 2) - spread  # lays the groups side by side, out of each other's reach
    key = value - np.repeat(low - apart, sizes)
    within = np.searchsorted(key, key + near, side="right") - np.searchsorted(key, key - near, side="left")
    alone = np.repeat(sizes == 1, sizes)
    epsilon = np.where(alone, epsilon_of(advantage), epsilon_of_guess(within / np.repeat(sizes, sizes), advantage))
    scales = np.empty(len(relative))
    scales[order] = np.where(alone, near, np.repeat(spread, sizes)) / epsilon
    return scales
