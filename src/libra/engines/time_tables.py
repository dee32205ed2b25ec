"""What the mechanism asks about times: one request a table, and the public bins they all count in.

Every parameter is public (bins, the time zone) or comes out of an earlier release (active years, edges, groups, clips). What
one case adds to any of these tables has an L2 norm of at most `clip`. A case starts with its earliest event and lasts until its
latest; a step is the time from the event before, in the order of the file, and a negative one counts as 0. A case without
events counts nowhere.

The calendar is the local one of `time_zone` and begins on Monday 1970-01-05, in weeks; a "year" is 52 of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from libra.engines.contract import FINE, Integers
from libra.engines.control_flow_tables import OneCell
from libra.eventlog.cases import Traces

SECOND = 1_000_000  # microseconds
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
DAY, WEEK = 24 * HOUR, 7 * 24 * HOUR
FIRST_MONDAY = 4 * DAY  # since 1970-01-01
YEARS, WEEKS_A_YEAR, WEEKS_A_BLOCK = 131, 52, 4  # up to the middle of 2100
HOUR_CELLS = 48  # 24 hours of Monday to Friday, then 24 of Saturday and Sunday

A_DECADE = 10  # duration bins from a second to ten, to a hundred, and so on up to 12 years
DURATION_BINS = 2 + 86  # no time at all; less than a second; from a second on, the last without an end
TOTAL_BINS = 2 + 86 // 2  # those from a second on two by two
FINER = 8  # of the bins from a second on
FINE_BINS = 2 + 86 * FINER

WEIGHT = 64  # parts of a count, in which weights of steps and shares of slow ones are whole numbers

LEADING_BITS = 6
LARGEST = 2**63 - 1  # microseconds: more than any duration

GRAINS = (DAY, HOUR, MINUTE, SECOND, 1000, 1)  # what all times of a case may be whole multiples of


def fine_bounds() -> npt.NDArray[np.float64]:
    """Where the fine bins begin and end, in microseconds: one bound more than bins."""
    return np.concatenate(([0.0, 0.0], 10 ** (np.arange(FINE_BINS - 1) / (FINER * A_DECADE)) * SECOND))


def duration_bounds() -> npt.NDArray[np.float64]:
    """Where the duration bins begin and end, in microseconds.

    Example:
        >>> duration_bounds()[[0, 1, 2, 12]].tolist()
        [0.0, 0.0, 1000000.0, 10000000.0]
    """
    fine = fine_bounds()
    return np.concatenate((fine[:2], fine[2::FINER]))


def total_bounds() -> npt.NDArray[np.float64]:
    """Where the bins of totals begin and end, in microseconds."""
    fine = duration_bounds()
    return np.concatenate((fine[:2], fine[2::2]))


def part_bounds(parts: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Where parts of the bins of totals begin and end: each is cut, evenly in logarithms, in two to the power given for it."""
    exponents = [np.arange(1 << part) / (1 << part) + i for i, part in enumerate(parts[2:])]
    from_a_second = 10 ** (np.concatenate((*exponents, [TOTAL_BINS - 2])) * 2 / A_DECADE) * SECOND
    return np.concatenate(([0.0, 0.0], from_a_second))


def fine_bins(micros: Integers) -> Integers:
    """The fine bin of every duration."""
    reached, below_next, smallest = _bins_by_leading_bits()
    cell = _leading_bits(micros) - smallest
    return reached.take(cell) + (micros > below_next.take(cell))


def duration_bins(fine: Integers) -> Integers:
    """The duration bins that fine bins lie in.

    Example:
        >>> duration_bins(fine_bins(np.array([0, 1, SECOND, 10 * SECOND]))).tolist()
        [0, 1, 2, 12]
    """
    return np.concatenate(([0, 1], np.repeat(np.arange(2, DURATION_BINS), FINER))).take(fine)


