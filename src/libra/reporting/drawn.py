"""The charts of a report, from its facts and a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from libra.certificate.page import spent_by_topic
from libra.reporting import charts
from libra.reporting.drawing import Chart
from libra.reporting.facts import Facts
from libra.reporting.facts.aspects import Aspect, days, factor, hours
from libra.reporting.facts.distributions import Histogram
from libra.reporting.numbers import count, duration, number, share
from libra.reporting.text import shown, shown_apart

LABEL = 40  # characters of an activity in a caption
WORDS: dict[str, Callable[[float], str]] = {
    "lengths": lambda events: f"{number(events)} events",
    "step_durations": factor,
    "case_durations": hours,
    "arrivals": days,
}


@dataclass(frozen=True)
class Drawn:
    """Every chart of a report; None or empty where there is nothing to draw."""

    budget: Chart | None
    gauges: Mapping[str, Chart | None]
    lengths: Chart
    case_durations: Chart | None
    steps: tuple[Chart, ...]
    arrivals: Chart | None
    hours: tuple[Chart, ...]
    dots: tuple[Chart, ...]
    attributes: tuple[Chart, ...]


def drawn_of(facts: Facts, document: Mapping[str, Any] | None) -> Drawn:
    """Draw all that a report has."""
    called = shown_apart([label for source, target, _ in facts.step_durations for label in (source, target)], LABEL)
    logs: tuple[charts.Log, ...] = ("anonymized",) if facts.public else ("original", "anonymized")
    week, dots = facts.hours, facts.dots
    whose = "Hours as the log has them." if week.time_zone is None else f"Hours in {week.time_zone}."
    weeks = [charts.week_map(f"Events by hour, {log}", getattr(week, log), most=week.most) for log in logs if week.most]
    return Drawn(
        budget=budget_of(document),
        gauges={aspect.key: _gauge(aspect) for aspect in facts.aspects},
        lengths=_histogram("Events in a case", facts.lengths, "cases", number),
        case_durations=_histogram("Duration of a case", facts.case_durations, "cases", duration) if facts.has_times else None,
        steps=tuple(
            _histogram(f"{called[source]} → {called[target]}", found, "steps", duration, "small")
            for source, target, found in facts.step_durations
        ),
        arrivals=_arrivals(facts),
        hours=tuple(replace(chart, note=whose) for chart in weeks),
        dots=tuple(
            charts.dotted_chart(f"Events over cases, {log}", getattr(dots, log), most=dots.most, ticks=dots.ticks, series=log)
            for log in logs
            if dots.most
        ),
        attributes=tuple(
            charts.paired_bars(
                shown(row.name, LABEL), values.names, values.original, values.anonymized, unit=f"of all {row.level}s"
            )
            for row in facts.attributes
            if (values := row.values) is not None
        ),
    )


def budget_of(document: Mapping[str, Any] | None) -> Chart | None:
    """How the budget of a proved guarantee was spent; None where that has no common share, or nothing is proved."""
    if document is None or document["guarantee"]["kind"] != "proved":
        return None
    parts = spent_by_topic(document)
    if parts is None:
        return None
    kept, tail = ([part for part in parts if part.group == group] for group in ("kept", "tail"))
    dearer, other = (kept, tail) if sum(part.share for part in kept) >= sum(part.share for part in tail) else (tail, kept)
    counted = [part for part in parts if part.group == "all"] + dearer
    return charts.budget_bar(
        "How the privacy budget was spent",
        [(part.topic, part.share) for part in counted],
        left=max(1.0 - sum(part.share for part in counted), 0.0),
        alternative=[(part.topic, part.share) for part in other],
    )


def words_of(aspect: Aspect) -> Callable[[float], str]:
    """How the figure that an aspect is judged by is written."""
    return WORDS.get(aspect.key, share)


def _gauge(aspect: Aspect) -> Chart | None:
    if aspect.value is None or aspect.empty is None:
        return None
    return charts.gauge(aspect.title, aspect.value, sample=aspect.sample, empty=aspect.empty, words=words_of(aspect))


def _histogram(
    title: str, facts: Histogram, unit: str, words: Callable[[float | None], str], size: Literal["wide", "small"] = "wide"
) -> Chart:
    chart = charts.histogram_pair(title, facts.labels, facts.original, facts.anonymized, ticks=facts.ticks, unit=unit, size=size)
    median, mean = (
        f"{'' if facts.original is None else f'{words(before)} (original), '}{words(after)} (anonymized)"
        for before, after in ((facts.median_original, facts.median_anonymized), (facts.mean_original, facts.mean_anonymized))
    )
    return replace(chart, note=f"Median: {median}. Mean: {mean}.")


def _arrivals(facts: Facts) -> Chart | None:
    series = facts.arrivals
    if not series.starts:
        return None
    title = f"Cases that begin, by {series.every}"
    chart = charts.line_pair(title, series.starts, series.original, series.anonymized, every=series.every)
    outside = {"original": series.outside_original, "anonymized": series.outside_anonymized}
    said = " and ".join(f"{count(cases)} ({log})" for log, cases in outside.items() if cases)
    return replace(chart, note=f"Far from all others, and not drawn: {said}.") if said else chart
