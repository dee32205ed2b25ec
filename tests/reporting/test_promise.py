"""The first answer of a report: "protected" is said of a proved guarantee that holds, and of nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import libra
from libra.certificate.check import Check, Verification
from libra.errors import InputError, UsageError
from libra.example.simulate import simulate
from libra.reporting.certified import certificate_of
from libra.reporting.promise import promise_of


def certificate(**parameters: Any) -> dict[str, Any]:
    return libra.anonymize(simulate(cases=100), **parameters).certificate()


@pytest.mark.parametrize(
    ("epsilon", "delta", "standing", "tone"),
    [
        (0.1, 1e-6, "proved", "good"),
        (1.0, 1e-4, "proved", "good"),
        (1.5, 1e-5, "proved", "fair"),
        (1.0, 1e-3, "proved", "fair"),
        (5.0, 1e-5, "proved", "fair"),
        (6.0, 1e-5, "proved", "poor"),
        (1.0, 0.02, "proved", "poor"),
        (20.0, 1e-5, "weak", "bad"),
    ],
)
def test_a_proved_guarantee_is_as_strong_as_its_figures(epsilon: float, delta: float, standing: str, tone: str) -> None:
    found = promise_of(certificate(epsilon=epsilon, delta=delta))
    assert (found.standing, found.tone) == (standing, tone)
    assert found.holds == (standing == "proved")
    assert (found.answer.startswith("No")) == (standing == "weak")


def test_nothing_is_promised_without_a_certificate() -> None:
    assert promise_of(None).standing == "unknown"
    assert not promise_of(None).holds


@pytest.mark.parametrize("failing", ["file", "checksum", "ledger"])
def test_a_certificate_that_fails_a_check_promises_nothing(failing: str) -> None:
    checks = (Check("structure", True, "Fine."), Check(failing, False, "It is another.", "It says nothing."))
    found = promise_of(certificate(), Verification(checks, "Not verified.", promised=False))
    assert (found.standing, found.holds, found.epsilon) == ("broken", False, "")
    assert "It is another." in found.sentence


def test_a_mechanism_that_cannot_be_checked_is_not_relied_on() -> None:
    checks = (Check("mechanism", False, "Unknown.", "Who knows."),)
    assert promise_of(certificate(), Verification(checks, "", promised=False)).standing == "unchecked"


def test_individuals_are_spoken_of_where_they_are_protected() -> None:
    log = simulate(cases=200)
    release = libra.anonymize(log.to_polars(), individual="case:concept:name", most_cases=1)
    found = promise_of(release.certificate())
    assert found.unit.startswith("one individual")
    assert "one individual" in found.sentence


def test_a_changed_certificate_is_found(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "certificate.json"
    libra.anonymize(simulate(cases=100)).write(log, certificate=path)
    document, verification = certificate_of(path, log)
    assert promise_of(document, verification).holds
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["guarantee"]["epsilon"] = 0.1
    path.write_text(json.dumps(changed), encoding="utf-8")
    for found in (certificate_of(path, log), certificate_of(path, None), certificate_of(changed, None)):
        assert promise_of(*found).standing == "broken"
    html = libra.report(None, log, certificate=path, public=True).html
    assert "its certificate does not hold" in html
    assert "differential privacy" not in html.partition('<section id="guarantee"')[2].partition("</section>")[0]


def test_another_file_is_found(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "certificate.json"
    libra.anonymize(simulate(cases=100)).write(log, certificate=path)
    log.write_text(log.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert promise_of(*certificate_of(path, log)).standing == "broken"


@pytest.mark.parametrize("document", [{}, {"document": "Libra certificate"}, {"document": "Libra release"}])
def test_what_is_no_certificate_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="not a certificate"):
        certificate_of(document, None)


def test_a_certificate_is_a_file_or_a_document() -> None:
    with pytest.raises(UsageError, match="certificate is a file"):
        certificate_of(7, None)  # type: ignore[arg-type]  # what a user may well do
