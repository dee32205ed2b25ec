"""`--instances` on the command line: what inspect tells, what describe writes, what convert makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import libra

from .conftest import Run

ROWS = """case id,activity,lifecycle,timestamp
p1,triage,start,2024-05-06T08:00:00Z
p1,triage,complete,2024-05-06T08:20:00Z
p1,x-ray,schedule,2024-05-06T08:25:00Z
p1,x-ray,complete,2024-05-06T09:00:00Z
p2,triage,start,2024-05-06T08:10:00Z
"""


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_inspect_says_how_many_events_pair(events: Path, run: Run) -> None:
    said = "1 of 3 activity instances have a start; 2 events pair, 1 complete event has no start, 1 start event has no completion"
    answer = run("inspect", events)
    assert f"{said}; left out: schedule (1)" in " ".join(answer.out.split())
    found = json.loads(run("inspect", events, "--json").out)
    assert found["instances"] == {
        "with_start": 1, "paired": 2, "without_start": 1, "not_completed": 1, "left_out": {"schedule": 1},
    }  # fmt: skip
    assert "instances" not in json.loads(run("inspect", events, "--json", "--instances", "events").out)


def test_describe_writes_it_down(events: Path, tmp_path: Path, run: Run) -> None:
    few = run("describe", events).out
    assert '# instances = "pair"  # CHECK THIS: fewer than 10 cases' in few
    with events.open("a", encoding="utf-8") as file:
        file.writelines(ROWS.partition("\n")[2].replace("p1", f"q{i}").replace("p2", f"r{i}") for i in range(9))
    assert run("describe", events, "-o", tmp_path / "log.toml").code == 0
    line = 'instances = "pair"  # detected by content: there are start and complete events'
    assert line in (tmp_path / "log.toml").read_text()
    described = run("inspect", events, "--description", tmp_path / "log.toml", "--json")
    assert json.loads(described.out)["events"] == 30
    given = run("describe", events, "--instances", "complete").out
    assert 'instances = "complete"  # given by --instances' in given


def test_a_flag_that_contradicts_the_description_is_refused(events: Path, tmp_path: Path, run: Run) -> None:
    run("describe", events, "--instances", "pair", "-o", tmp_path / "log.toml")
    answer = run("inspect", events, "--description", tmp_path / "log.toml", "--instances", "events")
    assert answer.code == 2
    assert "--instances" in answer.err


def test_an_unknown_way_is_refused(events: Path, run: Run) -> None:
    answer = run("inspect", events, "--instances", "both")
    assert answer.code == 2
    assert "Use pair, complete or events" in answer.err


def test_convert_writes_both_times(events: Path, tmp_path: Path, run: Run) -> None:
    assert run("convert", events, tmp_path / "log.xes").code == 0
    assert (tmp_path / "log.xes").read_text().count('value="start"') == 1
    assert run("convert", tmp_path / "log.xes", tmp_path / "log.csv").code == 0
    assert libra.read(tmp_path / "log.csv").events["start_timestamp"].null_count() == 2


def test_measure_shows_both_shares_of_overlaps(events: Path, run: Run) -> None:
    answer = run("measure", events, events)
    assert "service_time_w1_log" in answer.out
    assert "0.0 % in the original, 0.0 % here" in " ".join(answer.out.split())
    assert json.loads(run("measure", events, events, "--json").out)["overlaps"] == {"original": 0, "anonymized": 0}
