"""Columns called `^$`, `^.*$`, `*` or the like go through every command as any others do."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

import pytest

from .conftest import Run

NAMES = ("^$", "^.*$", "^case:concept:name$", "^a|b$", "^($", "*", 'a.b `"c"` $1 ' + "\u65e5" * 300)


def odd_table(path: Path, name: str) -> dict[str, str]:
    """A table each of whose columns has a name made of this one; which of them plays which role."""
    roles = ("case-id", "activity", "timestamp", "start-timestamp", "resource", "individual")
    names = {role: _numbered(name, place) for place, role in enumerate((*roles, "cost", "remark", "late"))}
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(names.values())
        for case, event in product(range(300), range(2)):
            times = [f"{1 + case % 28:02}/05/2024 {8 + event:02}:{minute}" for minute in ("30", "00")]
            attributes = [f"{case % 7},5", "'=sum" if case % 3 else "", str(case % 2 == 1).lower()]
            rows.writerow([f"c{case}", ("come", "go")[event], *times, ("desk", "")[event], f"p{case // 2}", *attributes])
    return names


def _numbered(name: str, place: int) -> str:
    return f"^{'x' * place}{name[1:]}" if name.startswith("^") else name + "*" * place


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_column_is_a_pattern(name: str, run: Run, tmp_path: Path) -> None:
    names = odd_table(table := tmp_path / "log.csv", name)
    roles = [word for role in names if role not in ("cost", "remark", "late") for word in (f"--{role}", names[role])]
    read = (*roles, "--day-first")

    def said(*words: str | Path) -> str:
        answer = run(*words)
        assert answer.code == 0, answer.err
        return answer.out

    found = json.loads(said("inspect", table, *read, "--json"))
    assert (found["cases"], found["events"]) == (300, 600)
    attributes = {(one["name"], one["type"]) for one in found["attributes"]}
    assert {(names["cost"], "float"), (names["remark"], "string"), (names["late"], "boolean")} <= attributes
    whose = ("--individual", names["individual"])
    for ending in ("csv", "xes", "parquet"):  # read as a whole by `inspect`, in batches by the engine
        said("convert", table, file := tmp_path / f"converted.{ending}", *read)
        again = json.loads(said("inspect", file, *whose, "--json"))
        assert {(one["name"], one["type"]) for one in again["attributes"]} == attributes
        said("anonymize", file, "-o", tmp_path / f"{ending}.csv", "--engine", "polars-streaming", "--seed", "1", *whose)
    for engine in ("polars", "polars-streaming"):
        said("anonymize", table, "-o", tmp_path / f"{engine}.csv", "--engine", engine, "--seed", "1", *read)
    released = tmp_path / "pripel.csv"
    said("anonymize", table, "-o", released, "--mechanism", "pripel", "--seed", "1", *read)
    assert names["cost"] in released.read_text(encoding="utf-8").replace('""', '"').splitlines()[0]
    said("measure", table, released, *read)
    said("report", table, released, "-o", tmp_path / "report.html", *read)


def test_a_name_that_is_no_column_is_no_pattern_either(run: Run, tmp_path: Path) -> None:
    odd_table(table := tmp_path / "log.csv", "^$")
    answer = run("inspect", table, "--case-id", "^.*$")
    assert answer.code == 3
    assert '--case-id: there is no column "^.*$"' in answer.err
