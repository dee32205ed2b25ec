"""The words, tables and charts of a report, from its facts, the promise and the certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from markupsafe import escape

from libra.certificate.page import TRUSTED, TWO_GROUPS, parameters_of, protected, spent_by_topic
from libra.engines.contract import CASE
from libra.engines.control_flow_tables import BaseEdges
from libra.errors import LibraError
from libra.measures.risk.words import KNOWN, whose_variant
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.algorithm import WOULD_HELP, noise_on_edges
from libra.mechanisms.libra.expected import Expected
from libra.privacy.guarantee import NOT_COVERED, RELEASE_ONCE, several_cases
from libra.reporting import charts
from libra.reporting.commands import Names, commands_of
from libra.reporting.drawing import Chart
from libra.reporting.facts import Facts
from libra.reporting.facts.aspects import Aspect, Figure, Written, factor
from libra.reporting.facts.distributions import Histogram
from libra.reporting.facts.risk import RiskRow
from libra.reporting.facts.verdicts import BOUNDS, MEANINGS, TONES, missing_of
from libra.reporting.numbers import count, duration, number, of_hundred, share
from libra.reporting.officer import officer_of
from libra.reporting.promise import Promise
from libra.reporting.text import shown, shown_apart

ADD_UP = NOT_COVERED[1]  # asked by the officer
LABEL, CAPTION = 32, 40  # characters of an activity in a variant, and in a caption
LONGEST = 300  # characters of a parameter
SIZES = ("cases", "events", "activities", "edges", "variants")


def notes_of(document: Mapping[str, Any] | None) -> Iterator[str]:
    """The notes of a certificate; none where there is no certificate."""
    said = document or {}
    runs, entries = said.get("subsampling"), (one for one in said.get("ledger", ()) if one["purpose"] == BaseEdges.purpose)
    if runs is not None:
        for entry in islice(entries, 1):
            certain = said.get("parameters", {}).get("edges") == "certain"
            yield noise_on_edges(entry["noise"] / (runs["rate"] * runs["times"]), certain=certain)


def what_survives(document: Mapping[str, Any] | None) -> Iterator[str]:
    """How many cases a variant needs to come out, where the mechanism has such a plan: for whoever got an empty log."""
    if document is None or document["mechanism"] != Libra.name:
        return
    try:
        made = Libra(**document["parameters"])
    except LibraError:
        return
    individuals = document["guarantee"]["unit"] != CASE.statement()
    yield (made.for_individuals() if individuals else made).plan.survives()
    yield WOULD_HELP


def said_of(facts: Facts, promise: Promise, document: Mapping[str, Any] | None, names: Names) -> dict[str, Any]:
    """All that the template prints beside facts and charts."""
    risk_rows = [] if facts.risk is None else facts.risk.rows
    return {
        "tones": TONES,
        "meanings": MEANINGS,
        "missing": "" if facts.missing is None else missing_of(facts.missing),
        "officer": None if facts.public else officer_of(facts, promise, document, names),
        "who": promise.unit.partition(",")[0] or "one case",
        "spending": _spending(document) if promise.holds else [],
        "has_to_hold": [] if document is None or not facts.public else [*document["guarantee"]["assumptions"], TRUSTED],
        "caveats": [] if document is None else _caveats(document["guarantee"], public=facts.public),
        "protected": protected(document["guarantee"]) if document is not None and promise.holds else "",
        "release_once": RELEASE_ONCE,
        "expected": _expected(document),
        "sizes": {
            name: Figure(f"sizes.anonymized.{name}", size := getattr(facts.anonymized, name), count(size), "") for name in SIZES
        },
        "edge_rows": _edge_rows(facts),
        "called": shown_apart([label for row in facts.variants.rows for label in row.trace], LABEL),
        "attribute_rows": _attribute_rows(facts),
        "association_rows": [
            (
                shown(one.attribute),
                f"has {shown(one.other)}" if one.is_activity else shown(one.other),
                f"{one.original:.2f}",
                f"{one.anonymized:.2f}",
            )
            for one in facts.associations
        ],
        "risk_rows": [_risk(row) for row in risk_rows],
        "essential_rows": [_risk(row) for row in risk_rows if row.essential],
        "membership_rows": _membership(facts),
        "parameter_rows": [] if document is None else _parameters(document),
        "commands": {name: escape(line) for name, line in commands_of(document, names, public=facts.public).items()},
    }


def _expected(document: Mapping[str, Any] | None) -> str:
    """How far the log is likely off, where its certificate says so."""
    if document is None or "expected" not in document or not document["cases"]:
        return ""
    found = Expected.from_dict(document["expected"])
    return f"{found.sentence} {found.warning}".strip()


def _caveats(guarantee: Mapping[str, Any], *, public: bool) -> list[str]:
    """What is not promised; of what the officer is asked, nothing is said twice."""
    asked = () if public or guarantee["kind"] != "proved" else (ADD_UP, several_cases(guarantee["epsilon"], guarantee["delta"]))
    return [one for one in guarantee["caveats"] if one not in asked]


def _spending(document: Mapping[str, Any] | None) -> list[str]:
    if document is None or "spent" not in document:
        return []
    spent = document["spent"]
    total = f"Total according to the privacy accountant: epsilon {spent['epsilon']:.4g} at delta {spent['delta']:g}."
    groups = {part.group for part in spent_by_topic(document) or ()}
    return [TWO_GROUPS, total] if {"kept", "tail"} <= groups else [total]


def _edge_rows(facts: Facts) -> list[tuple[str, ...]]:
    called = shown_apart([label for row in facts.edges.rows for label in (row.source, row.target)])
    rows = []
    for row in facts.edges.rows:
        counts = [row.count_original, row.count_anonymized]
        times = [row.mean_original, row.mean_anonymized, row.median_original, row.median_anonymized]
        if facts.public:
            counts, times = counts[1:], times[1::2]
        told = [*map(duration, times), *([] if facts.public else [factor(row.w1_log)])] if facts.has_times else []
        rows.append((called[row.source], called[row.target], *map(count, counts), *told))
    return rows


def _attribute_rows(facts: Facts) -> list[tuple[str, ...]]:
    rows = []
    for row in facts.attributes:
        original = [] if facts.public else [share(row.filled_original)]
        released = "not released" if row.filled_anonymized is None else share(row.filled_anonymized)
        rows.append((shown(row.name), row.level, row.type, *original, released))
    return rows


def _risk(row: RiskRow) -> tuple[str, ...]:
    figures = (row.before, row.after, row.by_chance, row.same, row.same_by_chance)
    return (KNOWN[row.knowledge], "all" if row.events is None else count(row.events), *map(of_hundred, figures))


def _membership(facts: Facts) -> list[tuple[str, str, str]]:
    if facts.risk is None or facts.risk.membership is None:
        return []
    found = facts.risk.membership
    rows = [("all", found.advantage), *((whose_variant(group), group.advantage) for group in found.groups)]
    return [(who, f"{one.value:.3f}", f"{one.lowest:.3f} to {one.highest:.3f}") for who, one in rows]


def _parameters(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("mechanism", str(document["mechanism"])),
        *parameters_of(document["parameters"]),
        ("holds", str(document["contents"])),
        ("randomness", str(document["randomness"])),
        ("issued", f"{document['issued']}, by Libra {document['version']}"),
    ]
    return [(shown(name, LONGEST), shown(value, LONGEST)) for name, value in rows]


def drawn_of(facts: Facts, document: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every chart of a report by its name in the template; None or empty where there is nothing to draw."""
    called = shown_apart([label for source, target, _ in facts.step_durations for label in (source, target)], CAPTION)
    logs: tuple[charts.Log, ...] = ("anonymized",) if facts.public else ("original", "anonymized")
    week, dots = facts.hours, facts.dots
    whose = "Hours as the log has them." if week.time_zone is None else f"Hours in {week.time_zone}."
    weeks = [charts.week_map(f"Events by hour, {log}", getattr(week, log), most=week.most) for log in logs if week.most]
    return {
        "budget": budget_of(document),
        "gauges": {aspect.key: _gauge(aspect) for aspect in facts.aspects},
        "lengths": _histogram("Events in a case", facts.lengths, "cases", number),
        "case_durations": _histogram("Duration of a case", facts.case_durations, "cases", duration) if facts.has_times else None,
        "steps": tuple(
            _histogram(f"{called[source]} → {called[target]}", found, "steps", duration, "small")
            for source, target, found in facts.step_durations
        ),
        "arrivals": _arrivals(facts),
        "hours": tuple(replace(chart, note=whose) for chart in weeks),
        "dots": tuple(
            charts.dotted_chart(f"Events over cases, {log}", getattr(dots, log), most=dots.most, ticks=dots.ticks, series=log)
            for log in logs
            if dots.most and len(dots.anonymized) > 1  # one row is no picture
        ),
        "attributes": tuple(
            charts.paired_bars(
                shown(row.name, CAPTION), values.names, values.original, values.anonymized, unit=f"of all {row.level}s"
            )
            for row in facts.attributes
            if (values := row.values) is not None
        ),
    }


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


