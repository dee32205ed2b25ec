"""`libra anonymize`: the contract of the command, its words and its files; tests/mechanisms has what the mechanism does."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from libra import example
from libra.errors import LibraError, UsageError
from libra.eventlog.log import EventLog
from libra.mechanisms.cases import Cases
from libra.privacy.randomness import Randomness

from .conftest import Run

LIBRA2022 = ("--mechanism", "libra2022")


@pytest.fixture
def rare(tmp_path: Path) -> Path:
    """A log in which no variant has more than three cases."""
    rows = ["case,activity,timestamp"]
    for case in range(12):
        rows += [f"c{case},step {case // 3},2024-05-06T08:{case:02}:00Z", f"c{case},end,2024-05-06T09:{case:02}:00Z"]
    path = tmp_path / "rare.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


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


def test_json_states_the_claim_as_a_claim(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--alpha", "10", "--b", "2", "--gamma", "0.05", "--delta", "1e-4")
    assert document["mechanism"] == "libra2022"
    assert document["guarantee"]["kind"] == "claimed"
    assert document["claimed"]["renyi_order"] == 10
    assert document["claimed"]["renyi_epsilon"] == pytest.approx(0.145, abs=5e-4)
    assert document["claimed"]["subsamples"] == 20
    assert document["claimed"]["comparison"]["epsilon"] == pytest.approx(0.2996, abs=5e-5)
    assert document["output"] == str(tmp_path / "out.xes.gz")
    assert document["randomness"] == "operating system"


def test_people_see_the_claim_the_comparison_and_every_caveat(tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.xes.gz", *LIBRA2022)
    document = _released(run, tmp_path)
    assert document["guarantee"]["statement"] in answer.out
    assert "(0.2996, 0.0001)" in answer.out
    assert [caveat for caveat in document["guarantee"]["caveats"] if caveat not in answer.out] == []
    assert len(document["guarantee"]["caveats"]) >= 6


def test_parameters_reach_the_mechanism(tmp_path: Path, run: Run) -> None:
    numbers = (
        "--alpha",
        "3",
        "--b",
        "1.5",
        "--gamma",
        "0.1",
        "--delta",
        "0.01",
        "--subsamples",
        "4",
        "--omega",
        "5",
        "--seed",
        "7",
    )
    document = _released(run, tmp_path, *numbers, "--no-trace-noise", "--signed-times")
    assert document["parameters"] == {
        "alpha": 3,
        "b": 1.5,
        "gamma": 0.1,
        "delta": 0.01,
        "subsamples": 4,
        "trace_noise": False,
        "signed_times": True,
        "omega": 5,
    }
    same = libra.anonymize(
        example.path(), mechanism="libra2022", seed=7, alpha=3, b=1.5, gamma=0.1, delta=0.01, subsamples=4, trace_noise=False,
        signed_times=True, omega=5,
    )  # fmt: skip
    assert libra.read(tmp_path / "out.xes.gz").events.equals(same.log.events)
    assert any("Trace noise was switched off" in caveat for caveat in document["guarantee"]["caveats"])


def test_the_certificate_names_the_file_and_holds_the_claim(tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.xes.gz", tmp_path / "certificate.json"
    assert run("anonymize", example.path(), "-o", out, *LIBRA2022, "--certificate", certificate).code == 0
    document = json.loads(certificate.read_text(encoding="utf-8"))
    assert document["guarantee"]["kind"] == "claimed"
    assert document["claimed"]["subsamples"] == 20
    assert document["output"] == {"file": "out.xes.gz", "sha256": hashlib.sha256(out.read_bytes()).hexdigest()}


@pytest.mark.parametrize("words", [(), ("--subsamples", "paper"), ("--delta", "0.5", "--alpha", "2")])
def test_the_certificate_is_the_same_whatever_the_log(words: tuple[str, ...], tmp_path: Path, rare: Path, run: Run) -> None:
    """Nothing in it is computed from the original: only the file's own name and fingerprint differ."""
    documents = []
    for log in (rare, example.path()):
        run("anonymize", log, "-o", tmp_path / "out.csv", *LIBRA2022, "--certificate", tmp_path / "c.json", *words)
        document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
        documents.append(document | {"output": document["output"]["file"]})
    assert documents[0] == documents[1]


def test_the_papers_number_of_subsamples_is_told_to_the_custodian_alone(tmp_path: Path, run: Run) -> None:
    document = _released(run, tmp_path, "--subsamples", "paper", "--certificate", str(tmp_path / "c.json"))
    certificate = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert document["claimed"]["subsamples"] > 20
    assert certificate["claimed"]["subsamples"] is certificate["claimed"]["renyi_epsilon"] is None
    assert str(document["claimed"]["subsamples"]) not in certificate["guarantee"]["statement"]


def test_an_empty_release_is_written_explained_and_ends_with_1(tmp_path: Path, rare: Path, run: Run) -> None:
    out = tmp_path / "out.xes"
    answer = run("anonymize", rare, "-o", out, *LIBRA2022)
    assert answer.code == 1
    assert "none has more than 3" in answer.err
    assert "would have to be 3 or lower" in answer.err
    assert libra.read(out, allow_empty=True).n_cases == 0
    quiet = run("anonymize", rare, "-o", out, *LIBRA2022, "--quiet")
    assert quiet.code == 1
    assert "would have to be 3 or lower" in quiet.err
    said = run("anonymize", rare, "-o", out, *LIBRA2022, "--json")
    document = json.loads(said.out)
    assert said.code == 1
    assert document["confidential"]["needed_threshold"] == 3
    assert document["confidential"]["clipping_threshold"] > 3
    assert "would have to be 3 or lower" in document["shortfall"]


