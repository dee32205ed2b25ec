"""Tables larger than memory: rows to events in batches, each read as if all rows were read at once.

How times are read (day or month first, the unit of epochs, the zone) depends on the whole column. A sample decides; the
few values that tell it are remembered, every batch is read beside them, and a value that would change how one of them was read
is an `InputError`. Whatever else a row says depends on that row alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl

from libra.errors import InputError
from libra.eventlog.attributes import column_of, no_column, plain_values
from libra.eventlog.in_parts import attribute_column
from libra.eventlog.instances import COMPLETE, START, keys_of
from libra.eventlog.log import UTC_MICROSECONDS, FoundRole
from libra.eventlog.names import INSTANCE, START_TIMESTAMP, unnamed
from libra.eventlog.notes import OpenChoice, starts_are_open
from libra.eventlog.options import Place, ReadOptions
from libra.eventlog.pairing import Deciders, closes, decided_by_values, differ_within_cases, lifecycle_of, transition_of
from libra.eventlog.select import Transitions
from libra.eventlog.tables import timestamps
from libra.eventlog.tables.dates import telling_dates
from libra.eventlog.tables.flat import TableRows, clock_note, decided, deciding, identity, label, with_clocks, zones_apart
from libra.eventlog.tables.roles import DESCRIBED, REQUIRED, any_time, find_roles
from libra.eventlog.tables.timestamps import Beside, Column, has_zone, iso_timestamps, place_in, read_moments
from libra.eventlog.tables.values import as_attribute

_NEVER_DATES = ((10**9, 10**10), (10**12, 10**13), (10**15, 10**16))  # as many digits as epochs have and no date has
_REMEDY = "Give the format with --timestamp-format, or say --day-first or --month-first if it is their order that is open"
_SAY_INSTANCES = "Say --instances pair, complete or events"
_MARKED = "^[\0\1]"  # begins like the individuals that `individuals_apart` makes up, which no name may be taken for
_SURE = ("named in the call", DESCRIBED, "its name is the XES standard's")


class Times:
    """One column of times, read as its first values show."""

    def __init__(
        self, sample: pl.Series, beside: Beside, options: ReadOptions, column: str, *, place: Place, optional: bool = False
    ) -> None:
        """Take the first values and other columns of times `beside` them; an event may do without an `optional` one."""
        self._options, self._column, self._optional = options, column, optional
        values = timestamps.stripped(sample, column, place)
        self._values, self._moments = values.clear(), pl.Series([], dtype=UTC_MICROSECONDS)
        self._beside = {name: unnamed(others).clear() for name, others in beside.items()}
        self._decided_zone: bool | None = None
        _, self.notes = read_moments(values, options, Column(column, place_in(values, place), beside))
        if not options.described and not isinstance(values.dtype, pl.Date | pl.Datetime):
            self._remember(values, beside)
        self.has_values = values.null_count() < len(values)
        self._decided_zone = has_zone(self.notes, options, column) if self.has_values or not optional else None
        self._begun = False

    @property
    def has_zone(self) -> bool:
        """Whether the times say which zone they are in."""
        return self._decided_zone is not False

    def read(self, values: pl.Series, beside: Beside, place: Place) -> pl.Series:
        """The moments of the next values, null where there is none to be used; `place` says where a row of them stands."""
        continued, self._begun = self._begun, self._begun or len(values) > 0
        values = timestamps.stripped(values, self._column, place)
        before = (self._values, self._moments, self._beside)

        def contradicts(count: int) -> bool:
            self._values, self._moments, self._beside = before
            try:
                self._remember(values[:count], {name: others[:count] for name, others in beside.items()})
            except _ContradictionError:
                return True
            return False

        if self._options.described or isinstance(values.dtype, pl.Date | pl.Datetime):  # then every value is read by itself
            moments, _ = read_moments(values, self._options, Column(self._column, place_in(values, place)))
        else:
            try:
                moments = self._remember(values, beside)
            except _ContradictionError:
                row = bisect_left(range(1, len(values)), True, key=contradicts)  # the last of the fewest that contradict
                what = f"timestamp {timestamps.quoted(values[row])} does not fit the way those before it were read"
                raise InputError(what, place=place(row), remedy=_REMEDY) from None
        if not self.has_values and values.null_count() < len(values):
            self.has_values, self._decided_zone = True, has_zone(self.notes, self._options, self._column)
        usable = timestamps.usable_moments
        return usable(moments, values, self._options, place, optional=self._optional, continued=continued)[0]

    def _remember(self, values: pl.Series, beside: Beside) -> pl.Series:
        """The moments of more values; the telling ones among them are kept."""
        self._beside = {name: _merged(seen, beside.get(name)) for name, seen in self._beside.items()}
        at_once = None if self._options.timestamp_format or self._options.epoch_unit else _at_once(values)
        if at_once is not None and self._keep(values, *at_once):
            return at_once[0]
        moments = self._read(pl.concat([self._values, values]))[0][len(self._values) :]
        if not self._keep(values, moments, self._telling(values, moments)):
            raise _ContradictionError
        return moments

    def _keep(self, values: pl.Series, moments: pl.Series, rows: pl.Series) -> bool:
        """Keep the telling values in these rows, unless they and those kept before would be read otherwise together."""
        kept, known = pl.concat([self._values, values[rows]]), pl.concat([self._moments, moments[rows]])
        again, notes = self._read(kept)
        if not again.equals(known) or self._decided_zone not in (None, has_zone(notes, self._options, self._column)):
            return False
        few = self._telling(kept, known)
        self._values, self._moments, self.notes = kept[few], known[few], notes
        return True

    def _telling(self, values: pl.Series, moments: pl.Series) -> pl.Series:
        """The rows that tell how all the values are read."""
        if self._options.timestamp_format:
            return moments.is_not_null().arg_true().head(1)
        if values.dtype != pl.String and not values.dtype.is_integer():
            return _extremes(values)
        text = values.cast(pl.String)
        return pl.concat([telling_dates(text, moments.is_not_null()).cast(pl.UInt32), _extremes(text)]).unique().sort()

    def _read(self, values: pl.Series) -> tuple[pl.Series, list[str]]:
        try:
            return read_moments(values, self._options, Column(self._column, beside=self._beside))
        except InputError as error:
            if self._options.timestamp_format:
                raise
            raise _ContradictionError from error


class _ContradictionError(Exception):
    """A value would change how others are read."""


def _at_once(values: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """The moments of values that are all of one common form, and the rows that tell how they are read; None for others."""
    if values.dtype == pl.String:
        moments = iso_timestamps(values)
        if moments is None:
            return None
        endings = pl.DataFrame({"ending": values.str.tail(6)}).with_row_index("row").drop_nulls().unique("ending", keep="first")
        zones = endings.with_columns(pl.col("ending").str.extract(timestamps.ISO_ZONE)).unique("ending", keep="any")
        return moments, zones["row"]
    low, high = (values.min(), values.max()) if values.dtype.is_integer() else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or not any(lo <= low and high < hi for lo, hi in _NEVER_DATES):
        return None
    return timestamps.epochs(values.cast(pl.Float64), values.name)[0], _extremes(values)


def _extremes(values: pl.Series) -> pl.Series:
    """The rows of the largest and the smallest number, if there are any."""
    if values.dtype != pl.String and not values.dtype.is_numeric():
        return pl.Series([], dtype=pl.UInt32)
    sizes = values.cast(pl.Float64, strict=False).fill_nan(None).abs()
    return pl.Series(sorted({row for row in (sizes.arg_max(), sizes.arg_min()) if row is not None}), dtype=pl.UInt32)


def _merged(seen: pl.Series, more: pl.Series | None) -> pl.Series:
    """The telling dates of another column, with those of more of its values."""
    if more is None or more.dtype != pl.String or iso_timestamps(unnamed(more)) is not None:
        return seen
    dates = pl.concat([seen, unnamed(more)]).str.strip_chars().unique(maintain_order=True)
    return dates[telling_dates(dates, dates.is_null())]


class RowsInBatches(TableRows):
    """One way through the rows of a table in batches, with times read as a sample of the rows shows.

    Out come frames with "case", "activity", "micros" and what else `EventBatches` has.
    """

    def __init__(
        self, sample: pl.DataFrame, roles: Sequence[FoundRole], options: ReadOptions, source: str, place: Place,
        may_lack_individual: bool = False, may_have_instance: bool = False,
    ) -> None:  # fmt: skip
        columns = {role.role: role.columns for role in roles}
        super().__init__(columns, options, source, self._moments)
        self._may_lack_individual = may_lack_individual
        self._transitions = Transitions(options.lifecycle_keep, "lifecycle" in columns, source)
        when, starts = columns["timestamp"][0], columns.get("start_timestamp", ())
        settled = options.described or options.day_first is not None or options.timestamp_format or options.epoch_unit
        may_show = not settled and all(sample[name].dtype == pl.String for name in (when, *starts))
        self._beside = starts if may_show else ()  # another column of times, which may show if day or month comes first
        self.times = Times(sample[when], {name: sample[name] for name in self._beside}, options, when, place=place)
        self.times_of = [*columns["timestamp"], *self._beside]  # the columns that hold times
        self.instances, self._instances_note = decided(sample, roles, options)
        self._deciders = Deciders() if isinstance(self._instances_note, OpenChoice) else None  # all rows may close the choice
        self.has_starts, self.has_transitions = bool(starts), lifecycle_of(roles) is not None
        self._watched = self.instances is None and not options.described and self.has_transitions  # whether instances turn up
        self._found = dict.fromkeys((START, COMPLETE), False)
        may_start = [*starts, *([START_TIMESTAMP] if START_TIMESTAMP in sample.columns else [])][:1]  # a column that may say when
        detected = options.instances is None and not options.described
        seen = deciding(sample, columns, options) if detected and starts else sample
        self._had_starts = any(seen[name].null_count() < seen.height for name in starts)
        open_yet = self.instances is None or not starts  # paired by transitions, with no column of starts
        watched = may_start if detected and open_yet else []
        self._late_starts = watched[0] if watched else None
        by_values = any(decided_by_values(sample[name], roles, options) for name in starts)
        self._open_starts = [starts_are_open(starts[0])] if by_values else []
        self.starts = None
        if self.instances == "pair" and starts:
            beside = {when: sample[when]} if may_show else {}
            self.starts = Times(sample[starts[0]], beside, options, starts[0], place=place, optional=True)
            self.times_of = [*columns["timestamp"], *starts]
        by_transition = self.instances is not None or self._watched or options.lifecycle_keep
        paired = self.instances == "pair"
        read = [*REQUIRED, "individual", *(["lifecycle"] if by_transition else []), *(["resource"] if paired else [])]
        names = [name for role in read for name in columns.get(role, ())]
        more = [INSTANCE] if paired and (may_have_instance or INSTANCE in sample.columns) else []
        attributes = [column_of(attribute, columns) for attribute in options.attributes]
        of_starts = starts if self.starts else ()
        self.needed = list(dict.fromkeys([*names, *more, *self._beside, *watched, *of_starts, *attributes]))  # all that is read

    def events(self, frame: pl.DataFrame, place: Place) -> pl.DataFrame:
        """The events of the next rows."""
        required = self.required(frame, place)
        usable = self.usable(required, place)
        case = required["case_id"]
        playing = {"case": case, "activity": required["activity"], "micros": required["timestamp"].to_physical()}
        playing |= self._attributes(frame, usable, place)
        if "individual" in self._columns:
            playing["individual"] = self._whose(frame, case, usable, place)
        if self._options.lifecycle_keep:
            usable = self._transitions.keep(self.joined(frame, "lifecycle", place), usable)
        if self._late_starts is not None:
            late = timestamps.stripped(frame[self._late_starts], self._late_starts, place)
            if self._options.drop_invalid and "start_timestamp" in self._columns:
                late = timestamps.read_timestamps(late, self._options, self._late_starts, place, optional=True)[0]
            self._refuse_late_starts(late if usable is None else late.set(~usable, None), case, place)
        by_transition = self.has_transitions and (self.instances is not None or self._watched)
        transition = self.joined(frame, "lifecycle", place) if by_transition else None
        start = None if self.starts is None else self._start(self.starts, frame, place)
        if start is not None:
            playing["start"] = start.set((start >= playing["micros"]).fill_null(True), None)
        if self._deciders is not None:
            shown = [values if usable is None or values is None else values.filter(usable) for values in (start, transition)]
            whose = playing.get("individual", case)
            self._deciders.add([whose if usable is None else whose.filter(usable)], *shown)
        if transition is not None:
            usable = self._by_transition(frame, transition, usable, playing, place)
        elif self.instances == "pair":
            playing["is_start"] = pl.repeat(False, frame.height, dtype=pl.Boolean, eager=True)
            playing["key"] = keys_of(None, None, frame.height)
        events = pl.DataFrame([values.alias(name) for name, values in playing.items()])
        return events if usable is None else events.filter(usable)

    def _attributes(self, frame: pl.DataFrame, usable: pl.Series | None, place: Place) -> dict[str, pl.Series]:
        """What rows say of attributes; those that are left out say nothing."""
        found = {}
        for attribute in self._options.attributes:
            values, _ = as_attribute(unnamed(frame[column_of(attribute, self._columns)]), attribute.name)
            if values is None:
                raise no_column(attribute.name, frame.columns, self._source)
            values = values if usable is None else values.set(~usable, None)
            found[attribute_column(attribute)] = plain_values(values, attribute, place)
        return found

    def _start(self, starts: Times, frame: pl.DataFrame, place: Place) -> pl.Series:
        """When rows started."""
        (name,), when = self._columns["start_timestamp"], self._columns["timestamp"][0]
        beside = {when: frame[when]} if self._beside else {}
        return unnamed(starts.read(frame[name], beside, place)).to_physical()

    def _refuse_late_starts(self, start: pl.Series, case: pl.Series, place: Place) -> None:
        """An `InputError` where a column turns out to say when rows started, which the first rows did not show.

        That is a column without a value there, or with one value for each case.
        """
        known = "start_timestamp" in self._columns
        if not self._had_starts and (start.null_count() < len(start) if known else any_time(start, self._options)):
            raise late_start(place(int(start.is_not_null().arg_true()[0])))
        if self._had_starts and differ_within_cases([case], start).any():
            what = f'some cases have different values in "{self._late_starts}", and those before have one each'
            raise InputError(what, place=place(0), remedy=_SAY_INSTANCES)

    def _by_transition(
        self, frame: pl.DataFrame, transition: pl.Series, usable: pl.Series | None, playing: dict[str, pl.Series], place: Place
    ) -> pl.Series | None:
        """Which events come, by their transitions; what is said of them goes to `playing`."""
        if self.instances == "events":
            playing["transition"] = transition
            return usable
        transitions = transition_of(transition)
        completes = closes(transitions)
        if self.instances is None:
            if self._watched:
                refuse_late_instances(self._found, transitions, usable, place)
            return usable
        if self.instances == "pair":
            resource = self.joined(frame, "resource", place) if "resource" in self._columns else None
            instance = label(frame[INSTANCE], "instance", place) if INSTANCE in self.needed else None
            playing["is_start"] = (transitions == START).fill_null(False)
            playing["key"] = keys_of(instance, resource, frame.height)
            completes = completes | playing["is_start"]
        return completes if usable is None else completes & usable

    def finish(self) -> None:
        """All rows have come."""
        super().finish()
        if self._unusable < self._seen:
            self._transitions.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the rows so far."""
        when, *clocks = self._columns["timestamp"]
        said = [*(clock_note(clock, when) for clock in clocks), *self.times.notes, *self._open_starts]
        if self.starts is not None:
            said += self.starts.notes
            if self.starts.has_values:
                (start,) = self._columns["start_timestamp"]
                said += zones_apart(start, self.starts.has_zone, when, self.times.has_zone)
        note, closed = self._instances_note, self._deciders is not None and self._deciders.enough
        return [*said, *filter(None, [str(note) if closed else note]), *super().notes()]

    def _whose(self, frame: pl.DataFrame, case: pl.Series, usable: pl.Series | None, place: Place) -> pl.Series:
        if self._columns["individual"] == self._columns["case_id"]:
            return case
        if self._may_lack_individual:
            return individuals_apart(identity(frame[self._columns["individual"][0]], place).cast(pl.String), case)
        whose = self.individual(frame, usable, place)
        return whose.fill_null(0) if whose.dtype.is_integer() else individuals_apart(whose, case)  # null only where left out

    def _moments(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        columns = self._columns["timestamp"]
        moments = self.times.read(frame[columns[0]], {name: frame[name] for name in self._beside}, place)
        return with_clocks(moments, frame, columns, self._options, place)


def late_start(place: str) -> InputError:
    """The error for the first start in a log whose first events have none."""
    return InputError("here an event has a start timestamp, and none before it has", place=place, remedy=_SAY_INSTANCES)


def refuse_late_instances(found: dict[str, bool], transitions: pl.Series, usable: pl.Series | None, place: Place) -> None:
    """An `InputError` at the first event by which a log has starts and completions, where its first events had not both."""
    counts = pl.Series(np.ones(len(transitions), bool)) if usable is None else usable
    here = {START: (transitions == START).fill_null(False) & counts, COMPLETE: closes(transitions) & counts}
    rows = [int(where.arg_true()[0]) for kind, where in here.items() if not found[kind] and where.any()]
    found |= {kind: found[kind] or bool(where.any()) for kind, where in here.items()}
    if rows and all(found.values()):
        what = "here the log has start and complete events, and before it has only one of them"
        raise InputError(what, place=place(max(rows)), remedy=_SAY_INSTANCES)


def individuals_apart(whose: pl.Series, case: pl.Series) -> pl.Series:
    """Individuals as text; an event that does not say whose it is gets one that only its case has."""
    whose = whose.set((whose.str.strip_chars() == "").fill_null(False), None)
    first = whose.min()
    if isinstance(first, str) and first < "\2":
        whose = whose.str.replace(_MARKED, "\1$0")
    if not whose.null_count():
        return whose
    own = pl.DataFrame({"case": case}).select(pl.format("\0{}", "case")).to_series()
    return whose.zip_with(whose.is_not_null(), own)


Rows = Callable[[Sequence[str]], Iterator[tuple[pl.DataFrame, Place]]]
"""All rows in order with these columns, some at a time, and where a row stands."""


class TableBatches:
    """The events of a table larger than memory as `EventBatches`: roles and the forms of columns are decided by a sample."""

    def __init__(
        self, source: str, options: ReadOptions, sample: pl.DataFrame, place: Place, rows: Rows, height: int, *,
        roles: tuple[FoundRole, ...] | None = None, individual: FoundRole | None = None,
        notes: Callable[[], Sequence[str]] = tuple,
    ) -> None:  # fmt: skip
        """Take a table of `height` rows, which may be a guess.

        `sample` has some rows with all their columns, and `place` says where these stand. `roles` are found in it unless they are
        given; `individual` is what is known to say whose cases they are, unless the user names it. `notes` tells what is worth
        knowing about how the rows are read; it is complete after the last ones.
        """
        self.source, self._options, self._sample, self._place, self._all_rows = source, options, sample, place, rows
        self.attributes = options.attributes
        self.roles, self._more_notes = find_roles(sample, options, source) if roles is None else roles, notes
        playing = {role.role: role.columns for role in self.roles}
        for attribute in options.attributes:
            if column_of(attribute, playing) not in sample.columns:
                raise no_column(attribute.name, sample.columns, source)
        named = any(role.role == "individual" for role in self.roles)
        self._remembered = individual is not None and not options.described and not named
        if individual is not None and self._remembered:
            self.roles = (*self.roles, individual)
        self.has_individual, self.estimated_events = named or self._remembered, height
        self._rows = self._fresh()
        self.has_zone = self._rows.times.has_zone
        self.instances = self._rows.instances
        self.has_starts, self.has_transitions = self._rows.has_starts, self._rows.has_transitions

    def _fresh(self) -> RowsInBatches:
        return RowsInBatches(self._sample, self.roles, self._options, self.source, self._place, self._remembered)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self._rows = rows = self._fresh()
        for frame, place in self._all_rows(rows.needed):
            events = rows.events(frame, place)
            if events.height:
                yield events
        rows.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        notes = [*self._more_notes(), *self._rows.notes()]
        if self.estimated_events > self._sample.height and any(role.reason not in _SURE for role in self.roles):
            notes.append("Which column plays which role was found from some of the rows; it can be named in the call.")
        return tuple(dict.fromkeys(notes))
