"""What the distances of an anonymized log are held against: those of a fresh sample of the original, and of an empty log.

Samples are drawn from the original's cases with replacement and fixed seeds, as many cases as the anonymized log has: what the
same process might have written, had nothing been anonymized. The median of some samples counts, figure by figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from libra._system.randomness import Randomness
from libra.eventlog.cases import DAY, cases_of
from libra.eventlog.log import EventLog, empty_log
from libra.measures.distances import Integers, total_variation
from libra.measures.utility import FIGURES, Utility, measure
from libra.mechanisms.fresh_log import log_of
from libra.reporting.facts.pair import Pair

SEED = 1
DRAWS = 5  # samples of which the one in the middle counts: one alone may lie anywhere
MANY_CASES = 20_000  # from which on one is enough, since large samples hardly differ


@dataclass(frozen=True)
class Yardsticks:
    """The figures of `libra measure` for three logs, each against the original, and two that it does not have. Confidential."""

    anonymized: Utility  # of the anonymized log
    sample: Utility  # of a sample of the original's cases, the median of some
    empty: Utility  # of a log without cases
    sample_cases: int  # how many cases the sample has
    activity_tv: float  # half the summed differences of the activities' shares of events
    sample_activity_tv: float  # the same of the sample
    empty_activity_tv: float  # the same of the empty log: 1, or 0 where the original is empty too
    # what stands for an empty log's arrivals, which have no figure: the mean distance of the original's starts from their median,
    # in days, as if all cases had begun at once. None where the original has no case
    empty_arrival_days: float | None


def yardsticks_of(pair: Pair) -> Yardsticks | None:
    """Measure the anonymized log, a sample and nothing; None in public mode.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> found = yardsticks_of(Pair(log, log))
        >>> found.anonymized.dfg_l1, found.empty.dfg_l1, 0 < found.sample.dfg_l1 < 1
        (0.0, 1.0, True)
    """
    if pair.original is None:
        return None
    original, anonymized = pair.original, pair.anonymized
    cases, nothing = anonymized.n_cases or original.n_cases, empty_log(original)
    samples = [sample_of(original, cases, seed) for seed in range(SEED, SEED + (DRAWS if cases <= MANY_CASES else 1))]
    return Yardsticks(
        anonymized=measure(original, anonymized),
        sample=_median([measure(original, sample) for sample in samples]),
        empty=measure(original, nothing),
        sample_cases=samples[0].n_cases,
        activity_tv=activity_tv(original, anonymized),
        sample_activity_tv=median(activity_tv(original, sample) for sample in samples),
        empty_activity_tv=activity_tv(original, nothing),
        empty_arrival_days=_distance_from_median(original.case_spans[0]),
    )


def _median(found: list[Utility]) -> Utility:
    """Figure by figure the one in the middle; None where one of them is not defined."""
    middle: dict[str, float | None] = {}
    for name in FIGURES:
        values = [getattr(one, name) for one in found]
        middle[name] = None if None in values else median(values)
    return replace(found[0], **middle)  # type: ignore[arg-type]  # fields that are never None have no None among their values


def sample_of(log: EventLog, cases: int, seed: int = SEED) -> EventLog:
    """So many cases of a log, drawn with replacement, under ids of their own."""
    if not log.n_cases:
        return empty_log(log)
    random = Randomness(seed)
    return log_of(cases_of(log).take(random.below(log.n_cases, cases)), log.activities, seeded=True)


def activity_tv(original: EventLog, other: EventLog) -> float:
    """Half the summed differences of the activities' shares of events: 0 for equal ones, 1 where no activity is common."""
    labels = sorted({*original.activities, *other.activities})
    counts = [np.bincount(log.activity_codes, minlength=len(log.activities)).tolist() for log in (original, other)]
    by_label = [dict(zip(log.activities, of, strict=True)) for log, of in zip((original, other), counts, strict=True)]
    return total_variation(*(np.array([of.get(label, 0) for label in labels], np.int64) for of in by_label))


def _distance_from_median(starts: Integers) -> float | None:
    if not len(starts):
        return None
    ordered = np.sort(starts)
    return float(np.abs(ordered - ordered[len(ordered) // 2]).mean()) / DAY
