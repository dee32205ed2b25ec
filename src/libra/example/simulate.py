"""The simulator behind the bundled example: one year of an emergency department as an event log.

In: how many patients, and a seed. Out: an `EventLog` that depends on nothing else, on any machine, so that the bundled
file can be checked against it. Times are whole minutes; waits and treatments are log-normal; the office works on weekdays only.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import log
from random import Random
from typing import NamedTuple

import polars as pl

from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier, LogMetadata
from libra.example.patients import HOUR_LOAD, Patient, patients, walk


class Work(NamedTuple):
    """What an activity takes: minutes until it is done (median, and sigma of the logarithm), who does it, its cost."""

    minutes: float
    spread: float
    role: str | None
    euros: float | None


ACTIVITIES = {
    "Arrive": Work(0, 0, None, None),
    "Triage": Work(7, 0.6, "Nurse", 25),
    "Register": Work(4, 0.5, "Clerk", None),
    "Triage again": Work(70, 0.3, "Nurse", 25),
    "See doctor": Work(30, 0.8, "Dr.", 110),
    "ECG": Work(12, 0.5, "Nurse", 45),
    "Blood test": Work(40, 0.4, "Lab", 62.5),
    "Urine test": Work(30, 0.5, "Lab", 18),
    "X-ray": Work(25, 0.6, "Radiographer", 85),
    "CT scan": Work(55, 0.5, "Radiographer", 340),
    "Ultrasound": Work(35, 0.5, "Radiographer", 95),
    "Review results": Work(18, 0.8, "Dr.", 55),
    "Consult specialist": Work(60, 0.7, "Specialist", 180),
    "Treat wound": Work(22, 0.5, "Nurse", 75),
    "Give medication": Work(15, 0.6, "Nurse", 32),
    "Check vital signs": Work(30, 0.4, "Nurse", 12),
    "Admit to ward": Work(95, 0.7, "Nurse", None),
    "Transfer": Work(120, 0.5, "Dr.", 410),
    "Discharge": Work(20, 0.6, "Dr.", None),
    "Leave unseen": Work(130, 0.4, None, None),
    "Send letter": Work(600, 0.9, "Clerk", None),
    "Send invoice": Work(8000, 0.5, "Clerk", None),
}
OFFICE = ("Send letter", "Send invoice")  # weekdays from 8 to 17 only
QUEUED = ("See doctor", "X-ray", "CT scan", "Review results")
STAFF = {  # in the early, the late and the night shift
    "Nurse": (8, 6, 4),
    "Dr.": (4, 3, 2),
    "Lab": (3, 2, 1),
    "Radiographer": (2, 2, 1),
    "Specialist": (5, 3, 2),
    "Clerk": (3, 2, 1),
}

METADATA = LogMetadata(
    attributes=(
        Attribute("concept:name", "string", "Emergency department (simulated)"),
        Attribute("description", "string", "Simulated by Libra. No real patient, no real hospital. Costs are in euros."),
    ),
    case_globals=(Attribute("concept:name", "string", "unknown"),),
    event_globals=(
        Attribute("concept:name", "string", "unknown"),
        Attribute("lifecycle:transition", "string", "complete"),
    ),
    classifiers=(Classifier("Activity", ("concept:name",)),),
)


def simulate(cases: int = 2000, seed: int = 2024) -> EventLog:
    """One year of emergency cases.

    Example:
        >>> log = simulate(cases=10)
        >>> log.n_cases, log.metadata.name
        (10, 'Emergency department (simulated)')
    """
    rng = Random(seed)  # noqa: S311  # a simulation, not a secret
    arrived = patients(cases, rng)
    events = [(i, *event) for i, patient in enumerate(arrived) for event in _stay(patient, rng)]
    return EventLog(
        pl.DataFrame(
            events,
            schema={
                "@case": pl.UInt32,
                "concept:name": pl.String,
                "time:timestamp": pl.Datetime("us", "UTC"),
                "org:resource": pl.String,
                "cost:total": pl.Float64,
            },
            orient="row",
        ).with_columns(pl.lit("complete").alias("lifecycle:transition")),
        pl.DataFrame(
            {
                "concept:name": [f"ED-{i:04}" for i in range(1, cases + 1)],
                "complaint": [patient.complaint.name for patient in arrived],
                "acuity": [patient.acuity for patient in arrived],
                "age": [patient.age for patient in arrived],
                "insurance": [patient.insurance for patient in arrived],
            },
            schema={
                "concept:name": pl.String,
                "complaint": pl.String,
                "acuity": pl.Int64,
                "age": pl.Int64,
                "insurance": pl.String,
            },
        ),
        METADATA,
    )


def _stay(patient: Patient, rng: Random) -> Iterator[tuple[str, datetime, str | None, float | None]]:
    """Activity, time, resource and cost of every event of a patient."""
    now, on_case = patient.arrival, dict[tuple[str, int], str]()
    for activity in walk(patient, rng):
        work = ACTIVITIES[activity]
        if work.minutes:
            median = work.minutes * _queue(patient.acuity, now) if activity in QUEUED else work.minutes
            now += timedelta(minutes=round(rng.lognormvariate(log(median), work.spread)))
        if activity in OFFICE:
            now = _in_office_hours(now, rng)
        yield activity, now, _who(work.role, now, on_case, rng) if work.role else None, work.euros


def _queue(acuity: int, time: datetime) -> float:
    """How much longer than usual one waits: the urgent go first, and busy hours take their time."""
    return (0.15, 0.5, 1.0, 1.3, 1.5)[acuity - 1] * (0.6 + 0.05 * HOUR_LOAD[time.hour])


def _in_office_hours(time: datetime, rng: Random) -> datetime:
    """The time itself where the office is open, else soon after it opens again."""
    if time.weekday() < 5 and 8 <= time.hour < 17:
        return time
    opening = time.replace(hour=8, minute=0)
    if time.hour >= 8:
        opening += timedelta(days=1)
    over_the_weekend = {5: 2, 6: 1}.get(opening.weekday(), 0)
    return opening + timedelta(days=over_the_weekend, minutes=int(90 * rng.random()))


def _who(role: str, time: datetime, on_case: dict[tuple[str, int], str], rng: Random) -> str:
    """Someone of the role who is on shift; whoever began with the patient goes on with it in that shift."""
    shift = 0 if 7 <= time.hour < 15 else 1 if 15 <= time.hour < 23 else 2
    if (role, shift) not in on_case:
        first = 1 + sum(STAFF[role][:shift])
        on_case[role, shift] = f"{role} {first + int(STAFF[role][shift] * rng.random()):02}"
    return on_case[role, shift]
