"""A changed figure is found: by the checksum and, where that was computed anew, by everything that the guarantee rests on."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from some_certificates import CLAIMED, PROVED, Place, changed, document, failed, files, leaves, numbers, others

from libra.certificate.verify import self_checks, verify
from libra.errors import InputError

# What somebody who computes the checksum anew may say otherwise: no promise and no figure follows from it.
FREE: dict[Place, str] = {
    ("version",): "which version it was; it counts where other checks fail",
    ("issued",): "the day",
    ("output", "file"): "the name that the file had",
    ("parameters", "cases"): "how many cases were generated: post-processing",
    ("parameters", "time_zone"): "whose hours were counted: public, and the same sensitivity",
    ("parameters", "resource_names"): "whether resources go by their names: the file shows it",
    ("parameters", "omega"): "when a case was relevant to libra2022",
    ("parameters", "signed_times"): "whether noisy times of libra2022 may be negative",
}
ALSO_FREE: dict[str, set[Place]] = {
    "paper": {("parameters", "delta")},  # the figures that it counts for are withheld
    "attributes of lists": {  # what the file itself shows: test_attributes.py
        ("parameters", "attributes", 0, "name"),
        ("parameters", "attributes", 1, "name"),
        *(("parameters", "attributes", 0, "values", place) for place in range(3)),
    },
}
OF_THE_FILE = {("output", "bytes"), ("output", "sha256"), ("cases",)}
ANY_PROVED = ("libra", "public labels", "nearest", "drop", "subsample", "attributes of lists", "counted once")


@pytest.mark.parametrize("name", [*PROVED, *CLAIMED])
def test_a_certificate_as_it_was_issued_holds(name: str) -> None:
    found = verify(*files(name))
    assert [check for check in found.checks if not check.ok] == []
    assert (found.ok, found.promised) == (True, name in PROVED)
    assert found.verdict.startswith("Consistent, not signed: " if name in PROVED else "Nothing is proved: ")
    assert {check.name for check in found.checks} >= {
        "structure",
        "checksum",
        "parameters",
        "figures",
        "words",
        "randomness",
        "file",
    }


@pytest.mark.parametrize("name", [*ANY_PROVED, *CLAIMED])
def test_any_change_of_a_number_is_found_by_the_checksum(name: str) -> None:
    issued = document(name)
    places = numbers(issued)
    assert len(places) > (40 if name in PROVED else 9)
    for path, value in places:
        for other in others(value):
            if path != ("format",) and other != value:
                first = list(islice(self_checks(changed(issued, path, other, anew=False)), 2))
                assert not all(check.ok for check in first), (path, other)


def test_another_format_is_not_read_at_all() -> None:
    certificate, log = files("libra")
    text = certificate.read_text(encoding="utf-8").replace('"format": 1', '"format": 2')
    other = certificate.with_name("format.json")
    other.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"format\.json: this certificate is of format 2, and this version of Libra knows 1"):
        verify(other, log)


@pytest.mark.parametrize("name", [*ANY_PROVED, *CLAIMED])
def test_whatever_the_guarantee_rests_on_is_found_though_the_checksum_is_computed_anew(name: str) -> None:
    issued = document(name)
    unnoticed = {
        path
        for path, value in leaves(issued)
        for other in others(value)
        if path not in OF_THE_FILE and path != ("checksum",) and other != value and not failed(changed(issued, path, other))
    }
    unnoticed = {path for path in unnoticed if path[0] != "expected"}  # not promised, and nobody can compute it anew
    assert unnoticed - set(FREE) == ALSO_FREE.get(name, set())


@pytest.mark.parametrize("name", ["libra", "libra2022"])
def test_what_is_free_to_say_is_told_as_such_for_a_reason(name: str) -> None:
    issued = document(name)
    there = dict(leaves(issued))
    said = {"issued": "2001-02-03", "version": "9.9", "time_zone": "Europe/Amsterdam"}
    for path in FREE:
        if path in there:
            other = said.get(str(path[-1])) or others(there[path])[0]
            assert failed(changed(issued, path, other)) == [], path


def test_rate_and_number_of_subsamples_are_those_that_were_asked_for() -> None:
    issued = document("subsamples")
    for path, other in ((("subsampling", "rate"), 0.25), (("subsampling", "times"), 2), (("parameters", "gamma"), 0.25)):
        assert "parameters" in failed(changed(issued, path, other))


@pytest.mark.parametrize("name", ["libra", "libra2022", "seeded"])
def test_every_finding_is_a_sentence(name: str) -> None:
    issued = document(name)
    wrong = [changed(issued, path, other) for path, value in leaves(issued) for other in others(value) if path[0] != "ledger"]
    for found in (issued, *wrong):
        for check in self_checks(found):
            told = check.found.removeprefix(issued["mechanism"])  # a name that stays as it is spelled
            assert (told[0].isupper() or told != check.found, told[-1], ".." in told) == (True, ".", False), check


def test_size_and_fingerprint_are_compared_with_the_file() -> None:
    certificate, log = files("libra")
    other = certificate.with_name("other.json")
    for path, value in ((("output", "bytes"), 12), (("output", "sha256"), "0" * 64)):
        write(other, changed(document("libra"), path, value))
        assert [check.name for check in verify(other, log).checks if not check.ok] == ["file"]


def write(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found), encoding="utf-8")


@pytest.mark.parametrize("place", [0, 1, 1000, -1])
def test_one_changed_byte_of_the_release_is_found(place: int) -> None:
    certificate, log = files("libra")
    content = bytearray(log.read_bytes())
    content[place] ^= 1
    other = log.with_name("one-byte.csv")
    other.write_bytes(content)
    found = verify(certificate, other)
    assert (found.ok, found.promised) == (False, False)
    assert found.verdict == "Not verified: file."
    (file,) = [check for check in found.checks if not check.ok]
    assert "its SHA-256 is" in file.found
    assert "bytes" not in file.found


@pytest.mark.parametrize("content", [lambda raw: raw[:-1], lambda raw: raw + b"\n", lambda _: b""])
def test_a_byte_less_or_more_is_found(content: Callable[[bytes], bytes]) -> None:
    certificate, log = files("libra")
    other = log.with_name("cut.csv")
    other.write_bytes(content(log.read_bytes()))
    (file,) = [check for check in verify(certificate, other).checks if not check.ok]
    assert (file.name, "bytes, and the one certified has" in file.found) == ("file", True)


def test_how_the_document_is_spelled_does_not_matter() -> None:
    certificate, log = files("libra")
    found = document("libra")
    other = certificate.with_name("spelled.json")
    text = json.dumps(dict(reversed(found.items())), ensure_ascii=False).replace(": 1.0,", ": 1,").replace("1e-05", "0.00001")
    other.write_text("\ufeff" + text, encoding="utf-8")
    assert verify(other, log).ok
