"""The charts of a report, from its facts and a certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from libra.certificate.page import spent_by_topic
from libra.reporting.bars import budget_bar, gauge, paired_bars
from libra.reporting.charts import dotted_chart, heat_map, histogram_pair, line_pair
from libra.reporting.drawing import Chart
from libra.reporting.facts.aspects import Aspect, days, factor, hours
from libra.reporting.facts.facts import Facts
from libra.reporting.facts.histograms import Histogram
from libra.reporting.numbers import count, duration, number, share
from libra.reporting.text import shown, shown_apart

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = tuple(f"{hour}" for hour in range(24))
LABEL = 40  # characters of an activity in a caption
Log = Literal["original", "anonymized"]
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
    """Draw all that a report has.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.reporting.facts.facts import facts_of
        >>> from libra.reporting.facts.pair import Pair
        >>> drawn = drawn_of(facts_of(Pair(None, simulate(cases=50))), None)
        >>> drawn.lengths.title, len(drawn.hours)
        ('Events in a case', 1)
    """
    called = shown_apart([label for one in facts.step_durations for label in (one.source, one.target)], LABEL)
    return Drawn(
        budget=budget_of(document),
        gauges={aspect.key: _gauge(aspect) for aspect in facts.aspects},
        lengths=_histogram("Events in a case", facts.lengths, "cases", number),
        case_durations=_histogram("Duration of a case", facts.case_durations, "cases", duration) if facts.has_times else None,
        steps=tuple(
            _histogram(f"{called[one.source]} → {called[one.target]}", one.histogram, "steps", duration, "small")
            for one in facts.step_durations
        ),
        arrivals=_arrivals(facts),
        hours=tuple(_hours(facts)),
        dots=tuple(_dots(facts)),
        attributes=tuple(_attributes(facts)),
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
    return budget_bar(
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
    return gauge(aspect.title, aspect.value, sample=aspect.sample, empty=aspect.empty, words=words_of(aspect))


def _histogram(
    title: str, facts: Histogram, unit: str, words: Callable[[float | None], str], size: Literal["wide", "small"] = "wide"
) -> Chart:
    chart = histogram_pair(title, facts.labels, facts.original, facts.anonymized, ticks=facts.ticks, unit=unit, size=size)
    median = _both(facts.median_original, facts.median_anonymized, facts, words)
    mean = _both(facts.mean_original, facts.mean_anonymized, facts, words)
    return replace(chart, note=f"Median: {median}. Mean: {mean}.")


def _both(before: float | None, after: float | None, facts: Histogram, words: Callable[[float | None], str]) -> str:
    """A figure of the original, if it is shown, and of the anonymized log."""
    original = [("original", before)] if facts.original is not None else []
    return ", ".join(f"{words(figure)} ({log})" for log, figure in (*original, ("anonymized", after)))


def _arrivals(facts: Facts) -> Chart | None:
    series = facts.arrivals
    if not series.starts:
        return None
    title = f"Cases that begin, by {series.every}"
    chart = line_pair(title, series.starts, series.original, series.anonymized, every=series.every, unit="cases")
    outside = {"original": series.outside_original, "anonymized": series.outside_anonymized}
    said = " and ".join(f"{count(cases)} ({log})" for log, cases in outside.items() if cases)
    return replace(chart, note=f"Far from all others, and not drawn: {said}.") if said else chart


def _logs(facts: Facts) -> tuple[Log, ...]:
    return ("anonymized",) if facts.public else ("original", "anonymized")


def _hours(facts: Facts) -> list[Chart]:
    found = facts.hours
    if not found.most:
        return []
    whose = "as the log has them" if found.time_zone is None else f"in {found.time_zone}"
    charts = (
        heat_map(f"Events by hour, {log}", DAYS, HOURS, getattr(found, log), most=found.most, unit="of all events", written=share)
        for log in _logs(facts)
    )
    return [replace(chart, note=f"Hours {whose}.") for chart in charts]


def _dots(facts: Facts) -> list[Chart]:
    found = facts.dots
    if not found.most:
        return []
    return [
        dotted_chart(
            f"Events over cases, {log}",
            getattr(found, log),
            most=found.most,
            columns=found.x_ticks,
            rows=found.y_ticks,
            x_name="time since the case began",
            y_name="cases",
            series=log,
        )
        for log in _logs(facts)
    ]


def _attributes(facts: Facts) -> list[Chart]:
    return [
        paired_bars(
            shown(row.name, LABEL), values.names, values.original, values.anonymized, unit=f"of all {row.level}s", written=share
        )
        for row in facts.attributes
        if (values := row.values) is not None
    ]
