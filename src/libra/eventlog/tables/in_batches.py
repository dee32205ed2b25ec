"""Tables larger than memory: rows to events in batches, each read as if all rows were read at once.

How text and numbers are read as times (day or month first, the unit of epochs, the zone) depends on the whole column. It is
decided from a sample; the few values that tell it are remembered, every batch is read beside them, and a value that would change
how one of them was read is an `InputError`. Whatever else a row says depends on that row alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS, FoundRole
from libra.eventlog.names import unnamed
from libra.eventlog.options import Place, ReadOptions
from libra.eventlog.select import Transitions
from libra.eventlog.tables.dates import telling_dates
from libra.eventlog.tables.flat import TableRows, clock_note, identity, with_clocks
from libra.eventlog.tables.roles import DESCRIBED, REQUIRED, find_roles
from libra.eventlog.tables.timestamps import (
    ISO_ZONE,
    Column,
    epochs,
    has_zone,
    iso_timestamps,
    place_in,
    quoted,
    read_moments,
    stripped,
    usable_moments,
)

_NEVER_DATES = ((10**9, 10**10), (10**12, 10**13), (10**15, 10**16))  # as many digits as epochs have and no date has
_REMEDY = "Give the format with --timestamp-format, or say --day-first or --month-first if it is their order that is open"
_MARKED = "^[\0\1]"  # begins like the individuals that `individuals_apart` makes up, which no name may be taken for
_SURE = ("named in the call", DESCRIBED, "its name is the XES standard's")


class Times:
    """One column of times, read as its first values show.

    Example:
        >>> times = Times(pl.Series(["05/13/2024"]), None, ReadOptions(), "when", place="row {}".format)
        >>> times.read(pl.Series(["05/06/2024"]), None, "row {}".format).dt.month().to_list(), times.has_zone
        ([5], False)
        >>> times.read(pl.Series(["05/06/2024", "16/06/2024"]), None, "row {}".format)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        libra.errors.InputError: row 1: timestamp "16/06/2024" does not fit the way those before it were read. Give the format ...
    """

    def __init__(
        self, sample: pl.Series, beside: tuple[str, pl.Series] | None, options: ReadOptions, column: str, *, place: Place
    ) -> None:
        """`beside` is another column of times, which may show the order of day and month where this one does not."""
        self._options, self._column = options, column
        self._beside = None if beside is None else (beside[0], unnamed(beside[1]).clear())
        values = stripped(sample, column, place)
        self._values, self._moments = values.clear(), pl.Series([], dtype=UTC_MICROSECONDS)
        self._decided_zone: bool | None = None
        others = {} if beside is None else {beside[0]: beside[1]}
        _, self._notes = read_moments(values, options, Column(column, place_in(values, place), others))
        if not options.described and not isinstance(values.dtype, pl.Date | pl.Datetime):
            self._remember(values, None if beside is None else beside[1])
        self._decided_zone = has_zone(self._notes, options, column)
        self._begun = False

    @property
    def has_zone(self) -> bool:
        """Whether the times say which zone they are in."""
        return self._decided_zone is not False

    def notes(self) -> list[str]:
        """What was assumed about all that was read so far."""
        return list(self._notes)

    def read(self, values: pl.Series, beside: pl.Series | None, place: Place) -> pl.Series:
        """The moments of the next values, null where there is none to be used; `place` says where a row of them stands."""
        continued, self._begun = self._begun, self._begun or len(values) > 0
        values = stripped(values, self._column, place)
        if self._options.described or isinstance(values.dtype, pl.Date | pl.Datetime):  # then every value is read by itself
            read, _ = read_moments(values, self._options, Column(self._column, place_in(values, place)))
            return usable_moments(read, values, self._options, place, continued=continued)[0]
        before = (self._values, self._moments, self._beside)

        def contradicts(count: int) -> bool:
            self._values, self._moments, self._beside = before
            try:
                self._remember(values[:count], None if beside is None else beside[:count])
            except _ContradictionError:
                return True
            return False

        try:
            moments = self._remember(values, beside)
        except _ContradictionError:
            row = bisect_left(range(1, len(values)), True, key=contradicts)  # the last of the fewest that contradict
            what = f"timestamp {quoted(values[row])} does not fit the way those before it were read"
            raise InputError(what, place=place(row), remedy=_REMEDY) from None
        return usable_moments(moments, values, self._options, place, continued=continued)[0]

    def _remember(self, values: pl.Series, beside: pl.Series | None) -> pl.Series:
        """The moments of more values; the telling ones among them are kept."""
        if beside is not None and self._beside is not None:
            self._beside = (self._beside[0], _merged(self._beside[1], beside))
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
        self._values, self._moments, self._notes = kept[few], known[few], notes
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
        beside = {} if self._beside is None else {self._beside[0]: self._beside[1]}
        try:
            return read_moments(values, self._options, Column(self._column, beside=beside))
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
        return moments, endings.with_columns(pl.col("ending").str.extract(ISO_ZONE)).unique("ending", keep="any")["row"]
    low, high = (values.min(), values.max()) if values.dtype.is_integer() else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or not any(lo <= low and high < hi for lo, hi in _NEVER_DATES):
        return None
    return epochs(values.cast(pl.Float64), values.name)[0], _extremes(values)


def _extremes(values: pl.Series) -> pl.Series:
    """The rows of the largest and the smallest number, if there are any."""
    numbers = values.cast(pl.Float64, strict=False) if values.dtype == pl.String or values.dtype.is_numeric() else None
    sizes = None if numbers is None else numbers.fill_nan(None).abs()
    rows = set() if sizes is None else {sizes.arg_max(), sizes.arg_min()}
    return pl.Series(sorted(row for row in rows if row is not None), dtype=pl.UInt32)


def _merged(seen: pl.Series, more: pl.Series) -> pl.Series:
    """The telling dates of another column, with those of more of its values."""
    more = unnamed(more)
    if more.dtype != pl.String or iso_timestamps(more) is not None:
        return seen
    dates = pl.concat([seen, more]).str.strip_chars().unique(maintain_order=True)
    return dates[telling_dates(dates, dates.is_null())]


class RowsInBatches:
    """One way through the rows of a table in batches, with times read as a sample of the rows shows.

    Out come frames with "case", "activity", "micros" and perhaps "individual", as `EventBatches` has them.
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
        self._by_role, self._options = {role.role: role.columns for role in roles}, options
        self._rows = TableRows(self._by_role, options, source, self._moments)
        self._may_lack_individual = may_lack_individual
        self._transitions = Transitions(options.lifecycle_keep, "lifecycle" in self._by_role, source)
        when, start = self._by_role["timestamp"][0], next(iter(self._by_role.get("start_timestamp", ())), None)
        settled = options.described or options.day_first is not None or options.timestamp_format or options.epoch_unit
        may_show = start is not None and not settled and sample[when].dtype == sample[start].dtype == pl.String
        self._beside = start if may_show else None  # another column of times, which may show if day or month comes first
        beside = None if self._beside is None else (self._beside, sample[self._beside])
        self.times = Times(sample[when], beside, options, when, place=place)

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
        required = self._rows.required(frame, place)
        usable = self._rows.usable(required, place)
        case = required["case_id"]
        playing = {"case": case, "activity": required["activity"], "micros": required["timestamp"].to_physical()}
        if "individual" in self._by_role:
            playing["individual"] = self._individual(frame, case, usable, place)
        if self._options.lifecycle_keep:
            usable = self._transitions.keep(self._rows.joined(frame, "lifecycle", place), usable)
        events = pl.DataFrame([values.alias(name) for name, values in playing.items()])
        return events if usable is None else events.filter(usable)

    def finish(self) -> None:
        """All rows have come."""
        self._rows.finish()
        if self._rows.any_used:
            self._transitions.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the rows so far."""
        when, *clocks = self._by_role["timestamp"]
        return [*(clock_note(clock, when) for clock in clocks), *self.times.notes(), *self._rows.notes()]

    def _individual(self, frame: pl.DataFrame, case: pl.Series, usable: pl.Series | None, place: Place) -> pl.Series:
        if self._by_role["individual"] == self._by_role["case_id"]:
            return case
        if self._may_lack_individual:
            return individuals_apart(identity(frame[self._by_role["individual"][0]], place).cast(pl.String), case)
        whose = self._rows.individual(frame, usable, place)
        return whose.fill_null(0) if whose.dtype.is_integer() else individuals_apart(whose, case)  # null only where left out

    def _moments(self, frame: pl.DataFrame, place: Place) -> pl.Series:
        columns = self._by_role["timestamp"]
        moments = self.times.read(frame[columns[0]], None if self._beside is None else frame[self._beside], place)
        return with_clocks(moments, frame, columns, self._options, place)


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


@dataclass(frozen=True)
class Table:
    """A table larger than memory.

    Attributes:
        source: What it is called in errors.
        sample: Some rows with all their columns: the roles and forms of columns are found in them.
        place: Where a row of the sample stands.
        rows: All rows in order, some at a time, with where a row stands; only these columns are needed.
        height: How many rows there are, or a guess.
        individual: The column that is known to say whose cases they are, unless the user names one.
        notes: What is worth knowing about how the rows are read; complete after the last ones.
    """

    source: str
    sample: pl.DataFrame
    place: Place
    rows: Callable[[Sequence[str]], Iterator[tuple[pl.DataFrame, Place]]]
    height: int
    individual: FoundRole | None = None
    notes: Callable[[], Sequence[str]] = field(default=tuple)


class TableBatches:
    """The events of a table as `EventBatches`; the roles of its columns are found in the sample."""

    def __init__(self, table: Table, options: ReadOptions, roles: tuple[FoundRole, ...] | None = None) -> None:
        self._table, self._options = table, options
        self.roles = find_roles(table.sample, options, table.source) if roles is None else roles
        named = any(role.role == "individual" for role in self.roles)
        self._remembered = table.individual is not None and not options.described and not named
        if table.individual is not None and self._remembered:
            self.roles = (*self.roles, table.individual)
        self.has_individual, self.estimated_events = named or self._remembered, table.height
        self._rows = self._fresh()
        self.has_zone = self._rows.times.has_zone

    def _fresh(self) -> RowsInBatches:
        table, lacking = self._table, self._remembered
        return RowsInBatches(table.sample, self.roles, self._options, table.source, table.place, may_lack_individual=lacking)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """All events."""
        self._rows = rows = self._fresh()
        for frame, place in self._table.rows(rows.columns):
            events = rows.events(frame, place)
            if events.height:
                yield events
        rows.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        notes = [*self._table.notes(), *self._rows.notes()]
        if self._table.height > self._table.sample.height and any(role.reason not in _SURE for role in self.roles):
            notes.append("Which column plays which role was found from some of the rows; it can be named in the call.")
        return tuple(dict.fromkeys(notes))