def _gauge(aspect: Aspect) -> Chart | None:
    loss = aspect.loss
    return None if loss.share is None else charts.gauge(aspect.title, loss.share, sample=loss.sample, bounds=dict(BOUNDS))


def _histogram(title: str, facts: Histogram, unit: str, words: Written, size: charts.Size = "wide") -> Chart:
    chart = charts.histogram_pair(title, facts.labels, facts.original, facts.anonymized, ticks=facts.ticks, unit=unit, size=size)
    median, mean = (
        f"{'' if facts.original is None else f'{words(before)} (original), '}{words(after)} (anonymized)"
        for before, after in ((facts.median_original, facts.median_anonymized), (facts.mean_original, facts.mean_anonymized))
    )
    note = f"Median: {median}. Mean: {mean}."
    return replace(chart, note=note, svg=chart.svg if len(facts.labels) > 1 else "")  # one bin is no picture


def _arrivals(facts: Facts) -> Chart | None:
    series = facts.arrivals
    if not series.starts:
        return None
    title = f"Cases that begin, by {series.every}"
    chart = charts.line_pair(title, series.starts, series.original, series.anonymized, every=series.every)
    outside = {"original": series.outside_original, "anonymized": series.outside_anonymized}
    said = " and ".join(f"{count(cases)} ({log})" for log, cases in outside.items() if cases)
    chart = replace(chart, svg="", note=f"All begin in one {series.every}.") if len(series.starts) == 1 else chart
    return replace(chart, note=f"Far from all others, and not drawn: {said}.") if said else chart
