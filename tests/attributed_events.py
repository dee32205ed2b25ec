"""A simulated log with attributes of events of every kind, each made for a question: is that kept, does nothing else come out?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from libra.eventlog.attributes import Attribute
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import RESOURCE
from libra.example.simulate import simulate

DAY = 86_400_000_000  # microseconds
ARRIVE, TEST = "Arrive", "Blood test"  # the first has no resource, and the second alone has a level
STAFF = {  # by the role that does an activity; one of them does so for all of a case
    "desk": ("Abelard Quill", "Berenike Holt"),
    "bedside": ("Cassandra Wirth", "Dagobert Vane", "Eulalia Stroud"),
    "laboratory": ("Fridolin Marsh", "Gwendolyn Ashe"),
}
NAMES = tuple(name for names in STAFF.values() for name in names)
OWN_NAMES = ("Zebulon Zander", "Aaron Aalto")  # of a case each
DESK = ("Arrive", "Register", "Send invoice", "Send letter", "Discharge", "Leave unseen", "Admit to ward", "Transfer")
LABORATORY = (TEST, "Urine test", "X-ray", "CT scan", "Ultrasound", "ECG")
LEVELS = (2.5, 4.0, 7.5)  # of most tests; others are in between

WHO = Attribute(RESOURCE, "category", "event")
ROLE = Attribute("org:role", "category", "event", values=("desk", "bedside", "nobody's"))  # and not "laboratory"
URGENT = Attribute("urgent", "boolean", "event")
LEVEL = Attribute("level", "number", "event", lowest=0, highest=20, decimals=1)
PAID = Attribute("paid", "number", "event", lowest=0, highest=400, counter=True)
COST = Attribute("cost", "number", "event")
DUE = Attribute("due", "date", "event")
OF_EVENTS = (WHO, ROLE, URGENT, LEVEL, PAID, COST, DUE)


def with_values(cases: int = 1200, seed: int = 1) -> EventLog:
    """Who did it (one of each role in a case), roles, urgency by activity, levels of tests, payments, costs, due dates."""
    return valued(simulate(cases=cases), seed)


def valued(log: EventLog, seed: int = 1) -> EventLog:
    """The same attributes on the events of another log."""
    random = np.random.Generator(np.random.PCG64(seed))
    n, case = log.n_events, log.events["@case"].to_numpy().astype(np.int64)
    activity = log.events["concept:name"].to_list()
    role = ["desk" if name in DESK else "laboratory" if name in LABORATORY else "bedside" for name in activity]
    chosen = {each: random.integers(0, len(names), log.n_cases) for each, names in STAFF.items()}
    who = [None if name == ARRIVE else STAFF[each][chosen[each][i]] for name, each, i in zip(activity, role, case, strict=True)]
    for number, own in enumerate(OWN_NAMES):
        who = [own if i == number and name else name for i, name in zip(case.tolist(), who, strict=True)]
    tested, desk = np.array(activity) == TEST, np.array(role) == "desk"
    urgent = np.where(tested, random.random(n) < 0.9, random.random(n) < 0.2)
    level = np.where(random.random(n) < 0.8, random.choice(LEVELS, n, p=(0.5, 0.3, 0.2)), np.round(random.uniform(0, 20, n), 1))
    increments = np.where(desk, random.choice((0, 10, 50), n), 0)
    sums = np.cumsum(increments)
    first = log.case_offsets[:-1]
    paid = sums - np.repeat(sums[first] - increments[first], np.diff(log.case_offsets))
    cost = np.rint(random.lognormal(4, 0.3, n)).astype(np.int64)
    cost[0] = 10**13  # nobody is near to it
    due = pl.Series(log.timestamps + np.where(random.random(n) < 0.5, 14, 30) * DAY).cast(UTC_MICROSECONDS)
    return replace(
        log,
        events=log.events.drop("org:resource", "cost:total", strict=False).with_columns(
            pl.Series(RESOURCE, who, dtype=pl.String),
            pl.Series("org:role", role, dtype=pl.String),
            pl.Series("urgent", urgent).set(pl.Series(random.random(n) < 0.2), None),
            pl.Series("level", level).set(pl.Series(~tested), None),
            pl.Series("paid", paid).set(pl.Series(~desk), None),
            pl.Series("cost", cost),
            due.alias("due").set(pl.Series(~desk), None),
        ),
    )


def shares(values: pl.Series) -> dict[Any, float]:
    """How often each value occurs, missing ones included."""
    return dict(values.value_counts(normalize=True).iter_rows())


def by_activity(log: EventLog, name: str) -> dict[tuple[str, Any], float]:
    """Of all events, the share of each activity and value, missing ones included."""
    found = log.events.group_by("concept:name", name).len()
    return {(activity, value): count / log.n_events for activity, value, count in found.iter_rows()}


def handovers(log: EventLog, name: str) -> dict[tuple[Any, Any], float]:
    """Of all pairs of values that follow each other within a case, missing ones left out, the share of each."""
    there = log.events.filter(pl.col(name).is_not_null()).select("@case", pl.col(name).alias("one"))
    pairs = there.with_columns(pl.col("one").shift(-1).over("@case").alias("next")).drop_nulls()
    return {(one, other): count / pairs.height for one, other, count in pairs.group_by("one", "next").len().iter_rows()}


def apart(one: dict[Any, float], other: dict[Any, float]) -> float:
    """The total variation between two tables of shares."""
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other}) / 2
