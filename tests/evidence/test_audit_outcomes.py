"""What an audit of the mechanisms from the outside comes to: the sound one stands, the published one falls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import libra
from libra import example
from libra.engines import polars
from libra.measures.audit import NAMES, Finding
from libra.measures.audit.canaries import FREQUENT, LONG, PERSON, SLOW, THRESHOLD, UNIQUE
from libra.measures.intervals import clopper_pearson

USUAL = (FREQUENT, UNIQUE, LONG, SLOW, PERSON)
SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {"canary": USUAL},
    "as it is, other canaries": {"canary": [name for name in NAMES if name not in USUAL]},
    "a subsample": {"gamma": 0.5, "canary": USUAL},
}
PATIENTS = replace(libra.read(example.path()), individual="concept:name")
# With every edge, a person who counts too often shows in half as many runs.
OF_A_PERSON: dict[str, Any] = {"epsilon": 1.0, "delta": 0.2, "budget": "control=0.95", "edges": "all"}
OF_A_PERSON |= {"canary": [PERSON], "time_limit": 3000}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_sound_mechanism_is_not_refuted(setting: str) -> None:
    """With so few canaries and so small an epsilon that each case alone could refute it.

    Public labels and the nearest variants are audited from the inside, where more shows: test_inside_audit.py.
    """
    found = libra.audit(example.path(), epsilon=1.0, delta=0.05, runs=400, time_limit=3000, seed=1, **SETTINGS[setting])
    assert found.claim.epsilon == 1.0
    assert {finding.canary for finding in found.findings} == set(SETTINGS[setting]["canary"])
    assert [finding.canary for finding in found.findings if finding.cases == 1 and not _could_refute(finding)] == []
    assert not found.refuted


def _could_refute(finding: Finding) -> bool:
    """Whether an event that came in all runs on one side, and in none on the other, would have refuted the claim."""
    bound = finding.bound
    p_low, _ = clopper_pearson(bound.runs, bound.runs, finding.mistaken / 2)
    _, q_high = clopper_pearson(0, bound.other_runs, finding.mistaken / 2)
    return replace(bound, p_low=p_low, q_high=q_high).epsilon(finding.claim.delta) > finding.claim.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("most_cases", [1, 2])
def test_a_person_with_several_cases_is_protected_where_individuals_are(most_cases: int) -> None:
    """At the claim itself, not at what would be left of it for ten cases."""
    found = libra.audit(PATIENTS, runs=200, seed=1, most_cases=most_cases, **OF_A_PERSON)
    assert found.findings[0].claim.epsilon == 1.0
    assert _could_refute(found.findings[0])
    assert not found.refuted


@pytest.mark.slow
def test_the_audit_notices_if_all_cases_of_a_person_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polars, "drawn_cases", lambda individual, *_: np.arange(len(individual)))
    assert libra.audit(PATIENTS, runs=200, seed=1, most_cases=1, **OF_A_PERSON).refuted


def test_the_published_mechanism_is_refuted_by_a_case_at_the_threshold_of_clipping() -> None:
    found = libra.audit(example.path(), mechanism="libra2022", runs=320, canary=[THRESHOLD], time_limit=3000, seed=1)
    (finding,) = found.findings
    assert found.claim.source == "implied by what its authors claim"
    assert found.refuted
    assert finding.bound.other_hits == 0  # exact counts: it cannot happen without the case
    assert finding.epsilon_low > 3


def test_the_published_mechanism_is_refuted_without_clipping_too() -> None:
    """By its copies of real times: a case at the end of the range shows."""
    found = libra.audit(example.path(), mechanism="libra2022", runs=400, canary=[SLOW], time_limit=3000, seed=1)
    assert found.refuted
