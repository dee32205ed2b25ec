"""All facts of a report in one call: plain aggregates of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libra.eventlog.options import Progress, no_progress
from libra.measures.risk.certified import Certified
from libra.reporting.facts.aspects import Aspect, Verdict, aspects_of, overall, summary_of
from libra.reporting.facts.calendar import Dots, HourOfWeek, Series, arrivals, dotted, hours_of_week
from libra.reporting.facts.histograms import EdgeHistogram, Histogram, case_durations, step_durations, trace_lengths
from libra.reporting.facts.pair import Pair, Sizes, sizes_of
from libra.reporting.facts.risk import RiskFacts, risk_of
from libra.reporting.facts.tables import (
    AttributeRow,
    EdgeTable,
    VariantTable,
    attribute_count,
    attributes_of,
    edge_table,
    top_variants,
)
from libra.reporting.facts.warnings import (
    Warning,  # noqa: A004  # the word of the page; nothing is raised here
    warnings_of,
)
from libra.reporting.facts.yardsticks import Yardsticks, yardsticks_of


@dataclass(frozen=True)
class Facts:
    """What a report says."""

    public: bool  # whether only the anonymized log is shown
    empty: bool  # whether the anonymized log has no case
    has_times: bool  # whether its timestamps mean anything; otherwise nothing that is about its times should be shown
    original: Sizes | None  # the original's sizes; None in public mode
    anonymized: Sizes  # the anonymized log's sizes
    # all figures of `libra measure`, and those of a sample and of an empty log; None in public mode
    yardsticks: Yardsticks | None
    aspects: tuple[Aspect, ...]  # what is kept, aspect by aspect; none in public mode
    overall: Verdict  # one verdict for all of it
    summary: str  # what the log is good for, in a few words; empty in public mode
    variants: VariantTable  # the most frequent variants
    lengths: Histogram  # trace lengths
    case_durations: Histogram  # how long cases take
    step_durations: tuple[EdgeHistogram, ...]  # how long the steps of the heaviest edges take
    edges: EdgeTable  # all edges, up to a limit
    arrivals: Series  # when cases start
    hours: HourOfWeek  # at which hours of the week things happen
    dots: Dots  # how far along cases are when events happen
    attributes: tuple[AttributeRow, ...]  # the attributes, up to a limit
    attributes_left_out: int  # how many more there are
    risk: RiskFacts | None  # what an attacker finds; None in public mode and where it was not asked for
    warnings: tuple[Warning, ...]  # what not to conclude


def facts_of(
    pair: Pair,
    *,
    certificate: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    has_times: bool = True,
    time_zone: str | None = None,
    with_risk: bool = True,
    certified: Certified | None = None,
    progress: Progress = no_progress,
) -> Facts:
    """Compute all facts.

    Args:
        pair: The logs; without an original in public mode.
        certificate: The certificate of the anonymized log.
        notes: What the release says of itself.
        has_times: Whether the anonymized log's timestamps mean anything.
        time_zone: Whose hours and weekdays to show.
        with_risk: Whether to assess the risk, which takes longer than all else.
        certified: The mechanism, if membership is to be attacked, which takes minutes.
        progress: Called with the rounds of that attack done and the rounds in all.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> facts_of(Pair(log, log), with_risk=False).overall, facts_of(Pair(None, log)).aspects
        ('kept', ())
    """
    yardsticks = yardsticks_of(pair)
    aspects = aspects_of(pair, yardsticks, has_times=has_times)
    attributes = attributes_of(pair)
    return Facts(
        public=pair.is_public,
        empty=not pair.anonymized.n_cases,
        has_times=has_times,
        original=None if pair.original is None else sizes_of(pair.original),
        anonymized=sizes_of(pair.anonymized),
        yardsticks=yardsticks,
        aspects=aspects,
        overall=overall(aspects),
        summary=summary_of(aspects),
        variants=top_variants(pair),
        lengths=trace_lengths(pair),
        case_durations=case_durations(pair),
        step_durations=step_durations(pair),
        edges=edge_table(pair, has_times=has_times),
        arrivals=arrivals(pair),
        hours=hours_of_week(pair, time_zone),
        dots=dotted(pair),
        attributes=attributes,
        attributes_left_out=attribute_count(pair) - len(attributes),
        risk=risk_of(pair, certified, progress) if with_risk else None,
        warnings=warnings_of(pair, aspects, certificate, notes=notes, has_times=has_times),
    )
