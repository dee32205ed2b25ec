"""When things happen: a start for each case, and events moved into the hours in which their activities happen."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra._system.ordering import Ladder, ranks, stable_order
from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.eventlog.cases import Floats, Integers, Traces
from libra.eventlog.instances import Flags
from libra.mechanisms.libra.times.histogram import (
    ADDED_UP,
    KNOWN,
    TINY,
    UNKNOWN,
    Level,
    busy_spans,
    combined,
    denoise,
    tree,
    up_to,
)
from libra.mechanisms.libra.times.release import TimeFigures
from libra.privacy.noise import NoisyTable

BLOCKS = tables.WEEKS_A_YEAR // tables.WEEKS_A_BLOCK
PADDED_BLOCKS = 16  # the next power of two
A_WEEK = 168  # hours
FARTHEST = 36 * tables.HOUR
ALIKE = 3.0  # how different waits may be that are exchanged: in days, or, below a day, in logarithms
TRIES = 24  # of an event to exchange its wait
CLOSED = 0.15  # an hour less common than this, compared with the average hour, is one in which the activity does not happen
MOST_ROUNDS = 256  # events of a case that are moved at most


def _week_shares(figures: TimeFigures) -> Floats:
    """The share of cases that start in each week of the active years, one year after the other."""
    n_years = len(figures.years)
    padded_years = 1 << (n_years - 1).bit_length()
    blocks, years, weeks = figures.noisy["blocks"], figures.noisy["years"], figures.noisy.get("weeks")
    shape = (n_years, BLOCKS, tables.WEEKS_A_BLOCK)
    single = np.zeros(shape) if weeks is None else weeks.values.reshape(shape)
    single_sd = math.sqrt(UNKNOWN) if weeks is None else weeks.sd
    month = Level(blocks.values, np.full((n_years, BLOCKS), blocks.sd**2))
    together = combined(month, Level(single.sum(2), np.full((n_years, BLOCKS), tables.WEEKS_A_BLOCK * single_sd**2)))
    real = np.zeros((padded_years, PADDED_BLOCKS, tables.WEEKS_A_BLOCK))
    real[:n_years, :BLOCKS] = 1.0
    levels = up_to([_laid_out(single, single_sd, real)], padded_years * PADDED_BLOCKS)
    levels[0] = combined(levels[0], _laid_out(blocks.values, blocks.sd, real[:, :, 0]))
    levels = up_to(levels, padded_years)
    levels[0] = combined(levels[0], _laid_out(years.values[list(figures.years)], years.sd, real.max((1, 2))))
    levels = up_to(levels)
    root = levels[0]
    shares = denoise(levels, real.ravel(), np.maximum(root.values, np.sqrt(root.variances))[:, 0])
    score = together.values / np.sqrt(together.variances)
    starting = shares.reshape(real.shape)[:n_years, :BLOCKS]
    within = starting * busy_spans(figures.years, score)[:, :, None]
    within = within if within.any() else starting
    seen = within * _calendar_years(figures.years, score)
    if not seen.any():
        return within.ravel()
    left = seen.sum(2, keepdims=True)  # of a block at the turn of the year, the weeks that stay have all of its cases
    return np.asarray(np.divide(seen * within.sum(2, keepdims=True), left, out=seen, where=left > 0)).ravel()


def _calendar_years(years: tuple[int, ...], score: Floats) -> npt.NDArray[np.bool_]:
    """Which weeks of the active years are in calendar years that cases start in: a row a year, and blocks of weeks.

    Active years have 52 weeks and begin at any time of a calendar year. So the first of some that follow each other may have all
    of its cases in its second calendar year, and the last one in its first. What lies beyond has to be more than noise, seen from
    the turn of the year; of a single year, the likelier part may as well be beyond. `score` has the counts of blocks in standard
    deviations.
    """
    week = np.array(years)[:, None] * tables.WEEKS_A_YEAR + np.arange(tables.WEEKS_A_YEAR)
    middle = (tables.FIRST_MONDAY + week * tables.WEEK + tables.WEEK // 2).astype("datetime64[us]")
    calendar = middle.astype("datetime64[Y]").reshape(len(years), BLOCKS, tables.WEEKS_A_BLOCK)
    begins = calendar == calendar[:, :1, :1]  # the weeks before the turn of the year
    seen = np.ones(calendar.shape, np.bool_)
    for rows in np.split(np.arange(len(years)), np.flatnonzero(np.diff(years) > 1) + 1):
        for row, outer, backwards in ((rows[0], begins[rows[0]], True), (rows[-1], ~begins[rows[-1]], False)):
            out = outer[:, tables.WEEKS_A_BLOCK // 2]
            far, near = score[row, out], score[row, ~out]
            if not len(far) or not len(near):
                continue
            drawn_out = np.cumsum(far[::-1] if backwards else far) / np.sqrt(np.arange(1, len(far) + 1))
            likely = [max(float(part.sum()), 0.0) ** 2 / (2 * len(part)) + math.log(len(part)) for part in (far, near)]
            if drawn_out.max() < ADDED_UP and (len(rows) > 1 or likely[0] < likely[1]):
                seen[row] &= ~outer
    return seen


def _laid_out(values: Floats, sd: float, real: Floats) -> Level:
    """Noisy cells at their place in a tree whose other cells are empty for sure."""
    padded = np.zeros(real.shape)
    padded[tuple(slice(size) for size in values.shape)] = values
    padded, variances = np.where(real > 0, padded, 0.0), np.where(real > 0, sd**2, KNOWN)
    return Level(padded.reshape(1, -1), variances.reshape(1, -1))


def hour_shares(noisy: NoisyTable, expected: Floats | None = None) -> Floats:
    """Rows of 48 shares (hours of weekdays, then of weekends) from noisy counts; thin rows follow what is expected."""
    values = np.atleast_2d(noisy.values)
    padded = np.zeros((len(values), 2, 32))
    padded[:, :, :24] = values.reshape(len(values), 2, 24)
    wanted = np.zeros((2, 32))
    wanted[:, :24] = [[5.0], [2.0]] if expected is None else expected.reshape(2, 24)
    totals = np.maximum(values.sum(1), 0)
    shares = denoise(tree(padded.reshape(len(values), -1), noisy.sd**2), wanted.ravel(), totals)
    return shares.reshape(len(values), 2, 32)[:, :, :24].reshape(len(values), -1)


@lru_cache(maxsize=8)
def _starts(figures: TimeFigures) -> tuple[Floats, Floats, Floats]:
    """Cumulated shares of the weeks in a line, the days of a week, the hours of weekdays and weekends; for all parts of a log."""
    weeks, noisy = np.cumsum(_week_shares(figures)), figures.noisy["start_days"]
    padded, wanted = np.zeros((1, 8)), np.zeros(8)
    padded[0, :7], wanted[:7] = noisy.values, 1.0
    days = np.cumsum(denoise(tree(padded, noisy.sd**2), wanted, np.maximum(padded.sum(1), 0))[0, :7])
    hours = np.cumsum(hour_shares(figures.noisy["start_hours"])[0].reshape(2, 24) + 1e-12, axis=1)
    laid = (hours / hours[:, -1:] + np.arange(2)[:, None]).ravel()
    return weeks[:-1] / weeks[-1], days[:-1] / days[-1], laid


def draw_starts(figures: TimeFigures, n_cases: int, random: Randomness) -> Integers:
    """A local start time for every case."""
    weeks, days, hours = _starts(figures)
    week = np.searchsorted(weeks, (np.arange(n_cases) + random.uniform(n_cases)) / max(n_cases, 1), side="right")
    years = np.array(figures.years)
    week = years[week // tables.WEEKS_A_YEAR] * tables.WEEKS_A_YEAR + week % tables.WEEKS_A_YEAR
    day = Ladder(days).places(random.uniform(n_cases))
    kind = (day >= 5).astype(np.int64)
    hour = np.minimum(Ladder(hours).places(random.uniform(n_cases) + kind) - 24 * kind, 23)
    within = (random.uniform(n_cases) * tables.HOUR).astype(np.int64)
    local = tables.FIRST_MONDAY + week * tables.WEEK + day * tables.DAY + hour * tables.HOUR + within
    return np.asarray(local[random.permutation(n_cases)], np.int64)


class Weights:
    """For every activity a weight of each hour of a week, cumulated."""

    def __init__(self, hours: Floats) -> None:
        self._sums = np.pad(np.cumsum(hours, axis=1), ((0, 0), (1, 0)))
        self.totals = self._sums[:, -1].copy()
        relative = self._sums[:, 1:] / np.maximum(self._sums[:, -1:], TINY) + np.arange(len(hours))[:, None]
        self._ladder = Ladder(relative.ravel())

    def up_to(self, code: Integers, hour: Floats) -> Floats:
        """The weight up to an hour, weeks before and after included."""
        week = np.floor(hour / A_WEEK)
        into = hour - week * A_WEEK
        whole = np.minimum(into.astype(np.int64), A_WEEK - 1)
        cell = code * (A_WEEK + 1) + whole
        below = self._sums.take(cell)
        return np.asarray(week * self.totals.take(code) + below + (into - whole) * (self._sums.take(cell + 1) - below))

    def hour_of(self, code: Integers, amount: Floats) -> Floats:
        """The hour up to which there is so much weight."""
        all_week = self.totals.take(code)
        week = np.floor(amount / all_week)
        into = amount - week * all_week
        whole = np.clip(self._ladder.places(into / all_week + code) - code * A_WEEK, 0, A_WEEK - 1)
        cell = code * (A_WEEK + 1) + whole
        below = self._sums.take(cell)
        width = self._sums.take(cell + 1) - below
        part = np.divide(into - below, width, out=np.full(len(code), 0.5), where=width > 0)
        return np.asarray(week * A_WEEK + whole + np.clip(part, 0, 1))

    def drawn(self, code: Integers, hour: Floats, reach: Floats, random: Randomness) -> Floats:
        """How many hours to move within reach, to hours that are drawn by weight; not at all where there are none."""
        low, high = self.up_to(code, hour - reach), self.up_to(code, hour + reach)
        target = self.hour_of(code, low + (high - low) * random.uniform(len(code)))
        return np.where(high > low, np.clip(target, hour - reach, hour + reach) - hour, 0.0)


class Week:
    """When activities happen: from a row of 48 shares for each (hours of weekdays, then of weekends)."""

    def __init__(self, shares: Floats) -> None:
        weekdays, weekends = shares[:, :24] / 5, shares[:, 24:] / 2
        profiles = A_WEEK * np.concatenate((np.tile(weekdays, 5), np.tile(weekends, 2)), axis=1)  # 1 is an average hour
        self._profiles = np.where(profiles < CLOSED, 0.0, profiles)
        self.excess, self.open = Weights(np.maximum(self._profiles - 1, 0)), Weights(self._profiles)

    def common(self, code: Integers, into: Integers) -> Floats:
        """How common the hour of each event is; `into` is its time since the week began."""
        return self._profiles.take(code * A_WEEK + into // tables.HOUR)


class Waits(NamedTuple):
    """The waits of one round: of each case one event at most. `edge` ascends, so the events of an edge are a range."""

    before: Integers  # the time from which the event is waited for
    wait: Integers  # for how long
    edge: Integers  # of which step
    code: Integers  # of which activity


def nudge(
    starts: Integers, gaps: Integers, traces: Traces, grain: Integers, shares: Floats, waits: Flags, random: Randomness
) -> Integers:
    """The gaps before every event (0 before the first of a case), changed so that events fall into the hours of their activity.

    `starts` and `grain` (what the times of a case are multiples of) are per case, `shares` has a row of 48 per activity code.
    Only events that `waits` says are waited for are moved.
    """
    week, moved = Week(shares), np.flatnonzero(waits)
    code = traces.codes[moved]
    usual = week.excess.totals[code] > 0
    moved, code = moved[usual], code[usual]
    row, edge = traces.rows[moved], traces.codes[moved - 1] * len(shares) + code
    rank = ranks(np.diff(np.flatnonzero(np.diff(row, prepend=-1)), append=len(row)))  # how many of the case come before
    order = stable_order(rank * len(shares) ** 2 + edge)
    moved, code, row, edge = moved[order], code[order], row[order], edge[order]
    wait, sums = gaps[moved], np.cumsum(gaps)
    of_cases = starts - np.concatenate(([0], sums))[traces.offsets[:-1]]
    before = of_cases[row] + sums[moved] - wait
    drift = np.zeros(len(starts), np.int64)
    end = 0
    for size in np.bincount(rank)[:MOST_ROUNDS].tolist():
        here = slice(end, end + size)
        end += size
        old = Waits(before[here] + drift[row[here]], wait[here], edge[here], code[here])
        new = _moved(old, grain[row[here]], week, random)
        drift[row[here]] += new - old.wait
        wait[here] = new
    result = gaps.copy()
    result[moved] = wait
    return result


def _moved(waits: Waits, grain: Integers, week: Week, random: Randomness) -> Integers:
    """New waits: some exchanged, then some made longer or shorter; those are still whole multiples of the grain."""
    before, code = waits.before, waits.code
    into = _into_week(before + waits.wait)
    common = week.common(code, into)
    wait = exchanged(waits, into, common, week, random)
    touched = wait != waits.wait
    others = np.flatnonzero(touched)
    if len(others):
        into[others] = _into_week(before[others] + wait[others])
        common[others] = week.common(code[others], into[others])
    leaves = np.flatnonzero(random.uniform(len(wait)) >= common)
    touched[leaves] = True
    shift = np.zeros(len(wait), np.int64)
    for weights in (week.excess, week.open):
        hour, reach = into[leaves] / tables.HOUR, np.minimum(wait[leaves] / 2, FARTHEST) / tables.HOUR
        hours = weights.drawn(code[leaves], hour, reach, random)
        shift[leaves] = (hours * tables.HOUR).astype(np.int64)
        leaves = leaves[(hours == 0) & (common[leaves] <= 0)]
        if not len(leaves):
            break
    those = np.flatnonzero(touched)
    unit, begin = grain[those], before[those]
    wait[those] = (begin + wait[those] + shift[those]) // unit * unit - begin
    return wait


def exchanged(waits: Waits, into: Integers, common: Floats, week: Week, random: Randomness) -> Integers:
    """The waits, exchanged between events of the same edge where that leaves fewer of them in hours without their activity.

    Those that are in such an hour and could not leave it within half of their wait try some others, at random. `into` says when
    in the week each event is now, and `common` how common that hour is.
    """
    before, edge, code, wait = waits.before, waits.edge, waits.code, waits.wait.copy()
    stuck = np.flatnonzero(common <= 0)
    hour, reach = into[stuck] / tables.HOUR, np.minimum(wait[stuck] / 2, FARTHEST) / tables.HOUR
    low, high = (week.open.up_to(code[stuck], hour + side * reach) for side in (-1, 1))
    stuck = stuck[high <= low]
    begin, end = np.searchsorted(edge, edge[stuck]), np.searchsorted(edge, edge[stuck], side="right")
    among_others = end - begin > 1
    stuck, begin, end = stuck[among_others], begin[among_others], end[among_others]
    if not len(stuck):
        return wait

    def opens(which: Integers, waits: Integers) -> npt.NDArray[np.bool_]:
        return np.asarray(week.common(code[which], _into_week(before[which] + waits)) > 0)

    asked_by, is_stuck, size = np.full(len(wait), -1), np.zeros(len(wait), np.bool_), _size(wait)
    is_stuck[stuck] = True
    own, others, asking = size[stuck], end - begin, np.arange(len(stuck))
    for _ in range(TRIES):
        other = begin + (random.uniform(len(stuck)) * others).astype(np.int64)
        asked_by[other] = asking
        alike = (asked_by[other] == asking) & ~is_stuck[other] & (np.abs(own - size[other]) <= ALIKE)
        served = np.flatnonzero(alike)
        if not len(served):
            continue
        one, another = stuck[served], other[served]
        both = opens(one, wait[another]) & opens(another, wait[one])
        served, one, another = served[both], one[both], another[both]
        wait[one], wait[another] = wait[another], wait[one]
        size[one], size[another] = size[another], size[one]
        is_stuck[one] = False
        stuck, begin, own, others = (np.delete(values, served) for values in (stuck, begin, own, others))
        asking = asking[: len(stuck)]
        if not len(stuck):
            break
    return wait


def _into_week(time: Integers) -> Integers:
    """The time since the week began; NumPy's own remainder is slower."""
    since = time - tables.FIRST_MONDAY
    return since - since // tables.WEEK * tables.WEEK


def _size(wait: Integers) -> Floats:
    """Waits on a scale that is logarithmic up to a day and then counts days, with the same slope."""
    days = wait / tables.DAY
    return np.where(days < 1, np.log(np.minimum(days, 1)), days - 1)
