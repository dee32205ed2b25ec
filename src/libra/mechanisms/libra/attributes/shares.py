"""How the budget of attributes is divided: shares of its mu^2, which follow from what is declared of attributes alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from libra.eventlog.attributes import Attribute, by_level
from libra.eventlog.cases import Floats
from libra.privacy.calibration import Share

# Of everything that is released: for attributes of cases, few or more than so many; for each attribute of events; at most.
FOR_FEW, FOR_MANY, MANY = 0.2, 0.3, 10
FOR_EVENTS, AT_MOST = 0.1, 0.5
# Of attributes of cases: each by itself, which pairs to look at, and these pairs. With less for pairs than 0.4, shares of values
# are 1 to 4 % closer on four of five public logs and pairs of attributes as close; what goes with activities and durations is as
# close on three, and up to 5 % worse on two. With less than this, it is worse on more.
VALUES, CHOICE, PAIRS = 0.6, 0.05, 0.35
WEIGHTS = {"boolean": 1.0}  # of an attribute among the others; 2 for all other kinds
FIRST_LOOK = {"category": 0.7, "number": 0.3, "date": 0.3}  # of what an attribute gets, for the choice of values
# Of an attribute of events: the choice of values, which events have any, sizes of cases, numbers in steps, how round they are.
# What these leave goes to values by activity and to next values in even parts.
EVENT_CHOICE = {"category": 0.25, "number": 0.15, "date": 0.15}
EVENT_FILLS, EVENT_NORMS, EVENT_NUMBERS, EVENT_GRAINS = 0.05, 0.05, 0.2, 0.03


def usual_share(attributes: Sequence[Attribute]) -> float:
    """What attributes get of everything, unless something else is said; 0 where there are none.

    Example:
        >>> usual_share([Attribute("sex", "boolean")]), usual_share([Attribute("org:role", "category", "event")])
        (0.2, 0.1)
    """
    return round(min(sum(_weights(attributes)), AT_MOST), 12)


def of_levels(attributes: Sequence[Attribute]) -> tuple[float, float]:
    """What all attributes of cases together, and what each attribute of events, get of the budget of attributes."""
    of_cases, of_events = _weights(attributes)
    total = (of_cases + of_events) or 1.0
    return of_cases / total, of_events / total / max(len(by_level(attributes)[1]), 1)


def _weights(attributes: Sequence[Attribute]) -> tuple[float, float]:
    of_cases, of_events = map(len, by_level(attributes))
    return (FOR_MANY if of_cases > MANY else FOR_FEW) if of_cases else 0.0, FOR_EVENTS * of_events


def shares_of_each(of_cases: Sequence[Attribute]) -> Floats:
    """What each attribute of cases by itself gets of the budget of all of them."""
    weights: Floats = np.array([WEIGHTS.get(attribute.kind, 2.0) for attribute in of_cases])
    return weights * (VALUES / max(float(weights.sum()), 1.0))


def private_values(attributes: Sequence[Attribute]) -> dict[int, Share]:
    """The attributes whose values are chosen privately, and what each choice gets of the budget of attributes.

    By their numbers: those of cases first, then those of events.

    Example:
        >>> private_values([Attribute("sex", "boolean"), Attribute("age", "number")])
        {1: Share(square=0.12, several=False)}
    """
    of_cases, of_events = by_level(attributes)
    for_cases, for_each_of_events = of_levels(attributes)
    each = zip(of_cases, for_cases * shares_of_each(of_cases), strict=True)
    parts = [share * FIRST_LOOK.get(one.kind, 0.0) for one, share in each]
    parts += [for_each_of_events * EVENT_CHOICE.get(one.kind, 0.0) for one in of_events]
    return {
        number: Share(round(float(part), 12), one.level == "event")
        for number, (one, part) in enumerate(zip((*of_cases, *of_events), parts, strict=True))
        if part and one.values is None
    }
