"""`--risk`, on the command line and in Python: figures where they are asked for, and nothing else where they are not."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import libra
from libra import example
from libra.errors import InputError, UsageError
from libra.measures.risk import LogRisk, ReleaseRisk
from libra.measures.risk.figures import Copies, Estimate, Linkage, Matches, SingledOut
from libra.measures.risk.membership import Bound, GroupAdvantage, Membership
from libra.measures.risk.words import KNOWN

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
    assert "Cases that an attacker can single out" in shown.out
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
    assert "single out" not in run("inspect", table).out


def test_measure_tells_what_is_found_and_what_an_attack_found(run: Run, released: Path) -> None:
    words = ("measure", example.path(), released / "libra.csv", "--risk", "--certificate", released / "libra.json")
    shown = run(*words)
    assert shown.code == 0
    for part in (
        "Cases that an attacker can single out",
        "The same knowledge in libra.csv",
        "An attack on membership",
        "CONFIDENTIAL",
    ):
        assert part in shown.out
    assert "(1, 1e-05)-differential privacy, allows at most 0.462" in shown.out
    assert "does not hold" not in shown.out
    assert "A better attack may find more" in " ".join(shown.out.split())
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


@pytest.mark.parametrize("columns", ["80", "120"])
def test_no_word_of_a_table_is_split(run: Run, released: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = run("measure", example.path(), released / "libra.csv", "--risk", "--certificate", released / "libra.json").out
    lines = shown[shown.index("Cases that an attacker") :].splitlines()
    tables = [line for line in lines if line.startswith(" ")]  # sentences and titles begin at the edge
    words = {word for line in tables for word in line.split()}
    headings = "known most event events all to cases advantage same gaps by chance whose variant case has have more under over"
    whole = f"{headings} {' '.join(KNOWN.values())}"
    assert {word for word in words if word.isalpha()} <= set(whole.split())
    assert {"activities", "order", "trace", "gaps", "chance", "advantage"} <= words
    assert all(word.endswith(")") for word in words if word.startswith("("))
    assert max(map(len, tables)) <= int(columns)
    assert any("whose variant 1 case has" in line for line in tables)
    assert any("whose variant 2 to 9 cases have" in line for line in tables)


def test_individuals_are_told_on_screen_and_in_json(run: Run, tmp_path: Path) -> None:
    visits = tmp_path / "visits.csv"
    rows = (
        f"p{person},p{person}v{visit},{activity},2024-05-{1 + visit:02}T10:0{minute}:00Z"
        for person in range(6)
        for visit in range(3)
        for minute, activity in enumerate(("arrive", f"test {person}", "leave"))
    )
    visits.write_text("\n".join(("Patient,Visit,Activity,Time", *rows)) + "\n", encoding="utf-8")
    words = ("inspect", visits, "--case-id", "Visit", "--risk")
    without, shown = (" ".join(run(*words, *more).out.split()) for more in ((), ("--individual", "Patient")))
    assert "No case has a trace that no other case has" in without
    assert "the whole trace 0.0 % (3)" in without
    assert "100.0 % of the cases have a trace that no other individual has" in shown
    assert "median number of matching individuals" in shown
    assert "if all cases that fit belong to one individual" in shown
    assert "the whole trace 100.0 % (1)" in shown
    document = json.loads(run(*words, "--individual", "Patient", "--json").out)
    assert (document["risk"]["crowds_of"], document["cases_of_one_individual_share"]) == ("individuals", 1)
    compared = run("measure", visits, visits, "--case-id", "Visit", "--individual", "Patient", "--risk")
    said = " ".join(compared.out.split())
    assert "Of the original cases 0.0 % and 0.0 % repeat one of another individual" in said
    assert "a single match among the cases of other individuals" in said


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


def test_an_edited_certificate_is_refused_with_what_to_do(run: Run, released: Path, tmp_path: Path) -> None:
    text = (released / "libra.json").read_text(encoding="utf-8")
    (tmp_path / "edited.json").write_text(text.replace('"epsilon": 1.0', '"epsilon": 0.01'), encoding="utf-8")
    words = ("measure", example.path(), released / "libra.csv", "--risk", "--certificate", tmp_path / "edited.json")
    answer = run(*words)
    assert (answer.code, answer.out) == (3, "")
    assert len(answer.err.splitlines()) == 1
    assert "edited.json" in answer.err
    assert "libra verify" in answer.err


@pytest.mark.parametrize("risk", ["no", 1, None])
def test_risk_is_asked_for_by_yes_or_no(table: Path, risk: Any) -> None:
    with pytest.raises(UsageError, match="risk has to be True or False"):
        libra.inspect(table, risk=risk)
    with pytest.raises(UsageError, match="risk has to be True or False"):
        libra.measure(table, table, risk=risk)


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
