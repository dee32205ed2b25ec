"""Times for every event of a control flow, from released figures alone; they never decrease within a case.

The steps of an edge get its durations, evenly spread. Then durations change hands between steps of one edge: slow ones follow
slow ones as often as they did, and cases last as long as those did that took the same path. What is still missing is stretched.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from libra._system.ordering import Ladder, stable_order
from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.eventlog.cases import Floats, Integers, Traces, to_utc
from libra.eventlog.instances import Flags
from libra.mechanisms.libra.times import durations, release, ties
from libra.mechanisms.libra.times.calendar import draw_starts, hour_shares, nudge
from libra.mechanisms.libra.times.durations import Steps
from libra.mechanisms.libra.times.histogram import TINY
from libra.mechanisms.libra.times.release import WAITED, Histogram, TimeFigures, last_total
from libra.privacy.noise import NoisyTable

LARGE = 0.1  # of a case's duration: a step that is stretched or shortened when the case is
MOST_STRETCH = 4.0
SWAPS = 2  # times that durations change hands, so that cases last as long as they should
FOLLOWS = 2.0  # how much more than its share of the case a step follows it, up to all the way
A_SECOND = 1_000_000  # microseconds
WORKING = 0.5  # of the steps of an edge: from there on its durations are times of work
BELIEVED = 3.0  # standard deviations of a granularity that is generated


def generate_times(
    figures: TimeFigures, traces: Traces, n_labels: int, time_zone: str, random: Randomness, within: Flags | None = None
) -> Integers:
    """The times of all events of the control flow, in UTC microseconds.

    `within` says of every event whether an activity is being worked on during the step that leads to it, where that is known.
    """
    if not len(traces.codes) or not figures.noisy:
        return np.zeros(len(traces.codes), np.int64)
    steps = durations.steps_of(traces, n_labels)
    believed = _believed(figures.noisy["granularity"])
    which = Ladder((np.cumsum(believed) / believed.sum())[:-1]).places(random.uniform(len(traces)))
    grain = np.array(tables.GRAINS)[which]  # what the times of each case are multiples of
    starts = draw_starts(figures, len(traces), random) // grain * grain
    gaps = np.zeros(len(traces.codes), np.int64)
    if len(steps.position):
        (longest, totals, hours), unit = _known(figures), grain[steps.row]
        found = draw_steps(figures, steps, random, None if within is None else within[steps.position])
        lasts: Floats = np.bincount(steps.row, found.micros, minlength=len(traces)).astype(np.float64)
        wanted = wanted_totals(figures, totals, lasts, traces, random)
        drawn = exchanged(found, steps.row, wanted)
        begin, end = found.timers
        timed = (drawn >= begin[found.edge]) & (drawn < end[found.edge])
        drawn = stretched(drawn, steps.row, wanted, timed)
        gaps[steps.position] = shorten(np.rint(drawn / unit).astype(np.int64) * unit, steps.row, grain, longest, wanted)
        waits = gaps >= WAITED
        waits[steps.position[timed]] = False
        gaps = nudge(starts, gaps, traces, grain, hours, waits, random)
        gaps[steps.position] = shorten(gaps[steps.position], steps.row, grain, longest, wanted)
    return in_utc(_times(starts, gaps, traces), traces, time_zone)


def in_utc(local: Integers, traces: Traces, time_zone: str) -> Integers:
    """Local times in UTC; where clocks are set and the order of a case would suffer, later events of it move along."""
    if time_zone == "UTC":
        return local
    utc = to_utc(local, time_zone)
    gaps = np.diff(utc, prepend=0)
    first = traces.offsets[:-1][traces.lengths > 0]
    gaps[first] = 0
    starts = np.zeros(len(traces), np.int64)
    starts[traces.lengths > 0] = utc[first]
    return _times(starts, np.maximum(gaps, 0), traces)


def _times(starts: Integers, gaps: Integers, traces: Traces) -> Integers:
    """Start times and gaps added up case by case."""
    sums = np.cumsum(gaps)
    before = np.concatenate(([0], sums))[traces.offsets[:-1]]
    return sums + np.repeat(starts - before, traces.lengths)


def finest_grain(figures: TimeFigures) -> int:
    """What all times of a log are multiples of, in microseconds; a second where they are coarser than that."""
    if not figures.noisy:
        return A_SECOND
    believed = np.flatnonzero(_believed(figures.noisy["granularity"])).tolist()
    return math.gcd(A_SECOND, *(tables.GRAINS[grain] for grain in believed))


def _believed(noisy: NoisyTable) -> Floats:
    """How many cases have each granularity, as far as that can be believed."""
    values = np.where(noisy.values >= BELIEVED * noisy.sd, noisy.values, 0.0)
    if not values.any():
        values[int(np.argmax(noisy.values))] = 1.0
    return values


@lru_cache(maxsize=8)
def _known(figures: TimeFigures) -> tuple[int, Histogram, Floats]:
    """What all parts of a log have in common: the longest that a case may last, how long cases last, the hours of activities."""
    last = last_total(figures.noisy, figures.parts)
    totals = release.total_histogram(figures.noisy["totals"], figures.noisy["total_parts"], figures.parts, last)
    noisy = figures.noisy["hours"]
    together = NoisyTable(noisy.counts.sum(0), noisy.scale, noisy.sd * np.sqrt(len(noisy.counts)))
    overall = hour_shares(together)[0]
    hours = np.tile(overall, (len(noisy.counts), 1))  # activities with little to go by follow all activities together
    visible = np.flatnonzero(noisy.values.sum(1) >= 2 * noisy.sd * np.sqrt(tables.HOUR_CELLS))
    if len(visible):
        hours[visible] = hour_shares(NoisyTable(noisy.counts[visible], noisy.scale, noisy.sd), overall)
    return int(tables.total_bounds()[last + 1]), totals, hours


class Drawn(NamedTuple):
    """Durations of steps."""

    micros: Floats  # of every step
    edge: Integers  # the row of its edge
    ascending: Floats  # all durations, row after row, ascending in each
    timers: tuple[Floats, Floats]  # where those of each row begin and end that are over when a time is up


def draw_steps(figures: TimeFigures, steps: Steps, random: Randomness, within: Flags | None = None) -> Drawn:
    """A duration for every step; `within` says in which an activity is being worked on."""
    first, again = figures.cells
    row = first.row_of[steps.edge]
    counts = np.bincount(row, minlength=len(first.weights))
    working = np.zeros(len(counts), bool)
    if within is not None:
        working[:-1] = np.bincount(row, within, minlength=len(counts))[:-1] > WORKING * counts[:-1]
    overall = durations.overall_steps(figures.noisy["steps"], last_total(figures.noisy, figures.parts))
    looks = figures.noisy["edges"], figures.noisy["again"]
    shares = durations.edge_shares(looks, (first, again), overall, counts, working)
    tie = None if figures.pairs is None else (figures.noisy["pairs"], figures.pairs, figures.uses)
    place = ties.places(tie, shares, steps, row, random)
    ascending, drawn = spread(shares.cells, counts, shares.bounds, random), np.empty(len(row))
    drawn[stable_order(row + np.minimum(place, 1 - 1e-9))] = ascending
    return Drawn(drawn, row, ascending, shares.timers)


def spread(shares: Floats, counts: Integers, bounds: tuple[Floats, Floats], random: Randomness) -> Floats:
    """So many values of every row's histogram, row after row, ascending within a row: evenly spread, with a random start.

    `bounds` are where cells begin and where they end; values are spread evenly on a logarithmic scale, from 0 on evenly.
    """
    cumulative = np.cumsum(shares, axis=1)
    cumulative /= np.maximum(cumulative[:, -1:], TINY)
    ends = np.floor(cumulative * counts[:, None] + random.uniform(len(counts))[:, None]).astype(np.int64)
    ends[:, -1] = counts
    cells = np.diff(np.minimum(ends, counts[:, None]), axis=1, prepend=0).ravel()
    filled = np.flatnonzero(cells)
    sizes, of = cells[filled], filled % shares.shape[1]
    quantile = np.arange(cells.sum(), dtype=np.float64)
    quantile -= np.repeat((np.cumsum(sizes) - sizes).astype(np.float64), sizes)
    quantile += random.uniform(len(quantile))
    quantile /= np.repeat(sizes.astype(np.float64), sizes)
    low, high = (ends[of] for ends in bounds)
    linear = low <= 0
    values = np.exp(quantile * np.repeat(np.log(np.divide(high, low, out=np.ones(len(of)), where=~linear)), sizes))
    values *= np.repeat(low, sizes)
    if linear.any():
        where = np.flatnonzero(np.repeat(linear, sizes))
        values[where] = np.repeat(high[linear], sizes[linear]) * quantile[where]
    return np.asarray(values)


def wanted_totals(figures: TimeFigures, totals: Histogram, lasts: Floats, traces: Traces, random: Randomness) -> Floats:
    """How long each case should last: those that take the same path as long as these did, in the order of what they last now."""
    row, shares = np.zeros(len(traces), np.int64), totals.shares[None, :]
    if figures.grouped is not None:
        row = figures.grouped.rows_of(traces)
        drawn = tables.part_bins(lasts.astype(np.int64), figures.parts)
        shares = ties.row_shares(figures.noisy["grouped"], row, drawn, figures.grouped, totals.shares)
    wanted = np.empty(len(traces))
    counts = np.bincount(row, minlength=len(shares))
    order = stable_order(lasts)
    order = order[stable_order(row[order])]
    wanted[order] = spread(shares, counts, (totals.bounds[:-1], totals.bounds[1:]), random)
    return wanted


def exchanged(drawn: Drawn, case: Integers, wanted: Floats) -> Floats:
    """The durations, exchanged between steps of one row so that cases last more nearly as long as they should.

    Each step asks for a longer or shorter duration, as far as it is to blame for its case; those of a row are dealt by that.
    """
    if not len(case):
        return drawn.micros
    n_steps, target = np.bincount(case, minlength=len(wanted)) * A_SECOND, _decades(wanted)
    ascending, micros = _decades(drawn.ascending), drawn.micros
    size = _decades(micros)
    line = drawn.edge.astype(np.float64) * (float(target.max()) + float(ascending.max()) + 1.0)  # each row by itself
    for _ in range(SWAPS):
        lasts = np.bincount(case, micros, minlength=len(wanted)).astype(np.float64)
        lacking = target - _decades(lasts)
        blame = np.minimum((micros + A_SECOND) * (FOLLOWS / np.maximum(lasts + n_steps, 1))[case], 1.0)
        order = stable_order(np.asarray(line + np.maximum(size + lacking[case] * blame, 0.0), np.float64))
        micros, size = np.empty(len(case)), np.empty(len(case))
        micros[order], size[order] = drawn.ascending, ascending
    return micros


def _decades(micros: Floats) -> Floats:
    """Durations on the scale log10(1 + seconds)."""
    return np.asarray(np.log10(1 + micros / A_SECOND))


def stretched(drawn: Floats, case: Integers, wanted: Floats, timed: Flags) -> Floats:
    """The durations, of which the large ones of each case, but no timers, are changed so that it lasts as long as it should."""
    lasts = np.bincount(case, drawn, minlength=len(wanted))
    large = np.flatnonzero((drawn >= (LARGE * lasts)[case]) & ~timed)
    sums = np.bincount(case[large], drawn[large], minlength=len(wanted))
    factor = np.clip((wanted - (lasts - sums)) / np.maximum(sums, 1), 1 / MOST_STRETCH, MOST_STRETCH)
    factor[(lasts <= 0) | (wanted <= 0)] = 1.0
    fitted = drawn.copy()
    fitted[large] *= factor[case[large]]
    return fitted


def shorten(gaps: Integers, case: Integers, grain: Integers, longest: int, wanted: Floats) -> Integers:
    """The same gaps, but in cases that last longer than the longest may, shorter: those last as long as is wanted of them.

    They are still whole multiples of the grain of their case. What is wanted is never longer than the longest.
    """
    totals = np.bincount(case, gaps, minlength=len(grain))
    if not (totals > longest).any():
        return gaps
    too_long = np.flatnonzero(totals[case] > longest)
    shorter = gaps.copy()
    of = case[too_long]
    shorter[too_long] = np.floor(gaps[too_long] * (wanted[of] / totals[of]) / grain[of]).astype(np.int64) * grain[of]
    return shorter
