"""All utility figures of an anonymized log against its original, in one call.

In: two logs. Out: a `Utility`, exact and deterministic. The figures are computed from the original and therefore
confidential: they are for the custodian, never part of what is published. `docs/measures.md` defines each one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import DAY
from libra.eventlog.log import HOUR, EventLog, empty_log
from libra.measures.attributes import Association, AttributeFigures, AttributesKept, attribute_figures
from libra.measures.distances import Floats, Integers, SortedPair, total_variation, wasserstein
from libra.measures.edges import PairedEdges, common_codes, pair_edges, shared_edges
from libra.measures.within_cases import InBoth, Overlaps, WithinCases, decades, instance_figures, within_cases

if TYPE_CHECKING:
    from libra.measures.risk import ReleaseRisk


@dataclass(frozen=True)
class Baseline:
    """What an empty log would score on the paper's two measures: the values to beat."""

    emd_freq: float
    emd_time: float


@dataclass(frozen=True)
class FreshSample:
    """What a fresh sample of the original scores, which is like it but for chance; None where not defined."""

    edge_time_share_l1: float | None
    edge_duration_p90_log: float | None
    path_duration_eta2: float | None
    cooccurrence_slope: float | None
    pair_duration_correlation: float | None


@dataclass(frozen=True)
class Utility:
    """How far an anonymized log is from its original. None means: not defined here.

    Every figure is 0 for equal logs, but for `cooccurrence_slope` and those of edges that are shared (`SHARES_KEPT`), which are
    1, and for those that have a value for each log (`IN_BOTH`).
    """

    emd_freq: float  # the paper's EMD Freq, in occurrences
    emd_time: float  # the paper's EMD Time, in hours
    dfg_l1: float | None  # summed differences of directly-follows frequencies, as a share of the original's
    dfg_tv: float  # total variation of the directly-follows frequencies
    edge_precision: float | None  # of the anonymized log's distinct edges, first and last activities, the share the original has
    edge_recall: float | None  # of the original's, the share that the anonymized log has
    edge_recall_weighted: float | None  # the same, each counted as often as the original uses it
    variant_tv: float  # total variation of the variants' shares of cases
    unseen_variant_share: float  # of anonymized cases, whose variant never occurs in the original
    length_w1: float  # Wasserstein-1 distance of trace lengths, in events
    case_duration_w1_hours: float  # of case durations
    edge_duration_w1_hours: float | None  # of step durations, the mean over the original's edges
    edge_duration_w1_relative: float | None  # the same, divided by the original's mean absolute step duration
    edge_duration_w1_log: float | None  # the same on log10(1 + seconds)
    arrival_w1_days: float | None  # of the cases' start times
    empty: Baseline
    edge_time_share_l1: float | None = None  # summed differences of the edges' shares of all time between steps, from 0 to 2
    edge_duration_p90_log: float | None = None  # of the 90th percentile of step durations, like `edge_duration_w1_log`
    path_eta2_difference: float | None = None  # of the shares of the variance of case durations that the variant explains
    path_duration_eta2: InBoth = field(default_factory=InBoth)  # these shares
    cooccurrence_slope: float | None = None  # of the correlations of activities on the original's: 1 if all is kept
    pair_correlation_difference: float | None = None  # of the correlations of the durations of consecutive steps
    pair_duration_correlation: InBoth = field(default_factory=InBoth)  # these correlations
    service_time_w1_log: float | None = None  # of service times on log10(1 + seconds), the mean over activities
    waiting_time_w1_log: float | None = None  # of waiting times on log10(1 + seconds), the mean over the original's edges
    overlap_share: float | None = None  # difference of the shares of steps to an instance that starts before the last one ends
    overlaps: Overlaps | None = None  # these shares
    attribute_tv: float | None = None  # total variation of the values of an attribute of cases, the mean over these
    attribute_pair_tv: float | None = None  # of two of them together, the mean over pairs
    attribute_activity_tv: float | None = None  # of one and whether the case has an activity, the mean over both
    attribute_activity_tv_given: float | None = None  # the same, with the original's shares of cases with the activity
    attribute_duration_tv: float | None = None  # of one and the quartile of the case's duration, the mean over attributes
    association_l1: float | None = None  # differences of the original's strong associations, as a share of their summed strength
    number_w1_relative: float | None = None  # of numbers of cases, divided by the original's mean deviation from the median
    event_attribute_tv: float | None = None  # of activity and value, the mean over attributes of events
    handover_tv: float | None = None  # of value and next value in a case, the mean over those of them that are categories
    attributes: tuple[AttributeFigures, ...] = ()  # each attribute by itself
    associations: tuple[Association, ...] = ()  # of attributes of cases, the strongest of the original
    sample: FreshSample | None = None  # what a fresh sample scores; None where none was drawn
    risk: ReleaseRisk | None = None  # what an attacker gets from the anonymized log; None where it was not asked for
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)  # on how the logs were read and attacked

    def to_dict(self) -> dict[str, Any]:
        """The figures as `libra measure --json` prints them: no NaN, no infinity, None if undefined; sample, risk if asked."""
        figures = {name: value for name, value in asdict(self).items() if name != "notes"}
        figures |= {name: list(figures[name]) for name in LISTED}
        return {name: value for name, value in figures.items() if name not in IF_ASKED or value is not None}