def total_bins(bins: Integers) -> Integers:
    """The bins of totals that duration bins lie in.

    Example:
        >>> total_bins(np.array([0, 1, 2, 3, 4, 87])).tolist()
        [0, 1, 2, 2, 3, 44]
    """
    return np.where(bins < 2, bins, 1 + bins // 2)


def part_bins(micros: Integers, parts: tuple[int, ...]) -> Integers:
    """The part of a bin of totals that every duration lies in; by comparing whole numbers, so that it is the same in any company.

    Example:
        >>> part_bins(np.array([0, 1, SECOND, 2 * SECOND]), (0, 0, 1) + (0,) * (TOTAL_BINS - 3)).tolist()
        [0, 1, 2, 4]
    """
    return np.searchsorted(_first_micros(part_bounds(parts)), micros, side="right")


def _first_micros(bounds: npt.NDArray[np.float64]) -> Integers:
    """The smallest whole number of every bin but the first; the last bin has no end."""
    return np.concatenate(([1], np.ceil(bounds[2:-1]).astype(np.int64)))


def _leading_bits(micros: Integers) -> Integers:
    """Exponent and first bits of each number, plus one, as a float: numbers that share them are within two percent."""
    return (np.maximum(micros, 0).astype(np.float64) + 1).view(np.int64) >> (52 - LEADING_BITS)


@cache
def _bins_by_leading_bits() -> tuple[Integers, Integers, int]:
    """For numbers of the same leading bits how many bounds all have reached, and the last number below the next; the first bits.

    Fine bins are wider than what shares its leading bits, so there is no second bound that only some have reached.
    """
    bounds, (smallest, largest) = _first_micros(fine_bounds()), _leading_bits(np.array([0, LARGEST])).tolist()
    first = np.ceil((np.arange(smallest, largest + 1) << (52 - LEADING_BITS)).view(np.float64)) - 1
    reached = np.searchsorted(bounds, first, side="right")
    return reached, np.append(bounds - 1, LARGEST).take(reached), smallest


@dataclass(frozen=True)
class StartYears(OneCell):
    """How many cases start in each year; those before the first or after the last count there."""

    purpose: ClassVar[str] = "years in which cases start"
    shape: ClassVar[tuple[int, ...]] = (YEARS,)
    time_zone: str = "UTC"


@dataclass(frozen=True)
class StartWeeks(OneCell):
    """How many cases start in each span of `width` weeks (which divides 52) of the given years; other starts count nowhere."""

    purpose: ClassVar[str] = "weeks, or blocks of four weeks, in which cases start"
    years: tuple[int, ...]
    width: int = 1
    time_zone: str = "UTC"

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.years), WEEKS_A_YEAR // self.width)


@dataclass(frozen=True)
class StartHours(OneCell):
    """How many cases start in each hour of weekdays and of weekends."""

    purpose: ClassVar[str] = "hours of the day in which cases start"
    shape: ClassVar[tuple[int, ...]] = (HOUR_CELLS,)
    time_zone: str = "UTC"


@dataclass(frozen=True)
class StartDays(OneCell):
    """How many cases start on each day of the week, Monday first."""

    purpose: ClassVar[str] = "days of the week on which cases start"
    shape: ClassVar[tuple[int, ...]] = (7,)
    time_zone: str = "UTC"


@dataclass(frozen=True)
class CaseDurations(OneCell):
    """How many cases last how long."""

    purpose: ClassVar[str] = "durations of cases, from first to last event"
    shape: ClassVar[tuple[int, ...]] = (TOTAL_BINS,)


@dataclass(frozen=True)
class CaseDurationParts(OneCell):
    """How many cases last how long, in parts of the bins of totals, one bin after the other."""

    purpose: ClassVar[str] = "durations of cases, in finer bins"
    parts: tuple[int, ...]  # of every bin of totals, as powers of two; the first two are whole

    @cached_property
    def first_cells(self) -> Integers:
        """Where each bin of totals begins, and where the last one ends."""
        return np.concatenate(([0], np.cumsum(np.left_shift(1, np.array(self.parts, np.int64)))))

    @property
    def shape(self) -> tuple[int, ...]:
        return (int(self.first_cells[-1]),)


@dataclass(frozen=True, eq=False)
class GroupedTotals(OneCell):
    """How long cases last that follow each of some variants, and those of other traces, by length, in groups of parts of bins."""

    purpose: ClassVar[str] = "durations of cases, by variant and length"
    variants: Traces  # all different
    lengths: tuple[int, ...]  # ascending: traces of so many events, and longer ones, are in the next group
    parts: tuple[int, ...]  # as for `CaseDurationParts`
    groups: tuple[int, ...]  # of every part, ascending from 0

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.variants) + len(self.lengths) + 1, self.groups[-1] + 1)

    def rows_of(self, traces: Traces) -> Integers:
        """The row that each trace counts in. It follows from the trace alone, even if two should have the same fingerprint."""
        others = len(self.variants) + np.searchsorted(np.array(self.lengths, np.int64), traces.lengths, side="right")
        if not len(self.variants):
            return others
        known, prints = self.variants.fingerprints(), traces.fingerprints()
        order = np.argsort(known)
        place = order[np.minimum(np.searchsorted(known[order], prints), len(known) - 1)]
        return np.where(known[place] == prints, place, others)


