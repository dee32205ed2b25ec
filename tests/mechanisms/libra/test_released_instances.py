"""Activity instances in releases: each starts before it is completed, as often as in the original, and nothing internal shows."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import libra
from libra._system.randomness import Randomness
from libra.certificate.content import content
from libra.engines.control_flow_tables import edge_uses
from libra.engines.sequences import both_forms, starts_among
from libra.errors import InputError, UsageError
from libra.eventlog.cases import Cases, Floats, traces_of
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.instances import SEPARATOR, started
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.example.simulate import simulate
from libra.measures import measure
from libra.mechanisms.libra.figures import Figures, weighted
from libra.mechanisms.libra.generate import planned
from libra.mechanisms.libra.instances import as_released, within_instances
from libra.mechanisms.libra.tail import well_formed
from libra.mechanisms.libra.tail.generate import Chain, draw_traces
from libra.mechanisms.libra.tail.well_formed import (
    Open,
    Rules,
    drawn_well_formed,
    lacking_starts,
    waits_of,
    with_supported_steps,
    without_open,
)
from libra.mechanisms.release import CONTENTS
from libra.privacy.noise import NoisyTable
from libra.release import Release

START, MINUTE = 1_714_982_400_000_000, 60_000_000  # a Monday of May 2024, in microseconds


def claims(cases: int = 1500) -> EventLog:
    """Register, then check and assess side by side, then decide, perhaps twice; archive takes no time."""
    random = np.random.Generator(np.random.PCG64(7))
    rows: list[tuple[int, str, int | None, int]] = []
    for case in range(cases):
        now = START + case * 30 * MINUTE

        def work(activity: str, after: int, minutes: int, case: int = case) -> int:
            end = after + int(minutes * MINUTE * random.lognormal(0, 0.3))
            rows.append((case, activity, after, end))
            return end

        now = work("register", now, 8)
        now = max(work("check", now + 20 * MINUTE, 30), work("assess", now + int(random.integers(10, 60)) * MINUTE, 45))
        for _ in range(1 + (random.random() < 0.2)):
            now = work("decide", now + int(random.integers(30, 600)) * MINUTE, 15)
        rows.append((case, "archive", None, now + MINUTE))
    schema = {"@case": pl.UInt32, "concept:name": pl.String, "start_timestamp": pl.Int64, "time:timestamp": pl.Int64}
    events = pl.DataFrame(rows, schema=schema, orient="row").sort("@case", "time:timestamp", maintain_order=True)
    events = events.with_columns(pl.col("start_timestamp", "time:timestamp").cast(UTC_MICROSECONDS))
    return EventLog(events, pl.DataFrame({"concept:name": [f"c{i}" for i in range(cases)]}), instances="pair")


def overlapping(log: EventLog) -> float:
    """The share of instances that begin before the one before them is completed."""
    began = log.events["start_timestamp"].fill_null(log.events["time:timestamp"]).to_physical().to_numpy()
    follows = np.diff(log.events["@case"].to_numpy()) == 0
    return float((began[1:] < log.timestamps[:-1])[follows].mean())


@pytest.fixture(scope="module")
def original() -> EventLog:
    return claims()


@pytest.fixture(scope="module")
def release(original: EventLog) -> Release:
    return libra.anonymize(original, epsilon=2.0, delta=1e-4, seed=1)


def test_instances_start_before_they_are_completed_and_as_many_have_starts(release: Release, original: EventLog) -> None:
    log, starts = release.log, release.log.events["start_timestamp"]
    assert log.instances == "pair"
    assert (starts < log.events["time:timestamp"]).all()
    assert log.in_time_order
    lacking = {log.events["concept:name"][row] for row in starts.is_null().arg_true().to_list()}
    assert "archive" in lacking
    shares = [one.events["start_timestamp"].null_count() / one.n_events for one in (log, original)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_service_times_and_overlaps_are_about_right(release: Release, original: EventLog) -> None:
    medians = [
        one.events.with_columns(work=pl.col("time:timestamp") - pl.col("start_timestamp"))
        .group_by("concept:name")
        .agg(pl.col("work").median().dt.total_seconds())
        .drop_nulls()
        .sort("concept:name")
        for one in (release.log, original)
    ]
    assert (
        medians[0]["concept:name"].to_list() == medians[1]["concept:name"].to_list() == ["assess", "check", "decide", "register"]
    )
    assert (medians[0]["work"] / medians[1]["work"]).is_between(0.8, 1.25).all()
    assert overlapping(release.log) == pytest.approx(overlapping(original), abs=0.05)


def test_nothing_internal_shows(release: Release, tmp_path: Path) -> None:
    shown = [json.dumps(release.to_dict()), repr(release), json.dumps([run.to_dict() for run in release.figures]), *release.notes]
    for ending in ("csv", "xes"):
        release.write(tmp_path / f"out.{ending}", certificate=tmp_path / f"{ending}.json")
        shown += [(tmp_path / name).read_text() for name in (f"out.{ending}", f"{ending}.json")]
    assert not any(SEPARATOR in text or "\\u001f" in text for text in shown)
    assert set(release.log.activities) == {"register", "check", "assess", "decide", "archive"}


@pytest.mark.parametrize("ending", ["csv", "parquet", "xes.gz"])
@pytest.mark.parametrize("mode", ["pair", "events"])
def test_a_certified_log_is_verified_and_reads_back_equal(original: EventLog, tmp_path: Path, ending: str, mode: Any) -> None:
    made = libra.anonymize(original, epsilon=2.0, delta=1e-4, instances=mode)
    file, certificate = tmp_path / f"out.{ending}", tmp_path / "certificate.json"
    made.write(file, certificate=certificate)
    assert made.log.instances == mode
    assert "times of start" in made.contents if mode == "pair" else "transitions" in made.contents
    found = libra.verify(certificate, file)
    assert found.consistent, found
    again = libra.read(file, instances=mode)
    assert again.events.equals(made.log.events)


def test_a_file_whose_instances_end_before_they_start_is_none_that_a_run_writes(release: Release, tmp_path: Path) -> None:
    file, certificate = tmp_path / "out.csv", tmp_path / "certificate.json"
    release.write(file, certificate=certificate)
    document = json.loads(certificate.read_text())
    assert content(document, file).ok
    table = pl.read_csv(file, infer_schema=False)
    table.with_columns(pl.lit("2099-01-01T00:00:00+00:00").alias("start_timestamp")).write_csv(file)
    assert "an activity that starts after it is completed" in content(document, file).found
    document["contents"] = CONTENTS
    assert "attributes that are not promised: start_timestamp" in content(document, file).found


def test_parts_are_the_whole_log_and_can_be_made_anywhere(release: Release, tmp_path: Path) -> None:
    plan = planned(release.figures)
    assert plan.in_parts(seeded=True).equals(release.log)
    assert (plan.n_cases, plan.n_events) == (release.log.n_cases, release.log.n_events)
    parts = planned(release.figures, part_events=plan.n_events // 3).in_parts(seeded=True)
    assert isinstance(parts, LogInParts)
    assert (parts.n_variants, parts.activities) == (release.log.n_variants, release.log.activities)
    elsewhere = pickle.loads(pickle.dumps(parts))  # noqa: S301  # our own
    assert elsewhere.events.equals(parts.events)
    assert parts.events.height == parts.n_events == release.log.n_events
    for ending in ("csv", "parquet", "xes"):
        libra.write(parts, tmp_path / f"out.{ending}")
        assert libra.read(tmp_path / f"out.{ending}").events.equals(parts.events)


def test_a_model_gives_instances_again(release: Release, tmp_path: Path) -> None:
    from libra.mechanisms.libra.model_file import read_model, write_model

    file = tmp_path / "model.json"
    write_model(release, file)
    assert read_model(file).planned(300, seed=3).log(0, seeded=True).instances == "pair"
    plain = json.loads(file.read_text())
    assert ["decide", "+start"] in plain["figures"][0]["labels"]
    plain["figures"][0]["labels"][plain["figures"][0]["labels"].index("decide")] = "other"
    file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="do not fit together"):
        read_model(file)


def test_listed_names_are_those_of_activities(original: EventLog) -> None:
    made = libra.anonymize(original, epsilon=2.0, delta=1e-4, labels=["register", "decide", "nobody has this"])
    assert made.log.activities == ["decide", "register"]
    assert made.figures[0].labels == both_forms(["decide", "nobody has this", "register"])
    with pytest.raises(UsageError, match=r"U\+001F"):
        libra.anonymize(original, labels=[started("decide")])


def test_figures_from_json_give_the_same_log(release: Release) -> None:
    figures = [Figures.from_dict(json.loads(json.dumps(run.to_dict()))) for run in release.figures]
    assert planned(figures).in_parts(seeded=True).equals(release.log)


@pytest.mark.parametrize("mechanism", ["libra2022", "amun", "pripel", "prefix-laplace", "sacofa", "travas"])
def test_other_mechanisms_see_one_event_an_instance_and_say_so(original: EventLog, mechanism: str) -> None:
    made = libra.anonymize(original, mechanism=mechanism, seed=1)
    assert "start_timestamp" not in made.log.events.columns
    assert any("does not release start times" in note for note in made.notes)


def chain(*rows: list[float]) -> Chain:
    return Chain(np.array(rows, np.float64), np.zeros(0, np.int64), np.zeros((0, len(rows))))


# Nodes: a, its start, b, the end.
LOOSE = chain([0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0])
COMPLETION = np.array([-1, 0, -1])
RULES = Rules(COMPLETION, np.zeros(3), np.zeros(16, bool))


def is_well_formed(trace: list[int]) -> bool:
    still = 0
    for code in trace:
        still += (code == 1) - (code == 0)
        if still < 0:
            return False
    return still == 0


@pytest.mark.parametrize("tries", [0, 20])
def test_walks_complete_what_they_start_and_start_what_they_complete(tries: int) -> None:
    opened = Open(RULES, 4000, tries)
    found = draw_traces(LOOSE, 4000, 12, Randomness(seed=1), opened)
    assert len(found) > 300
    assert all(map(is_well_formed, found.to_lists()))


def test_walks_that_fit_come_as_often_as_among_all_walks() -> None:
    """Leaving out whole walks keeps the proportions of the others."""
    everything = draw_traces(LOOSE, 200_000, 6, Randomness(seed=2)).to_lists()
    fitting = [tuple(trace) for trace in everything if is_well_formed(trace)]
    found = draw_traces(LOOSE, 200_000, 6, Randomness(seed=3), Open(RULES, 200_000, 0)).to_lists()
    for trace in ((1, 0), (2,), (1, 1, 0, 0)):
        shares = fitting.count(trace) / len(fitting), [tuple(one) for one in found].count(trace) / len(found)
        assert shares[0] == pytest.approx(shares[1], rel=0.1)


def test_no_walk_waits_with_something_open_where_kept_variants_never_do() -> None:
    """They have b before the start of a, and b while a is open; so the first is a wait, and the second is not."""
    waits = waits_of(traces_of([[2, 1, 0], [1, 2, 0]]), COMPLETION)
    assert np.flatnonzero(waits).tolist() == [2 * 4 + 1]
    found = draw_traces(LOOSE, 4000, 12, Randomness(seed=1), Open(Rules(COMPLETION, np.zeros(3), waits), 4000, 0)).to_lists()
    assert [1, 2, 0] in found
    assert [2, 1, 0] in found
    assert [1, 2, 1, 0, 0] not in found


def test_where_nothing_fits_there_is_nothing() -> None:
    never = chain([0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0])
    walks = lambda n, opened: draw_traces(never, n, 5, Randomness(seed=1), opened)  # noqa: E731
    assert not len(drawn_well_formed(walks, 10, RULES))


def test_how_many_completions_lack_a_start_is_read_off_the_edges() -> None:
    counts = np.zeros((4, 4))
    counts[3, 1], counts[1, 0], counts[3, 0], counts[0, 2] = 600, 600, 400, 1000
    edges = np.flatnonzero(counts)
    base = NoisyTable(counts.astype(np.int64), 1, 5.0)
    assert lacking_starts(base, edges, COMPLETION).tolist() == [0.4, 0.0, 0.0]
    noisy = NoisyTable(counts.astype(np.int64), 1, 150.0)
    assert lacking_starts(noisy, edges, COMPLETION).tolist() == [0.0, 0.0, 0.0]
    counts[3, 1] = counts[1, 0] = 0
    assert lacking_starts(NoisyTable(counts.astype(np.int64), 1, 5.0), np.flatnonzero(counts), COMPLETION)[0] == 1


def test_starts_that_nothing_completes_are_left_out_and_first_comes_first() -> None:
    assert without_open(traces_of([[1, 0, 1], [1, 1, 0, 2], [2]]), COMPLETION).to_lists() == [[1, 0], [1, 0, 2], [2]]
    labels = ["a", started("a"), "b"]
    assert starts_among(labels).tolist() == COMPLETION.tolist()
    codes, micros, offsets, variant = map(np.array, ([1, 1, 0, 0, 1], [0, 10, 30, 40, 50], [0, 5], [0]))
    case = Cases(codes, micros, offsets, variant, n_activities=3)
    made, _, columns = as_released(case, labels)
    assert made.micros.tolist() == [30, 40]
    assert columns is not None
    assert columns["start_timestamp"].to_physical().to_list() == [0, 10]


def test_steps_within_instances_are_those_in_which_one_is_open() -> None:
    within = within_instances(traces_of([[2, 1, 2, 0, 2], [1, 1, 0, 0], [1, 2]]), COMPLETION)
    assert within.tolist() == [False, False, True, True, False, False, True, True, True, False, False]


def test_control_flow_of_a_release_is_well_formed(release: Release) -> None:
    (figures,) = release.figures
    assert figures.control.completion is not None
    traces, weights = weighted(figures.control, Randomness(figures.draw))
    assert without_open(traces, figures.control.completion).to_lists() == traces.to_lists()
    assert (weights >= 0).all()


def test_steps_between_completions_that_only_overlaps_make_have_to_stand_out() -> None:
    """Activities a, b and c, and the starts of a and b: after "c, a starts, b starts", b is hardly ever completed first."""
    completion, nodes = np.array([-1, -1, -1, 0, 1]), 6
    rare, common = [2, 3, 4, 1, 0], [2, 3, 4, 0, 1]
    traces, weights = traces_of([rare, common]), np.array([5.0, 500.0])
    uses = edge_uses(traces, 5)
    edges = np.unique(uses.cell)
    base = NoisyTable(np.full((nodes, nodes), 100), 1, 10.0)

    def stays(kept: list[list[int]], weights: Floats, base: NoisyTable = base) -> list[int]:
        return list(with_supported_steps(traces, weights, traces_of(kept), base, edges, completion))

    assert stays([], weights) == [1]
    assert stays([rare], weights) == [0, 1]  # a kept variant has that step
    assert stays([], np.array([50.0, 500.0])) == [0, 1]  # it stands out by itself
    assert stays([], np.array([5.0, 5.0])) == []


def test_hardly_any_step_of_a_log_with_overlaps_is_made_up_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    log = simulate(cases=8000, seed=5, starts=True)

    def precision() -> float:
        return measure(log, libra.anonymize(log, delta=1e-4, seed=1).log).edge_precision or 0.0

    with_care = precision()
    monkeypatch.setattr(well_formed, "SUPPORTED", 0.0)
    assert with_care >= 0.97 > precision()
