"""How the budget is divided where there are attributes of events: nothing is given twice, and nothing is left over."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.eventlog.attributes import Attribute, Kind, Level
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.attributes import shares
from libra.mechanisms.libra.attributes.shares import of_levels, private_values, shares_of_each, usual_share

KINDS: tuple[Kind, ...] = ("boolean", "category", "number", "date")
Declared = tuple[Kind, Level, bool]  # kind, level, whether values are listed


def _made(declared: list[Declared]) -> list[Attribute]:
    found = [
        Attribute(
            f"case:{i}" if level == "case" else f"{i}", kind, level, values=("x",) if listed and kind == "category" else None
        )
        for i, (kind, level, listed) in enumerate(declared)
    ]
    return sorted(found, key=lambda one: one.level == "event")


LEVELS: tuple[Level, ...] = ("case", "event")
MIXES = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(LEVELS), st.booleans()), min_size=1, max_size=30)


@given(MIXES)
def test_levels_share_all_of_it(declared: list[Declared]) -> None:
    asked = _made(declared)
    cases, each = of_levels(asked)
    events = sum(one.level == "event" for one in asked)
    assert cases + each * events == pytest.approx(1)
    assert (cases > 0, each > 0) == (events < len(asked), events > 0)
    of_cases = asked[: len(asked) - events]
    assert float(shares_of_each(of_cases).sum()) == pytest.approx(shares.VALUES if of_cases else 0)
    assert pytest.approx(1) == shares.VALUES + shares.CHOICE + shares.PAIRS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", [True, False])
def test_steps_of_an_attribute_of_events_share_all_of_it(kind: str, chosen: bool) -> None:
    numbers = shares.EVENT_NUMBERS + shares.EVENT_GRAINS if kind in ("number", "date") else 0.0
    choice = shares.EVENT_CHOICE.get(kind, 0.0) if chosen else 0.0
    assert 0.4 < 1 - choice - shares.EVENT_FILLS - shares.EVENT_NORMS - numbers < 1


@given(MIXES)
def test_values_are_chosen_for_the_price_that_is_calibrated(declared: list[Declared]) -> None:
    asked = _made(declared)
    found = private_values(asked)
    for number, one in enumerate(asked):
        assert (number in found) == (one.kind != "boolean" and one.values is None)
    assert all(share.several == (asked[number].level == "event") for number, share in found.items())
    assert sum(share.square for share in found.values()) < 0.75
    plan = Libra(epsilon=2.0, delta=1e-4, attributes=asked).plan
    assert set(plan.choices) == set(found)
    for (number, choice), several in zip(plan.choices.items(), plan.calibration.several, strict=True):
        assert choice.mu**2 == pytest.approx(found[number].square * plan.mu_attributes**2, rel=1e-9)
        assert several == found[number].several
    spent = math.hypot(plan.mu_of_cases, plan.mu_of_events * math.sqrt(sum(one.level == "event" for one in asked)))
    assert spent == pytest.approx(plan.mu_attributes)


def test_a_choice_of_several_values_needs_more_cases_than_one_of_single_values() -> None:
    """A case of many values has more of them that may show."""
    of_case, of_event = (
        Libra(attributes=[one]) for one in (Attribute("case:x", "category"), Attribute("x", "category", "event"))
    )
    single, several = (made.plan.calibration.value_choices[0] for made in (of_case, of_event))
    assert single.threshold * single.mu < several.threshold * several.mu


@pytest.mark.parametrize(
    ("cases", "events", "share"), [(0, 1, 0.1), (0, 3, 0.3), (1, 0, 0.2), (11, 0, 0.3), (2, 2, 0.4), (11, 1, 0.4), (3, 9, 0.5)]
)
def test_the_usual_share_grows_with_attributes_of_events_up_to_half(cases: int, events: int, share: float) -> None:
    asked = [Attribute(f"case:{i}", "boolean") for i in range(cases)] + [
        Attribute(f"{i}", "category", "event") for i in range(events)
    ]
    assert usual_share(asked) == pytest.approx(share)
    plan = Libra(attributes=asked, labels="public").plan
    assert plan.mu_attributes**2 / plan.calibration.mu**2 == pytest.approx(share)
    assert usual_share([]) == 0


def test_a_share_that_is_asked_for_is_given() -> None:
    plan = Libra(attributes=[Attribute("x", "date", "event")], labels="public", budget="attributes=0.35").plan
    assert plan.mu_attributes**2 / plan.calibration.mu**2 == pytest.approx(0.35)