@dataclass(frozen=True)
class Granularity(OneCell):
    """How many cases have times that are whole multiples of nothing coarser than each of `GRAINS`."""

    purpose: ClassVar[str] = "granularity of times: days, hours, minutes, seconds or finer"
    shape: ClassVar[tuple[int, ...]] = (len(GRAINS),)
    time_zone: str = "UTC"


@dataclass(frozen=True)
class StepDurations:
    """How many steps take how long."""

    purpose: ClassVar[str] = "durations of all steps"
    shape: ClassVar[tuple[int, ...]] = (DURATION_BINS,)
    scale: ClassVar[int] = FINE
    clip: float


@dataclass(frozen=True)
class EdgeCells:
    """Cells for the durations of edges, in rows: one for each of some edges, of some targets of others, and a last one.

    Each row has the same groups of fine bins, and each of its groups is cut evenly in parts. Longer durations than those of the
    last group count as the longest of it.
    """

    n_labels: int
    edges: tuple[int, ...]  # source code times `n_labels` plus target code, ascending
    targets: tuple[int, ...]  # ascending
    weights: tuple[int, ...]  # what a step of every row counts, in parts of `WEIGHT`
    ends: tuple[int, ...]  # the fine bin with which each group ends
    parts: tuple[int, ...]  # of every group of every row, one row after the other, as powers of two

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: what is computed from them can be large, and need not travel."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def row_of(self) -> Integers:
        """The row of every edge."""
        of_target = np.full(self.n_labels, len(self.weights) - 1)
        of_target[list(self.targets)] = len(self.edges) + np.arange(len(self.targets))
        rows = np.tile(of_target, self.n_labels)
        rows[list(self.edges)] = np.arange(len(self.edges))
        return rows

    @cached_property
    def first_cells(self) -> Integers:
        """Where each group of each row begins, and where the last one ends."""
        return np.concatenate(([0], np.cumsum(np.left_shift(1, np.array(self.parts, np.int64)))))

    @cached_property
    def cell_of(self) -> Integers:
        """The cell of every fine bin in every row, one row after the other."""
        ends = np.array(self.ends, np.int64)
        fine = np.minimum(np.arange(FINE_BINS), ends[-1] - 1)
        group = np.searchsorted(ends, fine, side="right")
        sizes = np.diff(ends, prepend=0)
        inside = fine - (ends - sizes)[group]
        parts, first = (cells.reshape(-1, len(ends)) for cells in (np.array(self.parts, np.int64), self.first_cells[:-1]))
        cells: Integers = first[:, group] + (inside << parts[:, group]) // sizes[group]
        return cells.ravel()

    @property
    def shape(self) -> tuple[int, ...]:
        """One row after the other, each with as many cells as it needs."""
        return (int(self.first_cells[-1]),)


@dataclass(frozen=True)
class EdgeDurations:
    """How many steps of each edge take how long; steps of frequent edges weigh less."""

    purpose: ClassVar[str] = "durations of the steps of each edge"
    scale: ClassVar[int] = FINE
    clip: float
    cells: EdgeCells

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells.shape


@dataclass(frozen=True)
class SlowPairs:
    """How often a slow step follows a slow one, and a fast step a fast one, beyond what would be expected: a sum for each pair.

    Each two consecutive steps add the product of h - p of both, where h is 1 for a slow step and p the share of slow ones.
    """

    purpose: ClassVar[str] = "slow steps that follow slow ones"
    scale: ClassVar[int] = WEIGHT**2
    clip: float
    cells: EdgeCells  # of which the rows count
    slow: tuple[int, ...]  # of every row, the fine bin from which a step is slow
    shares: tuple[int, ...]  # of every row, the share of slow steps that is expected, in parts of `WEIGHT`
    pairs: tuple[int, ...]  # the first edge times `n_labels` plus the target of the second, ascending

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.pairs),)


@dataclass(frozen=True)
class ActivityHours:
    """In which hours each activity happens, where it had been waited for at least `after` microseconds."""

    purpose: ClassVar[str] = "hours of the day in which activities happen after a wait"
    scale: ClassVar[int] = FINE
    clip: float
    n_labels: int
    after: int
    time_zone: str = "UTC"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_labels, HOUR_CELLS)
