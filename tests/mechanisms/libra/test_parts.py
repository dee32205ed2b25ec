"""Generation in parts: every case once, the same in any process, and with one part what it always was."""

from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import libra
from libra import example
from libra._system.randomness import Randomness
from libra.eventlog.attributes import Attribute
from libra.eventlog.in_parts import LogInParts
from libra.example.simulate import simulate
from libra.mechanisms.libra.figures import Figures, case_counts, weighted
from libra.mechanisms.libra.generate import generate, planned, sharing_cases
from libra.mechanisms.release import Release

ELSEWHERE = """
import json, sys, hashlib
from libra.mechanisms.libra.figures import Figures
from libra.mechanisms.libra.generate import planned
runs = [Figures.from_dict(run) for run in json.load(open(sys.argv[1]))]
plan = planned(runs, part_events=2000)
for i in map(int, sys.argv[2:]):
    print(hashlib.sha256(plan.log(i, seeded=False).to_polars().write_csv().encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def release() -> Release:
    return libra.anonymize(simulate(cases=1500), epsilon=3.0, delta=1e-4, seed=1)


@pytest.fixture(scope="module")
def several() -> Release:
    """Three runs, each with its own choice of labels."""
    return libra.anonymize(simulate(cases=1500), epsilon=8.0, delta=1e-3, subsamples=3, seed=2)


def test_one_part_is_the_log_as_it_was(release: Release, several: Release) -> None:
    for one in (release, several):
        plan = planned(one.figures)
        assert plan.n_parts == 1
        assert plan.in_parts(seeded=True).equals(one.log)
        assert (plan.n_cases, plan.n_events) == (one.log.n_cases, one.log.n_events)
        parts = planned(one.figures, part_events=plan.n_events // 2).in_parts(seeded=True)
        assert (parts.n_variants, tuple(parts.activities)) == (one.log.n_variants, tuple(one.log.activities))


@pytest.mark.parametrize("part_events", [5000, 2000, 301])
def test_the_parts_have_the_control_flow_of_the_whole(release: Release, part_events: int) -> None:
    (figures,) = release.figures
    plan = planned([figures], part_events=part_events)
    traces, weights = weighted(figures.control, Randomness(figures.draw))
    counts = case_counts(weights, figures.weight, figures.cases, Randomness(figures.draw ^ 2))
    whole = traces.take(np.repeat(np.arange(len(traces)), counts))
    parts = [plan.part(i) for i in range(plan.n_parts)]
    assert plan.n_parts == -(-len(whole.codes) // part_events)
    dealt = [bytes(part.codes[a:b]) for part in parts for a, b in zip(part.offsets[:-1], part.offsets[1:], strict=True)]
    assert sorted(dealt) == sorted(bytes(whole.codes[a:b]) for a, b in zip(whole.offsets[:-1], whole.offsets[1:], strict=True))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_a_log_in_parts_knows_itself_and_has_every_id_once(release: Release, several: Release) -> None:
    for one in (release, several):
        log = planned(one.figures, part_events=2000).in_parts(seeded=True)
        assert isinstance(log, LogInParts)
        assert log.n_parts > 3
        ids = [name for part in log.parts() for name in part.cases["concept:name"]]
        assert ids == [f"seeded-{number}" for number in range(1, log.n_cases + 1)]
        assert (log.n_cases, log.n_events) == (log.cases.height, log.events.height)
        assert log.n_variants == len(log.variants) == one.log.n_variants
        assert log.activities == sorted(set(log.events["concept:name"]))
        assert log.metadata == one.log.metadata == log.part(1).metadata


def test_every_part_draws_by_itself_and_is_like_the_whole(release: Release) -> None:
    log = planned(release.figures, part_events=4000).in_parts(seeded=False)
    starts = [set(part.timestamps[part.case_offsets[:-1]].tolist()) for part in log.parts()]
    assert all(len(one & other) < len(one) / 4 for i, one in enumerate(starts) for other in starts[:i])
    whole = release.log
    assert log.directly_follows.counts.sum() == whole.directly_follows.counts.sum()
    spans = [np.median(np.subtract(*each.case_spans[::-1])) for each in (whole, log)]
    assert spans[1] == pytest.approx(spans[0], rel=0.15)
    for part in log.parts():
        first = part.timestamps[part.case_offsets[:-1]]
        assert (np.diff(first) >= 0).all()
        assert part.in_time_order


def test_another_process_makes_the_same_parts_in_any_order(release: Release, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    file.write_text(json.dumps([run.to_dict() for run in release.figures]))
    found = subprocess.run([sys.executable, "-c", ELSEWHERE, str(file), "2", "0"], capture_output=True, text=True, check=True)
    plan = pickle.loads(pickle.dumps(planned(release.figures, part_events=2000)))  # noqa: S301  # our own
    expected = [hashlib.sha256(plan.log(i, seeded=False).to_polars().write_csv().encode()).hexdigest() for i in (2, 0)]
    assert found.stdout.split() == expected


def test_a_log_in_parts_goes_through_a_pickle(release: Release) -> None:
    log = planned(release.figures, part_events=3000).in_parts(seeded=False)
    assert pickle.loads(pickle.dumps(log)).equals(log)  # noqa: S301  # our own


def test_all_parts_together_are_what_is_generated(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.libra.generate.planned", lambda runs: planned(runs, part_events=2500))
    log = planned(release.figures, part_events=2500).in_parts(seeded=False)
    assert generate(release.figures).micros.tolist() == log.timestamps.tolist()


def test_any_number_of_cases_can_be_asked_for(release: Release) -> None:
    for cases in (1, 17, 12_345):
        plan = planned(sharing_cases(release.figures, [True], cases), part_events=20_000)
        assert plan.n_cases == cases
        assert sum(len(plan.part(i)) for i in range(plan.n_parts)) == cases


def test_where_nothing_stood_out_there_is_one_empty_part() -> None:
    nothing = libra.anonymize(simulate(cases=3), epsilon=0.1, delta=1e-6, seed=1)
    assert nothing.log.n_cases == 0
    plan = planned(nothing.figures)
    assert (plan.n_parts, plan.n_cases, plan.n_events) == (1, 0, 0)
    assert plan.in_parts(seeded=True).equals(nothing.log)


def test_the_grain_of_the_times_is_that_of_the_log(release: Release, tmp_path: Path) -> None:
    log = planned(release.figures, part_events=4000).in_parts(seeded=False)
    libra.write(log, tmp_path / "log.csv")
    assert not (log.timestamps % 60_000_000).any()  # the bundled process has whole minutes
    assert (tmp_path / "log.csv").read_text().splitlines()[1].endswith(":00+00:00")


def test_time_zones_keep_the_order_of_every_part(several: Release) -> None:
    runs = [replace(run, time_zone="America/New_York") for run in several.figures]
    log = planned(runs, part_events=3000).in_parts(seeded=False)
    assert log.in_time_order


def test_figures_that_went_through_json_plan_the_same(several: Release) -> None:
    again = [Figures.from_dict(json.loads(json.dumps(run.to_dict()))) for run in several.figures]
    one, other = (planned(runs, part_events=2000).in_parts(seeded=False) for runs in (several.figures, again))
    assert one.equals(other)


def test_times_that_were_made_for_attributes_are_those_that_figures_alone_give() -> None:
    """The first part is generated while attributes are released, and taken over; another process makes it anew."""
    attributes = [Attribute("case:complaint", "category"), Attribute("case:age", "number", lowest=0, highest=120)]
    with_attributes = libra.anonymize(example.path(), epsilon=2.0, delta=1e-4, attributes=attributes)
    assert {"complaint", "age"} <= {*with_attributes.log.cases.columns}
    anew = planned(with_attributes.figures).in_parts(seeded=False)
    assert anew.equals(with_attributes.log)
