"""`--risk`, on the command line and in Python: figures where they are asked for, and nothing else where they are not."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

import libra
from libra import example
from libra.errors import InputError, UsageError
from libra.measures.risk import LogRisk, ReleaseRisk
from libra.measures.risk.bound import Bound
from libra.measures.risk.copies import Copies
from libra.measures.risk.estimate import Estimate
from libra.measures.risk.linkage import Linkage, Matches
from libra.measures.risk.membership import GroupAdvantage, Membership
from libra.measures.risk.singled_out import SingledOut

from .conftest import Run

KINDS = ["set", "multiset", "sequence", "days"]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled log, anonymized by both mechanisms, and the certificates."""
    folder = tmp_path_factory.mktemp("released")
    for name in ("libra", "libra2022"):
        release = libra.anonymize(example.path(), mechanism=name)
        release.write(folder / f"{name}.csv", certificate=folder / f"{name}.json")
    return folder


def test_inspect_tells_who_stands_alone_in_a_table_and_in_json(run: Run) -> None:
    shown = run("inspect", example.path(), "--risk")
    assert shown.code == 0
    assert "Cases singled out" in shown.out
    assert "CONFIDENTIAL" in shown.out
    document = json.loads(run("inspect", example.path(), "--risk", "--json").out)
    figures = document["risk"]["singled_out"]
    assert [(one["knowledge"], one["events"]) for one in figures] == [
        *((kind, k) for kind in KINDS for k in (1, 2, 3, 5)),
        ("variant", None),
    ]
    assert figures[-1]["share"]["value"] == document["cases_unique_share"]
    assert all(one["share"]["lowest"] <= one["share"]["value"] <= one["share"]["highest"] for one in figures)


def test_without_the_flag_nothing_is_said_of_risk(run: Run, table: Path) -> None:
    assert "risk" not in json.loads(run("inspect", table, "--json").out)
    assert "risk" not in json.loads(run("measure", table, table, "--json").out)
    assert libra.inspect(table).risk is None
    assert libra.measure(table, table).risk is None
    assert "singled out" not in run("inspect", table).out


def test_measure_tells_what_is_found_and_what_an_attack_found(run: Run, released: Path) -> None:
    words = ("measure", example.path(), released / "libra.csv", "--risk", "--certificate", released / "libra.json")
    shown = run(*words)
    assert shown.code == 0
    for part in ("Cases singled out", "The same knowledge in libra.csv", "An attack on membership", "CONFIDENTIAL"):
        assert part in shown.out
    assert "(1, 1e-05)-differential privacy, allows at most 0.462" in shown.out
    assert "does not hold" not in shown.out
    assert "a better one may find more" in " ".join(shown.out.split())
    document = json.loads(run(*words, "--json").out)["risk"]
    assert len(document["linkage"]) == len(document["before"]["singled_out"]) == 17
    assert document["membership"]["mechanism"] == "libra"
    assert document["copies"]["exact"] < 0.05
    assert document["notes"] == []


def test_a_claim_is_told_as_claimed_and_that_it_does_not_hold(run: Run, released: Path) -> None:
    words = ("measure", example.path(), released / "libra2022.csv", "--risk", "--certificate", released / "libra2022.json")
    said = " ".join(run(*words).out.split())
    assert "Claimed by its authors: a Renyi divergence" in said
    assert "that promise does not hold" in said


def test_without_a_certificate_a_note_says_how_to_get_one(run: Run, released: Path) -> None:
    shown = run("measure", example.path(), released / "libra.csv", "--risk")
    assert shown.code == 0
    assert "--certificate FILE writes it" in shown.err
    assert "An attack on membership" not in shown.out
    document = json.loads(run("measure", example.path(), released / "libra.csv", "--risk", "--json").out)
    assert document["risk"]["membership"] is None
    assert any("--certificate" in note for note in document["notes"])


def test_python_and_the_command_line_tell_the_same(run: Run, released: Path) -> None:
    files = (example.path(), released / "libra.csv")
    found = libra.measure(*files, risk=True, certificate=released / "libra.json")
    shown = json.loads(run("measure", *files, "--risk", "--certificate", released / "libra.json", "--json").out)
    assert json.loads(json.dumps(found.to_dict()["risk"])) == shown["risk"]


def test_a_certificate_without_risk_is_a_mistake(run: Run, table: Path, released: Path) -> None:
    answer = run("measure", table, table, "--certificate", released / "libra.json")
    assert (answer.code, answer.out) == (2, "")
    assert "--risk" in answer.err
    with pytest.raises(UsageError, match="risk=True"):
        libra.measure(table, table, certificate=released / "libra.json")


def test_a_certificate_that_is_none_is_one_line_before_anything_is_read(run: Run, table: Path, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{", encoding="utf-8")
    for name in ("no.json", "absent.json"):
        answer = run("measure", table, tmp_path / "no.xes", "--risk", "--certificate", tmp_path / name)
        assert (answer.code, answer.out) == (3, "")
        assert len(answer.err.splitlines()) == 1
        assert name in answer.err
    with pytest.raises(InputError):
        libra.measure(table, table, risk=True, certificate={"mechanism": "none"})


def test_a_certificate_of_another_file_is_noted(run: Run, released: Path) -> None:
    answer = run("measure", example.path(), released / "libra.csv", "--risk", "--certificate", released / "libra2022.json")
    assert answer.code == 0
    assert "about another file" in answer.err


def test_small_and_empty_logs_have_what_figures_they_can(run: Run, table: Path, empty_table: Path) -> None:
    shown = run("measure", table, empty_table, "--risk")
    assert shown.code == 0
    assert "No case was released" in shown.out
    document = json.loads(run("measure", table, empty_table, "--risk", "--json").out)["risk"]
    assert all(one["released"]["none"] == 1 for one in document["linkage"])
    assert run("inspect", table, "--risk").code == 0


def test_every_figure_has_a_definition() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    section = page[page.index("\n## Risk\n") :]
    types = (ReleaseRisk, LogRisk, SingledOut, Linkage, Matches, Copies, Membership, GroupAdvantage, Bound, Estimate)
    names = {field.name for kind in types for field in fields(kind)} - {"mechanism"}
    assert [name for name in sorted(names) if f"`{name}`" not in section] == []
    assert [kind for kind in (*KINDS, "variant") if f"| `{kind}` |" not in section] == []