LISTED = ("attributes", "associations")
IF_ASKED = ("sample", "risk")
IN_BOTH = ("path_duration_eta2", "pair_duration_correlation")  # a value for each log
FIGURES = tuple(
    one.name for one in fields(Utility) if one.name not in (*LISTED, *IN_BOTH, *IF_ASKED, "empty", "overlaps", "notes")
)
SHARES_KEPT = ("edge_precision", "edge_recall", "edge_recall_weighted")  # of which 1 is best
WITHIN_CASES = tuple(one.name for one in fields(WithinCases))  # defined if cases differ enough
OF_INSTANCES = ("service_time_w1_log", "waiting_time_w1_log", "overlap_share")  # defined if the original has starts
OF_ATTRIBUTES = tuple(one.name for one in fields(AttributesKept) if one.name in FIGURES)  # if both logs have some


def measure(original: EventLog, anonymized: EventLog, attributes: Sequence[Attribute] = ()) -> Utility:
    """Compare an anonymized log with its original; `attributes` is what is declared of some of them.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> measure(log, log).dfg_l1, measure(log, simulate(cases=40)).length_w1 > 0
        (0.0, True)
    """
    edges, against_nothing = pair_edges(original, anonymized), pair_edges(original, empty_log(original))
    variants, other_variants = paired_variants(original, anonymized).select("original", "anonymized").to_numpy().T
    duration, other_duration = (latest - earliest for earliest, latest in (original.case_spans, anonymized.case_spans))
    hours, relative, log, p90 = step_durations(edges)
    shared = shared_edges(original, anonymized, edges)
    return Utility(
        emd_freq=emd_freq(edges),
        emd_time=emd_time(edges),
        dfg_l1=dfg_l1(edges),
        dfg_tv=total_variation(edges.original.counts, edges.anonymized.counts),
        edge_precision=shared.precision,
        edge_recall=shared.recall,
        edge_recall_weighted=shared.recall_weighted,
        variant_tv=total_variation(variants, other_variants),
        unseen_variant_share=int(other_variants[variants == 0].sum()) / max(anonymized.n_cases, 1),
        length_w1=wasserstein(np.diff(original.case_offsets), np.diff(anonymized.case_offsets)),
        case_duration_w1_hours=wasserstein(duration, other_duration) / HOUR,
        edge_duration_w1_hours=hours,
        edge_duration_w1_relative=relative,
        edge_duration_w1_log=log,
        arrival_w1_days=arrival_w1_days(original, anonymized),
        empty=Baseline(emd_freq(against_nothing), emd_time(against_nothing)),
        edge_time_share_l1=edge_time_share_l1(edges),
        edge_duration_p90_log=p90,
        **vars(within_cases(original, anonymized)),
        **vars(instance_figures(original, anonymized, edges)),
        **vars(attribute_figures(original, anonymized, attributes)),
    )


def emd_freq(pair: PairedEdges) -> float:
    """The paper's EMD Freq: earth mover's distance of the directly-follows frequencies, as its authors compute it.

    Like `emd_time` it compares two *sets of numbers*, one number an edge, over the edges that either log uses (an edge that a
    log lacks has the number 0). Which edge carries which number makes no difference and nothing is normalised, so an empty log
    scores the mean of the original's numbers. Read both beside that value and beside the figures by label.
    """
    return _emd(pair.original.counts, pair.anonymized.counts)


