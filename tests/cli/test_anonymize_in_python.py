"""`libra.anonymize`: the sources it takes, what it calls, what it refuses, and what it keeps out of its result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from libra import example
from libra.errors import InputError, LibraError, UsageError
from libra.eventlog.log import EventLog
from libra.mechanisms.cases import Cases
from libra.privacy.randomness import Randomness


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
    "wrong", [{"mechanism": "libra"}, {"seed": "x"}, {"seed": True}, {"seed": -1}, {"trace_noise": "no"}, {"anonymizer": 3}]
)
def test_a_wrong_value_is_a_usage_error_before_anything_is_read(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        libra.anonymize(tmp_path / "missing.csv", **({"mechanism": "libra2022"} | wrong))


def test_without_a_mechanism_it_is_libra_which_is_not_there_yet(small_log: EventLog) -> None:
    with pytest.raises(UsageError, match=r'The mechanism "libra" is not part of this version\. Say --mechanism libra2022'):
        libra.anonymize(small_log)


def test_a_misspelt_keyword_is_answered_with_the_right_one(small_log: EventLog) -> None:
    expected = r"libra\.anonymize\(\) got an unexpected keyword argument 'alhpa'\. Did you mean 'alpha'\?"
    with pytest.raises(TypeError, match=expected):
        libra.anonymize(small_log, mechanism="libra2022", alhpa=3)  # type: ignore[call-arg]  # the mistake under test


def test_nothing_of_the_original_but_labels_and_times_is_in_the_file(tmp_path: Path) -> None:
    original = libra.read(example.path())
    secret = original.cases.with_columns(pl.col("concept:name") + "-secret-id", pl.lit("secret-attribute").alias("diagnosis"))
    log = EventLog(original.events, secret, original.metadata)
    release = libra.anonymize(log, mechanism="libra2022")
    for name in ("out.xes", "out.csv"):
        release.write(tmp_path / name)
        assert "secret" not in (tmp_path / name).read_text(encoding="utf-8")
    assert "secret" not in repr(release)


def test_errors_are_libra_errors(tmp_path: Path) -> None:
    with pytest.raises(LibraError) as caught:
        libra.anonymize(tmp_path / "missing.xes", mechanism="libra2022")
    assert isinstance(caught.value, InputError)
