"""The figures of risk: who is singled out in a log, what is found again in an anonymized one, and which cases it copies.

That one released case fits is not a harm by itself, in a made-up log it happens; and what is told may be what the case has in
common with others. So beside it stands what the same attacker finds in the original when the case itself is taken out, with all
others of its individual. Confidential, as the log is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from libra.eventlog.log import EventLog, variants_of
from libra.measures.distances import Integers
from libra.measures.edges import common_codes
from libra.measures.intervals import clopper_pearson
from libra.measures.risk.crowds import Crowds, Found, Population, own_alike
from libra.measures.risk.knowledge import Kind

MISTAKEN = 0.025  # each bound on its own: together they hold with 95 %
MICROSECOND = 1
ANY_GAP = 2**62  # a unit in which every gap is none: only the activities count


@dataclass(frozen=True)
class Estimate:
    """A value, and between which bounds the truth lies with a confidence of 95 %.

    Example:
        >>> found = share(7, 10)
        >>> found.value, round(found.lowest, 4), round(found.highest, 4)
        (0.7, 0.3475, 0.9333)
    """

    value: float
    lowest: float
    highest: float


def share(hits: int, tries: int) -> Estimate:
    """How often something happens, from independent tries (Clopper and Pearson)."""
    return Estimate(hits / tries, *clopper_pearson(hits, tries, MISTAKEN))


def exactly(value: float) -> Estimate:
    """A figure that was counted, not sampled."""
    return Estimate(value, value, value)


def counted(hits: int, cases: int) -> Estimate:
    """How often something happens among all cases."""
    return exactly(hits / cases)


@dataclass(frozen=True)
class SingledOut:
    """What one kind of knowledge does: the share of the cases that it singles out, and how many fit, this one included.

    A case is singled out where no other case fits, or where it is known whose case is whose, none of another individual; what
    fits is then counted in individuals.
    """

    knowledge: Kind | Literal["variant"]
    events: int | None  # how many are known; None for the variant
    share: Estimate
    crowd_mean: float
    crowd_median: float


def singled_out(population: Population, found: Sequence[Found]) -> tuple[SingledOut, ...]:
    """The figures of a population, from a search of it for cases of its own."""
    owners = population.owners
    sizes = (population.counts if owners is None else np.bincount(owners.variant))[population.variant]  # individuals if known
    figures = [
        SingledOut(kind, events, share(int((units == 1).sum()), len(units)), float(units.mean()), float(np.median(units)))
        for kind, events, units in ((one.knowledge, one.events, one.crowds.units) for one in found)
    ]
    alone = exactly(float((sizes == 1).mean()))
    return *figures, SingledOut("variant", None, alone, float(sizes.mean()), float(np.median(sizes)))


@dataclass(frozen=True, eq=False, repr=False)
class SameCases:
    """For the cases of two logs, numbers that are equal where the activities and the times between them are."""

    original: Integers
    anonymized: Integers


@dataclass(frozen=True)
class Copies:
    """The share of released cases that repeat the activities and the gaps of an original case; None where there are none.

    By chance is the share of original cases that repeat another one, or one of another individual where it is known whose case is
    whose: what cases of the same process, but not of this log, would be expected to show. Confidential.
    """

    exact: float | None
    exact_by_chance: float | None
    to_the_minute: float | None
    to_the_minute_by_chance: float | None


def copies(exactly_same: SameCases, same_to_the_minute: SameCases, whose: Integers) -> Copies:
    """Count the copies; `whose` has a number for every case of the original, the same for the same individual."""
    return Copies(*_shares(exactly_same, whose), *_shares(same_to_the_minute, whose))


def same_cases(original: EventLog, anonymized: EventLog, unit: int, within: SameCases | None = None) -> SameCases:
    """Compare all cases of two logs at once; gaps are rounded to whole units, which are microseconds or more.

    `within` has the cases that are the same in a larger unit, where somebody knows; only those are compared.
    """
    logs = (original, anonymized)
    recoded = zip(common_codes(*logs), logs, strict=True)
    codes = np.concatenate([np.zeros(0, np.int64), *(code[log.activity_codes] for code, log in recoded if log.n_events)])
    gaps = np.concatenate([np.diff(log.timestamps, prepend=0) for log in logs])
    gaps[np.concatenate((original.case_offsets[:-1], original.n_events + anonymized.case_offsets[:-1]))] = 0  # first events
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


def _shares(same: SameCases, whose: Integers) -> tuple[float | None, float | None]:
    """Of the released cases those with an original like them, and of the original ones those with another's."""
    counts = np.bincount(same.original, minlength=int(same.anonymized.max(initial=-1)) + 1)
    released = float((counts[same.anonymized] > 0).mean()) if len(same.anonymized) else None
    others = counts[same.original] - own_alike(same.original, whose).size
    original = float((others > 0).mean()) if len(others) else None
    return released, original


