"""`libra anonymize`: what it writes, prints and notes; tests/mechanisms has what the mechanism does."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import libra
from libra import example
from libra.eventlog.options import Progress

from .conftest import LIBRA2022, Run

NO_ZONE = "carry no time zone"
SEEDED = "not private: seeded"
NOT_IN_XML = "XML cannot hold"


def _released(run: Run, tmp_path: Path, *words: str) -> dict[str, Any]:
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.xes.gz", *LIBRA2022, "--json", *words)
    assert answer.code == 0, answer.err
    document: dict[str, Any] = json.loads(answer.out)
    return document


def test_a_log_comes_out_under_fresh_ids_with_three_columns(tmp_path: Path, run: Run) -> None:
    assert run("anonymize", example.path(), "-o", tmp_path / "out.csv", *LIBRA2022).code == 0
    released, original = libra.read(tmp_path / "out.csv"), libra.read(example.path())
    assert released.to_polars().columns == ["case:concept:name", "concept:name", "time:timestamp"]
    assert not set(released.cases["concept:name"]) & set(original.cases["concept:name"])
    assert set(released.activities) <= set(original.activities)


def test_the_document_has_these_keys_and_no_others(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path)
    assert document.keys() == {
        *("document", "version", "issued", "in_plain_words", "mechanism", "parameters", "contents", "guarantee", "claimed"),
        "randomness",
        *(
            "released",
            "shortfall",
            "confidential",
            "output",
            "certificate",
            "signature",
            "report",
            "model",
            "engine",
            "columns",
            "seconds",
            "notes",
        ),
    }
    assert document["guarantee"].keys() == {
        *("kind", "statement", "source", "epsilon", "delta", "unit", "assumptions", "caveats", "seeded"),
    }
    assert document["claimed"].keys() == {
        *("renyi_order", "renyi_epsilon_one", "renyi_epsilon", "subsamples", "noise_scale", "comparison"),
    }
    assert document["released"].keys() == {"cases", "events", "variants"}
    assert document["seconds"].keys() == {"read", "anonymize", "account", "write"}
    assert all(second > 0 for second in document["seconds"].values())
    assert document["confidential"].keys() == {"clipping_threshold"}


def test_json_states_the_claim_as_a_claim(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--alpha", "10", "--b", "2", "--gamma", "0.05", "--delta", "1e-4")
    assert (document["document"], document["version"]) == ("Libra release", libra.__version__)
    assert document["mechanism"] == "libra2022"
    assert document["guarantee"]["kind"] == "claimed"
    assert document["guarantee"]["epsilon"] is document["guarantee"]["delta"] is document["shortfall"] is None
    assert document["guarantee"]["unit"] == "one case, added or removed"
    assert document["guarantee"]["seeded"] is False
    assert document["claimed"]["renyi_order"] == 10
    assert document["claimed"]["renyi_epsilon"] == pytest.approx(0.145, abs=5e-4)
    assert document["claimed"]["subsamples"] == 20
    assert document["claimed"]["comparison"]["epsilon"] == pytest.approx(0.2996, abs=5e-5)
    assert document["output"] == str(tmp_path / "out.xes.gz")
    assert document["certificate"] is None
    assert document["randomness"] == "operating system"


def test_json_holds_the_sizes_of_what_was_written_and_both_names(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--certificate", str(tmp_path / "c.json"))
    log = libra.read(tmp_path / "out.xes.gz")
    assert document["released"] == {"cases": log.n_cases, "events": log.n_events, "variants": len(log.variants)}
    assert document["certificate"] == str(tmp_path / "c.json")


def test_people_see_sizes_names_the_claim_the_comparison_and_every_caveat(tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.xes.gz", tmp_path / "c.json"
    answer = run("anonymize", example.path(), "-o", out, *LIBRA2022, "--certificate", certificate, "--explain")
    log = libra.read(out)
    sizes = f"{log.n_cases:,} cases, {log.n_events:,} events, {len(log.variants):,} variants"
    assert answer.out.splitlines()[0] == f"Wrote {out} and {certificate}: {sizes}"
    document = _released(run, tmp_path)
    assert document["guarantee"]["statement"] in answer.out
    assert "(0.2996, 0.0001)" in answer.out
    assert [caveat for caveat in document["guarantee"]["caveats"] if f"- {caveat}" not in answer.out.splitlines()] == []
    assert len(document["guarantee"]["caveats"]) >= 6


def test_without_explain_the_claim_is_told_and_that_it_is_none(tmp_path: Path, run: Run) -> None:
    lines = run("anonymize", example.path(), "-o", tmp_path / "out.xes.gz", *LIBRA2022).out.splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("Nothing is proved about how well this log protects anyone")
    assert not [line for line in lines if line.startswith("- ")]


def test_one_variant_is_not_called_variants(crowd: Path, run: Run) -> None:
    answer = run("anonymize", crowd, "-o", crowd.parent / "out.csv", *LIBRA2022)
    assert answer.out.splitlines()[0].endswith(" events, 1 variant")


def test_parameters_reach_the_mechanism(tmp_path: Path, run: Run) -> None:
    parameters: dict[str, Any] = {"alpha": 3, "b": 1.5, "gamma": 0.1, "delta": 0.01, "subsamples": 4}
    numbers = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
    parameters["omega"], numbers = 5, [*numbers, "--set", "omega=5"]
    document = _released(run, tmp_path, *numbers, "--seed", "7", "--set", "trace_noise=false", "--set", "signed_times=true")
    parameters |= {"trace_noise": False, "signed_times": True}
    assert document["parameters"] == parameters
    same = libra.anonymize(example.path(), mechanism="libra2022", seed=7, **parameters)
    assert libra.read(tmp_path / "out.xes.gz").events.equals(same.log.events)
    assert any("Trace noise was switched off" in caveat for caveat in document["guarantee"]["caveats"])


def test_notes_of_reading_releasing_and_writing_are_told_and_in_json(crowd: Path, run: Run) -> None:
    words = ("anonymize", crowd, "-o", crowd.parent / "out.xes", *LIBRA2022, "--seed", "1")
    told = run(*words).err.splitlines()
    answer = run(*words, "--json")
    notes = json.loads(answer.out)["notes"]
    for part in (NO_ZONE, SEEDED, NOT_IN_XML):
        assert sum(part in note for note in notes) == 1
    assert answer.err.splitlines() == [f"note: {note}" for note in notes]
    assert [line for line in told if "Columns used" not in line] == answer.err.splitlines()


def test_columns_that_were_found_are_shown_to_people_and_always_in_json(crowd: Path, run: Run) -> None:
    words = ("anonymize", crowd, "-o", crowd.parent / "out.csv", *LIBRA2022)
    line = 'note: Columns used: case id "case", activity "activity", timestamp "timestamp".'
    assert line in run(*words).err.splitlines()
    named = ("--case-id", "case", "--activity", "activity", "--timestamp", "timestamp")
    assert "Columns used" not in run(*words, *named).err
    for said in ((), named):
        document = json.loads(run(*words, *said, "--json").out)
        assert document["columns"] == {"case_id": "case", "activity": "activity", "timestamp": "timestamp"}
        assert not any("Columns used" in note for note in document["notes"])


def test_quiet_says_nothing_and_json_stays(crowd: Path, run: Run) -> None:
    words = ("anonymize", crowd, "-o", crowd.parent / "out.xes", *LIBRA2022, "--quiet")
    answer = run(*words)
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    with_json = run(*words, "--json")
    assert with_json.err == ""
    assert any(NO_ZONE in note for note in json.loads(with_json.out)["notes"])


def test_quiet_does_not_hide_an_error(tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", tmp_path / "missing.csv", "-o", tmp_path / "out.csv", *LIBRA2022, "--quiet")
    assert (answer.code, answer.out, answer.err.count("\n")) == (3, "", 1)
    assert "missing.csv: there is no such file" in answer.err


def test_control_characters_of_columns_labels_and_names_do_not_reach_the_terminal(crowd: Path, run: Run) -> None:
    odd = crowd.with_name("cro\x1bwd.csv")
    odd.write_text(crowd.read_text(encoding="utf-8").replace("case,", "case\x1b[31m,", 1), encoding="utf-8")
    files = ("-o", crowd.parent / "o\x1but.xes", "--certificate", crowd.parent / "c\x1b.json")
    answer = run("anonymize", odd, *files, *LIBRA2022, "--case-id", "case\x1b[31m")
    assert answer.code == 0
    assert "\x1b" not in answer.out + answer.err
    assert r"o\x1but.xes" in answer.out
    assert r"c\x1b.json" in answer.out
    assert r'"case\x1b[31m"' in answer.err
    wrong = run("anonymize", odd, "-o", crowd.parent / "out.csv", *LIBRA2022, "--case-id", "no\x1bne")
    assert wrong.code == 3
    assert r"no\x1bne" in wrong.err
    assert "\x1b" not in wrong.err


def test_progress_tells_reading_then_subsamples_then_writing(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    @contextlib.contextmanager
    def recorded(text: str, *, quiet: bool) -> Iterator[Progress]:
        assert not quiet
        told[text] = []
        yield lambda done, total: told[text].append((done, total))

    monkeypatch.setattr("libra.cli.output.progress_bar", recorded)
    words = ("anonymize", example.path(), "-o", tmp_path / "out.xes", *LIBRA2022, "--subsamples", "7")
    assert run(*words).code == 0
    name = example.path().name
    assert list(told) == [f"reading {name}", f"anonymizing {name}", "writing out.xes"]
    assert told[f"anonymizing {name}"] == [(number, 7) for number in range(1, 8)]
    for text in (f"reading {name}", "writing out.xes"):
        assert told[text][-1][0] == told[text][-1][1] > 0


def test_a_seed_stamps_everything_not_private(tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.xes", tmp_path / "c.json"
    answer = run("anonymize", example.path(), "-o", out, *LIBRA2022, "--seed", "1", "--certificate", certificate)
    assert SEEDED in answer.err
    assert SEEDED in out.read_text(encoding="utf-8")
    document = json.loads(certificate.read_text(encoding="utf-8"))
    assert (document["randomness"], document["guarantee"]["seeded"]) == (SEEDED, True)
    for name in ("out.parquet", "out.csv"):
        run("anonymize", example.path(), "-o", tmp_path / name, *LIBRA2022, "--seed", "1")
        assert libra.read(tmp_path / name).cases["concept:name"].str.starts_with("seeded-").all()
    assert libra.read(tmp_path / "out.parquet").metadata.attributes[0].value == SEEDED


def test_the_same_seed_gives_the_same_file_and_none_gives_another(tmp_path: Path, run: Run) -> None:
    def bytes_of(*words: str) -> bytes:
        assert run("anonymize", example.path(), "-o", tmp_path / "out.csv", *LIBRA2022, *words).code == 0
        return (tmp_path / "out.csv").read_bytes()

    assert bytes_of("--seed", "5") == bytes_of("--seed", "5") != bytes_of("--seed", "6")
    assert bytes_of() != bytes_of()


def test_a_person_with_several_cases_is_not_protected_and_that_is_said(crowd: Path, run: Run) -> None:
    answer = run("anonymize", crowd, "-o", crowd.parent / "out.csv", *LIBRA2022, "--individual", "case", "--json")
    document = json.loads(answer.out)
    told = "libra2022 protects cases, not persons"
    assert f"note: {told}" in answer.err
    assert sum(told in note for note in document["notes"]) == 1
    assert any("A person may have several cases" in caveat for caveat in document["guarantee"]["caveats"])
    assert not any("A person" in caveat for caveat in _released(run, crowd.parent)["guarantee"]["caveats"])


def test_reading_options_count(tmp_path: Path, run: Run) -> None:
    table = tmp_path / "visits.csv"
    rows = ["Patient;Step;Done at"]
    for case in range(400):
        rows += [f"P{case};triage;06.05.2024 08:{case % 60:02}", f"P{case};leave;06.05.2024 11:{case % 60:02}"]
    table.write_text("\n".join(rows), encoding="utf-8")
    words = ("--case-id", "Patient", "--activity", "Step", "--timestamp", "Done at", "--day-first")
    answer = run("anonymize", table, "-o", tmp_path / "out.csv", *LIBRA2022, *words)
    assert answer.code == 0
    assert libra.read(tmp_path / "out.csv").activities == ["leave", "triage"]
    assert "P3" not in (tmp_path / "out.csv").read_text(encoding="utf-8")
