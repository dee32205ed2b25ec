"""An audit of attributes of events: runs with and without a canary stay within the claim, and mistakes are caught.

A canary has values of its own, one or many; it is very long, has an order of its own, an extreme number, or nothing.
"""

from __future__ import annotations

from typing import Any

import inside_events as inside
import numpy as np
import pytest
from inside import LABELS
from inside_events import CANARIES, Run, audited, engine_of_all, plan_of
from scipy.stats import binom

import libra
from attributed_events import NAMES, OWN_NAMES, URGENT, WHO, with_values
from libra._system.randomness import Randomness
from libra.engines import event_tables as tables
from libra.engines import polars as engine_in_memory
from libra.engines.contract import FINE, Integers
from libra.engines.counting import count as counting
from libra.engines.counting.clipping import add_clipped
from libra.engines.counting.events import value_weights
from libra.eventlog.cases import MISSING, Cases
from libra.eventlog.names import RESOURCE
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.attributes.events import MOST_VALUES
from libra.mechanisms.libra.plan import Plan
from libra.mechanisms.libra.releases import TABLES_OF_EVENTS
from libra.privacy import calibration
from libra.privacy.calibration import Share, calibrate
from libra.privacy.gate import Gate
from libra.privacy.ledger import Entry
from libra.privacy.selection import variant_shows

LONG, MANY, ORDER = "is very long with one value", "has many values of its own", "has values in an order of its own"
LARGE: dict[str, Any] = {"epsilon": 1.0, "delta": 0.3, "runs": 700, "seed": 1}  # so large a delta that a little less noise shows
SHOWN: dict[str, Any] = {"epsilon": 1.0, "delta": 0.2, "runs": 300, "seed": 1}  # for what shows with more than delta


def test_all_releases_about_events_stay_within_the_claim() -> None:
    found = audited(list(CANARIES), inside.everything, epsilon=3.0, delta=1e-2, runs=60, seed=1)
    assert {name: epsilon for name, epsilon in found.items() if epsilon > 3.0} == {}


@pytest.mark.parametrize("run", [inside.fills, inside.counts, inside.following])
def test_the_noise_on_tables_of_events_is_no_smaller_than_it_should_be(run: Run) -> None:
    """Here a table has the whole budget, so that the audit sees most of the claim."""
    plan = plan_of(LARGE["epsilon"], LARGE["delta"], (URGENT,))  # without a choice of values, which would take some of it
    found = audited([LONG, ORDER], run, **LARGE, plan=plan)
    assert all(epsilon <= 1.0 for epsilon in found.values())
    assert max(found.values()) > 0.1


