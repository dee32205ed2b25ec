"""The simulated emergency department: why patients come, when, which way they take, and the log of it.

Everything is invented; the shares only look plausible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from math import log
from random import Random
from typing import NamedTuple

import polars as pl

from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier, LogMetadata

NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)  # a Monday
WEEKDAY_LOAD = (1.25, 1.1, 1.0, 1.0, 1.0, 0.75, 0.7)  # Monday first
HOUR_LOAD = (3, 2, 2, 1, 1, 2, 3, 5, 8, 11, 12, 11, 10, 10, 9, 9, 9, 9, 9, 8, 7, 6, 5, 4)
WINTER_LOAD = 0.2  # January has that much more than the mean, July that much less
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


@dataclass(frozen=True)
class Complaint:
    """Why people come, and what usually follows from it."""

    name: str
    share: float
    ages: tuple[float, float]  # mean and standard deviation
    acuity: tuple[float, ...]  # shares of the acuities 1 (most urgent) to 5
    tests: tuple[str, ...]  # what the doctor orders in the plain case
    extra: tuple[tuple[str, float], ...]  # what may come on top, with its probability
    treatment: str | None
    admitted: float
    letter: bool  # whether the family doctor gets one


COMPLAINTS = (
    Complaint(
        name="injury",
        share=0.34,
        ages=(36, 21),
        acuity=(0.01, 0.05, 0.24, 0.45, 0.25),
        tests=("X-ray",),
        extra=(("CT scan", 0.08),),
        treatment="Treat wound",
        admitted=0.05,
        letter=False,
    ),
    Complaint(
        name="abdominal pain",
        share=0.24,
        ages=(46, 20),
        acuity=(0.01, 0.12, 0.57, 0.25, 0.05),
        tests=("Blood test",),
        extra=(("Urine test", 0.45), ("Ultrasound", 0.4)),
        treatment="Give medication",
        admitted=0.25,
        letter=True,
    ),
    Complaint(
        name="chest pain",
        share=0.16,
        ages=(61, 16),
        acuity=(0.04, 0.46, 0.40, 0.08, 0.02),
        tests=("ECG", "Blood test"),
        extra=(("X-ray", 0.45),),
        treatment="Give medication",
        admitted=0.4,
        letter=True,
    ),
    Complaint(
        name="fever",
        share=0.14,
        ages=(33, 26),
        acuity=(0.01, 0.09, 0.45, 0.35, 0.10),
        tests=("Blood test",),
        extra=(("Urine test", 0.5),),
        treatment="Give medication",
        admitted=0.2,
        letter=True,
    ),
    Complaint(
        name="breathlessness",
        share=0.09,
        ages=(64, 19),
        acuity=(0.10, 0.45, 0.35, 0.08, 0.02),
        tests=("Blood test", "X-ray"),
        extra=(("ECG", 0.4),),
        treatment="Give medication",
        admitted=0.5,
        letter=True,
    ),
    Complaint(
        name="minor ailment",
        share=0.03,
        ages=(40, 22),
        acuity=(0.0, 0.01, 0.09, 0.40, 0.50),
        tests=(),
        extra=(("Urine test", 0.1),),
        treatment=None,
        admitted=0.01,
        letter=False,
    ),
)


@dataclass(frozen=True)
class Patient:
    """One case before its events: what is known about it at the door."""

    arrival: datetime
    complaint: Complaint
    acuity: int
    age: int | None
    insurance: str | None


def patients(cases: int, rng: Random) -> list[Patient]:
    """The patients of one year in order of arrival."""
    return [_patient(arrival, rng) for arrival in sorted(_arrivals(cases, rng))]


def _arrivals(cases: int, rng: Random) -> Iterator[datetime]:
    days = range(366)
    day_weights = list(accumulate(WEEKDAY_LOAD[day % 7] * (1 + WINTER_LOAD * (abs(day - 183) / 91.5 - 1)) for day in days))
    hour_weights = list(accumulate(HOUR_LOAD))
    for _ in range(cases):
        (day,) = rng.choices(days, cum_weights=day_weights)
        (hour,) = rng.choices(range(24), cum_weights=hour_weights)
        yield NEW_YEAR + timedelta(days=day, hours=hour, minutes=int(60 * rng.random()))


def _patient(arrival: datetime, rng: Random) -> Patient:
    (complaint,) = rng.choices(COMPLAINTS, [c.share for c in COMPLAINTS])
    (acuity,) = rng.choices(range(1, 6), complaint.acuity)
    age = min(max(round(rng.normalvariate(*complaint.ages)), 0), 98)
    (insurance,) = rng.choices(("public", "private", "none", None), (0.78, 0.14, 0.05, 0.03))
    return Patient(arrival, complaint, acuity, None if rng.random() < 0.01 else age, insurance)


def walk(patient: Patient, rng: Random) -> Iterator[str]:
    """The activities of one patient's stay, in order."""
    yield from _reception(patient, rng)
    if patient.acuity >= 4 and rng.random() < 0.05:
        yield "Leave unseen"
        return
    yield "See doctor"
    yield from _diagnosis(patient, rng)
    yield from _treatment(patient, rng)
    yield from _departure(patient, rng)


def _reception(patient: Patient, rng: Random) -> Iterator[str]:
    yield "Arrive"
    yield "Triage"
    if patient.acuity > 1:  # those in danger of their life are registered at the end
        yield "Register"
    while patient.acuity >= 4 and rng.random() < 0.04:  # waited so long that a nurse looks again
        yield "Triage again"


def _diagnosis(patient: Patient, rng: Random) -> Iterator[str]:
    ordered = [*patient.complaint.tests, *(test for test, share in patient.complaint.extra if rng.random() < share)]
    while ordered:
        if len(ordered) > 1 and rng.random() < 0.5:  # whoever has room takes the patient first
            rng.shuffle(ordered)
        yield from ordered
        yield "Review results"
        ordered = [test for test in ordered if rng.random() < 0.02]  # unclear: once more


def _treatment(patient: Patient, rng: Random) -> Iterator[str]:
    if patient.acuity <= 2 and rng.random() < 0.04:
        yield "Consult specialist"
    if patient.complaint.treatment and rng.random() < 0.75:
        yield patient.complaint.treatment
    while rng.random() < (0.08 if patient.acuity <= 2 else 0.01):
        yield "Give medication"
        yield "Check vital signs"


def _departure(patient: Patient, rng: Random) -> Iterator[str]:
    if patient.acuity == 1:
        yield "Register"
    if rng.random() < patient.complaint.admitted * (3 if patient.acuity == 1 else 1):
        yield "Admit to ward"
    elif rng.random() < 0.01:
        yield "Transfer"
    else:
        yield "Discharge"
        if patient.complaint.letter:
            yield "Send letter"
    if patient.insurance in ("none", "private"):
        yield "Send invoice"


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
