"""An audit from the inside: runs of the mechanism up to its released figures, and what an adversary makes of these.

`libra audit` sees the released log alone. This adversary sees all noisy figures that it is made from, and knows all
other cases, the canary and the code. From a run's figures it computes the logarithm of the likelihood ratio of "with the canary"
to "without": by Neyman and Pearson no other number tells more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from libra._system.randomness import Randomness
from libra.engines.contract import Table
from libra.engines.control_flow_tables import LabelWeights, RareCases
from libra.engines.polars import PolarsEngine, engine_of
from libra.eventlog.cases import Traces, traces_of
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.measures.audit.events import bound_of, telling_event
from libra.measures.distances import Floats
from libra.mechanisms.libra.plan import Budget, Plan, make_plan
from libra.mechanisms.libra.release_run import _release_control
from libra.privacy.gate import Gate
from libra.privacy.gaussian import upper_tail
from libra.privacy.noise import NoisyTable

LABELS = ("a", "b", "c", "z")  # the last is in no case but perhaps the canary
HOUR = 3_600_000_000  # microseconds
DAY = 24 * HOUR
MONDAY = 19_849 * DAY  # in May 2024
MISTAKEN = 1e-3  # how often a bound may be wrong
CERTAIN = 50.0  # the logarithm of a likelihood ratio that leaves no doubt
Run = Callable[[Gate, Plan], None]


@dataclass(frozen=True)
class Case:
    """A case: letters for activities, when it starts, and how long a step takes."""

    word: str
    start: int = MONDAY + 9 * HOUR
    step: int = HOUR

    @cached_property
    def codes(self) -> tuple[int, ...]:
        return tuple(LABELS.index(letter) for letter in self.word)


def engine_with(cases: list[Case]) -> PolarsEngine:
    """The engine of these cases, in the codes of all labels; one that no case has is as if it were not there."""
    rows = [(i, letter, case.start + case.step * place) for i, case in enumerate(cases) for place, letter in enumerate(case.word)]
    number, letters, micros = zip(*rows, strict=True)
    events = pl.DataFrame(
        {
            "@case": pl.Series(number, dtype=pl.UInt32),
            "concept:name": pl.Series(letters, dtype=pl.String),
            "time:timestamp": pl.Series(micros, dtype=pl.Int64).cast(UTC_MICROSECONDS),
        }
    )
    ids = pl.DataFrame({"concept:name": [f"case {i}" for i in range(len(cases))]})
    return engine_of(EventLog(events, ids), labels=LABELS)


class Known:
    """What the adversary knows before a run: the other cases, and what they count in any table; canaries are known likewise."""

    def __init__(self, cases: list[Case]) -> None:
        self.engine = engine_with(cases)
        self._parts: dict[Any, PolarsEngine] = {}

    def cases_of(self, trace: tuple[int, ...]) -> int:
        row = int(self.engine.block.rows_of(traces_of([trace]))[0])
        return int(self.engine.counts[row]) if row >= 0 else 0

    def count(self, table: Table, tail_of: Traces | None, labels: tuple[str, ...]) -> Any:
        """Count all cases, or as far as they are in the tail, without the events of all other labels."""
        key = None if tail_of is None else tuple(tail_of.as_bytes()), labels
        if key not in self._parts:
            self._parts[key] = (self.engine if tail_of is None else self.engine.tail(tail_of)).with_labels(labels)
        return self._parts[key].count(table)


class Adversary:
    """Follows a run release by release, and weighs for each canary whether it is in there: what others count, it counts once."""

    def __init__(self, others: Known, canaries: list[tuple[Case, Known]]) -> None:
        self.others, self.canaries, self.kept = others, canaries, traces_of([])
        self.evidence, self.zeros, self.tables = np.zeros(len(canaries)), 0, 0

    def sees_kept(self, kept: Traces, first: NoisyTable, mu: float, threshold: int, scale: int) -> None:
        """Weigh which variants were kept."""
        self.kept, sd = kept, scale / mu
        shown = dict(zip(map(tuple, kept.to_lists()), first.counts.tolist(), strict=True))
        for i, (canary, _) in enumerate(self.canaries):
            same = self.others.cases_of(canary.codes)
            if canary.codes in shown:
                noisy = shown[canary.codes]
                self.evidence[i] += CERTAIN if same == 0 else ((noisy - scale * same) * scale - scale**2 / 2) / sd**2
            else:
                counts = same, same + 1
                hidden = [1.0 if count == 0 else 1 - upper_tail((threshold - 0.5 - scale * count) / sd) for count in counts]
                self.evidence[i] += math.log(max(hidden[1], 1e-300) / max(hidden[0], 1e-300))

    def sees_counted(self, kept: Traces, counts: NoisyTable, epsilon: float, bound: int) -> None:
        """Weigh which variants were counted with truncated geometric noise, and how many cases each seems to have."""
        self.kept = kept
        shown = dict(zip(map(tuple, kept.to_lists()), counts.counts.tolist(), strict=True))
        weights = np.exp(-epsilon * np.abs(np.arange(-bound, bound + 1)))

        def chance(noisy: int | None, cases: int) -> float:
            """Of this noisy count, or of none that is high enough."""
            if noisy is None:
                return float(weights[: max(2 * bound + 1 - cases, 0)].sum() / weights.sum()) if cases else 1.0
            return float(weights[noisy - cases + bound] / weights.sum()) if abs(noisy - cases) <= bound and cases else 0.0

        for i, (canary, _) in enumerate(self.canaries):
            same, noisy = self.others.cases_of(canary.codes), shown.get(canary.codes)
            without, with_canary = (max(chance(noisy, cases), 1e-300) for cases in (same, same + 1))
            self.evidence[i] += min(CERTAIN, math.log(with_canary / without))

    def sees_labels(self, known: tuple[str, ...], chosen: tuple[str, ...], mu: float, threshold: int, scale: int) -> None:
        """Weigh which labels were kept."""
        table = LabelWeights(len(LABELS), np.array([LABELS.index(label) for label in known], np.int64))
        others = self.others.count(table, self.kept, LABELS)
        for i, (_, canary) in enumerate(self.canaries):
            more = canary.count(table, self.kept, LABELS)
            for code, label in enumerate(LABELS):
                if label not in known:
                    without, with_canary = (
                        upper_tail((threshold - 0.5 - weight) * mu / scale) if weight else 0.0
                        for weight in (others[code], others[code] + more[code])
                    )
                    if label not in chosen:
                        without, with_canary = 1 - without, 1 - with_canary
                    self.evidence[i] += CERTAIN if without == 0 else math.log(max(with_canary, 1e-300) / without)

    def sees(self, table: Table, noisy: NoisyTable, *, of_tail: bool, labels: tuple[str, ...]) -> None:
        """Weigh a noisy table."""
        tail_of = self.kept if of_tail else None
        off = noisy.counts.ravel() - self.others.count(table, tail_of, labels).ravel()
        for i, (_, canary) in enumerate(self.canaries):
            more = canary.count(table, tail_of, labels).ravel().astype(np.float64)
            if isinstance(table, RareCases):  # how much a case counts there depends on others
                same = self.others.cases_of(self.canaries[i][0].codes)
                more = np.diff([max(0.0, min(cases, 2 * table.most - cases)) for cases in (same, same + 1)])
            self.evidence[i] += float(off @ more - more @ more / 2) / (noisy.sd * noisy.scale) ** 2
        self.tables += 1
        self.zeros += int(of_tail and not noisy.counts.any())

    def figures(self) -> list[list[float]]:
        """What it decides from, for each canary."""
        return [[weight, float(len(self.kept)), float(self.zeros), float(self.tables)] for weight in self.evidence.tolist()]


def observed(others: list[Case], canaries: list[Case], run: Run, plan: Plan, runs: int, seed: int) -> list[tuple[Floats, Floats]]:
    """For each canary the adversary's figures of many runs with it, and of as many without: it sees whatever leaves any gate.

    The runs without a canary are the same for all of them: each bound holds by itself, whatever it shares with another.
    """
    known, random = Known(others), Randomness(seed=seed)
    candidates = [(canary, Known([canary])) for canary in canaries]
    release, select, select_labels, count = Gate.release, Gate.select_variants, Gate.select_labels, Gate.count_variants
    adversary = Adversary(known, candidates)

    def heard_release(self: Gate, table: Table, mu: float, group: Any = None) -> NoisyTable:
        noisy = release(self, table, mu, group)
        adversary.sees(table, noisy, of_tail=self.group == "tail", labels=self._engine.labels)
        return noisy

    def heard_select(self: Gate, mu: float, threshold: int, scale: int) -> tuple[Traces, NoisyTable]:
        kept, first = select(self, mu, threshold, scale)
        adversary.sees_kept(kept, first, mu, threshold, scale)
        return kept, first

    def heard_count(self: Gate, epsilon: float, bound: int) -> tuple[Traces, NoisyTable]:
        kept, counts = count(self, epsilon, bound)
        adversary.sees_counted(kept, counts, epsilon, bound)
        return kept, counts

    def heard_labels(self: Gate, known: tuple[str, ...], mu: float, threshold: int, most: int | None = None) -> tuple[str, ...]:
        chosen = select_labels(self, known, mu, threshold, most)
        adversary.sees_labels(known, chosen, mu, threshold, LabelWeights.scale)
        return chosen

    sides = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gate, "release", heard_release)
        patch.setattr(Gate, "select_variants", heard_select)
        patch.setattr(Gate, "count_variants", heard_count)
        patch.setattr(Gate, "select_labels", heard_labels)
        for engine, weighed in (*((engine_with([*others, one[0]]), [one]) for one in candidates), (known.engine, candidates)):
            rows = []
            for _ in range(runs):
                adversary = Adversary(known, weighed)
                run(Gate(engine, random), plan)
                rows.append(adversary.figures())
            sides.append(np.array(rows))
    *with_each, without = sides
    return [(with_it[:, 0], without[:, i]) for i, with_it in enumerate(with_each)]


def audited_epsilon(with_case: Floats, without: Floats, delta: float) -> float:
    """A lower bound on epsilon, adding and removing the case both tried; the event is chosen from a quarter of the runs."""
    first, rest = slice(None, None, 4), np.arange(len(with_case)) % 4 != 0
    event = telling_event(with_case[first], without[first], delta)
    return bound_of(event, with_case[rest], without[rest], MISTAKEN).epsilon(delta)


def audited_noise(runs: int, seed: int) -> tuple[float, float]:
    """The epsilon claimed for counts of variants, at so large a delta that a little less noise shows; and what is found."""
    epsilon, delta = 1.0, 0.3
    plan = make_plan(epsilon, delta, Budget(0.999, 0.001), tail="nearest")
    others = [Case("ab", MONDAY + day * DAY) for day in range(40)]
    (sides,) = observed(others, [Case("ab")], _counts, plan, runs, seed)
    return epsilon, audited_epsilon(*sides, delta)


def _counts(gate: Gate, plan: Plan) -> None:
    _release_control(gate, plan, None)


def audited_clip(runs: int, seed: int) -> tuple[float, float]:
    """The epsilon claimed for control flow with private labels, and what a case that repeats itself for long shows of it.

    The tail has many traces that repeat themselves: only then are repetitions asked for, where a clip matters.
    """
    epsilon, delta = 3.0, 0.01
    plan = make_plan(epsilon, delta, Budget(0.899, 0.101))
    rare = ["".join(word) for word in product("ab", repeat=8)][::2]
    others = [Case(word, MONDAY + day * DAY) for day, word in enumerate(["ab"] * 40 + rare)]
    (sides,) = observed(others, [Case("a" + "b" * 800)], _counts, plan, runs, seed)
    return epsilon, audited_epsilon(*sides, delta)
