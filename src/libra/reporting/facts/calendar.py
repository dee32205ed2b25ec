"""When things happen: cases by their start over the calendar, and events by hour of the week.

In: two logs. Out: counts over equal stretches of the calendar, and shares of the 168 hours of a week. Hours and weekdays are
those of the time zone that is asked for, where both logs know their zone; otherwise they are read off as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from libra.eventlog.local_time import to_local
from libra.eventlog.log import HOUR, EventLog
from libra.measures.distances import Integers
from libra.reporting.facts.histogram import shares
from libra.reporting.facts.pair import Pair, moment

DAY = 24 * HOUR
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
EVERY = ("day", "week", *MONTHS)
MOST_POINTS = 120
TO_YEAR_0 = 1970 * 12  # months, so that decades begin with round years
THURSDAY = 3  # 1970 began with one; weeks begin on Mondays
RARE = 0.001  # of the cases at either end, which may lie outside where they would make all else small
Week = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Series:
    """Cases by when they start.

    Attributes:
        starts: When each stretch of the calendar begins, in UTC.
        original: Cases of the original that start in it; None in public mode.
        anonymized: The same of the anonymized log.
        every: How long a stretch is: "day", "week", "month", "quarter", "year" or "decade".
        outside_original: Cases of the original before the first stretch or after the last: single ones, far from all others.
        outside_anonymized: The same of the anonymized log.
    """

    starts: tuple[datetime, ...]
    original: tuple[int, ...] | None
    anonymized: tuple[int, ...]
    every: str
    outside_original: int | None
    outside_anonymized: int


@dataclass(frozen=True)
class HourOfWeek:
    """Shares of events by weekday (Monday first) and hour; None for the original in public mode. `most` is the largest share."""

    original: Week | None
    anonymized: Week
    most: float
    time_zone: str | None


def arrivals(pair: Pair) -> Series:
    """Count the cases that start in each stretch; the finest that gives no more than some hundred points.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = arrivals(Pair(None, simulate(cases=50)))
        >>> found.every, sum(found.anonymized), found.starts[0].day
        ('week', 50, 1)
    """
    starts = [log.case_spans[0] for log in pair.logs]
    every, first, last = _stretches([one for one in starts if len(one)])
    places = [_number(one, every) - first for one in starts]
    within = [one[(one >= 0) & (one <= last - first)] for one in places]
    counts = [tuple(np.bincount(one, minlength=last - first + 1).tolist()) for one in within]
    outside = [len(one) - len(kept) for one, kept in zip(places, within, strict=True)]
    return Series(
        starts=tuple(_begin(number, every) for number in range(first, last + 1)),
        original=None if pair.is_public else counts[0],
        anonymized=counts[-1],
        every=every,
        outside_original=None if pair.is_public else outside[0],
        outside_anonymized=outside[-1],
    )


def hours_of_week(pair: Pair, time_zone: str | None = None) -> HourOfWeek:
    """Share out all events over the hours of a week.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = hours_of_week(Pair(None, simulate(cases=50)), "Europe/Amsterdam")
        >>> len(found.anonymized), len(found.anonymized[0]), found.time_zone
        (7, 24, 'Europe/Amsterdam')
    """
    known = all(log.has_zone for log in pair.logs)
    zone = time_zone if known and time_zone is not None else "UTC"
    weeks = [_week(log, zone) for log in pair.logs]
    most = max(share for week in weeks for day in week for share in day)
    return HourOfWeek(None if pair.is_public else weeks[0], weeks[-1], most, zone if known else None)


def week_counts(log: EventLog, time_zone: str = "UTC") -> Integers:
    """Events in each of the 168 hours of a week, which begins on Monday.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> int(week_counts(log).sum()) == log.n_events
        True
    """
    hours = (to_local(log.timestamps, time_zone) // HOUR + 24 * THURSDAY) % 168
    return np.bincount(hours, minlength=168).astype(np.int64)


def _week(log: EventLog, time_zone: str) -> Week:
    part = shares(week_counts(log, time_zone))
    return tuple(part[24 * day : 24 * day + 24] for day in range(7))


def _stretches(starts: list[Integers]) -> tuple[str, int, int]:
    """How long stretches are, and the numbers of the first and the last; none where no log has a case."""
    if not starts:
        return "day", 0, -1
    common = np.array(
        [
            min(int(np.quantile(one, RARE, method="lower")) for one in starts),
            max(int(np.quantile(one, 1 - RARE, method="higher")) for one in starts),
        ]
    )
    whole = np.array([min(int(one.min()) for one in starts), max(int(one.max()) for one in starts)])
    every = next((every for every in EVERY if _points(common, every) <= MOST_POINTS), EVERY[-1])
    first, last = _number(whole if _points(whole, every) <= MOST_POINTS else common, every)
    return every, int(first), int(last)


def _points(ends: Integers, every: str) -> int:
    first, last = _number(ends, every)
    return int(last - first) + 1


def _number(micros: Integers, every: str) -> Integers:
    """Numbers that count up from stretch to stretch."""
    if every in MONTHS:
        months = micros.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
        return (months + TO_YEAR_0) // MONTHS[every]
    days = micros // DAY
    return days if every == "day" else (days + THURSDAY) // 7


def _begin(number: int, every: str) -> datetime:
    if every in MONTHS:
        month = np.datetime64(number * MONTHS[every] - TO_YEAR_0, "M")
        return moment(int(month.astype("datetime64[us]").astype(np.int64)))
    return moment(DAY * (number if every == "day" else 7 * number - THURSDAY))
