"""The project around the code: what the README promises is in the Makefile, and every dependency has its reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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
    old, shim = tmp_path / "old-python", tmp_path / "shim"
    old.write_text('#!/bin/sh\ncase "$2" in *version_info*) exit 1 ;; esac\n', encoding="utf-8")
    shim.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
    for program in (old, shim):
        program.chmod(0o755)
    for python, told in (
        ("no-such-python", "There is no 'no-such-python'"),
        (str(old), f"'{old}' is older"),
        (str(shim), f"'{shim}' does not run"),
    ):
        done = subprocess.run(["make", "demo", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert told in done.stderr
        assert not (tmp_path / ".venv").exists()


def _make(folder: Path, *words: str) -> str:
    """What make would do, without doing it, whatever the make that runs these tests was told."""
    own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "PYTHON")}
    command = ["make", "--dry-run", "demo", *words]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=True).stdout


def test_another_python_makes_the_environment_anew_and_the_same_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(_text("Makefile"), encoding="utf-8")
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    there, other = tmp_path / ".venv" / "bin" / "python", tmp_path / "other-python"
    there.parent.mkdir(parents=True)
    for program, version in ((there, "3.11"), (other, "3.12")):
        program.write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / ".venv" / ".installed").touch()
    for unchanged in ((), (f"PYTHON={there}",)):
        assert "venv --clear" not in _make(tmp_path, *unchanged)
    anew = _make(tmp_path, f"PYTHON={other}")
    assert f"{other} -m venv --clear .venv" in anew
    assert "--editable ." in anew


def test_a_source_package_holds_what_contributors_need() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"src", "tests", "benchmarks", "docs", ".ci", "Makefile", "constraints.txt"} <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []


def test_the_real_logs_are_where_libra_logs_says(tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, 'tests'); import conftest; print(conftest.LOGS)"
    command = [sys.executable, "-c", code]
    environment = os.environ | {"LIBRA_LOGS": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path)
