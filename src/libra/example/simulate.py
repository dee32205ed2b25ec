"""Simulates the emergency department of `process.py`: crowds of patients as arrays, all of whom take their next step together.

A walk is a list of steps in order, each an activity and the patients who come to it. `simulate` gives a log with all attributes,
as the bundled one; a `Department` gives cases, activities and times slice by slice, in memory that does not grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.ordering import Floats, Integers, stable_order
from libra._system.randomness import Randomness, derived_seed
from libra.eventlog.in_parts import PART_SCHEMA, LogInParts
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, LIFECYCLE, RESOURCE, START_TIMESTAMP, TIMESTAMP
from libra.example import process
from libra.example.process import ACTIVITIES, COMPLAINTS, HOUR_LOAD, METADATA, STAFF

Step = tuple[int, Integers]
"""The code of an activity, and the rows of the patients who come to it."""

LABELS = tuple(ACTIVITIES)
CODES = {label: code for code, label in enumerate(LABELS)}
INSURANCE = tuple(process.INSURANCE)
SLOTS = max(len(complaint.tests) for complaint in COMPLAINTS)
ABSENT = len(LABELS)  # no test

_SHARES = np.cumsum([complaint.share for complaint in COMPLAINTS])
_ACUITIES = np.cumsum([complaint.acuity for complaint in COMPLAINTS], axis=1)
_INSURANCE = np.cumsum(list(process.INSURANCE.values()))
_BILLED = np.array([name in process.BILLED for name in INSURANCE])
_ADMITTED = np.array([complaint.admitted for complaint in COMPLAINTS])
_LETTER = np.array([complaint.letter for complaint in COMPLAINTS])
_TREATMENT = np.array([CODES[complaint.treatment] if complaint.treatment else ABSENT for complaint in COMPLAINTS])
_TESTS, _TEST_SHARES = np.full((len(COMPLAINTS), SLOTS), ABSENT), np.zeros((len(COMPLAINTS), SLOTS))
for _row, _complaint in enumerate(COMPLAINTS):
    for _slot, (_test, _share) in enumerate(_complaint.tests.items()):
        _TESTS[_row, _slot], _TEST_SHARES[_row, _slot] = CODES[_test], _share
SLICE_CASES = 100_000  # about a million events
CASES_A_YEAR = 20_000_000  # at most: events of one slice that lie beyond it stay few
DAYS_A_YEAR = 366
HOUR, DAY = 3600, 86_400  # seconds
BEGIN = int(process.NEW_YEAR.timestamp())
HEADER = LogMetadata(attributes=METADATA.attributes, classifiers=METADATA.classifiers)
QUEUE = np.array(process.QUEUE)
BUSY = 0.6 + 0.05 * np.array(HOUR_LOAD)  # by hour


def simulate(cases: int = 2000, seed: int = 2024, *, starts: bool = False) -> EventLog:
    """A log of emergency cases with all their attributes, in whole minutes; by default the bundled one.

    With `starts`, its rows are activity instances.

    Example:
        >>> log = simulate(cases=10)
        >>> log.n_cases, log.metadata.name
        (10, 'Emergency department (simulated)')
        >>> simulate(cases=10, starts=True).instances
        'pair'
    """
    department = Department(cases, seed, starts)
    log, random = department.case_by_case(), Randomness(derived_seed(seed, -1))
    people = Crowd(*map(np.concatenate, zip(*(department.walks(number)[0] for number in range(department.slices)), strict=True)))
    mean, deviation = np.array([complaint.ages for complaint in COMPLAINTS])[people.complaint].T
    ages = np.clip(np.rint(mean + deviation * _normal(cases, random)), 0, 98).astype(np.int64)
    known = random.uniform(cases) >= process.AGE_UNKNOWN
    attributes = log.cases.with_columns(
        pl.Series("complaint", [complaint.name for complaint in COMPLAINTS]).gather(people.complaint),
        pl.Series("acuity", people.acuity),
        pl.Series("age", pl.Series(ages).set(pl.Series(~known), None)),
        pl.Series("insurance", INSURANCE).gather(people.insurance),
    )
    code = log.events[ACTIVITY].replace_strict(CODES, return_dtype=pl.UInt32)
    euros = pl.Series("cost:total", [work.euros for work in ACTIVITIES.values()], dtype=pl.Float64, strict=False)
    staff = _staff(log.events, code, cases, random)
    events = log.events.with_columns(staff, euros.gather(code))
    times = [TIMESTAMP, START_TIMESTAMP] if starts else [TIMESTAMP]
    events = events.with_columns(pl.col(times).dt.truncate("1m"))  # as the clocks of the department show
    if not starts:
        return EventLog(events.with_columns(pl.lit("complete").alias(LIFECYCLE)), attributes, METADATA)
    began = pl.when(pl.col(START_TIMESTAMP) < pl.col(TIMESTAMP)).then(START_TIMESTAMP).alias(START_TIMESTAMP)
    return EventLog(events.with_columns(began), attributes, METADATA, instances="pair")


def _staff(events: pl.DataFrame, code: pl.Series, cases: int, random: Randomness) -> pl.Series:
    """Who did what: someone of the role who is on shift; whoever begins with a patient goes on with them in that shift."""
    roles, staff = list(STAFF), np.array(list(STAFF.values()))
    before = np.cumsum(staff, axis=1) - staff
    shares = random.uniform(cases * staff.size).reshape(cases, *staff.shape)
    hour = events[TIMESTAMP].dt.hour().to_numpy()
    shift = np.where(hour < 7, 2, np.where(hour < 15, 0, np.where(hour < 23, 1, 2)))
    needed = pl.Series([work.role and roles.index(work.role) for work in ACTIVITIES.values()], dtype=pl.UInt32)
    role = needed.gather(code)
    at = (role.fill_null(0).to_numpy(), shift)
    number = 1 + before[at] + (staff[at] * shares[events[CASE_INDEX].to_numpy(), *at]).astype(np.int64)
    return (pl.Series(roles).gather(role) + " " + pl.Series(number).cast(pl.String).str.zfill(2)).alias(RESOURCE)


class Crowd(NamedTuple):
    """Some patients, a row each: the number of their complaint, their acuity from 1 to 5, and how they are insured."""

    complaint: Integers
    acuity: Integers
    insurance: Integers


def crowd(n: int, random: Randomness) -> Crowd:
    """So many patients.

    Example:
        >>> crowd(1000, Randomness(seed=1)).acuity.max()
        np.int64(5)
    """
    complaint = _chosen(_SHARES, random.uniform(n))
    acuity = 1 + _chosen(_ACUITIES[complaint].T, random.uniform(n))
    return Crowd(complaint, acuity, _chosen(_INSURANCE, random.uniform(n)))


def _chosen(cumulative: Floats, drawn: Floats) -> Integers:
    """For each number one of the choices, by their cumulated shares: the same for all, or a column for each."""
    chosen = np.zeros(len(drawn), np.int64)
    for share in cumulative[:-1]:
        chosen += share <= drawn * cumulative[-1]
    return chosen


def walk(people: Crowd, random: Randomness) -> list[Step]:
    """The steps of everybody's stay; those of one patient stand in their order."""
    everybody = np.arange(len(people.acuity))
    steps = [(CODES["Arrive"], everybody), (CODES["Triage"], everybody)]
    steps.append((CODES["Register"], everybody[people.acuity > 1]))
    waiting = everybody[people.acuity >= 4]
    again = waiting
    while len(again := _some(again, 0.04, random)):
        steps.append((CODES["Triage again"], again))
    unseen = _some(waiting, 0.05, random)
    steps.append((CODES["Leave unseen"], unseen))
    seen = np.setdiff1d(everybody, unseen, assume_unique=True)
    steps.append((CODES["See doctor"], seen))
    steps += _diagnosis(seen, people, random)
    steps += _treatment(seen, people, random)
    return steps + _departure(seen, people, random)


