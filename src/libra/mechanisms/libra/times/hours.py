"""Hours of activities: events that had been waited for are moved a little, to hours in which their activity happens.

In: local times of a generated log and the shares of hours of every activity. Out: longer or shorter waits. An event keeps its
hour with the probability that makes hours that are as common as expected stay; otherwise it moves, within half of its wait and
36 hours at most, to an hour that is more common than that. Events that follow soon move along.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.engines import time_tables as tables
from libra.eventlog.traces import Traces
from libra.mechanisms.libra.times.histogram import TINY
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
A_WEEK = 168  # hours
FARTHEST = 36 * tables.HOUR
MOST_ROUNDS = 256  # events of a case that are moved at most


def _weekly_profiles(shares: Floats) -> Floats:
    """For rows of 48 shares, how much more common than on average each of the 168 hours of a week is."""
    weekdays, weekends = shares[:, :24] / 5, shares[:, 24:] / 2
    return A_WEEK * np.concatenate((np.tile(weekdays, 5), np.tile(weekends, 2)), axis=1)


def nudge(
    starts: Integers, gaps: Integers, traces: Traces, grain: Integers, shares: Floats, waited: int, random: Randomness
) -> Integers:
    """The gaps before every event (0 before the first of a case), changed so that events fall into the hours of their activity.

    `starts` and `grain` (what the times of a case are multiples of) are per case, `shares` has a row of 48 per activity code.
    Only events that come after a gap of at least `waited` microseconds are moved.
    """
    codes, case = traces.codes, traces.rows
    sums = np.cumsum(gaps)
    before = np.concatenate(([0], sums))[traces.offsets[:-1]]
    profiles = _weekly_profiles(shares)
    excess = np.cumsum(np.maximum(profiles - 1, 0), axis=1)
    excess = np.concatenate((np.zeros((len(excess), 1)), excess), axis=1)
    moved = np.flatnonzero(gaps >= waited)
    moved = moved[excess[codes[moved], -1] > 0]
    rank = _ranks(case[moved])
    moved = moved[np.argsort(rank.astype(np.min_scalar_type(int(rank.max(initial=0)))), kind="stable")]
    rounds = np.bincount(rank)[:MOST_ROUNDS]
    drift = np.zeros(len(starts), np.int64)
    result = gaps.copy()
    end = 0
    for size in rounds.tolist():
        event = moved[end : end + size]
        end += size
        row = case[event]
        time = starts[row] + sums[event] - before[row] + drift[row]
        shift = _shift(time, codes[event], np.minimum(gaps[event] // 2, FARTHEST), profiles, excess, random)
        shift = (time + shift) // grain[row] * grain[row] - time
        result[event] += shift
        drift[row] += shift
    return result


def _ranks(case: Integers) -> Integers:
    """How many of the same case come before, for cases in a line."""
    if not len(case):
        return np.zeros(0, np.int64)
    first = np.flatnonzero(np.diff(case, prepend=-1))
    sizes = np.diff(first, append=len(case))
    return np.arange(len(case)) - np.repeat(first, sizes)


def _shift(time: Integers, code: Integers, window: Integers, profiles: Floats, excess: Floats, random: Randomness) -> Integers:
    """How far each event moves."""
    into_week = (time - tables.FIRST_MONDAY) % tables.WEEK
    leaves = np.flatnonzero(random.uniform(len(time)) >= profiles.take(code * A_WEEK + into_week // tables.HOUR))
    shift = np.zeros(len(time), np.int64)
    if not len(leaves):
        return shift
    code = code[leaves]
    hour, reach = into_week[leaves] / tables.HOUR, window[leaves] / tables.HOUR
    low, high = _cumulative(excess, code, hour - reach), _cumulative(excess, code, hour + reach)
    drawn = low + (high - low) * random.uniform(len(leaves))
    target = _inverse(excess, code, drawn)
    target = np.clip(target, hour - reach, hour + reach)
    shift[leaves] = np.where(high > low, ((target - hour) * tables.HOUR).astype(np.int64), 0)
    return shift


def _cumulative(excess: Floats, code: Integers, hour: Floats) -> Floats:
    """The excess up to an hour, weeks before and after included."""
    week = np.floor(hour / A_WEEK)
    into = hour - week * A_WEEK
    whole = np.minimum(into.astype(np.int64), A_WEEK - 1)
    cell = code * (A_WEEK + 1) + whole
    below = excess.take(cell)
    return np.asarray(week * excess[:, -1].take(code) + below + (into - whole) * (excess.take(cell + 1) - below))


def _inverse(excess: Floats, code: Integers, amount: Floats) -> Floats:
    """The hour up to which there is so much excess."""
    all_week = excess[:, -1].take(code)
    week = np.floor(amount / all_week)
    into = amount - week * all_week
    relative = excess[:, 1:] / np.maximum(excess[:, -1:], TINY) + np.arange(len(excess))[:, None]
    whole = np.searchsorted(relative.ravel(), into / all_week + code, side="right") - code * A_WEEK
    whole = np.clip(whole, 0, A_WEEK - 1)
    cell = code * (A_WEEK + 1) + whole
    below = excess.take(cell)
    width = excess.take(cell + 1) - below
    part = np.divide(into - below, width, out=np.full(len(code), 0.5), where=width > 0)
    return np.asarray(week * A_WEEK + whole + np.clip(part, 0, 1))
