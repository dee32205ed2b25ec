"""All facts of a report in one call.

In: the logs, and what is known of how the anonymized one was made. Out: `Facts`, plain aggregates of bounded size. In public mode
everything that compares is None or empty, and nothing was computed from the original: it is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libra.eventlog.options import Progress, no_progress
from libra.measures.risk.certified import Certified
from libra.reporting.facts.aspects import Aspect, aspects_of, overall, summary_of
from libra.reporting.facts.attributes import AttributeRow, attribute_count, attributes_of
from libra.reporting.facts.calendar import HourOfWeek, Series, arrivals, hours_of_week
from libra.reporting.facts.dots import Dots, dotted
from libra.reporting.facts.durations import EdgeHistogram, case_durations, step_durations
from libra.reporting.facts.edges import EdgeTable, edge_table
from libra.reporting.facts.histogram import Histogram
from libra.reporting.facts.lengths import trace_lengths
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.risk import RiskFacts, risk_of
from libra.reporting.facts.sizes import Sizes, sizes_of
from libra.reporting.facts.variants import VariantTable, top_variants
from libra.reporting.facts.verdicts import Verdict
from libra.reporting.facts.warning import Warning  # noqa: A004  # the word of the page; nothing is raised here
from libra.reporting.facts.warnings import warnings_of
from libra.reporting.facts.yardsticks import Yardsticks, yardsticks_of


@dataclass(frozen=True)
class Facts:
    """What a report says.

    Attributes:
        public: Whether only the anonymized log is shown.
        empty: Whether the anonymized log has no case.
        has_times: Whether its timestamps mean anything; otherwise nothing that is about its times should be shown.
        original: The original's sizes; None in public mode.
        anonymized: The anonymized log's sizes.
        yardsticks: All figures of `libra measure`, and those of a sample and of an empty log; None in public mode.
        aspects: What is kept, aspect by aspect; none in public mode.
        overall: One verdict for all of it.
        summary: What the log is good for, in a few words; empty in public mode.
        variants: The most frequent variants.
        lengths: Trace lengths.
        case_durations: How long cases take.
        step_durations: How long the steps of the heaviest edges take.
        edges: All edges, up to a limit.
        arrivals: When cases start.
        hours: At which hours of the week things happen.
        dots: How far along cases are when events happen.
        attributes: The attributes, up to a limit.
        attributes_left_out: How many more there are.
        risk: What an attacker finds; None in public mode and where it was not asked for.
        warnings: What not to conclude.
    """

    public: bool
    empty: bool
    has_times: bool
    original: Sizes | None
    anonymized: Sizes
    yardsticks: Yardsticks | None
    aspects: tuple[Aspect, ...]
    overall: Verdict
    summary: str
    variants: VariantTable
    lengths: Histogram
    case_durations: Histogram
    step_durations: tuple[EdgeHistogram, ...]
    edges: EdgeTable
    arrivals: Series
    hours: HourOfWeek
    dots: Dots
    attributes: tuple[AttributeRow, ...]
    attributes_left_out: int
    risk: RiskFacts | None
    warnings: tuple[Warning, ...]


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
