"""Hours of activities: events that had been waited for are moved a little, to hours in which their activity happens.

In: local times of a generated log and the shares of hours of every activity. Out: longer or shorter waits. An event that is
stuck in an hour in which its activity does not happen exchanges its wait with another one of the same edge, if that serves both.
Then an event keeps its hour with the probability that makes hours that are as common as expected stay; otherwise it moves, within
half of its wait and 36 hours at most, to an hour that is more common than that; out of an hour in which its activity does not
happen, to any other in reach. Events that follow soon move along.
"""

from __future__ import annotations

from typing import NamedTuple

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
ALIKE = 3.0  # how different waits may be that are exchanged: in days, or, below a day, in logarithms
TRIES = 24  # of an event to exchange its wait
CLOSED = 0.15  # an hour less common than this, compared with the average hour, is one in which the activity does not happen
MOST_ROUNDS = 256  # events of a case that are moved at most


def _weekly_profiles(shares: Floats) -> Floats:
    """For rows of 48 shares, how much more common than on average each of the 168 hours of a week is."""
    weekdays, weekends = shares[:, :24] / 5, shares[:, 24:] / 2
    profiles = A_WEEK * np.concatenate((np.tile(weekdays, 5), np.tile(weekends, 2)), axis=1)
    return np.where(profiles < CLOSED, 0.0, profiles)


class Sums(NamedTuple):
    """For every activity, sums over the hours of a week up to each: of what is more common than on average, and of everything."""

    excess: Floats
    open: Floats


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
    weights = Sums(*(np.pad(np.cumsum(each, axis=1), ((0, 0), (1, 0))) for each in (np.maximum(profiles - 1, 0), profiles)))
    moved = np.flatnonzero(gaps >= waited)
    moved = moved[weights.excess[codes[moved], -1] > 0]
    rank, edge = _ranks(case[moved]), codes[moved - 1] * len(shares) + codes[moved]
    order = np.argsort(rank * len(shares) ** 2 + edge, kind="stable")
    moved, edge = moved[order], edge[order]
    rounds = np.bincount(rank)[:MOST_ROUNDS]
    drift = np.zeros(len(starts), np.int64)
    result = gaps.copy()
    end = 0
    for size in rounds.tolist():
        event, kind = moved[end : end + size], edge[end : end + size]
        end += size
        row = case[event]
        before_it = starts[row] + sums[event] - gaps[event] - before[row] + drift[row]
        wait = exchanged(before_it, gaps[event], kind, codes[event], profiles, weights, random)
        time = before_it + wait
        shift = _shift(time, codes[event], wait, profiles, weights, random)
        wait = (time + shift) // grain[row] * grain[row] - before_it
        result[event] = wait
        drift[row] += wait - gaps[event]
    return result


def _size(wait: Integers) -> Floats:
    """Waits on a scale that is logarithmic up to a day and then counts days, with the same slope."""
    days = wait / tables.DAY
    return np.where(days < 1, np.log(np.minimum(days, 1)), days - 1)


def exchanged(
    before: Integers, wait: Integers, edge: Integers, code: Integers, profiles: Floats, sums: Sums, random: Randomness
) -> Integers:
    """The waits, exchanged between events of the same edge where that leaves fewer of them in hours without their activity.

    Those that are in such an hour and could not leave it within half of their wait try some others, at random. `edge` ascends,
    so the events of an edge are a range.
    """
    wait, size = wait.copy(), _size(wait)

    def closed(which: Integers, waits: Integers) -> npt.NDArray[np.bool_]:
        hour = (before[which] + waits - tables.FIRST_MONDAY) % tables.WEEK // tables.HOUR
        return np.asarray(profiles.take(code[which] * A_WEEK + hour) <= 0)

    stuck = np.flatnonzero(closed(np.arange(len(wait)), wait))
    hour = (before[stuck] + wait[stuck] - tables.FIRST_MONDAY) % tables.WEEK / tables.HOUR
    reach = np.minimum(wait[stuck] / 2, FARTHEST) / tables.HOUR
    low, high = (_cumulative(sums.open, code[stuck], hour + side * reach) for side in (-1, 1))
    stuck = stuck[high <= low]
    begin, end = np.searchsorted(edge, edge[stuck]), np.searchsorted(edge, edge[stuck], side="right")
    among_others = end - begin > 1
    stuck, begin, end = stuck[among_others], begin[among_others], end[among_others]
    asked_by, is_stuck = np.full(len(wait), -1), np.zeros(len(wait), np.bool_)
    is_stuck[stuck] = True
    for _ in range(TRIES):
        if not len(stuck):
            break
        other = begin + (random.uniform(len(stuck)) * (end - begin)).astype(np.int64)
        asked_by[other] = np.arange(len(stuck))
        serves = (asked_by[other] == np.arange(len(stuck))) & ~is_stuck[other] & (np.abs(size[stuck] - size[other]) <= ALIKE)
        serves[serves] = ~closed(stuck[serves], wait[other[serves]]) & ~closed(other[serves], wait[stuck[serves]])
        one, other = stuck[serves], other[serves]
        wait[one], wait[other] = wait[other], wait[one]
        size[one], size[other] = size[other], size[one]
        is_stuck[one] = False
        stuck, begin, end = stuck[~serves], begin[~serves], end[~serves]
    return wait


def _ranks(case: Integers) -> Integers:
    """How many of the same case come before, for cases in a line."""
    if not len(case):
        return np.zeros(0, np.int64)
    first = np.flatnonzero(np.diff(case, prepend=-1))
    sizes = np.diff(first, append=len(case))
    return np.arange(len(case)) - np.repeat(first, sizes)


def _shift(time: Integers, code: Integers, wait: Integers, profiles: Floats, sums: Sums, random: Randomness) -> Integers:
    """How far each event moves."""
    into_week = (time - tables.FIRST_MONDAY) % tables.WEEK
    common = profiles.take(code * A_WEEK + into_week // tables.HOUR)
    leaves = np.flatnonzero(random.uniform(len(time)) >= common)
    hour, reach = into_week / tables.HOUR, np.minimum(wait / 2, FARTHEST) / tables.HOUR
    shift = np.zeros(len(time), np.int64)
    for weights in sums:
        moved = _moved(weights, code[leaves], hour[leaves], reach[leaves], random)
        shift[leaves] = (moved * tables.HOUR).astype(np.int64)
        leaves = leaves[(moved == 0) & (common[leaves] <= 0)]
        if not len(leaves):
            break
    return shift


def _moved(weights: Floats, code: Integers, hour: Floats, reach: Floats, random: Randomness) -> Floats:
    """How many hours to move within reach, to hours that are drawn by weight; not at all where there are none."""
    low, high = _cumulative(weights, code, hour - reach), _cumulative(weights, code, hour + reach)
    target = _inverse(weights, code, low + (high - low) * random.uniform(len(code)))
    return np.where(high > low, np.clip(target, hour - reach, hour + reach) - hour, 0.0)


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
