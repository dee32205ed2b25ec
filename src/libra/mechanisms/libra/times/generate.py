"""Times for every event of a control flow, from released figures alone; they never decrease within a case.

Durations are drawn from the noisy cells of an edge; within a cell it follows all steps together. The noise of many empty cells
adds up, so those that come out empty are taken out and the rest is looked at once more.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from libra._system.ordering import Ladder, stable_order
from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.eventlog.cases import Floats, Integers, Traces, to_utc
from libra.eventlog.instances import Flags
from libra.mechanisms.libra.times import release
from libra.mechanisms.libra.times.calendar import draw_starts, hour_shares, nudge
from libra.mechanisms.libra.times.histogram import KNOWN, TINY, Level, combined, denoise, last_clear, tree, unknown
from libra.mechanisms.libra.times.release import DEPTH, WAITED, Histogram, Overall, Steps, TimeFigures, last_total, overall_steps
from libra.privacy.noise import NoisyTable

FINEST = 1 << DEPTH  # groups of duration bins
EMPTY = 0.25  # standard deviations: a cell with less, at the first look, is taken out
SURE = 0.1  # how far, relatively, the control flow may be off about the count of an edge
LARGE = 0.1  # of a case's duration: a step that is stretched or shortened when the case is
MOST_STRETCH = 4.0
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
    steps = release.steps_of(traces, n_labels)
    believed = _believed(figures.noisy["granularity"])
    which = Ladder((np.cumsum(believed) / believed.sum())[:-1]).places(random.uniform(len(traces)))
    grain = np.array(tables.GRAINS)[which]  # what the times of each case are whole multiples of
    starts = draw_starts(figures, len(traces), random) // grain * grain
    gaps = np.zeros(len(traces.codes), np.int64)
    if len(steps.position):
        (longest, totals, hours), unit = _known(figures), grain[steps.row]
        drawn = draw_steps(figures, steps, n_labels, random, None if within is None else within[steps.position])
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
    totals = release.total_histogram(figures.noisy["totals"], figures.noisy["total_parts"], figures.parts, last)
    noisy = figures.noisy["hours"]
    together = NoisyTable(noisy.counts.sum(0), noisy.scale, noisy.sd * np.sqrt(len(noisy.counts)))
    overall = hour_shares(together)[0]
    hours = np.tile(overall, (len(noisy.counts), 1))  # activities with little to go by follow all activities together
    visible = np.flatnonzero(noisy.values.sum(1) >= 2 * noisy.sd * np.sqrt(tables.HOUR_CELLS))
    if len(visible):
        hours[visible] = hour_shares(NoisyTable(noisy.counts[visible], noisy.scale, noisy.sd), overall)
    return int(tables.total_bounds()[last + 1]), totals, hours


def edge_shares(figures: TimeFigures, counts: Integers, working: Flags | None = None) -> Floats:
    """For every edge with cells of its own, and for all others together, the share of its steps in each duration bin.

    `counts` says how many steps of the control flow each row has. How many of them were counted follows from what the noisy cells
    say, and what the control flow does, in proportion. Of rows that are `working` time, nothing is believed beyond the last cell
    that stands out: a few steps that seem to last for days would be most of all hours that are worked.
    """
    overall = overall_steps(figures.noisy["steps"], figures.noisy["longest"], last_total(figures.noisy, figures.parts))
    groups = np.array(figures.cells.groups)
    expected = np.bincount(groups, overall.shares, minlength=FINEST).astype(np.float64)
    working = np.zeros(len(counts), bool) if working is None else working
    levels = _levels(figures, overall, expected, None, working)
    kept: Floats = counts.astype(np.float64) * (max(float(levels[0].values.sum()), 1.0) / max(int(counts.sum()), 1))
    guess = Level(kept[:, None], (SURE * kept[:, None] + 1) ** 2)
    totals = np.maximum(combined(levels[0], guess).values[:, 0], 1.0)
    first_look = denoise(levels, expected, totals) * totals[:, None]
    shares = denoise(_levels(figures, overall, expected, first_look, working), expected, totals)
    within = np.divide(overall.shares, expected[groups], out=np.zeros(len(groups)), where=expected[groups] > 0)
    return np.asarray(shares[:, groups] * within)


def _levels(figures: TimeFigures, overall: Overall, expected: Floats, first_look: Floats | None, working: Flags) -> list[Level]:
    """The noisy cells of every row as a tree; below what a row was counted in, nothing is known.

    Rows with equally many cells are treated together. `first_look` has the counts that a first look gave each finest group.
    """
    steps, longest = figures.noisy["edges"], figures.noisy["longest_edges"]
    longest_mass = np.bincount(np.array(figures.cells.groups), overall.shares * overall.longest, minlength=FINEST)
    merged, last_group = np.array(figures.cells.merged), figures.cells.groups[-1]
    levels = unknown(len(merged), DEPTH)
    for power in np.unique(merged).tolist():
        rows, size, present = np.flatnonzero(merged == power), FINEST >> power, (last_group >> power) + 1
        part = longest_mass.reshape(size, -1).sum(1) / np.maximum(expected.reshape(size, -1).sum(1), TINY)
        cells = figures.cells.first_cells[rows][:, None] + np.arange(present)
        seen = Level(steps.values[cells], np.full(cells.shape, steps.sd**2))
        better = release.with_longest(seen, longest.values[cells], longest.sd**2, part[:present])
        values, variances = np.zeros((len(rows), size)), np.full((len(rows), size), KNOWN)
        values[:, :present], variances[:, :present] = better
        for row in np.flatnonzero(working[rows]):
            last = last_clear(values[row, :present] / np.sqrt(variances[row, :present]))
            if last >= 0:
                values[row, last + 1 :], variances[row, last + 1 :] = 0.0, KNOWN
        if first_look is not None:
            empty = first_look[rows].reshape(len(rows), size, -1).sum(2) < EMPTY * np.sqrt(variances)
            values[empty], variances[empty] = 0.0, KNOWN
        for level, own in zip(levels, tree(values, variances), strict=False):
            level.values[rows], level.variances[rows] = own
    return levels


def draw_steps(figures: TimeFigures, steps: Steps, n_labels: int, random: Randomness, within: Flags | None = None) -> Floats:
    """A duration for every step, in microseconds; `within` says in which of them an activity is being worked on."""
    row_of = np.full(n_labels**2, len(figures.cells.edges))
    row_of[list(figures.cells.edges)] = np.arange(len(figures.cells.edges))
    row = row_of[steps.edge]
    counts = np.bincount(row, minlength=len(figures.cells.edges) + 1)
    working = np.zeros(len(counts), bool)
    if within is not None:
        working[:-1] = np.bincount(row, within, minlength=len(counts))[:-1] > WORKING * counts[:-1]
    ordered = spread(edge_shares(figures, counts, working), counts, tables.duration_bounds(), random)
    order = stable_order((row.astype(np.uint64) << np.uint64(48)) + (random.words(len(row)) >> np.uint64(16)))
    drawn = np.empty(len(row))
    drawn[order] = ordered
    return drawn


def spread(shares: Floats, counts: Integers, bounds: Floats, random: Randomness) -> Floats:
    """So many values of every row's histogram, row after row, ascending within a row: evenly spread, with a random start."""
    cumulative = np.cumsum(shares, axis=1)
    cumulative /= np.maximum(cumulative[:, -1:], TINY)
    ends = np.floor(cumulative * counts[:, None] + random.uniform(len(counts))[:, None]).astype(np.int64)
    ends[:, -1] = counts
    cells = np.diff(np.minimum(ends, counts[:, None]), axis=1, prepend=0).ravel()
    n_bins = shares.shape[1]
    filled = np.flatnonzero(cells)
    sizes = cells[filled]
    quantile = np.arange(cells.sum(), dtype=np.float64)
    quantile -= np.repeat((np.cumsum(sizes) - sizes).astype(np.float64), sizes)
    quantile += random.uniform(len(quantile))
    quantile /= np.repeat(sizes.astype(np.float64), sizes)
    low, high = bounds[:-1], bounds[1:]
    width = np.log(np.divide(high, low, out=np.ones(n_bins), where=low > 0))
    place = _sloped(quantile, np.repeat(_slopes(shares, width).ravel()[filled], sizes))
    bins = filled % n_bins
    values = np.exp(place * np.repeat(width[bins], sizes))
    values *= np.repeat(low[bins], sizes)
    linear = low[bins] <= 0
    if linear.any():
        where = np.flatnonzero(np.repeat(linear, sizes))
        values[where] = np.repeat(high[bins[linear]], sizes[linear]) * place[where]
    return np.asarray(values)


