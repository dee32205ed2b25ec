"""Times for every event of a control flow, from released figures alone; they never decrease within a case."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from libra._system.ordering import Ladder
from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.eventlog.cases import Floats, Integers, Traces, to_utc
from libra.mechanisms.libra.times.calendar import draw_starts, hour_shares, nudge
from libra.mechanisms.libra.times.durations import draw_steps, fit_totals, shorten
from libra.mechanisms.libra.times.release import WAITED, TimeFigures
from libra.mechanisms.libra.times.steps import Histogram, last_total, steps_of, total_histogram
from libra.privacy.noise import NoisyTable

A_SECOND = 1_000_000  # microseconds
BELIEVED = 3.0  # standard deviations of a granularity that is generated


def generate_times(figures: TimeFigures, traces: Traces, n_labels: int, time_zone: str, random: Randomness) -> Integers:
    """The times of all events of the control flow, in UTC microseconds."""
    if not len(traces.codes) or not figures.noisy:
        return np.zeros(len(traces.codes), np.int64)
    steps = steps_of(traces, n_labels)
    believed = _believed(figures.noisy["granularity"])
    which = Ladder((np.cumsum(believed) / believed.sum())[:-1]).places(random.uniform(len(traces)))
    grain = np.array(tables.GRAINS)[which]  # what the times of each case are whole multiples of
    starts = draw_starts(figures, len(traces), random) // grain * grain
    gaps = np.zeros(len(traces.codes), np.int64)
    if len(steps.position):
        (longest, totals, hours), unit = _known(figures), grain[steps.row]
        drawn = draw_steps(figures, steps, n_labels, random)
        drawn, wanted = fit_totals(totals, drawn, steps.row, len(traces), random)
        gaps[steps.position] = shorten(np.rint(drawn / unit).astype(np.int64) * unit, steps.row, grain, longest, wanted)
        gaps = nudge(starts, gaps, traces, grain, hours, WAITED, random)
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
    totals = total_histogram(figures.noisy["totals"], figures.noisy["total_parts"], figures.parts, last)
    noisy = figures.noisy["hours"]
    together = NoisyTable(noisy.counts.sum(0), noisy.scale, noisy.sd * np.sqrt(len(noisy.counts)))
    overall = hour_shares(together)[0]
    hours = np.tile(overall, (len(noisy.counts), 1))  # activities with little to go by follow all activities together
    visible = np.flatnonzero(noisy.values.sum(1) >= 2 * noisy.sd * np.sqrt(tables.HOUR_CELLS))
    if len(visible):
        hours[visible] = hour_shares(NoisyTable(noisy.counts[visible], noisy.scale, noisy.sd), overall)
    return int(tables.total_bounds()[last + 1]), totals, hours
