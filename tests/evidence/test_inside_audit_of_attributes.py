"""An audit of attributes: hundreds of runs with and without a canary stay within the claim, and mistakes are caught.

A canary has a value of its own, an extreme number, values that nobody else has together, or none. Everything is seeded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import inside_attributes as inside
import pytest
from inside_attributes import CANARIES, Run, audited, engine_of_all, plan_of
from scipy.stats import binom

from libra._system.randomness import Randomness
from libra.engines import attribute_tables as tables
from libra.privacy.gate import Gate

OWN, TOGETHER = "has values of its own", "has values that nobody else has together"
LARGE: dict[str, Any] = {"epsilon": 1.0, "delta": 0.3, "runs": 900, "seed": 1}  # so large a delta that a little less noise shows


def test_all_releases_about_attributes_stay_within_the_claim() -> None:
    found = audited(list(CANARIES), inside.everything, epsilon=3.0, delta=1e-2, runs=100, seed=1)
    assert {name: epsilon for name, epsilon in found.items() if epsilon > 3.0} == {}


@pytest.mark.parametrize("run", [inside.counts, inside.scores, inside.pairs])
def test_the_noise_on_tables_of_attributes_is_no_smaller_than_it_should_be(run: Run) -> None:
    """Here a table has the whole budget, so that the audit sees most of the claim."""
    (found,) = audited([TOGETHER], run, **LARGE).values()
    assert found <= 1.0


@pytest.mark.parametrize(
    ("run", "table", "wrong"),
    [
        (inside.counts, tables.ValueCounts, lambda table, clip: 0.6 * clip),
        (inside.scores, tables.PairCounts, lambda table, clip: 1.0),
        (inside.pairs, tables.Interactions, lambda table, clip: clip / 2),
        (inside.pairs, tables.Interactions, lambda table, clip: clip / len(table.pairs) ** 0.5),
    ],
    ids=["less noise on counts", "noise for one score", "half the clip of pairs", "the clip of one pair"],
)
def test_a_clip_that_is_too_small_is_caught(
    run: Run, table: Any, wrong: Callable[[Any, float], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = table.clip.fget
    monkeypatch.setattr(table, "clip", property(lambda self: wrong(self, right(self))))
    (found,) = audited([TOGETHER], run, **LARGE).values()
    assert found > 1.0


def test_a_threshold_of_three_cases_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    select = Gate.select_values
    audit: dict[str, Any] = {"epsilon": 1.0, "delta": 0.01, "runs": 1500, "seed": 1}
    (sound,) = audited([OWN], inside.values, **audit).values()
    low = lambda self, attribute, mu, _, scale: select(self, attribute, mu, 3 * scale, scale)  # noqa: E731
    monkeypatch.setattr(Gate, "select_values", low)
    (broken,) = audited([OWN], inside.values, **audit).values()
    assert sound <= 1.0 < broken


def test_a_value_of_one_case_shows_as_rarely_as_the_calibration_says() -> None:
    plan, runs = plan_of(3.0, 0.2), 2000
    engine = engine_of_all([*inside.OTHERS, CANARIES[OWN]])
    gate, choice = Gate(engine, Randomness(seed=2)), plan.choices[0]
    own = engine.values[0].index("nobody else's")
    shown = sum(own in gate.select_values(0, *choice, plan.calibration.scale)[0] for _ in range(runs))
    expected = plan.calibration.values_show(0)
    assert 1e-3 < expected < 0.2 * 0.2
    assert binom.cdf(shown, runs, expected) > 1e-3
    assert binom.sf(shown - 1, runs, expected) > 1e-3
