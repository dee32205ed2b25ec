"""Guarantees for individuals: several cases of one are counted together, and hidden together."""

from __future__ import annotations

import itertools
import math

import pytest

from libra._system.randomness import Randomness
from libra.engines.polars import engine_of
from libra.example.simulate import simulate
from libra.privacy.accounting import UnknownReleaseError, delta_of_ledger, epsilon_of_ledger
from libra.privacy.calibration import calibrate, selections_delta
from libra.privacy.gate import Gate
from libra.privacy.gaussian import delta_of, upper_tail
from libra.privacy.ledger import LABEL_SELECTION, LAPLACE, ROUNDED_GAUSSIAN, VARIANT_SELECTION, Entry, Ledger
from libra.privacy.selection import labels_show, variant_shows

EDGES = Entry("edges", ROUNDED_GAUSSIAN, 1.0, 8.0, "tail")
COUNTS = Entry("counts", ROUNDED_GAUSSIAN, 1.0, 9.0, "kept")
STARTS = Entry("starts", ROUNDED_GAUSSIAN, 1.0, 10.0)


def _divisions(cases: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """All ways in which so many cases can follow new variants."""
    largest = cases if largest is None else largest
    return [()] + [(c, *rest) for c in range(1, min(cases, largest) + 1) for rest in _divisions(cases - c, c)]


@pytest.mark.parametrize("cases", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("mu", "threshold"), [(0.3, 40), (0.1, 60), (1.0, 5), (0.02, 3)])
def test_the_probability_that_something_shows_is_that_of_the_worst_division(cases: int, mu: float, threshold: int) -> None:
    def shows(counts: tuple[int, ...]) -> float:
        return -math.expm1(sum(math.log1p(-upper_tail((threshold - c - 0.5) * mu)) for c in counts))

    worst = max(map(shows, _divisions(cases)))
    assert worst <= variant_shows(mu, threshold, 1, cases) == pytest.approx(worst, rel=1e-9)


def test_the_figures_of_a_ledger_are_multiplied_for_somebody_with_several_cases() -> None:
    mu = math.sqrt(1 / 10**2 + 1 / 8**2)
    ledger = Ledger((EDGES, COUNTS, STARTS), most_cases=3)
    assert delta_of_ledger(ledger, 1.0) == delta_of(3 * mu, 1.0)
    assert epsilon_of_ledger(ledger, 1e-5) > 2.9 * epsilon_of_ledger(Ledger((EDGES, COUNTS, STARTS)), 1e-5)
    assert Ledger.from_dict(ledger.to_dict()) == ledger


@pytest.mark.parametrize("in_tail", range(6))
def test_cases_in_kept_variants_and_in_the_tail_together_cost_no_more_than_the_ledger_says(in_tail: int) -> None:
    kept = 5 - in_tail
    true = math.sqrt((5 / 10) ** 2 + (in_tail / 8) ** 2 + (kept / 9) ** 2)
    ledger = Ledger((EDGES, COUNTS, STARTS), most_cases=5)
    assert delta_of(true, 2.0) <= delta_of_ledger(ledger, 2.0)


@pytest.mark.parametrize("cases", [2, 3, 10])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-4), (3.0, 1e-2)])
def test_the_calibration_keeps_the_promise_for_every_way_to_have_so_many_cases(cases: int, epsilon: float, delta: float) -> None:
    noise = calibrate(epsilon, delta, variants=0.3, cases=cases)
    assert (
        calibrate(epsilon, delta, variants=0.3).mu / cases > noise.mu > calibrate(epsilon, delta, variants=0.3).mu / cases * 0.8
    )
    for new, joined in itertools.product(range(cases + 1), repeat=2):
        if new + joined > cases:
            continue
        shows = 0.0 if new == 0 else variant_shows(noise.mu_variants, noise.variant_threshold, noise.scale, new)
        spent = math.hypot(joined * noise.mu_variants, (new + joined) * noise.mu_rest)
        assert selections_delta(spent, shows, epsilon) <= delta
    entries = (
        Entry("which variants are kept", VARIANT_SELECTION, noise.mu_variants, 1.0, shows=noise.variant_shows),
        Entry("rest", ROUNDED_GAUSSIAN, noise.mu_rest, 1.0),
    )
    assert delta / 2 < delta_of_ledger(Ledger(entries, most_cases=cases), epsilon) <= delta
    assert delta_of_ledger(Ledger(entries, most_cases=cases + 1), epsilon) > delta


