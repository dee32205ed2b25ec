"""What an anonymized log is held against: fresh samples of the original, and an empty log.

Samples are drawn from the cases of the original with replacement and fixed seeds, as many as the anonymized log has. They are
what the same process might have written, had nothing been anonymized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median
from typing import Any

import numpy as np

from libra._system.randomness import Randomness
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import DAY, cases_of
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, START_TIMESTAMP, TIMESTAMP
from libra.measures.distances import total_variation
from libra.measures.edges import pair_edges
from libra.measures.utility import FIGURES, IN_BOTH, FreshSample, Utility, edge_time_share_l1, measure, step_durations
from libra.measures.within_cases import cooccurrence_slope, pair_duration_correlation, path_duration_eta2
from libra.mechanisms.fresh_log import log_of
from libra.reporting.facts.pair import SECOND
from libra.reporting.facts.tables import middles_of
from libra.reporting.facts.verdicts import Loss, Missing

SEED = 1
DRAWS = 5  # samples of which the one in the middle counts: one alone may lie anywhere
MANY_CASES = 20_000  # from which on one is enough, since large samples hardly differ


@dataclass(frozen=True)
class Compared:
    """What a copy of a log gives beside the figures of `libra measure`. Confidential."""

    missing: Missing
    activity_tv: float  # half the summed differences of the activities' shares of events
    means: float | None  # how far the mean durations of the common edges are apart, in powers of ten, weighted by their steps
    medians: float | None  # likewise their medians
    case_median: float | None  # the factor between the median case durations, as a loss


@dataclass(frozen=True)
class Yardsticks:
    """What was measured of the anonymized log, of fresh samples (the median of some) and of an empty log. Confidential."""

    anonymized: Utility
    sample: Utility
    empty: Utility
    sample_cases: int  # how many cases the sample has
    found: Compared  # of the anonymized log
    samples: tuple[Compared, ...]
    # what stands for an empty log's arrivals, which have no figure: the mean distance of the original's starts from their median,
    # in days, as if all cases had begun at once. None where the original has no case
    empty_arrival_days: float | None

    def loss(self, of: Callable[[Compared], float | None]) -> Loss:
        """What the anonymized log loses of something that is a loss, and what fresh samples lose."""
        again = (of(sample) for sample in self.samples)
        return Loss(of(self.found), _middle(again))

    def relative(self, name: str, whole: float | None) -> Loss:
        """A figure of `libra measure` as a share of what an empty log has."""
        value, sample = getattr(self.anonymized, name), getattr(self.sample, name)
        if value is None or whole is None:
            return Loss(None)
        return Loss(*(None if one is None else one / whole if whole else float(one > 0) for one in (value, sample)))


def yardsticks_of(original: EventLog, anonymized: EventLog, declared: Sequence[Attribute] = ()) -> Yardsticks:
    """Measure the anonymized log, samples of the original and nothing; what is `declared` of attributes counts."""
    cases, nothing = anonymized.n_cases or original.n_cases, empty_log(original)
    samples = [sample_of(original, cases, seed, like=anonymized) for seed in range(SEED, SEED + _draws(cases))]
    found = [measure(original, sample, declared) for sample in samples]
    middle: dict[str, Any] = {name: _middle(getattr(one, name) for one in found) for name in FIGURES}
    for name in IN_BOTH:
        values = [getattr(one, name) for one in found]
        middle[name] = replace(values[0], anonymized=_middle(one.anonymized for one in values))
    starts = np.sort(original.case_spans[0])
    return Yardsticks(
        anonymized=measure(original, anonymized, declared),
        sample=replace(found[0], **middle),
        empty=measure(original, nothing, declared),
        sample_cases=samples[0].n_cases,
        found=compared(original, anonymized),
        samples=tuple(compared(original, sample) for sample in samples),
        empty_arrival_days=float(np.abs(starts - starts[len(starts) // 2]).mean()) / DAY if len(starts) else None,
    )


def fresh_sample_of(original: EventLog, cases: int) -> FreshSample:
    """What ties cases together, and where time goes, in fresh samples of so many cases: the median of some, always the same.

    Example:
        >>> from libra.example.simulate import simulate
        >>> fresh_sample_of(simulate(cases=200), 200) == fresh_sample_of(simulate(cases=200), 200)
        True
    """
    samples = (sample_of(original, cases, seed) for seed in range(SEED, SEED + _draws(cases)))
    found = [_of_sample(original, sample) for sample in samples]
    return FreshSample(*(_middle(getattr(one, field.name) for one in found) for field in fields(FreshSample)))


def _of_sample(original: EventLog, sample: EventLog) -> FreshSample:
    edges = pair_edges(original, sample)
    return FreshSample(
        edge_time_share_l1(edges),
        step_durations(edges)[3],
        path_duration_eta2(sample),
        cooccurrence_slope(original, sample),
        pair_duration_correlation(sample),
    )


def _draws(cases: int) -> int:
    return DRAWS if cases <= MANY_CASES else 1


def _middle(values: Iterable[float | None]) -> float | None:
    """The median; None if one of them is not defined."""
    values = list(values)
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None


def sample_of(log: EventLog, cases: int, seed: int = SEED, *, like: EventLog | None = None) -> EventLog:
    """So many cases of a log, drawn with replacement, under ids of their own; with the attributes that another log has, too."""
    if not log.n_cases:
        return empty_log(log)
    rows, whole = Randomness(seed).below(log.n_cases, cases), cases_of(log)
    sample = log_of(whole.take(rows), log.activities, seeded=True)
    of_cases, of_events = ([], []) if like is None else (like.cases.columns, like.events.columns)
    of_cases = [name for name in log.cases.columns if name in of_cases and name != CASE_NAME]
    roles = (CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP)
    of_events = [name for name in log.events.columns if name in of_events and name not in roles]
    of_events += [START_TIMESTAMP] if log.instances == "pair" else []
    if not of_cases and not of_events:
        return sample
    events = replace(whole, codes=np.arange(log.n_events)).take(rows).codes
    return replace(
        sample,
        events=sample.events.hstack([log.events[name][events] for name in of_events]),
        cases=sample.cases.hstack([log.cases[name][rows] for name in of_cases]),
        instances="pair" if log.instances == "pair" else None,
    )


def compared(original: EventLog, other: EventLog) -> Compared:
    """Compare two logs in what `libra measure` does not look at."""
    labels = sorted({*original.activities, *other.activities})
    by_label = [
        dict(zip(log.activities, np.bincount(log.activity_codes, minlength=len(log.activities)).tolist(), strict=True))
        for log in (original, other)
    ]
    before, after = (np.array([of.get(label, 0) for label in labels], np.int64) for of in by_label)
    lost = np.array([by_label[0][name] > 0 and not by_label[1].get(name) for name in original.activities], bool)
    edges = pair_edges(original, other)
    taken, copied = edges.original.counts, edges.anonymized.counts
    common = (taken > 0) & (copied > 0)
    apart: list[float | None] = [None, None]  # of means and medians
    if common.any():
        ours, theirs = (np.log10(1 + np.clip(middles_of(use), 0, None)) for use in (edges.original, edges.anonymized))
        apart = [float(np.average(of, weights=taken[common])) for of in np.abs(ours - theirs)[:, common]]
    spans = [
        1 + max(float(np.median(log.case_spans[1] - log.case_spans[0])) / SECOND, 0.0) for log in (original, other) if log.n_cases
    ]
    return Compared(
        missing=Missing(
            activities=int((before > 0).sum()),
            activities_gone=int(((before > 0) & (after == 0)).sum()),
            events_gone=_part(before, after == 0),
            edges=int((taken > 0).sum()),
            edges_gone=int(((taken > 0) & (copied == 0)).sum()),
            steps_gone=_part(taken, copied == 0),
            edges_there=int((copied > 0).sum()),
            edges_false=int(((copied > 0) & (taken == 0)).sum()),
            steps_false=_part(copied, taken == 0),
            cases_gone=len(np.unique(original.events[CASE_INDEX].to_numpy()[lost[original.activity_codes]]))
            / max(original.n_cases, 1),
            names=tuple(name for name, one in zip(original.activities, lost, strict=True) if one),
        ),
        activity_tv=total_variation(before, after),
        means=apart[0],
        medians=apart[1],
        case_median=1 - min(spans) / max(spans) if len(spans) == 2 else None,
    )


def _part(counts: np.ndarray, where: np.ndarray) -> float:
    return int(counts[where].sum()) / max(int(counts.sum()), 1)
