"""An anonymized log without a case: it is written, explained on stderr with what would help, and ends with exit code 1."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import libra

from .conftest import LIBRA2022, Run, write_rare

NEEDED = "would have to be 3 or lower"


def test_it_is_written_and_explained_and_ends_with_1(tmp_path: Path, rare: Path, run: Run) -> None:
    out = tmp_path / "out.xes"
    answer = run("anonymize", rare, "-o", out, *LIBRA2022)
    assert answer.code == 1
    assert answer.out == f"Wrote {out}, an empty log\n"
    (line,) = (line for line in answer.err.splitlines() if line.startswith("libra: "))
    assert line.startswith(f"libra: {out}: this log is empty. All variants of this log are rare:")
    assert "none has more than 3" in line
    assert NEEDED in line
    assert "keep them to yourself" in line
    assert libra.read(out, allow_empty=True).n_cases == 0


def test_both_files_are_named(tmp_path: Path, rare: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.csv", tmp_path / "c.json"
    answer = run("anonymize", rare, "-o", out, *LIBRA2022, "--certificate", certificate)
    assert answer.out == f"Wrote {out}, an empty log, and {certificate}\n"
    assert certificate.exists()


def test_quiet_does_not_hide_it(tmp_path: Path, rare: Path, run: Run) -> None:
    answer = run("anonymize", rare, "-o", tmp_path / "out.csv", *LIBRA2022, "--quiet")
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert NEEDED in answer.err


def test_json_has_the_threshold_and_the_one_that_was_needed(tmp_path: Path, rare: Path, run: Run) -> None:
    answer = run("anonymize", rare, "-o", tmp_path / "out.csv", *LIBRA2022, "--json")
    document = json.loads(answer.out)
    assert answer.code == 1
    assert NEEDED in answer.err
    assert NEEDED in document["shortfall"]
    assert document["confidential"] == {"clipping_threshold": 26, "needed_threshold": 3}
    assert document["released"] == {"cases": 0, "events": 0, "variants": 0}


@pytest.mark.parametrize(("per_variant", "flags"), [(3, ["--b"]), (20, ["--b", "--delta"])])
def test_what_is_advised_does_help(per_variant: int, flags: list[str], tmp_path: Path, run: Run) -> None:
    log, out = write_rare(tmp_path / "rare.csv", per_variant), tmp_path / "out.csv"
    many = ("--gamma", "0.5", "--subsamples", "40")
    first = run("anonymize", log, "-o", out, *LIBRA2022, *many)
    assert first.code == 1
    advice = re.findall(r"(--b|--delta) (\S+)", first.err)
    assert [flag for flag, _ in advice] == flags
    for words in advice:
        answer = run("anonymize", log, "-o", out, *LIBRA2022, *many, *words, "--json")
        assert answer.code == 0, answer.err
        assert 0 < json.loads(answer.out)["confidential"]["clipping_threshold"] <= per_variant
        assert libra.read(out).n_cases > 0


def test_where_nothing_was_drawn_that_is_the_reason_and_more_draws_help(crowd: Path, run: Run) -> None:
    words = ("anonymize", crowd, "-o", crowd.parent / "out.csv", *LIBRA2022, "--json", "--seed", "1", "--gamma", "0.0001")
    answer = run(*words, "--subsamples", "1")
    document = json.loads(answer.out)
    assert answer.code == 1
    assert "run it anew, or ask for more with --subsamples or --gamma" in answer.err
    assert document["confidential"].keys() == {"clipping_threshold"}
    assert run(*words, "--subsamples", "2000").code == 0