@pytest.mark.parametrize(
    ("run", "table"),
    [(inside.fills, tables.EventFills), (inside.counts, tables.EventCounts), (inside.following, tables.NextCounts)],
)
def test_a_case_that_is_not_clipped_is_caught(run: Run, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {3 * len(LABELS), 2 * len(LABELS), 9}  # of the tables

    def whole(case: Integers, cell: Integers, cells: int, clip: float, scale: int) -> Integers:
        return add_clipped(case, cell, cells, 1e6 if cells in sizes else clip, scale)

    monkeypatch.setattr(counting, "add_clipped", whole)
    (found,) = audited([LONG], run, **LARGE | {"runs": 100}).values()
    assert found > 1.0


@pytest.mark.parametrize(("run", "table"), [(inside.counts, tables.EventCounts), (inside.following, tables.NextCounts)])
def test_noise_for_half_the_clip_is_caught(run: Run, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Gate.release
    monkeypatch.setattr(Gate, "release", lambda self, one, mu, group=None: release(self, one, 2 * mu, group))
    (found,) = audited([LONG], run, **LARGE).values()
    assert found > 1.0


def _chosen(epsilon: float, delta: float, share: float) -> Run:
    """A choice of values with this share of a budget."""
    (choice,) = calibrate(epsilon, delta, variants=0.999 - share, values=(Share(share, several=True),)).value_choices

    def run(gate: Gate, _: Plan, __: Cases) -> None:
        gate.select_event_values(0, *choice, FINE, MOST_VALUES)

    return run


def test_weights_that_are_not_divided_among_the_values_of_a_case_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so little noise that it matters whether each of sixty values counts 1 or 1 / 8."""

    def undivided(cases: Cases, number: int) -> tuple[Integers, Integers]:
        values = cases.of_events[number]
        pairs = np.stack((np.repeat(np.arange(len(cases)), cases.lengths), values))[:, values != MISSING]
        found, weights = np.unique(np.unique(pairs, axis=1)[1], return_counts=True)
        return found, FINE * weights

    audit: dict[str, Any] = {"epsilon": 2.0, "delta": 0.3, "runs": 600, "seed": 1}
    run = _chosen(2.0, 0.3, share=0.99)
    (sound,) = audited([MANY], run, **audit).values()
    for place in (engine_in_memory, inside):
        monkeypatch.setattr(place, "value_weights", undivided)
    (broken,) = audited([MANY], run, **audit).values()
    assert sound <= 2.0 < broken


def test_the_threshold_of_a_single_value_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so much noise that sixty small weights pass nearly as easily as one, each of them."""
    (sound,) = audited([MANY], _chosen(1.0, 0.2, share=0.01), **SHOWN).values()
    of_one = lambda mu, threshold, cases, *, several: variant_shows(mu, threshold, FINE, cases)  # noqa: E731
    monkeypatch.setattr(calibration, "values_show", of_one)
    (broken,) = audited([MANY], _chosen(1.0, 0.2, share=0.01), **SHOWN).values()
    assert sound <= 1.0 < broken


def test_values_to_which_no_case_gives_weight_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case gives weight to some of its values; were the others drawn for as well, one of thousands would show."""
    many = 20_000
    person = inside.Person("a" * many, [f"own {i:05}" for i in range(many)], [None] * many)
    monkeypatch.setitem(CANARIES, "thousands", person)
    plan = plan_of(SHOWN["epsilon"], SHOWN["delta"], (inside.TEXT,))
    audit: dict[str, Any] = SHOWN | {"runs": 60, "plan": plan}
    (sound,) = audited(["thousands"], inside.values, **audit).values()

    def with_all(cases: Cases, number: int) -> tuple[Integers, Integers]:
        every = np.unique(cases.of_events[number])
        found, weights = value_weights(cases, number)
        spread = np.zeros(len(every), np.int64)
        spread[np.searchsorted(every, found)] = weights
        return every, spread

    monkeypatch.setattr(engine_in_memory, "value_weights", with_all)
    (broken,) = audited(["thousands"], inside.values, **audit).values()
    assert sound <= 1.0 < broken


@pytest.mark.parametrize("table", TABLES_OF_EVENTS, ids=lambda table: table.__name__)
def test_a_table_that_the_ledger_does_not_count_is_caught(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the figures shows it; the ledger is held against the plan."""
    write = Gate._write

    def forgetful(self: Gate, entry: Entry) -> None:
        if entry.purpose != table.purpose:
            write(self, entry)

    monkeypatch.setattr(Gate, "_write", forgetful)
    made = Libra(epsilon=8.0, delta=1e-2, attributes=(WHO, URGENT, inside.NUMBER))
    ledger = made.anonymize(with_values(120), Randomness(seed=1)).ledger
    assert ledger is not None
    assert any("attributes of events" in told for told in made.departures(ledger.entries))


@pytest.mark.parametrize("many", [1, 8, 64])
def test_values_of_one_case_show_as_rarely_as_the_calibration_says(many: int) -> None:
    """And for the worst number of values, which is the largest here, about as often."""
    person = inside.Person("a" * many, [f"own {i:02}" for i in range(many)], [None] * many)
    plan, runs = plan_of(3.0, 0.3, (inside.TEXT,)), 1500
    engine = engine_of_all([*inside.OTHERS, person])
    gate, choice = Gate(engine, Randomness(seed=2)), plan.choices[0]
    own = {engine.values[0].index(text) for text in person.text if text is not None}
    shown = sum(bool(own & set(gate.select_event_values(0, *choice, FINE, 100).tolist())) for _ in range(runs))
    expected = plan.calibration.values_show(0)
    assert binom.sf(shown - 1, runs, expected) > 1e-3
    if many == 64:
        assert binom.cdf(shown, runs, expected) > 1e-3


def test_in_a_hundred_releases_a_value_of_one_case_is_nowhere() -> None:
    """Two cases have a resource of their own on all of their events."""
    log = with_values(150)
    assert set(OWN_NAMES) <= set(log.events[RESOURCE])
    shown = 0
    for number in range(100):
        asked = [(WHO,), (WHO, URGENT)][number % 2]
        said: dict[str, Any] = {"epsilon": 6.0 + number % 7, "delta": 1e-6, "labels": "public", "resource_names": True}
        release = libra.anonymize(log, attributes=asked, **said)
        figures = [run.to_dict() for run in release.figures]
        texts = f"{release.log.to_polars().write_csv()} {figures} {release.to_dict()} {release.notes}"
        assert not any(name in texts for name in OWN_NAMES)
        shown += any(name in texts for name in NAMES)
    assert shown > 20, "or nothing is ever released"
