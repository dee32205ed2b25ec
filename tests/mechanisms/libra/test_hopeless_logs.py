"""Logs that cannot be anonymized well: nothing crashes or runs away, and what comes out is a small and sane log."""

from __future__ import annotations

import numpy as np
import pytest
from some_logs import DAY, MAY_2024, all_different, log_from, sd_of_size, structured

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import LONGEST
from libra.eventlog.log import empty_log
from libra.mechanisms.libra import Libra
from libra.privacy.accounting import epsilon_of_ledger

YEAR = 365 * DAY
LOGS = {
    "ten cases": log_from(["abc"] * 10),
    "one case": log_from(["abc"]),
    "one event": log_from(["a"]),
    "all cases different": log_from(all_different(250)),
    "a giant": log_from(["ab"] * 200 + ["ab" * 10_000]),
    "only a giant": log_from(["abc" * 7_000]),
    "all times equal": log_from(["abc"] * 300, every=0, step=0),
    "a label a case": log_from([[f"label {i}"] for i in range(300)]),
    "nothing": empty_log(log_from(["a"])),
}
TARGETS = [(0.01, 1e-12), (0.01, 1e-2), (1.0, 1e-12), (1.0, 1e-5), (50.0, 1e-12), (50.0, 1e-2)]


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
@pytest.mark.parametrize("name", LOGS)
def test_what_comes_out_is_sane(name: str, epsilon: float, delta: float) -> None:
    original, mechanism = LOGS[name], Libra(epsilon=epsilon, delta=delta)
    released = mechanism.anonymize(original, Randomness(seed=1)).log
    assert released.n_cases <= original.n_cases + 5 * sd_of_size(mechanism.plan) + 1
    assert set(released.activities) <= set(original.activities)
    assert released.in_time_order
    if not released.n_cases:
        return
    lengths, known = np.diff(released.case_offsets), np.diff(original.case_offsets)
    assert lengths.max() <= min(2 * known.max() + 2, LONGEST)
    starts, _ = released.case_spans
    assert starts.min() >= 0
    assert starts.max() < 131.2 * YEAR
    if released.n_cases * mechanism.plan.mu_times > 20:  # then the year stands out
        assert abs(starts - MAY_2024).max() < 1.2 * YEAR
        durations = released.case_spans[1] - starts
        assert durations.max() < 1.2 * YEAR


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize(
    "options", [{"tail": "nearest"}, {"tail": "drop"}, {"labels": "public"}, {"gamma": 0.01}, {"subsamples": 3}]
)
def test_no_way_of_asking_makes_it_fail(name: str, options: dict[str, object]) -> None:
    original, mechanism = LOGS[name], Libra(**options)  # type: ignore[arg-type]
    released = mechanism.anonymize(original, Randomness(seed=2)).log
    assert released.n_cases <= original.n_cases + 5 * sd_of_size(mechanism.plan) + 1
    assert set(released.activities) <= set(original.activities)


@pytest.mark.parametrize("name", ["one case", "one event", "nothing", "ten cases"])
def test_next_to_nothing_gives_an_empty_log_and_the_reason_without_a_figure_of_it(name: str) -> None:
    released = Libra().anonymize(LOGS[name], Randomness(seed=3))
    assert released.log.n_cases == 0
    assert released.log.events.columns == ["@case", "concept:name", "time:timestamp"]
    (note,) = (note for note in released.notes if "empty" in note)
    assert "needs about 54 cases" in note
    assert note in Libra().anonymize(LOGS["only a giant"], Randomness(seed=3)).notes


@pytest.mark.parametrize(
    "options",
    [
        *({"epsilon": 1e-4}, {"epsilon": 100.0, "delta": 0.4}, {"delta": 0.49}, {"delta": 1e-300}, {"gamma": 1e-6}),
        *({"subsamples": 40}, {"subsamples": 20, "gamma": 1.0}, {"budget": "control=0.000001"}, {"budget": "times=0.000001"}),
    ],
)
def test_extreme_parameters_give_a_sane_log_too(options: dict[str, object]) -> None:
    original, mechanism = structured(), Libra(**options)  # type: ignore[arg-type]
    release = mechanism.anonymize(original, Randomness(seed=1))
    assert release.log.n_cases <= original.n_cases + 4 * sd_of_size(mechanism.plan)
    assert release.log.in_time_order
    assert release.ledger is not None
    assert epsilon_of_ledger(release.ledger, mechanism.delta) <= mechanism.epsilon


@pytest.mark.parametrize("year", [-270, -1, 0, 129, 135, 240])
def test_years_beyond_the_calendar_are_clamped_to_it(year: int) -> None:
    original = log_from(["ab"] * 300, start=year * YEAR)
    starts, _ = Libra(epsilon=5.0).anonymize(original, Randomness(seed=1)).log.case_spans
    assert len(starts) > 200
    nearest = min(max(year, 0), 130) * YEAR
    assert np.abs(starts - nearest).max() < 1.7 * YEAR


def test_the_larger_epsilon_the_closer_the_number_of_cases() -> None:
    original = log_from(["abc"] * 300 + ["acb"] * 200 + all_different(300, "abc"))
    off = []
    for epsilon in (0.1, 1.0, 10.0):
        sizes = [Libra(epsilon=epsilon, delta=1e-4).anonymize(original, Randomness(seed=seed)).log.n_cases for seed in range(5)]
        off.append(float(np.mean(np.abs(np.array(sizes) - original.n_cases))))
    assert off[0] > off[1] > off[2]
    assert off[2] < 10