def _some(rows: Integers, share: float | Floats, random: Randomness) -> Integers:
    return rows[random.uniform(len(rows)) < share]


def _diagnosis(seen: Integers, people: Crowd, random: Randomness) -> list[Step]:
    """Tests in the doctor's order or in whichever there is room for, once more where results are unclear, and reviews of them."""
    steps = list[Step]()
    tests, shares = _TESTS[people.complaint[seen]], _TEST_SHARES[people.complaint[seen]]
    tests = np.where(random.uniform(shares.size).reshape(shares.shape) < shares, tests, ABSENT)
    place = np.where(tests < ABSENT, np.arange(SLOTS), np.inf)
    rows = seen
    while True:
        ordered = np.isfinite(place).any(axis=1)
        rows, tests, place = rows[ordered], tests[ordered], place[ordered]
        if not len(rows):
            return steps
        shuffled = (np.isfinite(place).sum(axis=1) > 1) & (random.uniform(len(rows)) < 0.5)
        mixed = random.uniform(int(shuffled.sum()) * SLOTS).reshape(-1, SLOTS)
        place[shuffled] = np.where(np.isfinite(place[shuffled]), mixed, np.inf)
        turn = np.argsort(place, axis=1, kind="stable")
        tests, place = np.take_along_axis(tests, turn, axis=1), np.take_along_axis(place, turn, axis=1)
        for taken in tests.T:
            steps += [(code, rows[taken == code]) for code in np.unique(_TESTS).tolist() if code < ABSENT]
        steps.append((CODES["Review results"], rows))
        unclear = random.uniform(tests.size).reshape(tests.shape) < 0.02
        tests, place = np.where(unclear, tests, ABSENT), np.where(unclear, place, np.inf)


def _treatment(seen: Integers, people: Crowd, random: Randomness) -> list[Step]:
    urgent = people.acuity <= 2
    steps = [(CODES["Consult specialist"], _some(seen[urgent[seen]], 0.04, random))]
    treated = _some(seen, 0.75, random)
    treatment = _TREATMENT[people.complaint[treated]]
    steps += [(code, treated[treatment == code]) for code in np.unique(_TREATMENT).tolist() if code < ABSENT]
    observed = seen
    while len(observed := _some(observed, np.where(urgent[observed], 0.08, 0.01), random)):
        steps += [(CODES["Give medication"], observed), (CODES["Check vital signs"], observed)]
    return steps


