"""The published algorithm as a whole: what comes out of it, and how its parameters show in that."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from some_cases import COUNTS, log_of, variants_in

from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.example.simulate import simulate
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.steps import clipping_threshold
from libra.privacy.randomness import SEEDED, Randomness
from libra.privacy.renyi import laplace_epsilon


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("noise", [False, True])
def test_no_variant_comes_out_that_did_not_go_in(noise: bool, signed: bool) -> None:
    log = simulate()
    for alpha in (2, 10):
        mechanism = Libra2022(alpha=alpha, trace_noise=noise, signed_times=signed)
        release = mechanism.anonymize(log, Randomness(seed=alpha))
        assert release.log.n_cases > 500
        counts = log.variants.traces.filter(pl.col("count") >= release.confidential["clipping_threshold"])["trace"].to_list()
        frequent = {tuple(log.activities[code] for code in trace) for trace in counts}
        assert variants_in(release.log) <= frequent < variants_in(log)
        assert signed is not release.log.in_time_order


def test_rare_variants_are_left_out_and_frequent_ones_stay() -> None:
    log = log_of({"abc": 200, "de": 40, "fg": 39})
    epsilon = laplace_epsilon(10, 2)
    delta = 2 * 3 / math.exp(40 * epsilon)
    assert clipping_threshold(epsilon, delta, 3) == 40
    released = Libra2022(delta=delta, trace_noise=False, subsamples=100).anonymize(log, Randomness(seed=1)).log
    assert variants_in(released) == {tuple("abc"), tuple("de")}


def test_the_release_has_about_as_many_cases_as_were_kept_where_all_is_relevant() -> None:
    log = log_of({"abc": 800, "acb": 400})
    released = Libra2022(trace_noise=False, omega=0).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases == pytest.approx(1200, abs=4 * math.sqrt(20 * 1200 * 0.05 * 0.95))


def test_the_default_noise_is_that_of_epsilon_alpha() -> None:
    log = log_of({"ab": 3000}, minutes=100_000)
    for alpha in (2, 100):
        mechanism = Libra2022(alpha=alpha, gamma=1, subsamples=1, trace_noise=False, omega=0)
        released = mechanism.anonymize(log, Randomness(seed=1)).log
        minutes = released.directly_follows.step_micros / 60_000_000 - 100_000
        assert released.n_cases == 3000
        assert np.abs(minutes).mean() * laplace_epsilon(alpha, 2) == pytest.approx(1, rel=0.08)


def test_omega_reaches_the_choice_of_relevant_cases() -> None:
    log = log_of({"abc": 900, "acb": 300})
    sizes = [Libra2022(trace_noise=False, omega=omega).anonymize(log, Randomness(seed=1)).log.n_cases for omega in (0, 1e9)]
    assert sizes[0] > 1000
    assert sizes[1] < 100


def test_trace_noise_can_be_switched_off() -> None:
    log = log_of({"abc": 400}, minutes=100_000)
    whole = Libra2022(gamma=1, subsamples=1, trace_noise=False, omega=0).anonymize(log, Randomness(seed=2))
    assert whole.log.n_cases == 400
    assert any("switched off" in caveat for caveat in whole.guarantee.caveats)
    noisy = [Libra2022(gamma=1, subsamples=1, omega=0).anonymize(log, Randomness(seed)).log.n_cases for seed in range(8)]
    assert len(set(noisy)) > 2


def test_the_same_seed_gives_the_same_log_and_another_seed_another() -> None:
    log = log_of(COUNTS)
    one, again, other = (Libra2022(delta=1e-2).anonymize(log, Randomness(seed)) for seed in (1, 1, 2))
    assert one.log.equals(again.log)
    assert not one.log.equals(other.log)
    assert one.seeded
    assert one.certificate()["randomness"] == SEEDED
    assert one.log.metadata.attributes == (Attribute("privacy", "string", SEEDED),)


def test_the_operating_system_gives_another_log_each_time() -> None:
    log = log_of(COUNTS)
    one, other = (Libra2022(delta=1e-2).anonymize(log, Randomness()) for _ in range(2))
    assert not one.log.equals(other.log)
    assert not one.seeded
    assert one.certificate()["randomness"] == "operating system"
    assert one.log.metadata == LogMetadata()


def test_progress_counts_the_subsamples() -> None:
    told: list[tuple[int, int]] = []
    Libra2022(subsamples=3).anonymize(log_of(COUNTS), Randomness(seed=1), lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("make", [simulate, lambda: log_of(COUNTS, minutes=0), lambda: log_of(COUNTS, minutes=-30)])
def test_sorting_by_time_in_pandas_makes_no_new_variant(make: Callable[[], EventLog]) -> None:
    pytest.importorskip("pandas")
    log = make()
    released = Libra2022(delta=1e-2).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases > 100
    table = released.to_pandas().sort_values("time:timestamp", kind="stable")
    traces = table.groupby("case:concept:name", sort=False)["concept:name"].agg(tuple)
    assert len(traces) == released.n_cases
    assert set(traces) <= variants_in(log)
