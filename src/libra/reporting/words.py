"""The words and tables of a report, from its facts, the promise and the certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from markupsafe import escape

from libra.certificate.page import TRUSTED, TWO_GROUPS, parameters_of, protected, spent_by_topic
from libra.engines.contract import CASE
from libra.engines.control_flow_tables import BaseEdges
from libra.errors import LibraError
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.algorithm import WOULD_HELP, noise_on_edges
from libra.privacy.guarantee import RELEASE_ONCE
from libra.reporting.commands import Names, commands_of
from libra.reporting.drawn import words_of
from libra.reporting.facts import Facts
from libra.reporting.facts.aspects import MEANINGS, Figure, Verdict, factor
from libra.reporting.facts.risk import RiskRow
from libra.reporting.map_drawing import map_legend
from libra.reporting.numbers import MISSING, count, duration, share
from libra.reporting.promise import Promise, Tone
from libra.reporting.text import shown, shown_apart

TONES: dict[Verdict, Tone] = {"kept": "good", "close": "fair", "rough": "poor", "lost": "bad", "unknown": "none"}
GOOD: dict[Verdict, str] = {
    "kept": "Yes: most of it is as good as new",
    "close": "Yes: the picture is right, figures are a little off",
    "rough": "For the coarse shape: details are not right",
    "lost": "No: most of it is lost",
    "unknown": "That cannot be said",
}
NOTHING = "No: nothing came out, the log is empty"
LABEL = 32  # characters of an activity in a variant
LONGEST = 300  # characters of a parameter
SIZES = ("cases", "events", "activities", "edges", "variants")
CONTENTS = {
    "answers": "Answers",
    "guarantee": "Guarantee",
    "kept": "What is kept",
    "maps": "Process maps",
    "variants": "Variants",
    "lengths": "Cases",
    "steps": "Steps",
    "calendar": "Calendar",
    "attributes": "Attributes",
    "risk": "Risk",
    "warnings": "Warnings",
    "again": "Parameters",
}
NO_TIMES = "The timestamps of this log are placeholders and say nothing, so there is nothing to show here."
DOTS = (
    "Across: time since the case began. Down: cases in the order of their start, in groups of equal size. The area of a dot is "
    "the mean number of events of a case there; its first event is left out."
)
RISK_HEADINGS = (
    "somebody knows",
    "of events",
    "singled out before",
    "exactly one fits after",
    "that one has the same activities",
    "by chance",
    "and the same times",
    "by chance",
)


def notes_of(document: Mapping[str, Any] | None) -> Iterator[str]:
    """The notes of a certificate; none where there is no certificate."""
    said = document or {}
    runs, entries = said.get("subsampling"), (one for one in said.get("ledger", ()) if one["purpose"] == BaseEdges.purpose)
    if runs is not None:
        for entry in islice(entries, 1):
            yield noise_on_edges(entry["noise"] / (runs["rate"] * runs["times"]))


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
        "contents": _contents(facts),
        "tones": TONES,
        "meanings": MEANINGS,
        "who": promise.unit.partition(",")[0] or "one case",
        "no_times": NO_TIMES,
        "dots_said": DOTS,
        "legend": map_legend(facts.public),
        "spending": _spending(document) if promise.holds else [],
        "has_to_hold": [] if document is None else [*document["guarantee"]["assumptions"], TRUSTED],
        "protected": protected(document["guarantee"]) if document is not None and promise.holds else "",
        "release_once": RELEASE_ONCE,
        "sizes": {
            name: Figure(f"sizes.anonymized.{name}", size := getattr(facts.anonymized, name), count(size), "") for name in SIZES
        },
        "yardstick_rows": [
            (one.title, *(MISSING if figure is None else words_of(one)(figure) for figure in (one.value, one.sample, one.empty)))
            for one in facts.aspects
        ],
        "variants_said": _variants(facts),
        "edges_said": _edges(facts),
        "edge_headings": edge_headings(facts),
        "edge_rows": _edge_rows(facts),
        "called": shown_apart([label for row in facts.variants.rows for label in row.trace], LABEL),
        "attributes_said": _attributes(facts),
        "attribute_headings": ["attribute", "of", "type", *([] if facts.public else ["filled, original"]), "filled, anonymized"],
        "attribute_rows": _attribute_rows(facts),
        "risk_headings": RISK_HEADINGS,
        "risk_rows": [_risk(row) for row in risk_rows],
        "essential_rows": [_risk(row) for row in risk_rows if row.essential],
        "membership_rows": _membership(facts),
        "parameter_rows": [] if document is None else _parameters(document),
        "commands": {name: escape(line) for name, line in commands_of(document, names, public=facts.public).items()},
    }


def good_of(facts: Facts) -> str:
    """Whether the log is any good, in a few words."""
    return NOTHING if facts.empty else GOOD[facts.overall]


def _contents(facts: Facts) -> list[tuple[str, str]]:
    missing = {"kept": facts.public, "attributes": not facts.attributes, "risk": not facts.risk}
    return [(anchor, title) for anchor, title in CONTENTS.items() if not missing.get(anchor)]


def _spending(document: Mapping[str, Any] | None) -> list[str]:
    if document is None or "spent" not in document:
        return []
    spent = document["spent"]
    total = f"By the accountant, all together: epsilon {spent['epsilon']:.4g} at delta {spent['delta']:g}."
    groups = {part.group for part in spent_by_topic(document) or ()}
    return [TWO_GROUPS, total] if {"kept", "tail"} <= groups else [total]


def _variants(facts: Facts) -> str:
    found = facts.variants
    if not found.rows:
        return "There is no case."
    shown_here = f"The {count(len(found.rows) - found.unseen_shown)} most frequent variants"
    if found.variants_original is None:
        return f"{shown_here} of {count(found.variants_anonymized)}: {share(found.shown_share_anonymized)} of the cases."
    return (
        f"{shown_here} of the original, which {share(found.shown_share_original)} of its cases follow and "
        f"{share(found.shown_share_anonymized)} of the anonymized ones. The original has {count(found.variants_original)} "
        f"variants, the anonymized log {count(found.variants_anonymized)}. {share(found.unseen_share)} of the anonymized cases "
        f"follow a variant never seen in the original; {share(found.lost_share)} of the original's follow one that is missing."
    )


def _edges(facts: Facts) -> str:
    table = facts.edges
    if not table.left_out:
        return f"All {count(len(table.rows))} steps as a table"
    return (
        f"The {count(len(table.rows))} most frequent steps as a table; {count(table.left_out)} rarer ones, "
        f"{share(table.left_out_share)} of all steps, are left out"
    )


def edge_headings(facts: Facts) -> tuple[str, ...]:
    """What the columns of the table of edges are."""
    if facts.public:
        return ("from", "to", "times", *(("mean", "median") if facts.has_times else ()))
    times = ("mean, original", "anonymized", "median, original", "anonymized", "apart") if facts.has_times else ()
    return ("from", "to", "times, original", "anonymized", *times)


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


def _attributes(facts: Facts) -> str:
    held_back = sum(row.filled_anonymized is None for row in facts.attributes)
    more = f" {count(facts.attributes_left_out)} more are not listed." if facts.attributes_left_out else ""
    if facts.public:
        return f"What else the log says of its cases and events.{more}"
    if held_back == len(facts.attributes):
        return f"None of the original's attributes was released.{more}"
    return f"Of the attributes listed, {count(held_back)} were not released.{more}"


def _attribute_rows(facts: Facts) -> list[tuple[str, ...]]:
    rows = []
    for row in facts.attributes:
        original = [] if facts.public else [share(row.filled_original)]
        released = "not released" if row.filled_anonymized is None else share(row.filled_anonymized)
        rows.append((shown(row.name), row.level, row.type, *original, released))
    return rows


def _risk(row: RiskRow) -> tuple[str, ...]:
    told = (row.same_activities, row.same_activities_by_chance, row.same_gaps, row.same_gaps_by_chance)
    known = "all" if row.events is None else count(row.events)
    return (row.known, known, share(row.singled_out), share(row.once), *map(share, told))


def _membership(facts: Facts) -> list[tuple[str, str, str]]:
    if facts.risk is None or facts.risk.membership is None:
        return []
    rows = [("all", facts.risk.membership.advantage), *facts.risk.groups]
    return [(who, f"{found.value:.3f}", f"{found.lowest:.3f} to {found.highest:.3f}") for who, found in rows]


def _parameters(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("mechanism", str(document["mechanism"])),
        *parameters_of(document["parameters"]),
        ("holds", str(document["contents"])),
        ("randomness", str(document["randomness"])),
        ("issued", f"{document['issued']}, by Libra {document['version']}"),
    ]
    return [(shown(name, LONGEST), shown(value, LONGEST)) for name, value in rows]
