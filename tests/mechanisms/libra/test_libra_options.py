"""What can be asked of the sound mechanism: each option does what it says, and what cannot be meant is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from some_logs import DAY, MAY_2024, STRUCTURED, all_different, log_from, structured, variants_in

import libra
from libra._system.randomness import SEEDED, Randomness
from libra.engines.polars import engine_of
from libra.errors import UsageError
from libra.eventlog.cases import to_local
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.plan import Budget, checked_budget, checked_time_zone, make_plan
from libra.privacy.accounting import delta_of_ledger, epsilon_of_ledger
from libra.privacy.gate import Gate

FREQUENT = {tuple("abc"), tuple("acb"), tuple("abbc")}


@pytest.mark.parametrize("tail", ["nearest", "drop"])
def test_without_a_model_no_variant_is_invented(tail: str) -> None:
    releases = [libra.anonymize(structured(), tail=tail, delta=1e-4, seed=seed) for seed in range(3)]
    for release in releases:
        assert tuple("abc") in variants_in(release.log) <= FREQUENT
    size = np.mean([release.log.n_cases for release in releases])
    assert size == pytest.approx(len(STRUCTURED) if tail == "nearest" else 610, abs=40)


def test_with_a_model_rare_cases_come_back_as_new_traces() -> None:
    released = libra.anonymize(structured(), delta=1e-4, epsilon=3.0, seed=1).log
    assert released.n_cases == pytest.approx(len(STRUCTURED), abs=40)
    assert len(variants_in(released) - FREQUENT) > 10


@pytest.mark.parametrize(
    "options", [{}, {"tail": "nearest"}, {"tail": "drop"}, {"subsamples": 4}, {"labels": "public"}, {"gamma": 0.7}]
)
@pytest.mark.parametrize("cases", [1, 37, 5000])
def test_as_many_cases_as_asked_for_come_out(options: dict[str, Any], cases: int) -> None:
    assert libra.anonymize(structured(), epsilon=4.0, delta=1e-4, seed=1, cases=cases, **options).log.n_cases == cases


def test_as_many_cases_as_asked_for_come_out_even_if_some_subsamples_give_nothing() -> None:
    log = log_from(["abc"] * 45)
    filled = set()
    for seed in range(8):
        release = libra.anonymize(log, epsilon=6.0, delta=1e-3, subsamples=4, gamma=0.5, cases=101, seed=seed)
        some = sum(run.cases != 0 for run in release.figures)
        filled.add(some)
        assert release.log.n_cases == (101 if some else 0)
    assert filled & {1, 2, 3}, "the case under test did not happen"


def test_nothing_comes_from_nothing_however_many_cases_are_asked_for() -> None:
    assert libra.anonymize(log_from(["abc"] * 3), cases=500, seed=1).log.n_cases == 0


@pytest.mark.parametrize("options", [{"gamma": 0.5}, {"subsamples": 2}, {"subsamples": 3, "gamma": 0.8}])
def test_subsamples_stand_for_all_cases(options: dict[str, Any]) -> None:
    sizes = [
        libra.anonymize(structured(), epsilon=8.0, delta=1e-3, tail="drop", seed=seed, **options).log.n_cases for seed in range(4)
    ]
    assert np.mean(sizes) == pytest.approx(590, abs=60)


def test_a_label_of_a_single_case_never_shows_and_frequent_ones_do() -> None:
    log = log_from([*STRUCTURED, "abz"])
    assert "z" in log.activities
    for seed in range(10):
        release = libra.anonymize(log, epsilon=2.0, delta=1e-4, seed=seed)
        assert release.figures[0].labels == ("a", "b", "c")
        assert release.log.activities == ["a", "b", "c"]


def test_labels_stay_with_their_activities_where_every_subsample_chooses_its_own() -> None:
    log = log_from(["xy"] * 600 + ["by"] * 14 + ["ay"] * 14)
    chosen = set()
    for seed in range(6):
        options: dict[str, Any] = {"tail": "drop", "subsamples": 3, "gamma": 0.5}
        release = libra.anonymize(log, epsilon=3.0, delta=1e-3, seed=seed, **options)
        chosen |= {run.labels for run in release.figures}
        assert variants_in(release.log) <= {tuple(word) for word in ("xy", "by", "ay", "y")}
        assert ("x", "y") in variants_in(release.log)
    assert len(chosen) > 1, "the case under test did not happen"


def test_cases_of_labels_that_are_not_kept_are_left_out() -> None:
    log = log_from([["a", "b"]] * 150 + [[f"only of case {i}"] for i in range(400)])
    release = libra.anonymize(log, epsilon=2.0, delta=1e-4, seed=1)
    assert release.log.activities == ["a", "b"]
    assert 100 < release.log.n_cases < 200


def test_a_time_zone_moves_the_hours_that_are_counted_and_generated() -> None:
    log = log_from(["ab"] * 800, every=DAY, start=MAY_2024 + 9 * DAY // 24)
    released = libra.anonymize(log, epsilon=5.0, delta=1e-3, time_zone="Asia/Tokyo", seed=1).log
    hours = to_local(released.case_spans[0], "Asia/Tokyo") // (DAY // 24) % 24
    assert np.mean(hours == 18) > 0.8


@pytest.mark.parametrize(
    ("said", "budget"),
    [
        ("control=0.7", Budget(0.7, 0.3)),
        ("times=0.25", Budget(0.75, 0.25)),
        (" control = 0.5 , times = 0.5 ", Budget(0.5, 0.5)),
        ({"control": 0.6, "times": 0.4}, Budget(0.6, 0.4)),
        ({"times": 0.4}, Budget(0.6, 0.4)),
        (Budget(0.1, 0.9), Budget(0.1, 0.9)),
    ],
)
def test_a_budget_is_understood(said: Any, budget: Budget) -> None:
    assert checked_budget(said) == budget


@pytest.mark.parametrize(
    "said",
    [
        *("", "control", "control=", "=0.5", "control=half", "control=0.5;times=0.5", "control=0.5,control=0.5", "control=0.5,"),
        *(
            "control=0",
            "control=1",
            "control=-0.1",
            "control=nan",
            "control=inf",
            "control=0.5,times=0.4",
            "times=0.5,labels=0.5",
        ),
        *({}, {"control": 0.5, "times": 0.6}, {"attributes": 1.0}, {"control": True}, {"control": None}, {"control": [0.5]}),
    ],
)
def test_a_budget_that_cannot_be_meant_is_refused(said: Any) -> None:
    with pytest.raises(UsageError, match=r"budget|share"):
        Libra(budget=said)


@pytest.mark.parametrize(
    ("said", "usual", "budget"),
    [
        ("control=0.5,times=0.3", 0.2, Budget(0.5, 0.3, 0.2)),  # what is left is for attributes
        ("control=0.5,times=0.3,attributes=0.2", 0.2, Budget(0.5, 0.3, 0.2)),
        ("attributes=0.4", 0.2, Budget(0.345, 0.255, 0.4)),
        ("control=0.6", 0.2, Budget(0.6, 0.2, 0.2)),
        ("control=0.55,times=0.45", 0.2, Budget(0.46, 0.34, 0.2)),  # attributes take their usual share, more of it from times
        ("control=0.55,times=0.45", 0.3, Budget(0.4025, 0.2975, 0.3)),
        (Budget(0.55, 0.45), 0.2, Budget(0.46, 0.34, 0.2)),
        (Budget(0.44, 0.36, 0.2), 0.2, Budget(0.44, 0.36, 0.2)),
        ({"control": 0.5, "times": 0.5, "attributes": 0}, 0.0, Budget(0.5, 0.5)),
    ],
)
def test_a_budget_with_attributes_is_understood(said: Any, usual: float, budget: Budget) -> None:
    found = checked_budget(said, usual)
    assert found == budget
    assert checked_budget(found.to_dict(), usual) == found, "as a certificate has it"


@pytest.mark.parametrize(
    ("said", "usual", "told"),
    [
        ("attributes=0.2", 0.0, "has a share for attributes, and none is asked for. Name some with --attribute"),
        ("attributes=0", 0.2, "the share of attributes has to be a number above 0 and below 1, not 0"),
        ("attributes=much", 0.2, "the share of attributes has to be a number above 0 and below 1, not 'much'"),
        ("attribute=0.2", 0.2, 'There is no share of the budget called "attribute"'),
        ("control=0.5,attributes=0.5", 0.2, "have to add up to 1"),
        ("control=0.9", 0.2, "have to add up to 1"),
        ("control=0.5,times=0.3,attributes=0.3", 0.2, "have to add up to 1"),
        ("attributes=0.1,attributes=0.1", 0.2, "cannot be read"),
    ],
)
def test_a_budget_with_attributes_that_cannot_be_meant_is_refused_with_the_reason(said: Any, usual: float, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        checked_budget(said, usual)


@pytest.mark.parametrize("said", ["", "Europe/Atlantis", "UTC+1", "local", "Amsterdam", None, 3, "../etc"])
def test_a_time_zone_that_is_none_is_refused(said: Any) -> None:
    with pytest.raises(UsageError, match="time zone"):
        checked_time_zone(said)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", value) for value in (0, -1, math.nan, math.inf, "1", True, 101)),
        *(("delta", value) for value in (0, 1, 1.5, -1e-9, math.nan, "1e-5")),
        *(("gamma", value) for value in (0, -0.1, 1.01, math.nan)),
        *(("subsamples", value) for value in (0, -1, 1.5, True)),
        *(("cases", value) for value in (0, -5, 2.5, True, 10**9)),
        *(("tail", value) for value in ("", "Model", "none", 1)),
        *(("edges", value) for value in ("", "Certain", "none", 1)),
        *(("labels", value) for value in ("yes", 1, None, [], ["a", ""], ["a", 1])),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Libra(**{name: value})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": 0.1},
        {"epsilon": 20.0, "delta": 1e-9},
        {"edges": "all"},
        {"tail": "nearest"},
        {"tail": "drop", "budget": "control=0.2"},
        {"labels": "public"},
        {"gamma": 0.2},
        {"subsamples": 3},
        {"subsamples": 2, "labels": "public", "epsilon": 4.0},
    ],
)
def test_the_ledger_adds_up_to_no_more_than_the_guarantee(options: dict[str, Any]) -> None:
    for log in (structured(), log_from(all_different(150)), log_from(["a"])):
        release = libra.anonymize(log, seed=1, **options)
        assert release.ledger is not None
        asked, delta = options.get("epsilon", 1.0), options.get("delta", 1e-5)
        assert (release.guarantee.epsilon, release.guarantee.delta) == (asked, delta)
        assert epsilon_of_ledger(release.ledger, delta) <= asked
        assert delta_of_ledger(release.ledger, asked) <= delta


def test_what_may_be_spent_is_spent_where_there_is_something_to_tell() -> None:
    for options in ({}, {"tail": "nearest"}, {"tail": "drop"}):
        ledger = libra.anonymize(structured(), epsilon=2.0, delta=1e-4, seed=1, **options).ledger  # type: ignore[arg-type]
        assert ledger is not None
        assert epsilon_of_ledger(ledger, 1e-4) > 0.99 * 2.0


def test_notes_say_what_weakens_the_promise() -> None:
    def notes(log: Any = None, **options: Any) -> str:
        said = Libra(**options).anonymize(log or structured(), Randomness()).notes
        other = "have noise", "Rare steps", "before it was brought to 300 cases"
        return " ".join(note for note in said if not any(words in note for words in other))

    assert notes() == ""
    assert "weak guarantee" in notes(epsilon=3.1)
    assert "weak guarantee" not in notes(epsilon=3.0)
    assert "Delta 0.01 is too large for a log of 300 cases" in notes(delta=0.01, cases=300)
    assert "--delta 0.0001." in notes(delta=0.01, cases=300)
    assert "Delta 0.001 is large for a log of 300 cases" in notes(delta=0.001, cases=300)
    assert notes(delta=1e-4, cases=300) == ""
    assert "empty" in notes(log_from(["ab"] * 5))
    seeded = Libra().anonymize(structured(), Randomness(seed=1))
    assert SEEDED in " ".join(seeded.notes)
    assert seeded.certificate()["randomness"] == SEEDED


def test_where_nothing_is_generated_nothing_is_said_of_its_steps() -> None:
    log, met = log_from(all_different(220, "abcdefghijklmnopqrstuvwxyz")), 0
    for seed in range(6):
        release = Libra(delta=1e-4, labels="public").anonymize(log, Randomness(seed=seed))
        tail = release.figures[0].control.tail
        assert tail is not None
        assert any("Step counts" in note for note in release.notes) == (release.log.n_cases > 0)
        met += not release.log.n_cases and tail.base is not None
    assert met, "the case under test did not happen"


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
def test_the_plan_says_what_a_variant_needs_and_means_it(epsilon: float) -> None:
    plan = make_plan(epsilon, 1e-4)
    needed = round(plan.calibration.least_count)
    assert f"about {needed:,} cases to be kept" in plan.survives()
    log = log_from(["ab"] * needed + ["cd"] * (3 * needed))
    gate, noise = Gate(engine_of(log), Randomness(seed=1)), plan.calibration
    chosen = [gate.select_variants(noise.mu_variants, noise.variant_threshold, noise.scale)[0].to_lists() for _ in range(400)]
    assert np.mean([[0, 1] in kept for kept in chosen]) == pytest.approx(0.5, abs=0.1)
    assert np.mean([[2, 3] in kept for kept in chosen]) > 0.98


@pytest.mark.parametrize("subsamples", [1, 3])
def test_progress_is_told_stage_by_stage_up_to_the_end(subsamples: int) -> None:
    told: list[tuple[int, int]] = []
    Libra(subsamples=subsamples).anonymize(structured(), Randomness(), lambda done, total: told.append((done, total)))
    stages = 3 * subsamples + 2
    assert told == [(done, stages) for done in range(1, stages + 1)]
