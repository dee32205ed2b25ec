"""The gate: noise on everything, every passage in the ledger, nothing raw outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from libra._system.randomness import Randomness
from libra.engines.contract import Table, VariantRule
from libra.engines.control_flow_tables import LabelWeights
from libra.eventlog.cases import Traces, traces_of
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import calibrate
from libra.privacy.gate import Gate, Seconds
from libra.privacy.ledger import Entry
from libra.privacy.noise import NoisyTable

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Lengths:
    """Trace lengths, up to a bound."""

    bound: int
    purpose: ClassVar[str] = "trace lengths"
    clip: ClassVar[float] = 1.0
    scale: ClassVar[int] = 16

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.bound + 1,)


@dataclass(frozen=True)
class Clipped(Lengths):
    """The same with another clip."""

    clip: float  # type: ignore[misc]  # of this class a field
    scale: ClassVar[int] = 64


class ListEngine:
    """Cases as lists of codes; what the contract asks, written plainly."""

    def __init__(self, cases: Sequence[Sequence[int]], labels: tuple[str, ...] = ("a", "b", "c")) -> None:
        self.cases, self.labels = [tuple(case) for case in cases], labels

    def count_all(self, tables: Sequence[Table]) -> list[Integers]:
        return [self._weights(table) if isinstance(table, LabelWeights) else self._lengths(table) for table in tables]

    def _lengths(self, table: Table) -> Integers:
        lengths = [min(len(case), table.shape[0] - 1) for case in self.cases]
        return table.scale * np.bincount(np.array(lengths, np.int64), minlength=table.shape[0])

    def _weights(self, table: LabelWeights) -> Integers:
        weights = np.zeros(table.shape, np.int64)
        for case in self.cases:
            unknown = sorted(set(case) - set(table.known.tolist()))
            weights[unknown] += math.isqrt(table.scale**2 // max(len(unknown), 1))
        return weights

    def select_variants(self, rule: VariantRule, random: Randomness) -> tuple[Traces, Integers]:
        distinct = sorted(set(self.cases))
        rows, noisy = rule.passing(np.array([self.cases.count(one) for one in distinct], np.int64), random)
        return traces_of([distinct[row] for row in rows]), noisy

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        return ()

    def select_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        raise NotImplementedError("these cases have no attributes")

    def select_event_values(self, attribute: int, rule: VariantRule, random: Randomness) -> tuple[Integers, Integers]:
        raise NotImplementedError("these cases have no attributes")

    def subsampled(self, rate: float, random: Randomness) -> ListEngine:
        taken = random.uniform(len(self.cases)) < rate
        return ListEngine([case for case, one in zip(self.cases, taken, strict=True) if one], self.labels)

    def tail(self, kept: Traces) -> ListEngine:
        known = {tuple(one) for one in kept.to_lists()}
        return ListEngine([case for case in self.cases if case not in known], self.labels)

    def with_labels(self, labels: tuple[str, ...]) -> ListEngine:
        new = {self.labels.index(label): code for code, label in enumerate(labels)}
        return ListEngine([[new[code] for code in case if code in new] for case in self.cases], labels)


def some_engine() -> ListEngine:
    return ListEngine([[0, 1]] * 500 + [[1]] * 300 + [[0, 1, 1, 0]] * 3 + [[2, 0]])


def test_a_release_is_the_count_with_noise_of_its_sensitivity() -> None:
    gate = Gate(some_engine(), Randomness(seed=3))
    tables = [gate.release(Lengths(4), mu=0.25) for _ in range(400)]
    errors = np.array([table.values for table in tables]) - np.array([0, 300, 501, 0, 3])
    assert tables[0].sd == 4.0
    assert np.std(errors) == pytest.approx(4.0, rel=0.06)
    assert abs(errors.mean()) < 0.5


@pytest.mark.parametrize(("clip", "mu"), [(1.0, 0.3), (3.7, 0.3), (12.0, 2.0), (1.0, 40.0)])
def test_the_noise_that_is_drawn_is_the_noise_in_the_ledger(clip: float, mu: float) -> None:
    """Of nobody's counts only noise is left: its sum of squares, in the unit of the ledger, is chi-squared."""
    gate = Gate(ListEngine([]), Randomness(seed=4))
    released = gate.release(Clipped(20_000, clip), mu)
    (entry,) = gate.ledger().entries
    assert released.sd == entry.noise == clip / mu
    assert entry.sensitivity == clip
    counted = released.values[1:]
    low, high = chi2.ppf((1e-6, 1 - 1e-6), len(counted))
    rounding = 1 / (12 * released.scale**2 * entry.noise**2)  # what the variance of rounding adds
    assert low < (counted**2).sum() / entry.noise**2 / (1 + rounding) < high


def test_the_noise_of_a_selection_is_the_noise_in_the_ledger() -> None:
    gate = Gate(ListEngine([[code] for code in range(8_000)]), Randomness(seed=4))
    _, noisy = gate.select_variants(0.25, -1_000_000, 1024)
    (entry,) = gate.ledger().entries
    assert noisy.sd == entry.noise == 4.0
    low, high = chi2.ppf((1e-6, 1 - 1e-6), 8_000)
    assert low < ((noisy.values - 1) ** 2).sum() / entry.noise**2 < high


