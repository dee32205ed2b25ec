"""The outcome of an audit: what follows for groups, what is refuted, and all of it ready for JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.measures.audit.canaries import FREQUENT, LONG, PERSON
from libra.measures.audit.events import Bound, runs_needed
from libra.measures.audit.outcome import Audit, Claim, Finding

CLAIM = Claim(1.0, 0.01, "by hand")
NOTHING = Bound(0, 100, 0, 100, 0.0, 0.05)
ENOUGH = Bound(90, 100, 0, 100, 0.8, 0.05)
FIELDS = {
    *("document", "confidential", "mechanism", "parameters", "claim", "refuted", "epsilon_low", "mistaken", "runs", "seconds"),
    *("needed", "findings", "notes"),
}


def finding(bound: Bound, canary: str = FREQUENT, cases: int = 1, mistaken: float = 0.01) -> Finding:
    return Finding(canary, cases, CLAIM.of_group(cases), "something happens", True, bound, mistaken)


def outcome(*findings: Finding) -> Audit:
    return Audit("toy", {"b": 2.0}, CLAIM, findings, runs=400, seconds=1.26, mistaken=0.01, notes=("a note",))


@given(st.floats(1e-6, 100.0), st.floats(1e-9, 0.5), st.integers(1, 30))
def test_a_group_gets_what_going_one_by_one_gives(epsilon: float, delta: float, size: int) -> None:
    total = 0.0
    for _ in range(size):
        total = math.exp(epsilon) * total + delta
    group = Claim(epsilon, delta, "by hand").of_group(size)
    assert group.epsilon == pytest.approx(size * epsilon)
    assert group.delta == pytest.approx(min(total, 1.0))
    assert group.source == "by hand"


def test_individuals_that_are_protected_are_protected_with_all_their_cases() -> None:
    claim = Claim(1.0, 0.01, "by hand", of_individuals=True)
    assert claim.of_group(3) == claim


def test_only_more_than_was_claimed_refutes() -> None:
    at = 0.05 * math.e + 0.01
    more, less = (Bound(1, 1, 1, 1, p_low, 0.05) for p_low in (at + 1e-6, at - 1e-6))
    assert finding(more).refutes
    assert not finding(less).refutes
    assert finding(more).delta_low > 0.01 > finding(less).delta_low
    exactly = Claim(ENOUGH.epsilon(0.01), 0.01, "by hand")
    assert not replace(finding(ENOUGH), claim=exactly).refutes


def test_how_often_an_event_came_is_told_by_side() -> None:
    bound = Bound(1_200, 1_500, 3, 400, 0.7, 0.05)
    assert finding(bound).times == ("1,200 of 1,500", "3 of 400")
    assert replace(finding(bound), likelier_with=False).times == ("3 of 400", "1,200 of 1,500")


def test_an_audit_is_refuted_by_any_finding() -> None:
    assert not outcome().refuted
    assert not outcome(finding(NOTHING)).refuted
    assert outcome(finding(NOTHING), finding(ENOUGH)).refuted


def test_the_epsilon_that_was_proved_is_the_largest_of_single_cases() -> None:
    of_person = finding(Bound(100, 100, 0, 100, 0.99, 0.001), PERSON, cases=3)
    assert of_person.epsilon_low > finding(ENOUGH).epsilon_low > 0
    assert outcome(of_person, finding(NOTHING), finding(ENOUGH)).epsilon_low == finding(ENOUGH).epsilon_low
    assert outcome(of_person).epsilon_low == outcome().epsilon_low == 0


def test_the_runs_that_are_needed_are_those_of_the_canary_that_most_runs_go_to() -> None:
    found = outcome(finding(NOTHING, LONG, mistaken=0.001), finding(NOTHING, mistaken=0.009))
    assert found.runs_needed == runs_needed(1.0, 0.01, 0.009)
    assert outcome().runs_needed == runs_needed(1.0, 0.01, 0.01)


def test_everything_is_ready_for_json() -> None:
    found = outcome(finding(ENOUGH), finding(NOTHING, PERSON, cases=3))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(document) == FIELDS
    assert document["claim"] == {"epsilon": 1.0, "delta": 0.01, "source": "by hand", "of_individuals": False}
    assert document["parameters"] == {"b": 2.0}
    assert document["seconds"] == 1.3
    assert document["needed"] == {"runs_a_side": found.runs_needed, "overspend": 1.25, "power": 0.9}
    first, second = document["findings"]
    assert (first["refutes"], second["refutes"]) == (True, False)
    assert (first["epsilon_low"], first["delta_low"]) == (finding(ENOUGH).epsilon_low, finding(ENOUGH).delta_low)
    assert first["bound"] == {"hits": 90, "runs": 100, "other_hits": 0, "other_runs": 100, "p_low": 0.8, "q_high": 0.05}
    assert second["claim"]["epsilon"] == 3.0
    assert document["notes"] == ["a note"]
    assert outcome().to_dict()["findings"] == []
