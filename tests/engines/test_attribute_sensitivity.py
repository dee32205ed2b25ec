"""One case more or less moves each table about attributes by no more than its clip, in exact arithmetic, whatever its values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from adversarial_logs import FIRST, LAST, some_case
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from some_engines import START, Case, largest_square, log_from, names, square_norm

from libra._system.randomness import Randomness
from libra.engines import attribute_tables as tables
from libra.engines.attribute_tables import GRAINS, Coding, DurationGroup, HasActivity, LengthGroup, OfAttribute, Pair, Side
from libra.engines.contract import Integers
from libra.engines.polars import PolarsEngine, engine_of
from libra.eventlog.attributes import LARGEST, Attribute, case_values
from libra.eventlog.cases import MISSING
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.privacy import gate
from libra.privacy.gate import Gate

N_LABELS = 3
ATTRIBUTES = (
    Attribute("case:text", "category"),
    Attribute("case:listed", "category", values=("b", "a", "7")),
    Attribute("case:truth", "boolean"),
    Attribute("case:any", "number", decimals=3),
    Attribute("case:bounded", "number", lowest=-5, highest=100),
    Attribute("case:moment", "date"),
    Attribute("case:day", "date", unit="days", lowest=-3, highest=3),
)
TYPES = {"category": pl.String(), "boolean": pl.Boolean(), "number": pl.Float64(), "date": UTC_MICROSECONDS}
texts = st.sampled_from(
    ("a", "b", "A", "ä", " a", "7", "7.0", "", "  ", "nan", "(other)", "x" * 5000, "\x00", "\U0010ffff", None)
)
truths = st.sampled_from((True, False, None))
numbers = st.sampled_from((None, math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 0.0, -0.0, 0.0005, -4.9, 99.5, 100.0))
numbers |= st.integers(-(10**13), 10**13).map(float) | st.floats(-200, 200).map(lambda x: round(x, 4))
moments = st.none() | st.sampled_from((FIRST, LAST, 0, -1)) | st.integers(FIRST, LAST)
VALUES = st.tuples(texts, texts, truths, numbers, numbers, moments, moments)


class Row(NamedTuple):
    """A case with its values."""

    case: Case
    values: tuple[Any, ...]


def log_with(rows: Sequence[Row]) -> EventLog:
    log = log_from([row.case for row in rows], N_LABELS)
    columns = []
    for place, attribute in enumerate(ATTRIBUTES):
        found, kind = [row.values[place] for row in rows], TYPES[attribute.kind]
        column = pl.Series(found, dtype=pl.Int64).cast(kind) if attribute.kind == "date" else pl.Series(found, dtype=kind)
        columns.append(column.alias(attribute.name.removeprefix("case:")))
    return EventLog(log.events, log.cases.with_columns(columns))


def engine(rows: Sequence[Row]) -> PolarsEngine:
    return engine_of(log_with(rows), labels=names(N_LABELS), attributes=ATTRIBUTES)


class Cells(NamedTuple):
    """How an attribute is cut: values by themselves (of a category its texts), bounds and groups; made from earlier releases."""

    number: int
    atoms: tuple[Any, ...]
    bounds: tuple[int, ...] | None
    groups: tuple[int, ...] | None

    def side(self, of: PolarsEngine) -> OfAttribute:
        """As this engine is asked for it: by its own numbers of texts, which stand for the same texts in any engine."""
        atoms = self.atoms
        if ATTRIBUTES[self.number].kind == "category":
            atoms = tuple(sorted(of.values[self.number].index(text) for text in atoms))
        return OfAttribute(self.number, Coding(atoms, self.bounds, self.groups))


@st.composite
def cells(draw: st.DrawFn, known: PolarsEngine, *, grouped: bool) -> Cells:
    """Cells of some attribute, at the values that cases have and beside them."""
    number = draw(st.integers(0, len(ATTRIBUTES) - 1))
    kind = ATTRIBUTES[number].kind
    there = sorted({value for value in known.cases.attributes[number].tolist() if value != MISSING})
    atoms: tuple[Any, ...]
    if kind == "category":
        atoms = tuple(draw(st.sets(st.sampled_from(known.values[number])))) if known.values[number] else ()
        bounds: tuple[int, ...] | None = ()
    elif kind == "boolean":
        atoms, bounds = (0, 1), None
    else:
        near = st.integers(-LARGEST, LARGEST) | st.sampled_from((-LARGEST, 0, 1, LARGEST))
        if there:
            near |= st.sampled_from(there) | st.sampled_from(there).map(lambda value: value + 1)
        atoms = tuple(sorted(draw(st.sets(near, max_size=4))))
        bounds = tuple(sorted(draw(st.sets(near, max_size=6))))
    groups = None
    if grouped:
        n = Coding(tuple(range(len(atoms))), bounds).n_plain
        groups = tuple(np.unique(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1].tolist())
    return Cells(number, atoms, bounds, groups)


features: st.SearchStrategy[Side] = st.one_of(
    st.integers(0, N_LABELS - 1).map(HasActivity),
    st.sets(st.integers(1, 5000), min_size=1, max_size=3).map(lambda some: LengthGroup(tuple(sorted(some)))),
    st.sets(st.integers(0, LAST - FIRST), min_size=1, max_size=3).map(lambda some: DurationGroup(tuple(sorted(some)))),
)


class Neighbours(NamedTuple):
    """A log, and a case by which its neighbour has one more."""

    rows: list[Row]
    added: Row
    single: list[Cells]  # for tables of one attribute
    pairs: list[tuple[Cells, Cells | Side]]

    def asked(self, of: PolarsEngine) -> list[Any]:
        """All tables, as an engine is asked for them."""
        sides = [one.side(of) for one in self.single]
        pairs: tuple[Pair, ...] = tuple(
            (one.side(of), other.side(of) if isinstance(other, Cells) else other) for one, other in self.pairs
        )
        grains = [tables.ValueGrains(side) for side in sides if ATTRIBUTES[side.number].kind in ("number", "date")]
        return [*map(tables.ValueCounts, sides), *grains, tables.PairCounts(pairs), tables.Interactions(pairs)]


@st.composite
def neighbours(draw: st.DrawFn) -> Neighbours:
    kinds = draw(st.lists(st.builds(Row, some_case(N_LABELS), VALUES), min_size=1, max_size=4))
    rows = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=10))
    added = draw(st.sampled_from(kinds) | st.builds(Row, some_case(N_LABELS), VALUES))
    known = engine(rows)
    single = draw(st.lists(cells(known, grouped=False), min_size=1, max_size=3))
    side = cells(known, grouped=True)
    return Neighbours(rows, added, single, draw(st.lists(st.tuples(side, side | features), min_size=1, max_size=5)))


@given(neighbours())
@settings(max_examples=60)
def test_one_case_moves_a_table_by_its_clip_at_most_and_by_the_same_in_any_company(two: Neighbours) -> None:
    without, with_case, backwards = engine(two.rows), engine([*two.rows, two.added]), engine([two.added, *two.rows[::-1]])
    alone = with_case.restricted(np.array([len(two.rows)]))
    for before, after, turned in zip(*map(two.asked, (without, with_case, backwards)), strict=True):
        change = with_case.count(after) - without.count(before)
        assert change.shape == before.shape == after.shape
        assert square_norm(change) <= math.floor(largest_square(after)), after
        assert change.tolist() == alone.count(after).tolist(), after
        assert backwards.count(turned).tolist() == with_case.count(after).tolist(), after
        if isinstance(after, tables.ValueGrains):
            assert np.abs(change).sum() <= 1


@given(neighbours(), st.integers(0, 2**32))
@settings(max_examples=30)
def test_one_case_moves_the_score_of_each_pair_by_one_at_most(two: Neighbours, seed: int) -> None:
    """What the choice of pairs rests on, whatever was expected of them."""
    scores = []
    expected = np.random.Generator(np.random.PCG64(seed))
    aimed: Integers | None = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "rounded_gaussian", lambda _, n, __: np.zeros(n, np.int64))
        for rows in (two.rows, [*two.rows, two.added]):
            of = engine(rows)
            (table,) = [one for one in two.asked(of) if isinstance(one, tables.PairCounts)]
            aimed = expected.integers(-2, 9, table.shape) if aimed is None else aimed
            through = Gate(of, Randomness(seed=1))
            scores.append(through.release_scores(table, aimed, 1.0).counts)
            (entry,) = through.ledger().entries
            assert Fraction(entry.sensitivity) ** 2 >= len(scores[-1])
    assert np.abs(scores[1] - scores[0]).max() <= 1


def plain_cell(value: int | None, coding: Coding) -> int:
    """The cell of a value, by the words of the page."""
    if value is None:
        found = 0
    elif value in coding.atoms:
        found = 1 + coding.atoms.index(value)
    else:
        found = 1 + len(coding.atoms) + sum(value >= bound for bound in coding.bounds or ())
    return found if coding.groups is None else coding.groups[found]


def plain_values_of(log: EventLog, of: PolarsEngine, number: int) -> list[int | None]:
    """The values of an attribute in the numbers of an engine, each by itself."""
    attribute = ATTRIBUTES[number]
    found = case_values(log, attribute).to_list()
    if attribute.kind == "category":
        known = of.values[number]
        return [None if text is None else known.index(text) if text in known else len(known) for text in found]
    if attribute.kind == "date":
        starts, day = log.case_spans[0].tolist(), 86_400_000_000
        if attribute.unit == "days":
            days = [None if moment is None else moment // day - start // day for moment, start in zip(found, starts, strict=True)]
            return [None if many is None else min(max(many, -3), 3) for many in days]
        return [None if moment is None else (moment - start) // 1_000_000 for moment, start in zip(found, starts, strict=True)]
    return found


@given(neighbours())
@settings(max_examples=30)
def test_counts_are_those_of_the_values_one_by_one(two: Neighbours) -> None:
    log, of = log_with(two.rows), engine(two.rows)
    lengths = np.diff(log.case_offsets).tolist()
    spans = (log.case_spans[1] - log.case_spans[0]).tolist()
    traces = [{code for code, _ in row.case} for row in two.rows]

    def column(side: Side) -> list[int]:
        if isinstance(side, OfAttribute):
            return [plain_cell(value, side.coding) for value in plain_values_of(log, of, side.number)]
        if isinstance(side, HasActivity):
            return [int(side.code in trace) for trace in traces]
        found = lengths if isinstance(side, LengthGroup) else spans
        return [sum(value >= bound for bound in side.bounds) for value in found]

    for table in two.asked(of):
        if isinstance(table, tables.ValueCounts):
            counts = Counter(column(table.side))
            expected = [table.scale * counts[cell] - len(two.rows) for cell in range(table.side.n_cells)]
        elif isinstance(table, tables.ValueGrains):
            rest = [
                value
                for value, cell in zip(plain_values_of(log, of, table.side.number), column(table.side), strict=True)
                if value and cell > len(table.side.coding.atoms)
            ]
            largest = Counter(max(grain for grain in GRAINS if value % grain == 0) for value in rest)
            expected = [largest[grain] for grain in GRAINS]
        else:
            expected = []
            for one, other in table.pairs:
                k, s, both = one.n_cells, other.n_cells, list(zip(column(one), column(other), strict=True))
                for i in range(k):
                    for j in range(s):
                        parts = [((a == i) - Fraction(1, k)) * ((b == j) - Fraction(1, s)) * table.scale for a, b in both]
                        centred = sum(math.trunc(part) for part in parts)
                        expected.append(centred if isinstance(table, tables.Interactions) else both.count((i, j)))
        assert of.count(table).tolist() == expected, table


class _Everything:
    """A rule that lets all pass, without noise: it shows what noise would be put on."""

    def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
        return np.arange(len(counts)), counts


def chosen_from(of: PolarsEngine, number: int) -> dict[Any, int]:
    values, counts = of.select_values(number, _Everything(), Randomness(seed=1))
    named = [of.values[number][value] if of.values[number] else value for value in values.tolist()]
    assert len(set(named)) == len(named)
    return dict(zip(named, counts.tolist(), strict=True))


@given(neighbours())
@settings(max_examples=30)
def test_one_case_is_one_more_of_one_value_and_a_new_value_is_its_alone(two: Neighbours) -> None:
    """What the choice of values rests on: each is there once, with at least one case, and a case has one or none."""
    without, with_case, alone = engine(two.rows), engine([*two.rows, two.added]), engine([two.added])
    for number, attribute in enumerate(ATTRIBUTES):
        if attribute.values is not None or attribute.kind == "boolean":
            continue
        counts = [Counter(chosen_from(of, number)) for of in (without, with_case, alone)]
        assert counts[1] == counts[0] + counts[2]
        assert sum(counts[2].values()) <= 1
        assert min(counts[1].values(), default=1) >= 1


USUAL: Case = ((0, START), (1, START + 1))
MANY = [
    Row(USUAL, (f"value {i}", f"{i}", i % 2 == 0, float(i), float(i), START + i, START + 3 * 3_600_000_000 * (i - 9)))
    for i in range(3000)
]
NOTHING = (None,) * len(ATTRIBUTES)
HAND_WRITTEN = {
    "thousands of values": (MANY, Row(USUAL, ("one more", "a", True, 0.5, 1e9, FIRST, FIRST))),
    "a giant among others": (MANY[:50], Row(((0, START), (2, LAST)) * 10_000, MANY[7].values)),
    "nobody has a value": ([Row(USUAL, NOTHING)] * 40, Row(USUAL, NOTHING)),
    "nobody but the added case has a value": ([Row(USUAL, NOTHING)] * 40, Row(USUAL, MANY[3].values)),
    "the added case has no value": (MANY[:40], Row(USUAL, NOTHING)),
    "beyond all bounds": (MANY[:40], Row(USUAL, ("z", "z", None, 1e308, -math.inf, LAST, LAST))),
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written_cases_move_no_table_by_more_than_its_clip(name: str) -> None:
    rows, added = HAND_WRITTEN[name]
    without, with_case = engine(rows), engine([*rows, added])
    shown = {number: without.values[number][::7] for number in (0, 1)}
    cut = tuple(range(-LARGEST, LARGEST, LARGEST // 9))
    single = [
        *(Cells(number, shown[number], (), None) for number in (0, 1)),
        Cells(2, (0, 1), None, None),
        *(Cells(number, (0, 1, 7, 500, LARGEST), cut, None) for number in (3, 4, 5, 6)),
    ]
    grouped = [one._replace(groups=tuple(i % 12 for i in range(one.side(without).n_cells))) for one in single]
    others: list[Cells | Side] = [*grouped, HasActivity(0), LengthGroup((2, 3)), DurationGroup((1, 2))]
    two = Neighbours(rows, added, single, [(one, other) for i, one in enumerate(grouped) for other in others[i + 1 :]])
    for before, after in zip(two.asked(without), two.asked(with_case), strict=True):
        change = with_case.count(after) - without.count(before)
        assert square_norm(change) <= math.floor(largest_square(after)), after.purpose
        if not isinstance(after, tables.ValueGrains):
            assert square_norm(change) >= Fraction(9, 10) * largest_square(after), after.purpose  # the noise is not for nothing


@pytest.mark.parametrize("n_cells", [2, 3, 10, 997, 100_003, 10**6])
def test_clips_in_floats_are_not_below_the_norms(n_cells: int) -> None:
    side = OfAttribute(0, Coding(tuple(range(n_cells - 2))))
    table = tables.ValueCounts(side)
    assert table.scale == n_cells
    assert n_cells * (n_cells - 1) <= largest_square(table) < n_cells * (n_cells - 1) * Fraction(1 + 10**9, 10**9)
    grouped: list[Side] = [OfAttribute(0, Coding((), (), tuple(range(k)))) for k in (2, 3, 7, 12)]
    for many in (1, 2, 3, 50, 1000):
        pairs: tuple[Pair, ...] = tuple((grouped[i % 4], grouped[(i * 7 + 1) % 4]) for i in range(many))
        exact = sum((1 - Fraction(1, one.n_cells)) * (1 - Fraction(1, other.n_cells)) for one, other in pairs)
        assert Fraction(tables.Interactions(pairs).clip) ** 2 >= exact
        assert Fraction(tables.PairCounts(pairs).clip) ** 2 >= many


@given(neighbours())
@settings(max_examples=30)
def test_interactions_after_scores_are_those_that_an_engine_counts(two: Neighbours) -> None:
    """Pairs that were looked at for scores are not counted again, and the noise and the ledger are the same."""
    of = engine(two.rows)
    pairs, wanted = two.asked(of)[-2:]
    assume(wanted.clip > 0)  # there is nothing to release of a side with a single cell
    once, anew = Gate(of, Randomness(seed=3)), Gate(of, Randomness(seed=3))
    released = []
    for through in (once, anew):
        through.release_scores(pairs, np.zeros(pairs.shape, np.int64), 1.0)
        if through is anew:
            through._of_pairs.clear()
        released.append(through.release(wanted, 1.0))
    assert released[0].counts.tolist() == released[1].counts.tolist()
    assert once.ledger().entries == anew.ledger().entries
    assert all(one in once._of_pairs for one in wanted.pairs)
