"""What an audit found, for people and for JSON; computed from the cases of a log and therefore confidential.

`outcome_of` tells what audits found when this version was made: `make audit` writes known.json and docs/audit-results.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from libra.measures.audit.events import OVERSPEND, POWER, Bound, runs_needed
from libra.mechanisms.mechanism import HOMES, mechanism
from libra.privacy.gaussian import LARGEST_EXPONENT

FORM = ("tail", "private_labels", "split_budget", "times", "query", "trace_noise", "anonymizer", "repeats", "gamma", "subsamples")


@dataclass(frozen=True)
class Claim:
    """The claim under test, and whose it is: for one case, or for one individual with all cases."""

    epsilon: float
    delta: float
    source: str
    of_individuals: bool = False

    def of_group(self, size: int) -> Claim:
        """What follows for so many cases of somebody, one by one; the same where individuals are protected."""
        if self.of_individuals:
            return self
        delta = self.delta * math.expm1(min(size * self.epsilon, LARGEST_EXPONENT)) / math.expm1(self.epsilon)
        return Claim(size * self.epsilon, min(delta, 1.0), self.source)


@dataclass(frozen=True)
class Finding:
    """What one canary of so many cases proved about what is claimed for so many."""

    canary: str
    cases: int
    claim: Claim
    event: str  # the telling one, in words
    likelier_with: bool  # whether the event is likelier with the canary
    bound: Bound  # what fresh runs say about the event
    mistaken: float  # how likely it is, at most, that this bound is wrong

    @property
    def epsilon_low(self) -> float:
        """The epsilon that was proved, at the claimed delta."""
        return self.bound.epsilon(self.claim.delta)

    @property
    def delta_low(self) -> float:
        """The delta that was proved, at the claimed epsilon."""
        return self.bound.delta(self.claim.epsilon)

    @property
    def refutes(self) -> bool:
        """Whether that is more than was claimed."""
        return self.epsilon_low > self.claim.epsilon

    @property
    def times(self) -> tuple[str, str]:
        """How often the event came with the canary, and without it, in words."""
        bound = self.bound
        likelier, other = f"{bound.hits:,} of {bound.runs:,}", f"{bound.other_hits:,} of {bound.other_runs:,}"
        return (likelier, other) if self.likelier_with else (other, likelier)

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return asdict(self) | {"epsilon_low": self.epsilon_low, "delta_low": self.delta_low, "refutes": self.refutes}


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit: what claim was tested, what each canary proved, and how much would be needed to prove more."""

    mechanism: str
    parameters: Mapping[str, Any]
    claim: Claim  # for one case
    findings: tuple[Finding, ...]  # the most telling first
    runs: int
    seconds: float
    mistaken: float  # how likely it is, at most, that a true claim is refuted
    notes: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether the claim does not hold."""
        return any(finding.refutes for finding in self.findings)

    @property
    def epsilon_low(self) -> float:
        """The largest epsilon that was proved for whom the claim is about."""
        return max((finding.epsilon_low for finding in self.findings if finding.claim == self.claim), default=0.0)

    @property
    def runs_needed(self) -> int:
        """How many runs a side would find an epsilon that is a quarter more than claimed, nine times of ten, at best."""
        mistaken = max((finding.mistaken for finding in self.findings), default=self.mistaken)
        return runs_needed(self.claim.epsilon, self.claim.delta, mistaken)

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        return {
            "document": "Libra audit",
            "confidential": "computed from cases of the log",
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "claim": asdict(self.claim),
            "refuted": self.refuted,
            "epsilon_low": self.epsilon_low,
            "mistaken": self.mistaken,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "needed": {"runs_a_side": self.runs_needed, "overspend": OVERSPEND, "power": POWER},
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }


def outcome_of(name: str, parameters: Mapping[str, Any]) -> str | None:
    """What audits found of a mechanism in the form that these parameters give it; None where none was made.

    Example:
        >>> outcome_of("libra2022", {"alpha": 2.0}), outcome_of("libra2022", {"anonymizer": "travas"})
        ('refuted', None)
    """
    if name not in HOMES:
        return None
    form = form_of(name, parameters)
    found = [one["refuted"] for one in _known() if one["mechanism"] == name and one["form"] == form]
    return None if not found else "refuted" if any(found) else "not refuted"


def form_of(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What these parameters make of a mechanism, budgets and sizes aside."""
    made = mechanism(name, parameters)
    return {field: getattr(made, field) for field in FORM if hasattr(made, field)}


@cache
def _known() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(files("libra.measures.audit").joinpath("known.json").read_text(encoding="utf-8"))
    return found
