"""What an audit of the mechanisms from the outside comes to: the sound one stands, the published one falls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import libra
from libra import example
from libra.engines import polars
from libra.measures.audit.canaries import FREQUENT, LONG, PERSON, SLOW, THRESHOLD, UNIQUE

SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "public labels": {"labels": "public"},
    "a subsample": {"gamma": 0.5},
    "nearest": {"tail": "nearest"},
}
PATIENTS = replace(libra.read(example.path()), individual="concept:name")
OF_A_PERSON: dict[str, Any] = {"epsilon": 1.0, "delta": 0.2, "budget": "control=0.95", "canary": [PERSON], "time_limit": 3000}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_sound_mechanism_is_not_refuted(setting: str) -> None:
    parameters = SETTINGS[setting]
    found = libra.audit(example.path(), epsilon=2.0, delta=0.05, runs=300, time_limit=3000, seed=1, **parameters)
    assert found.claim.epsilon == 2.0
    assert {FREQUENT, UNIQUE, LONG, SLOW, PERSON} <= {finding.canary for finding in found.findings}
    assert not found.refuted


@pytest.mark.slow
@pytest.mark.parametrize("most_cases", [1, 2])
def test_a_person_with_several_cases_is_protected_where_individuals_are(most_cases: int) -> None:
    """At the claim itself, not at what would be left of it for three cases."""
    found = libra.audit(PATIENTS, runs=1000, seed=1, most_cases=most_cases, **OF_A_PERSON)
    assert found.findings[0].claim.epsilon == 1.0
    assert not found.refuted


@pytest.mark.slow
def test_the_audit_notices_if_all_cases_of_a_person_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polars, "drawn_cases", lambda individual, *_: np.arange(len(individual)))
    assert libra.audit(PATIENTS, runs=1000, seed=1, most_cases=1, **OF_A_PERSON).refuted


def test_the_published_mechanism_is_refuted_by_a_case_at_the_threshold_of_clipping() -> None:
    found = libra.audit(example.path(), mechanism="libra2022", runs=600, canary=[THRESHOLD], time_limit=3000, seed=1)
    (finding,) = found.findings
    assert found.claim.source == "implied by what its authors claim"
    assert found.refuted
    assert finding.bound.other_hits == 0  # exact counts: it cannot happen without the case
    assert finding.epsilon_low > 3


def test_the_published_mechanism_is_refuted_without_clipping_too() -> None:
    """By its copies of real times: a case at the end of the range shows."""
    found = libra.audit(example.path(), mechanism="libra2022", runs=800, canary=[SLOW], time_limit=3000, seed=1)
    assert found.refuted
