"""`libra anonymize` on logs that say little: times in no zone, and no event at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libra

from .conftest import HEADER, LIBRA2022, Run

HOUR = 3_600_000_000  # microseconds
NO_ZONE = "in no zone, so their hours and days are kept as they stand; --time-zone did not count."
XES = '<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0">\n{}</log>\n'
ZONE = ("--time-zone", "Asia/Tokyo")


def write_visits(path: Path, zone: str) -> Path:
    """Six hundred visits, all of which begin between nine and ten and end in the hour after; times have this ending."""
    rows, traces = ["case,activity,timestamp"], []
    for case in range(600):
        times = [f"2024-05-{case % 28 + 1:02}T{hour:02}:{case % 60:02}:00{zone}" for hour in (9, 10)]
        rows += [f"c{case},{label},{time}" for label, time in zip(("arrive", "leave"), times, strict=True)]
        events = "".join(
            f'<event><string key="concept:name" value="{label}"/><date key="time:timestamp" value="{time}"/></event>'
            for label, time in zip(("arrive", "leave"), times, strict=True)
        )
        traces.append(f'<trace><string key="concept:name" value="c{case}"/>{events}</trace>\n')
    path.write_text(XES.format("".join(traces)) if path.suffix == ".xes" else "\n".join(rows) + "\n", encoding="utf-8")
    return path


def _released(run: Run, log: Path, *words: str) -> tuple[dict[str, Any], float]:
    """What is said of a release, and the share of cases that begin between nine and ten, as the times stand."""
    out = log.parent / "out.csv"
    answer = run("anonymize", log, "-o", out, "--json", "--epsilon", "5", "--seed", "1", *words)
    assert answer.code == 0, answer.err
    starts = libra.read(out).case_spans[0]
    return json.loads(answer.out), float(np.mean(starts // HOUR % 24 == 9))


@pytest.mark.parametrize("name", ["visits.csv", "visits.xes"])
def test_times_in_no_zone_keep_their_hours_whatever_zone_is_named_and_that_is_said(name: str, tmp_path: Path, run: Run) -> None:
    log = write_visits(tmp_path / name, zone="")
    plain, at_nine = _released(run, log)
    written = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert at_nine > 0.9
    assert not any(NO_ZONE in note for note in plain["notes"])
    named, _ = _released(run, log, *ZONE)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == written
    assert sum(NO_ZONE in note for note in named["notes"]) == 1
    assert named["parameters"]["time_zone"] == "UTC", "what did not count is not what it was asked with"


@pytest.mark.parametrize("name", ["visits.csv", "visits.xes"])
def test_times_in_a_zone_are_counted_in_the_one_that_is_named(name: str, tmp_path: Path, run: Run) -> None:
    log = write_visits(tmp_path / name, zone="+00:00")
    document, at_nine = _released(run, log, *ZONE)
    assert not any(NO_ZONE in note for note in document["notes"])
    assert document["parameters"]["time_zone"] == "Asia/Tokyo"
    assert at_nine > 0.9  # the same hour of the same clock, by way of Tokyo


EMPTY = {"empty.csv": HEADER, "empty.tsv": HEADER.replace(",", "\t"), "empty.xes": XES.format("")}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("out", ["out.csv", "out.xes"])
def test_an_empty_log_gives_an_empty_log_and_ends_well(name: str, out: str, tmp_path: Path, run: Run) -> None:
    """Whether there is a release must not depend on a single case."""
    (tmp_path / name).write_text(EMPTY[name], encoding="utf-8")
    answer = run("anonymize", tmp_path / name, "-o", tmp_path / out, "--json")
    assert answer.code == 0, answer.err
    document = json.loads(answer.out)
    assert document["released"] == {"cases": 0, "events": 0, "variants": 0}
    assert sum("The anonymized log is empty" in note for note in document["notes"]) == 1
    assert libra.read(tmp_path / out, allow_empty=True).n_events == 0
    assert libra.anonymize(tmp_path / name).log.n_cases == 0


@pytest.mark.parametrize("name", EMPTY)
def test_for_the_published_algorithm_an_empty_log_is_bad_input_as_ever(name: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / name).write_text(EMPTY[name], encoding="utf-8")
    assert run("anonymize", tmp_path / name, "-o", tmp_path / "out.csv", *LIBRA2022).code == 3
    assert not (tmp_path / "out.csv").exists()


def test_more_labels_than_can_be_paired_are_a_usage_error_in_one_line(tmp_path: Path, run: Run) -> None:
    rows = [f"c{i // 50},label {i},2024-05-06T08:00:00Z" for i in range(5_050)]
    log = tmp_path / "many.csv"
    log.write_text("\n".join(["case,activity,timestamp", *rows]) + "\n", encoding="utf-8")
    answer = run("anonymize", log, "-o", tmp_path / "out.csv", "--quiet", "--public-labels")
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (2, "", 1)
    assert "leave labels private" in answer.err
    assert not (tmp_path / "out.csv").exists()
    assert run("anonymize", log, "-o", tmp_path / "out.csv").code == 0
