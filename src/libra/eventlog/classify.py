"""What the columns of a log that play no role are, and which of them may be released as attributes.

In: a log. Out: a `FoundAttribute` for each column, with the reason in words. It looks at all values, so that its result is as
confidential as the log: it goes to whoever holds the log, who decides (`describe`, `inspect`), and into no release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.attributes import DAYS, LARGEST, MOST_DECIMALS, Attribute, Kind, Level, plain_values
from libra.eventlog.doubts import CODE_NAME, FEW_VALUES, MOSTLY, doubt_about_numbers, doubt_about_people, doubt_about_texts
from libra.eventlog.log import EventLog
from libra.eventlog.names import (
    ACTIVITY,
    CASE_ID,
    CASE_INDEX,
    CASE_PREFIX,
    INSTANCE,
    LIFECYCLE,
    RESOURCE,
    START_TIMESTAMP,
    TIMESTAMP,
    unnamed,
)
from libra.eventlog.notes import listed
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.values import as_text

Role = Literal[
    "case attribute", "event attribute", "counter", "derived", "of the trace",
    "identifier", "free text", "near-unique", "constant",
]  # fmt: skip
Codes = npt.NDArray[np.int64]
OF_EVENTS = (RESOURCE, LIFECYCLE, "org:group", "org:role")  # by the standard
TRUTHS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"1", "0"})
NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
FEW_CASES = 20  # fewer than these, and than a twentieth of all, are too few to learn from
NEARLY = 0.99  # of the cases, or of the values; MOSTLY is less
IDENTIFIER, NUMBERED, NEAR_UNIQUE = 0.9, 0.95, 0.5  # different values per value that a case has; of whole numbers more
LONG_TEXT, MANY_WORDS = 30, 5
EVIDENCE = 20.0  # nats: how unlikely a dependence between columns is by chance
SECOND = 1_000_000
DAY = 86_400 * SECOND
MICROS_PER = {"seconds": SECOND, "minutes": 60 * SECOND, "hours": 3_600 * SECOND, "days": DAY}


@dataclass(frozen=True)
class FoundAttribute:
    """A column, what it is and why; `values`, `lowest`, `highest` and `unit` were seen in the log, and nothing declares them."""

    attribute: Attribute
    role: Role
    reason: str
    values: tuple[str, ...] | None = None
    lowest: float | None = None
    highest: float | None = None
    unit: str | None = None
    depends_on: str | None = None  # the column that determines it
    hint: str = ""  # how it could be described otherwise
    filled: float = 1.0  # the share of the cases, or of the events, that have a value

    @property
    def releasable(self) -> bool:
        """Whether it makes sense to release it."""
        return self.attribute.release


def classified(log: EventLog) -> tuple[FoundAttribute, ...]:
    """Every column that is no case id, activity, time or individual, as it stands in `log.to_polars()`.

    Example:
        >>> from libra.example.simulate import simulate
        >>> [(found.attribute.name, found.role) for found in classified(simulate())][:2]
        [('case:complaint', 'case attribute'), ('case:acuity', 'case attribute')]
    """
    if not log.n_events:
        return ()
    of_case, of_event = np.arange(log.n_cases), log.events[CASE_INDEX].to_numpy()
    playing = {name for role in log.roles for name in role.columns} - {RESOURCE, LIFECYCLE}  # also parts of an id
    playing |= {CASE_INDEX, CASE_ID, ACTIVITY, TIMESTAMP, START_TIMESTAMP, INSTANCE, f"{CASE_PREFIX}{log.individual}"}
    playing |= {LIFECYCLE} if log.instances == "events" else set()
    columns = [
        *(_Column(log, CASE_PREFIX + one.name, one, of_case) for one in log.cases if CASE_PREFIX + one.name not in playing),
        *(_Column(log, one.name, one, of_event) for one in log.events if one.name not in playing),
    ]
    columns = [column for column in columns if len(column.rows)]
    _relate([column for column in columns if column.in_case])
    activity = _Column(log, ACTIVITY, log.events[ACTIVITY], of_event)
    _relate([activity, *(column for column in columns if not column.in_case)])
    return tuple(column.found() for column in columns)


class _Column:
    """The values of a column as codes, one a case (`in_case`) or one an event, and what they show."""

    def __init__(self, log: EventLog, name: str, values: pl.Series, case: npt.NDArray[np.integer]) -> None:
        self.name, self._log, self.determined_by, self.same = name, log, "", False
        of_events = len(values) != log.n_cases or not name.startswith(CASE_PREFIX)
        self.values = _trimmed(values)
        if self.values.dtype.is_numeric() and CODE_NAME.search(name):
            self.values = as_text(self.values)
        filled = self.values.is_not_null().to_numpy()
        self.rows, self.case = np.flatnonzero(filled), case[filled].astype(np.int64)
        self._activity = log.activity_codes[self.rows].astype(np.int64) if of_events and name != ACTIVITY else None
        self.in_case, self.exceptions = not of_events, False
        self.first_at, self.in_others = "", False  # the activity that has the first value, and whether others have it, too
        self.has_gaps = self.by_activity = False  # whether events of its cases lack a value, and whether by their activity
        if len(self.rows):
            self._measure(of_events)

    def _measure(self, of_events: bool) -> None:
        """Find the kind of the values and whether a case has one of them."""
        present = self.values.gather(self.rows)
        self.distinct = present.unique().sort()
        self.codes, self.n_values = _codes(present), len(present)
        self.kind = _kind(self.distinct, self.name)
        same_case = self.case[1:] == self.case[:-1]
        changes = same_case & (self.codes[1:] != self.codes[:-1])
        cases = np.concatenate(([True], ~same_case))  # the first value of each case
        self.n_cases = int(cases.sum())
        varying = len(np.unique(self.case[1:][changes]))
        self._find_activity(cases)
        if of_events and self.name not in (*OF_EVENTS, ACTIVITY) and varying <= (1 - NEARLY) * self.n_cases:
            self.in_case, self.exceptions = True, varying > 0
            if not self._stands_there():
                self.first_at, self.in_others = "", False
                self._find_gaps()
            self.rows, self.case, self.codes = self.rows[cases], self.case[cases], self.codes[cases]
        held = np.unique(self.case * (self.codes.max() + 1) + self.codes)  # which case has which value
        self.n_held = len(held)
        self.spread = len(self.distinct) / len(held)

    def _find_activity(self, cases: npt.NDArray[np.bool_]) -> None:
        """The activity on which most cases have their first value, unless all events have one."""
        if self._activity is not None and len(self.rows) < NEARLY * self._log.n_events:
            counts = np.bincount(self._activity[cases])
            if counts.max() >= MOSTLY * counts.sum():
                self.first_at, self.in_others = self._log.activities[int(counts.argmax())], counts.max() < counts.sum()

    def _stands_there(self) -> bool:
        """Whether most values are on the activity that has the first ones, not only these."""
        if self._activity is None or not self.first_at:
            return False
        there = self._activity == self._log.activities.index(self.first_at)
        return bool(there.mean() >= MOSTLY)

    def _find_gaps(self) -> None:
        """Whether events have no value in cases that have one, and whether these are all events of some activities."""
        if self._activity is None or self.n_values == self._log.n_events:
            return
        log, activities = self._log, len(self._log.activities)
        concerned = np.isin(log.events[CASE_INDEX].to_numpy(), self.case)
        events = np.bincount(log.activity_codes[concerned], minlength=activities)
        values = np.bincount(self._activity, minlength=activities)
        gaps, never = events - values, values <= (1 - MOSTLY) * events
        self.has_gaps = bool(gaps.sum() > (1 - NEARLY) * events.sum())
        apart = gaps[never].sum() >= MOSTLY * gaps.sum() and values[~never].sum() >= MOSTLY * values.sum()
        self.by_activity = bool(apart and gaps.sum() > (1 - MOSTLY) * events.sum())

    @property
    def unlike(self) -> bool:
        """Whether most values are those of one case."""
        return self.spread > NEAR_UNIQUE

    @property
    def owners(self) -> Codes:
        """The case of every case, or of every event."""
        return np.arange(self._log.n_cases) if self.in_case else self._log.events[CASE_INDEX].to_numpy().astype(np.int64)

    def spread_out(self) -> Codes:
        """The code of every case, or of every event; 0 where there is none."""
        whole = np.zeros(self._log.n_cases if self.in_case else self._log.n_events, np.int64)
        whole[self.case if self.in_case else self.rows] = self.codes + 1
        return whole

    @property
    def filled(self) -> float:
        """The share of cases, or of events, that have a value."""
        return self.n_cases / self._log.n_cases if self.level == "case" else self.n_values / self._log.n_events

    @property
    def level(self) -> Level:
        """Whether a case has the value or each event; one that stands on some activities only is no value of all its events."""
        return "case" if self.in_case and not self.by_activity else "event"

    def found(self) -> FoundAttribute:
        """What the column is."""
        role, reason, release = self._role()
        if self.depends_on and role in ("case attribute", "event attribute", "counter"):
            how = "says the same in other words" if self.same else "determines it"
            role, reason = "derived", f'"{self.depends_on}" {how}{self._gaps()}'
            release = release and not self.same and self.depends_on != ACTIVITY
        if release and self.n_cases < min(FEW_CASES, self._log.n_cases / 20):
            reason, release = f"{reason}; in too few cases to learn from", False
        if release and (people := self._people()):
            release, reason = False, f"{reason}; {people}"
        numbers = self._numbers() if self.kind == "number" else None
        decimals = 0 if numbers is None else _decimals(numbers)
        at = self.first_at if self.in_case and self.first_at else None
        counter = role == "counter"
        attribute = Attribute(self.name, self.kind, self.level, at, decimals=decimals, counter=counter, release=release)
        hint, doubt = self._hint(role) if release else "", self._doubt() if release or self.unlike else ""
        reason = f"{reason}; {doubt}" if doubt else reason
        found = FoundAttribute(attribute, role, reason, depends_on=self.depends_on, hint=hint, filled=self.filled)
        if not release:
            return found
        if numbers is not None and numbers.min() < numbers.max():
            lowest, highest = _rounded_outwards(float(numbers.min()), float(numbers.max()))
            return replace(found, lowest=lowest, highest=highest)
        if self.kind == "date" and (plain_values(self.distinct, attribute) % DAY == 0).all():
            return replace(found, unit=DAYS)
        listed = self.kind == "category" and len(self.distinct) <= FEW_VALUES
        return replace(found, values=tuple(self.distinct.cast(pl.String))) if listed else found

    @property
    def depends_on(self) -> str | None:
        """The column that determines this one."""
        return self.determined_by or None

    def _numbers(self) -> npt.NDArray[np.float64]:
        """The different numbers in it that are finite, at least one."""
        numbers = self.distinct.cast(pl.Float64).to_numpy()
        return numbers[np.isfinite(numbers)] if np.isfinite(numbers).any() else np.zeros(1)

    def _role(self) -> tuple[Role, str, bool]:
        """Its role, the reason, and whether it may be released; leaving other columns aside."""
        one_value, share = len(self.distinct) == 1, self.n_cases / self._log.n_cases
        if one_value and not (self.in_case and self.kind in ("boolean", "category") and 1 - NEARLY < share < NEARLY):
            return "constant", "one value throughout" if self.filled == 1 else "one value wherever there is one", False
        if of_trace := self._of_the_trace():
            return "of the trace", of_trace, False
        words = self._text()
        if words is not None and self.unlike and not self.name.startswith("org:"):
            return words
        if self.kind == "number" and self.spread >= NUMBERED and self.n_held >= FEW_CASES and _decimals(self._numbers()) == 0:
            return "identifier", "a whole number that is another one in nearly every case", False
        if self.name == RESOURCE:
            why = "who did it; released only if asked for by name: a guarantee for cases does not protect employees"
            return "event attribute", why, True
        if self.in_case:
            where = f'once per case, on "{self.first_at}"' if self.first_at else "one value per case"
            most = " in most" if self.in_others or self.exceptions else ""
            return "event attribute" if self.by_activity else "case attribute", where + most + self._gaps(), True
        if self.kind == "number" and (reason := self._counts()):
            return "counter", reason, True
        return "event attribute", "changes within cases" + self._where(), True

    def _gaps(self) -> str:
        """What becomes of events of its cases that have no value."""
        if self.by_activity:
            return f"; only on {self._places() or 'some activities'}"
        return "; not on every event, but a release writes it on all events of the case" if self.has_gaps else ""

    def _where(self) -> str:
        """The activities on which it is recorded, where they are few."""
        named = self._places() if self.filled < NEARLY else ""
        return f"; on {named}" if named else ""

    def _places(self) -> str:
        """The activities on which it is recorded; nothing where they are many."""
        if self._activity is None:
            return ""
        counts = np.bincount(self._activity)
        few = [int(code) for code in np.argsort(-counts, kind="stable")[:3] if counts[code]]
        enough = counts[few].sum() >= NEARLY * counts.sum()
        return listed(self._log.activities[code] for code in few) if enough else ""

    def _hint(self, role: Role) -> str:
        """How else it could be described."""
        if role == "derived":
            return "released together, the two may disagree"
        if self.by_activity:
            return 'level = "case" would write it on all events of the case'
        if self.in_case:
            return "without at, the first value counts wherever it stands" if self.in_others else ""
        several = self._activity is not None and len(np.unique(self._activity)) > 1
        return f'for its first value alone, write level = "case" and at = "{self.first_at}"' if self.first_at and several else ""

    def _people(self) -> str:
        """Why it may name people; groups and roles of them are none, and resources have a role of their own."""
        numbers = self.kind == "number" and _decimals(self._numbers()) == 0
        told = (numbers or self.kind == "category") and self.name not in OF_EVENTS
        return doubt_about_people(self.name, of_numbers=numbers) if told else ""

    def _doubt(self) -> str:
        """Why it may be of another kind than the proposed one."""
        if self.kind == "number":
            return "" if self.unlike or _decimals(self._numbers()) else doubt_about_numbers(self._numbers())
        if self.kind != "category" or self.name in OF_EVENTS:
            return ""
        return doubt_about_texts(self.name, self.values.gather(self.rows), self.distinct, ids=self.spread >= IDENTIFIER)

    def _text(self) -> tuple[Role, str, bool] | None:
        """What text is whose values are mostly those of one case."""
        if self.kind != "category":
            return None
        words = 1 + self.distinct.str.count_matches(r"\s+").to_numpy().mean()
        if words >= MANY_WORDS or self.distinct.str.len_chars().to_numpy().mean() >= LONG_TEXT:
            return "free text", "long texts that are mostly different", False
        if self.spread >= IDENTIFIER:
            what = "event" if not self.in_case and len(self.distinct) >= IDENTIFIER * len(self.rows) else "case"
            return "identifier", f"another value in nearly every {what}", False
        return "near-unique", "most values occur in one case", False

    def _counts(self) -> str:
        """Why it is a counter; nothing where it is none."""
        numbers = self.values.gather(self.rows).cast(pl.Float64).to_numpy()
        same_case = self.case[1:] == self.case[:-1]
        steps, of = np.diff(numbers)[same_case], self.case[1:][same_case]
        several, growing = len(np.unique(of)), len(np.unique(of[steps > 0]))
        if (steps < 0).sum() > (1 - NEARLY) * max(len(steps), 1) / 10 or growing < max(several / 2, self.n_cases / 20, 1):
            return ""
        return "never falls along a case, grows in many" + self._where()

    def _of_the_trace(self) -> str:
        """What of the events of its case it tells, if it does."""
        if not self.in_case:
            if self.kind == "date" and self._agree(self._log.timestamps[self.rows]):
                return "the time of the event"
            return ""
        first, last = (times[self.case] for times in self._log.case_spans)
        if self.kind == "date":
            ends = {"first": first, "last": last}
            return next((f"the time of the {end} event of the case" for end, times in ends.items() if self._agree(times)), "")
        lengths = np.diff(self._log.case_offsets)
        for what, codes in {"the number of events": lengths, "the variant": self._log.variants.of_case}.items():
            if _determines(codes[self.case], self.codes, self.case):
                return f"determined by {what} of the case"
        if self.kind == "number":
            numbers, micros = self.values.gather(self.rows).cast(pl.Float64).to_numpy(), (last - first).astype(np.float64)
            for unit, size in MICROS_PER.items():
                if (micros > 0).any() and (np.abs(numbers - micros / size) <= 1 + 1e-6 * np.abs(numbers)).mean() >= NEARLY:
                    wide = np.subtract(*np.percentile(micros / size, [90, 10])) > 10
                    if wide:
                        return f"the duration of the case in {unit}"
        return ""

    def _agree(self, times: Codes) -> bool:
        """Whether dates are these times, to the second, or to the day where they tell no more."""
        dates = self.values.gather(self.rows)
        micros = (dates if dates.dtype.is_temporal() else read_iso_dates(dates)[0]).to_physical().to_numpy()
        unit = DAY if (micros % DAY == 0).all() else SECOND
        return bool((np.abs(micros // unit - times // unit) <= (unit == SECOND)).mean() >= MOSTLY)


def _trimmed(values: pl.Series) -> pl.Series:
    """The values, blank text and what is no number as missing."""
    values = unnamed(values)
    if values.dtype == pl.String:
        text = values.str.strip_chars()
        return text.set(text == "", None)
    return values.fill_nan(None) if values.dtype == pl.Float64 else values


def _codes(values: pl.Series) -> Codes:
    """A number from 0 for every different value."""
    if values.dtype == pl.String:
        return values.cast(pl.Enum(values.unique())).to_physical().cast(pl.Int64).to_numpy()
    return np.unique(values.to_physical().to_numpy(), return_inverse=True)[1].astype(np.int64)


def _kind(distinct: pl.Series, name: str) -> Kind:
    """The kind of an attribute with these values."""
    if distinct.dtype == pl.Boolean:
        return "boolean"
    if distinct.dtype.is_temporal():
        return "date"
    if distinct.dtype.is_numeric():
        return "boolean" if set(distinct) == {0, 1} else "number"
    if name in OF_EVENTS:
        return "category"
    lower = set(distinct.str.to_lowercase()) if len(distinct) <= 4 else set()
    if any(lower == pair or (lower and lower < pair and lower <= {"true", "false"}) for pair in TRUTHS):
        return "boolean"
    if distinct.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}").all() and not read_iso_dates(distinct)[0].null_count():
        return "date"
    amounts = len(distinct) > FEW_VALUES and not CODE_NAME.search(name) and distinct.str.contains(NUMBER).all()
    return "number" if amounts else "category"


def _decimals(numbers: npt.NDArray[np.float64]) -> int:
    """As many decimals as the numbers have, or as can be told of the largest."""
    most = max(0, min(MOST_DECIMALS, int(math.log10(LARGEST)) - int(math.log10(max(1.0, float(np.abs(numbers).max()))))))
    exact = (d for d in range(most) if np.allclose(np.round(numbers, d), numbers, rtol=1e-15, atol=1e-11))
    return next(exact, most)


def _rounded_outwards(lowest: float, highest: float) -> tuple[float, float]:
    """Bounds around the numbers, with as few digits as their difference allows."""
    digits = -math.floor(math.log10(highest - lowest))
    if digits <= 0:
        step = 10**-digits
        return math.floor(lowest / step) * step, math.ceil(highest / step) * step
    return math.floor(lowest * 10**digits) / 10**digits, math.ceil(highest * 10**digits) / 10**digits


def _relate(columns: Sequence[_Column]) -> None:
    """Note for every column the first other one that determines it; of those that say the same, the first stands for all."""
    first = sorted(columns, key=lambda column: column.name not in (ACTIVITY, RESOURCE))  # of two that say the same
    able = [(column, column.spread_out()) for column in first if len(column.distinct) > 1 and not column.unlike]
    for place, (child, codes) in enumerate(able):
        for before, (parent, theirs) in enumerate(able):
            there, more = theirs > 0, len(parent.distinct) - len(child.distinct)
            if child.name == ACTIVITY or more < 0 or (more == 0 and before >= place) or codes[~there].any():
                continue
            if _determines(theirs[there], codes[there], child.owners[there]):
                child.determined_by, child.same = parent.name, more == 0 and not theirs[codes == 0].any()
                break


def _determines(parent: Codes, child: Codes, case: Codes) -> bool:
    """Whether each value of one column has one value of the other, and chance does not explain it."""
    first = np.zeros(int(parent.max()) + 1, np.int64) if len(parent) else np.zeros(1, np.int64)
    first[parent] = child
    if not len(parent) or not (first[parent] == child).all():
        return False
    shares = np.bincount(child) / len(child)
    pairs = np.unique(case * (int(parent.max()) + 1) + parent)  # each case counts once for a value
    distinct = len(np.unique(parent))
    repeats = len(pairs) - distinct
    enough = 2 * repeats >= len(pairs) or distinct == len(np.unique(child))  # the second: each says which the other is
    return enough and bool(-repeats * math.log((shares**2).sum()) >= EVIDENCE)
