"""The accountant: closed form against privacy loss distributions, ledgers as data, and no guess about what it does not know."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from libra.privacy import accounting
from libra.privacy.accounting import UnknownReleaseError, delta_of_ledger, epsilon_of_ledger, losses_of
from libra.privacy.calibration import calibrate, selections_delta
from libra.privacy.gaussian import delta_of
from libra.privacy.ledger import (
    DISCRETE_LAPLACE,
    LABEL_SELECTION,
    LAPLACE,
    ROUNDED_GAUSSIAN,
    TRUNCATED_GEOMETRIC,
    VARIANT_SELECTION,
    Entry,
    Ledger,
)
from libra.privacy.renyi import subsampled_laplace_epsilon


def gaussian(mu: float, group: str = "all") -> Entry:
    return Entry("a table", ROUNDED_GAUSSIAN, 2.0, 2.0 / mu, group)  # type: ignore[arg-type]


@pytest.mark.parametrize("mus", [(0.3,), (0.1, 0.2, 0.05), (1.0, 0.7)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_closed_form_agrees_with_privacy_loss_distributions(mus: tuple[float, ...], epsilon: float) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    whole = pld.identity()
    for mu in mus:
        whole = whole.compose(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4))
    delta = delta_of_ledger(Ledger(tuple(gaussian(mu) for mu in mus)), epsilon)
    if delta > 1e-9:
        assert delta == pytest.approx(whole.get_delta_for_epsilon(epsilon), rel=1e-3)
    assert epsilon_of_ledger(Ledger(tuple(gaussian(mu) for mu in mus)), 1e-5) == pytest.approx(
        whole.get_epsilon_for_delta(1e-5), rel=1e-3
    )


@pytest.mark.parametrize(("epsilon", "delta", "share"), [(0.1, 1e-4, 0.3), (1.0, 1e-5, 0.1), (1.0, 1e-5, 0.6), (5.0, 1e-8, 0.3)])
def test_what_calibration_plans_the_accountant_confirms(epsilon: float, delta: float, share: float) -> None:
    plan = calibrate(epsilon, delta, share)
    ledger = Ledger(
        (
            Entry("variants", VARIANT_SELECTION, 1.0, 1 / plan.mu_variants, "all", plan.variant_shows),
            gaussian(plan.mu_rest * math.sqrt(0.4)),
            gaussian(plan.mu_rest * math.sqrt(0.6), "tail"),
            gaussian(plan.mu_rest * math.sqrt(0.6), "kept"),
        )
    )
    assert delta * (1 - 1e-5) < delta_of_ledger(ledger, epsilon) <= delta
    assert epsilon_of_ledger(ledger, delta) == pytest.approx(epsilon, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_what_calibration_plans_with_private_labels_the_accountant_confirms(epsilon: float) -> None:
    plan = calibrate(epsilon, 1e-5, 0.3, labels=(0.1,))
    ledger = Ledger(
        (
            Entry("variants", VARIANT_SELECTION, 1.0, 1 / plan.mu_variants, "all", plan.variant_shows),
            Entry("labels", LABEL_SELECTION, 1.0, 1 / plan.mu_labels, "tail", plan.labels_show(0)),
            gaussian(math.sqrt(plan.mu_rest**2 - plan.mu_labels**2)),
        )
    )
    assert 0.9e-5 < delta_of_ledger(ledger, epsilon) <= 1e-5


def test_only_the_dearer_of_kept_and_tail_counts() -> None:
    ledger = Ledger((gaussian(0.3), gaussian(0.4, "kept"), gaussian(0.2, "tail"), gaussian(0.1, "tail")))
    assert ledger.mu == pytest.approx(0.5)
    assert delta_of_ledger(ledger, 1.0) == pytest.approx(delta_of(0.5, 1.0))


def test_an_empty_ledger_costs_nothing() -> None:
    assert delta_of_ledger(Ledger(), 1.0) == 0
    assert epsilon_of_ledger(Ledger(), 1e-9) == 0


@pytest.mark.parametrize("delta", [1e-3, 1e-5])
def test_laplace_entries_agree_with_their_own_accounting(delta: float) -> None:
    ledger = Ledger((Entry("a count", LAPLACE, 1.0, 2.0),) * 5)
    assert epsilon_of_ledger(ledger, delta) == pytest.approx(subsampled_laplace_epsilon(2.0, 1.0, 5, delta), rel=2e-3)


def test_a_discrete_laplace_has_its_epsilon() -> None:
    ledger = Ledger((Entry("a count", DISCRETE_LAPLACE, 1.0, 2.0),))
    assert epsilon_of_ledger(ledger, 1e-9) == pytest.approx(0.5, rel=1e-8)


@pytest.mark.parametrize(("mu", "times"), [(0.0, 30), (0.4, 30)])
def test_many_releases_of_whole_numbers_cost_what_privacy_loss_distributions_say(mu: float, times: int) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    entry = Entry("a count", DISCRETE_LAPLACE, 2.0, 10.0)
    whole = pld.from_discrete_laplace_mechanism(0.1, 2, value_discretization_interval=1e-4).self_compose(times)
    if mu:
        whole = whole.compose(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4))
    ledger = Ledger((entry,) * times + ((gaussian(mu),) if mu else ()))
    for epsilon in (0.5, 2.0, 4.0):
        assert delta_of_ledger(ledger, epsilon) == pytest.approx(whole.get_delta_for_epsilon(epsilon), rel=1e-3, abs=1e-11)


def test_releases_of_more_losses_than_can_be_written_down_are_counted_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = tuple(Entry("a count", DISCRETE_LAPLACE, 1.0, 5 + number / 7) for number in range(11))
    on_a_grid = delta_of_ledger(Ledger(entries), 1.0)
    assert losses_of(entries) is None
    monkeypatch.setattr(accounting, "MOST_VALUES", 3_000)
    written_down = delta_of_ledger(Ledger(entries), 1.0)
    assert losses_of(entries) is not None
    assert written_down < on_a_grid < written_down * 1.01


def test_gaussian_noise_and_selections_beside_other_noise_count_too() -> None:
    laplace = Entry("a count", LAPLACE, 1.0, 4.0)
    selection = Entry("variants", VARIANT_SELECTION, 1.0, 5.0, "all", 1e-5)
    alone = delta_of_ledger(Ledger((laplace,)), 0.2)
    both = delta_of_ledger(Ledger((laplace, gaussian(0.3))), 0.2)
    all_three = delta_of_ledger(Ledger((laplace, gaussian(0.3), selection)), 0.2)
    assert alone < both < all_three - 1e-5
    nearly_none = Ledger((Entry("a count", LAPLACE, 1.0, 1e6), gaussian(0.3), selection))
    expected = selections_delta(math.hypot(0.3, 0.2), 1e-5, 1.0)
    assert delta_of_ledger(nearly_none, 1.0) == pytest.approx(expected, rel=2e-3)


def test_subsampling_lowers_and_repeating_raises_the_price() -> None:
    entries = (gaussian(0.5),)
    sampled = delta_of_ledger(Ledger(entries, rate=0.1), 1.0)
    assert sampled == pytest.approx(0.1 * delta_of(0.5, math.log1p(math.expm1(1.0) / 0.1)))
    assert sampled < delta_of_ledger(Ledger(entries, rate=0.1, times=10), 1.0) < 1


def test_a_selection_that_shows_too_often_has_no_epsilon() -> None:
    ledger = Ledger((Entry("variants", VARIANT_SELECTION, 1.0, 5.0, "all", 1e-3),))
    assert epsilon_of_ledger(ledger, 1e-4) == math.inf


@pytest.mark.parametrize(
    "entry",
    [
        Entry("a table", "exact count", 1.0, 1.0),
        Entry("a table", "Rounded Gaussian", 1.0, 1.0),
        Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 1.0),
        Entry("variants", TRUNCATED_GEOMETRIC, 2.0, 1.0, bound=9),
        Entry("a count", DISCRETE_LAPLACE, 1.5, 1.0),
    ],
)
def test_what_the_accountant_does_not_know_it_refuses(entry: Entry) -> None:
    with pytest.raises(UnknownReleaseError):
        delta_of_ledger(Ledger((gaussian(0.1), entry)), 1.0)


def test_what_is_not_proved_for_somebody_with_several_cases_is_refused_whoever_wrote_the_ledger() -> None:
    ledger = Ledger((gaussian(0.1), Entry("a count", DISCRETE_LAPLACE, 1.0, 5.0)), most_cases=2)
    with pytest.raises(UnknownReleaseError, match="one case alone"):
        epsilon_of_ledger(ledger, 1e-5)
    assert epsilon_of_ledger(replace(ledger, most_cases=1), 1e-5) < 1


def test_a_ledger_survives_json_and_says_what_each_entry_took() -> None:
    ledger = Ledger((gaussian(0.3), gaussian(0.4, "kept"), Entry("c", TRUNCATED_GEOMETRIC, 1.0, 1.0, bound=9)), 0.5, 3)
    plain = json.loads(json.dumps(ledger.to_dict(), allow_nan=False))
    assert Ledger.from_dict(plain) == ledger
    assert [round(entry["share"], 6) for entry in plain["ledger"][:2]] == [0.36, 0.64]
    assert "mu" not in plain["ledger"][2]
    assert plain["spent"]["asked"] is None


def test_shares_are_of_what_was_asked_for_and_add_up_by_group() -> None:
    entries = (gaussian(0.3), gaussian(0.4, "kept"), gaussian(0.2, "tail"), gaussian(0.1, "tail"))
    ledger = Ledger(entries, asked=1.0)
    plain = json.loads(json.dumps(ledger.to_dict()))
    assert Ledger.from_dict(plain) == ledger
    assert [entry["share"] for entry in plain["ledger"]] == pytest.approx([0.09, 0.16, 0.04, 0.01])
    assert plain["spent"]["shares"] == pytest.approx({"all": 0.09, "kept": 0.16, "tail": 0.05})
    assert (plain["spent"]["share"], plain["spent"]["mu"], plain["spent"]["asked"]) == pytest.approx((0.25, 0.5, 1.0))
    assert Ledger(asked=1.0).to_dict()["spent"]["share"] == Ledger().to_dict()["spent"]["share"] == 0


@pytest.mark.parametrize("entry", ["'rounded gaussian', 1.0, 3.0", "'truncated geometric', 1.0, 3.0, bound=20"])
def test_gaussian_and_whole_numbered_noise_is_counted_without_heavy_imports(entry: str) -> None:
    code = (
        "import sys; from libra.privacy.accounting import epsilon_of_ledger as e\n"
        "from libra.privacy.ledger import Entry, Ledger\n"
        f"e(Ledger((Entry('a', {entry}),)), 1e-2); print({{'scipy', 'dp_accounting'}} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
