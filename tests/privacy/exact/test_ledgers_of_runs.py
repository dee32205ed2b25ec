"""Ledgers of whole runs on the bundled log: the total by another route, from the published document alone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import libra
from libra import example
from libra.eventlog.log import EventLog
from libra.privacy.accounting import delta_of_ledger, epsilon_of_ledger
from libra.privacy.ledger import Ledger

Curve = Callable[[float], float]
RUNS: list[tuple[float, float, dict[str, Any]]] = [
    (1.0, 1e-5, {}),
    (0.3, 1e-3, {"tail": "drop"}),
    (4.0, 1e-6, {"tail": "nearest"}),
    (1.0, 1e-5, {"labels": "public"}),
    (5.0, 1e-3, {"labels": "public"}),
    (0.5, 1e-4, {"gamma": 0.2}),
    (1.0, 1e-4, {"gamma": 0.5, "labels": "public"}),
    (2.0, 1e-4, {"gamma": 0.3, "subsamples": 2}),
    (2.0, 1e-4, {"gamma": 0.3, "subsamples": 3, "labels": "public"}),
]


@cache
def bundled_log() -> EventLog:
    return libra.read(example.path())


def by_losses(entries: list[dict[str, Any]]) -> Curve:
    """Delta of Gaussian releases one after the other, by privacy loss distributions."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    whole = pld.identity(value_discretization_interval=1e-3)
    for entry in entries:
        deviation, moved = entry["noise"], entry["sensitivity"]
        one = pld.from_gaussian_mechanism(deviation, sensitivity=moved, value_discretization_interval=1e-3)
        whole = whole.compose(one)
    return lambda epsilon: float(whole.get_delta_for_epsilon(epsilon))


def one_run(entries: list[dict[str, Any]]) -> Curve:
    """The page on guarantees, worked out again: a case shares its variant, or it costs nothing in the choice of variants."""
    first, *others = entries
    assert first["purpose"] == "which variants are kept"
    assert all(entry["group"] == "tail" for entry in others if entry["shows"] > 0)
    hidden: float = math.prod(1 - entry["shows"] for entry in entries)
    groups = [[entry for entry in others if entry["group"] in ("all", group)] for group in ("kept", "tail")]
    whole, rest = [by_losses([first, *group]) for group in groups], [by_losses(group) for group in groups]

    def delta(epsilon: float) -> float:
        known = max(curve(epsilon) for curve in whole)
        removing = max(1 - hidden + hidden * curve(epsilon - math.log(hidden)) for curve in rest)
        adding = max(curve(epsilon + math.log(hidden)) for curve in rest)
        return max(known, removing, adding)

    return delta


def all_runs(document: dict[str, Any], epsilon: float) -> float:
    """Delta of the whole: subsamples by amplification, several runs as the worst mechanism of one (epsilon, delta) each."""
    run, rate, times = one_run(document["ledger"]), document["subsampling"]["rate"], document["subsampling"]["times"]

    def sampled(one: float) -> float:
        return float(rate * run(math.log(1 + (math.exp(one) - 1) / rate)))

    if times == 1:
        return sampled(epsilon)
    return min(_repeated(epsilon, one, sampled(one), times) for one in np.linspace(epsilon / times, epsilon, 200).tolist())


def _repeated(epsilon: float, each: float, delta: float, times: int) -> float:
    true = 1 / (1 + math.exp(-each))
    silent = (1 - delta) ** times
    beyond = 1 - silent
    for lies in range(times + 1):
        odds = math.exp((times - 2 * lies) * each)
        chance = silent * math.comb(times, lies) * true ** (times - lies) * (1 - true) ** lies
        beyond += chance * max(0.0, 1 - math.exp(epsilon) / odds)
    return beyond


@pytest.mark.parametrize(("epsilon", "delta", "options"), RUNS)
def test_the_total_of_a_run_is_what_another_route_finds_and_what_was_asked_for(
    epsilon: float, delta: float, options: dict[str, Any]
) -> None:
    release = libra.anonymize(bundled_log(), epsilon=epsilon, delta=delta, seed=7, **options)
    assert release.ledger is not None
    document = json.loads(json.dumps(release.ledger.to_dict()))
    entries = document["ledger"]
    assert sum(entry["shows"] > 0 for entry in entries) == (1 if {"labels", "tail"} & set(options) else 3)
    found = all_runs(document, epsilon)
    stated = delta_of_ledger(Ledger.from_dict(document), epsilon)
    assert stated <= delta
    assert stated == pytest.approx(found, rel=5e-3)
    assert found > 0.97 * delta, "the budget is used"
    assert epsilon_of_ledger(Ledger.from_dict(document), delta) <= epsilon


@pytest.mark.parametrize("options", [{}, {"labels": "public"}, {"gamma": 0.5}])
def test_a_ledger_with_a_little_less_noise_than_it_says_costs_more_than_was_asked_for(options: dict[str, Any]) -> None:
    """The other route would notice: with 2 % less noise in every entry it finds more than delta."""
    release = libra.anonymize(bundled_log(), epsilon=1.0, delta=1e-5, seed=7, **options)
    assert release.ledger is not None
    document = json.loads(json.dumps(release.ledger.to_dict()))
    for entry in document["ledger"]:
        entry["noise"] *= 0.98
    assert all_runs(document, 1.0) > 1.05e-5