def test_the_noise_of_chosen_labels_is_the_noise_in_the_ledger() -> None:
    """A label passes a threshold at its own weight as often as not, and one a standard deviation below five times in six."""
    cases, sd, scale = [[0]] * 50, 4.0, 1024
    for beyond, often in ((0.0, 0.5), (-sd, norm.cdf(1)), (sd, norm.cdf(-1))):
        gate = Gate(ListEngine(cases), Randomness(seed=6))
        passed = [len(gate.select_labels((), 1 / sd, round((50 + beyond) * scale))) for _ in range(1_500)]
        assert np.mean(passed) == pytest.approx(often, abs=0.05)
        assert {entry.noise for entry in gate.ledger().entries} == {sd}


def test_every_passage_is_in_the_ledger_with_its_group() -> None:
    gate = Gate(some_engine(), Randomness(seed=3))
    plan = calibrate(1.0, 1e-5, variants=0.3)
    kept, noisy = gate.select_variants(plan.mu_variants, plan.variant_threshold, plan.scale)
    gate.release(Lengths(4), 0.1)
    gate.release(Lengths(4), 0.05, group="kept")
    gate.tail(kept).release(Lengths(4), 0.07)
    ledger = gate.ledger()
    assert [(entry.purpose, entry.group) for entry in ledger.entries] == [
        ("which variants are kept", "all"),
        ("trace lengths", "all"),
        ("trace lengths", "kept"),
        ("trace lengths", "tail"),
    ]
    assert ledger.mu**2 == pytest.approx(plan.mu_variants**2 + 0.1**2 + 0.07**2)
    assert 0 < delta_of_ledger(ledger, 1.0) < 1e-5
    assert kept.to_lists() == [[0, 1], [1]]
    assert isinstance(noisy, NoisyTable)


def test_the_ledger_is_the_same_whatever_the_log() -> None:
    """With the same requests: nothing that was counted leaves through the ledger."""

    def entries(engine: ListEngine) -> tuple[Entry, ...]:
        gate = Gate(engine, Randomness(seed=5))
        kept, _ = gate.select_variants(0.1, 60_000, 1024)
        gate.tail(kept).select_labels((), 0.1, 60_000)
        gate.tail(traces_of([[1]])).release(Lengths(7), 0.3)
        return gate.ledger().entries

    assert entries(some_engine()) == entries(ListEngine([])) == entries(ListEngine([[1] * 9] * 50))


def test_labels_come_in_the_order_of_their_names_and_rare_ones_not_at_all() -> None:
    cases = [[2, 1]] * 500 + [[1]] * 300 + [[3] * i for i in range(1, 400)] + [[4, 1]] * 3
    gate = Gate(ListEngine(cases, ("a", "b", "c", "d", "e")), Randomness(seed=3))
    plan = calibrate(1.0, 1e-5, variants=0.3, labels=(0.1,))
    kept, _ = gate.select_variants(plan.mu_variants, plan.variant_threshold, plan.scale)
    assert gate.labels_of(kept) == ("b", "c")
    (each,) = plan.label_rounds
    assert gate.tail(kept).select_labels(("b", "c"), each.mu, each.threshold) == ("b", "c", "d")
    assert gate.recoded(traces_of([[2, 1], [1]]), ("b", "c", "d")).to_lists() == [[1, 0], [0]]
    assert [(entry.mechanism, entry.group) for entry in gate.ledger().entries] == [
        ("thresholded rounded gaussian", "all"),
        ("label selection", "tail"),
    ]


def test_a_subsample_has_a_ledger_of_its_own_that_knows_its_rate() -> None:
    gate = Gate(some_engine(), Randomness(seed=3))
    part = gate.subsampled(0.25)
    part.tail(traces_of([[1]])).release(Lengths(4), 0.5)
    assert gate.ledger().entries == ()
    assert (part.ledger(times=4).rate, part.ledger(times=4).times, len(part.ledger().entries)) == (0.25, 4, 1)
    assert delta_of_ledger(part.ledger(), 1.0) < delta_of_ledger(gate.ledger(), 1.0) + 1e-4


def test_a_seed_makes_the_same_releases_again() -> None:
    def run() -> list[list[int]]:
        gate = Gate(some_engine(), Randomness(seed=12))
        kept, noisy = gate.select_variants(0.3, 9000, 1024)
        return [noisy.counts.tolist(), gate.tail(kept).release(Lengths(4), 0.2).counts.tolist()]

    assert run() == run()


def test_time_is_kept_of_what_fails_too() -> None:
    seconds = Seconds()
    with pytest.raises(ValueError, match="broken"), seconds.of("aggregate"):
        raise ValueError("broken")
    assert seconds.aggregate > 0


def test_time_is_kept_by_stage_and_nothing_raw_is_shown() -> None:
    gate = Gate(some_engine(), Randomness(seed=3))
    gate.release(Lengths(4), 0.2)
    gate.tail(traces_of([])).release(Lengths(4), 0.2)
    assert gate.seconds.aggregate > 0
    assert gate.seconds.privatize > 0
    assert "500" not in repr(gate)
    assert "ListEngine" not in repr(gate)
