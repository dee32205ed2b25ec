"""What audits of the mechanisms of other authors come to: what is proved of them stands, what does not hold falls."""

from __future__ import annotations

from typing import Any

import pytest

import libra
from libra import example
from libra.measures.audit.canaries import ACTIVITY, LONG, PERSON, SLOW, THRESHOLD, UNIQUE

TREE: dict[str, Any] = {"prune": 3, "max_length": 10}  # the logs of an audit have some dozens of cases
STANDING: dict[str, dict[str, Any]] = {
    "travas": {"mechanism": "travas", "runs": 1_000},
    "travas with times": {"mechanism": "travas", "times": "model", "runs": 200},
    "prefix-laplace, split": {"mechanism": "prefix-laplace", "split_budget": True, "prune": 20, "max_length": 4, "runs": 600},
}
FALLING: dict[str, dict[str, Any]] = {
    "prefix-laplace: a case counts at every level": {"mechanism": "prefix-laplace", "canary": [THRESHOLD], "runs": 500, **TREE},
    "sacofa: relations of the raw log": {"mechanism": "sacofa", "canary": [LONG], **TREE},
    "pripel: domains of the raw log": {"mechanism": "pripel", "canary": [SLOW], **TREE},
    "amun: a real trace shows": {"mechanism": "amun", "canary": [UNIQUE]},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
def test_what_is_proved_is_not_refuted(name: str) -> None:
    found = libra.audit(example.path(), epsilon=1.0, delta=0.05, time_limit=3000, seed=1, **STANDING[name])
    assert (found.claim.epsilon, found.claim.source) == (1.0, "proved by Libra")
    assert {UNIQUE, LONG, PERSON} <= {finding.canary for finding in found.findings}
    assert not found.refuted


@pytest.mark.slow
@pytest.mark.parametrize("name", FALLING)
def test_what_is_claimed_is_refuted(name: str) -> None:
    """At ten times the delta that anyone would claim, with the epsilon that their authors claim."""
    found = libra.audit(example.path(), epsilon=1.0, delta=0.01, time_limit=3000, seed=1, **{"runs": 200} | FALLING[name])
    assert found.refuted
    assert found.findings[0].epsilon_low > 1.2


@pytest.mark.slow
def test_the_audit_would_notice_if_a_label_of_one_case_showed() -> None:
    """TraVaS says that no label is public: an audit of it tries a case with a label of its own."""
    found = libra.audit(
        example.path(), mechanism="travas", epsilon=1.0, delta=0.05, runs=400, canary=[ACTIVITY], time_limit=3000, seed=1
    )
    assert [finding.canary for finding in found.findings] == [ACTIVITY]
    assert not found.refuted
