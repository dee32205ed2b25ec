"""The expected error of a release is right in nine of ten releases, and follows from released figures alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from some_logs import all_different, log_from, structured

import libra
import libra.example
from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import BaseNorms, Lengths, OneCell, Size
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.measures.edges import pair_edges
from libra.measures.utility import dfg_l1, step_durations
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.expected import Durations, Estimate, Expected, duration_error, expected_of, tail_steps
from libra.mechanisms.libra.figures import Figures, weighted
from libra.mechanisms.libra.tail.release import TailFigures
from libra.mechanisms.release import Release
from libra.privacy.noise import NoisyTable

EPSILONS, SEEDS = (0.1, 0.5, 1.0, 5.0), range(200, 205)


def within(value: float | None, one: Estimate | None) -> bool:
    return value is not None and one is not None and one.lowest <= value <= one.highest


def expected(release: Release) -> Expected:
    assert release.expected is not None
    return release.expected


@pytest.fixture(scope="module")
def releases() -> list[tuple[EventLog, Release]]:
    """Of logs that nothing was fitted to, but for the first."""
    frequent = log_from([word for word in all_different(12, "abcdefgh") for _ in range(300)])
    logs = [libra.read(libra.example.path()), simulate(700, 31), simulate(3500, 32), frequent]
    every = [
        (log, Libra(epsilon=epsilon, delta=1e-4).anonymize(log, Randomness(seed)))
        for log in logs
        for epsilon in EPSILONS
        for seed in SEEDS
    ]
    return [(log, release) for log, release in every if release.log.n_cases]


def test_directly_follows_counts_are_off_as_expected(releases: list[tuple[EventLog, Release]]) -> None:
    found = [within(dfg_l1(pair_edges(log, one.log)), expected(one).dfg_l1) for log, one in releases]
    assert len(found) > 60
    assert np.mean(found) >= 0.9


def test_step_durations_are_off_as_expected(releases: list[tuple[EventLog, Release]]) -> None:
    found = [within(step_durations(pair_edges(log, one.log))[2], expected(one).edge_duration_w1_log) for log, one in releases]
    assert np.mean(found) >= 0.9


def test_cases_of_kept_variants_are_off_as_expected(releases: list[tuple[EventLog, Release]]) -> None:
    found = []
    for log, one in releases:
        control, labels = one.figures[0].control, one.figures[0].labels
        if not len(control.kept):
            continue
        counts, copied = (_counts(of) for of in (log, one.log))
        traces = [tuple(labels[code] for code in trace) for trace in control.kept.to_lists()]
        differences = sum(abs(counts.get(trace, 0) - copied.get(trace, 0)) for trace in traces)
        found.append(within(differences / sum(counts.get(trace, 0) for trace in traces), expected(one).kept_variants))
    assert len(found) > 40
    assert np.mean(found) >= 0.9


def _counts(log: EventLog) -> dict[tuple[str, ...], int]:
    traces = ([log.activities[code] for code in trace] for trace in log.variants.traces["trace"].to_list())
    return dict(zip(map(tuple, traces), log.variants.counts.tolist(), strict=True))


def test_more_budget_means_less_error() -> None:
    log, likely = simulate(2000, 33), []
    for epsilon in (0.2, 1.0, 5.0):
        runs = [expected(Libra(epsilon=epsilon, delta=1e-4).anonymize(log, Randomness(seed))) for seed in range(3)]
        durations = [one.edge_duration_w1_log for one in runs]
        likely.append([np.mean([one.dfg_l1.likely for one in runs]), np.mean([one.likely for one in durations if one])])
    assert (np.diff(np.array(likely), axis=0) < 0).all()


@pytest.mark.parametrize(
    "options", [{}, {"tail": "drop"}, {"tail": "nearest"}, {"edges": "all"}, {"subsamples": 3}, {"gamma": 0.5}]
)
def test_it_follows_from_the_released_figures_alone(options: dict[str, object]) -> None:
    mechanism = Libra(**options)  # type: ignore[arg-type]
    release = mechanism.anonymize(structured(), Randomness(3))
    plain = json.loads(json.dumps([run.to_dict() for run in release.figures]))
    runs = [Figures.from_dict(run) for run in plain]
    again = expected_of(runs, [weighted(run.control, Randomness(run.draw)) for run in runs], mechanism.plan.rate)
    assert again == expected(release)
    found = again.to_dict()
    assert Expected.from_dict(found).to_dict() == found
    for name in ("dfg_l1", "kept_variants", "edge_duration_w1_log"):
        assert 0 < found[name]["lowest"] <= found[name]["likely"] <= found[name]["highest"] < np.inf


def test_an_empty_log_has_lost_everything_for_sure() -> None:
    found = expected(Libra().anonymize(log_from(["abc"] * 3), Randomness(1)))
    assert found.dfg_l1 == Estimate(1.0, 1.0, 1.0)
    assert (found.kept_variants, found.edge_duration_w1_log, found.empty_duration_log) == (None, None, None)


UNLIKE = log_from([word for word in all_different(40, "abcdefghijklmnop") for _ in range(100)])


def test_a_release_that_is_worse_than_an_empty_log_says_so_as_a_rule() -> None:
    said, bad = [], []
    for seed in range(40):
        release = Libra(epsilon=0.08, delta=1e-4).anonymize(UNLIKE, Randomness(seed))
        if release.log.n_cases:
            said.append(expected(release).hopeless)
            bad.append((dfg_l1(pair_edges(UNLIKE, release.log)) or 0.0) >= 0.9)
            assert any("no better than an empty log" in note for note in release.notes) == said[-1]
    assert np.mean([one for one, is_bad in zip(said, bad, strict=True) if is_bad]) > 0.3
    good = [Libra(epsilon=1.0, delta=1e-4).anonymize(UNLIKE, Randomness(seed)) for seed in range(5)]
    assert not any(expected(one).hopeless for one in good)


def test_where_lengths_drown_it_says_that_little_is_known() -> None:
    durations = Estimate(0.3, 0.1, 0.6)
    unknown = Expected(Estimate(0.3, 0.1, 1.0), None, durations, 2.0, drowned=True)
    assert "unknown, perhaps worse than half (10 % to 100 %)" in unknown.sentence
    assert "step durations a factor of 2.0 (1.26 to 4.0)" in unknown.sentence
    assert unknown.warning == ""
    hopeless = Expected(Estimate(0.3, 0.1, 1.0), None, durations, 0.2, drowned=False)
    assert "the expected error of its step durations is as large" in hopeless.warning


def test_durations_are_expected_to_be_worse_with_more_noise_and_fewer_steps() -> None:
    counts = np.array([500.0, 200.0, 20.0])
    known = [(1.0, 1), (10.0, 1), (10.0, 4)]
    likely = [duration_error(counts / fewer, Durations(sd, 3.0, 1.5), 0.05).likely for sd, fewer in known]
    assert likely == sorted(likely)
    assert duration_error(counts, Durations(1.0, 3.0, 1.5), 0.5).likely > likely[0]


def test_a_false_bin_of_lengths_makes_no_thousands_of_steps() -> None:
    def noisy(table: type[OneCell], filled: dict[int, int], sd: float = 17.0) -> NoisyTable:
        counts = np.zeros(table.shape, np.int64)  # type: ignore[attr-defined]  # every table has one
        counts[list(filled)] = list(filled.values())
        return NoisyTable(counts, 1, sd)

    of_edges = NoisyTable(np.full((4, 4), 100, np.int64), 1, 20.0)
    size, norms = noisy(Size, {0: 500}), noisy(BaseNorms, {5: 500})
    plain, odd = (
        tail_steps(TailFigures(size, noisy(Lengths, {5: 500, **more}), norms, longest=3852, base=of_edges))[0]
        for more in ({}, {40: 90})
    )
    assert plain == pytest.approx(500 * 4, rel=0.1)
    assert odd == pytest.approx(plain, rel=0.3)
