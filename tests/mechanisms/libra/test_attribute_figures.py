"""Figures about attributes: nothing in them comes from values that are not released, whatever else the log holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import libra
from attributed import EVERY, OWN_PLACES, PLACE, PLACES, WARD, attributed
from libra._system.randomness import Randomness
from libra.engines.attribute_tables import Coding, HasActivity, OfAttribute
from libra.engines.polars import PolarsEngine, engine_of
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import MISSING, Cases
from libra.eventlog.log import EventLog
from libra.mechanisms.libra.attributes.fit import NEVER, Model, dealt
from libra.mechanisms.libra.attributes.release import AttributeFigures, ReleasedAttribute
from libra.privacy.gate import Gate
from libra.release import Release


def _released(log: EventLog, **options: Any) -> Release:
    said: dict[str, Any] = {"epsilon": 6.0, "delta": 1e-3, "seed": 1, "attributes": EVERY}
    return libra.anonymize(log, **said | options)


def _figures(release: Release) -> AttributeFigures:
    found = release.figures[0].attributes
    assert found is not None
    return found


@pytest.fixture(scope="module")
def release() -> Release:
    return _released(attributed())


def test_figures_do_not_say_how_many_values_are_not_released(release: Release) -> None:
    """The engine numbers all texts of the log; the figures, and the model file, have places among the released ones."""
    figures = _figures(release)
    for number, texts in ((EVERY.index(PLACE), PLACES), (EVERY.index(WARD), WARD.values)):
        one = figures.each[number]
        assert one.texts == texts
        assert one.coding.atoms == tuple(range(3))
        asked = [side for pair in figures.pairs for side in pair if isinstance(side, OfAttribute) and side.number == number]
        assert asked
        assert all(side.coding.atoms == one.coding.atoms for side in asked)


def test_no_value_of_a_single_case_is_in_the_figures(release: Release) -> None:
    found = json.dumps([run.to_dict() for run in release.figures], ensure_ascii=False)
    assert all(place in found for place in PLACES)
    assert not any(own in found for own in OWN_PLACES)


def test_an_engine_whose_texts_are_in_another_order_gives_nothing_out() -> None:
    """Such an order could be that of the file."""
    engine = engine_of(attributed(400), attributes=(PLACE,))
    assert isinstance(engine, PolarsEngine)
    (texts,) = engine.values
    wrong = replace(engine, values=(texts[::-1],))
    with pytest.raises(AssertionError, match="not in their order"):
        Gate(wrong, Randomness(seed=1)).texts_of(0, np.array([1, 4]))


def test_figures_survive_json(release: Release) -> None:
    figures = _figures(release)
    plain = json.loads(json.dumps(figures.to_dict(), allow_nan=False))
    again = AttributeFigures.from_dict(plain)
    assert again.to_dict() == figures.to_dict()
    assert again.pairs == figures.pairs
    assert [one.attribute for one in again.each] == list(EVERY)


def test_a_value_that_does_not_stand_out_is_dealt_to_nobody_however_unlikely_all_others_are() -> None:
    """Several sides may each say that hardly any case of a kind has one of the values that there are."""
    counts, codes = np.array([0.0, 6.0, 4.0, 0.0]), np.array([0, 1] * 5)
    one = ReleasedAttribute(Attribute("case:x", "number"), Coding((1, 2), ()), (), counts, np.ones(4))
    weights = np.array([[0.0, 50.0], [0.0, -300.0], [0.0, -250.0], [0.0, 50.0]])
    base = np.array([NEVER, -0.5, -0.9, NEVER])
    model = Model(0, one, base, np.arange(4), ((HasActivity(1), weights.T),), None)
    cases = Cases(codes, np.zeros(10, np.int64), np.arange(11), np.zeros(10, np.int64), 2)
    found = dealt([model], cases, Randomness(seed=1)).attributes[0]
    assert set(found[codes == 0].tolist()) == {1, 2}
    assert set(found[codes == 1].tolist()) == {2}


@pytest.mark.parametrize("groups", [[0, 1, 2, 3], [3, 0, 1, 2], [1, 0, 2, 2], [0, 0, 0, 0]])
def test_values_have_their_shares_however_they_are_grouped(groups: list[int]) -> None:
    """A group may be of one value or several, in any order; those of a group have their shares of it with every kind of case."""
    counts, codes = np.array([1_000.0, 4_000.0, 2_000.0, 3_000.0]), np.repeat([0, 1], 5_000)
    one = ReleasedAttribute(Attribute("case:x", "number"), Coding((1, 2, 3), None), (), counts, np.ones(4))
    of_groups = np.array(groups)
    weights = np.zeros((2, max(groups) + 1))
    weights[1, of_groups[1]] = np.log(3.0)  # the first value, and whatever is in one group with it, is likelier with an activity
    model = Model(0, one, np.log(counts / counts.sum()), of_groups, ((HasActivity(1), weights),), None)
    cases = Cases(codes, np.zeros(10_000, np.int64), np.arange(10_001), np.zeros(10_000, np.int64), 2)
    found = dealt([model], cases, Randomness(seed=1)).attributes[0]
    for code in (0, 1):
        chances = counts * np.where(of_groups == of_groups[1], 3.0**code, 1.0)
        dealt_then = [np.count_nonzero(found[codes == code] == value) for value in (MISSING, 1, 2, 3)]
        assert dealt_then == pytest.approx(5_000 * chances / chances.sum(), abs=40 if max(groups) < 3 else 2)
