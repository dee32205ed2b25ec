"""With a column that says whose case is whose, it is individuals who are protected, and everything says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import libra
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.measures.audit.canaries import Case, log_of_cases
from libra.mechanisms.libra import Libra
from libra.privacy.accounting import delta_of_ledger
from libra.release import Release

HOUR = 3_600_000_000


def _visits(persons: int, visits: int) -> EventLog:
    """As many persons, each with so many visits."""
    cases = [
        Case(("arrive", "see doctor", "leave"), tuple(HOUR * (24 * n + step) for step in range(3)), person=f"p{n % persons}")
        for n in range(persons * visits)
    ]
    return log_of_cases(cases, individuals=True)


def test_of_each_individual_one_case_counts() -> None:
    log = _visits(persons=400, visits=5)
    released = Libra(epsilon=2.0, delta=1e-3).anonymize(log, Randomness(seed=1))
    assert 370 < released.log.n_cases < 430
    assert released.parameters["most_cases"] == 1
    assert released.guarantee.unit == "one individual, with all cases, added or removed"
    assert "Of each individual, one case counted, drawn at random" in released.guarantee.assumptions[-1]
    assert not any("several cases" in caveat for caveat in released.guarantee.caveats)
    assert any("The promise is for individuals as a whole" in note for note in released.notes)


def test_more_cases_can_count_and_take_more_noise() -> None:
    log = _visits(persons=400, visits=5)
    released = Libra(epsilon=2.0, delta=1e-3, most_cases=3).anonymize(log, Randomness(seed=1))
    assert 1100 < released.log.n_cases < 1300
    one, three = Libra(epsilon=2.0, delta=1e-3, most_cases=1).plan, Libra(epsilon=2.0, delta=1e-3, most_cases=3).plan
    assert one.calibration == Libra(epsilon=2.0, delta=1e-3).plan.calibration
    assert three.mu_times < one.mu_times / 3
    assert three.calibration.least_count > 3 * one.calibration.least_count
    assert "up to 3 cases" in released.guarantee.assumptions[-1]


@pytest.mark.parametrize("most", [None, 1, 4])
def test_the_certificate_of_individuals_holds(most: int | None, tmp_path: Path) -> None:
    released = libra.anonymize(_visits(persons=200, visits=4), epsilon=3.0, delta=1e-3, most_cases=most)
    released.write(tmp_path / "log.csv", certificate=tmp_path / "log.json")
    verified = libra.verify(tmp_path / "log.json", tmp_path / "log.csv")
    assert verified.ok, [check for check in verified.checks if not check.ok]


@pytest.mark.parametrize("other", [{"gamma": 0.5}, {"subsamples": 2, "gamma": 0.9}, {"labels": "public"}, {"tail": "nearest"}])
def test_several_cases_go_together_with_private_labels_and_subsamples(other: dict[str, Any], tmp_path: Path) -> None:
    made = Libra(epsilon=6.0, delta=1e-3, most_cases=3, **other)
    released = Release.of(made.anonymize(_visits(persons=400, visits=5), Randomness()))
    assert released.ledger is not None
    assert 0.5e-3 < delta_of_ledger(made.plan.spent(), 6.0) <= 1e-3
    assert delta_of_ledger(released.ledger, 6.0) <= 1e-3
    assert 1000 < released.log.n_cases < 1400, "as many as count, whatever the subsample"
    released.write(tmp_path / "log.csv", certificate=tmp_path / "log.json")
    assert libra.verify(tmp_path / "log.json", tmp_path / "log.csv").ok


def test_a_log_without_cases_is_anonymized_all_the_same(tmp_path: Path) -> None:
    table = tmp_path / "visits.csv"
    table.write_text("case,activity,timestamp,patient\n", encoding="utf-8")
    released = libra.anonymize(table, individual="patient", epsilon=1.0)
    assert released.guarantee.unit == "one individual, with all cases, added or removed"


def test_a_number_of_cases_without_individuals_is_refused() -> None:
    log = log_of_cases([Case(("arrive",), (0,))] * 3)
    with pytest.raises(UsageError, match="Name it with --individual"):
        Libra(most_cases=2).anonymize(log, Randomness())
    for wrong in (0, -1, 1001, 1.5, True):
        with pytest.raises(UsageError, match="cases of an individual"):
            Libra(most_cases=wrong)  # type: ignore[arg-type]  # as somebody might say it
