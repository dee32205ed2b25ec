"""What ties a case together: its path and its duration, the activities that it has, the durations of its steps, its instances.

In: two logs. Out: a figure or one for each log; None where it is not defined. `docs/measures.md` has the formulas. Of instances
these are service times by activity, waiting times by edge, and overlaps. An instance without a start takes no time: it starts
when it is completed. Nothing about them is defined if the original has no starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_INDEX, START_TIMESTAMP
from libra.measures.distances import Floats, Integers, SortedPair, sort_grouped
from libra.measures.edges import PairedEdges, common_codes, common_labels

SECOND = 1_000_000
FEWEST = 5  # cases that follow a variant, for it to say something about their durations
ONE_IN = 50  # cases of the original have to have an activity, and one in so many to be without it
SPREAD = 1e-9  # decades: durations that differ by less are equal, apart from rounding


@dataclass(frozen=True)
class InBoth:
    """A figure of each log by itself; None where it is not defined."""

    original: float | None = None
    anonymized: float | None = None

    @property
    def difference(self) -> float | None:
        """How far the two are apart; None unless both are defined."""
        return None if self.original is None or self.anonymized is None else abs(self.original - self.anonymized)


@dataclass(frozen=True)
class WithinCases:
    """How far two logs agree in what ties a case together."""

    path_eta2_difference: float | None
    path_duration_eta2: InBoth
    cooccurrence_slope: float | None
    pair_correlation_difference: float | None
    pair_duration_correlation: InBoth


def within_cases(original: EventLog, anonymized: EventLog) -> WithinCases:
    """Compare two logs in what ties a case together.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=200)
        >>> found = within_cases(log, log)
        >>> found.path_eta2_difference, found.cooccurrence_slope, found.pair_correlation_difference
        (0.0, 1.0, 0.0)
    """
    explained, correlation = (InBoth(of(original), of(anonymized)) for of in (path_duration_eta2, pair_duration_correlation))
    return WithinCases(
        path_eta2_difference=explained.difference,
        path_duration_eta2=explained,
        cooccurrence_slope=cooccurrence_slope(original, anonymized),
        pair_correlation_difference=correlation.difference,
        pair_duration_correlation=correlation,
    )


def path_duration_eta2(log: EventLog) -> float | None:
    """The share of the variance of log10(1 + case duration in seconds) that the variant explains, corrected for chance.

    That is 1 - MS within / MS total (epsilon squared) over the cases whose variant at least `FEWEST` cases follow: 0 on average
    if variants and durations have nothing to do with each other, and somewhat below at times. None for fewer than two such
    variants, and if all of these cases take equally long.
    """
    often = log.variants.counts >= FEWEST
    earliest, latest = log.case_spans
    chosen = often[log.variants.of_case]
    values, variant = decades((latest - earliest)[chosen]), log.variants.of_case[chosen]
    n, n_variants = len(values), int(often.sum())
    if n_variants < 2 or np.ptp(values) < SPREAD:
        return None
    within, total = values - _means(values, variant)[variant], values - values.mean()
    return 1 - float(within @ within) / (n - n_variants) / (float(total @ total) / (n - 1))


def cooccurrence_slope(original: EventLog, anonymized: EventLog) -> float | None:
    """How much of the correlation of activities is left: the slope through the origin of the anonymized log's on the original's.

    Over all pairs of activities that neither nearly all nor nearly no cases of the original have, phi is the correlation of
    whether a case has one and whether it has the other; 0 if all cases of the anonymized log have one of them, or none has. None
    for fewer than two such activities, and if the original's are not correlated at all.
    """
    codes, other_codes = common_codes(original, anonymized)
    occurring = _occurring(original)
    variant, activity = occurring
    cases = np.bincount(activity, original.variants.counts[variant], minlength=len(codes))
    chosen = np.flatnonzero(np.minimum(cases, original.n_cases - cases) * ONE_IN >= original.n_cases)
    if len(chosen) < 2:
        return None
    column = np.full(len(common_labels(original, anonymized)), -1)
    column[codes[chosen]] = np.arange(len(chosen))
    phi = _correlations(original, occurring, column[codes], len(chosen))
    other_phi = _correlations(anonymized, _occurring(anonymized), column[other_codes], len(chosen))
    strength = float(phi @ phi)
    return float(phi @ other_phi) / strength + 0.0 if strength else None


def pair_duration_correlation(log: EventLog) -> float | None:
    """The correlation of the durations of consecutive steps in a case, on log10(1 + seconds), negative ones taken as zero.

    Each duration is centred by the mean of its edge, so that slow and fast edges explain nothing. None if no case has two steps,
    or if the first or the second steps of all pairs are equally far from the mean of their edge.
    """
    steps = log.directly_follows
    values = decades(steps.step_micros)
    if not len(values):
        return None
    some = np.zeros(len(steps))
    some[steps.step_edge] = values  # any step of each edge, so that an edge of equal steps has no rounding
    values = values - some[steps.step_edge]
    values -= _means(values, steps.step_edge)[steps.step_edge]
    case = np.repeat(np.arange(log.n_cases), np.diff(log.case_offsets) - 1)
    first = np.flatnonzero(np.diff(case) == 0)
    one, other = values[first], values[first + 1]
    if len(first) < 2 or min(np.ptp(one), np.ptp(other)) < SPREAD:
        return None
    one, other = one - one.mean(), other - other.mean()
    return max(-1.0, min(float(one @ other) / float(np.sqrt((one @ one) * (other @ other))), 1.0))


def decades(micros: Integers) -> Floats:
    """Durations as log10(1 + seconds), negative ones taken as zero."""
    return np.asarray(np.log10(1 + micros.clip(min=0) / SECOND))


def _means(values: Floats, group: Integers) -> Floats:
    """The mean of each group; 0 for one without values."""
    return np.asarray(np.bincount(group, values) / np.maximum(np.bincount(group), 1))


def _occurring(log: EventLog) -> tuple[Integers, Integers]:
    """Which variants have which activities: their numbers, each pair once."""
    pairs = log.variants.traces.with_row_index("variant").explode("trace").unique(("variant", "trace"))
    return pairs["variant"].to_numpy(), pairs["trace"].to_numpy()


def _correlations(log: EventLog, occurring: tuple[Integers, Integers], column: Integers, size: int) -> Floats:
    """For all pairs of columns the correlation, over cases, of having the activity; 0 with one that all cases have or none.

    `column` is that of each activity of the log, or -1 if it has none; there are `size` columns.
    """
    from scipy.sparse import csr_array

    variant, activity = occurring
    there = column[activity] >= 0
    variant, place = variant[there], column[activity[there]]
    shape = len(log.variants), size
    has = csr_array((np.ones(len(variant), np.int64), (variant, place)), shape=shape)
    weighted = csr_array((log.variants.counts[variant], (variant, place)), shape=shape)
    together = (has.T @ weighted).toarray()
    cases = together.diagonal().astype(np.float64)
    spread = np.sqrt(cases * (log.n_cases - cases))
    covariance, scale = log.n_cases * together - np.outer(cases, cases), np.outer(spread, spread)
    phi: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return phi[np.triu_indices(size, 1)]


@dataclass(frozen=True)
class Overlaps:
    """The share of steps to an instance that starts before the previous one is completed; 0 for a log without steps."""

    original: float
    anonymized: float


@dataclass(frozen=True)
class InstanceFigures:
    """How far the instances of two logs are apart; all None if the original has no starts."""

    service_time_w1_log: float | None = None
    waiting_time_w1_log: float | None = None
    overlap_share: float | None = None
    overlaps: Overlaps | None = None


def starts_of(log: EventLog) -> Integers:
    """When each instance starts, in microseconds; its completion if it has no start."""
    if START_TIMESTAMP not in log.events.columns or log.instances != "pair":
        return log.timestamps
    own = log.events[START_TIMESTAMP].to_physical().to_numpy()
    return np.where(log.events[START_TIMESTAMP].is_null().to_numpy(), log.timestamps, own).astype(np.int64)


def has_starts(log: EventLog) -> bool:
    """Whether any instance of a log has a start."""
    return log.instances == "pair" and log.events[START_TIMESTAMP].null_count() < log.n_events


def waiting_times(log: EventLog) -> Integers:
    """For every step how long after a completion the next instance starts; negative where the two overlap."""
    within_case = np.diff(log.events[CASE_INDEX].to_numpy()) == 0
    return np.asarray((starts_of(log)[1:] - log.timestamps[:-1])[within_case])


def instance_figures(original: EventLog, anonymized: EventLog, edges: PairedEdges) -> InstanceFigures:
    """Compare the instances of two logs; `edges` are those of both.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.edges import pair_edges
        >>> log = simulate(cases=20)
        >>> instance_figures(log, log, pair_edges(log, log)).service_time_w1_log is None
        True
    """
    if not has_starts(original):
        return InstanceFigures()
    pair = original, anonymized
    codes = [code[log.activity_codes] for log, code in zip(pair, common_codes(*pair), strict=True)]
    counts = np.bincount(codes[0], minlength=max(int(code.max(initial=-1)) for code in codes) + 1)
    service = [log.timestamps - starts_of(log) for log in pair]
    by_activity = sort_grouped(codes[0], service[0], codes[1], service[1], len(counts))
    waiting = [waiting_times(log) for log in pair]
    steps = replace(
        edges,
        original=replace(edges.original, step_micros=waiting[0].clip(min=0)),
        anonymized=replace(edges.anonymized, step_micros=waiting[1].clip(min=0)),
    )
    overlaps = Overlaps(*(float((times < 0).mean()) if len(times) else 0.0 for times in waiting))
    return InstanceFigures(
        service_time_w1_log=_weighted_log(by_activity, counts),
        waiting_time_w1_log=_weighted_log(steps.sorted_steps(), edges.original.counts) if len(waiting[0]) else 0.0,
        overlap_share=abs(overlaps.original - overlaps.anonymized),
        overlaps=overlaps,
    )


def _weighted_log(times: SortedPair, counts: Integers) -> float:
    """The mean over groups of how far their times are apart on log10(1 + seconds), with these counts as weights."""
    return float(times.distances(np.log10(1 + times.values / SECOND)) @ counts / counts.sum())
