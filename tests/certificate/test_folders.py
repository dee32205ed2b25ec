"""A certificate of a folder: it is about all data files in it, their names and what they hold, and about nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from libra.certificate.document import fingerprint, write_certificate
from libra.certificate.verify import verify
from libra.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two data files, one of them in a folder of its own, and what Spark leaves beside them."""
    made = tmp_path / "released"
    (made / "more").mkdir(parents=True)
    (made / "part-0.csv").write_text("case,activity\n", encoding="utf-8")
    (made / "more" / "part-1.csv").write_text("1,a\n", encoding="utf-8")
    for name in ("_SUCCESS", ".part-0.csv.crc"):
        (made / name).touch()
    return made


def test_the_size_is_that_of_all_data_files(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    assert fingerprint(folder, lambda done, total: seen.append((done, total)))["bytes"] == 18
    assert seen[-1] == (18, 18)


def test_a_copy_is_the_same(folder: Path, tmp_path: Path) -> None:
    assert fingerprint(Path(shutil.copytree(folder, tmp_path / "elsewhere"))) == fingerprint(folder)


def test_what_spark_leaves_beside_the_data_does_not_count(folder: Path) -> None:
    before = fingerprint(folder)
    (folder / "_SUCCESS").unlink()
    (folder / "_logs").mkdir()
    (folder / "_logs" / "part-2.csv").write_text("not data", encoding="utf-8")
    assert fingerprint(folder) == before


def test_every_change_to_the_data_shows(folder: Path) -> None:
    before = fingerprint(folder)["sha256"]
    first, second = folder / "part-0.csv", folder / "more" / "part-1.csv"
    found = {before}
    second.write_text("1,b\n", encoding="utf-8")
    found.add(fingerprint(folder)["sha256"])
    second.rename(folder / "part-1.csv")
    found.add(fingerprint(folder)["sha256"])
    (folder / "part-2.csv").touch()
    found.add(fingerprint(folder)["sha256"])
    first.unlink()
    found.add(fingerprint(folder)["sha256"])
    assert len(found) == 5


def test_a_folder_without_data_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(InputError, match="no data in this folder"):
        fingerprint(tmp_path)


def test_a_certificate_of_a_folder_knows_another_one(folder: Path, tmp_path: Path) -> None:
    from some_certificates import document

    certified = {
        name: value for name, value in document("libra").items() if name not in ("document", "format", "output", "checksum")
    }
    write_certificate(certified, folder, tmp_path / "certificate.json")
    checks = {check.name: check.ok for check in verify(tmp_path / "certificate.json", folder).checks}
    assert checks["structure"]
    assert checks["checksum"]
    assert checks["file"]
    (folder / "part-0.csv").write_text("case,activity,more\n", encoding="utf-8")
    checks = {check.name: check.ok for check in verify(tmp_path / "certificate.json", folder).checks}
    assert not checks["file"]
