"""Cases as arrays, traces, and the clock on the wall: what mechanisms and engines work on.

`Cases` holds what the paper assumes of a log and the attributes asked for, `Traces` sequences of activities alone. Both are
immutable.
A calendar (hours of the day, days of the week) is read off the clock on the wall; how long something takes is counted in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.ordering import stable_order
from libra.eventlog.log import EventLog

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MINUTE = 60_000_000  # microseconds
DAY = 24 * 60 * MINUTE
MISSING = np.iinfo(np.int64).min  # in arrays of values of an attribute: there is none
_ODD = np.uint64(0x9E3779B97F4A7C15)


class _Rows:
    """Sequences of events, one after the other: row i has the events from `offsets[i]` up to `offsets[i + 1]`."""

    offsets: Integers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Integers:
        """How many events each row has."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Integers:
        """For every event, its row."""
        return np.repeat(np.arange(len(self)), self.lengths)


@dataclass(frozen=True, eq=False, repr=False)
class Cases(_Rows):
    """Some cases of a log.

    `codes` and `micros` hold the activity code and the time (microseconds since 1970) of every event; case i has the events from
    `offsets[i]` up to `offsets[i + 1]` and follows variant `variant[i]` of the log. `n_activities` is the number of labels.
    `attributes` holds a value a case for each attribute of cases that was asked for, `of_events` a value an event for each
    attribute of events: whole numbers, `MISSING` where there is none.
    """

    codes: Integers
    micros: Integers
    offsets: Integers
    variant: Integers
    n_activities: int
    attributes: tuple[Integers, ...] = ()
    of_events: tuple[Integers, ...] = ()

    @cached_property
    def spans(self) -> tuple[Integers, Integers]:
        """Of every case that has events, the earliest time and the latest."""
        first = self.offsets[:-1][self.lengths > 0]
        if not len(first):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.minimum.reduceat(self.micros, first), np.maximum.reduceat(self.micros, first)

    @cached_property
    def by_label(self) -> tuple[Integers, ...]:
        """For every label the rows of the cases of its events, ascending, one for each event."""
        rows = self.rows[stable_order(self.codes)]
        return tuple(np.split(rows, np.cumsum(np.bincount(self.codes, minlength=self.n_activities))[:-1]))

    def take(self, rows: Integers) -> Cases:
        """The cases in these rows, in this order; a row that comes twice gives the case twice."""
        events, offsets = _taken(self.offsets, rows)
        attributes = tuple(values[rows] for values in self.attributes)
        of_events = tuple(values[events] for values in self.of_events)
        codes, micros, variant = self.codes[events], self.micros[events], self.variant[rows]
        return Cases(codes, micros, offsets, variant, self.n_activities, attributes, of_events)


def cases_of(log: EventLog) -> Cases:
    """The cases of a log."""
    return Cases(log.activity_codes.astype(np.int64), log.timestamps, log.case_offsets, log.variants.of_case, len(log.activities))


def together(parts: Sequence[Cases]) -> Cases:
    """All cases of some parts of the same log, one part after the other."""
    codes, micros, lengths, variant = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "micros", "lengths", "variant")
    )
    attributes, of_events = (
        tuple(np.concatenate(values) for values in zip(*(getattr(part, name) for part in parts), strict=True))
        for name in ("attributes", "of_events")
    )
    return Cases(codes, micros, np.concatenate(([0], np.cumsum(lengths))), variant, parts[0].n_activities, attributes, of_events)


@dataclass(frozen=True, eq=False, repr=False)
class Traces(_Rows):
    """Some traces: row i holds `codes[offsets[i]:offsets[i + 1]]`."""

    codes: Integers
    offsets: Integers

    def take(self, rows: Integers) -> Traces:
        """The traces in these rows, in this order; a row that comes twice gives the trace twice."""
        events, offsets = _taken(self.offsets, rows)
        return Traces(self.codes[events], offsets)

    def fingerprints(self) -> npt.NDArray[np.uint64]:
        """A 64-bit number a trace, equal for equal traces; for looking up, never for what a guarantee rests on."""
        position = np.arange(len(self.codes)) - np.repeat(self.offsets[:-1], self.lengths)
        mixed = _mix((position.astype(np.uint64) << np.uint64(32)) + self.codes.astype(np.uint64) + np.uint64(1))
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
        return _mix(sums[self.offsets[1:]] - sums[self.offsets[:-1]] + self.lengths.astype(np.uint64))

    def as_bytes(self) -> list[bytes]:
        """The traces as keys for a dictionary: equal for equal traces alone."""
        raw = self.codes.tobytes()
        return [raw[begin:end] for begin, end in pairwise((8 * self.offsets).tolist())]

    def to_lists(self) -> list[list[int]]:
        """The traces as lists, for JSON."""
        return [self.codes[begin:end].tolist() for begin, end in pairwise(self.offsets.tolist())]


def traces_of(lists: Sequence[Sequence[int]]) -> Traces:
    """Traces from lists of codes."""
    lengths = [len(one) for one in lists]
    codes = np.array([code for one in lists for code in one], np.int64)
    return Traces(codes, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64))


def concatenated(parts: Sequence[Traces]) -> Traces:
    """All traces of some parts, one part after the other."""
    lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
    codes = np.concatenate([np.zeros(0, np.int64), *(part.codes for part in parts)])
    return Traces(codes, np.concatenate(([0], np.cumsum(lengths))))


def _taken(offsets: Integers, rows: Integers) -> tuple[Integers, Integers]:
    """The events of these rows, one row after the other, and where each row begins among them."""
    lengths = np.diff(offsets)[rows]
    begins = np.concatenate(([0], np.cumsum(lengths)))
    return np.arange(begins[-1]) + np.repeat(offsets[rows] - begins[:-1], lengths), begins


def _mix(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Splitmix64: every bit of a word shakes every bit of the result."""
    words = words * _ODD
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def to_local(micros: Integers, time_zone: str) -> Integers:
    """What the clock on the wall shows, as microseconds since 1970."""
    if time_zone == "UTC":
        return micros
    moments = pl.Series(micros, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    local = moments.dt.convert_time_zone(time_zone).dt.replace_time_zone(None)
    return local.cast(pl.Int64).to_numpy().astype(np.int64, copy=False)


def to_utc(local: Integers, time_zone: str) -> Integers:
    """When the clock on the wall shows this: the first time where it does so twice, an hour later where it never does."""
    if time_zone == "UTC":
        return local
    moments = pl.Series(local, dtype=pl.Int64).cast(pl.Datetime("us"))
    known = moments.dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
    later = moments.dt.offset_by("1h").dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
    utc = known.fill_null(later).dt.convert_time_zone("UTC").cast(pl.Int64)
    return utc.fill_null(pl.Series(local, dtype=pl.Int64)).to_numpy().astype(np.int64, copy=False)
