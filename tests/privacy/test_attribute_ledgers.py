"""What attributes cost: every plan and every released ledger stays within the promise, for any attributes and any setting."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

import libra
from attributed import BORN, COIN, COST, DOSE, EVERY, PLACE, SCANNED, SCORE, WARD, attributed
from libra._system.randomness import Randomness
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import EventLog
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.attributes.shares import private_values
from libra.mechanisms.libra.releases import ATTRIBUTES, departures_from_plan, of_topics
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import Share, calibrate, selections_delta
from libra.privacy.gaussian import delta_of
from libra.privacy.ledger import ROUNDED_GAUSSIAN, VALUE_SELECTION, VARIANT_SELECTION, Entry, Ledger
from libra.privacy.selection import variant_shows

Floats = NDArray[np.float64]
MANY = tuple(Attribute(f"case:{kind} {i}", kind) for i in range(15) for kind in ("boolean", "category", "number", "date"))
ASKED: dict[str, tuple[Attribute, ...]] = {
    "a boolean": (COIN,),
    "a list": (WARD,),
    "a category": (PLACE,),
    "numbers": (SCORE, COST),
    "all kinds": EVERY,
    "sixty": MANY,
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"labels": "public"},
    {"labels": ["Register", "Triage"]},
    {"tail": "nearest"},
    {"tail": "drop"},
    {"most_cases": 1},
    {"most_cases": 4},
    {"gamma": 0.3},
    {"gamma": 0.5, "subsamples": 3},
    {"subsamples": 2, "most_cases": 3, "labels": "public"},
    {"budget": "control=0.1,times=0.1,attributes=0.8"},
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-2)])
def test_a_plan_keeps_the_promise_and_uses_it(asked: str, setting: dict[str, Any], epsilon: float, delta: float) -> None:
    made = Libra(epsilon=epsilon, delta=delta, attributes=ASKED[asked], **setting)
    plan, noise = made.plan, made.plan.calibration
    spent = plan.spent()
    assert 0.5 * delta < delta_of_ledger(spent, epsilon) <= delta
    assert spent.mu <= noise.mu * (1 + 1e-12)
    chosen = private_values(ASKED[asked])
    assert len(noise.value_choices) == len(chosen) == sum(entry.mechanism == VALUE_SELECTION for entry in spent.entries)
    assert sum(choice.mu**2 for choice in noise.value_choices) < plan.mu_attributes**2
    assert all(noise.values_show(number) > 0 for number in range(len(chosen)))


@cache
def _log(individuals: bool) -> EventLog:
    log = attributed(500)
    return replace(log, individual="place") if individuals else log


@pytest.mark.parametrize(
    ("asked", "setting"),
    [
        ("all kinds", {}),
        ("all kinds", {"labels": "public", "tail": "nearest"}),
        ("all kinds", {"gamma": 0.5, "subsamples": 3}),
        ("all kinds", {"most_cases": 40}),
        ("numbers", {"epsilon": 0.2}),
        ("a list", {}),
        ("a boolean", {"tail": "drop"}),
    ],
    ids=str,
)
def test_what_is_released_is_what_was_planned(asked: str, setting: dict[str, Any]) -> None:
    said: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-3, "attributes": ASKED[asked]}
    made = Libra(**said | setting)
    release = made.anonymize(_log("most_cases" in setting), Randomness(seed=3))
    assert release.ledger is not None
    ledger = Ledger.from_dict(json.loads(json.dumps(release.ledger.to_dict())))
    assert delta_of_ledger(ledger, made.epsilon) <= made.delta
    assert list(departures_from_plan(ledger.entries, made.plan)) == []
    spent = Ledger(tuple(of_topics(ledger.entries, (ATTRIBUTES,)))).mu
    assert spent <= made.plan.mu_attributes * (1 + 1e-9)
    if release.log.n_cases:
        assert spent >= 0.7 * made.plan.mu_attributes
    by_hand = 1 - math.prod(1 - entry.shows for entry in ledger.entries)
    if any(entry.mechanism == VALUE_SELECTION for entry in ledger.entries) and ledger.rate == ledger.times == 1:
        mu = ledger.most_cases * ledger.mu
        assert delta_of_ledger(ledger, made.epsilon) == pytest.approx(selections_delta(mu, by_hand, made.epsilon), rel=1e-9)


def test_of_several_runs_the_one_that_spent_most_is_in_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs may choose values or not, by what they released: the ledger that is given out is that of the dearest."""
    from libra.mechanisms.libra.attributes import release as steps

    settings: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-3, "subsamples": 2, "gamma": 0.7, "attributes": (SCORE,)}
    rare = iter([0.0, 1.0])  # in the first run no choice of a number is likely to show anything, in the second it is
    once = steps.release_attributes

    def one_run(*arguments: Any) -> Any:
        monkeypatch.setattr(steps, "RARE", next(rare))
        return once(*arguments)

    monkeypatch.setattr("libra.mechanisms.libra.release_run.release_attributes", one_run)
    release = libra.anonymize(attributed(800), seed=1, **settings)
    assert release.ledger is not None
    assert any(entry.mechanism == VALUE_SELECTION for entry in release.ledger.entries)


