"""A released model as a file: logs of any size follow from it, and anything that is no model is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import libra
from libra.errors import InputError, UsageError
from libra.eventlog.in_parts import LogInParts
from libra.example.simulate import simulate
from libra.mechanisms.libra import model_file
from libra.mechanisms.libra.generate import planned
from libra.mechanisms.libra.model_file import read_model, write_model
from libra.mechanisms.release import Release

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def release() -> Release:
    return libra.anonymize(simulate(cases=1200), epsilon=2.0, delta=1e-4)


@pytest.fixture
def file(release: Release, tmp_path: Path) -> Path:
    write_model(release, tmp_path / "model.json")
    return tmp_path / "model.json"


def test_the_model_of_a_log_makes_the_same_log_again(release: Release, file: Path) -> None:
    log = planned(read_model(file).figures).in_parts(seeded=False)
    assert log.equals(release.log)


def test_logs_of_any_size_are_like_the_released_one(release: Release, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.libra.generate.planned.__kwdefaults__", {"part_events": 20_000})
    log = read_model(file).planned(20_000).in_parts(seeded=False)
    assert isinstance(log, LogInParts)
    assert (log.n_cases, log.n_events) == (20_000, log.events.height)
    shares = [each.variants.counts[0] / each.n_cases for each in (release.log, log)]
    assert shares[1] == pytest.approx(shares[0], rel=0.02)


def test_a_seed_makes_another_log_of_the_same_size(file: Path) -> None:
    model = read_model(file)
    one, again, other = (model.planned(500, seed).in_parts(seeded=False) for seed in (1, 1, 2))
    assert one.equals(again)
    assert not one.equals(other)
    assert other.n_cases == 500


def test_the_promise_goes_along_and_so_does_a_seed(release: Release, file: Path, tmp_path: Path) -> None:
    assert read_model(file).statement == release.guarantee.statement
    assert not read_model(file).seeded
    write_model(libra.anonymize(simulate(cases=1200), seed=1), tmp_path / "seeded.json")
    seeded = read_model(tmp_path / "seeded.json")
    assert seeded.seeded
    assert "seeded" in seeded.statement


def test_several_runs_are_one_model(tmp_path: Path) -> None:
    release = libra.anonymize(simulate(cases=1200), epsilon=8.0, delta=1e-3, subsamples=3)
    write_model(release, tmp_path / "model.json")
    assert read_model(tmp_path / "model.json").planned(1001).n_cases == 1001


def test_a_mechanism_without_figures_has_no_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="travas has no model"):
        write_model(libra.anonymize(simulate(cases=300), mechanism="travas"), tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "this is not JSON"),
        (b"\xff\xfe\x00", "this is not text in UTF-8"),
        (b'{"document": ', "line 1: this is not JSON"),
        (b"[1, 2]", "this is JSON, but no Libra model"),
        (b'{"document": "Libra certificate"}', "this is JSON, but no Libra model"),
        (b'{"document": "Libra model", "format": 7}', "this model is of format 7, and this version of Libra knows 2"),
        (b'{"document": "Libra model", "format": 2}', "do not fit together"),
        (b"[" * 100_000, "no JSON that can be read"),
        (b'{"document": ' + b"9" * 10_000 + b"}", "no JSON that can be read"),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told) as caught:
        read_model(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


CHANGES: list[Change] = [
    lambda plain: plain.pop("figures"),
    lambda plain: plain.pop("statement"),
    lambda plain: plain.update(seeded="no"),
    lambda plain: plain.update(figures=[]),
    lambda plain: plain.update(figures={"labels": []}),
    lambda plain: plain["figures"][0].pop("times"),
    lambda plain: plain["figures"][0].update(draw=-1),
    lambda plain: plain["figures"][0].update(draw="x"),
    lambda plain: plain["figures"][0].update(labels=["a"]),
    lambda plain: plain["figures"][0].update(labels=[1] * len(plain["figures"][0]["labels"])),
    lambda plain: plain["figures"][0]["kept"].append([0, 10**6]),
    lambda plain: plain["figures"][0]["kept"].pop(),
    lambda plain: plain["figures"][0].update(time_zone="Mars/Olympus"),
    lambda plain: plain["figures"][0]["times"].update(noisy={}),
    lambda plain: plain["figures"][0]["times"]["noisy"].pop("hours"),
    lambda plain: plain["figures"][0]["times"].update(parts=[]),
    lambda plain: plain["figures"][0].update(weight="much"),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_model_whose_figures_do_not_fit_together_is_refused(number: int, file: Path) -> None:
    plain = json.loads(file.read_text())
    CHANGES[number](plain)
    file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="do not fit together"):
        read_model(file)


def test_a_file_that_is_too_large_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "LARGEST", 1000)
    with pytest.raises(InputError, match="too large"):
        read_model(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json"):
        read_model(tmp_path / "none.json")
