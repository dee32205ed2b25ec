"""One case more or less moves each table about attributes of events by no more than its clip, in exact arithmetic.

Weights of values, from which private values are chosen, have a norm of one case, and go to a few values of a case.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import cycle, groupby, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from adversarial_logs import FIRST, LAST, some_case
from hypothesis import given, settings
from hypothesis import strategies as st
from some_engines import START, Case, clips, largest_square, log_from, names, square_norm
from two_engines import weights_of

from libra.engines import event_tables as tables
from libra.engines.attribute_tables import GRAINS, Coding
from libra.engines.contract import FINE
from libra.engines.control_flow_tables import MOST_LABELS, NORM_BINS
from libra.engines.counting import events as counting
from libra.engines.event_tables import NOWHERE, OfEvents
from libra.engines.polars import PolarsEngine, engine_of
from libra.eventlog.attributes import LARGEST, Attribute, event_values
from libra.eventlog.cases import MISSING
from libra.eventlog.instances import STARTED
from libra.eventlog.log import UTC_MICROSECONDS, EventLog

N_LABELS = 3
ATTRIBUTES = (
    Attribute("text", "category", level="event"),
    Attribute("listed", "category", level="event", values=("b", "a", "7")),
    Attribute("truth", "boolean", level="event"),
    Attribute("any", "number", level="event", decimals=3),
    Attribute("counter", "number", level="event", lowest=-5, highest=10**6, counter=True),
    Attribute("moment", "date", level="event"),
)
TYPES = {"category": pl.String(), "boolean": pl.Boolean(), "number": pl.Float64(), "date": UTC_MICROSECONDS}
texts = st.sampled_from(("a", "b", "A", "ä", " a", "7", "", "  ", "(other)", "x" * 3000, "\x00", "\U0010ffff", None))
numbers = st.sampled_from((None, math.nan, math.inf, -math.inf, 1e300, 5e-324, 0.0, -0.0, 0.0005, -4.9, 99.5, 1000.0))
numbers |= st.integers(-(10**13), 10**13).map(float)
moments = st.none() | st.sampled_from((FIRST, LAST, 0, -1)) | st.integers(FIRST, LAST)
VALUES = st.tuples(texts, texts, st.sampled_from((True, False, None)), numbers, numbers, moments)
NOTHING = (None,) * len(ATTRIBUTES)
Values = tuple[Any, ...]


class Row(NamedTuple):
    """A case whose events have some values over and over; with `own`, every event has values like no other of the case."""

    case: Case
    pattern: tuple[Values, ...] = (NOTHING,)
    own: bool = False

    @property
    def values(self) -> list[Values]:
        if not self.own:
            return list(islice(cycle(self.pattern), len(self.case)))
        return [(f"own {i}", f"{i}", i % 2 == 0, i * 7919.0 % 10007, 1e6 - i, START + i) for i in range(len(self.case))]


def log_with(rows: Sequence[Row], *, paired: bool) -> EventLog:
    log = log_from([row.case for row in rows], N_LABELS)
    all_values, columns = [values for row in rows for values in row.values], []
    for place, attribute in enumerate(ATTRIBUTES):
        found, kind = [values[place] for values in all_values], TYPES[attribute.kind]
        column = pl.Series(found, dtype=pl.Int64).cast(kind) if attribute.kind == "date" else pl.Series(found, dtype=kind)
        columns.append(column.alias(attribute.name))
    if paired:  # most instances start before they end, some when they do, later or never
        shifts = pl.Series([(-5, -1, 0, 1, None)[i % 5] for i in range(log.n_events)], dtype=pl.Int64)
        columns.append((log.events["time:timestamp"].to_physical() + shifts).cast(UTC_MICROSECONDS).alias("start_timestamp"))
    return EventLog(log.events.with_columns(columns), log.cases, instances="pair" if paired else None)


def engine(rows: Sequence[Row], *, paired: bool = False) -> PolarsEngine:
    return engine_of(log_with(rows, paired=paired), labels=names(N_LABELS), attributes=ATTRIBUTES, with_starts=True)


class Asked(NamedTuple):
    """What is asked of an attribute: values by themselves (of a category its texts), bounds, rows of labels, and a clip."""

    number: int
    atoms: tuple[Any, ...]
    bounds: tuple[int, ...] | None
    rows: tuple[int, ...]
    clip: float

    def tables(self, of: PolarsEngine) -> list[Any]:
        """As this engine is asked for it: by its own numbers of texts, which stand for the same texts in any engine."""
        attribute, atoms = ATTRIBUTES[self.number], self.atoms
        if attribute.kind == "category":
            atoms = tuple(sorted(of.values[self.number].index(text) for text in atoms))
        row = dict(zip(names(N_LABELS), self.rows, strict=True))
        side = OfEvents(self.number, Coding(atoms, self.bounds), tuple(row.get(label, NOWHERE) for label in of.labels))
        found: list[Any] = [tables.EventNorms(side), tables.EventNorms(side, following=True)]
        found += [kind(side, self.clip) for kind in (tables.EventFills, tables.EventCounts, tables.NextCounts)]
        return [*found, tables.EventGrains(side, self.clip)] if attribute.kind in ("number", "date") else found


@st.composite
def asked(draw: st.DrawFn, known: PolarsEngine) -> Asked:
    """Cells of some attribute, at the values that events have and beside them."""
    number = draw(st.integers(0, len(ATTRIBUTES) - 1))
    kind, bounds = ATTRIBUTES[number].kind, ()
    there = np.unique(known.cases.of_events[number])[:50].tolist()
    atoms: tuple[Any, ...] = (0, 1)
    if kind == "category":
        atoms = tuple(draw(st.sets(st.sampled_from(known.values[number])))) if known.values[number] else ()
    elif kind != "boolean":
        near = st.sampled_from(
            (-LARGEST, 0, 1, LARGEST, *(value + more for value in there if value != MISSING for more in (0, 1)))
        )
        atoms, bounds = (tuple(sorted(draw(st.sets(near, max_size=5)))) for _ in range(2))
    rows = draw(st.lists(st.integers(NOWHERE, 2), min_size=N_LABELS, max_size=N_LABELS))
    return Asked(number, atoms, None if kind == "boolean" else bounds, tuple(rows), draw(clips))


class Neighbours(NamedTuple):
    """A log, a case by which its neighbour has one more, and what is asked."""

    rows: list[Row]
    added: Row
    asked: list[Asked]


some_row = st.builds(
    Row, some_case(N_LABELS), st.lists(VALUES, min_size=1, max_size=4).map(tuple), st.sampled_from((False, False, True))
)


@st.composite
def neighbours(draw: st.DrawFn) -> Neighbours:
    kinds = draw(st.lists(some_row, min_size=1, max_size=3))
    rows = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6))
    added = draw(st.sampled_from(kinds) | some_row)
    return Neighbours(rows, added, draw(st.lists(asked(engine(rows)), min_size=1, max_size=4)))


def test_all_tables_are_asked_for() -> None:
    found = Asked(3, (), (), (0,) * N_LABELS, 1.0).tables(engine([Row(((0, START),))]))
    assert {type(table) for table in found} == {*counting.COUNTERS, *counting.OCCURRENCES}


@given(neighbours(), st.booleans())
@settings(max_examples=50)
def test_one_case_moves_a_table_by_its_clip_at_most_and_by_the_same_in_any_company(two: Neighbours, paired: bool) -> None:
    together = ([*two.rows], [*two.rows, two.added], [two.added, *two.rows[::-1]])
    without, with_case, backwards = (engine(rows, paired=paired) for rows in together)
    alone = with_case.restricted(np.array([len(two.rows)]))
    for one in two.asked:
        for before, after, turned in zip(*map(one.tables, (without, with_case, backwards)), strict=True):
            change = with_case.count(after) - without.count(before)
            assert change.shape == before.shape == after.shape
            assert square_norm(change) <= math.floor(largest_square(after)), after
            assert change.tolist() == alone.count(after).tolist(), after
            if not paired:  # whether an instance of these logs starts follows from its place among all others
                assert backwards.count(turned).tolist() == with_case.count(after).tolist(), after
            if isinstance(after, tables.EventNorms):
                assert (change.min(), change.sum()) == (0, 1)
            fewer = names(N_LABELS)[:2]
            less = [OfEvents(t.side.number, t.side.coding, (0, NOWHERE)) for t in (before, after)]
            table, other = (replace(t, side=side) for t, side in zip((before, after), less, strict=True))
            change = with_case.with_labels(fewer).count(other) - without.with_labels(fewer).count(table)
            assert square_norm(change) <= math.floor(largest_square(other)), other


def named_weights(of: PolarsEngine, number: int) -> dict[Any, int]:
    return weights_of(of, number, of.values[number] if number == 0 else ())


def assert_weights_of_one_case(without: PolarsEngine, with_case: PolarsEngine, alone: PolarsEngine) -> None:
    """That one case gives weight of its norm to a few values, whatever others have; what is new is its alone."""
    for number in range(len(ATTRIBUTES)):
        old, new, own = (named_weights(of, number) for of in (without, with_case, alone))
        assert {value: weight - old.get(value, 0) for value, weight in new.items() if weight != old.get(value)} == own
        assert old.keys() <= new.keys()
        assert sum(weight**2 for weight in own.values()) <= FINE**2
        assert len(own) <= MOST_LABELS
        assert all(0 < weight <= math.isqrt(FINE**2 // len(own)) for weight in own.values())


@given(neighbours())
@settings(max_examples=30)
def test_one_case_gives_values_weight_of_its_norm_whatever_others_have(two: Neighbours) -> None:
    assert_weights_of_one_case(engine(two.rows), engine([*two.rows, two.added]), engine([two.added]))


def plain_numbers(log: EventLog, of: PolarsEngine, number: int) -> list[list[int | None]]:
    """For every case what is counted of its events, one by one."""
    attribute, known = ATTRIBUTES[number], of.values[number]
    found, when = event_values(log, attribute).to_list(), log.timestamps.tolist()
    events = zip(log.events["@case"].to_list(), found, when, strict=True)
    cases: list[list[int | None]] = []
    for _, of_case in groupby(events, key=lambda event: event[0]):
        cases.append([])
        highest = None
        for _, value, micros in of_case:
            if value is not None and attribute.kind == "category":
                value = known.index(value) if value in known else len(known)
            elif value is not None and attribute.kind == "date":
                value = (value - micros) // 1_000_000
            elif value is not None and attribute.counter:
                highest, value = value, value if highest is None else max(value - highest, 0)
            cases[-1].append(value)
    return cases


def plain_cell(value: int | None, coding: Coding) -> int:
    if value is None:
        return 0
    if value in coding.atoms:
        return 1 + coding.atoms.index(value)
    return 1 + len(coding.atoms) + sum(value >= bound for bound in coding.bounds or ())


def plain_counts(table: Any, codes: Sequence[int], values: Sequence[int | None]) -> Counter[int]:
    """In which cells the events of a case count, and how often."""
    side = table.side
    events = [(side.rows[code], plain_cell(value, side.coding), value) for code, value in zip(codes, values, strict=True)]
    events = [event for event in events if event[0] != NOWHERE]
    if isinstance(table, tables.EventGrains):
        rest = [value for _, cell, value in events if value and cell > len(side.coding.atoms)]
        return Counter(max(place for place, grain in enumerate(GRAINS) if value % grain == 0) for value in rest)
    if isinstance(table, tables.NextCounts) or getattr(table, "following", False):
        there = [cell - 1 for _, cell, _ in events if cell]
        return Counter(one * side.n_values + other for one, other in pairwise(there))
    if isinstance(table, tables.EventFills):
        return Counter(row * 2 + (cell > 0) for row, cell, _ in events)
    return Counter(row * side.n_values + cell - 1 for row, cell, _ in events if cell)


@given(neighbours())
@settings(max_examples=25)
def test_counts_are_those_of_the_events_one_by_one(two: Neighbours) -> None:
    """What is clipped is as long as the clip, but for what is lost by rounding toward zero."""
    log, of = log_with(two.rows, paired=False), engine(two.rows)
    codes = [[code for code, _ in row.case] for row in two.rows]
    for table in (table for one in two.asked for table in one.tables(of)):
        found = of.count(table).ravel().tolist()
        least, most = [0] * len(found), [0] * len(found)
        for trace, values in zip(codes, plain_numbers(log, of, table.side.number), strict=True):
            counts = plain_counts(table, trace, values)
            square = sum(times**2 for times in counts.values())
            if isinstance(table, tables.EventNorms):
                counts = Counter([max(i for i, left in enumerate(NORM_BINS.tolist()) if left <= square)])
            scale = Fraction(table.scale)
            if not isinstance(table, tables.EventNorms) and square > Fraction(table.clip) ** 2:
                scale *= Fraction(table.clip) / Fraction(math.sqrt(square))
            for cell, times in counts.items():
                clipped = scale != table.scale
                most[cell] += math.floor(times * scale * (1 + Fraction(clipped, 10**12)))
                least[cell] += math.floor(times * scale * (1 - Fraction(2 * clipped, 10**12)))
        assert all(low <= count <= high for low, count, high in zip(least, found, most, strict=True)), table


USUAL: Case = ((0, START), (1, START + 1))
GIANT: Case = ((0, START), (2, LAST)) * 4_000
SAME = ("same", "a", True, 7.0, 12.0, START)
FALLS = tuple(("up", None, None, 10.0 - i, 10.0 - i, START - i) for i in range(10))
MANY = [Row(USUAL, ((f"value {i}", f"{i}", i % 2 == 0, float(i), float(i), START + i),)) for i in range(1_500)]
HAND_WRITTEN = {
    "thousands of events with thousands of values": (MANY[:40], Row(GIANT, own=True)),
    "thousands of values among thousands": (MANY, Row(GIANT, own=True)),
    "a giant of one value": (MANY[:40], Row(GIANT, (SAME,))),
    "a giant without values": (MANY[:40], Row(GIANT)),
    "nobody has a value": ([Row(USUAL)] * 40, Row(USUAL)),
    "nobody but the added case has a value": ([Row(USUAL)] * 40, Row(GIANT, (SAME, NOTHING))),
    "counters that fall": ([Row(USUAL, FALLS)] * 3, Row(GIANT, FALLS)),
}


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written_cases_move_no_table_by_more_than_its_clip(name: str, paired: bool) -> None:
    rows, added = HAND_WRITTEN[name]
    without, with_case = engine(rows, paired=paired), engine([*rows, added], paired=paired)
    alone = with_case.restricted(np.array([len(rows)]))
    cut = tuple(range(-LARGEST, LARGEST, LARGEST // 9))
    for number, attribute in enumerate(ATTRIBUTES):
        atoms: tuple[Any, ...] = without.values[number][::7] if attribute.kind == "category" else (0, 1)
        for clip in (1.0, math.sqrt(2), 30.0):
            one = Asked(number, atoms, None if attribute.kind == "boolean" else cut, (0, NOWHERE, 1), clip)
            for before, after in zip(one.tables(without), one.tables(with_case), strict=True):
                change = with_case.count(after) - without.count(before)
                assert square_norm(change) <= math.floor(largest_square(after)), after.purpose
                assert change.tolist() == alone.count(after).tolist()
                if added.case == GIANT and isinstance(after, tables.EventFills):  # the noise is not for nothing
                    assert square_norm(change) >= Fraction(9, 10) * largest_square(after), after.purpose
    assert_weights_of_one_case(without, with_case, alone)


def test_starts_of_instances_have_no_value_and_end_no_chain() -> None:
    """Values of instances that overlap: a starts, b starts, a ends, b ends, and a is once there without a start."""
    minute = 60_000_000
    case = tuple((code, START + at * minute) for code, at in ((0, 3), (1, 4), (0, 9)))
    log = log_with([Row(case, (SAME, ("other", *SAME[1:]), NOTHING))], paired=False)
    starts = pl.Series([START, START + minute, None], dtype=pl.Int64).cast(UTC_MICROSECONDS).alias("start_timestamp")
    log = EventLog(log.events.with_columns(starts), log.cases, instances="pair")
    of = engine_of(log, attributes=ATTRIBUTES, with_starts=True)
    assert [label.endswith(STARTED) for label in of.labels] == [False, True] * 2
    assert [of.labels[code][6:9] for code in of.cases.codes] == ["000", "001", "000", "001", "000"]
    assert of.cases.of_events[0].tolist() == [MISSING, MISSING, of.values[0].index("same"), of.values[0].index("other"), MISSING]
    side = OfEvents(0, Coding((0, 1), None), (0, NOWHERE, 1, NOWHERE))
    assert of.count(tables.EventFills(side, 10.0)).tolist() == [[FINE, FINE], [0, FINE]]
    assert of.count(tables.EventCounts(side, 10.0)).tolist() == [[0, FINE], [FINE, 0]]
    assert of.count(tables.NextCounts(side, 10.0)).tolist() == [[0, 0], [FINE, 0]]  # "same", then "other"
