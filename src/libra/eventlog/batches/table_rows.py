"""Rows of a flat table to events, some rows at a time: labels, moments, what is missing, whose case it is.

In: a sample of the table to decide on, then rows. Out: frames with "case", "activity", "micros" and perhaps "individual". What
is decided in memory from a whole column is decided from the sample and held; a row that does not fit is an `InputError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import time

import polars as pl

from libra.errors import InputError
from libra.eventlog.batches.times import Times
from libra.eventlog.batches.transitions import Transitions
from libra.eventlog.batches.whose import own_where_none, whose_events
from libra.eventlog.columns import unnamed
from libra.eventlog.log import FoundRole
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.clock_times import read_clock_times
from libra.eventlog.tables.flat import label
from libra.eventlog.tables.roles import FLAGS, REQUIRED, WORDS
from libra.eventlog.tables.timestamps import quoted

Place = Callable[[int], str]


class TableRows:
    """One way through the rows of a table.

    Example:
        >>> frame = pl.DataFrame({"case": ["x"], "activity": ["a"], "time": ["1970-01-01T00:00:01Z"]})
        >>> roles = [FoundRole(role, (name,), "") for role, name in zip(REQUIRED, frame.columns)]
        >>> TableRows(frame, roles, ReadOptions(), "a.csv", str).events(frame, str).rows()
        [('x', 'a', 1000000)]
    """

    def __init__(
        self,
        sample: pl.DataFrame,
        roles: Sequence[FoundRole],
        options: ReadOptions,
        source: str,
        place: Place,
        *,
        may_lack_individual: bool = False,
    ) -> None:
        self._by_role = {role.role: role.columns for role in roles}
        self._options, self._source = options, source
        self._individual = self._by_role.get("individual", ())
        self._may_lack_individual = may_lack_individual
        self._transitions = Transitions(options.lifecycle_keep, "lifecycle" in self._by_role, source)
        when = self._by_role["timestamp"][0]
        self._beside = next(iter(self._by_role.get("start_timestamp", ())), None) if _open_order(sample[when], options) else None
        if self._beside is not None and sample[self._beside].dtype != pl.String:
            self._beside = None
        beside = None if self._beside is None else (self._beside, sample[self._beside])
        self.times = Times(sample[when], beside, options, when, place=place)
        self._seen = self._used = False
        self._dropped: list[str] = []

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        roles = [*REQUIRED, "individual", *(["lifecycle"] if self._options.lifecycle_keep else [])]
        names = [name for role in roles for name in self._by_role.get(role, ())]
        return list(dict.fromkeys([*names, *([] if self._beside is None else [self._beside])]))

    @property
    def times_of(self) -> list[str]:
        """Those of them that hold times."""
        return [*self._by_role["timestamp"], *([] if self._beside is None else [self._beside])]

    def events(self, frame: pl.DataFrame, place: Place) -> pl.DataFrame:
        """The events of the next rows."""
        self._seen |= frame.height > 0
        playing = {
            "case": self._case(frame, place),
            "activity": self._joined(frame, "activity", place),
            "micros": self._moments(frame, place),
        }
        usable = self._usable(playing, place)
        playing["micros"] = playing["micros"].to_physical()
        if self._individual == self._by_role["case_id"]:
            playing["individual"] = playing["case"]
        elif self._individual:
            whose = whose_events(frame[self._individual[0]], usable, place, may_lack=self._may_lack_individual)
            playing["individual"] = own_where_none(whose, playing["case"])
        if self._options.lifecycle_keep:
            usable = self._transitions.keep(self._joined(frame, "lifecycle", place), usable)
        events = pl.DataFrame([values.alias(name) for name, values in playing.items()])
        return events if usable is None else events.filter(usable)

    def finish(self) -> None:
        """All rows have come: there must be events among them, unless none will do."""
        if not self._seen and not self._options.allow_empty:
            raise InputError("there are no events", place=self._source, remedy="Check that the export is complete")
        if not self._used and not self._options.allow_empty:
            remedy = f"Check the columns named with {', '.join(FLAGS[role] for role in REQUIRED)}"
            what = "no event has a case id, an activity and a timestamp that can be used"
            raise InputError(what, place=self._source, remedy=remedy)
        if self._used:
            self._transitions.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the rows so far."""
        when, *clocks = self._by_role["timestamp"]
        joined = [f'The times of day in "{clock}" were added to the dates in "{when}".' for clock in clocks]
        return [*joined, *self.times.notes(), *(f"Some events without a usable {word} were left out." for word in self._dropped)]

    def _case(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        """A value for each case: as it is where it is a whole number, else text; lengths keep joined columns apart."""
        names = self._by_role["case_id"]
        if len(names) == 1 and frame[names[0]].dtype.is_integer():
            return unnamed(frame[names[0]])
        parts = [label(frame[name], "case_id", place).alias(str(i)) for i, name in enumerate(names)]
        if len(parts) == 1:
            return parts[0]
        lengths = [pl.format("{}:{}", pl.col(str(i)).str.len_bytes(), pl.col(str(i))) for i in range(len(parts))]
        return pl.DataFrame(parts).select(pl.concat_str(lengths)).to_series()

    def _joined(self, frame: pl.DataFrame, role: str, place: Place) -> pl.Series:
        parts = [label(frame[name], role, place) for name in self._by_role[role]]
        if len(parts) == 1:
            return parts[0]
        named = pl.DataFrame([part.alias(str(i)) for i, part in enumerate(parts)])
        return named.select(pl.concat_str(pl.all(), separator="+")).to_series()

    def _moments(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        when, *clocks = self._by_role["timestamp"]
        moments = self.times.read(frame[when], None if self._beside is None else frame[self._beside], place)
        if clocks and not (at_midnight := (moments.dt.time() == time()).fill_null(True)).all():
            row = int((~at_midnight).arg_true()[0])
            raise InputError(
                f'timestamp {quoted(frame[when][row])} tells a time of day, and those before it had theirs from "{clocks[0]}"',
                place=place(row),
                remedy="Name the column to use with --timestamp",
            )
        for clock in clocks:
            moments += read_clock_times(frame[clock], self._options, place=place)
        return moments

    def _usable(self, playing: dict[str, pl.Series], place: Place) -> pl.Series | None:
        """Which events have all they must have; None where all have."""
        usable = None
        for role, values in zip(REQUIRED, playing.values(), strict=True):
            if not values.null_count():
                continue
            word = WORDS.get(role, role)
            if not self._options.drop_invalid:
                remedy = "Fill it in, or drop such events with --drop-invalid"
                raise InputError(f"no {word}", place=place(int(values.is_null().arg_true()[0])), remedy=remedy)
            if word not in self._dropped:
                self._dropped.append(word)
            usable = values.is_not_null() if usable is None else usable & values.is_not_null()
        self._used |= bool(usable.any()) if usable is not None else len(playing["case"]) > 0
        return usable


def _open_order(values: pl.Series, options: ReadOptions) -> bool:
    """Whether another column of times may have to show if day or month comes first."""
    settled = options.described or options.day_first is not None or options.timestamp_format or options.epoch_unit
    return values.dtype == pl.String and not settled
