"""The page on adding a mechanism is a package that can be installed and used: its code blocks are taken from it, and are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from libra import example

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "add-a-mechanism.md").read_text(encoding="utf-8")
NAME = "stable-histogram"


def _libra(site: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from libra.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *map(str, words)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), *sys.path]), "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages in which there is the one of the page."""
    source, target = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("site")
    for file, text in re.findall(r"^```(?:toml|python)\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (source / file).write_text(text, encoding="utf-8")
    assert sorted(file.name for file in source.iterdir()) == ["pyproject.toml", "stable_histogram.py"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True)
    return target


def test_it_anonymizes_a_log_and_is_labelled_as_claimed(site: Path, tmp_path: Path) -> None:
    files = (tmp_path / "out.csv", tmp_path / "certificate.json")
    answer = _libra(
        site, "anonymize", example.path(), "-o", files[0], "--mechanism", NAME, "--delta", "1e-4", "--certificate", files[1]
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "As claimed by its authors, and not checked by Libra: (1, 0.0001)-differential privacy" in answer.stdout
    assert files[0].read_text(encoding="utf-8").count("\n") > 1_000
    certificate = json.loads(files[1].read_text(encoding="utf-8"))
    assert certificate["parameters"] == {"epsilon": 1.0, "delta": 1e-4, "caution": 1.0}
    assert (certificate["guarantee"]["kind"], certificate["guarantee"]["epsilon"]) == ("claimed", None)
    assert certificate["claimed"] == {"epsilon": 1.0, "delta": 1e-4}
    verified = _libra(site, "verify", files[1], files[0])
    assert verified.returncode == 1
    assert 'cannot check certificates of "stable-histogram"' in verified.stdout + verified.stderr


def test_parameters_of_its_own_are_set_and_checked(site: Path, tmp_path: Path) -> None:
    words = ("anonymize", example.path(), "-o", tmp_path / "out.csv", "--mechanism", NAME, "--json")
    careful = _libra(site, *words, "--set", "caution=2.5")
    assert careful.returncode == 0
    assert json.loads(careful.stdout)["parameters"]["caution"] == 2.5
    for said, told in (("caution=0.5", "caution has to be a number from 1 up, not 0.5."), ("sides=6", "does not take sides")):
        refused = _libra(site, *words, "--set", said)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert told in refused.stderr


def test_it_is_compared_and_audited_like_any_other(site: Path, tmp_path: Path) -> None:
    words = ("--mechanisms", f"libra,{NAME}", "--epsilon", "1", "--seeds", "1", "--cache", tmp_path / "cache", "--json")
    compared = _libra(site, "compare", example.path(), *words)
    assert compared.returncode == 0, compared.stderr
    rows = {row["mechanism"]: row for row in json.loads(compared.stdout)["runs"]}
    assert set(rows) == {"libra", NAME}
    audited = _libra(
        site, "audit", example.path(), "--mechanism", NAME, "--runs", "200", "--processes", "2", "--seed", "1", "--json"
    )
    assert audited.returncode == 0, audited.stderr
    assert json.loads(audited.stdout)["mechanism"] == NAME


def test_it_can_anonymize_subsamples_of_the_published_algorithm(site: Path, tmp_path: Path) -> None:
    words = ("--mechanism", "libra2022", "--set", f"anonymizer={NAME}", "--gamma", "0.5", "--b", "0.5", "--json")
    answer = _libra(site, "anonymize", example.path(), "-o", tmp_path / "out.csv", *words)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["parameters"]["anonymizer"] == NAME


def test_without_the_package_there_is_no_such_mechanism(tmp_path: Path) -> None:
    answer = _libra(tmp_path, "anonymize", example.path(), "-o", tmp_path / "out.csv", "--mechanism", NAME)
    assert answer.returncode == 2
    assert 'There is no mechanism "stable-histogram". Available: libra, libra2022, amun' in answer.stderr