def test_what_an_empty_release_advises_does_help(tmp_path: Path, rare: Path, run: Run) -> None:
    err = run("anonymize", rare, "-o", tmp_path / "out.xes", *LIBRA2022).err
    scale = err.split("--b ")[1].split()[0]
    answer = run("anonymize", rare, "-o", tmp_path / "out.xes", *LIBRA2022, "--b", scale, "--json", "--gamma", "1")
    assert json.loads(answer.out)["confidential"]["clipping_threshold"] <= 3


def test_a_seed_stamps_everything_not_private(tmp_path: Path, run: Run) -> None:
    out, certificate = tmp_path / "out.xes", tmp_path / "c.json"
    answer = run("anonymize", example.path(), "-o", out, *LIBRA2022, "--seed", "1", "--certificate", certificate)
    assert "not private: seeded" in answer.err
    assert "not private: seeded" in out.read_text(encoding="utf-8")
    assert json.loads(certificate.read_text(encoding="utf-8"))["randomness"] == "not private: seeded"
    parquet = tmp_path / "out.parquet"
    run("anonymize", example.path(), "-o", parquet, *LIBRA2022, "--seed", "1")
    assert libra.read(parquet).metadata.attributes[0].value == "not private: seeded"


def test_the_same_seed_gives_the_same_file_and_none_gives_another(tmp_path: Path, run: Run) -> None:
    def bytes_of(*words: str) -> bytes:
        assert run("anonymize", example.path(), "-o", tmp_path / "out.csv", *LIBRA2022, *words).code == 0
        return (tmp_path / "out.csv").read_bytes()

    assert bytes_of("--seed", "5") == bytes_of("--seed", "5") != bytes_of("--seed", "6")
    assert bytes_of() != bytes_of()


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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "not part of this version"),
        (("--mechanism", "amun"), "not part of this version"),
        (("--mechanism", "lapras"), 'no mechanism "lapras"'),
        ((*LIBRA2022, "--alpha", "1"), "alpha"),
        ((*LIBRA2022, "--alpha", "nan"), "alpha"),
        ((*LIBRA2022, "--b", "0"), "b "),
        ((*LIBRA2022, "--gamma", "0"), "gamma"),
        ((*LIBRA2022, "--gamma", "1.5"), "gamma"),
        ((*LIBRA2022, "--delta", "1"), "delta"),
        ((*LIBRA2022, "--subsamples", "0"), "subsamples"),
        ((*LIBRA2022, "--subsamples", "many"), "subsamples"),
        ((*LIBRA2022, "--omega", "-1"), "omega"),
        ((*LIBRA2022, "--seed", "-1"), "seed"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error_before_anything_is_read(
    words: tuple[str, ...], told: str, tmp_path: Path, run: Run
) -> None:
    answer = run("anonymize", tmp_path / "missing.csv", "-o", tmp_path / "out.csv", *words)
    assert answer.code == 2
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_certificate_must_not_replace_the_log_or_its_copy(tmp_path: Path, table: Path, run: Run) -> None:
    before = table.read_bytes()
    for certificate in (table, tmp_path / "out.csv"):
        answer = run("anonymize", table, "-o", tmp_path / "out.csv", *LIBRA2022, "--certificate", certificate)
        assert answer.code == 2
    assert table.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


def test_a_certificate_that_cannot_be_written_stops_before_the_log_is_written(tmp_path: Path, run: Run) -> None:
    words = ("--certificate", tmp_path / "nowhere" / "c.json")
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", *LIBRA2022, *words)
    assert answer.code == 3
    assert not (tmp_path / "out.csv").exists()


def test_in_python_the_log_may_be_a_frame_and_the_anonymizer_a_function() -> None:
    seen: list[float] = []

    def untouched(cases: Cases, epsilon: float, _random: Randomness) -> Cases:
        seen.append(epsilon)
        return cases

    frame = libra.read(example.path()).to_polars()
    release = libra.anonymize(frame, mechanism="libra2022", anonymizer=untouched, subsamples=3)
    assert isinstance(release.log, EventLog)
    assert seen == [pytest.approx(0.42869, abs=1e-5)] * 3
    assert release.parameters["anonymizer"] == "untouched"
    assert any("another anonymizer" in caveat for caveat in release.guarantee.caveats)


@pytest.mark.parametrize(
    "wrong",
    [{"mechanism": "libra"}, {"alhpa": 3}, {"seed": "x"}, {"seed": True}, {"trace_noise": "no"}, {"anonymizer": 3}],
)
def test_in_python_a_wrong_call_is_a_usage_error(wrong: dict[str, Any], small_log: EventLog) -> None:
    with pytest.raises(UsageError):
        libra.anonymize(small_log, **({"mechanism": "libra2022"} | wrong))


def test_nothing_of_the_original_but_labels_and_times_is_in_the_file(tmp_path: Path) -> None:
    original = libra.read(example.path())
    secret = original.cases.with_columns(pl.col("concept:name") + "-secret-id", pl.lit("secret-attribute").alias("diagnosis"))
    log = EventLog(original.events, secret, original.metadata)
    release = libra.anonymize(log, mechanism="libra2022")
    for name in ("out.xes", "out.csv"):
        libra.write(release.log, tmp_path / name)
        assert "secret" not in (tmp_path / name).read_text(encoding="utf-8")
    assert "secret" not in repr(release)


def test_errors_are_libra_errors(tmp_path: Path) -> None:
    with pytest.raises(LibraError):
        libra.anonymize(tmp_path / "missing.xes", mechanism="libra2022")
