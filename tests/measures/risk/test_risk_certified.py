"""From a certificate back to the mechanism: the same parameters, or an error that names the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import libra
from libra._system.randomness import Randomness
from libra.certificate.document import checksum
from libra.errors import InputError, UsageError
from libra.example.simulate import simulate
from libra.measures.risk import certified, risk_of_release
from libra.measures.risk.assess import ANOTHER_FILE
from libra.mechanisms.mechanism import mechanism

LOG = simulate(cases=60)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("libra", {}),
        ("libra", {"epsilon": 0.3, "delta": 1e-3, "tail": "nearest", "labels": "public", "time_zone": "Europe/Rome"}),
        ("libra", {"gamma": 0.5, "subsamples": 2, "cases": 40, "budget": "control=0.3,times=0.7"}),
        ("libra2022", {}),
        ("libra2022", {"alpha": 2, "subsamples": "paper", "trace_noise": False, "omega": 5.0}),
    ],
)
def test_the_mechanism_of_a_certificate_is_the_one_that_wrote_it(tmp_path: Path, name: str, parameters: dict[str, Any]) -> None:
    release = libra.anonymize(LOG, mechanism=name, **parameters)
    release.write(tmp_path / "out.csv", certificate=tmp_path / "certificate.json")
    made = mechanism(name, dict(release.parameters))
    for source in (tmp_path / "certificate.json", str(tmp_path / "certificate.json"), release.certificate()):
        assert certified(source).mechanism == made
    again = made.anonymize(LOG, Randomness(seed=1), lambda done, total: None)
    assert dict(again.parameters) == dict(release.parameters)


def test_a_certificate_about_another_file_is_noted(tmp_path: Path) -> None:
    release = libra.anonymize(LOG)
    release.write(tmp_path / "out.csv", certificate=tmp_path / "certificate.json")
    (tmp_path / "other.csv").write_bytes((tmp_path / "out.csv").read_bytes() + b"\n")
    named = certified(tmp_path / "certificate.json")
    assert named.is_of(tmp_path / "out.csv")
    assert not named.is_of(tmp_path / "other.csv")
    small = simulate(cases=10)
    assert ANOTHER_FILE in risk_of_release(small, small, certified=named, released=tmp_path / "other.csv").notes
    assert ANOTHER_FILE not in risk_of_release(small, small, certified=named, released=tmp_path / "out.csv").notes


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": None},
        {"mechanism": "abracadabra"},
        {"parameters": [1]},
        {"parameters": {"epsilon": "a lot"}},
        {"parameters": {"colour": 1}},
        {"parameters": {"anonymizer": "mine"}},
        {"guarantee": {"kind": "proved", "epsilon": "one", "delta": 1e-5}},
        {"guarantee": "much"},
    ],
)
def test_what_cannot_be_run_again_is_an_error_that_names_the_file(tmp_path: Path, change: dict[str, Any]) -> None:
    libra.anonymize(LOG).write(tmp_path / "out.csv", certificate=tmp_path / "certificate.json")
    document = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8")) | change
    (tmp_path / "changed.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"changed\.json") as caught:
        certified(tmp_path / "changed.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["libra", "libra2022"])
def test_a_certificate_that_was_edited_is_refused_as_a_file_and_as_a_document(tmp_path: Path, name: str) -> None:
    libra.anonymize(LOG, mechanism=name).write(tmp_path / "out.csv", certificate=tmp_path / "certificate.json")
    document = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert certified(document).bound == certified(tmp_path / "certificate.json").bound
    if name == "libra":
        document["guarantee"]["epsilon"] = document["parameters"]["epsilon"] = 0.01
    else:
        document["claimed"]["renyi_epsilon"] = 0.001
    (tmp_path / "edited.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"edited\.json: .*checksum.*libra verify"):
        certified(tmp_path / "edited.json")
    with pytest.raises(InputError, match="libra verify"):
        certified(document)
    with pytest.raises(InputError, match=r"figures.*libra verify"):
        certified(document | {"checksum": checksum(document)})


def test_a_document_of_what_json_does_not_have_is_refused(tmp_path: Path) -> None:
    libra.anonymize(LOG).write(tmp_path / "out.csv", certificate=tmp_path / "certificate.json")
    document = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match="structure"):
        certified(document | {"spent": document["spent"] | {"epsilon": float("nan")}})


def test_a_release_from_a_seed_can_be_attacked(tmp_path: Path) -> None:
    libra.anonymize(LOG, seed=1).write(tmp_path / "out.csv", certificate=tmp_path / "certificate.json")
    assert certified(tmp_path / "certificate.json").mechanism.name == "libra"


@pytest.mark.parametrize("given", [5, b"certificate.json", ["certificate.json"], True])
def test_what_is_neither_a_file_nor_a_document_is_a_usage_error(given: Any) -> None:
    with pytest.raises(UsageError, match=r"certificate is a file or what release\.certificate\(\) gives"):
        certified(given)
    with pytest.raises(UsageError, match="certificate is a file"):
        libra.measure(LOG, LOG, risk=True, certificate=given)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', '"words"'])
def test_what_is_no_certificate_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "no.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no\.json"):
        certified(tmp_path / "no.json")
    with pytest.raises(InputError, match=r"absent\.json"):
        certified(tmp_path / "absent.json")


def test_the_bound_of_others_is_what_they_claim_and_no_more() -> None:
    claims = {
        ("travas", 1.0): ("proved", 0.4621),
        ("sacofa", 1.0): ("claimed", 0.4621),
        ("amun", None): ("claimed", 0.4),
    }
    for (name, epsilon), (kind, advantage) in claims.items():
        asked = {"epsilon": epsilon} if epsilon else {"guessing_advantage": 0.2}
        bound = certified(libra.anonymize(simulate(cases=400), mechanism=name, **asked).certificate()).bound  # type: ignore[arg-type]  # as on a command line
        assert bound is not None
        assert bound.kind == kind
        assert bound.advantage == pytest.approx(advantage, abs=1e-4)
    named = libra.anonymize(simulate(cases=400), mechanism="libra2022", anonymizer="travas").certificate()
    assert certified(named).bound is None  # of which nothing is claimed
