"""The audit from the inside, of attributes of events: canaries whose events have values of their own, and an adversary.

Control flow and times are as if they had been released before: the whole budget is for attributes of events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from inside import CERTAIN, DAY, LABELS, MONDAY, Case, audited_epsilon, engine_with

from libra._system.randomness import Randomness
from libra.engines.attribute_tables import Coding
from libra.engines.contract import FINE, Integers, Table
from libra.engines.counting.events import value_weights
from libra.engines.event_tables import EventCounts, EventFills, NextCounts, OfEvents
from libra.engines.polars import PolarsEngine, as_numbers
from libra.eventlog.attributes import Attribute, plain_values
from libra.eventlog.cases import Cases
from libra.measures.distances import Floats
from libra.mechanisms.libra.attributes.events import MOST_VALUES, release_events
from libra.mechanisms.libra.plan import Budget, Plan, make_plan
from libra.privacy.gate import Gate
from libra.privacy.gaussian import upper_tail
from libra.privacy.noise import NoisyTable

TEXT, NUMBER = ASKED = (Attribute("text", "category", "event"), Attribute("number", "number", "event", lowest=0, highest=100))
TYPES = (pl.String(), pl.Float64())
Run = Callable[[Gate, Plan, Cases], None]
CLIP = 2.0
EVERYWHERE = tuple(range(len(LABELS)))  # a row for each label


@dataclass(frozen=True)
class Person:
    """A case, with a value of each attribute for each of its events."""

    word: str
    text: Sequence[str | None]
    number: Sequence[float | None]
    start: int = MONDAY

    @property
    def case(self) -> Case:
        return Case(self.word, self.start)


def _same(word: str, text: str | None, number: float | None, day: int = 0) -> Person:
    return Person(word, [text] * len(word), [number] * len(word), MONDAY + day * DAY)


OTHERS = [
    *(_same("ab" if day % 3 else "acb", "often", 10.0, day) for day in range(70)),
    *(_same("ab", "seldom", 90.0, 70 + day) for day in range(30)),
]
LONG, MANY = 400, 60
CANARIES = {
    "is like others": _same("ab", "often", 10.0),
    "has a value of its own on all events": _same("acab", "nobody else's", 55.0),
    "is very long with one value": _same("a" + "b" * LONG, "often", 10.0),
    "has values in an order of its own": Person("aabb", ["seldom", "often", "seldom", "often"], [90.0, 10.0, 90.0, 10.0]),
    "has an extreme number": _same("ab", "often", 1e300),
    "has no values": _same("acb", None, None),
    "has many values of its own": Person(
        "a" + "b" * (MANY - 1), [f"own {i:02}" for i in range(MANY)], [*map(float, range(MANY))]
    ),
}


def engine_of_all(persons: list[Person]) -> PolarsEngine:
    """All of them, in one numbering of texts; engines of some are parts of it."""
    engine = engine_with([person.case for person in persons])
    coded = []
    for attribute, kind in zip(ASKED, TYPES, strict=True):
        values = pl.Series([value for person in persons for value in getattr(person, attribute.name)], dtype=kind)
        coded.append(as_numbers(plain_values(values, attribute), attribute))
    object.__setattr__(engine.of_log, "of_events", tuple(numbers for numbers, _ in coded))
    object.__setattr__(engine, "values", tuple(texts for _, texts in coded))
    return engine


def sides(engine: PolarsEngine) -> OfEvents:
    """The values that many have, those of all others together, by activity."""
    often, seldom = (engine.values[0].index(text) for text in ("often", "seldom"))
    return OfEvents(0, Coding((often, seldom)), EVERYWHERE)


class Adversary:
    """Weighs for each canary whether it is in there, from everything that leaves the gate."""

    def __init__(self, others: PolarsEngine, canaries: list[PolarsEngine]) -> None:
        self.others, self.canaries, self.evidence = others, canaries, np.zeros(len(canaries))
        self.weights: dict[tuple[int, int], dict[int, int]] = {}

    def _weights(self, engine: PolarsEngine, attribute: int) -> dict[int, int]:
        key = id(engine), attribute
        if key not in self.weights:
            values, weights = value_weights(engine.cases, attribute)
            self.weights[key] = dict(zip(values.tolist(), weights.tolist(), strict=True))
        return self.weights[key]

    def sees_values(self, attribute: int, values: Integers, mu: float, threshold: int) -> None:
        """Weigh which values were kept: a canary moves the weights of its own."""
        shown, before = set(values.tolist()), self._weights(self.others, attribute)
        for i, canary in enumerate(self.canaries):
            told = shown - set(before)  # nobody else has it, whatever weight it has
            self.evidence[i] += CERTAIN * len(told & set(canary.cases.of_events[attribute].tolist()))
            for value, more in self._weights(canary, attribute).items():
                if value in told:
                    continue
                same = before.get(value, 0)
                passes = [upper_tail((threshold - 0.5 - at) * mu / FINE) if at else 0.0 for at in (same, same + more)]
                chances = passes if value in shown else [1 - chance for chance in passes]
                self.evidence[i] += math.log(max(chances[1], 1e-300) / max(chances[0], 1e-300))

    def sees(self, table: Table, noisy: NoisyTable) -> None:
        """Weigh a noisy table."""
        off = noisy.counts.ravel() - self.others.count(table).ravel().astype(float)
        for i, canary in enumerate(self.canaries):
            more = canary.count(table).ravel().astype(float)
            self.evidence[i] += float(off @ more - more @ more / 2) / (noisy.sd * noisy.scale) ** 2


def everything(gate: Gate, plan: Plan, like: Cases) -> None:
    """All that is released about attributes of events."""
    release_events(gate, ASKED, plan.mu_of_events, plan.choices, LABELS, like, float(len(like)))


def values(gate: Gate, plan: Plan, _: Cases) -> None:
    """The choice of texts alone."""
    gate.select_event_values(0, *plan.choices[0], FINE, MOST_VALUES)


def fills(gate: Gate, plan: Plan, _: Cases) -> None:
    """Which events have values, for all that is asked."""
    gate.release(EventFills(sides(_engine(gate)), CLIP), plan.mu_attributes)


def counts(gate: Gate, plan: Plan, _: Cases) -> None:
    """Values by activity, for all that is asked."""
    gate.release(EventCounts(sides(_engine(gate)), CLIP), plan.mu_attributes)


def following(gate: Gate, plan: Plan, _: Cases) -> None:
    """Next values, for all that is asked."""
    gate.release(NextCounts(sides(_engine(gate)), CLIP), plan.mu_attributes)


def _engine(gate: Gate) -> PolarsEngine:
    engine = gate._engine
    assert isinstance(engine, PolarsEngine)
    return engine


def observed(canaries: list[Person], plan: Plan, run: Run, runs: int, seed: int) -> list[tuple[Floats, Floats]]:
    """For each canary the evidence of many runs with it, and of as many without."""
    n, random = len(OTHERS), Randomness(seed=seed)
    whole = engine_of_all([*OTHERS, *canaries])
    others = whole.restricted(np.arange(n))
    alone = [whole.restricted(np.array([n + i])) for i in range(len(canaries))]
    select, release = Gate.select_event_values, Gate.release
    adversary = Adversary(others, alone)

    def heard_select(self: Gate, attribute: int, mu: float, threshold: int, scale: int, most: int) -> Integers:
        found = select(self, attribute, mu, threshold, scale, most)
        adversary.sees_values(attribute, found, mu, threshold)
        return found

    def heard_release(self: Gate, table: Table, mu: float, group: Any = None) -> NoisyTable:
        noisy = release(self, table, mu, group)
        adversary.sees(table, noisy)
        return noisy

    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gate, "select_event_values", heard_select)
        patch.setattr(Gate, "release", heard_release)
        with_each = [(whole.restricted(np.append(np.arange(n), n + i)), [alone[i]]) for i in range(len(canaries))]
        for engine, weighed in (*with_each, (others, alone)):
            rows = []
            for _ in range(runs):
                adversary = Adversary(others, weighed)
                run(Gate(engine, random), plan, others.cases)  # as if they had been generated: the adversary knows them
                rows.append(adversary.evidence)
            found.append(np.array(rows))
    *with_each_one, without = found
    return [(one, without[:, i : i + 1]) for i, one in enumerate(with_each_one)]


def plan_of(epsilon: float, delta: float, attributes: Sequence[Attribute] = ASKED) -> Plan:
    """All but nothing is left for control flow and times, which are not released."""
    return make_plan(epsilon, delta, Budget(0.001, 0.001, 0.998), labels="public", attributes=attributes)


def audited(
    names: list[str], run: Run, epsilon: float, delta: float, runs: int, seed: int, plan: Plan | None = None
) -> dict[str, float]:
    """The epsilon that is found for each of these canaries."""
    plan = plan_of(epsilon, delta) if plan is None else plan
    found = observed([CANARIES[name] for name in names], plan, run, runs, seed)
    return {name: audited_epsilon(*both, delta) for name, both in zip(names, found, strict=True)}
