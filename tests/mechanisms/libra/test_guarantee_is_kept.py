"""The guarantee is kept or nothing is given out: plans that fit, plans that would not, and what is refused before any case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from some_logs import log_from, structured

import libra
from libra._system.randomness import Randomness
from libra.engines.polars import engine_of
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.mechanisms.libra import Libra, algorithm, plan, release_run
from libra.mechanisms.libra.plan import Budget, checked_budget
from libra.privacy.accounting import before_subsampling, delta_of_ledger

MANY = [[f"label {code}" for code in range(begin, begin + 100)] for begin in range(0, 5_100, 100)]


@pytest.mark.parametrize("options", [{}, {"tail": "nearest"}, {"labels": "public"}, {"subsamples": 3, "gamma": 0.7}])
@pytest.mark.parametrize("stage", ["mu_second", "mu_times"])
def test_a_plan_that_spends_too_much_gives_nothing_out(
    options: dict[str, Any], stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism, generated = Libra(epsilon=2.0, delta=1e-4, **options), []
    monkeypatch.setattr(algorithm, "planned", lambda *_: generated.append(1))
    object.__setattr__(mechanism, "plan", replace(mechanism.plan, **{stage: 1.5 * getattr(mechanism.plan, stage)}))
    with pytest.raises(AssertionError, match="more was released than the guarantee allows; nothing is given out"):
        mechanism.anonymize(structured(), Randomness(seed=1))
    assert generated == []


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 25.02983703228959, "delta": 5.805228337707536e-14, "gamma": 1.0, "subsamples": 5, "tail": "nearest"},
        {"epsilon": 60.0, "delta": 1e-15, "gamma": 1.0, "subsamples": 7},
        {"epsilon": 0.01, "delta": 1e-3, "gamma": 0.9, "subsamples": 2, "labels": "public"},
    ],
)
def test_several_runs_fit_into_what_was_asked_for_to_the_last_digit(options: dict[str, Any]) -> None:
    mechanism = Libra(**options)
    assert delta_of_ledger(mechanism.plan.spent(), mechanism.epsilon) <= mechanism.delta
    release = mechanism.anonymize(structured(), Randomness(seed=1))
    assert release.ledger is not None
    assert delta_of_ledger(release.ledger, mechanism.epsilon) <= mechanism.delta


@pytest.mark.parametrize("options", [{}, {"labels": "public"}, {"subsamples": 4, "gamma": 0.5}, {"tail": "drop"}])
def test_a_plan_is_counted_again_so_that_a_calibration_that_is_a_hair_too_generous_does_not_pass(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def generous(epsilon: float, delta: float, rate: float, runs: int) -> tuple[float, float]:
        return before_subsampling(epsilon, 1.03 * delta, rate, runs)

    monkeypatch.setattr(plan, "before_subsampling", generous)
    mechanism = Libra(**options)
    assert 0.9 * mechanism.delta < delta_of_ledger(mechanism.plan.spent(), mechanism.epsilon) <= mechanism.delta


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 1e-6, "delta": 1e-12},
        {"budget": {"times": 1e-12}},
        {"budget": {"control": 1e-12}},
        {"epsilon": 1e-4, "budget": {"times": 1e-4}},
        {"epsilon": 1e-4, "subsamples": 1000, "gamma": 1.0},
    ],
)
def test_a_budget_that_would_drown_every_log_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"would drown every log in noise\. Ask for a larger one\."):
        Libra(**options)


def test_so_many_runs_that_nothing_is_left_for_each_are_refused_in_the_words_that_were_said() -> None:
    with pytest.raises(UsageError, match=r"Epsilon 1e-06 leaves too little for each of 1,000 runs\."):
        Libra(epsilon=1e-6, delta=1e-12, subsamples=1000, gamma=1.0)


def test_there_is_an_end_to_the_number_of_subsamples() -> None:
    assert Libra(subsamples=1000).subsamples == 1000
    with pytest.raises(UsageError, match="subsamples has to be a whole number from 1 to 1,000, not 1001"):
        Libra(subsamples=1001)


def test_shares_that_add_up_but_for_a_rounding_are_taken_and_made_to_add_up() -> None:
    assert checked_budget({"control": 0.5500000005, "times": 0.45}) == Budget(0.5500000005, 0.4499999995)
    assert Libra(budget={"control": 0.5500000005, "times": 0.45}).plan.mu_times < Libra().plan.mu_times
    with pytest.raises(UsageError, match="add up to 1"):
        checked_budget({"control": 0.55001, "times": 0.45})


def test_too_many_labels_are_refused_before_any_table_of_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_from(MANY)
    assert len(log.activities) > 5_000

    def never(*_: object, **__: object) -> None:
        raise MemoryError

    for name in ("NearestCounts", "VariantCounts", "release_tail", "release_times"):
        monkeypatch.setattr(release_run, name, never)
    for tail in ("model", "nearest", "drop"):
        with pytest.raises(UsageError, match=r"more than 5,000 activity labels.* Group them .* leave labels private"):
            libra.anonymize(log, tail=tail, labels="public")


def test_with_private_labels_many_are_no_matter() -> None:
    frequent: EventLog = log_from([*MANY, *(["admit", "leave"],) * 300])
    assert len(engine_of(frequent).labels) > 5_000
    assert libra.anonymize(frequent, epsilon=3.0, seed=1).log.activities == ["admit", "leave"]
