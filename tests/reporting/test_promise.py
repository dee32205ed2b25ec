"""The first answer of a report: "protected" is said of a proved guarantee that holds, and of nothing else."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import libra
from libra.certificate.check import Check, Verification
from libra.certificate.document import checksum
from libra.errors import InputError, UsageError
from libra.example.simulate import simulate
from libra.reporting.promise import Checked, certificate_of, promise_of


def certificate(**parameters: Any) -> dict[str, Any]:
    return libra.anonymize(simulate(cases=100), **parameters).certificate()


def standing(checked: Checked) -> str:
    return promise_of(checked.document, checked.verification, tied=checked.tied).standing


@pytest.mark.parametrize(
    ("epsilon", "delta", "how", "tone"),
    [
        (0.1, 1e-6, "proved", "good"),
        (1.0, 1e-4, "proved", "good"),
        (1.5, 1e-5, "proved", "fair"),
        (1.0, 1e-3, "proved", "fair"),
        (1.0, 2e-3, "proved", "fair"),
        (3.0, 1e-5, "proved", "fair"),
        (3.5, 1e-5, "proved", "poor"),
        (1.0, 0.02, "weak", "bad"),
        (20.0, 1e-5, "weak", "bad"),
    ],
)
def test_a_proved_guarantee_is_as_strong_as_its_figures(epsilon: float, delta: float, how: str, tone: str) -> None:
    made = libra.anonymize(simulate(cases=1_000), epsilon=epsilon, delta=delta, cases=100)
    found = promise_of(made.certificate())
    assert (found.standing, found.tone) == (how, tone)
    assert found.holds == (how == "proved")
    assert (found.answer.startswith("No")) == (how == "weak")


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
    assert standing(certificate_of(path, log)) == "proved"
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["guarantee"]["epsilon"] = 0.1
    path.write_text(json.dumps(changed), encoding="utf-8")
    for given in (path, changed):
        assert standing(certificate_of(given, log)) == standing(certificate_of(given, None)) == "broken"
    html = libra.report(None, log, certificate=path, public=True).html
    assert "Its certificate does not hold" in html
    assert "differential privacy" not in html.partition('<section id="guarantee"')[2].partition("</section>")[0]


def test_another_file_is_found(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "certificate.json"
    libra.anonymize(simulate(cases=100)).write(log, certificate=path)
    log.write_text(log.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    document = json.loads(path.read_text(encoding="utf-8"))
    for given in (path, document):
        assert standing(certificate_of(given, log)) == "broken"


def test_a_seeded_certificate_is_called_seeded(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "certificate.json"
    libra.anonymize(simulate(cases=100), seed=1).write(log, certificate=path)
    assert standing(certificate_of(path, log)) == "seeded"


def test_what_is_not_compared_with_a_file_is_promised_of_no_log(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "certificate.json"
    original = simulate(cases=100)
    release = libra.anonymize(original)
    release.write(log, certificate=path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert standing(certificate_of(document, log)) == "proved"
    bare = release.certificate()
    for given, released in ((path, original), (document, original), (bare, log), (bare, original)):
        for public in (False, True):
            page = libra.report(original, released, certificate=given, public=public)
            assert page.standing == "untied"
            assert "protected by" not in page.html
            assert "PUBLIC" not in page.html


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("guarantee", "epsilon", 0.01),
        ("guarantee", "seeded", True),
        ("guarantee", "statement", "Yes: protected by a strong, proved guarantee"),
        ("parameters", "epsilon", 3.0),
    ],
)
def test_a_document_made_by_hand_is_checked_too(part: str, field: str, value: object) -> None:
    document = certificate()
    document[part] = document[part] | {field: value}
    assert standing(certificate_of(document, None)) in ("broken", "seeded")
    document["ledger"] = []
    assert standing(certificate_of(document, None)) == "broken"


def test_a_mechanism_from_elsewhere_counts_for_nothing(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "certificate.json"
    libra.anonymize(simulate(cases=100)).write(log, certificate=path)
    document = json.loads(path.read_text(encoding="utf-8"))
    quotes = "'" * 200_000
    document |= {"mechanism": "x" * 300_000, "parameters": {"time_zone": "No/Where", "epsilon": "much", "note": quotes}}
    document["checksum"] = checksum(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    page = libra.report(None, log, certificate=path, public=True)
    assert page.standing == "unchecked"
    assert len(page.html) < 500_000
    assert "NOT FOR RELEASE" in page.html


@pytest.mark.parametrize("document", [{}, {"document": "Libra release"}, {"document": "Libra certificate", "x": math.nan}])
def test_what_is_no_certificate_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="not a certificate"):
        certificate_of(document, None)


def test_what_lacks_the_fields_of_a_certificate_does_not_hold() -> None:
    assert standing(certificate_of({"document": "Libra certificate"}, None)) == "broken"


def test_a_certificate_is_a_file_or_a_document() -> None:
    with pytest.raises(UsageError, match="certificate is a file"):
        certificate_of(7, None)  # type: ignore[arg-type]  # what a user may well do