def selection(count: int, mu: float, threshold: int, scale: int, bins: int) -> Floats:
    """What a choice tells of one value: at index 0 that it does not show, then its noisy count in cells."""
    sd = scale / mu
    edges = np.concatenate((np.linspace(threshold - 0.5, threshold + 60 * scale + 8 * sd, bins), [np.inf]))
    upper = norm.sf((edges - scale * count) / sd)
    shown = upper[:-1] - upper[1:] if count else np.zeros(bins)
    return np.concatenate(([norm.cdf((threshold - 0.5 - scale * count) / sd) if count else 1.0], shown))


def gaussian(moved: bool, mu: float) -> Floats:
    cells = np.arange(-160, 161)
    edges = (np.append(cells, 161) - 0.5) / 16 - (mu / 2 if moved else -mu / 2)
    return np.diff(norm.cdf(edges))


def both_ways(one: Floats, other: Floats, epsilon: float) -> tuple[float, float]:
    first, second = (np.maximum(0, a - math.exp(epsilon) * b).sum() for a, b in ((one, other), (other, one)))
    return float(first), float(second)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-3), (1.0, 1e-5), (4.0, 1e-2)])
@pytest.mark.parametrize(("variants", "values"), list(itertools.product((0, 3, 60), repeat=2)))
def test_a_case_is_hidden_whether_its_variant_or_its_value_is_new(
    epsilon: float, delta: float, variants: int, values: int
) -> None:
    """So many other cases have them: both distributions, cell by cell."""
    plan = calibrate(epsilon, delta, variants=0.3, values=(Share(0.2),))
    (choice,), rest = plan.value_choices, plan.mu * math.sqrt(0.5)
    sides = []
    for more in (1, 0):
        variant = selection(variants + more, plan.mu_variants, plan.variant_threshold, plan.scale, 60)
        value = selection(values + more, *choice, plan.scale, 60)
        sides.append(np.multiply.outer(np.multiply.outer(variant, value), gaussian(bool(more), rest)))
    assert max(both_ways(sides[0], sides[1], epsilon)) <= delta * (1 + 1e-6)


def test_the_bound_for_variants_alone_would_not_cover_a_value_of_its_own() -> None:
    """A case shares its variant, pays for that, and shows in the choice of values: what the general bound is for."""
    epsilon, mu, mu_value, mu_rest = 1.0, 0.3, 0.1, 0.2
    threshold, scale = 32 * 1024, 1024
    shows = variant_shows(mu_value, threshold, scale)
    sides = []
    for more in (1, 0):
        value = selection(more, mu_value, threshold, scale, 40)
        sides.append(np.multiply.outer(value, gaussian(bool(more), math.hypot(mu, mu_rest))))
    found = max(both_ways(sides[0], sides[1], epsilon))
    entries = (
        Entry("variants", VARIANT_SELECTION, 1.0, 1 / mu, shows=1e-9),
        Entry("values", VALUE_SELECTION, 1.0, 1 / mu_value, shows=shows),
        Entry("rest", ROUNDED_GAUSSIAN, 1.0, 1 / mu_rest),
    )
    without = math.hypot(mu_value, mu_rest)  # as if who shares a variant had nothing new
    as_for_labels = max(delta_of(math.hypot(mu, without), epsilon), selections_delta(without, shows, epsilon))
    assert found <= delta_of_ledger(Ledger(entries), epsilon)
    assert found > as_for_labels
    exactly = shows + (1 - shows) * delta_of(math.hypot(mu, mu_rest), epsilon - math.log1p(-shows))
    assert found == pytest.approx(exactly, rel=1e-2)


@pytest.mark.parametrize("cases", [1, 2, 5])
def test_a_value_of_somebody_alone_shows_as_rarely_as_the_calibration_says(cases: int) -> None:
    plan = calibrate(1.0, 1e-4, variants=0.2, labels=(0.02, 0.06), cases=cases, values=tuple(map(Share, (0.05, 0.02, 0.02))))
    together = [plan.variant_shows, *(plan.labels_show(i) for i in range(2)), *(plan.values_show(i) for i in range(3))]
    assert 1 - math.prod(1 - shows for shows in together) <= 0.2 * 1e-4
    for number, (mu, threshold) in enumerate(plan.value_choices):
        assert variant_shows(mu, threshold - 1, plan.scale, cases) > 0.3 * 0.2 * 1e-4 / 3 * (1 - 1e-9)
        all_the_same = norm.sf((threshold - 0.5 - cases * plan.scale) * mu / plan.scale)
        assert all_the_same <= plan.values_show(number)


def test_attributes_whose_values_are_public_leave_the_calibration_as_it_is() -> None:
    with_lists = Libra(attributes=(COIN, SCANNED, WARD), budget="control=0.44,times=0.36,attributes=0.2").plan.calibration
    assert with_lists.value_choices == ()
    assert with_lists.mu == Libra().plan.calibration.mu
    assert Libra(attributes=(PLACE, BORN, DOSE)).plan.calibration.mu < with_lists.mu
