"""`libra.anonymize`: the sources it takes, what it calls, what it refuses, and what it keeps out of its result."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from libra import example
from libra._system.randomness import Randomness
from libra.errors import InputError, LibraError, UsageError
from libra.eventlog.cases import Cases
from libra.eventlog.log import EventLog


def test_the_log_may_be_a_frame_and_the_anonymizer_a_function() -> None:
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


def test_progress_is_called_for_the_reading_and_then_with_subsamples_done_and_in_all() -> None:
    calls: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total))

    libra.anonymize(example.path(), mechanism="libra2022", subsamples=5, progress=progress)
    size = example.path().stat().st_size
    assert calls[-5:] == [(number, 5) for number in range(1, 6)]
    assert calls[:-5]
    assert {total for _, total in calls[:-5]} == {size}


def test_keywords_about_reading_count(crowd: Path) -> None:
    frame = pl.read_csv(crowd).with_columns(ward=pl.lit("A"))
    assert libra.anonymize(frame, mechanism="libra2022", activity="ward").log.activities == ["A"]


@pytest.mark.parametrize(
    "wrong", [{"mechanism": "lapras"}, {"seed": "x"}, {"seed": True}, {"seed": -1}, {"trace_noise": "no"}, {"anonymizer": 3}]
)
def test_a_wrong_value_is_a_usage_error_before_anything_is_read(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        libra.anonymize(tmp_path / "missing.csv", **({"mechanism": "libra2022"} | wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        *({"epsilon": value} for value in (0, -1, math.nan, math.inf, "1", True)),
        *({"delta": value} for value in (0, 1, math.nan)),
        *({"budget": value} for value in ({"control": 0.0}, {"control": 0.5, "times": 0.2}, {"costs": 1.0}, {}, "control")),
        *({"subsamples": value} for value in (0, 1.5, "paper")),
        *({"cases": value} for value in (0, -3, 2.5)),
        {"tail": "wag"},
        {"labels": "yes"},
        {"time_zone": "Mars/Base"},
        {"gamma": 0},
        {"alpha": 2},
    ],
)
def test_a_value_that_libra_cannot_mean_is_a_usage_error_before_anything_is_read(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        libra.anonymize(tmp_path / "missing.csv", **wrong)


def test_without_a_mechanism_it_is_the_sound_one(small_log: EventLog) -> None:
    release = libra.anonymize(small_log)
    assert (release.mechanism, release.guarantee.kind, release.seeded) == ("libra", "proved", False)
    assert (release.guarantee.epsilon, release.guarantee.delta) == (1.0, 1e-5)
    assert release.ledger is not None
    assert release.claimed is None
    assert release.shortfall is None


def test_keywords_of_libra_reach_the_mechanism() -> None:
    said: dict[str, Any] = {"epsilon": 2, "delta": 1e-4, "tail": "drop", "labels": "public", "gamma": 0.5, "subsamples": 2}
    said |= {"budget": {"control": 0.7}, "time_zone": "Asia/Tokyo", "cases": 100}
    release = libra.anonymize(example.path(), **said)
    left: dict[str, Any] = {"most_cases": None, "edges": "certain", "attributes": [], "resource_names": False}
    assert release.parameters == said | {"budget": {"control": 0.7, "times": 0.3}} | left
    assert release.log.n_cases == 100
    assert release.ledger is not None
    assert (release.ledger.rate, release.ledger.times) == (0.5, 2)


def test_a_seed_draws_the_same_again_and_no_seed_does_not() -> None:
    first, again, other, free = (libra.anonymize(example.path(), seed=seed).log.events for seed in (1, 1, 2, None))
    assert first.equals(again)
    assert not first.equals(other)
    assert not free.equals(libra.anonymize(example.path()).log.events)


def test_progress_of_libra_is_told_stage_by_stage() -> None:
    calls: list[tuple[int, int]] = []
    log = libra.read(example.path())
    libra.anonymize(log, subsamples=3, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(done, 11) for done in range(1, 12)]


def test_a_misspelt_keyword_is_answered_with_the_right_one(small_log: EventLog) -> None:
    expected = r"libra\.anonymize\(\) got an unexpected keyword argument 'alhpa'\. Did you mean alpha\?"
    with pytest.raises(TypeError, match=expected):
        libra.anonymize(small_log, mechanism="libra2022", alhpa=3)  # type: ignore[call-arg]  # the mistake under test


@pytest.mark.parametrize(("flag", "meant"), [("attribute", r'attributes=\["NAME"\]'), ("all_attributes", 'attributes="all"')])
def test_flags_of_another_name_than_their_keyword_are_answered_with_it(small_log: EventLog, flag: str, meant: str) -> None:
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{flag}'\. Did you mean {meant}\?"):
        libra.anonymize(small_log, **{flag: True})  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("mechanism", ["libra", "libra2022"])
def test_nothing_of_the_original_but_labels_and_times_is_in_the_file(mechanism: str, tmp_path: Path) -> None:
    original = libra.read(example.path())
    secret = original.cases.with_columns(pl.col("concept:name") + "-secret-id", pl.lit("secret-attribute").alias("diagnosis"))
    log = EventLog(original.events, secret, original.metadata)
    release = libra.anonymize(log, mechanism=mechanism)
    for name in ("out.xes", "out.csv"):
        release.write(tmp_path / name)
        assert "secret" not in (tmp_path / name).read_text(encoding="utf-8")
    assert "secret" not in repr(release)
    assert "secret" not in json.dumps(release.to_dict())


def test_errors_are_libra_errors(tmp_path: Path) -> None:
    with pytest.raises(LibraError) as caught:
        libra.anonymize(tmp_path / "missing.xes", mechanism="libra2022")
    assert isinstance(caught.value, InputError)


def test_what_the_reader_noted_and_found_is_in_the_release_and_on_its_page(tmp_path: Path) -> None:
    rows = "".join(f"c{case},{step},0{1 + case % 9}/04/2024 08:{case % 60:02}\n" for case in range(200) for step in "ab")
    (tmp_path / "log.csv").write_text(f"case,activity,time\n{rows}", encoding="utf-8")
    release = libra.anonymize(tmp_path / "log.csv", mechanism="travas")
    assert any("read day first" in note for note in release.reading)
    assert {found.role: found.columns for found in release.roles}["case_id"] == ("case",)
    assert "read day first" in release.report().html
