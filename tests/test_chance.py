"""What tests try and draw is the same in every run, unless they are asked for luck."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = """
import pytest
from hypothesis import given, strategies as st
from libra._system.randomness import Randomness

seen = [Randomness().words(1)[0]]

@pytest.fixture(scope="module")
def drawn():
    return Randomness().words(1)[0]

@given(st.integers())
def test_examples(number):
    seen.append(number)

def test_draws(drawn):
    print("seen", *seen, drawn, Randomness().words(1)[0])

@given(st.integers())
def test_property(number):
    assert number < 2**70
"""


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"PYTEST_ADDOPTS": "-p chance -p no:cacheprovider", "PYTHONPATH": os.pathsep.join((str(HERE), *sys.path))} | environment
    (folder / "test_luck.py").write_text(TESTS, encoding="utf-8")
    return subprocess.run([sys.executable, *words], cwd=folder, env=os.environ | own, capture_output=True, text=True, check=False)


def seen(folder: Path, *words: str, **environment: str) -> str:
    found = re.search(r"(seen .*)$", run(folder, "-m", "pytest", "-s", *words, **environment).stdout, re.MULTILINE)
    assert found is not None
    return found[1]


def test_examples_and_draws_are_the_same_in_every_run(tmp_path: Path) -> None:
    first, second = seen(tmp_path), seen(tmp_path)
    assert first == second
    assert len(first.split()) > 50
    alone = seen(tmp_path, "-k", "test_draws").split()
    assert alone == ["seen", first.split()[1], *first.split()[-2:]]  # whatever ran before
    assert seen(tmp_path, LIBRA_HYPOTHESIS="fuzz") != first


def test_fuzzing_ends_with_the_time_or_with_a_failure_that_can_be_seen_again(tmp_path: Path) -> None:
    nothing = run(tmp_path, str(HERE / "fuzz.py"), "0", "test_luck.py")
    assert (nothing.returncode, nothing.stdout) == (0, "Nothing failed in 0 rounds.\n")
    failed = run(tmp_path, str(HERE / "fuzz.py"), "60", "test_luck.py", "--processes", "1")
    assert failed.returncode == 1
    *_, told, again = failed.stdout.splitlines()
    assert re.fullmatch(r"Failed with the seed \d+\.", told)
    assert re.fullmatch(
        rf"Again: LIBRA_HYPOTHESIS=fuzz \S+ -m pytest .*--hypothesis-seed={told.split()[-1][:-1]} test_luck.py", again
    )
