"""The simulated emergency department at any size, in constant memory: as many cases as one likes, a slice of them at a time.

In: how many cases, and a seed. Out: rows in order of time with the cases interleaved, as a data lake has them; or a log in parts,
case by case. The process is that of `simulate.py` (complaints, walks, waits, queues, office hours), with times in whole seconds.
Cases arrive evenly spread over a year, or over several where there are very many. The same seed gives the same log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.in_parts import PART_SCHEMA, LogInParts
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP
from libra.eventlog.ordering import stable_order
from libra.example.crowds import LABELS, Crowd, Step, crowd, walk
from libra.example.patients import HOUR_LOAD, NEW_YEAR, WEEKDAY_LOAD, WINTER_LOAD
from libra.example.simulate import ACTIVITIES, METADATA, OFFICE, QUEUED
from libra.privacy.randomness import Randomness
from libra.seeds import derived_seed

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
SLICE_CASES = 100_000  # about a million events
CASES_A_YEAR = 20_000_000  # at most: events of one slice that lie beyond it stay few
DAYS_A_YEAR = 366
HOUR, DAY = 3600, 86_400  # seconds
BEGIN = int(NEW_YEAR.timestamp())
HEADER = LogMetadata(attributes=METADATA.attributes, classifiers=METADATA.classifiers)
QUEUE = np.array((0.15, 0.5, 1.0, 1.3, 1.5))  # by acuity: the urgent go first
BUSY = 0.6 + 0.05 * np.array(HOUR_LOAD)  # by hour


@dataclass(frozen=True, eq=False, repr=False)
class Events:
    """Some events: the number of the case, the code of the activity and the second since the new year of each."""

    case: Integers
    code: npt.NDArray[np.uint8]
    second: Integers

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Events:
        """The events in these rows, or those marked."""
        return Events(self.case[rows], self.code[rows], self.second[rows])

    def followed_by(self, others: Events) -> Events:
        """These events and then others."""
        case, code = np.concatenate((self.case, others.case)), np.concatenate((self.code, others.code))
        return Events(case, code, np.concatenate((self.second, others.second)))


@dataclass(frozen=True)
class Department:
    """An emergency department that so many patients come to.

    Example:
        >>> rows = list(Department(1000, seed=1).in_order_of_time())
        >>> rows[0].columns, rows[0]["case:concept:name"].n_unique()
        (['case:concept:name', 'concept:name', 'time:timestamp'], 1000)
    """

    cases: int
    seed: int

    @property
    def slices(self) -> int:
        """In how many slices the patients come."""
        return -(-self.cases // SLICE_CASES)

    def in_order_of_time(self) -> Iterator[pl.DataFrame]:
        """All events in frames, from the first to the last; those of a case stay in their order where the clock says the same."""
        later = Events(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.int64))
        for number in range(self.slices):
            events = later.followed_by(self._stays(number)[0])
            now = events.second < self._arrival(np.array([self._first(number + 1) / self.cases]))[0]
            later = events.take(~now)
            yield _rows(_by_time(events.take(now)))
        yield _rows(_by_time(later))

    def case_by_case(self) -> LogInParts:
        """The same cases as a log in parts: the one that arrives first comes first."""
        counts = np.zeros(len(LABELS), np.int64)
        for number in range(self.slices):
            for code, rows in self._walk(number)[1]:
                counts[code] += len(rows)
        labels = sorted(LABELS[code] for code in np.flatnonzero(counts))
        n_events = int(counts.sum())
        return LogInParts(
            self.slices, self.part, n_cases=self.cases, n_events=n_events, labels=labels, grain=1_000_000, metadata=HEADER
        )

    def part(self, number: int) -> EventLog:
        """One slice of the patients, case by case.

        Example:
            >>> Department(150_000, seed=1).part(1).cases["concept:name"][0]
            'ED-100001'
        """
        events, first = self._stays(number)
        events = events.take(stable_order(events.case))
        rows = _rows(events).with_columns(pl.Series(CASE_INDEX, events.case - first, dtype=pl.UInt32))
        ids = _ids(pl.int_range(first, self._first(number + 1), eager=True))
        return EventLog(rows.select(CASE_INDEX, ACTIVITY, TIMESTAMP), ids.alias(CASE_NAME).to_frame(), HEADER)

    def _first(self, number: int) -> int:
        """The number of the first case of a slice."""
        return min(number * SLICE_CASES, self.cases)

    def _walk(self, number: int) -> tuple[Crowd, list[Step]]:
        random = Randomness(derived_seed(self.seed, 2 * number))
        people = crowd(self._first(number + 1) - self._first(number), random)
        return people, walk(people, random)

    def _stays(self, number: int) -> tuple[Events, int]:
        """The events of one slice, those of each case in their order, and the number of its first case."""
        people, steps = self._walk(number)
        random = Randomness(derived_seed(self.seed, 2 * number + 1))
        first, n = self._first(number), len(people.acuity)
        clock = self._arrival((first + np.arange(n) + random.uniform(n)) / self.cases)
        seconds = []
        for code, rows in steps:
            clock[rows] = _happens(code, clock[rows], people.acuity[rows], random)
            seconds.append(clock[rows])
        codes = np.repeat(np.array([code for code, _ in steps], np.uint8), [len(rows) for _, rows in steps])
        return Events(first + np.concatenate([rows for _, rows in steps]), codes, np.concatenate(seconds)), first

    def _arrival(self, quantiles: Floats) -> Integers:
        """The second in which a share of all patients has arrived."""
        hour = np.searchsorted(self._load, quantiles * self._load[-1], side="right") - 1
        hour = np.minimum(hour, len(self._load) - 2)
        within = (quantiles * self._load[-1] - self._load[hour]) / (self._load[hour + 1] - self._load[hour])
        seconds: Integers = hour * HOUR + np.minimum((within * HOUR).astype(np.int64), HOUR - 1)
        return seconds

    @cached_property
    def _load(self) -> Floats:
        """How many patients, in some unit, have arrived by each hour."""
        day = np.arange(DAYS_A_YEAR * -(-self.cases // CASES_A_YEAR))
        winter = 1 + WINTER_LOAD * (np.abs(day % DAYS_A_YEAR - DAYS_A_YEAR / 2) / (DAYS_A_YEAR / 4) - 1)
        by_hour = np.outer(np.array(WEEKDAY_LOAD)[day % 7] * winter, HOUR_LOAD)
        return np.concatenate(([0.0], np.cumsum(by_hour)))


def _happens(code: int, clock: Integers, acuity: Integers, random: Randomness) -> Integers:
    """When an activity is done for patients whose last event was at these times."""
    label = LABELS[code]
    work = ACTIVITIES[label]
    if not work.minutes:
        return clock
    seconds = 60 * work.minutes * np.exp(work.spread * _normal(len(clock), random))
    if label in QUEUED:
        seconds *= QUEUE[acuity - 1] * BUSY[clock // HOUR % 24]
    done = clock + np.maximum(np.rint(seconds).astype(np.int64), 1)
    return _in_office_hours(done, random) if label in OFFICE else done


def _normal(n: int, random: Randomness) -> Floats:
    """Standard normal numbers, two from each pair of uniform ones (Box and Muller, 1958)."""
    half = (n + 1) // 2
    radius, angle = np.sqrt(-2 * np.log(random.uniform(half))), 2 * np.pi * random.uniform(half)
    return np.concatenate((radius * np.cos(angle), radius * np.sin(angle)))[:n]


def _in_office_hours(clock: Integers, random: Randomness) -> Integers:
    """The time itself where the office is open, else soon after it opens again."""
    day, hour = clock // DAY, clock // HOUR % 24
    closed = np.flatnonzero((day % 7 >= 5) | (hour < 8) | (hour >= 17))
    opens = day[closed] + (hour[closed] >= 8)
    opens += np.where(opens % 7 == 5, 2, np.where(opens % 7 == 6, 1, 0))
    clock = clock.copy()
    clock[closed] = opens * DAY + 8 * HOUR + (1.5 * HOUR * random.uniform(len(closed))).astype(np.int64)
    return clock


def _by_time(events: Events) -> Events:
    return events.take(stable_order(events.second))


def _rows(events: Events) -> pl.DataFrame:
    """The events in pm4py's column convention."""
    times = pl.Series((events.second + BEGIN) * 1_000_000).cast(UTC_MICROSECONDS)
    activities = pl.Series(LABELS, dtype=pl.String).gather(pl.Series(events.code).cast(pl.UInt32))
    return pl.DataFrame([_ids(pl.Series(events.case)), activities, times], schema=PART_SCHEMA)


def _ids(numbers: pl.Series) -> pl.Series:
    return "ED-" + (numbers + 1).cast(pl.String)
