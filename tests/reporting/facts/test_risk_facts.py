"""Risk before and after: the figures of `libra measure --risk`, row by row, in the same words."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from logs_by_hand import log_of

from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.measures.risk import certified, risk_of_release
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.risk import RiskFacts, risk_of
from libra.reporting.facts.yardsticks import sample_of
from libra.reporting.numbers import of_hundred


def risk(original: EventLog, anonymized: EventLog) -> RiskFacts:
    found = risk_of(Pair(original, anonymized))
    assert found is not None
    return found


def test_rows_are_the_figures_of_measure() -> None:
    original, anonymized = simulate(cases=200), sample_of(simulate(cases=200), 150)
    found, expected = risk(original, anonymized), risk_of_release(original, anonymized)
    assert len(found.rows) == 17
    for row, before, after in zip(found.rows, expected.before.singled_out, expected.linkage, strict=True):
        assert (row.knowledge, row.events) == (before.knowledge, before.events) == (after.knowledge, after.events)
        assert row.essential == (row.knowledge in ("days", "variant"))
        assert (row.before, row.once) == (before.share.value, after.released.once.value)
        for matches, found_again, same in (
            (after.released, row.after, row.same),
            (after.by_chance, row.by_chance, row.same_by_chance),
        ):
            for told, of in ((found_again, matches.same_gaps_to_the_minute), (same, matches.same_activities)):
                assert told == (0.0 if of is None else matches.once.value * of.value)
        assert row.after <= row.same <= row.once
    assert found.membership is None
    assert found.notes == ()


def test_how_many_samples_were_drawn_is_told() -> None:
    log = simulate(cases=100)
    assert "From 5,000 samples: each share is within " in risk(log, log).about_singling_out


def test_whoever_gets_the_original_finds_what_they_found_before() -> None:
    log = simulate(cases=100)
    assert all(row.before == row.after for row in risk(log, log).rows)


def test_the_headline_says_what_the_same_knowledge_finds_before_and_after() -> None:
    log = simulate(cases=100)
    found = risk(log, log)
    (told,) = (row for row in found.rows if (row.knowledge, row.events) == ("days", 3))
    knows = "Of 100 cases, somebody who knows three events with their days finds"
    many = of_hundred(told.before)
    assert found.headline == f"{knows} {many} in the original and {many} in the anonymized log."
    assert found.linked.startswith(f"For {many} of 100 cases exactly one anonymized case fits.")
    assert found.about_copies.startswith("100 % of the released cases repeat")
    assert "shows nobody" in risk(log, empty_log(log)).headline
    assert "No case was released" in risk(log, empty_log(log)).about_copies


def test_individuals_are_told_as_such() -> None:
    log = simulate(cases=100)
    whose = pl.Series("person", [f"p{n // 2}" for n in range(100)])
    owned = replace(log, cases=log.cases.with_columns(whose), individual="person")
    found = risk(owned, log)
    assert "belong to one individual" in found.about_singling_out


def test_membership_is_attacked_where_the_mechanism_is_known() -> None:
    log = simulate(cases=60)
    told: list[tuple[int, int]] = []
    mechanism = certified({"mechanism": "travas", "parameters": {"epsilon": 1.0}, "guarantee": {"kind": "claimed"}})
    found = risk_of(Pair(log, log), mechanism, lambda done, total: told.append((done, total)))
    assert found is not None
    assert found.membership is not None
    assert found.about_membership is not None
    assert "A better attack may find more" in found.about_membership
    assert told


@pytest.mark.parametrize("anonymized", [[], [[("a", 0.0)]]])
def test_an_original_without_cases_has_no_risk(anonymized: list[list[tuple[str, float]]]) -> None:
    found = risk(log_of([]), log_of(anonymized))
    assert (found.rows, found.headline, found.about_singling_out) == ((), "", "")


def test_in_public_mode_there_is_none() -> None:
    assert risk_of(Pair(None, simulate(cases=20))) is None
