"""Released cases that repeat an original case: the same activities, after the same time each.

In: two logs. Out: `Copies`, the shares, beside what chance would give; and `SameCases`, by which others can ask whether two cases
are the same in this sense. Starts do not count: a case that was moved as a whole is a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.log import EventLog, variants_of
from libra.measures.distances import Integers
from libra.measures.edges import common_codes
from libra.measures.risk.owners import own_alike

MICROSECOND = 1
ANY_GAP = 2**62  # a unit in which every gap is none: only the activities count


@dataclass(frozen=True, eq=False, repr=False)
class SameCases:
    """For the cases of two logs, numbers that are equal where the activities and the times between them are."""

    original: Integers
    anonymized: Integers


@dataclass(frozen=True)
class Copies:
    """The share of cases that repeat the activities and the gaps of an original case. Confidential.

    Attributes:
        exact: Released cases that repeat an original one to the microsecond; None where no case was released.
        exact_by_chance: Original cases that repeat another original one, or one of another individual where it is known whose
            case is whose: what cases of the same process, but not of this log, would be expected to show.
        to_the_minute: As `exact`, with each gap rounded to whole minutes.
        to_the_minute_by_chance: As `exact_by_chance`, with each gap rounded to whole minutes.
    """

    exact: float | None
    exact_by_chance: float | None
    to_the_minute: float | None
    to_the_minute_by_chance: float | None


def copies(exactly_same: SameCases, same_to_the_minute: SameCases, whose: Integers) -> Copies:
    """Count the copies; `whose` has a number for every case of the original, the same for the same individual.

    Example:
        >>> from libra.eventlog.cases import MINUTE
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> copies(same_cases(log, log, MICROSECOND), same_cases(log, log, MINUTE), np.arange(50)).exact
        1.0
    """
    return Copies(*_shares(exactly_same, whose), *_shares(same_to_the_minute, whose))


def same_cases(original: EventLog, anonymized: EventLog, unit: int, within: SameCases | None = None) -> SameCases:
    """Compare all cases of two logs at once; gaps are rounded to whole units, which are microseconds or more.

    Args:
        original: One log.
        anonymized: The other.
        unit: Of the gaps.
        within: Cases that are the same in a larger unit, where somebody knows; only those are compared.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> same = same_cases(log, log, MICROSECOND)
        >>> same.original.tolist() == same.anonymized.tolist()
        True
    """
    logs = (original, anonymized)
    recoded = zip(common_codes(*logs), logs, strict=True)
    codes = np.concatenate([np.zeros(0, np.int64), *(code[log.activity_codes] for code, log in recoded if log.n_events)])
    gaps = np.concatenate([_gaps(log) for log in logs])
    lengths = np.concatenate([np.diff(log.case_offsets) for log in logs])
    compared = np.ones(len(lengths), bool)
    if within is not None:
        coarse = np.concatenate((within.original, within.anonymized))
        compared = (np.bincount(coarse) > 1)[coarse]
        codes, gaps = (one[np.repeat(compared, lengths)] for one in (codes, gaps))
    gap = _numbered((gaps + unit // 2) // unit)
    steps = _numbered(codes * (gap.max(initial=0) + 1) + gap)
    same = np.arange(len(lengths), 2 * len(lengths))
    same[compared] = variants_of(steps.astype(np.uint32), np.concatenate(([0], np.cumsum(lengths[compared])))).of_case
    return SameCases(same[: original.n_cases], same[original.n_cases :])


def _numbered(values: Integers) -> Integers:
    """Numbers from 0 on and below 2^32, equal where the values are: with gaps, where that saves sorting them."""
    lowest = int(values.min(initial=0))
    if int(values.max(initial=0)) - lowest < 2**32:
        return values - lowest
    return np.unique(values, return_inverse=True)[1]


def _gaps(log: EventLog) -> Integers:
    """For every event the microseconds since the one before; 0 for the first of a case."""
    gaps = np.diff(log.timestamps, prepend=0)
    gaps[log.case_offsets[:-1]] = 0
    return gaps


def _shares(same: SameCases, whose: Integers) -> tuple[float | None, float | None]:
    """Of the released cases those with an original like them, and of the original ones those with another's."""
    counts = np.bincount(same.original, minlength=int(same.anonymized.max(initial=-1)) + 1)
    released = float((counts[same.anonymized] > 0).mean()) if len(same.anonymized) else None
    others = counts[same.original] - own_alike(same.original, whose).size
    original = float((others > 0).mean()) if len(others) else None
    return released, original
