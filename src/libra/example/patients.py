"""The patients of the simulated emergency department: why they come, when, and which way they take through it.

In: a source of randomness. Out: arrivals over the year 2024 and, for each patient, the activities in order. Everything is
invented; the shares only look plausible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random

NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)  # a Monday
WEEKDAY_LOAD = (1.25, 1.1, 1.0, 1.0, 1.0, 0.75, 0.7)  # Monday first
HOUR_LOAD = (3, 2, 2, 1, 1, 2, 3, 5, 8, 11, 12, 11, 10, 10, 9, 9, 9, 9, 9, 8, 7, 6, 5, 4)
WINTER_LOAD = 0.2  # January has that much more than the mean, July that much less


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
