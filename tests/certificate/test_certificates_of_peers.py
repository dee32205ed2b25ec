"""Certificates of the mechanisms of other authors: they hold as issued, and a changed figure is found."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from some_certificates import OF_OTHERS, PROVED_OF_OTHERS, changed, document, failed, files, leaves, others, with_checksum

import libra
from libra import example
from libra.certificate.content import content
from libra.certificate.verify import verify

FREE = {  # what somebody who computes the checksum anew may say otherwise: no promise and no figure follows from it
    ("version",),
    ("issued",),
    ("output", "file"),
    ("output", "bytes"),
    ("output", "sha256"),
    ("cases",),  # held by the file
    ("checksum",),
    ("parameters", "time_zone"),
    ("parameters", "omega"),
}
# What control flow was pruned at and how long traces may be is post-processing where it is said, and nobody's promise else.
ALSO_FREE: dict[str, set[tuple[str | int, ...]]] = {
    "split prefixes": {("parameters", "prune")},
    "split prefixes, all asked": {("parameters", "prune")},
    "prefixes": {("parameters", "prune")},
    "sacofa with times": {("parameters", "prune")},
    "pripel": {("parameters", "prune")},
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_a_certificate_as_it_was_issued_holds(name: str) -> None:
    found = verify(*files(name))
    assert [check for check in found.checks if not check.ok] == []
    assert (found.ok, found.promised) == (True, name in PROVED_OF_OTHERS)


@pytest.mark.parametrize("name", OF_OTHERS)
def test_whatever_the_guarantee_rests_on_is_found_though_the_checksum_is_computed_anew(name: str) -> None:
    issued = document(name)
    unnoticed = {
        path
        for path, value in leaves(issued)
        for other in others(value)
        if path not in FREE and other != value and not failed(changed(issued, path, other))
    }
    assert unnoticed <= ALSO_FREE.get(name, set())


@pytest.mark.parametrize("name", PROVED_OF_OTHERS)
def test_a_release_that_is_left_out_or_put_in_is_found(name: str) -> None:
    issued = document(name)
    for number in range(len(issued["ledger"])):
        for entries in (
            [*issued["ledger"][:number], *issued["ledger"][number + 1 :]],
            [*issued["ledger"][: number + 1], *issued["ledger"][number:]],
        ):
            other: dict[str, Any] = copy.deepcopy(issued) | {"ledger": entries}
            assert "ledger" in failed(with_checksum(other)), number


def test_times_other_than_placeholders_are_found() -> None:
    certificate, log = files("travas")
    text = log.read_text(encoding="utf-8").replace("00:03:00", "00:03:01", 1)
    moved = log.with_name("moved.csv")
    moved.write_text(text, encoding="utf-8")
    found = verify(certificate, moved)
    assert [check.name for check in found.checks if not check.ok] == ["file"]
    issued = document("travas")
    assert content(issued, log).ok
    assert not content(issued, moved).ok


def test_a_mechanism_cannot_pass_for_another() -> None:
    issued = document("prefixes")
    as_proved = changed(changed(issued, ("guarantee", "kind"), "proved"), ("parameters", "split_budget"), True)
    assert failed(as_proved)
    assert failed(changed(document("travas"), ("mechanism",), "libra"))
    assert failed(changed(document("amun"), ("mechanism",), "sacofa"))


def test_a_variant_of_fewer_cases_than_its_noise_lets_through_is_found(tmp_path: Path) -> None:
    log = files("travas")[1]
    rare = tmp_path / "rare.csv"
    rare.write_text(log.read_text(encoding="utf-8") + '"case-9999","Triage",2000-01-01T00:00:00+00:00\n', encoding="utf-8")
    assert content(document("travas"), log).ok
    assert "none is released" in content(document("travas"), rare).found


def test_a_trace_that_is_longer_than_its_levels_is_found(tmp_path: Path) -> None:
    query = {"mechanism": "prefix-laplace", "split_budget": True, "epsilon": 8.0, "prune": 60, "max_length": 8}
    release = libra.anonymize(example.path(), **query)  # type: ignore[arg-type]  # as on a command line
    assert np.diff(release.log.case_offsets).max() > 3
    release.write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")
    issued = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert content(issued, tmp_path / "log.csv").ok
    fewer = content(issued | {"ledger": issued["ledger"][:3]}, tmp_path / "log.csv")
    assert "levels of prefixes give shorter ones" in fewer.found
