"""The certificate of `libra anonymize`: it holds the claim, names its file, and tells nothing of the original."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from libra import example

from .conftest import LIBRA2022, Run

LIKE_THE_PAPER = ("--subsamples", "paper")


def _certificate(run: Run, log: Path, folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    path = folder / "c.json"
    assert run("anonymize", log, "-o", folder / "out.csv", *LIBRA2022, "--certificate", path, *words).code == code
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.unlink()
    return document


def test_it_names_the_file_and_holds_the_claim(tmp_path: Path, run: Run) -> None:
    document = _certificate(run, example.path(), tmp_path)
    assert document["document"] == "Libra certificate"
    assert document["guarantee"]["kind"] == "claimed"
    assert document["claimed"]["subsamples"] == 20
    content = (tmp_path / "out.csv").read_bytes()
    assert document["output"] == {"file": "out.csv", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    today = datetime.now(UTC).date()
    assert document["issued"] in {today.isoformat(), (today - timedelta(days=1)).isoformat()}


def test_it_has_these_keys_and_nothing_that_is_for_the_custodian(tmp_path: Path, run: Run) -> None:
    assert _certificate(run, example.path(), tmp_path).keys() == {
        *(
            "document",
            "format",
            "version",
            "issued",
            "in_plain_words",
            "mechanism",
            "parameters",
            "contents",
            "guarantee",
            "claimed",
        ),
        *("randomness", "output", "checksum"),
    }


@pytest.mark.parametrize(
    "words", [(), LIKE_THE_PAPER, ("--delta", "0.5", "--alpha", "2"), ("--set", "trace_noise=false", "--seed", "3")]
)
def test_it_is_the_same_whatever_the_log(words: tuple[str, ...], tmp_path: Path, rare: Path, run: Run) -> None:
    """Nothing in it is computed from the original: only the day, the released file and so the checksum differ."""
    empty = _certificate(run, rare, tmp_path, *words, code=1)
    full = _certificate(run, example.path(), tmp_path, *words, code=0)
    for figure in ("bytes", "sha256"):
        assert empty["output"].pop(figure) != full["output"].pop(figure)
    assert empty.pop("checksum") != full.pop("checksum")
    for document in (empty, full):
        del document["issued"]
    assert empty == full


def test_the_papers_number_of_subsamples_is_told_to_the_custodian_alone(tmp_path: Path, run: Run) -> None:
    words = (*LIKE_THE_PAPER, "--certificate", tmp_path / "c.json", "--json")
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", *LIBRA2022, *words)
    document, certificate = json.loads(answer.out), json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert document["claimed"]["subsamples"] > 20
    withheld = ("subsamples", "renyi_epsilon", "comparison")
    assert {name: certificate["claimed"][name] for name in withheld} == dict.fromkeys(withheld)
    assert all(document["claimed"][name] is not None for name in withheld)
    assert str(document["claimed"]["subsamples"]) not in certificate["guarantee"]["statement"]
    assert certificate["parameters"]["subsamples"] == "paper"
