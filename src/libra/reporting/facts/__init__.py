"""All facts of a report in one call: plain aggregates of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libra.certificate.content import attributes_of
from libra.eventlog.options import Progress, no_progress
from libra.measures.attributes import Association
from libra.measures.risk.membership import Certified
from libra.reporting.facts import distributions, tables
from libra.reporting.facts.aspects import Aspect, aspects_of
from libra.reporting.facts.distributions import Dots, Histogram, HourOfWeek, Series
from libra.reporting.facts.pair import Pair, Sizes, sizes_of
from libra.reporting.facts.risk import RiskFacts, risk_of
from libra.reporting.facts.tables import AttributeRow, EdgeTable, VariantTable
from libra.reporting.facts.verdicts import Absent, Missing, Verdict, good_of, lost_of, overall, summary_of
from libra.reporting.facts.warnings import Caution, warnings_of
from libra.reporting.facts.yardsticks import yardsticks_of

OF_EVENTS = "associations of event attributes"


@dataclass(frozen=True)
class Facts:
    """What a report says."""

    public: bool  # whether only the anonymized log is shown
    empty: bool  # whether the anonymized log has no case
    has_times: bool  # whether its timestamps mean anything; otherwise nothing that is about its times should be shown
    anonymized: Sizes  # the anonymized log's sizes
    aspects: tuple[Aspect, ...]  # what is kept, aspect by aspect; none in public mode
    overall: Verdict  # one verdict for all of it
    good: str  # whether the log is any good, in a few words
    missing: Missing | None  # activities and steps that did not come out, or that nobody took; None in public mode
    absent: tuple[Absent, ...]  # attributes that were not released
    summary: str  # what the log is good for, in a few words; empty in public mode
    variants: VariantTable
    lengths: Histogram
    case_durations: Histogram
    step_durations: tuple[tuple[str, str, Histogram], ...]  # of the heaviest edges: from which activity to which
    edges: EdgeTable  # up to a limit
    arrivals: Series
    hours: HourOfWeek
    dots: Dots
    released: tuple[str, ...]  # the names of all attributes of the anonymized log, as in a description
    attributes: tuple[AttributeRow, ...]  # up to a limit
    attributes_left_out: int  # how many more there are
    associations: tuple[Association, ...]  # the strongest of the original's attributes; none in public mode
    risk: RiskFacts | None  # what an attacker finds; None in public mode and where it was not asked for
    warnings: tuple[Caution, ...]  # what not to conclude


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

    `has_times` says whether the anonymized log's timestamps mean anything. The risk takes longer than all else; membership is
    attacked, which takes minutes, where the mechanism is given (`certified`), and `progress` hears of the rounds of that attack.
    """
    original, anonymized, absent = pair.original, pair.anonymized, tables.absent_of(pair)
    declared = attributes_of(certificate or {})
    by = None if original is None else yardsticks_of(original, anonymized, declared)
    aspects = () if original is None or by is None else aspects_of(original, anonymized, by, has_times=has_times)
    together = overall({aspect.key: aspect.verdict for aspect in aspects})
    analyses, lost = [one for aspect in aspects for one in aspect.analyses], lost_of(declared)
    if by is not None and not lost and len(by.anonymized.attributes) > 1 and by.anonymized.event_attribute_tv is not None:
        analyses.append((OF_EVENTS, "unknown"))
    missing, empty = None if by is None else by.found.missing, not anonymized.n_cases
    attributes = tables.attributes_of(pair, declared)
    return Facts(
        public=pair.is_public,
        empty=empty,
        has_times=has_times,
        anonymized=sizes_of(pair.anonymized),
        aspects=aspects,
        overall=together,
        good=good_of(together, missing, absent, empty=empty),
        missing=missing,
        absent=absent,
        summary=summary_of(analyses, absent, lost),
        variants=tables.top_variants(pair),
        lengths=distributions.trace_lengths(pair),
        case_durations=distributions.case_durations(pair),
        step_durations=distributions.step_durations(pair),
        edges=tables.edge_table(pair, has_times=has_times),
        arrivals=distributions.arrivals(pair),
        hours=distributions.hours_of_week(pair, time_zone),
        dots=distributions.dotted(pair),
        released=tables.released_names(anonymized),
        attributes=attributes,
        attributes_left_out=len(tables.attribute_names(pair)) - len(attributes),
        associations=() if by is None else by.anonymized.associations,
        risk=risk_of(pair, certified, progress) if with_risk else None,
        warnings=warnings_of(pair, certificate, notes=notes, has_times=has_times),
    )
