"""Variants counted once, with truncated geometric noise: when, beside what, and what follows from the figures."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from some_logs import all_different, log_from, structured, variants_in

import libra
from attributed import EVERY
from libra.engines.contract import Unit
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.figures import ControlFigures, Figures
from libra.mechanisms.libra.generate import generate
from libra.mechanisms.libra.looks import expected_counts
from libra.mechanisms.libra.plan import Budget, make_plan
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import VARIANT_COUNTS
from libra.privacy.noise import NoisyTable

ALMOST = Budget(0.98, 0.02)
FEW = ["abc"] * 700 + ["acb"] * 500 + ["abbc"] * 300


@pytest.mark.parametrize("tail", ["model", "drop"])
@pytest.mark.parametrize("labels", ["private", "public"])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.02, 1e-6), (0.1, 1e-4), (1.0, 1e-9), (5.0, 1e-4), (20.0, 1e-12), (60.0, 1e-15)]
)
def test_a_plan_spends_nearly_all_of_delta_and_never_more(epsilon: float, delta: float, tail: Any, labels: Any) -> None:
    for control in (0.9, 0.98, 0.999):
        for rate, runs in ((1.0, 1), (0.3, 1), (0.5, 2)):
            plan = make_plan(epsilon, delta, Budget(control, 1 - control), tail=tail, labels=labels, rate=rate, runs=runs)
            assert 0.3 * delta < delta_of_ledger(plan.spent(), epsilon) <= delta
            for _, other in plan.instead:
                assert other.mu_times == plan.mu_times
                assert other.calibration.least_count <= plan.calibration.least_count
                assert other.noise_of_counts <= plan.noise_of_counts
                assert not other.instead
            assert (plan.look is None) == (plan.instead == ())
            assert plan.look is None or (runs == 1 and tail == "model")


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"budget": Budget(0.89, 0.11)},
        {"budget": ALMOST, "tail": "nearest"},
        {"budget": ALMOST, "unit": Unit(2)},
        {"budget": Budget(0.9, 0.05, 0.05), "attributes": EVERY},
    ],
)
def test_elsewhere_all_noise_is_gaussian_and_nothing_is_looked_at_before(asked: dict[str, Any]) -> None:
    plan = make_plan(1.0, 1e-4, **asked)
    assert (plan.look, plan.instead, plan.calibration.geometric) == (None, (), None)


def test_an_individual_of_whom_one_case_counts_is_as_a_case() -> None:
    assert make_plan(1.0, 1e-4, ALMOST, unit=Unit(1)).look == make_plan(1.0, 1e-4, ALMOST).look is not None


def test_where_there_is_no_tail_to_model_hardly_more_cases_are_needed_than_travas_needs() -> None:
    for epsilon, needed in ((0.1, 64), (1.0, 10), (5.0, 3)):
        plan = make_plan(epsilon, 1e-4, ALMOST)
        assert needed <= make_plan(epsilon, 1e-4, ALMOST, tail="drop").calibration.least_count <= 1.1 * needed + 1
        assert plan.instead[0][1].calibration.least_count <= 1.4 * needed + 1


def _control(words: list[str], **asked: Any) -> tuple[ControlFigures, libra.Release]:
    release = libra.anonymize(log_from(words), delta=1e-4, budget="control=0.98", seed=2, **asked)
    return release.figures[0].control, release


def test_a_look_decides_whether_rare_cases_are_modelled() -> None:
    simple, released = _control(FEW, epsilon=1.0)
    assert simple.rare_cases is not None
    assert (simple.tail, simple.second, simple.decay is None) == (None, None, False)
    assert variants_in(released.log) == {tuple(word) for word in set(FEW)}
    varied, released = _control(FEW + all_different(900), epsilon=1.0)
    assert varied.tail is not None
    assert varied.rare_cases is not None
    assert varied.rare_cases.values[0] > simple.rare_cases.values[0] + 500
    assert len(variants_in(released.log)) > 20


def test_of_some_rare_cases_there_is_a_model_beside_counts_with_geometric_noise_where_epsilon_is_large() -> None:
    plan = make_plan(5.0, 1e-4, ALMOST)
    assert [other.tail for _, other in plan.instead] == ["drop", "model"]
    assert [other.tail for _, other in make_plan(1.0, 1e-4, ALMOST).instead] == ["drop"]
    for rare, kinds in ((0, (True, False)), (200, (True, True)), (900, (False, True))):
        figures, release = _control(FEW + all_different(rare), epsilon=5.0)
        assert (figures.decay is not None, figures.tail is not None) == kinds
        assert release.ledger is not None
        taken, others = plan.taken(release.ledger.entries)
        assert (taken.calibration.geometric is not None, taken.tail == "model") == kinds
        assert others == release.ledger.otherwise
        assert len(others) == 2


def test_counts_are_whole_numbers_above_the_bound_where_they_are_counted_once() -> None:
    figures, released = _control(FEW, epsilon=0.5, tail="drop")
    counts = figures.counts
    assert (counts == np.rint(counts)).all()
    assert (counts >= figures.threshold).all()
    assert released.log.n_cases == counts.sum()
    assert released.ledger is not None
    (entry,) = [entry for entry in released.ledger.entries if entry.purpose == VARIANT_COUNTS]
    assert entry.bound == figures.threshold - 1
    assert 1 / entry.noise == pytest.approx(figures.decay)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (FEW, {"epsilon": 1.0}),
        (FEW, {"epsilon": 1.0, "tail": "drop"}),
        (FEW + all_different(900), {"epsilon": 1.0}),
        (FEW + all_different(900), {"epsilon": 5.0}),
        (FEW + all_different(200), {"epsilon": 5.0}),
        (FEW, {"epsilon": 5.0, "tail": "drop", "cases": 99}),
        ([], {"epsilon": 1.0}),
    ],
)
def test_the_log_follows_from_the_figures(words: list[str], asked: dict[str, Any]) -> None:
    _, release = _control(words, **asked)
    again = [Figures.from_dict(json.loads(json.dumps(run.to_dict()))) for run in release.figures]
    assert [run.to_dict() for run in again] == [run.to_dict() for run in release.figures]
    assert generate(again).micros.tolist() == release.log.timestamps.tolist()


def test_figures_of_earlier_versions_are_read() -> None:
    release = libra.anonymize(structured(), epsilon=1.0, delta=1e-4, seed=2)
    plain = release.figures[0].to_dict()
    del plain["decay"], plain["rare_cases"]
    assert generate([Figures.from_dict(plain)]).micros.tolist() == release.log.timestamps.tolist()


@pytest.mark.parametrize("decay", [0.1, 0.8, 3.0])
@pytest.mark.parametrize("sd", [0.7, 5.0, 60.0])
def test_two_looks_weigh_each_count_with_how_likely_it_makes_them(decay: float, sd: float) -> None:
    bound = 40
    first = NoisyTable(np.array([41, 45, 90, 400]), 1, 1.0)
    second = NoisyTable(np.array([10, 45, 130, 380]) * 16, 16, sd)
    found = expected_counts(first, second, decay, bound)
    for place, (one, other) in enumerate(zip(first.values.tolist(), second.values.tolist(), strict=True)):
        counts = [n for n in range(1, 1_000) if abs(n - one) <= bound]
        likely = [-decay * abs(n - one) - (n - other) ** 2 / (2 * sd**2) for n in counts]
        weights = [math.exp(each - max(likely)) for each in likely]
        assert found[place] == pytest.approx(sum(map(float.__mul__, weights, map(float, counts))) / sum(weights))


def test_what_is_planned_is_said() -> None:
    said = " ".join(Libra(epsilon=0.1, delta=1e-4, budget="control=0.98").plan.explain())
    assert "First, a noisy count tells how many cases have variants of fewer than about 86 cases." in said
    assert "First, a noisy count" not in " ".join(Libra(epsilon=0.1, delta=1e-4).plan.explain())
    assert "A variant needs about 69 cases" in " ".join(
        Libra(epsilon=0.1, delta=1e-4, budget="control=0.98", tail="drop").plan.explain()
    )
