"""Amun: every case is released, transitions carry noise that only adds, and its figures are those of its authors' code."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from cases_for_peers import DAY, HOUR, MINUTE, cases_from, log_from
from hypothesis import given
from hypothesis import strategies as st

import libra
from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases
from libra.mechanisms.amun import (
    Amun,
    advantage_of,
    copied_rows,
    epsilon_of,
    epsilon_of_guess,
    expected_noise,
    noise_scales,
    on_automaton,
)

TRACES = [[0, 1, 2]] * 30 + [[0, 2, 1]] * 8 + [[0, 2]] * 3 + [[3]]
NONE = np.zeros(0, np.int64)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "advantage", "authors"),
    [
        ("urineweginfectie", 0.4, (36, 46)),
        ("urineweginfectie", 0.075, (168, 175)),
        ("sepsis", 0.4, (230, 230)),
        ("sepsis", 0.075, (1048, 1048)),
        ("bpic13", 0.4, (4436, 4436)),
        ("bpic13", 0.075, (19573, 19573)),
    ],
)
def test_emd_freq_is_that_of_the_authors(read_public: ReadPublic, name: str, advantage: float, authors: tuple[int, int]) -> None:
    log = read_public(name)
    made = Amun(guessing_advantage=advantage)
    found = np.mean([libra.measure(log, made.anonymize(log, Randomness(seed)).log).emd_freq for seed in range(5)])
    assert 0.75 * authors[0] <= found <= 1.25 * authors[1]


@given(advantage=st.floats(0.001, 0.99), prior=st.floats(0.0001, 0.9999))
def test_a_guess_gains_what_the_epsilon_of_it_allows(advantage: float, prior: float) -> None:
    epsilon = float(epsilon_of_guess(np.array([prior]), advantage)[0])
    after = prior / (prior + (1 - prior) * math.exp(-epsilon))
    if prior + advantage < 1:
        assert after - prior == pytest.approx(advantage, abs=1e-9)
    else:
        assert epsilon == math.inf
    assert epsilon >= epsilon_of(advantage) * (1 - 1e-9)
    assert advantage_of(epsilon_of(advantage)) == pytest.approx(advantage)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_every_case_stays_and_every_transition_gets_its_noise(epsilon: float) -> None:
    cases = cases_from(TRACES)
    log = on_automaton(cases)
    rows = [copied_rows(log, epsilon, Randomness(seed)) for seed in range(300)]
    assert all(set(row.tolist()) == set(range(len(TRACES))) for row in rows)
    of_single = [len(row[row == len(TRACES) - 1]) - 1 for row in rows]  # the case on a transition of its own
    assert np.mean(of_single) == pytest.approx(expected_noise(epsilon), rel=5 / math.sqrt(300))
    assert min(of_single) == 1


def test_copies_follow_the_cases_and_not_the_variants() -> None:
    cases = cases_from([[0, 1]] * 99 + [[0, 2]])
    log = on_automaton(cases)
    rows = np.concatenate([copied_rows(log, 0.05, Randomness(seed)) for seed in range(50)])
    assert np.mean(rows == 99) < 0.35  # half of the copies, if variants were drawn evenly for the first transition


def test_noise_has_the_scale_of_the_range_by_the_epsilon_of_the_guess() -> None:
    gaps = [HOUR, HOUR + 5 * MINUTE, 2 * HOUR, 5 * HOUR]
    cases = cases_from([[0, 1]] * 4 + [[2, 3]], [[gap] for gap in [*gaps, 9 * HOUR]])
    log = on_automaton(cases)
    relative = np.diff(cases.micros, prepend=0)
    relative[cases.offsets[:-1]] = np.arange(5) * DAY
    scales = noise_scales(relative, log.transitions(), cases.offsets[:-1], 0.2)
    starts, of_gaps = scales[0::2], scales[1::2]
    priors = np.array([0.5, 0.5, 0.25, 0.25])
    assert of_gaps[:4] == pytest.approx(4 * HOUR / epsilon_of_guess(priors, 0.2))
    assert of_gaps[4] == pytest.approx(10 * MINUTE / epsilon_of(0.2))  # alone on its transition
    assert starts == pytest.approx(4 * DAY / epsilon_of_guess(np.array([0.4, 0.6, 0.6, 0.6, 0.4]), 0.2))


def test_no_noise_goes_where_all_agree() -> None:
    cases = cases_from([[0, 1]] * 20)
    released = Amun().anonymized(cases, Randomness(seed=1))
    assert (released.micros[1::2] - released.micros[0::2] == HOUR).all()
    assert len(np.unique(released.micros[0::2])) > 20  # starts are all different


def test_events_stay_in_order_and_variants_are_those_of_the_log() -> None:
    log = log_from({"abca": 40, "abc": 20, "x": 1})
    released = Amun(guessing_advantage=0.01).anonymize(log, Randomness(seed=1)).log
    assert released.in_time_order
    assert {tuple(row) for row in released.variants.traces["trace"].to_list()} == {
        tuple(row) for row in log.variants.traces["trace"].to_list()
    }
    assert not set(released.cases["concept:name"]) & set(log.cases["concept:name"])


def test_a_seed_gives_the_same_release_and_says_so() -> None:
    log = log_from({"abc": 30, "acb": 5})
    one, same, other = (Amun().anonymize(log, Randomness(seed)) for seed in (1, 1, 2))
    assert one.log.equals(same.log)
    assert not one.log.equals(other.log)
    assert "not private: seeded" in one.notes[0]


def test_runaway_copies_are_refused_before_any_is_made_and_the_setting_named_works(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = cases_from(TRACES)
    monkeypatch.setattr("libra.mechanisms.amun.MOST_EVENTS", 600)
    for asked in (1e-6, 0.002, 0.004):
        with pytest.raises(UsageError, match="more than 600 events") as refused:
            Amun(guessing_advantage=asked).anonymized(cases, Randomness(seed=1))
    said = str(refused.value).split("--set guessing_advantage=")[1].split()[0]
    sizes = [len(Amun(guessing_advantage=float(said)).anonymized(cases, Randomness(seed)).codes) for seed in range(20)]
    assert max(sizes) <= 600


def test_a_log_that_no_setting_fits_is_refused_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.amun.MOST_EVENTS", 130)
    with pytest.raises(UsageError, match="at any setting"):
        copied_rows(on_automaton(cases_from(TRACES)), 0.5, Randomness())


@pytest.mark.parametrize(
    "parameters",
    [
        *({"guessing_advantage": value} for value in (0, 1, -0.1, math.nan, "x", True, 1e-12)),
        *({"epsilon": value} for value in (0, -1, math.nan, "x", True, 100)),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(parameters))):
        Amun(**parameters)


def test_advantage_and_epsilon_exclude_and_stand_for_each_other() -> None:
    with pytest.raises(UsageError, match="one of them"):
        Amun(guessing_advantage=0.2, epsilon=1.0)
    assert Amun(epsilon=epsilon_of(0.3)).advantage == pytest.approx(0.3)
    assert Amun().parameters() == {"guessing_advantage": 0.2}
    assert Amun(epsilon=2).parameters() == {"epsilon": 2.0}


def test_the_claim_follows_from_the_parameters_alone_and_is_no_guarantee() -> None:
    made = Amun(guessing_advantage=0.4)
    releases = [made.anonymize(log_from(counts), Randomness()) for counts in ({"abc": 20}, {"abc": 5, "xyzx": 9})]
    assert [release.claimed.published() for release in releases if release.claimed] == [
        {"epsilon": epsilon_of(0.4), "delta": 0.0, "guessing_advantage": 0.4}
    ] * 2
    for release in releases:
        assert release.guarantee == Amun(**release.parameters).guarantee(seeded=False, individuals=False)
        assert release.guarantee.kind == "claimed"
        assert release.guarantee.epsilon is None
        assert "This is no guarantee" in release.guarantee.statement
        assert json.loads(json.dumps(release.to_dict(), allow_nan=False))
    assert "a guessing advantage of at most 0.4." in releases[0].guarantee.statement
    persons = made.guarantee(seeded=False, individuals=True).caveats
    assert Counter(persons) - Counter(releases[0].guarantee.caveats) == Counter([persons[-1]])


def test_nothing_comes_of_nothing() -> None:
    assert len(Amun().anonymized(Cases(NONE, NONE, np.zeros(1, np.int64), NONE, n_activities=0), Randomness())) == 0
