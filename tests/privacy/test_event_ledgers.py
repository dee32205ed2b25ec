"""What attributes of events cost: plans and released ledgers stay within the promise, and forged ledgers are told apart."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from attributed import EVERY
from attributed_events import COST, LEVEL, OF_EVENTS, PAID, ROLE, WHO, valued, with_values
from libra._system.randomness import Randomness
from libra.engines import event_tables as tables
from libra.engines.attribute_tables import ValueCounts
from libra.engines.control_flow_tables import MOST_LABELS
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.attributes.shares import private_values
from libra.mechanisms.libra.releases import EVENT_ATTRIBUTES, TABLES_OF_EVENTS, departures_from_plan, of_topics
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import selections_delta
from libra.privacy.gate import KEPT_EVENT_VALUES, KEPT_VALUES
from libra.privacy.ledger import VALUE_SELECTION, Entry, Ledger

AGE = Attribute("case:age", "number")
KINDS = ("boolean", "category", "number", "date")
MANY = tuple(Attribute(f"{kind} {i}", kind, "event") for i in range(10) for kind in KINDS)  # type: ignore[arg-type]
ASKED: dict[str, tuple[Attribute, ...]] = {
    "who": (WHO,),
    "a list": (ROLE,),
    "numbers": (LEVEL, PAID, COST),
    "all kinds": OF_EVENTS,
    "both levels": (*EVERY, *OF_EVENTS),
    "forty": MANY,
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"labels": "public"},
    {"labels": ["Register", "Triage"]},
    {"tail": "nearest"},
    {"tail": "drop", "labels": "public"},
    {"edges": "all"},
    {"most_cases": 1},
    {"most_cases": 5},
    {"gamma": 0.3},
    {"gamma": 0.5, "subsamples": 3},
    {"subsamples": 2, "most_cases": 3, "labels": "public"},
    {"budget": "control=0.1,times=0.1,attributes=0.8"},
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-6), (8.0, 1e-2)])
def test_a_plan_keeps_the_promise_and_uses_it(asked: str, setting: dict[str, Any], epsilon: float, delta: float) -> None:
    plan = Libra(epsilon=epsilon, delta=delta, attributes=ASKED[asked], **setting).plan
    spent, noise = plan.spent(), plan.calibration
    assert 0.5 * delta < delta_of_ledger(spent, epsilon) <= delta
    assert spent.mu <= noise.mu * (1 + 1e-12)
    chosen = private_values(ASKED[asked])
    assert len(noise.value_choices) == len(chosen) == sum(entry.mechanism == VALUE_SELECTION for entry in spent.entries)
    assert all(0 < noise.values_show(number) < delta for number in range(len(chosen)))


@pytest.mark.parametrize("cases", [1, 3])
def test_values_of_a_case_show_together_as_rarely_as_the_calibration_says(cases: int) -> None:
    """Whether somebody has one value of their own or many: by hand, for equal weights."""
    noise = Libra(epsilon=1.0, delta=1e-4, attributes=(WHO,), most_cases=cases).plan.calibration
    ((mu, threshold),) = noise.value_choices
    for values in (1, 2, 5, 20, MOST_LABELS):
        one = norm.sf((threshold - 0.5 - cases * math.floor(noise.scale / math.sqrt(values))) * mu / noise.scale)
        assert -math.expm1(values * math.log1p(-one)) <= noise.values_show(0)


@cache
def _log(individuals: bool) -> EventLog:
    log = valued(simulate(cases=400))
    return replace(log, individual="insurance") if individuals else log


@cache
def _release(asked: str, setting: tuple[tuple[str, Any], ...]) -> tuple[Libra, Ledger, int]:
    said: dict[str, Any] = {"epsilon": 6.0, "delta": 1e-3, "attributes": ASKED[asked]}
    made = Libra(**said | dict(setting))
    release = made.anonymize(_log("most_cases" in dict(setting)), Randomness(seed=3))
    assert release.ledger is not None
    ledger = Ledger.from_dict(json.loads(json.dumps(release.ledger.to_dict())))
    return (made.for_individuals() if "most_cases" in dict(setting) else made), ledger, release.log.n_cases


@pytest.mark.parametrize(
    ("asked", "setting"),
    [
        ("all kinds", {}),
        ("all kinds", {"labels": "public", "tail": "nearest"}),
        ("all kinds", {"gamma": 0.5, "subsamples": 3}),
        ("all kinds", {"most_cases": 40, "epsilon": 60.0}),
        ("all kinds", {"most_cases": 1}),
        ("numbers", {"epsilon": 0.3}),
        ("numbers", {"edges": "all"}),
        ("a list", {"tail": "drop"}),
        ("who", {"labels": ("Register", "Triage")}),
        ("both levels", {"labels": "public"}),
    ],
    ids=str,
)
def test_what_is_released_is_what_was_planned(asked: str, setting: dict[str, Any]) -> None:
    made, ledger, cases = _release(asked, tuple(setting.items()))
    assert delta_of_ledger(ledger, made.epsilon) <= made.delta
    assert list(departures_from_plan(ledger.entries, made.plan)) == []
    of_events = of_topics(ledger.entries, (EVENT_ATTRIBUTES,))
    assert bool(of_events) == bool(cases)
    if cases:
        each = sum(one.level == "event" for one in ASKED[asked])
        assert Ledger(tuple(of_events)).mu == pytest.approx(made.plan.mu_of_events * math.sqrt(each))
    by_hand = 1 - math.prod(1 - entry.shows for entry in ledger.entries)
    if any(entry.mechanism == VALUE_SELECTION for entry in ledger.entries) and ledger.rate == ledger.times == 1:
        mu = ledger.most_cases * ledger.mu
        assert delta_of_ledger(ledger, made.epsilon) == pytest.approx(selections_delta(mu, by_hand, made.epsilon), rel=1e-9)


def test_real_ledgers_pass_whatever_stood_out() -> None:
    """Small logs and small budgets leave out some releases; none of them may be mistaken for a forgery."""
    for cases in (3, 12, 40, 150):
        log = with_values(cases)
        settings: tuple[dict[str, Any], ...] = (
            {},
            {"labels": "public"},
            {"tail": "drop", "epsilon": 50.0},
            {"gamma": 1.0, "subsamples": 3},
        )
        for seed, setting in enumerate(settings):
            said: dict[str, Any] = {"epsilon": 3.0, "delta": 1e-3, "attributes": (*OF_EVENTS, AGE)}
            made = Libra(**said | setting)
            release = made.anonymize(log, Randomness(seed=seed))
            assert release.ledger is not None
            assert list(departures_from_plan(release.ledger.entries, made.plan)) == []
            assert delta_of_ledger(release.ledger, made.epsilon) <= made.delta


Forge = Callable[[list[Entry]], list[Entry]]


def _first(purpose: str, change: Callable[[Entry], list[Entry]]) -> Forge:
    def forged(entries: list[Entry]) -> list[Entry]:
        place = next(i for i, entry in enumerate(entries) if entry.purpose == purpose)
        return [*entries[:place], *change(entries[place]), *entries[place + 1 :]]

    return forged


PURPOSES = (KEPT_EVENT_VALUES, *(table.purpose for table in TABLES_OF_EVENTS))
FORGERIES: dict[str, Callable[[Entry], list[Entry]]] = {
    "dropped": lambda entry: [],
    "doubled": lambda entry: [entry, entry],
    "less noise": lambda entry: [replace(entry, noise=entry.noise * 0.99)],
    "more noise": lambda entry: [replace(entry, noise=entry.noise * 1.01)],
    "of the tail": lambda entry: [replace(entry, group="tail")],
    "a sensitivity below 1": lambda entry: [replace(entry, sensitivity=0.5, noise=entry.noise / 2)],
    "another noise": lambda entry: [replace(entry, mechanism="discrete laplace")],
}


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_entries_about_events_are_refused(purpose: str, forgery: str) -> None:
    made, ledger, _ = _release("all kinds", ())
    forged = _first(purpose, FORGERIES[forgery])(list(ledger.entries))
    assert list(departures_from_plan(forged, made.plan)) != []


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (_first(tables.EventFills.purpose, lambda entry: []), "attributes of events do not add up"),
        (_first(tables.NextCounts.purpose, lambda entry: [entry, entry]), "more or fewer releases about attributes of events"),
        (_first(tables.EventCounts.purpose, FORGERIES["a sensitivity below 1"]), "a sensitivity below 1, to which no case"),
        (_first(tables.EventNorms.purpose, FORGERIES["a sensitivity below 1"]), "one case moves it by 1"),
        (_first(KEPT_EVENT_VALUES, lambda entry: [replace(entry, shows=entry.shows / 2)]), "does not have the noise"),
        (
            _first(KEPT_EVENT_VALUES, lambda entry: [replace(entry, purpose=KEPT_VALUES)]),
            "attributes of cases, and none is asked",
        ),
        (
            _first(tables.EventCounts.purpose, lambda entry: [replace(entry, purpose=ValueCounts.purpose)]),
            "attributes of cases, and none is asked for",
        ),
    ],
)
def test_forgeries_are_refused_with_the_reason(forge: Forge, told: str) -> None:
    made, ledger, _ = _release("all kinds", ())
    assert told in "; ".join(departures_from_plan(forge(list(ledger.entries)), made.plan))


def test_entries_about_events_are_refused_where_only_attributes_of_cases_are_asked_for() -> None:
    _, ledger, _ = _release("all kinds", ())
    made = Libra(epsilon=6.0, delta=1e-3, attributes=EVERY)
    told = "there are releases about attributes of events, and none is asked for"
    assert told in list(departures_from_plan(ledger.entries, made.plan))
    assert told in list(departures_from_plan(ledger.entries, Libra(epsilon=6.0, delta=1e-3).plan))


def test_several_entries_may_not_be_put_into_one() -> None:
    """The sum of squares alone does not tell: all about events as a single table."""
    made, ledger, _ = _release("who", (("labels", ("Register", "Triage")),))
    rest = [entry for entry in ledger.entries if entry.purpose not in PURPOSES]
    spent = made.plan.mu_of_events
    one = Entry(tables.EventCounts.purpose, "rounded gaussian", 1.0, 1 / spent)
    assert np.isclose(one.mu or 0, spent)
    assert any("more or fewer" in told for told in departures_from_plan([*rest, one], made.plan))
