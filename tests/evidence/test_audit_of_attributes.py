"""An audit from the outside, with attributes asked for: bugs that are planted in their release are caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import libra
from libra import example
from libra.engines import polars
from libra.engines.contract import FINE
from libra.engines.event_tables import EventCounts
from libra.eventlog.attributes import Attribute
from libra.measures.audit import Audit
from libra.measures.audit.canaries import PAIR, VALUE
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

COMPLAINT, ROOM = Attribute("case:complaint", "category"), Attribute("room", "category", "event")
WARD = Attribute("ward", "category", "event", values=("A", "B", "C"))
QUICK: dict[str, Any] = {"epsilon": 1.0, "delta": 0.1, "time_limit": 3000, "seed": 1, "tail": "drop"}
QUICK |= {"budget": "control=0.4,times=0.01,attributes=0.59"}
release = Gate.release


def audited(canaries: list[str], *attributes: Attribute, runs: int = 200) -> Audit:
    return libra.audit(example.path(), canary=canaries, attributes=attributes, runs=runs, **QUICK)


def exact(kind: type) -> Callable[..., NoisyTable]:
    """A gate that puts no noise on tables of this kind, and says that it does."""

    def released(self: Gate, table: Any, mu: float, group: Any = None) -> NoisyTable:
        noisy = release(self, table, mu, group)
        if not isinstance(table, kind):
            return noisy
        tables: list[Any] = [table]
        return replace(noisy, counts=self._engine.count_all(tables)[0])

    return released


def at_least(counting: Callable[..., Any], least: int) -> Callable[..., Any]:
    """Every value that occurs counts for so much, or more."""

    def counted(*asked: Any) -> Any:
        found, counts = counting(*asked)
        return found, np.maximum(counts, least)

    return counted


@pytest.mark.slow
@pytest.mark.parametrize(("counting", "attribute", "unit"), [("value_counts", COMPLAINT, 1), ("value_weights", ROOM, FINE)])
def test_values_that_pass_the_threshold_too_easily_are_caught(
    counting: str, attribute: Attribute, unit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polars, counting, at_least(getattr(polars, counting), 20 * unit))
    found = audited([VALUE], attribute, runs=300)
    assert found.refuted
    assert found.findings[0].event.startswith("events and cases with the value rare: at least ")


@pytest.mark.slow
def test_a_table_without_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gate, "release", exact(EventCounts))
    found = audited([VALUE], WARD)
    assert found.refuted
    assert found.findings[0].event.startswith("events and cases with the value C: at least ")


@pytest.mark.slow
def test_the_sound_mechanism_is_not_refuted() -> None:
    """With values that are chosen, and some that are declared, of cases and of events."""
    found = audited([VALUE, PAIR], COMPLAINT, WARD)
    assert found.claim.epsilon == 1.0
    assert [attribute["name"] for attribute in found.parameters["attributes"]] == ["case:complaint", "ward"]
    assert not found.refuted