def _departure(seen: Integers, people: Crowd, random: Randomness) -> list[Step]:
    critical = people.acuity[seen] == 1
    drawn = random.uniform(len(seen))
    admitted = drawn < _ADMITTED[people.complaint[seen]] * np.where(critical, 3, 1)
    transferred = ~admitted & (random.uniform(len(seen)) < 0.01)
    home = seen[~admitted & ~transferred]
    return [
        (CODES["Register"], seen[critical]),
        (CODES["Admit to ward"], seen[admitted]),
        (CODES["Transfer"], seen[transferred]),
        (CODES["Discharge"], home),
        (CODES["Send letter"], home[_LETTER[people.complaint[home]]]),
        (CODES["Send invoice"], seen[_BILLED[people.insurance[seen]]]),
    ]


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
    """An emergency department that so many patients come to."""

    cases: int
    seed: int
    starts: bool = False  # whether cases, one by one, also say when activities started

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
            for code, rows in self.walks(number)[1]:
                counts[code] += len(rows)
        labels = sorted(LABELS[code] for code in np.flatnonzero(counts))
        n_events = int(counts.sum())
        return LogInParts(
            self.slices, self.part, n_cases=self.cases, n_events=n_events, labels=labels, grain=1_000_000, metadata=HEADER,
            instances="pair" if self.starts else None,
        )  # fmt: skip

    def part(self, number: int) -> EventLog:
        """One slice of the patients, case by case."""
        events, first = self._stays(number)
        events = events.take(stable_order(events.case))
        rows = _rows(events).with_columns(pl.Series(CASE_INDEX, events.case - first, dtype=pl.UInt32))
        ids = _ids(pl.int_range(first, self._first(number + 1), eager=True))
        cases, rows = ids.alias(CASE_NAME).to_frame(), rows.select(CASE_INDEX, ACTIVITY, TIMESTAMP)
        if not self.starts:
            return EventLog(rows, cases, HEADER)
        began = _began(events, Randomness(derived_seed(self.seed, -2 - number)))
        start = pl.Series(START_TIMESTAMP, (began + BEGIN) * 1_000_000).set(pl.Series(began == events.second), None)
        return EventLog(rows.with_columns(start.cast(UTC_MICROSECONDS)), cases, HEADER, instances="pair")

    def _first(self, number: int) -> int:
        """The number of the first case of a slice."""
        return min(number * SLICE_CASES, self.cases)

    def walks(self, number: int) -> tuple[Crowd, list[Step]]:
        """The patients of a slice and their steps."""
        random = Randomness(derived_seed(self.seed, 2 * number))
        people = crowd(self._first(number + 1) - self._first(number), random)
        return people, walk(people, random)

    def _stays(self, number: int) -> tuple[Events, int]:
        """The events of one slice, those of each case in their order, and the number of its first case."""
        people, steps = self.walks(number)
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
        winter = 1 + process.WINTER_LOAD * (np.abs(day % DAYS_A_YEAR - DAYS_A_YEAR / 2) / (DAYS_A_YEAR / 4) - 1)
        by_hour = np.outer(np.array(process.WEEKDAY_LOAD)[day % 7] * winter, HOUR_LOAD)
        return np.concatenate(([0.0], np.cumsum(by_hour)))


def _happens(code: int, clock: Integers, acuity: Integers, random: Randomness) -> Integers:
    """When an activity is done for patients whose last event was at these times."""
    label = LABELS[code]
    work = ACTIVITIES[label]
    if not work.minutes:
        return clock
    seconds = 60 * work.minutes * np.exp(work.spread * _normal(len(clock), random))
    if label in process.QUEUED:
        seconds *= QUEUE[acuity - 1] * BUSY[clock // HOUR % 24]
    done = clock + np.maximum(np.rint(seconds).astype(np.int64), 1)
    return _in_office_hours(done, random) if label in process.OFFICE else done


def _began(events: Events, random: Randomness) -> Integers:
    """When each event, of cases one by one, was begun: tests also while others go on, all else after the last event."""
    n = len(events.case)
    first = np.ones(n, bool)
    first[1:] = np.diff(events.case) != 0
    arrival = np.maximum.accumulate(np.where(first, np.arange(n), 0))
    before = np.where(first, events.second, np.roll(events.second, 1))
    earliest = np.where(np.isin(events.code, _TESTS), events.second[arrival], before)
    minutes = np.array([min(work.minutes, 30) for work in ACTIVITIES.values()])[events.code]  # letters wait longer than they take
    takes = np.rint(30 * minutes * np.exp(0.5 * _normal(n, random))).astype(np.int64)  # half the time, in seconds
    return np.asarray(np.maximum(events.second - takes, earliest))


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
