"""What is seen of a released log: every figure by hand, and against a second, slow way to count on any small log."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.eventlog.attributes import Attribute
from libra.eventlog.log import HOUR, EventLog
from libra.eventlog.metadata import LogMetadata
from libra.measures.audit.canaries import COMMON, OTHER, RARE, TEXTS, Canary, Case, log_of_cases
from libra.measures.audit.sight import MOST_EDGES, OF_LOG, WEEK, Figure, Sight, figures_of

CANARY = Case(("a", "b", "a", "c"), (0, HOUR, HOUR, 10 * HOUR), (RARE, RARE))
BASE = [Case(("a", "b"), (0, HOUR)), Case(("a", "c"), (5, 5))]
RELEASED = [
    CANARY,
    Case(("a", "b"), (WEEK, WEEK + 2 * HOUR), (COMMON, OTHER)),
    Case(("x",), (-1,)),  # a label that nobody had, a microsecond before 1970
    Case(("a", "b", "y", "c"), (7, 7, 7, 7)),
    Case(("a",), (3 * WEEK,)),
]
COLUMNS = zlib.crc32(b"(['@case', 'concept:name', 'time:timestamp'], ['concept:name', 'group', 'amount'])")
NO_COLUMNS = zlib.crc32(b"(['@case', 'concept:name', 'time:timestamp'], ['concept:name'])")
HEADER = zlib.crc32(repr(LogMetadata()).encode())


def seen(log: EventLog, canary: Case = CANARY, base: list[Case] = BASE) -> dict[Figure, float]:
    sight = Sight(base, [Canary("a canary", (canary,))])
    return dict(zip(sight.figures, sight.of(log).tolist(), strict=True))


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        (Figure("cases"), 5),
        (Figure("events"), 12),
        (Figure("variants"), 5),
        (Figure("unknown variant"), 3),
        (Figure("longest trace"), 4),
        (Figure("longest case"), math.log10(36_001)),
        (Figure("longest step"), math.log10(32_401)),
        (Figure("earliest start"), -1),
        (Figure("latest start"), 3),
        (Figure("columns"), COLUMNS),
        (Figure("header"), HEADER),
        (Figure("largest number"), 1e6),
        (Figure("variant", ("a", "b", "a", "c")), 1),
        (Figure("edge", ("", "a")), 4),
        (Figure("edge", ("a", "b")), 3),
        (Figure("edge", ("b", "a")), 1),
        (Figure("edge", ("a", "c")), 1),
        (Figure("edge", ("c", "")), 2),
        (Figure("own edges", ("a", "b", "a", "c")), 1),
        (Figure("length", 4), 2),
        (Figure("as long", 2), 3),
        (Figure("as slow", 18_000.0), 1),
        (Figure("step as slow", 16_200.0), 1),
        (Figure("week", 0), 2),
        (Figure("before", 1), 3),
        (Figure("after", -1), 4),
        (Figure("moments", CANARY.micros), 4),
        (Figure("gaps", (HOUR, 0, 9 * HOUR)), 6),
        (Figure("hour", 0), 4),
        (Figure("first", ("a", "b", "a", "c")), 0),
        (Figure("id"), 1),
        (Figure("value", ("rare",)), 1),
        (Figure("as large", ("case:amount", 500_000)), 1),
        (Figure("together", ("rare", "1000000")), 1),
    ],
    ids=str,
)
def test_every_figure_by_hand(figure: Figure, value: float) -> None:
    assert seen(log_of_cases(RELEASED))[figure] == pytest.approx(value, rel=1e-12)


def test_no_figure_is_left_out_by_hand() -> None:
    assert len(figures_of(Canary("a canary", (CANARY,)))) == 34


def test_of_an_empty_release_every_figure_is_nothing() -> None:
    figures = seen(log_of_cases([]))
    assert len(figures) == 34
    assert figures.pop(Figure("header")) == HEADER
    assert figures.pop(Figure("columns")) == NO_COLUMNS
    assert figures.pop(Figure("first", CANARY.trace)) == -1
    assert set(figures.values()) == {0.0}


def test_cases_of_one_event_have_no_steps_and_take_no_time() -> None:
    figures = seen(log_of_cases([Case(("a",), (0,)), Case(("b",), (HOUR,))]))
    assert figures[Figure("longest step")] == figures[Figure("longest case")] == 0
    assert figures[Figure("step as slow", 16_200.0)] == figures[Figure("edge", ("a", "b"))] == 0
    assert figures[Figure("edge", ("", "a"))] == 1


def test_a_canary_of_one_event_can_be_looked_for() -> None:
    figures = seen(log_of_cases(RELEASED), Case(("a",), (3 * WEEK,)))
    assert figures[Figure("variant", ("a",))] == figures[Figure("length", 1)] - 1 == 1
    assert figures[Figure("edge", ("a", ""))] == figures[Figure("own edges", ("a",))] == 1
    assert figures[Figure("as long", 1)] == figures[Figure("as slow", 0.0)] == 5  # all are
    assert figures[Figure("step as slow", 0.0)] == 7
    assert figures[Figure("moments", (3 * WEEK,))] == 1
    assert figures[Figure("gaps", ())] == 0


def test_times_that_go_back_are_steps_of_no_length() -> None:
    figures = seen(log_of_cases([Case(("a", "b"), (5 * HOUR, HOUR))]))
    assert figures[Figure("longest step")] == 0
    assert figures[Figure("longest case")] == math.log10(1 + 4 * 3600)


@pytest.mark.parametrize(("micros", "week"), [(-1, -1), (-WEEK, -1), (-WEEK - 1, -2), (0, 0), (WEEK - 1, 0), (WEEK, 1)])
def test_weeks_begin_on_thursdays_before_1970_as_well(micros: int, week: int) -> None:
    figures = seen(log_of_cases([Case(("a", "b"), (micros, micros + HOUR))]))
    assert figures[Figure("earliest start")] == figures[Figure("latest start")] == week


def test_a_value_is_found_in_any_column_of_text_but_no_label_and_no_name() -> None:
    events = pl.DataFrame(
        {
            "@case": [0, 0, 1],
            "concept:name": ["rare", "b", "c"],
            "time:timestamp": pl.Series([0, 1, 2]).cast(pl.Datetime("us", "UTC")),
            "org:resource": ["rare", None, "rare"],
            "lifecycle:transition": ["rare", "complete", None],
            "cost": [1.0, 2.0, None],
        }
    )
    cases = pl.DataFrame({"concept:name": ["rare", "usual"], "group": ["rarely", "rare"], "age": [34, None]})
    assert seen(EventLog(events, cases))[Figure("value", ("rare",))] == 4


def test_values_on_events_are_seen_as_they_follow_each_other() -> None:
    asked = (Attribute("case:kind", "category"), Attribute("ward", "category", "event"), Attribute("dose", "number", "event"))
    canary = Case(("a", "b"), (0, 1), (COMMON, RARE))
    released = [canary, Case(("a", "b", "c"), (0, 1, 2)), Case(("a", "b", "a"), (0, 1, 2), (RARE, COMMON))]
    sight = Sight([canary], [Canary("a canary", (canary,))], asked)
    figures = dict(zip(sight.figures, sight.of(log_of_cases(released, attributes=asked)).tolist(), strict=True))
    assert figures[Figure("next", ("common", "rare", "0", "1000000"))] == 4
    assert figures[Figure("together", ("common",))] == 2
    assert figures[Figure("as large", ("dose", 500_000))] == 3
    assert figures[Figure("value", ("rare",))] == 4


def test_labels_that_nobody_had_are_all_one_to_whoever_looks() -> None:
    figures = seen(log_of_cases([Case(("x",), (0,)), Case(("y",), (0,)), Case(("x", "y"), (0, 0))]))
    assert figures[Figure("variants")] == 2
    assert figures[Figure("unknown variant")] == 3


def test_figures_of_several_canaries_are_told_apart_by_column() -> None:
    other = Case(("c", "c"), (WEEK, WEEK))
    canaries = [Canary("one", (CANARY,)), Canary("other", (other,))]
    sight = Sight(BASE, canaries)
    assert len(set(sight.figures)) == len(sight.figures)
    for canary in canaries:
        assert [sight.figures[column] for column in sight.columns(canary)] == figures_of(canary)
        assert sight.columns(canary)[: len(OF_LOG)].tolist() == list(range(len(OF_LOG)))


def test_of_a_very_long_canary_some_edges_are_looked_at() -> None:
    labels = tuple(f"label {number}" for number in range(40))
    edges = [figure for figure in figures_of(Canary("long", (Case(labels, (0,) * 40),))) if figure.kind == "edge"]
    assert len(edges) == MOST_EDGES


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (Figure("cases"), "the number of cases"),
        (Figure("variant", ("a", "b", "c", "d", "e")), "cases of the variant a > b > c > d > … (5 events)"),
        (Figure("edge", ("", "a")), "occurrences of (start or end) > a"),
        (Figure("own edges", ("a", "b")), "steps that nobody else takes"),
        (Figure("length", 300), "cases of 300 events"),
        (Figure("as slow", 1800.0), "cases that take 30 minutes or more"),
        (Figure("step as slow", 5.25), "steps that take 5.25 seconds or more"),
        (Figure("moments", (0, 7)), "events at exactly the moments of the canary's"),
        (Figure("week", -1), "cases that start in the week of 1969-12-25"),
        (Figure("value", ("rare",)), "events and cases with the value rare"),
        (Figure("as large", ("case:amount", 7)), "values of case:amount of 7 or more"),
        (Figure("together", ("rare", "7")), "cases with the values rare, 7 together"),
        (Figure("next", ("A", "B")), "events with one of the values A, B after the other"),
    ],
)
def test_figures_are_told_in_words(figure: Figure, words: str) -> None:
    assert str(figure) == words


def test_values_are_told_as_people_write_them() -> None:
    assert Figure("cases").told(44.0) == "44"
    assert Figure("longest case").told(math.log10(1 + 4.25 * 3600)) == "4.25 hours"
    assert Figure("longest step").told(0.0) == "0 seconds"
    assert Figure("latest start").told(1.0) == "1970-01-08"


values = st.sampled_from([COMMON, OTHER, RARE])
moments = st.one_of(st.integers(-3 * WEEK, 3 * WEEK), st.sampled_from([-WEEK, -1, 0, 1, HOUR, WEEK]))


@st.composite
def cases(draw: st.DrawFn, known: str = "abcxy") -> Case:
    trace = draw(st.lists(st.sampled_from(known), min_size=1, max_size=5))
    micros = draw(st.lists(moments, min_size=len(trace), max_size=len(trace)))
    return Case(tuple(trace), tuple(micros), (draw(values), draw(values)))


def counted(figure: Figure, base: list[Case], canaries: list[Case], released: list[Case]) -> float:
    """The same figure once more, case by case."""
    known = {label for case in (*base, *canaries) for label in case.trace}
    variants = {case.trace for case in (*base, *canaries)}
    usual = {edge for case in base for edge in pairwise((None, *case.trace, None))}
    as_seen = [tuple(label if label in known else None for label in case.trace) for case in released]
    edges = [edge for trace in as_seen for edge in pairwise((None, *trace, None))]
    gaps = [later - earlier for case in released for earlier, later in pairwise(case.micros)]
    lengths, durations = [len(case.trace) for case in released], [case.seconds for case in released]
    weeks = [min(case.micros) // WEEK for case in released]
    groups, amounts = [TEXTS[case.values[0]] for case in released], [(0, 1, 1_000_000)[case.values[1]] for case in released]
    of = figure.of
    number = of if isinstance(of, int | float) else math.nan
    names = tuple(str(name) or None for name in of) if isinstance(of, tuple) else ()
    numbers = of if isinstance(of, tuple) else ()
    ways: dict[str, Callable[[], float]] = {
        "cases": lambda: len(released),
        "events": lambda: sum(lengths),
        "variants": lambda: len(set(as_seen)),
        "unknown variant": lambda: sum(trace not in variants for trace in as_seen),
        "longest trace": lambda: max(lengths, default=0),
        "longest case": lambda: math.log10(1 + max(durations, default=0)),
        "longest step": lambda: math.log10(1 + max([0, *gaps]) / 1e6),
        "earliest start": lambda: min(weeks, default=0),
        "latest start": lambda: max(weeks, default=0),
        "columns": lambda: COLUMNS if released else NO_COLUMNS,
        "header": lambda: HEADER,
        "largest number": lambda: max(amounts, default=0),
        "hour": lambda: sum(min(case.micros) // HOUR % 24 == number for case in released),
        "first": lambda: as_seen.index(names) if names in as_seen else -1,
        "id": lambda: int(len(base) < len(released)),
        "moments": lambda: sum(time in numbers for case in released for time in case.micros),
        "gaps": lambda: sum(gap in numbers for gap in gaps),
        "variant": lambda: as_seen.count(names),
        "edge": lambda: edges.count((names[0], names[-1])),
        "own edges": lambda: sum(edge in {*pairwise((None, *names, None))} - usual for edge in edges),
        "length": lambda: lengths.count(int(number)),
        "as long": lambda: sum(length >= number for length in lengths),
        "as slow": lambda: sum(duration >= number for duration in durations),
        "step as slow": lambda: sum(gap / 1e6 >= number for gap in gaps),
        "week": lambda: weeks.count(int(number)),
        "before": lambda: sum(week < number for week in weeks),
        "after": lambda: sum(week > number for week in weeks),
        "value": lambda: groups.count(str(numbers[0])),
        "as large": lambda: sum(amount >= int(numbers[1]) for amount in amounts),
        "together": lambda: sum(both == numbers for both in zip(groups, map(str, amounts), strict=True)),
    }
    return ways[figure.kind]()


@given(
    st.lists(cases("abc"), min_size=1, max_size=4),
    st.lists(cases("abc"), min_size=1, max_size=2),
    st.lists(cases(), max_size=6),
)
def test_every_figure_is_what_counting_case_by_case_gives(base: list[Case], canaries: list[Case], released: list[Case]) -> None:
    sight = Sight(base, [Canary("a canary", (case,)) for case in canaries])
    for figure, value in zip(sight.figures, sight.of(log_of_cases(released)).tolist(), strict=True):
        assert value == pytest.approx(counted(figure, base, canaries, released), rel=1e-12), str(figure)
