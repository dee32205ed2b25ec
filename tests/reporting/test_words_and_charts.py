"""The charts of a report: whose hours they show, what is left of a budget, and units that people read."""

from __future__ import annotations

from typing import Any

import libra
from libra.example.simulate import simulate
from libra.reporting.build import report_of
from libra.reporting.facts.aspects import aspects_of, words_of
from libra.reporting.facts.pair import Pair
from libra.reporting.words import budget_of


def test_hours_are_those_of_the_zone_that_was_asked_for() -> None:
    log = simulate(cases=200)
    assert "Hours in Asia/Kolkata." in libra.anonymize(log, time_zone="Asia/Kolkata").report().html
    assert "Hours in UTC." in report_of(log, log).html


def test_what_was_not_spent_is_shown() -> None:
    entry = {"purpose": "lengths of rare cases", "group": "tail", "share": 0.25}
    counts = {"purpose": "cases that follow each kept variant", "group": "kept", "share": 0.5}
    choice = {"purpose": "which variants are kept", "group": "all", "share": 0.1}
    document: dict[str, Any] = {"guarantee": {"kind": "proved"}, "ledger": [entry, counts, choice]}
    chart = budget_of(document)
    assert chart is not None
    assert [row[1:] for row in chart.rows] == [
        ("choice of what is shown", "10 %"),
        ("counts of kept variants", "50 %"),
        ("model of rare cases", "25 %"),
        ("not spent", "40 %"),
    ]
    assert budget_of(document | {"guarantee": {"kind": "claimed"}}) is None
    assert budget_of(None) is None


def test_figures_are_written_in_units_that_people_read() -> None:
    pair = Pair(simulate(cases=60), simulate(cases=50))
    aspects = {aspect.key: aspect for aspect in aspects_of(pair)}
    written = {key: words_of(aspect)(1.0) for key, aspect in aspects.items()}
    assert written == {
        **dict.fromkeys(("cases", "activities", "edges", "variants"), "100 %"),
        "lengths": "1 events",
        "step_durations": "factor 10",
        "case_durations": "1 h",
        "arrivals": "1 day",
    }
