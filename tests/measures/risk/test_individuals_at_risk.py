"""Where a certificate protects individuals, the attack on membership is one on individuals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

import libra
from libra.eventlog.log import EventLog
from libra.measures.audit.cases import PERSON, Case, log_of_cases
from libra.measures.risk.membership import play
from libra.privacy.randomness import Randomness

HOUR = 3_600_000_000


@dataclass(frozen=True)
class Kept:
    """A release of the log as it is."""

    log: EventLog


def _visits() -> EventLog:
    cases = [Case(("arrive", "leave"), (HOUR * n, HOUR * n + 60_000_000 * (n % 50)), person=f"p{n % 40}") for n in range(200)]
    return log_of_cases(cases, individuals=True)


def test_all_cases_of_somebody_are_members_or_none_is() -> None:
    seen: list[pl.Series] = []

    def anonymize(part: EventLog, random: Randomness) -> Kept:
        seen.append(part.cases[PERSON])
        return Kept(part)

    advantage, _ = play(_visits(), anonymize, Randomness(seed=1), rounds=5)
    assert all((persons.value_counts()["count"] == 5).all() for persons in seen)
    assert 60 < sum(map(len, seen)) / 5 < 140
    assert advantage.value == 1.0


def test_the_attack_takes_the_certificate_of_individuals(tmp_path: Path) -> None:
    log, paths = _visits(), (tmp_path / "log.csv", tmp_path / "log.json")
    libra.anonymize(log, epsilon=3.0, delta=1e-3).write(paths[0], certificate=paths[1])
    found = libra.measure(log, paths[0], risk=True, certificate=paths[1]).risk
    assert found is not None
    assert found.membership is not None
    assert not found.membership.exceeded
    without = log_of_cases([Case(("arrive", "leave"), (HOUR * n, HOUR * n + 1)) for n in range(50)])
    unsaid = libra.measure(without, paths[0], risk=True, certificate=paths[1]).risk
    assert unsaid is not None
    assert unsaid.membership is None
    assert any("--individual" in note for note in unsaid.notes)