def _slopes(shares: Floats, width: Floats) -> Floats:
    """How much denser, relatively, a cell is at its upper end than in its middle, between -1 and 1, going by both neighbours.

    Where one neighbour is denser and the other one is not, the nearer of the two counts; at a peak or in a valley, neither.
    Cells without width on a logarithmic scale have no slope.
    """
    density = np.divide(shares, width, out=np.zeros_like(shares), where=width > 0)
    step = np.diff(density, axis=1)
    before, after = np.pad(step, ((0, 0), (1, 0))), np.pad(step, ((0, 0), (0, 1)))
    nearer = np.where(before * after > 0, np.where(np.abs(before) < np.abs(after), before, after), 0.0)
    return np.asarray(np.clip(nearer / np.maximum(2 * density, TINY), -1, 1))


def _sloped(quantile: Floats, slope: Floats) -> Floats:
    """Where in a cell a quantile lies if its density grows evenly, from 1 - slope to 1 + slope."""
    begin = 1 - slope
    root = 4 * slope
    root *= quantile
    root += begin * begin
    np.sqrt(root, out=root)
    root += begin
    return np.asarray(np.divide(2 * quantile, root, out=root))


def fit_totals(totals: Histogram, drawn: Floats, case: Integers, n_cases: int, random: Randomness) -> tuple[Floats, Floats]:
    """Stretch and shorten the large steps of each case so that cases last as long as released.

    `drawn` has a duration for every step and `case` its case. Gives the new durations of steps, and what each case should last.
    """
    lasts = np.bincount(case, drawn, minlength=n_cases)
    large = np.flatnonzero(drawn >= (LARGE * lasts)[case])
    stretched = np.bincount(case[large], drawn[large], minlength=n_cases)
    wanted = np.empty(n_cases)
    wanted[stable_order(lasts)] = spread(totals.shares[None, :], np.array([n_cases]), totals.bounds, random)
    factor = np.clip((wanted - (lasts - stretched)) / np.maximum(stretched, 1), 1 / MOST_STRETCH, MOST_STRETCH)
    factor[(lasts <= 0) | (wanted <= 0)] = 1.0
    fitted = drawn.copy()
    fitted[large] *= factor[case[large]]
    return fitted, wanted


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
