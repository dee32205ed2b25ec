"""`libra demo`: one command from nothing to a converted log, with working advice on what to do next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import libra
from libra import example
from libra._system.shell import libra_command

from .conftest import Run


def test_the_demo_writes_the_bundled_log_in_two_formats_and_anonymized(tmp_path: Path, run: Run) -> None:
    answer = run("demo", "--output", tmp_path / "new" / "tour")
    assert answer.code == 0
    assert sorted(file.name for file in (tmp_path / "new" / "tour").iterdir()) == [
        "anonymized.xes.gz",
        "certificate.json",
        "emergency.csv",
        "emergency.xes.gz",
        "report.html",
    ]
    original = libra.read(example.path())
    assert libra.read(tmp_path / "new" / "tour" / "emergency.xes.gz").equals(original)
    assert libra.read(tmp_path / "new" / "tour" / "emergency.csv").events.equals(original.events)


def test_the_demo_verifies_its_own_certificate(tmp_path: Path, run: Run) -> None:
    answer = run("demo", "--output", tmp_path)
    assert "Consistent, not signed: the file is the one certified" in answer.out
    assert libra.verify(tmp_path / "certificate.json", tmp_path / "anonymized.xes.gz").ok


def test_without_a_folder_it_writes_to_libra_demo(tmp_path: Path, shell: Run) -> None:
    answer = shell("demo")
    assert answer.code == 0
    assert (tmp_path / "libra-demo" / "emergency.csv").exists()


def test_what_it_tells_to_try_next_works(tmp_path: Path, run: Run) -> None:
    answer = run("demo", "--output", tmp_path / "my tour")
    lines = [line.strip() for line in answer.out.split("Try next:")[1].partition("\n\n")[0].splitlines() if line.strip()]
    assert all(line.startswith(libra_command()) for line in lines)
    advice = [shlex.split(line.removeprefix(libra_command())) for line in lines]
    assert [words[0] for words in advice] == ["inspect", "convert", "certificate", "anonymize", "measure", "report", "inspect"]
    for words in advice[:6]:
        assert run(*words).code == 0


def test_the_last_line_is_the_path_of_the_report(tmp_path: Path, run: Run) -> None:
    answer = run("demo", "--output", tmp_path)
    page = Path(answer.out.splitlines()[-1].rpartition(": ")[2])
    assert page == tmp_path / "report.html"
    assert "CONFIDENTIAL" in page.read_text(encoding="utf-8")


def test_json_holds_the_files_and_the_figures(tmp_path: Path, run: Run) -> None:
    document = json.loads(run("demo", "--output", tmp_path, "--json").out)
    assert all(Path(file).exists() for file in document["files"])
    assert document["inspect"]["cases"] == 2000
    assert document["anonymize"]["mechanism"] == "libra"
    assert document["anonymize"]["guarantee"]["kind"] == "proved"
    assert document["verify"]["ok"] is True
    assert document["measure"]["emd_freq"] < document["measure"]["empty"]["emd_freq"]


def test_json_holds_the_notes_that_people_see(tmp_path: Path, run: Run) -> None:
    answer = run("demo", "--output", tmp_path, "--json")
    notes = json.loads(answer.out)["notes"]
    assert notes
    assert answer.err.splitlines() == [f"note: {note}" for note in notes]


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    answer = run("demo", "--output", tmp_path / "file" / "tour")
    assert answer.code == 3
    assert "--output" in answer.err
