"""Distances between attributes: zero for equal logs, worked examples, and what a slow and plain computation gives."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import libra
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import UTC_MICROSECONDS, EventLog, empty_log
from libra.eventlog.names import RESOURCE
from libra.measures import attributes as attributes_module
from libra.measures import measure
from libra.measures.attributes import Association, AttributeFigures, attribute_figures, with_names
from libra.measures.utility import OF_ATTRIBUTES
from strategies import event_logs

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
TYPES: dict[str, Any] = {"@case": pl.UInt32, "concept:name": pl.String, "time:timestamp": pl.Datetime("us", "UTC")}
Event = tuple[str, int, str | None, float | None]  # activity, minutes since the one before, a category and a number
Case = tuple[str | None, int | None, Sequence[Event]]  # a category and a number of the case
RELATIVE = ("association_l1", "number_w1_relative")  # which may be above 1
SHARES = tuple(name for name in OF_ATTRIBUTES if name not in RELATIVE)

amounts = st.one_of(st.none(), st.integers(-2, 3), st.sampled_from((7, 100)))
events = st.tuples(st.sampled_from("ab"), st.integers(0, 90), st.sampled_from((None, "x", "y")), amounts)
cases = st.tuples(st.sampled_from((None, "f", "m")), amounts, st.lists(events, min_size=1, max_size=4))
case_lists = st.lists(cases, max_size=30)


def log_of(some: Sequence[Case]) -> EventLog:
    """A log with the attributes `sex` and `age` of cases, `role` and `cost` of events."""
    rows = []
    for i, (_, _, found) in enumerate(some):
        now = NOON
        for activity, minutes, role, cost in found:
            now += timedelta(minutes=minutes)
            rows.append((i, activity, now, role, cost))
    schema = TYPES | {"role": pl.String, "cost": pl.Float64}
    sexes, ages = [sex for sex, _, _ in some], [age for _, age, _ in some]
    of_cases = {"concept:name": [str(i) for i in range(len(some))], "sex": sexes, "age": ages}
    return EventLog(
        pl.DataFrame(rows, schema=schema, orient="row"),
        pl.DataFrame(of_cases, schema={"concept:name": pl.String, "sex": pl.String, "age": pl.Int64}),
    )


def with_cases(**columns: Sequence[object]) -> EventLog:
    """A log of cases of one event each, with these attributes."""
    size = len(next(iter(columns.values())))
    rows = pl.DataFrame([(i, "a", NOON) for i in range(size)], schema=TYPES, orient="row")
    return EventLog(rows, pl.DataFrame({"concept:name": [str(i) for i in range(size)], **columns}))


def with_events(traces: Sequence[Sequence[tuple[str, object]]], name: str = "value", dtype: Any = pl.String) -> EventLog:
    """A log of these activities and values."""
    rows = [(i, activity, NOON, value) for i, trace in enumerate(traces) for activity, value in trace]
    ids = pl.DataFrame({"concept:name": [str(i) for i in range(len(traces))]})
    return EventLog(pl.DataFrame(rows, schema=TYPES | {name: dtype}, orient="row"), ids)


def tv(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """The slow and plain total variation of two samples."""
    if not one or not other:
        return float(len(one) != len(other))
    before, after = Counter(one), Counter(other)
    return sum(abs(before[key] / len(one) - after[key] / len(other)) for key in {*before, *after}) / 2


def cramers_v(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """The strength of an association as Bergsma (2013) defines it, cell by cell."""
    n, of_one, of_other, of_both = len(one), Counter(one), Counter(other), Counter(zip(one, other, strict=True))
    r, c = len(of_one), len(of_other)
    if min(r, c) < 2:
        return 0.0
    chi = sum(
        (of_both[a, b] - of_one[a] * of_other[b] / n) ** 2 / (of_one[a] * of_other[b] / n) for a in of_one for b in of_other
    )
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1)) / least)) if least > 0 else 0.0


def apart_in_sum(ties: Sequence[tuple[Any, Any]]) -> float | None:
    """How far strong associations are apart, each given as the values of both logs on both sides."""
    both = [tuple(cramers_v(*sides) for sides in zip(*tie, strict=True)) for tie in ties]
    strong = [(before, after) for before, after in both if before >= 0.1]
    return sum(abs(before - after) for before, after in strong) / sum(before for before, _ in strong) if strong else None


def bins(original: Sequence[float | None]) -> Callable[[float | None], Hashable]:
    """Where numbers belong, by what was said of it in words."""
    counts = Counter(value for value in original if value is not None)
    shared = {value for value, count in counts.items() if count / len(original) >= 0.05 - 1e-12}
    rest = sorted(value for value in original if value is not None and value not in shared)
    cuts = [rest[math.ceil(k * len(rest) / 10) - 1] for k in range(1, 10)] if rest else []
    return lambda value: (
        "missing"
        if value is None
        else ("at", value)
        if value in shared
        else min([c for c in cuts if c >= value], default=math.inf)
    )


def slowly(one: Sequence[Case], other: Sequence[Case]) -> dict[str, float | None]:
    """The figures of two such logs of which each has some of every attribute, in loops."""
    logs, n = (one, other), len(one)
    roles: Any
    costs: Any
    roles, costs = ([[[event[k] for event in case[2]] for case in log] for log in logs] for k in (2, 3))
    activities = [[[event[0] for event in case[2]] for case in log] for log in logs]
    of_cases: list[list[list[Any]]] = [
        [[case[0] for case in log] for log in logs],
        _binned([[case[1] for case in log] for log in logs]),
    ]
    numbers = [[[case[1] for case in log if case[1] is not None] for log in logs]]
    of_events, handover = [], []
    for values, categories in ((roles, True), (costs, False)):
        if all(len({value for value in case if value is not None}) <= 1 for case in values[0]):
            first: list[list[Any]] = [[next((v for v in case if v is not None), None) for case in log] for log in values]
            of_cases.append(first if categories else _binned(first))
            if not categories:
                numbers.append([[v for v in log if v is not None] for log in first])
            continue
        pairs: list[list[tuple[str, Any]]] = [
            [(a, v) for names, found in zip(of_log, log, strict=True) for a, v in zip(names, found, strict=True)]
            for of_log, log in zip(activities, values, strict=True)
        ]
        named = {a for log in pairs for a, v in log if v is not None}
        pairs = [[(a, v) for a, v in log if a in named] for log in pairs]
        if not categories:
            place = bins([v for _, v in pairs[0]])
            pairs = [[(a, place(v)) for a, v in log] for log in pairs]
        of_events.append(tv(*pairs))
        if categories:
            steps = [[[v for v in case if v is not None] for case in log] for log in values]
            handover.append(tv(*([step for case in log for step in pairwise(case)] for log in steps)))
    ties: list[tuple[Any, Any]] = list(combinations(of_cases, 2))
    activity, given = [], []
    for name in "ab":
        has = [[name in case for case in log] for log in activities]
        if 0.05 <= sum(has[0]) / n <= 0.95:
            ties += [(both, has) for both in of_cases]
            for before, after in of_cases:
                activity.append(tv(list(zip(before, has[0], strict=True)), list(zip(after, has[1], strict=True))))
                parts = []
                for f in (True, False):
                    there = [v for v, is_there in zip(before, has[0], strict=True) if is_there == f]
                    copied = [v for v, is_there in zip(after, has[1], strict=True) if is_there == f] or after
                    parts.append(len(there) / n * tv(there, copied))
                given.append(sum(parts))
    durations = [[sum(event[1] for event in case[2][1:]) for case in log] for log in logs]
    quarters = sorted(durations[0])
    cuts = [quarters[math.ceil(k * n / 4) - 1] for k in (1, 2, 3)]
    places = [[sum(cut < value for cut in set(cuts)) for value in log] for log in durations]
    shifts = []
    for ours, theirs in numbers:
        if ours and theirs:
            spread, apart = fmean(abs(v - median(ours)) for v in ours), float(wasserstein_distance(ours, theirs))
            if spread or not apart:
                shifts.append(apart / spread if spread else 0.0)
    return {
        "attribute_tv": _mean([tv(*both) for both in of_cases]),
        "attribute_pair_tv": _mean(
            [tv(*(list(zip(*log, strict=True)) for log in zip(*both, strict=True))) for both in combinations(of_cases, 2)]
        ),
        "attribute_activity_tv": _mean(activity),
        "attribute_activity_tv_given": _mean(given),
        "attribute_duration_tv": _mean(
            [tv(*(list(zip(log, place, strict=True)) for log, place in zip(both, places, strict=True))) for both in of_cases]
        ),
        "association_l1": apart_in_sum([*ties, *((both, places) for both in of_cases)]),
        "number_w1_relative": _mean(shifts),
        "event_attribute_tv": _mean(of_events),
        "handover_tv": _mean(handover),
    }


def _binned(logs: list[list[Any]]) -> list[list[Hashable]]:
    place = bins(logs[0])
    return [[place(value) for value in log] for log in logs]


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None


FULL: Case = ("f", 1, [("a", 0, "x", 1.0)])  # so that a log has all four columns


@settings(max_examples=150)
@given(case_lists, case_lists)
def test_figures_are_those_of_loops(one: list[Case], other: list[Case]) -> None:
    one, other = [*one, FULL], [*other, FULL]
    found = measure(log_of(one), log_of(other)).to_dict()
    expected = slowly(one, other)
    assert {name: found[name] for name in OF_ATTRIBUTES} == {
        name: None if value is None else pytest.approx(value, abs=1e-6 if name == "association_l1" else 1e-9)
        for name, value in expected.items()
    }
    assert all(found[name] is None or 0 <= found[name] <= 1 for name in SHARES)


@settings(max_examples=60)
@given(event_logs())
def test_equal_logs_of_any_content_are_at_distance_zero(log: EventLog) -> None:
    found = attribute_figures(log, log)
    assert {getattr(found, name) for name in OF_ATTRIBUTES} <= {0, None}
    assert all(one.tv == 0 and not one.w1_relative and not one.handover_tv for one in found.attributes)
    wide = {f"case:{name}" for name in log.cases.columns[1:]} | set(log.events.columns[3:]) - {
        "start_timestamp",
        "concept:instance",
    }
    assert {one.name for one in found.attributes} == wide


@settings(max_examples=60)
@given(event_logs(), event_logs())
def test_any_two_logs_give_figures_that_json_can_hold(one: EventLog, other: EventLog) -> None:
    found = measure(one, other).to_dict()
    json.dumps(found, allow_nan=False)
    assert all(found[name] is None or 0 <= found[name] <= 1 for name in SHARES)
    assert found["number_w1_relative"] is None or found["number_w1_relative"] >= 0


categories = st.lists(st.tuples(st.sampled_from(("p", "q", None)), st.sampled_from(("u", "v", "w"))), min_size=1, max_size=20)


@settings(max_examples=60)
@given(categories, categories)
def test_shares_of_categories_are_symmetric(one: list[tuple[str | None, str]], other: list[tuple[str | None, str]]) -> None:
    logs = [with_cases(first=["p", *(a for a, _ in some)], second=["u", *(b for _, b in some)]) for some in (one, other)]
    there, back = attribute_figures(logs[0], logs[1]), attribute_figures(logs[1], logs[0])
    symmetric = ("attribute_tv", "attribute_pair_tv", "attribute_duration_tv")
    assert [getattr(there, name) for name in symmetric] == pytest.approx([getattr(back, name) for name in symmetric])


def test_values_of_a_case_worked_by_hand() -> None:
    one = with_cases(sex=["f", "f", "m", None], ward=["A", "A", "B", "B"])
    other = with_cases(sex=["f", "m", "m", "m"], ward=["A", "B", "B", "B"])
    found = attribute_figures(one, other)
    assert [each.tv for each in found.attributes] == [0.5, 0.25]  # f 2/4 to 1/4, missing 1/4 to 0; A 2/4 to 1/4
    assert found.attribute_tv == 0.375
    assert found.attribute_pair_tv == 0.5  # fA 2/4 to 1/4, mB 1/4 to 3/4, missing and B 1/4 to 0
    assert found.attribute_duration_tv == 0.375  # all durations are in one part
    assert found.attribute_activity_tv is None  # all cases have the only activity
    assert (found.number_w1_relative, found.event_attribute_tv, found.handover_tv) == (None, None, None)


def test_a_conditional_share_takes_the_originals_shares_of_cases_with_the_activity() -> None:
    def log(*traces: tuple[str, str]) -> EventLog:
        return with_events([[(activity, value) for activity in names] for names, value in traces])

    one = log(("ab", "x"), ("ab", "x"), ("a", "y"), ("a", "y"))
    other = log(("ab", "x"), ("a", "y"), ("a", "y"), ("a", "x"))
    found = attribute_figures(one, other)
    assert found.attributes == (AttributeFigures("value", "case", "category", 0.0),)
    assert found.attribute_activity_tv == 0.25  # b and x 2/4 to 1/4, no b and x 0 to 1/4
    assert found.attribute_activity_tv_given == pytest.approx(1 / 6)  # half the cases have no b; of these x 0 to 1/3
    never = attribute_figures(one, log(("a", "x"), ("a", "y"), ("a", "y"), ("a", "y")))
    assert never.attribute_activity_tv_given == 0.5  # with b: x 1 to its overall 1/4; without: y 1 to 3/4


def test_numbers_that_many_share_are_compared_by_themselves_and_others_by_deciles() -> None:
    spread = [float(i) for i in range(1, 51)]
    one = with_cases(age=[0.0] * 50 + spread)
    later = with_cases(age=[0.0] * 50 + [value + 0.5 for value in spread])  # one of five moves on from each bin to the next
    assert attribute_figures(one, later).attribute_tv == pytest.approx(0.01)
    assert attribute_figures(one, with_cases(age=[0.5] * 50 + spread)).attribute_tv == 0.5
    swapped = [value - 1 if value % 5 == 2 else value + 1 if value % 5 == 1 else value for value in spread]  # 1 and 2, 6 and 7
    assert attribute_figures(one, with_cases(age=[0.0] * 50 + swapped)).attribute_tv == 0


def test_the_distance_of_numbers_is_a_share_of_their_spread() -> None:
    one = with_cases(age=[0, 10, 20, 30])  # 15 in the middle, 10 away on average
    assert attribute_figures(one, with_cases(age=[5, 15, 25, 35])).number_w1_relative == pytest.approx(0.5)
    assert attribute_figures(with_cases(age=[7, 7]), with_cases(age=[7, 8])).number_w1_relative is None
    assert attribute_figures(with_cases(age=[7, 7]), with_cases(age=[7])).number_w1_relative == 0
    huge = with_cases(age=[-1.7e308, 1.7e308])
    assert attribute_figures(huge, with_cases(age=[1.7e308])).number_w1_relative == pytest.approx(1)
    tiny = with_cases(age=[0.0, 5e-324])
    assert attribute_figures(tiny, huge).number_w1_relative is None


def test_dates_are_compared_as_offsets_from_the_start_of_the_case() -> None:
    days = [NOON + timedelta(days=i) for i in range(4)]
    one = with_cases(due=days)
    moved = EventLog(
        one.events.with_columns(pl.col("time:timestamp") + timedelta(days=99)),
        one.cases.with_columns(pl.col("due") + timedelta(days=99)),
    )
    found = attribute_figures(one, moved)
    assert found.attributes == (AttributeFigures("case:due", "case", "date", 0.0),)
    late = one.cases.with_columns(pl.col("due") + timedelta(days=1))
    assert attribute_figures(one, EventLog(one.events, late)).attribute_tv == pytest.approx(0.25)


def test_event_attributes_worked_by_hand() -> None:
    one = with_events([[("a", "x"), ("b", None), ("a", "y")], [("a", "x"), ("a", "x")]])
    other = with_events([[("a", "x"), ("a", "x")], [("b", None), ("a", "y"), ("a", None)]])
    found = attribute_figures(one, other)
    assert found.attributes[0].level == "event"
    assert found.event_attribute_tv == 0.25  # no log has a value at b; at a: x 3/4 to 2/4, missing 0 to 1/4
    assert found.handover_tv == 0.5  # x to y, past the missing value, and x to x; then x to x alone
    assert found.attribute_tv is None


def test_numbers_of_events_have_no_handover() -> None:
    one = with_events([[("a", 1.0), ("a", 2.0)]], dtype=pl.Float64)
    assert attribute_figures(one, one).attributes == (AttributeFigures("value", "event", "number", 0.0),)


def test_names_of_people_and_transitions_are_categories_of_events_even_as_digits() -> None:
    for name in ("org:resource", "lifecycle:transition"):
        one = with_events([[("a", "112"), ("a", "112")]], name)
        assert attribute_figures(one, one).attributes == (AttributeFigures(name, "event", "category", 0.0, handover_tv=0.0),)


def test_one_value_in_each_case_of_the_original_makes_an_attribute_of_the_case() -> None:
    one = with_events([[("a", None), ("b", "x"), ("b", "x")], [("a", "y")]])
    other = with_events([[("a", "x"), ("b", "y")], [("b", "y")]])
    assert attribute_figures(one, other).attributes == (AttributeFigures("value", "case", "category", 0.0),)
    assert [each.level for each in attribute_figures(other, one).attributes] == ["event"]


def test_what_is_declared_decides_on_place_level_and_kind() -> None:
    one = with_events([[("a", 1), ("b", 5)], [("a", 2), ("b", 6)]], dtype=pl.Int64)
    other = with_events([[("a", 1), ("b", None)], [("a", 2), ("b", None)]], dtype=pl.Int64)
    assert attribute_figures(one, other).attributes[0].level == "event"
    at = Attribute("value", "number", at="a")
    assert attribute_figures(one, other, [at]).attributes == (AttributeFigures("value", "case", "number", 0.0, w1_relative=0.0),)
    codes = Attribute("value", "category", missing=("2",), at="a")
    assert measure(one, other, [codes]).attributes == (AttributeFigures("value", "case", "category", 0.0),)
    changed = with_events([[("a", 1)], [("a", None)]], dtype=pl.Int64)
    assert attribute_figures(one, changed, [codes]).attribute_tv == 0
    assert attribute_figures(one, changed, [Attribute("value", "number", at="c")]).number_w1_relative is None


@pytest.mark.parametrize(
    ("typed", "as_text", "kind"),
    [
        ([True, False, None], ["true", "False", " "], "boolean"),
        ([True, False, None], ["1", "0", None], "boolean"),
        ([1, 20, None], ["1", "20.0", ""], "number"),
        ([0.5, 1e300, None], ["0.50", "1e300", None], "number"),
        (["true", "false", None], ["True", "FALSE", None], "boolean"),
        (["7", "12", None], ["7.0", "12", None], "number"),
        (["007", "12", None], ["007", "12", None], "category"),
        ([7, 12, None], ["7", "12", None], "number"),
        ([7, 12, 5], ["7", "12", "(other)"], "category"),
        ([NOON, NOON + timedelta(hours=1), None], ["2024-05-06T12:00:00.000+00:00", "2024-05-06T15:00:00+02:00", None], "date"),
    ],
)
def test_values_are_the_same_whatever_a_file_says_of_their_types(
    typed: list[object], as_text: list[str | None], kind: str
) -> None:
    one, other = with_cases(x=typed), with_cases(x=as_text)
    for found in (attribute_figures(one, other), attribute_figures(other, one)):
        assert found.attributes[0].kind == kind
        assert found.attribute_tv == pytest.approx(1 / 3 if "(other)" in as_text else 0)


def test_a_log_and_its_csv_file_have_the_same_attributes(tmp_path: Path) -> None:
    log = with_cases(
        flag=[True, None, False, True], name=["x", "y", None, "x"], age=[1, 2, 3, None], due=[NOON, None, NOON, NOON]
    )
    libra.write(log, tmp_path / "log.csv")
    found = libra.measure(log, tmp_path / "log.csv")
    assert [one.kind for one in found.attributes] == ["boolean", "category", "number", "date"]
    assert [getattr(found, name) for name in OF_ATTRIBUTES] == [0, 0, None, None, 0, 0, 0, None, None]


def test_associations_worked_by_hand() -> None:
    """Two attributes that tell each other in the original; a third that has nothing to do with them."""
    sex, ward, half = ["f", "m"] * 50, ["A", "B"] * 50, ["x"] * 50 + ["y"] * 50
    one = with_cases(sex=sex, ward=ward, half=half)
    found = attribute_figures(one, one)
    assert found.association_l1 == 0
    (tie,) = found.associations
    assert tie == Association("case:sex", "case:ward", False, tie.original, tie.original)
    assert tie.original == pytest.approx(1)
    lost = attribute_figures(one, with_cases(sex=sex, ward=["A", "A", "B", "B"] * 25, half=half))
    assert (lost.attribute_tv, lost.association_l1, lost.associations[0].anonymized) == (0, 1, 0)
    assert lost.attribute_pair_tv == pytest.approx(0.52 / 3)  # half of sex and ward, no sex and half, 1 of 50 of ward and half
    assert attribute_figures(with_cases(sex=sex, half=half), one).association_l1 is None


def test_associations_with_activities_and_durations_count() -> None:
    long = [("a", 0, None, None), ("b", 60, None, None)]
    one = log_of([("f", None, long), ("m", None, long[:1])] * 20)
    found = attribute_figures(
        one, log_of([("f", None, long), ("m", None, long), ("f", None, long[:1]), ("m", None, long[:1])] * 10)
    )
    assert [(tie.other, tie.is_activity) for tie in found.associations] == [("b", True), ("case duration", False)]
    assert (found.association_l1, found.attribute_tv) == (1, 0)


def test_the_strongest_associations_are_listed() -> None:
    columns = {f"x{i}": ["p"] * (50 - i) + ["q"] * (50 + i) for i in range(8)}
    found = attribute_figures(with_cases(**columns), with_cases(**columns)).associations
    assert len(found) == 20  # of 28
    strengths = [tie.original for tie in found]
    assert strengths == sorted(strengths, reverse=True)
    assert {(tie.attribute, tie.other) for tie in found[:7]} == {(f"case:x{i}", f"case:x{i + 1}") for i in range(7)}


def test_attributes_of_one_log_alone_do_not_count() -> None:
    one, other = with_cases(sex=["f", "m"], age=[1, 2]), with_cases(sex=["f", "m"], height=[1, 2])
    assert [found.name for found in attribute_figures(one, other).attributes] == ["case:sex"]
    apart = with_events([[("a", "f")], [("a", "m")]], "sex")  # of events here
    assert attribute_figures(one, apart) == attribute_figures(one, empty_log(one))


def test_logs_without_cases_have_no_attributes() -> None:
    log = with_cases(sex=["f", "m"])
    for one, other in ((log, empty_log(log)), (empty_log(log), log), (empty_log(log), empty_log(log))):
        found = measure(one, other)
        assert {getattr(found, name) for name in OF_ATTRIBUTES} == {None}
        assert found.attributes == ()


def test_a_log_of_one_case_has_figures() -> None:
    one, other = with_cases(sex=["f"], age=[3]), with_cases(sex=["m"], age=[4])
    found = attribute_figures(one, other)
    assert (found.attribute_tv, found.attribute_pair_tv, found.attribute_duration_tv) == (1, 1, 1)
    assert found.number_w1_relative is None  # no spread to take a share of


def test_more_pairs_than_are_counted_are_thinned_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes_module, "MOST_TABLES", 3)
    one = with_cases(**{f"x{i}": ["p", "q"] for i in range(4)})  # six pairs: 01 02 03 12 13 23, of which 01 03 13
    other = with_cases(**{f"x{i}": ["p", "p"] if i == 2 else ["p", "q"] for i in range(4)})
    assert attribute_figures(one, other).attribute_pair_tv == 0
    other = with_cases(**{f"x{i}": ["p", "p"] if i == 3 else ["p", "q"] for i in range(4)})
    assert attribute_figures(one, other).attribute_pair_tv == pytest.approx(1 / 3)


def test_many_values_in_two_columns_are_counted_without_a_table_of_all_pairs() -> None:
    names = [f"n{i}" for i in range(100)]
    one, other = with_cases(x=names, y=names), with_cases(x=names, y=[*names[:50], *reversed(names[50:])])
    found = attribute_figures(one, other)
    assert [found.attribute_tv, found.attribute_pair_tv] == pytest.approx([0, 0.5])


def test_pseudonyms_of_resources_are_compared_with_the_names_they_are_most_like() -> None:
    """Whatever they are called, and whichever comes first; what is nobody in particular stays so."""
    noon = [datetime(2024, 5, 6, 12, tzinfo=UTC)] * 6
    events = pl.DataFrame({"@case": [0] * 6, "concept:name": ["a", "a", "b", "b", "b", "c"], "time:timestamp": noon})
    cases = pl.DataFrame({"concept:name": ["1"]})
    names = pl.Series(["ann", "ann", "bert", "bert", "bert", "cy"])
    for pseudonyms in (["R2", "R2", "R1", "R1", "R1", "(other)"], ["R1", "R1", "R2", "R2", "R2", "(other)"]):
        one, other = (EventLog(events.with_columns(who.alias(RESOURCE)), cases) for who in (names, pl.Series(pseudonyms)))
        assert with_names((one, other)).to_list() == ["ann", "ann", "bert", "bert", "bert", "(other)"]
        (found,) = attribute_figures(one, other).attributes
        assert found.tv == pytest.approx(1 / 6)
        assert found.handover_tv == pytest.approx(1 / 5)
    assert with_names((one, one)).to_list() == names.to_list(), "names are not pseudonyms"


def test_transitions_are_compared_in_any_case() -> None:
    noon = [datetime(2024, 5, 6, 12, tzinfo=UTC)] * 2
    events = pl.DataFrame({"@case": [0, 0], "concept:name": ["a", "a"], "time:timestamp": noon})
    one, other = (
        EventLog(events.with_columns(pl.Series("lifecycle:transition", said)), pl.DataFrame({"concept:name": ["1"]}))
        for said in (["START", "COMPLETE"], ["start", "complete"])
    )
    assert attribute_figures(one, other).event_attribute_tv == 0


@pytest.mark.parametrize("declared", [False, True])
def test_days_as_text_are_dates_beside_moments(declared: bool) -> None:
    """A CSV file says 2024-05-06, and its release 2024-05-06T00:00:00+00:00."""
    days = [date(2024, 5, 6) + timedelta(days=i % 3) for i in range(30)]
    as_text = with_events([[("a", str(day))] for day in days])
    midnights = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in days]
    moments = with_events([[("a", moment)] for moment in midnights], dtype=UTC_MICROSECONDS)
    said = [Attribute("value", "date", level="event", unit="days")] if declared else []
    for logs in ((as_text, moments), (moments, as_text), (as_text, as_text)):
        (found,) = attribute_figures(*logs, said).attributes
        assert (found.level, found.kind, found.tv) == ("event" if declared else "case", "date", 0.0)
