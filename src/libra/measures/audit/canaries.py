"""Canaries: cases made to be noticed, and the small log that they join.

In: any event log. Out: a `Setting`, made of the log's own traces and times: a variant that many cases follow, one whose number
of cases can be set, a few rare ones. A claim of differential privacy holds for every log or for none, and a case is hidden worst
in a small log, which also takes milliseconds to anonymize; so that is where it is tested. The canaries are what mechanisms have
failed on: each is harmless to a sound one.

Their logs have the attributes that a mechanism is asked for, or two of cases where it is asked for none. A case says of each of
its values only whether it is a common one, another that many have, or one of its own: an extreme number, a text that nobody else
has, no boolean at all. The declaration of an attribute says what that is. What a case says is a pair: of attributes of cases, and
of the events of a case, every other one follows its first or second half. So both halves of a case differ in values that nobody
else has together, if all others have the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, islice, pairwise
from typing import Any, Final

import numpy as np
import polars as pl

from libra.errors import InputError
from libra.eventlog import names
from libra.eventlog.attributes import DAY, Attribute, by_level, plain_values
from libra.eventlog.log import HOUR, UTC_MICROSECONDS, EventLog
from libra.eventlog.names import CASE_PREFIX

COMMON, OTHER, RARE = range(3)
RELEASED = (Attribute(f"{CASE_PREFIX}group", "category"), Attribute(f"{CASE_PREFIX}amount", "number"))
TEXTS = ("common", "other", "rare")
RARE_AMOUNT = 1_000_000
RARE_DATES = 21_915  # 60 years in days, from the start of the case
TYPES: Final = {"boolean": pl.Boolean(), "category": pl.String(), "number": pl.Float64(), "date": UTC_MICROSECONDS}


def value_of(attribute: Attribute, which: int, start: int) -> Any:
    """The common, the other or the rare value of an attribute, in a case that starts then.

    Example:
        >>> [value_of(Attribute("case:age", "number", lowest=18), which, 0) for which in (COMMON, OTHER, RARE)]
        [18.0, 19.0, 1000018.0]
    """
    if attribute.kind == "boolean":
        return (True, False, None)[which]
    if attribute.kind == "category":
        listed = attribute.values or TEXTS
        return listed[min(which, len(listed) - 1)]
    if attribute.kind == "date":
        (low, high), a_day = attribute.bounds, DAY // attribute.grain
        near = (-a_day, -2 * a_day) if low <= -2 * a_day and -a_day <= high else (low, min(low + 1, high))
        return int(attribute.begins(np.array(start))) + (*near, min(RARE_DATES * a_day, high))[which] * attribute.grain
    least = 0 if attribute.lowest is None else attribute.bounds[0]
    return (least + (0, 1, RARE_AMOUNT * 10**attribute.decimals)[which]) / 10**attribute.decimals


def column(attribute: Attribute, values: Sequence[Any]) -> pl.Series:
    """A column of such values."""
    raw = pl.Int64() if attribute.kind == "date" else TYPES[attribute.kind]
    return pl.Series(values, dtype=raw, strict=True).cast(TYPES[attribute.kind])


def plain_value(attribute: Attribute, which: int, start: int) -> Any:
    """The same as everybody understands it: a text, or a whole number within the bounds."""
    return plain_values(column(attribute, [value_of(attribute, which, start)]), attribute)[0]


FREQUENT, THRESHOLD, UNIQUE, ACTIVITY, LONG, SLOW, FAR, VALUE, PAIR, PERSON, RARE_PERSON = (
    "joins a frequent variant",
    "sits at the threshold of a variant",
    "has a variant of its own",
    "brings a rare activity",
    "is very long",
    "takes very long",
    "starts far outside the range",
    "has a rare attribute value",
    "has values that nobody else has together",
    "is a person with several cases",
    "is a person with a variant of their own",
)
NAMES = (FREQUENT, THRESHOLD, UNIQUE, ACTIVITY, LONG, SLOW, FAR, VALUE, PAIR, PERSON, RARE_PERSON)
FEWEST_OF_A_PERSON = 3  # cases, where each is protected by itself
MORE_OF_A_PERSON, MOST_OF_A_PERSON = 10, 30  # where the person is protected; in between, twice as many as count
LONG_TRACE = 300
MOST_LABELS = 16  # of a very long case, all steps between which it takes
YEAR = 8766 * HOUR
SLOW_CASE = 60 * YEAR
ASIDE = 1_023_000_003  # microseconds, by which a canary is beside the case it is like: its times are its own
FAR_START = -70 * YEAR  # in 1900
FEWEST_FREQUENT = 30  # cases of the frequent variant
RARE_VARIANTS, RARE_CASES = 3, 4
MANY_VARIANTS = 50  # of which short ones are taken
NEW_ACTIVITY = "something new"
OWNER = "person"  # a column of the small logs


@dataclass(frozen=True)
class Case:
    """One case: its activities, when each happened (in microseconds since 1970), and which values it has."""

    trace: tuple[str, ...]
    micros: tuple[int, ...]
    values: tuple[int, int] = (COMMON, COMMON)  # of every other attribute of cases, and on every other event
    person: str | None = None  # whose case it is; None for a person with no other case

    @property
    def start(self) -> int:
        """When the earliest event happened."""
        return min(self.micros)

    @property
    def seconds(self) -> float:
        """From the earliest event to the latest."""
        return (max(self.micros) - self.start) / 1e6

    @property
    def longest_gap(self) -> float:
        """The longest time between two events that follow each other, in seconds."""
        return max((later - earlier for earlier, later in pairwise(self.micros)), default=0) / 1e6

    def value(self, attribute: Attribute, number: int) -> Any:
        """Its value of the attribute of cases, or on the event, with this number."""
        return value_of(attribute, self.values[number % 2], self.start)


def case_id(number: int) -> str:
    """The id of the case with this number."""
    return f"original {number}"


def log_of_cases(cases: Sequence[Case], *, individuals: bool = False, attributes: Sequence[Attribute] = RELEASED) -> EventLog:
    """The event log of these cases; with a column that says whose case is whose, where that is asked for."""
    ids = [case_id(number) for number in range(len(cases))]
    activities, micros = (list(chain.from_iterable(parts)) for parts in ([c.trace for c in cases], [c.micros for c in cases]))
    events = {
        names.CASE_INDEX: pl.Series(np.repeat(np.arange(len(cases)), [len(case.trace) for case in cases])),
        names.ACTIVITY: pl.Series(activities, dtype=pl.String),
        names.TIMESTAMP: pl.Series(micros, dtype=pl.Int64).cast(UTC_MICROSECONDS),
    }
    frame = {names.CASE_NAME: pl.Series(ids, dtype=pl.String)}
    of_cases, of_events = by_level(attributes)
    for number, one in enumerate(of_cases):
        values = [case.value(one, number) for case in cases]
        if one.in_cases:
            frame[one.name.removeprefix(names.CASE_PREFIX)] = column(one, values)
        else:
            events[one.name] = column(one, [value for value, case in zip(values, cases, strict=True) for _ in case.trace])
    for one in of_events:
        events[one.name] = column(one, [case.value(one, place) for case in cases for place in range(len(case.trace))])
    if individuals:
        frame[OWNER] = pl.Series([case.person or own for case, own in zip(cases, ids, strict=True)], dtype=pl.String)
    return EventLog(pl.DataFrame(events), pl.DataFrame(frame), individual=OWNER if individuals else None)


@dataclass(frozen=True)
class Canary:
    """What is added to the log: one case, or all cases of one person."""

    name: str
    cases: tuple[Case, ...]

    @property
    def size(self) -> int:
        """How many cases it is."""
        return len(self.cases)


@dataclass(frozen=True)
class Setting:
    """The small log and what may join it."""

    frequent: tuple[Case, ...]  # cases of the variant that many follow
    probe: tuple[Case, ...]  # cases of the variant that sits at a threshold; as many of them are used as it takes
    rare: tuple[Case, ...]  # all other cases
    labels_public: bool  # so that every label is in the log without the canary as well
    of_a_person: int = FEWEST_OF_A_PERSON  # how many cases a person has who has several

    def base(self, at_threshold: int) -> list[Case]:
        """The log without a canary; so many cases follow the variant of the probe."""
        n_frequent = max(FEWEST_FREQUENT, 2 * at_threshold)
        cases = [*_times(self.frequent, n_frequent), *_times(self.probe, at_threshold), *self.rare]
        cases = [*cases, *self._public(cases)] if self.labels_public else cases
        return [replace(case, values=(OTHER, OTHER)) if number % 2 else case for number, case in enumerate(cases)]

    def canaries(self, at_threshold: int) -> list[Canary]:
        """Everything that may join this base."""
        usual = replace(self.frequent[0], micros=tuple(time + ASIDE for time in self.frequent[0].micros))
        known = {case.trace for case in self.base(at_threshold)}
        slow = (*usual.micros[:-1], usual.start + SLOW_CASE) if len(usual.trace) > 1 else usual.micros
        far = tuple(FAR_START + time - usual.start for time in usual.micros)
        made = {
            FREQUENT: usual,
            THRESHOLD: _times(self.probe, at_threshold + 1)[-1],
            UNIQUE: _own_variant(usual, known),
            ACTIVITY: self._new_activity(),
            LONG: self._long(),
            SLOW: replace(usual, micros=slow),
            FAR: replace(usual, micros=far),
            VALUE: replace(usual, values=(RARE, RARE)),
            PAIR: replace(usual, values=(COMMON, OTHER)),
        }
        persons = {PERSON: replace(usual, person="somebody"), RARE_PERSON: replace(made[UNIQUE], person="somebody")}
        return [
            *(Canary(name, (case,)) for name, case in made.items()),
            *(Canary(name, (case,) * self.of_a_person) for name, case in persons.items()),
        ]

    def _long(self) -> Case:
        """A case that takes every possible step between the labels of the others twice, and some of them more often."""
        labels = list(dict.fromkeys(label for case in (self.frequent[0], self.probe[0], *self.rare) for label in case.trace))
        labels = labels[:MOST_LABELS]
        pairs = [label for i, first in enumerate(labels) for label in (first, *(x for y in labels[i + 1 :] for x in (first, y)))]
        trace = tuple(islice(cycle(pairs), max(LONG_TRACE, 2 * len(pairs) + 1)))
        start = self.frequent[0].start
        return Case(trace, tuple(start + hour * HOUR for hour in range(len(trace))))

    def _public(self, cases: Sequence[Case]) -> list[Case]:
        """Cases with the labels that a canary would otherwise be the first to have."""
        probe, there = self.probe[0], {label for case in cases for label in case.trace}
        return [self._new_activity(), *([] if there.issuperset(probe.trace) else [_own_variant(probe, {probe.trace})])]

    def _new_activity(self) -> Case:
        usual = self.frequent[0]
        return replace(usual, trace=(*usual.trace[:-1], NEW_ACTIVITY))


def setting_of(log: EventLog, *, labels_public: bool, most_cases: int | None = None) -> Setting:
    """The setting of an audit, made of the cases of a log; where individuals are protected, `most_cases` of each count.

    Example:
        >>> from libra.example.simulate import simulate
        >>> setting_of(simulate(cases=500), labels_public=True).frequent[0].trace[0]
        'Arrive'
    """
    if not log.n_cases:
        remedy = "An audit makes small logs out of the cases of a log; give it one with cases"
        raise InputError("this log is empty", remedy=remedy)
    traces = [tuple(log.activities[code] for code in trace) for trace, _ in log.variants.traces.head(MANY_VARIANTS).rows()]
    short = sorted(range(len(traces)), key=lambda row: (len(traces[row]) < 2, len(traces[row]) > 12, row))
    chosen = []
    for row in short[: 2 + RARE_VARIANTS]:
        begins = log.case_offsets[np.flatnonzero(log.variants.of_case == row)[: 2 * FEWEST_FREQUENT]]
        times = log.timestamps[begins[:, None] + np.arange(len(traces[row]))]
        chosen.append([Case(traces[row], tuple(micros)) for micros in times.tolist()])
    while len(chosen) < 2 + RARE_VARIANTS:  # one more variant, where the log has too few
        chosen.append([_own_variant(chosen[0][0], {cases[0].trace for cases in chosen})])
    frequent, probe, *rare = chosen
    of_a_person = FEWEST_OF_A_PERSON
    if most_cases is not None:
        of_a_person = min(max(2 * most_cases, MORE_OF_A_PERSON), MOST_OF_A_PERSON)
    tail = tuple(case for cases in rare for case in _times(cases, RARE_CASES))
    return Setting(tuple(frequent), tuple(probe), tail, labels_public, of_a_person)


def _own_variant(usual: Case, known: set[tuple[str, ...]]) -> Case:
    """A case of a variant that is not known, of the same labels and about as long."""
    candidates = [usual.trace[::-1], *((*usual.trace, *usual.trace[:1] * times) for times in range(1, len(known) + 2))]
    trace = next(candidate for candidate in candidates if candidate not in known)
    micros = (*usual.micros, *(usual.micros[-1] + HOUR * more for more in range(1, 1 + len(trace) - len(usual.trace))))
    return replace(usual, trace=trace, micros=micros)


def _times(cases: Sequence[Case], n: int) -> list[Case]:
    """So many cases, the same again where there are fewer."""
    return [cases[i % len(cases)] for i in range(n)]
