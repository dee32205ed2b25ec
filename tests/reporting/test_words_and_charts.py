"""The charts of a report: whose hours they show, what is left of a budget, and units that people read."""

from __future__ import annotations

from typing import Any

from parsed_page import ParsedPage

import libra
from libra.example.simulate import simulate
from libra.reporting.build import report_of
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


def test_one_bin_and_one_point_are_told_and_not_drawn() -> None:
    log = simulate(cases=1)
    page = ParsedPage(report_of(log, log).html)
    captions = {figure.text.strip().partition("\n")[0]: figure for figure in page.named("figure")}
    arrivals = next(figure for caption, figure in captions.items() if caption.startswith("Cases that begin"))
    assert "All begin in one day." in arrivals.text
    assert "Median: " in captions["Events in a case"].text
    drawn = [element.attributes["aria-label"] for element in page.named("svg") if "aria-label" in element.attributes]
    assert not [label for label in drawn if label.startswith(("Cases that begin", "Events in a case"))]
