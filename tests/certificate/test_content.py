"""What the file itself says is compared with its certificate: a hidden seed, and times that nobody counted."""

from __future__ import annotations

import json
from pathlib import Path

from some_certificates import files, with_checksum

from libra.certificate.content import content
from libra.certificate.verify import verify
from libra.mechanisms.libra.releases import RELEASES, TIMES
from libra.mechanisms.release import counted
from libra.privacy.ledger import Ledger


def test_a_log_goes_with_its_certificate() -> None:
    for name in ("libra", "libra2022", "seeded"):
        certificate, log = files(name)
        assert content(json.loads(certificate.read_text(encoding="utf-8")), log).ok


def test_a_seed_that_a_certificate_hides_is_seen_in_the_file(tmp_path: Path) -> None:
    honest, (seeded, log) = files("libra")[0], files("seeded")
    document = json.loads(honest.read_text(encoding="utf-8"))
    output = json.loads(seeded.read_text(encoding="utf-8"))["output"]
    forged = tmp_path / "certificate.json"
    forged.write_text(json.dumps(with_checksum(document | {"output": output})), encoding="utf-8")
    found = verify(forged, log)
    assert [check.name for check in found.checks if not check.ok] == ["content"]
    assert "drawn with a seed" in found.checks[-1].found
    assert not found.promised


def test_another_number_of_cases_than_the_certificate_says_is_seen_in_the_file() -> None:
    certificate, log = files("drop")
    document = json.loads(certificate.read_text(encoding="utf-8"))
    found = content(document | {"cases": document["cases"] + 1}, log)
    assert not found.ok
    assert f"it has {document['cases']:,} cases, and the certificate says {document['cases'] + 1:,}" in found.found


def test_times_that_a_ledger_does_not_count_are_seen_in_the_file(tmp_path: Path) -> None:
    certificate, log = files("drop")
    document = json.loads(certificate.read_text(encoding="utf-8"))
    ledger = Ledger.from_dict(document)
    entries = tuple(entry for entry in ledger.entries if RELEASES[entry.purpose].topic not in TIMES)
    smaller = Ledger(entries, ledger.rate, ledger.times, ledger.most_cases, ledger.asked)
    forged = tmp_path / "certificate.json"
    forged.write_text(json.dumps(with_checksum(document | counted(smaller, 1e-3))), encoding="utf-8")
    found = verify(forged, log)
    assert [check.name for check in found.checks if not check.ok] == ["content"]
    assert "the ledger counts none" in found.checks[-1].found


def test_the_verdict_names_who_is_protected() -> None:
    assert "-differential privacy for one case. " in verify(*files("libra")).verdict
    assert "-differential privacy for one individual. " in verify(*files("individuals")).verdict
