"""An audit: thousands of runs with and without one case stay within the claim, and the same audit catches broken mechanisms.

Delta is large here, so that what may go wrong with that probability is seen to go wrong, and no more often. Everything is seeded.
"""

from __future__ import annotations

import numpy as np
import pytest
from inside import DAY, HOUR, LABELS, MONDAY, Case, Run, audited_epsilon, audited_noise, engine_with, observed
from scipy.stats import binom

from libra._system.randomness import Randomness
from libra.engines.polars import PolarsEngine
from libra.eventlog.cases import Traces, traces_of
from libra.mechanisms.libra.plan import Budget, Plan, make_plan
from libra.mechanisms.libra.release_run import _release_control
from libra.mechanisms.libra.times.release import release_times
from libra.privacy.gate import Gate
from libra.privacy.gaussian import epsilon_of, mu_of
from libra.privacy.noise import NoiseTable, NoisyTable, geometric_within, rounded_gaussian

EPSILON, DELTA = 3.0, 1e-2
N_LABELS = len(LABELS)
CONTROL = make_plan(EPSILON, DELTA, Budget(0.899, 0.101))  # little is left for times, which are not released
PUBLIC = make_plan(EPSILON, DELTA, Budget(0.899, 0.101), labels="public")
COUNTED = make_plan(EPSILON, DELTA, Budget(0.999, 0.001))  # nothing is: with a look that decides whether there is a tail
DROPPED = make_plan(EPSILON, DELTA, Budget(0.999, 0.001), tail="drop")  # and without, all being for geometric noise
NEAREST = make_plan(EPSILON, DELTA, Budget(0.999, 0.001), tail="nearest")
TIMES = make_plan(EPSILON, DELTA, Budget(0.001, 0.999))
BOTH = make_plan(EPSILON, DELTA)
RARE = ("abc", "acb", "bc", "cb", "ccccc", "aab")
OTHERS = [Case(word, MONDAY + day * DAY) for day, word in enumerate(["ab"] * 40 + ["ac"] * 17 + list(RARE) * 5)]
NO_TAIL = [Case("ab", MONDAY + day * DAY) for day in range(90)]
CANARIES = {
    "joins a frequent variant": Case("ab"),
    "joins one that is kept half of the time": Case("ac"),
    "has a variant of its own": Case("cba"),
    "is very long": Case("abc" * 500),
    "repeats itself for long": Case("a" + "b" * 800),
    "has a label of its own": Case("azb"),
    "has a label of its own and nothing else": Case("z"),
}
TIMED_CANARIES = {
    "takes for ever": Case("ab", step=40 * 365 * DAY),
    "starts in a far year": Case("ab", start=20 * 365 * DAY, step=HOUR // 7),
}
PUBLIC_TRACES = traces_of([(0, 1)] * 57 + [(0, 2)] * 30)  # as if control flow had been released before, so


def control(gate: Gate, plan: Plan) -> None:
    _release_control(gate, plan, None if plan.calibration.label_rounds or plan.tail == "nearest" else LABELS)


def variants(gate: Gate, plan: Plan) -> None:
    """The first step alone: which variants are kept."""
    noise = plan.calibration
    gate.select_variants(noise.mu_variants, noise.variant_threshold, noise.scale)


def times(gate: Gate, plan: Plan) -> None:
    release_times(gate, PUBLIC_TRACES, N_LABELS, plan.mu_times)


def both(gate: Gate, plan: Plan) -> None:
    control(gate, plan)
    times(gate, plan)


def audited(others: list[Case], canaries: list[Case], run: Run, plan: Plan, runs: int, seed: int) -> list[float]:
    """The epsilon that is found for each canary."""
    return [audited_epsilon(*sides, DELTA) for sides in observed(others, canaries, run, plan, runs, seed)]


def within_the_claim(canaries: dict[str, Case], run: Run, plan: Plan, runs: int, seed: int) -> None:
    found = dict(zip(canaries, audited(OTHERS, list(canaries.values()), run, plan, runs, seed), strict=True))
    assert {name: epsilon for name, epsilon in found.items() if epsilon > EPSILON} == {}


def test_control_flow_stays_within_the_claim() -> None:
    within_the_claim(CANARIES, control, CONTROL, 300, seed=1)


def test_control_flow_with_public_labels_stays_within_the_claim() -> None:
    within_the_claim(_some("joins one that is kept half of the time", "has a variant of its own"), control, PUBLIC, 400, seed=6)


def test_control_flow_after_a_look_stays_within_the_claim() -> None:
    assert len(COUNTED.instead) == 1
    within_the_claim(CANARIES, control, COUNTED, 300, seed=11)


def test_control_flow_where_a_look_finds_hardly_any_rare_cases_stays_within_the_claim() -> None:
    """Each canary beside so many rare cases that the look decides either way."""
    assert COUNTED.look is not None
    some = round(COUNTED.look.limits[0])
    others = [Case("ab", MONDAY + day * DAY) for day in range(60)] + [Case("ba" * (i + 1), MONDAY) for i in range(some)]
    found = audited(others, [Case("ab"), Case("cba"), Case("azb")], control, COUNTED, 400, seed=12)
    assert max(found) <= EPSILON


def test_variants_counted_once_stay_within_the_claim_and_near_it() -> None:
    """A case of a variant that is kept half of the time: noise that is a third too small would show."""
    bound = DROPPED.calibration.geometric.bound if DROPPED.calibration.geometric else 0
    others = [Case("ab", MONDAY + day * DAY) for day in range(60)] + [Case("ac", MONDAY)] * bound
    some = [Case("ab"), Case("ac"), Case("cba")]
    found = audited(others, some, control, DROPPED, 3_000, seed=13)
    assert 2 / 3 * EPSILON < max(found) <= EPSILON


def test_counts_with_less_noise_than_the_ledger_says_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_less(epsilon: float, bound: int) -> NoiseTable:
        return geometric_within(2 * epsilon, bound)

    monkeypatch.setattr("libra.privacy.gate.geometric_within", with_less)
    (found,) = audited([Case("ab")] * 60, [Case("ab")], control, DROPPED, 3_000, seed=14)
    assert found > EPSILON


def test_counting_to_the_nearest_variant_stays_within_the_claim() -> None:
    some = _some("joins a frequent variant", "joins one that is kept half of the time", "has a variant of its own")
    within_the_claim(some, control, NEAREST, 600, seed=4)


def test_times_stay_within_the_claim() -> None:
    within_the_claim(TIMED_CANARIES, times, TIMES, 300, seed=2)


def test_everything_together_stays_within_the_claim() -> None:
    within_the_claim({"everything": Case("cab" * 300, start=9 * 365 * DAY, step=30 * DAY)}, both, BOTH, 300, seed=3)


def _some(*names: str) -> dict[str, Case]:
    return {name: CANARIES[name] for name in names}


def test_the_noise_is_no_smaller_than_it_should_be() -> None:
    """The same on a copy of the code with a fifth less noise fails: see the planted bugs."""
    claimed, found = audited_noise(runs=2500, seed=4)
    assert claimed / 3 < found <= claimed


def test_a_threshold_on_raw_counts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_raw_counts(self: Gate, mu: float, threshold: int, scale: int) -> tuple[Traces, NoisyTable]:
        assert isinstance(self._engine, PolarsEngine)
        traces, counts = self._engine.variants()
        kept = np.flatnonzero(scale * counts >= threshold)
        noise = rounded_gaussian(scale / mu, len(kept), self._random)
        return traces.take(kept), NoisyTable(scale * counts[kept] + noise, scale, 1 / mu)

    monkeypatch.setattr(Gate, "select_variants", by_raw_counts)
    needed = -(-CONTROL.calibration.variant_threshold // CONTROL.calibration.scale)
    others = [Case("ab")] * 40 + [Case("ac")] * (needed - 1)
    (found,) = audited(others, [Case("ac")], control, CONTROL, 500, seed=5)
    assert found > EPSILON


def test_a_branch_on_an_exactly_empty_tail_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake: where the tail is empty nothing has to be hidden, so no noise is put on its tables."""
    release = Gate.release

    def without_noise_on_nothing(self: Gate, table, mu, group=None):  # type: ignore[no-untyped-def]  # as the one it replaces
        noisy = release(self, table, mu, group)
        assert isinstance(self._engine, PolarsEngine)
        if self.group == "tail" and not self._engine.counts.sum():
            return NoisyTable(np.zeros_like(noisy.counts), noisy.scale, noisy.sd)
        return noisy

    (sound,) = audited(NO_TAIL, [Case("cba")], control, CONTROL, 600, seed=6)
    monkeypatch.setattr(Gate, "release", without_noise_on_nothing)
    (broken,) = audited(NO_TAIL, [Case("cba")], control, CONTROL, 600, seed=6)
    assert sound <= EPSILON
    assert broken > EPSILON


def test_a_threshold_of_two_cases_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part that delta is for: a variant of one case shows more often than that."""
    select = Gate.select_variants
    monkeypatch.setattr(Gate, "select_variants", lambda self, mu, threshold, scale: select(self, mu, 2 * scale, scale))
    (found,) = audited(NO_TAIL, [Case("cba")], variants, CONTROL, 3000, seed=7)
    assert found > EPSILON


def test_a_variant_of_one_case_shows_as_rarely_as_the_calibration_says() -> None:
    noise = CONTROL.calibration
    engine, runs = engine_with([*NO_TAIL, Case("cba")]), 4000
    gate = Gate(engine, Randomness(seed=8))
    chosen = [gate.select_variants(noise.mu_variants, noise.variant_threshold, noise.scale)[0] for _ in range(runs)]
    shown = sum([2, 1, 0] in kept.to_lists() for kept in chosen)
    assert noise.variant_shows < DELTA
    assert binom.cdf(shown, runs, noise.variant_shows) > 1e-3
    assert binom.sf(shown - 1, runs, noise.variant_shows) > 1e-3


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_audit_itself_reaches_most_of_a_true_epsilon_and_finds_an_overspend(epsilon: float) -> None:
    """On Gaussian noise, where the truth is known."""
    mu, random = mu_of(epsilon, DELTA), np.random.Generator(np.random.PCG64(9))
    noise = random.normal(size=(2, 40_000, 1))
    honest = audited_epsilon(noise[0] + mu, noise[1], DELTA)
    assert epsilon / 2 < honest <= epsilon == pytest.approx(epsilon_of(mu, DELTA))
    assert audited_epsilon(noise[0] + 1.4 * mu, noise[1], DELTA) > epsilon
