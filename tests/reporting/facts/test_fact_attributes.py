"""Attributes: how far they are filled, what was held back, and no value that singles somebody out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from logs_by_hand import HANDLING, log_of

from libra.eventlog.attributes import Attribute
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.measures import measure
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.tables import FEWEST_CASES, TOP, absent_of, attribute_names, attributes_of, released_names


def with_events(n: int, attributes: Mapping[str, Sequence[Any]]) -> EventLog:
    """A log of cases of one event each, with these attributes."""
    return log_of([[("a", float(at))] for at in range(n)], attributes=attributes)


def test_filled_is_the_share_of_events_and_of_cases(small_log: EventLog) -> None:
    rows = {row.name: row for row in attributes_of(Pair(small_log, small_log))}
    assert {name: row.filled_original for name, row in rows.items()} == pytest.approx(
        {"org:resource": 5 / 8, "cost": 5 / 8, "urgent": 1, "age": 2 / 3, "insurance": 1}
    )
    assert {row.name: (row.level, row.type) for row in rows.values()} == {
        "org:resource": ("event", "text"),
        "cost": ("event", "number"),
        "urgent": ("case", "yes or no"),  # in a column of events, and the same in each case
        "age": ("case", "whole number"),
        "insurance": ("case", "text"),
    }
    assert all(row.filled_anonymized == row.filled_original for row in rows.values())


def test_the_level_is_that_of_the_declaration_or_else_that_of_the_measure() -> None:
    columns: dict[str, list[Any]] = {
        "goal": ["car", "car", "boat"],
        "step": ["x", "y", "x"],
        "amount": [None, 5, 7],
        "org:resource": ["r", "r", "s"],
    }
    log = log_of([[("a", 0.0), ("b", 1.0)], [("b", 0.0)]], attributes=columns)
    for pair in (Pair(log, log), Pair(None, log)):
        found = {row.name: row.level for row in attributes_of(pair)}
        assert found == {"goal": "case", "step": "event", "amount": "case", "org:resource": "event"}
    assert {one.name: one.level for one in measure(log, log).attributes} == found
    declared = [
        Attribute("goal", "category", "event"),
        Attribute("step", "category", at="b"),
        Attribute("amount", "number", at="a"),
    ]
    rows = {row.name: row for row in attributes_of(Pair(log, log), declared)}
    assert {name: row.level for name, row in rows.items()} == found | {"goal": "event", "step": "case"}
    assert (rows["step"].filled_original, rows["amount"].filled_original, rows["goal"].filled_original) == (1, 0, 1)


def test_released_names_are_those_of_a_description(small_log: EventLog) -> None:
    names = ("case:age", "case:insurance", "org:resource", "cost", "urgent")
    assert sorted(released_names(small_log)) == sorted(names)
    assert released_names(with_events(2, {})) == ()
    instances = replace(with_events(2, {"x": ["a", "b"]}), instances="pair")
    assert released_names(instances) == ("x",)


def test_what_was_not_released_is_listed_without_values() -> None:
    original = simulate(cases=300)
    released = EventLog(original.events.select("@case", "concept:name", "time:timestamp"), original.cases.select("concept:name"))
    pair = Pair(original, released)
    rows = attributes_of(pair)
    assert rows
    assert all(row.filled_anonymized is None and row.values is None and row.filled_original for row in rows)
    assert {name for one in absent_of(pair) for name in one.names} == {row.name for row in rows}
    assert absent_of(Pair(None, released)) == ()
    assert attributes_of(Pair(None, released)) == ()


def test_released_attributes_come_first_and_the_list_ends() -> None:
    original = with_events(3, {f"x{n}": ["a", "b", "c"] for n in range(30)})
    released = with_events(3, {"x29": ["a", None, "c"]})
    rows = attributes_of(Pair(original, released))
    assert len(rows) == 20
    assert rows[0].name == "x29"
    assert rows[0].filled_anonymized == pytest.approx(2 / 3)
    assert len(attribute_names(Pair(original, released))) == 30


def test_values_that_few_cases_share_are_not_shown() -> None:
    names = ["Dr. Ali"] * FEWEST_CASES + ["Mrs. Bo"] * (FEWEST_CASES - 1)
    log = with_events(len(names), {"name": names})
    (row,) = attributes_of(Pair(log, log))
    assert row.values is not None
    assert row.values.names == ("Dr. Ali", "all others")
    assert row.values.original == row.values.anonymized == pytest.approx((5 / 9, 4 / 9))
    unique = with_events(9, {"name": [f"patient {n}" for n in range(9)]})
    assert attributes_of(Pair(unique, unique))[0].values is None


def test_many_events_of_one_case_are_not_many_cases() -> None:
    log = log_of([[("a", float(at)) for at in range(50)]], attributes={"name": ["Mrs. Bo"] * 50})
    assert attributes_of(Pair(log, log))[0].values is None


def test_the_most_frequent_values_are_shown_with_their_shares_in_both_logs() -> None:
    words = [letter for place, letter in enumerate("abcdefghijkl") for _ in range(30 - place)]
    log, other = with_events(len(words), {"word": words}), with_events(4, {"word": ["b", "b", "z", None]})
    (row,) = attributes_of(Pair(log, other))
    assert row.values is not None
    assert row.values.names == (*"abcdefgh", "all others")
    assert len(row.values.names) == TOP + 1
    assert row.values.anonymized == pytest.approx((0, 2 / 3, 0, 0, 0, 0, 0, 0, 1 / 3))
    assert row.values.original is not None
    assert row.values.original[0] == pytest.approx(30 / len(words))
    assert sum(row.values.original) == pytest.approx(1)


def test_numbers_are_in_bins_of_about_equally_many() -> None:
    log = with_events(1000, {"cost": [float(n) for n in range(1000)]})
    (row,) = attributes_of(Pair(log, with_events(2, {"cost": [50, None]})))
    assert row.values is not None
    assert row.values.original is not None
    assert len(row.values.names) == 10
    assert row.values.original == pytest.approx((0.1,) * 10, abs=0.002)
    assert row.values.anonymized[0] == 1
    assert "999" not in " ".join(row.values.names)
    assert row.values.names[0].startswith("below ")


def test_numbers_that_are_none_or_few_or_all_the_same_do_no_harm() -> None:
    odd = with_events(300, {"cost": [float("nan"), float("inf"), float("-inf")] * 100})
    assert attributes_of(Pair(odd, odd))[0].values is None
    same = with_events(300, {"cost": [7.0] * 300})
    values = attributes_of(Pair(same, same))[0].values
    assert values is not None
    assert values.original == (0.0, 1.0)


def test_attributes_of_other_types_are_not_compared() -> None:
    one, other = with_events(9, {"x": ["a"] * 9}), with_events(9, {"x": [1] * 9})
    row = attributes_of(Pair(one, other))[0]
    assert row.values is None
    assert row.filled_anonymized == 1


def test_an_attribute_may_be_called_anything() -> None:
    names = ("*", "^.*$", "value", "n", "cases")
    log = with_events(9, {name: ["a"] * 9 for name in names})
    rows = attributes_of(Pair(log, log))
    assert [row.name for row in rows] == list(names)
    assert all(row.values is not None and row.values.anonymized == (1.0, 0.0) for row in rows)


def test_attributes_of_an_empty_log() -> None:
    log = log_of(HANDLING, attributes={"cost": [1.0] * 14})
    empty = EventLog(log.events.clear(), log.cases.clear())
    (row,) = attributes_of(Pair(log, empty))
    assert row.filled_original == 1
    assert isinstance(log.events.schema["cost"], pl.Float64)


def timed(**columns: list[str]) -> EventLog:
    """Two cases of one event each, with these columns beside those of every log."""
    return with_events(2, columns)


def test_what_is_not_in_the_log_is_told_by_its_kind() -> None:
    bare = with_events(2, {})
    full = timed(
        **{"lifecycle:transition": ["Start", "complete"], "org:resource": ["r", "s"], "org:group": ["g", "g"], "cost": ["1", "2"]}
    )
    assert [(one.title, one.names) for one in absent_of(Pair(full, bare))] == [
        ("Start times", ("lifecycle:transition",)),
        ("Resources", ("org:resource", "org:group")),
        ("Attributes", ("cost",)),
    ]
    assert absent_of(Pair(full, full)) == absent_of(Pair(bare, full)) == ()


@pytest.mark.parametrize("released", ["start_timestamp", "lifecycle:transition"])
def test_start_times_are_there_in_either_form(released: str) -> None:
    original = timed(**{"lifecycle:transition": ["start", "complete"], "start_timestamp": ["a", "b"]})
    assert absent_of(Pair(original, timed(**{released: ["a", "b"]}))) == ()


def test_a_lifecycle_without_starts_is_an_attribute_like_others() -> None:
    (absent,) = absent_of(Pair(timed(**{"lifecycle:transition": ["complete"] * 2, "cost": ["1", "2"]}), with_events(2, {})))
    assert (absent.title, absent.names) == ("Attributes", ("cost", "lifecycle:transition"))