@pytest.mark.parametrize("cases", [2, 3])
@pytest.mark.parametrize(("mu", "threshold"), [(0.3, 40), (0.1, 60), (1.0, 5), (0.02, 3)])
def test_the_probability_that_labels_show_covers_every_way_to_share_out_weight(cases: int, mu: float, threshold: int) -> None:
    """Every case has some of five labels that nobody else has, whichever they are, and gives each of them the same weight."""
    most = 4
    of_a_case = [labels for m in range(1, most + 1) for labels in itertools.combinations(range(5), m)]

    def shows(chosen: tuple[tuple[int, ...], ...]) -> float:
        weights = [sum(label in labels and 1 / math.sqrt(len(labels)) for labels in chosen) for label in range(5)]
        return -math.expm1(sum(math.log1p(-upper_tail((threshold - w - 0.5) * mu)) for w in weights if w))

    worst = max(map(shows, itertools.combinations_with_replacement(of_a_case, cases)))
    assert worst <= labels_show(mu, threshold, 1, most, cases) <= cases**2 * worst


@pytest.mark.parametrize("cases", [2, 7, 1_000])
def test_private_labels_keep_the_promise_for_somebody_with_several_cases(cases: int) -> None:
    noise = calibrate(1.0, 1e-5, variants=0.1, labels=(0.02, 0.06), cases=cases)
    labels = [
        Entry("labels", LABEL_SELECTION, each.mu, 1.0, "tail", noise.labels_show(number))
        for number, each in enumerate(noise.label_rounds)
    ]
    variants = Entry("variants", VARIANT_SELECTION, noise.mu_variants, 1.0, shows=noise.variant_shows)
    rest = Entry("rest", ROUNDED_GAUSSIAN, math.sqrt(noise.mu_rest**2 - noise.mu_labels**2), 1.0, "tail")
    assert 0.9e-5 < delta_of_ledger(Ledger((variants, *labels, rest), most_cases=cases), 1.0) <= 1e-5
    shown = [1 - entry.shows for entry in (variants, *labels)]
    assert 0 < 1 - math.prod(shown) <= 0.2e-5 * (1 + 1e-9)


def test_somebody_with_several_cases_takes_part_in_a_subsample_with_all_of_them() -> None:
    """The amplification of a run for the individual, whatever the number of cases: rate times delta at the inner epsilon."""
    ledger = Ledger((EDGES, STARTS), rate=0.25, most_cases=3)
    inner = math.log1p(math.expm1(1.0) / 0.25)
    assert delta_of_ledger(ledger, 1.0) == pytest.approx(0.25 * delta_of(3 * Ledger((EDGES, STARTS)).mu, inner))


def test_what_is_not_proved_for_several_cases_is_refused() -> None:
    laplace = Entry("edges", LAPLACE, 1.0, 2.0)
    with pytest.raises(UnknownReleaseError, match="one case alone"):
        delta_of_ledger(Ledger((laplace,), most_cases=2), 1.0)
    assert delta_of_ledger(Ledger((laplace,), most_cases=1), 1.0) < 1e-6


def test_every_gate_made_from_a_gate_knows_how_many_cases_somebody_has() -> None:
    engine = engine_of(simulate(cases=50))
    gate = Gate(engine, Randomness(seed=1), most_cases=4)
    kept, _ = gate.select_variants(0.5, 30, 1)
    assert gate.tail(kept).most_cases == gate.with_labels(engine.labels).most_cases == gate.subsampled(0.5).most_cases == 4
    assert gate.ledger().most_cases == 4
    (entry,) = gate.ledger().entries
    assert entry.shows == variant_shows(0.5, 30, 1, 4) > variant_shows(0.5, 30, 1)
