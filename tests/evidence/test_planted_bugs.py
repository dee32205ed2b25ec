"""The audits have teeth: five bugs, each planted in a copy of the code, are caught, and the code without them is not.

Everything is seeded, so a bug that is caught once is caught always.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import libra
from libra import example

HERE = Path(__file__).resolve().parent
SOURCE = Path(libra.__file__).resolve().parent
BUGS = {
    "a fifth less noise": ("privacy/noise.py", "    points *= sd\n", "    points *= 0.8 * sd\n"),
    "the clip is ignored": ("engines/counting/clipping.py", "squares > limit", "squares > np.inf"),
    "half the clip of pairs of attributes": (
        "engines/attribute_tables.py",
        "for one, other in self.pairs)) * SAFE",
        "for one, other in self.pairs)) / 2",
    ),
    "a value of few cases shows": (
        "privacy/gate.py",
        "self._engine.select_values(attribute, GaussianRule(mu, threshold, scale)",
        "self._engine.select_values(attribute, GaussianRule(mu, threshold // 4, scale)",
    ),
    "the exact number of cases": ("mechanisms/libra/algorithm.py", "in flows], self.cases)", "in flows], log.n_cases)"),
}
LONG = [
    "--canary",
    "is very long",
    "--delta",
    "0.1",
    "--budget",
    "control=0.999,times=0.001",
    "--public-labels",
    "--runs",
    "500",
    "--edges",
    "all",
]
FREQUENT = ["--canary", "joins a frequent variant", "--runs", "200"]
BLACK_BOX = {"the clip is ignored": LONG, "the exact number of cases": FREQUENT}


def _copy(folder: Path, bug: str | None) -> Path:
    """A copy of the code, with the bug."""
    shutil.copytree(SOURCE, folder / "libra", ignore=shutil.ignore_patterns("__pycache__"))
    if bug is not None:
        name, right, wrong = BUGS[bug]
        file = folder / "libra" / name
        text = file.read_text(encoding="utf-8")
        assert text.count(right) == 1
        file.write_text(text.replace(right, wrong), encoding="utf-8")
    return folder


def _run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": f"{copy}{os.pathsep}{HERE}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, cwd=copy, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "planted"),
    [("the clip is ignored", True), ("the exact number of cases", True), ("the exact number of cases", False)],
)
def test_a_planted_bug_is_caught_from_the_outside(bug: str, planted: bool, tmp_path: Path) -> None:
    """The code without an ignored clip is audited from the inside below, and from the outside in test_audit_outcomes.py."""
    copy = _copy(tmp_path, bug if planted else None)
    limits = ["--seed", "1", "--time-limit", "3000", "--json"]
    done = _run(copy, "-m", "libra", "audit", str(example.path()), *BLACK_BOX[bug], *limits)
    assert done.returncode == (1 if planted else 0), done.stderr
    assert json.loads(done.stdout)["refuted"] == planted


@pytest.mark.slow
def test_a_fifth_less_noise_is_caught_from_the_inside(tmp_path: Path) -> None:
    """The same audit of the code as it is finds less than is claimed: test_the_noise_is_no_smaller_than_it_should_be."""
    copy = _copy(tmp_path, "a fifth less noise")
    script = "import libra, inside; print(libra.__file__); print(*inside.audited_noise(runs=2500, seed=4))"
    done = _run(copy, "-c", script)
    assert done.returncode == 0, done.stderr
    where, figures = done.stdout.splitlines()
    assert Path(where).is_relative_to(copy)
    claimed, found = map(float, figures.split())
    assert found > claimed


@pytest.mark.slow
@pytest.mark.parametrize("planted", [True, False], ids=["planted", "not planted"])
def test_an_ignored_clip_is_caught_from_the_inside_with_private_labels(planted: bool, tmp_path: Path) -> None:
    """From the outside that takes thousands of runs: the tail of the small log of an audit is rarely released."""
    copy = _copy(tmp_path, "the clip is ignored" if planted else None)
    script = "import libra, inside; print(libra.__file__); print(*inside.audited_clip(runs=300, seed=5))"
    done = _run(copy, "-c", script)
    assert done.returncode == 0, done.stderr
    where, figures = done.stdout.splitlines()
    assert Path(where).is_relative_to(copy)
    claimed, found = map(float, figures.split())
    assert (found > claimed) == planted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "canary", "run", "delta"),
    [
        ("half the clip of pairs of attributes", "has values that nobody else has together", "pairs", 0.3),
        ("a value of few cases shows", "has values of its own", "values", 0.01),
    ],
)
def test_a_bug_in_the_release_of_attributes_is_caught_from_the_inside(
    bug: str, canary: str, run: str, delta: float, tmp_path: Path
) -> None:
    """The code without these bugs is audited in test_inside_audit_of_attributes.py."""
    copy = _copy(tmp_path, bug)
    audit = f"inside.audited(['{canary}'], inside.{run}, epsilon=1.0, delta={delta}, runs=800, seed=1)"
    done = _run(copy, "-c", f"import libra, inside_attributes as inside; print(libra.__file__); print(*{audit}.values())")
    assert done.returncode == 0, done.stderr
    where, found = done.stdout.splitlines()
    assert Path(where).is_relative_to(copy)
    assert float(found) > 1.0