def emd_time(pair: PairedEdges) -> float:
    """The paper's EMD Time: earth mover's distance of the summed whole hours that the edges took."""
    return _emd(pair.original.hours, pair.anonymized.hours)


def _emd(one: Integers, other: Integers) -> float:
    """Of two sets of equally many numbers: the mean difference of the sorted values."""
    return float(np.abs(np.sort(one) - np.sort(other)).mean()) if len(one) else 0.0


def dfg_l1(pair: PairedEdges) -> float | None:
    """The sum of all differences in directly-follows frequency, as a share of the original's frequencies.

    None where the original has no edge and the anonymized log has some: nothing to take a share of.
    """
    differences, size = int(np.abs(pair.original.counts - pair.anonymized.counts).sum()), int(pair.original.counts.sum())
    return differences / size if size else None if differences else 0.0


def edge_time_share_l1(pair: PairedEdges) -> float:
    """The sum of all differences in the edges' shares of the time between steps, where negative durations take no time.

    0 where neither log takes any time, and 2, the most that it can be, where one of them does.
    """
    times = [
        np.bincount(use.step_edge, use.step_micros.clip(min=0), minlength=len(use.counts))
        for use in (pair.original, pair.anonymized)
    ]
    totals = [float(of_edges.sum()) for of_edges in times]
    if not all(totals):
        return 2.0 if any(totals) else 0.0
    share, other_share = (of_edges / total for of_edges, total in zip(times, totals, strict=True))
    return min(float(np.abs(share - other_share).sum()), 2.0)


def paired_variants(original: EventLog, anonymized: EventLog) -> pl.DataFrame:
    """Every variant that either log has (its `trace` as places among `common_labels`), with the cases that follow it in each."""
    both = []
    for i, (log, codes) in enumerate(zip((original, anonymized), common_codes(original, anonymized), strict=True)):
        recoded = pl.element().replace_strict(np.arange(len(codes)), codes, return_dtype=pl.UInt32)
        trace, count = pl.col("trace").list.eval(recoded), pl.col("count")
        both.append(log.variants.traces.select(trace, original=count * (1 - i), anonymized=count * i))
    return pl.concat(both).group_by("trace", maintain_order=True).agg(pl.col("original", "anonymized").sum())


def arrival_w1_days(original: EventLog, anonymized: EventLog) -> float | None:
    """Wasserstein-1 distance of the days on which cases start; None where exactly one log has no case."""
    if bool(original.n_cases) != bool(anonymized.n_cases):
        return None
    return wasserstein(original.case_spans[0], anonymized.case_spans[0]) / DAY


def step_durations(pair: PairedEdges) -> tuple[float | None, float | None, float | None, float | None]:
    """How far the durations of the steps are apart, edge by edge, averaged with the original's edge counts as weights.

    In hours; divided by the original's mean absolute step duration, so that an empty log scores 1 (None where that mean is zero
    and the distance is not); on the scale log10(1 + seconds), negative durations taken as zero; and on that scale between their
    90th percentiles alone. An edge that the anonymized log lacks counts as if all its steps took no time there; an edge that only
    the anonymized log has does not count. All figures are 0 where neither log has an edge, and None where only the original has
    none.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=20)
        >>> round(step_durations(pair_edges(log, empty_log(log)))[1], 9)
        1.0
    """
    original, together = pair.original, pair.sorted_steps()
    if not len(original.step_edge):
        nothing = None if len(pair.anonymized.step_edge) else 0.0
        return nothing, nothing, nothing, nothing

    def mean_over_edges(distances: Floats) -> float:
        return float(distances @ original.counts / original.counts.sum())

    hours = mean_over_edges(together.distances(together.values)) / HOUR
    log = mean_over_edges(log_distances(together))
    mean_step = float(np.abs(original.step_micros).mean()) / HOUR
    relative = hours / mean_step if mean_step else (None if hours else 0.0)
    p90, other_p90 = map(decades, together.percentiles(90))
    return hours, relative, log, mean_over_edges(np.abs(p90 - other_p90))


def log_distances(steps: SortedPair) -> Floats:
    """Per edge how far the durations of its steps are apart on log10(1 + seconds), negative ones taken as zero."""
    return steps.distances(decades(steps.values))
