"""The audit from the inside, of attributes: canaries with values of their own, and an adversary who weighs every noisy figure.

Control flow and times are as if they had been released before: the whole budget is for attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest
from inside import CERTAIN, DAY, MONDAY, Case, audited_epsilon, engine_with

from libra._system.randomness import Randomness
from libra.engines.attribute_tables import Coding, HasActivity, Interactions, OfAttribute, Pair, PairCounts, ValueCounts
from libra.engines.contract import Integers, Table
from libra.engines.polars import PolarsEngine, as_numbers
from libra.eventlog.attributes import Attribute, plain_values
from libra.eventlog.cases import MISSING, Cases
from libra.measures.distances import Floats
from libra.mechanisms.libra.attributes.pairs import with_pairs
from libra.mechanisms.libra.attributes.release import release_attributes
from libra.mechanisms.libra.plan import Budget, Plan, make_plan
from libra.privacy.gate import Gate
from libra.privacy.gaussian import upper_tail
from libra.privacy.noise import NoisyTable

TEXT, LISTED, NUMBER = ASKED = (
    Attribute("case:text", "category"),
    Attribute("case:listed", "category", values=("x", "y")),
    Attribute("case:number", "number", lowest=0, highest=100),
)
TYPES = (pl.String(), pl.String(), pl.Float64())
Scores = Callable[[Integers], Floats]
Run = Callable[[Gate, Plan, Cases], None]
SIDES = (OfAttribute(1, Coding((0, 1), (), (0, 1, 2, 3))), OfAttribute(2, Coding((10, 20), (15, 50))), HasActivity(2))
PAIRS: tuple[Pair, ...] = ((SIDES[0], SIDES[1]), (SIDES[0], SIDES[2]), (SIDES[1], SIDES[2]))


@dataclass(frozen=True)
class Person:
    """A case of two events, with its values."""

    text: str | None
    listed: str | None
    number: float | None
    case: Case = field(default_factory=lambda: Case("ab"))


OTHERS = [
    Person(text, "x" if text == "often" else "y", number, Case("ab" if day % 3 else "ac", MONDAY + day * DAY))
    for day, (text, number) in enumerate([("often", 10.0)] * 60 + [("seldom", 20.0)] * 30 + [("often", 90.0)] * 10)
]
CANARIES = {
    "has a value like others": Person("often", "x", 10.0),
    "has values of its own": Person("nobody else's", "neither", 55.0),
    "has an extreme number": Person("often", "x", 1e300),
    "has values that nobody else has together": Person("seldom", "x", 90.0, Case("cccc", MONDAY, 40 * DAY)),
    "has no values": Person(None, None, None),
}


def engine_of_all(persons: list[Person]) -> PolarsEngine:
    """All of them, in one numbering of texts; engines of some are parts of it."""
    engine = engine_with([person.case for person in persons])
    coded = []
    for attribute, kind in zip(ASKED, TYPES, strict=True):
        values = pl.Series([getattr(person, attribute.name.removeprefix("case:")) for person in persons], dtype=kind)
        coded.append(as_numbers(plain_values(values, attribute), attribute))
    object.__setattr__(engine.of_log, "attributes", tuple(numbers for numbers, _ in coded))
    object.__setattr__(engine, "values", tuple(texts for _, texts in coded))
    return engine


class Adversary:
    """Weighs for each canary whether it is in there, from everything that leaves the gate."""

    def __init__(self, others: PolarsEngine, canaries: list[PolarsEngine]) -> None:
        self.others, self.canaries, self.evidence = others, canaries, np.zeros(len(canaries))

    def sees_values(self, attribute: int, values: Integers, noisy: NoisyTable, mu: float, threshold: int) -> None:
        """Weigh which values were kept: a canary moves the count of its own."""
        scale, sd = noisy.scale, noisy.scale / mu
        shown = dict(zip(values.tolist(), noisy.counts.tolist(), strict=True))
        have = self.others.cases.attributes[attribute]
        for i, canary in enumerate(self.canaries):
            value = int(canary.cases.attributes[attribute][0])
            if value == MISSING:
                continue
            same = int((have == value).sum())
            if value in shown:
                weight = ((shown[value] - scale * same) * scale - scale**2 / 2) / sd**2
                self.evidence[i] += weight if same else CERTAIN
            else:
                hidden = [1 - upper_tail((threshold - 0.5 - scale * c) / sd) if c else 1.0 for c in (same, same + 1)]
                self.evidence[i] += math.log(max(hidden[1], 1e-300) / max(hidden[0], 1e-300))

    def sees(self, table: Table, noisy: NoisyTable, scores: Scores = lambda counts: counts.ravel().astype(float)) -> None:
        """Weigh a noisy table, or noisy scores of one."""
        without = self.others.count(table)
        off = noisy.counts.ravel() - scores(without)
        for i, canary in enumerate(self.canaries):
            more = scores(without + canary.count(table)) - scores(without)
            self.evidence[i] += float(off @ more - more @ more / 2) / (noisy.sd * noisy.scale) ** 2


def everything(gate: Gate, plan: Plan, like: Cases) -> None:
    """All that is released about attributes."""
    n = float(len(like))
    found = release_attributes(gate, ASKED, plan.mu_attributes, plan.choices, plan.calibration.scale, n, [1.0] * len(ASKED))
    with_pairs(gate, found, [np.ones(len(like), np.int64)] * len(ASKED), plan.mu_attributes, like, n)


def values(gate: Gate, plan: Plan, _: Cases) -> None:
    """The choice of texts alone."""
    gate.select_values(0, *plan.choices[0], plan.calibration.scale)


def counts(gate: Gate, plan: Plan, _: Cases) -> None:
    """A count of values, for all that is asked."""
    gate.release(ValueCounts(SIDES[1]), plan.mu_attributes)


def scores(gate: Gate, plan: Plan, _: Cases) -> None:
    """Scores of pairs, for all that is asked."""
    table = PairCounts(PAIRS)
    gate.release_scores(table, np.zeros(table.shape, np.int64), plan.mu_attributes)


def pairs(gate: Gate, plan: Plan, _: Cases) -> None:
    """Pairs, for all that is asked."""
    gate.release(Interactions(PAIRS), plan.mu_attributes)


def observed(canaries: list[Person], plan: Plan, run: Run, runs: int, seed: int) -> list[tuple[Floats, Floats]]:
    """For each canary the evidence of many runs with it, and of as many without."""
    n, random = len(OTHERS), Randomness(seed=seed)
    whole = engine_of_all([*OTHERS, *canaries])
    others = whole.restricted(np.arange(n))
    alone = [whole.restricted(np.array([n + i])) for i in range(len(canaries))]
    select, release, release_scores = Gate.select_values, Gate.release, Gate.release_scores
    adversary = Adversary(others, alone)

    def heard_select(self: Gate, attribute: int, mu: float, threshold: int, scale: int) -> tuple[Integers, NoisyTable]:
        values, noisy = select(self, attribute, mu, threshold, scale)
        adversary.sees_values(attribute, values, noisy, mu, threshold)
        return values, noisy

    def heard_release(self: Gate, table: Table, mu: float, group: Any = None) -> NoisyTable:
        noisy = release(self, table, mu, group)
        adversary.sees(table, noisy)
        return noisy

    def heard_scores(self: Gate, pairs: PairCounts, expected: Integers, mu: float) -> NoisyTable:
        noisy = release_scores(self, pairs, expected, mu)
        ends = np.cumsum([one.n_cells * other.n_cells for one, other in pairs.pairs])
        begins = np.concatenate(([0], ends[:-1]))
        adversary.sees(pairs, noisy, lambda counts: np.add.reduceat(np.abs(counts - expected), begins).astype(float))
        return noisy

    sides = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gate, "select_values", heard_select)
        patch.setattr(Gate, "release", heard_release)
        patch.setattr(Gate, "release_scores", heard_scores)
        with_each = [(whole.restricted(np.append(np.arange(n), n + i)), [alone[i]]) for i in range(len(canaries))]
        for engine, weighed in (*with_each, (others, alone)):
            rows = []
            for _ in range(runs):
                adversary = Adversary(others, weighed)
                run(Gate(engine, random), plan, others.cases)  # as if they had been generated: the adversary knows them
                rows.append(adversary.evidence)
            sides.append(np.array(rows))
    *with_each_one, without = sides
    return [(one, without[:, i : i + 1]) for i, one in enumerate(with_each_one)]


def plan_of(epsilon: float, delta: float) -> Plan:
    """All but nothing is left for control flow and times, which are not released."""
    return make_plan(epsilon, delta, Budget(0.001, 0.001, 0.998), labels="public", attributes=ASKED)


def audited(names: list[str], run: Run, epsilon: float, delta: float, runs: int, seed: int) -> dict[str, float]:
    """The epsilon that is found for each of these canaries."""
    sides = observed([CANARIES[name] for name in names], plan_of(epsilon, delta), run, runs, seed)
    return {name: audited_epsilon(*both, delta) for name, both in zip(names, sides, strict=True)}