@dataclass(frozen=True)
class Matches:
    """How often exactly one case fits, none, or several; and of the single matches, how often they are like the one sought."""

    once: Estimate
    none: float
    several: float
    same_activities: Estimate | None  # all of them, in the same order; None where there is no single match
    same_gaps: Estimate | None  # also all times between events, to the microsecond
    same_gaps_to_the_minute: Estimate | None  # also all times between events, in whole minutes


@dataclass(frozen=True)
class Linkage:
    """What one kind of knowledge finds in the anonymized log, and by chance. Confidential.

    By chance is what is found among all other cases of the original, or those of other individuals where it is known whose case
    is whose: what cases of the same process tell about one that is not there.
    """

    knowledge: Kind | Literal["variant"]
    events: int | None  # how many are known; None for the variant
    released: Matches
    by_chance: Matches


Same: TypeAlias = tuple[SameCases, SameCases, SameCases]  # in activities; in gaps as well; in gaps to the minute


def linkage(
    released: Sequence[Found], original: Sequence[Found], sought: Integers, same: Same, whose: Integers
) -> tuple[Linkage, ...]:
    """What two searches for the same cases of the original (`sought`) found, in the anonymized log and in the original itself.

    Whole traces are looked up for all cases, not for these alone: before and after, the figure is exact.
    `whose` has a number for every case of the original, the same for the same individual.
    """
    pairs = zip(released, original, strict=True)
    figures = (Linkage(one.knowledge, one.events, *_both(one.crowds, other.crowds, sought, same)) for one, other in pairs)
    traces, own = same[0].original, own_alike(same[0].original, whose)
    there, here = (_with_the_trace(traces, among) for among in (same[0].anonymized, traces))
    here = replace(here, others=Crowds(here.size - own.size, here.total - own.total))
    return *figures, Linkage("variant", None, *_both(there, here, np.arange(len(traces)), same, counted))


def _with_the_trace(sought: Integers, traces: Integers) -> Crowds:
    """The crowds of those who know the whole trace of a case."""
    n_traces = int(max(sought.max(), traces.max(initial=0))) + 1
    total = np.bincount(traces, np.arange(len(traces)), minlength=n_traces).astype(np.int64)
    return Crowds(np.bincount(traces, minlength=n_traces)[sought], total[sought])


def _both(
    released: Crowds, original: Crowds, sought: Integers, same: Same, share: Callable[[int, int], Estimate] = share
) -> tuple[Matches, Matches]:
    """What was found in the anonymized log, and in the original without the case that was sought."""
    there = _matches(released, sought, [(one.original, one.anonymized) for one in same], share)
    return there, _matches(original.without(sought), sought, [(one.original, one.original) for one in same], share)


def _matches(
    found: Crowds, sought: Integers, same: list[tuple[Integers, Integers]], share: Callable[[int, int], Estimate]
) -> Matches:
    once = found.size == 1
    match, case = found.total[once], sought[once]
    told = (share(int((theirs[match] == ours[case]).sum()), len(match)) if len(match) else None for ours, theirs in same)
    none, several = float((found.size == 0).mean()), float((found.size > 1).mean())
    return Matches(share(len(match), len(sought)), none, several, *told)
