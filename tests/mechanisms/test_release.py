"""A release writes itself and its certificate: dated, with its version, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from some_cases import COUNTS, log_of

from libra import __version__
from libra._system.randomness import Randomness
from libra.certificate.document import checksum, write_certificate
from libra.errors import InputError, UsageError
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.mechanisms.libra2022 import Libra2022
from libra.privacy.guarantee import Guarantee
from libra.release import Release


@pytest.fixture
def release() -> Release:
    """The release of a small log, from a seed."""
    return Release.of(Libra2022().anonymize(log_of(COUNTS), Randomness(seed=1)))


def test_a_certificate_says_by_what_and_when_it_was_issued(release: Release) -> None:
    before = datetime.now(UTC).date()
    certificate = release.certificate()
    assert before <= date.fromisoformat(certificate["issued"]) <= datetime.now(UTC).date()
    assert len(certificate["issued"]) == 10
    assert certificate["version"] == __version__
    assert (certificate["document"], certificate["mechanism"]) == ("Libra certificate", "libra2022")
    assert certificate["contents"] == "case ids made anew, activities, timestamps; no attribute and no header of the original"
    assert certificate["guarantee"] == release.guarantee.to_dict() | {"seeded": True}


def test_the_custodians_document_has_what_the_certificate_withholds(release: Release) -> None:
    document = release.to_dict()
    assert document["document"] == "Libra release"
    assert document["confidential"] == {"clipping_threshold": 26}
    assert document["shortfall"] is None
    log = release.log
    assert document["released"] == {"cases": log.n_cases, "events": log.n_events, "variants": len(log.variants)}
    assert set(document) - set(release.certificate()) == {"released", "shortfall", "confidential"}
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_certificate_is_tied_to_the_file_by_its_fingerprint(release: Release, tmp_path: Path) -> None:
    assert release.write(tmp_path / "log.xes.gz", certificate=tmp_path / "log.json") == ()
    assert read(tmp_path / "log.xes.gz", ReadOptions()).n_cases == release.log.n_cases
    text = (tmp_path / "log.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    written = json.loads(text)
    content = (tmp_path / "log.xes.gz").read_bytes()
    output = {"file": "log.xes.gz", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert written == release.certificate() | {"format": 1, "output": output, "checksum": checksum(written)}


def test_without_a_name_no_certificate_is_written(release: Release, tmp_path: Path) -> None:
    release.write(str(tmp_path / "log.csv"))
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]


def test_a_certificate_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case,activity", encoding="utf-8")
    (tmp_path / "old.json").write_text("old", encoding="utf-8")
    for name in ("old.json", "new.json"):
        with pytest.raises(ValueError, match="JSON"):
            write_certificate({"epsilon": math.nan}, tmp_path / "log.csv", tmp_path / name)
    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == {
        "log.csv": "case,activity",
        "old.json": "old",
    }


def test_nothing_is_written_where_the_certificate_could_not_be(release: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        release.write(tmp_path / "log.csv", certificate=tmp_path / "none" / "log.json")
    with pytest.raises(UsageError, match="the certificate would replace the output"):
        release.write(tmp_path / "log.csv", certificate=tmp_path / "." / "log.csv")
    with pytest.raises(UsageError, match="cannot tell the format"):
        release.write(tmp_path / "log.docx", certificate=tmp_path / "log.json")
    assert list(tmp_path.iterdir()) == []


def test_where_the_certificate_fails_at_the_end_the_error_says_that_the_log_is_written(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise InputError("the disk is full, nothing was written", place="log.json", remedy="Free some space")

    monkeypatch.setattr("libra.release.write_certificate", full)
    with pytest.raises(
        InputError, match=r"full\. .*log\.csv is written, the certificate is not\. Delete the log and anonymize again"
    ) as said:
        release.write(tmp_path / "log.csv", certificate=tmp_path / "log.json")
    assert "nothing was written" not in str(said.value)
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]


def test_a_release_without_a_claim_says_so() -> None:
    made = Release(log_of(COUNTS), "libra", {"epsilon": 1.0}, Guarantee("proved", "s", "us", 1.0, 1e-5), seeded=False)
    assert made.certificate()["claimed"] is None
    assert made.to_dict()["claimed"] is None
    assert made.certificate()["guarantee"]["seeded"] is False
    assert (made.notes, made.shortfall, made.confidential) == ((), None, {})
