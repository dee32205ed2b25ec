"""When cases start: a week, a day of the week and an hour for each.

In: noisy tables of years, blocks of weeks, weeks, days and hours. Out: local times, evenly spread over the weeks that were
released as active, in random order.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.engines import time_tables as tables
from libra.eventlog.ordering import Ladder
from libra.mechanisms.libra.times.histogram import KNOWN, UNKNOWN, Level, above, combined, denoise, tree
from libra.mechanisms.libra.times.release import TimeFigures
from libra.mechanisms.libra.times.significance import busy_spans
from libra.privacy.noisy import NoisyTable
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BLOCKS = tables.WEEKS_A_YEAR // tables.WEEKS_A_BLOCK
PADDED_BLOCKS = 16  # the next power of two


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
    levels = [_laid_out(single, single_sd, real)]
    while levels[0].values.shape[1] > padded_years * PADDED_BLOCKS:
        levels.insert(0, above(levels[0]))
    levels[0] = combined(levels[0], _laid_out(blocks.values, blocks.sd, real[:, :, 0]))
    while levels[0].values.shape[1] > padded_years:
        levels.insert(0, above(levels[0]))
    levels[0] = combined(levels[0], _laid_out(years.values[list(figures.years)], years.sd, real.max((1, 2))))
    while levels[0].values.shape[1] > 1:
        levels.insert(0, above(levels[0]))
    root = levels[0]
    shares = denoise(levels, real.ravel(), np.maximum(root.values, np.sqrt(root.variances))[:, 0])
    busy = busy_spans(figures.years, together.values / np.sqrt(together.variances))
    starting = shares.reshape(real.shape)[:n_years, :BLOCKS]
    within = starting * busy[:, :, None]
    return np.asarray(within if within.any() else starting).ravel()


def _laid_out(values: Floats, sd: float, real: Floats) -> Level:
    """Noisy cells at their place in a tree whose other cells are empty for sure."""
    padded = np.zeros(real.shape)
    padded[tuple(slice(size) for size in values.shape)] = values
    padded, variances = np.where(real > 0, padded, 0.0), np.where(real > 0, sd**2, KNOWN)
    return Level(padded.reshape(1, -1), variances.reshape(1, -1))


def hour_shares(noisy: NoisyTable, expected: Floats | None = None) -> Floats:
    """Rows of 48 shares (hours of weekdays, then of weekends) from noisy counts; thin rows follow what is expected.

    Example:
        >>> counts = np.zeros(48, np.int64)
        >>> counts[9:17] = 5000
        >>> hour_shares(NoisyTable(counts, 1, 3.0))[0, 8:11].round(1).tolist()
        [0.0, 0.1, 0.1]
    """
    values = np.atleast_2d(noisy.values)
    padded = np.zeros((len(values), 2, 32))
    padded[:, :, :24] = values.reshape(len(values), 2, 24)
    wanted = np.zeros((2, 32))
    wanted[:, :24] = [[5.0], [2.0]] if expected is None else expected.reshape(2, 24)
    totals = np.maximum(values.sum(1), 0)
    shares = denoise(tree(padded.reshape(len(values), -1), noisy.sd**2), wanted.ravel(), totals)
    return shares.reshape(len(values), 2, 32)[:, :, :24].reshape(len(values), -1)


def _day_shares(noisy: NoisyTable) -> Floats:
    """The share of each day of the week."""
    padded, wanted = np.zeros((1, 8)), np.zeros(8)
    padded[0, :7], wanted[:7] = noisy.values, 1.0
    return denoise(tree(padded, noisy.sd**2), wanted, np.maximum(padded.sum(1), 0))[0, :7]


class _Starts(NamedTuple):
    """What starts are drawn from: the weeks in a line, the days of a week, the hours of weekdays and of weekends."""

    weeks: Floats
    days: Floats
    hours: Floats


@lru_cache(maxsize=8)
def _starts(figures: TimeFigures) -> _Starts:
    """The cumulated shares; the same for all parts of a log."""
    weeks = np.cumsum(_week_shares(figures))
    days = np.cumsum(_day_shares(figures.noisy["start_days"]))
    hours = np.cumsum(hour_shares(figures.noisy["start_hours"])[0].reshape(2, 24) + 1e-12, axis=1)
    laid = (hours / hours[:, -1:] + np.arange(2)[:, None]).ravel()
    return _Starts(weeks[:-1] / weeks[-1], days[:-1] / days[-1], laid)


def draw_starts(figures: TimeFigures, n_cases: int, random: Randomness) -> Integers:
    """A local start time for every case."""
    shares = _starts(figures)
    quantiles = (np.arange(n_cases) + random.uniform(n_cases)) / max(n_cases, 1)
    week = np.searchsorted(shares.weeks, quantiles, side="right")
    years = np.array(figures.years)
    week = years[week // tables.WEEKS_A_YEAR] * tables.WEEKS_A_YEAR + week % tables.WEEKS_A_YEAR
    day = Ladder(shares.days).places(random.uniform(n_cases))
    kind = (day >= 5).astype(np.int64)
    hour = np.minimum(Ladder(shares.hours).places(random.uniform(n_cases) + kind) - 24 * kind, 23)
    within = (random.uniform(n_cases) * tables.HOUR).astype(np.int64)
    local = tables.FIRST_MONDAY + week * tables.WEEK + day * tables.DAY + hour * tables.HOUR + within
    return np.asarray(local[random.permutation(n_cases)], np.int64)
