"""Crowds of patients of the simulated emergency department, as arrays: why they come, and which way they take through it.

In: how many, and randomness. Out: the same process as in `patients.py`, for a hundred thousand patients at a time: all take their
next step together. A walk is a list of steps in order, each an activity and the patients who come to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from libra.example.patients import COMPLAINTS
from libra.example.simulate import ACTIVITIES
from libra.privacy.randomness import Randomness

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Step = tuple[int, Integers]
"""The code of an activity, and the rows of the patients who come to it."""

LABELS = tuple(ACTIVITIES)
CODES = {label: code for code, label in enumerate(LABELS)}
BILLED = (1, 2)  # who gets an invoice
SLOTS = max(len(complaint.tests) + len(complaint.extra) for complaint in COMPLAINTS)
ABSENT = len(LABELS)  # no test

_SHARES = np.cumsum([complaint.share for complaint in COMPLAINTS])
_ACUITIES = np.cumsum([complaint.acuity for complaint in COMPLAINTS], axis=1)
_INSURANCE = np.cumsum([0.78, 0.14, 0.05, 0.03])  # public, private, none, unknown
_ADMITTED = np.array([complaint.admitted for complaint in COMPLAINTS])
_LETTER = np.array([complaint.letter for complaint in COMPLAINTS])
_TREATMENT = np.array([CODES[complaint.treatment] if complaint.treatment else ABSENT for complaint in COMPLAINTS])
_TESTS, _TEST_SHARES = np.full((len(COMPLAINTS), SLOTS), ABSENT), np.zeros((len(COMPLAINTS), SLOTS))
for _row, _complaint in enumerate(COMPLAINTS):
    for _slot, (_test, _share) in enumerate((*((test, 1.0) for test in _complaint.tests), *_complaint.extra)):
        _TESTS[_row, _slot], _TEST_SHARES[_row, _slot] = CODES[_test], _share


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """Some patients, a row each: the number of their complaint, their acuity from 1 to 5, and how they are insured."""

    complaint: Integers
    acuity: Integers
    insurance: Integers


def crowd(n: int, random: Randomness) -> Crowd:
    """So many patients.

    Example:
        >>> crowd(1000, Randomness(seed=1)).acuity.max()
        np.int64(5)
    """
    complaint = _chosen(_SHARES, random.uniform(n))
    acuity = 1 + _chosen(_ACUITIES[complaint].T, random.uniform(n))
    return Crowd(complaint, acuity, _chosen(_INSURANCE, random.uniform(n)))


def _chosen(cumulative: Floats, drawn: Floats) -> Integers:
    """For each number one of the choices, by their cumulated shares: the same for all, or a column for each."""
    chosen = np.zeros(len(drawn), np.int64)
    for share in cumulative[:-1]:
        chosen += share <= drawn * cumulative[-1]
    return chosen


def walk(people: Crowd, random: Randomness) -> list[Step]:
    """The steps of everybody's stay; those of one patient stand in their order.

    Example:
        >>> steps = walk(crowd(1000, Randomness(seed=1)), Randomness(seed=2))
        >>> LABELS[steps[0][0]], len(steps[0][1])
        ('Arrive', 1000)
    """
    everybody = np.arange(len(people.acuity))
    steps = [(CODES["Arrive"], everybody), (CODES["Triage"], everybody)]
    steps.append((CODES["Register"], everybody[people.acuity > 1]))
    waiting = everybody[people.acuity >= 4]
    again = waiting
    while len(again := _some(again, 0.04, random)):
        steps.append((CODES["Triage again"], again))
    unseen = _some(waiting, 0.05, random)
    steps.append((CODES["Leave unseen"], unseen))
    seen = np.setdiff1d(everybody, unseen, assume_unique=True)
    steps.append((CODES["See doctor"], seen))
    steps += _diagnosis(seen, people, random)
    steps += _treatment(seen, people, random)
    return steps + _departure(seen, people, random)


def _some(rows: Integers, share: float | Floats, random: Randomness) -> Integers:
    return rows[random.uniform(len(rows)) < share]


def _diagnosis(seen: Integers, people: Crowd, random: Randomness) -> list[Step]:
    """Tests in the doctor's order or in whichever there is room for, once more where results are unclear, and reviews of them."""
    steps = list[Step]()
    tests, shares = _TESTS[people.complaint[seen]], _TEST_SHARES[people.complaint[seen]]
    tests = np.where(random.uniform(shares.size).reshape(shares.shape) < shares, tests, ABSENT)
    place = np.where(tests < ABSENT, np.arange(SLOTS), np.inf)
    rows = seen
    while True:
        ordered = np.isfinite(place).any(axis=1)
        rows, tests, place = rows[ordered], tests[ordered], place[ordered]
        if not len(rows):
            return steps
        shuffled = (np.isfinite(place).sum(axis=1) > 1) & (random.uniform(len(rows)) < 0.5)
        mixed = random.uniform(int(shuffled.sum()) * SLOTS).reshape(-1, SLOTS)
        place[shuffled] = np.where(np.isfinite(place[shuffled]), mixed, np.inf)
        turn = np.argsort(place, axis=1, kind="stable")
        tests, place = np.take_along_axis(tests, turn, axis=1), np.take_along_axis(place, turn, axis=1)
        for taken in tests.T:
            steps += [(code, rows[taken == code]) for code in np.unique(_TESTS).tolist() if code < ABSENT]
        steps.append((CODES["Review results"], rows))
        unclear = random.uniform(tests.size).reshape(tests.shape) < 0.02
        tests, place = np.where(unclear, tests, ABSENT), np.where(unclear, place, np.inf)


def _treatment(seen: Integers, people: Crowd, random: Randomness) -> list[Step]:
    urgent = people.acuity <= 2
    steps = [(CODES["Consult specialist"], _some(seen[urgent[seen]], 0.04, random))]
    treated = _some(seen, 0.75, random)
    treatment = _TREATMENT[people.complaint[treated]]
    steps += [(code, treated[treatment == code]) for code in np.unique(_TREATMENT).tolist() if code < ABSENT]
    observed = seen
    while len(observed := _some(observed, np.where(urgent[observed], 0.08, 0.01), random)):
        steps += [(CODES["Give medication"], observed), (CODES["Check vital signs"], observed)]
    return steps


def _departure(seen: Integers, people: Crowd, random: Randomness) -> list[Step]:
    critical = people.acuity[seen] == 1
    drawn = random.uniform(len(seen))
    admitted = drawn < _ADMITTED[people.complaint[seen]] * np.where(critical, 3, 1)
    transferred = ~admitted & (random.uniform(len(seen)) < 0.01)
    home = seen[~admitted & ~transferred]
    return [
        (CODES["Register"], seen[critical]),
        (CODES["Admit to ward"], seen[admitted]),
        (CODES["Transfer"], seen[transferred]),
        (CODES["Discharge"], home),
        (CODES["Send letter"], home[_LETTER[people.complaint[home]]]),
        (CODES["Send invoice"], seen[np.isin(people.insurance[seen], BILLED)]),
    ]
