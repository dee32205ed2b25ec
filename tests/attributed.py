"""A simulated log with attributes of every kind, each made for a question: is that kept, and does nothing else come out?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.attributes import Attribute
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.example.simulate import simulate

DAY = 86_400_000_000  # microseconds
SCAN, TEST = "X-ray", "Blood test"  # activities that some cases have, some of them twice
PLACES, OWN_PLACES = ("north", "south", "west"), ("a place of its own", "north pole", "southernmost", "zz top", "Älg")
COIN = Attribute("case:coin", "boolean")
SCANNED = Attribute("case:scanned", "boolean")
PLACE = Attribute("case:place", "category")
WARD = Attribute("case:ward", "category", values=("south", "north", "east"))
SCORE = Attribute("case:score", "number", lowest=0, highest=120, decimals=1)
COST = Attribute("case:cost", "number")
BORN = Attribute("case:born", "date")
DOSE = Attribute("dose", "number", at=TEST, lowest=0, highest=50)
EVERY = (COIN, SCANNED, PLACE, WARD, SCORE, COST, BORN, DOSE)
ATOM, ATOM_SHARE = 25.0, 0.3


def attributed(cases: int = 1500, seed: int = 1) -> EventLog:
    """A coin, whether there was a scan, places (some of one case each), scores, costs, dates, and a dose at the first test."""
    log, random = simulate(cases=cases), np.random.Generator(np.random.PCG64(seed))
    n, has = log.n_cases, has_activity(log, SCAN)
    coin = _texts(np.where(random.random(n) < 0.1, "", np.where(random.random(n) < 0.5, "true", "false")))
    place = random.choice(PLACES, n, p=(0.5, 0.35, 0.15)).astype(object)
    ward = np.where(has & (random.random(n) < 0.9), "north", place).tolist()
    place[: len(OWN_PLACES)] = OWN_PLACES
    score = np.where(random.random(n) < ATOM_SHARE, ATOM, np.round(np.clip(random.normal(60 + 30 * has, 8, n), 0, 120), 1))
    cost = np.rint(random.lognormal(5, 0.5, n)).astype(np.int64)
    cost[0] = 10**14  # nobody is near to it
    born = pl.Series(log.case_spans[0] - random.integers(20 * 365, 60 * 365, n) * DAY).cast(UTC_MICROSECONDS)
    of_cases: list[pl.Series] = [
        coin.replace_strict({"true": True, "false": False, "": None}, return_dtype=pl.Boolean).alias("coin"),
        pl.Series("scanned", has),
        _texts(place).alias("place"),
        pl.Series("ward", ward, dtype=pl.String),
        pl.Series("score", score).set(pl.Series(random.random(n) < 0.1), None),
        pl.Series("cost", cost),
        born.alias("born"),
    ]
    firsts = log.events.with_row_index("row").filter(pl.col("concept:name") == TEST).group_by("@case").agg(pl.col("row").min())
    dose = np.full(log.n_events, -1)
    dose[firsts["row"].to_numpy()] = random.integers(1, 6, firsts.height) * 5
    doses = pl.Series("dose", dose).set(pl.Series(dose < 0), None)
    return replace(log, cases=log.cases.with_columns(of_cases), events=log.events.with_columns(doses))


def has_activity(log: EventLog, activity: str) -> npt.NDArray[np.bool_]:
    """Whether each case has the activity."""
    has = np.zeros(log.n_cases, bool)
    has[log.events.filter(pl.col("concept:name") == activity)["@case"].to_numpy()] = True
    return has


def _texts(values: npt.NDArray[Any]) -> pl.Series:
    return pl.Series(values.tolist(), dtype=pl.String)
