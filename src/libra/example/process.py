"""The emergency department that is simulated: why patients come and when, what is done for them, by whom, and how long it takes.

Everything is invented; the shares only look plausible.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from libra.eventlog.metadata import Attribute, Classifier, LogMetadata

NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)  # a Monday
WEEKDAY_LOAD = (1.25, 1.1, 1.0, 1.0, 1.0, 0.75, 0.7)  # Monday first
HOUR_LOAD = (3, 2, 2, 1, 1, 2, 3, 5, 8, 11, 12, 11, 10, 10, 9, 9, 9, 9, 9, 8, 7, 6, 5, 4)
WINTER_LOAD = 0.2  # January has that much more than the mean, July that much less
OFFICE = ("Send letter", "Send invoice")  # weekdays from 8 to 17 only
QUEUED = ("See doctor", "X-ray", "CT scan", "Review results")
QUEUE = (0.15, 0.5, 1.0, 1.3, 1.5)  # by acuity: the urgent go first
INSURANCE = {"public": 0.78, "private": 0.14, "none": 0.05, None: 0.03}
BILLED = ("private", "none")  # who gets an invoice
AGE_UNKNOWN = 0.01
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
    event_globals=(Attribute("concept:name", "string", "unknown"), Attribute("lifecycle:transition", "string", "complete")),
    classifiers=(Classifier("Activity", ("concept:name",)),),
)


class Complaint(NamedTuple):
    """Why people come, and what usually follows from it."""

    name: str
    share: float
    ages: tuple[float, float]  # mean and standard deviation
    acuity: tuple[float, ...]  # shares of the acuities 1 (most urgent) to 5
    tests: dict[str, float]  # what the doctor orders, in order, with its probability
    admitted: float
    treatment: str | None = "Give medication"
    letter: bool = True  # whether the family doctor gets one


COMPLAINTS = (
    Complaint(
        "injury", 0.34, (36, 21), (0.01, 0.05, 0.24, 0.45, 0.25), {"X-ray": 1, "CT scan": 0.08}, 0.05, "Treat wound", False
    ),
    Complaint(
        "abdominal pain",
        0.24,
        (46, 20),
        (0.01, 0.12, 0.57, 0.25, 0.05),
        {"Blood test": 1, "Urine test": 0.45, "Ultrasound": 0.4},
        0.25,
    ),
    Complaint("chest pain", 0.16, (61, 16), (0.04, 0.46, 0.40, 0.08, 0.02), {"ECG": 1, "Blood test": 1, "X-ray": 0.45}, 0.4),
    Complaint("fever", 0.14, (33, 26), (0.01, 0.09, 0.45, 0.35, 0.10), {"Blood test": 1, "Urine test": 0.5}, 0.2),
    Complaint("breathlessness", 0.09, (64, 19), (0.10, 0.45, 0.35, 0.08, 0.02), {"Blood test": 1, "X-ray": 1, "ECG": 0.4}, 0.5),
    Complaint("minor ailment", 0.03, (40, 22), (0.0, 0.01, 0.09, 0.40, 0.50), {"Urine test": 0.1}, 0.01, None, False),
)


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
