"""The project around the code: what the README promises is in the Makefile, and every dependency has its reason."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_dependency_has_its_line_of_reason() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    stated = [*PROJECT["project"]["dependencies"], *(need for needs in extras.values() for need in needs)]
    names = {re.split(r"[<>=\[]", need)[0] for need in (*stated, *PROJECT["build-system"]["requires"])} - {"libra-pm"}
    rows = [line for line in _text("docs/dependencies.md").splitlines() if line.startswith("|")]
    assert [name for name in sorted(names) if not any(re.search(rf"\b{name}\b", row) for row in rows)] == []


def test_constraints_are_names_and_versions_only() -> None:
    lines = [line for line in _text("constraints.txt").splitlines() if not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_the_two_commands_stand_at_the_top_of_the_readme() -> None:
    top = "\n".join(_text("README.md").splitlines()[:12])
    assert "make demo" in top
    assert "make test" in top


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", _text(page))
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_an_old_or_missing_python_is_told_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(_text("Makefile"), encoding="utf-8")
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    for python, told in (("no-such-python", "There is no 'no-such-python'"), (str(old), "3.11 or newer")):
        done = subprocess.run(["make", "demo", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert told in done.stderr
        assert not (tmp_path / ".venv").exists()
