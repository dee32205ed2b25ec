"""Ids that differ only in how they are written are different, and whoever holds the log is told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import libra
from libra.cli import main
from libra.eventlog.ids import individuals_of, told_apart

WORDS = {"patient": "individuals", "case": "cases"}


def write(folder: Path, patients: list[str], cases: list[str]) -> Path:
    rows = [f"{case},{patient},a,2024-05-27T08:00:00Z" for patient, case in zip(patients, cases, strict=True)]
    file = folder / "log.csv"
    file.write_text("\n".join(["case,patient,activity,time", *rows, ""]))
    return file


def told(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "how they are written" in note]


@pytest.mark.parametrize("pair", [("7", "7.0"), ("07", "7"), ("P7", "p7"), ("P7", '" P7"')])
@pytest.mark.parametrize("column", WORDS)
def test_ids_that_look_alike_are_told_and_stay_apart(pair: tuple[str, str], column: str, tmp_path: Path) -> None:
    others = ("x", "y")
    file = write(tmp_path, *map(list, (pair, others) if column == "patient" else (others, pair)))
    log = libra.read(file, individual="patient")
    assert log.n_cases == 2
    (note,) = told(log.notes)
    assert note.startswith(f'Some ids in "{column}" differ only in how they are written')
    assert f"they count as different {WORDS[column]}." in note
    assert told(libra.describe(file, individual="patient").notes) == [note]


def test_a_release_tells_it_to_whoever_makes_it_and_to_nobody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, ["7", "7.0"], ["x", "y"])
    names = {"-o": "out.csv", "--certificate": "certificate.json", "--report": "page.html"}
    flags = [word for flag, name in names.items() for word in (flag, str(tmp_path / name))]
    assert main(["anonymize", str(file), "--individual", "patient", "--public", *flags]) == 0
    assert 'note: Some ids in "patient" differ only in how they are written' in capsys.readouterr().err
    for name in names.values():
        assert "how they are written" not in (tmp_path / name).read_text(encoding="utf-8")


def test_ids_that_are_written_in_one_way_are_not_told(tmp_path: Path) -> None:
    file = write(tmp_path, ["7", "7", "8", "07.5"], ["a1", "a2", "a3", "a10"])
    assert told(libra.read(file, individual="patient").notes) == []
    assert told(libra.describe(file, individual="patient").notes) == []


def test_repeated_ids_get_a_number_behind_them() -> None:
    assert told_apart(pl.Series(["a", "b", "a", "a (2)"])).to_list() == ["a", "b", "a (2)", "a (2) (2)"]


def test_a_case_without_an_entry_is_somebodys_only_one() -> None:
    assert individuals_of(pl.Series(["bert", "ann", None, "bert", None, " "])).tolist() == [0, 1, 2, 0, 4, 5]
