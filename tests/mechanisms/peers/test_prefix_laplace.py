"""prefix-laplace as published: the query, its noise, what is claimed and why that is all."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from cases_for_peers import cases_from, log_from

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import cases_of
from libra.example.simulate import simulate
from libra.mechanisms.prefix_laplace import PrefixLaplace
from libra.mechanisms.variant_queries import Counted

QUIET = 60.0  # an epsilon at which noise is 0


def answer(counted: Counted) -> dict[tuple[int, ...], int]:
    return dict(zip(map(tuple, counted.traces.to_lists()), counted.counts.tolist(), strict=True))


def test_finished_traces_come_out_with_their_counts_and_rare_ones_do_not() -> None:
    cases = cases_from([[0, 1]] * 50 + [[0, 1, 2]] * 40 + [[2]] * 3)
    found = PrefixLaplace(epsilon=QUIET, prune=4, max_length=3).variants(cases, Randomness(seed=1))
    assert answer(found) == {(0, 1): 50, (0, 1, 2): 40}
    assert answer(PrefixLaplace(epsilon=QUIET, prune=3, max_length=3).variants(cases, Randomness(seed=1)))[2,] == 3


def test_traces_longer_than_the_longest_are_dropped() -> None:
    cases = cases_from([[0, 1]] * 50 + [[0, 1, 2]] * 40)
    found = PrefixLaplace(epsilon=QUIET, prune=1, max_length=2).variants(cases, Randomness(seed=1))
    assert answer(found) == {(0, 1): 50}


def test_the_longest_trace_is_the_average_of_a_case_rounded_up() -> None:
    cases = cases_from([[0]] * 50 + [[0, 1]] * 40 + [[0, 1, 2]] * 10)  # 1.6 on average
    found = PrefixLaplace(epsilon=QUIET, prune=1).variants(cases, Randomness(seed=1))
    assert answer(found) == {(0,): 50, (0, 1): 40}
    equal = cases_from([[0, 1]] * 9)
    assert answer(PrefixLaplace(epsilon=QUIET, prune=1).variants(equal, Randomness(seed=1))) == {(0, 1): 9}


def test_a_share_of_the_cases_is_pruned_below_1_and_a_count_from_1_up() -> None:
    cases = cases_from([[0]] * 95 + [[1]] * 5)
    for prune, kept in ((0.05, 2), (0.051, 1), (5, 2), (6, 1)):
        found = PrefixLaplace(epsilon=QUIET, prune=prune, max_length=1).variants(cases, Randomness(seed=1))
        assert len(found) == kept, prune


def test_noise_is_laplace_cut_to_whole_numbers() -> None:
    cases, query = cases_from([[0]] * 100), PrefixLaplace(epsilon=0.5, prune=50, max_length=1)
    random = Randomness(seed=3)
    errors = np.array([query.variants(cases, random).counts.sum() for _ in range(4_000)]) - 100
    assert (errors == 0).mean() == pytest.approx(-math.expm1(-0.5), abs=0.03)
    assert (errors >= 2).mean() == pytest.approx(math.exp(-1) / 2, abs=0.03)
    assert (errors <= -2).mean() == pytest.approx(math.exp(-1) / 2, abs=0.03)


def test_noise_is_on_what_nobody_does_as_well() -> None:
    cases, query = cases_from([[0, 1]] * 100), PrefixLaplace(epsilon=1.0, prune=2, max_length=2)
    random = Randomness(seed=3)
    found = [query.variants(cases, random) for _ in range(200)]
    assert {(1,), (0, 0)} <= {tuple(trace) for one in found for trace in one.traces.to_lists()}


def test_a_seed_makes_the_same_release_again() -> None:
    log = simulate(cases=400)
    one, other = (PrefixLaplace().anonymize(log, Randomness(seed=7)) for _ in range(2))
    assert one.log.events.equals(other.log.events)
    assert one.seeded
    assert not PrefixLaplace().anonymize(log, Randomness(seed=8)).log.events.equals(one.log.events)


@pytest.mark.parametrize(
    "said", [{"epsilon": 0.1}, {"prune": 1}, {"epsilon": 0.5, "prune": 0.0}, {"epsilon": 0.05, "prune": 0.02}]
)
def test_what_would_run_away_is_refused_and_the_setting_that_is_named_works(said: dict[str, Any]) -> None:
    cases = cases_of(simulate(cases=300))
    with pytest.raises(UsageError, match="run away") as refused:
        PrefixLaplace(**said).variants(cases, Randomness(seed=1))
    (enough,) = re.findall(r"--set prune=(\d+)", str(refused.value))
    PrefixLaplace(**{**said, "prune": int(enough)}).variants(cases, Randomness(seed=1))
    with pytest.raises(UsageError):
        PrefixLaplace(**{**said, "prune": int(enough) - 1}).variants(cases, Randomness(seed=1))


def test_the_claim_is_that_of_its_authors_with_what_speaks_against_it() -> None:
    query = PrefixLaplace(epsilon=0.5, max_length=5, prune=20)
    guarantee = query.guarantee(seeded=False, individuals=False)
    claim = query.claim()
    assert claim is not None
    assert (guarantee.kind, guarantee.epsilon, claim.epsilon, claim.delta) == ("claimed", None, 0.5, 0.0)
    assert "With 6 levels, that is up to 3 in place of 0.5." in guarantee.caveats[0]
    assert not any("without noise" in caveat for caveat in guarantee.caveats)
    by_default = PrefixLaplace().guarantee(seeded=False, individuals=True).caveats
    assert any("The number of cases and the average length" in caveat for caveat in by_default)
    assert len(by_default) == len(guarantee.caveats) + 2  # raw figures, and persons


def test_without_times_timestamps_are_placeholders_and_with_the_model_they_are_not() -> None:
    log = simulate(cases=800)
    without = PrefixLaplace().anonymize(log, Randomness(seed=1))
    query = PrefixLaplace(epsilon=4.0, times="model", delta=1e-4)
    modelled = query.anonymize(log, Randomness(seed=1))
    assert (without.has_times, modelled.has_times) == (False, True)
    years = [set(one.log.events["time:timestamp"].dt.year().to_list()) for one in (without, modelled)]
    assert years[0] == {2000}
    assert years[1] & set(log.events["time:timestamp"].dt.year().to_list())
    claim = modelled.claimed
    assert claim is not None
    assert claim.to_dict() == {"epsilon": 4.0, "delta": 1e-4}
    assert query.query_epsilon < 4.0


def test_parameters_that_play_no_part_are_not_told() -> None:
    assert PrefixLaplace().parameters() == {
        "epsilon": 1.0,
        "prune": 0.01,
        "max_length": None,
        "split_budget": False,
        "times": "none",
    }
    assert {"delta", "budget", "time_zone"} < set(PrefixLaplace(times="model").parameters())
    assert PrefixLaplace(**PrefixLaplace(times="model").parameters()) == PrefixLaplace(times="model")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"prune": 1.5}, "prune"),
        ({"max_length": 0}, "max_length"),
        ({"split_budget": 1}, "split_budget"),
        ({"times": "mine"}, "times"),
        ({"time_zone": "Europe/Amsterdam"}, "--set times=model"),
    ],
)
def test_what_cannot_be_meant_is_refused(said: dict[str, Any], names: str) -> None:
    with pytest.raises(UsageError, match=names):
        PrefixLaplace(**said)


def test_the_released_log_has_the_labels_of_the_original_and_fresh_ids() -> None:
    release = PrefixLaplace(epsilon=QUIET, prune=1, max_length=3).anonymize(log_from({"abc": 40, "ab": 60}), Randomness())
    assert release.log.n_cases == 100
    assert sorted(release.log.activities) == ["a", "b", "c"]
    assert not any("patient" in name for name in release.log.cases["concept:name"])
