"""The words, tables and commands of a report, from its facts, the promise and the certificate."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import escape

from libra.certificate.page import TRUSTED, TWO_GROUPS, protected, spent_by_topic
from libra.certificate.page import parameters_of as told_parameters
from libra.engines.control_flow_tables import BaseEdges
from libra.errors import LibraError
from libra.keywords import ReadKeywords
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.algorithm import WOULD_HELP, noise_on_edges
from libra.mechanisms.mechanism import mechanism, parameters_of
from libra.privacy.guarantee import RELEASE_ONCE
from libra.privacy.unit import CASE
from libra.reporting.drawn import words_of
from libra.reporting.facts.aspects import MEANINGS, Figure, Verdict, factor
from libra.reporting.facts.facts import Facts
from libra.reporting.facts.risk import RiskRow
from libra.reporting.facts.tables import EdgeRow
from libra.reporting.numbers import MISSING, count, duration, share
from libra.reporting.promise import Promise, Tone
from libra.reporting.style import map_legend
from libra.reporting.text import shown, shown_apart

FLAGS = ("epsilon", "delta")  # parameters that are flags of every mechanism
NOT_SAID = ("progress", "allow_empty")  # keywords that are no flags
LABELS = "labels.txt"  # a list of labels, which the command line takes as a file
AGAIN = "again-"  # before the names of what another release writes
LONGEST_COMMAND = 1_000  # characters of a command


@dataclass(frozen=True)
class Names:
    """What the files of a release are called, where they are files, and the flags that the original was read with.

    Nothing else of the machine that they are on.
    """

    original: str = ""
    anonymized: str = ""
    certificate: str = ""
    reading: tuple[str, ...] = ()


USUAL = Names("log.xes.gz", "anonymized.xes.gz", "certificate.json")


def reading_flags(keywords: ReadKeywords) -> tuple[str, ...]:
    """The flags that say what these keywords of `read` say.

    Example:
        >>> reading_flags({"case_id": ["Patient", "Visit"], "day_first": False, "sort_by_time": True})
        ('--case-id', 'Patient', '--case-id', 'Visit', '--month-first', '--sort-by-time')
    """
    words: list[str] = []
    for name, value in keywords.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "day_first" and value is not None:
            words.append("--day-first" if value else "--month-first")
        elif isinstance(value, bool):
            words += [flag] if value and name not in NOT_SAID else []
        elif name not in NOT_SAID and value is not None:
            if name == "description":
                value = str(getattr(value, "source", value))  # the file that it is from
            several = [value] if isinstance(value, str) else value
            words += [word for one in several for word in (flag, one)]  # type: ignore[attr-defined]  # a name or several
    return tuple(words)


def commands_of(document: Mapping[str, Any] | None, names: Names, *, public: bool) -> dict[str, str]:
    """The commands of a page by what they are for: "again", "verify", "report", "measure"; those that do not apply are empty.

    Example:
        >>> commands_of(None, Names("log.csv", "out.csv"), public=False)["report"]
        'libra report log.csv out.csv -o report.html'
    """
    in_memory = not names.anonymized
    original, released = names.original or USUAL.original, names.anonymized or USUAL.anonymized
    certificate = names.certificate or (USUAL.certificate if in_memory else "")
    logs, reading = ([_path(released)], []) if public else ([_path(original), _path(released)], list(names.reading))
    certified = ["--certificate", _path(certificate)] if document is not None and certificate else []
    report = ["libra", "report", *logs, *certified, *(["--public"] if public else []), "-o", "report.html", *reading]
    commands = {"again": [], "verify": [], "report": report, "measure": []}
    if certified:
        commands["verify"] = ["libra", "verify", _path(certificate), _path(released)]
    if not public:
        commands["measure"] = ["libra", "measure", *logs, "--json", *reading]
    if document is not None and not public:
        written = ["-o", f"{AGAIN}{released}", "--certificate", f"{AGAIN}{USUAL.certificate}"]
        commands["again"] = ["libra", "anonymize", _path(original), *written, *_parameter_flags(document), *reading]
    return {name: _copied(words) for name, words in commands.items()}


def _parameter_flags(document: Mapping[str, Any]) -> list[str]:
    """The flags of a mechanism; what is left at its default is left out."""
    name, parameters = str(document["mechanism"]), document["parameters"]
    words = ["--mechanism", name]
    usual = _defaults(name)
    for flag in FLAGS:
        if parameters.get(flag) is not None:
            words += [f"--{flag}", json.dumps(parameters[flag])]
    for parameter, value in parameters.items():
        if parameter in FLAGS or value is None or usual.get(parameter) == value:
            continue
        if (name, parameter) == ("libra", "labels"):
            words += ["--public-labels"] if value == "public" else ["--labels", LABELS]
        else:
            words += ["--set", f"{parameter}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def _path(name: str) -> str:
    """A file that is not taken for a flag."""
    return f"./{name}" if name.startswith("-") else name


def _copied(words: Sequence[str]) -> str:
    """The command, if what is copied is what is seen."""
    command = shlex.join(words)
    return command if all(word.isprintable() for word in words) and len(command) <= LONGEST_COMMAND else ""


def _defaults(name: str) -> Mapping[str, Any]:
    """The parameters of a mechanism that was asked for nothing; none are known of one that is not installed."""
    try:
        made = mechanism(name, {})
        return {parameter: getattr(made, parameter, None) for parameter in parameters_of(name)}
    except LibraError:
        return {}


def notes_of(document: Mapping[str, Any] | None) -> Iterator[str]:
    """The notes of a certificate; none where there is no certificate.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path())
        >>> set(notes_of(release.certificate())) <= set(release.notes)
        True
    """
    if document is None:
        return
    runs = document.get("subsampling")
    for entry in document.get("ledger", ()):
        if entry["purpose"] == BaseEdges.purpose and runs is not None:
            yield noise_on_edges(entry["noise"] / (runs["rate"] * runs["times"]))
            return


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
NO_TIMES = "The timestamps of this log are placeholders and say nothing, so there is nothing to show here."
DOTS = (
    "Across: time since the case began. Down: cases in the order of their start, in groups of equal size. The area of a dot is "
    "the mean number of events of a case there; its first event is left out."
)


def said_of(facts: Facts, promise: Promise, document: Mapping[str, Any] | None, names: Names) -> dict[str, Any]:
    """All that the template prints beside facts and charts."""
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
        "sizes": _sizes(facts),
        "yardstick_rows": _yardstick_rows(facts),
        "variants_said": _variants(facts),
        "edges_said": _edges(facts),
        "edge_headings": edge_headings(facts),
        "edge_rows": _edge_rows(facts),
        "called": shown_apart([label for row in facts.variants.rows for label in row.trace], LABEL),
        "attributes_said": _attributes(facts),
        "attribute_headings": ["attribute", "of", "type", *([] if facts.public else ["filled, original"]), "filled, anonymized"],
        "attribute_rows": _attribute_rows(facts),
        "risk_headings": RISK_HEADINGS,
        "risk_rows": [] if facts.risk is None else [_risk(row) for row in facts.risk.rows],
        "essential_rows": [] if facts.risk is None else [_risk(row) for row in facts.risk.rows if row.essential],
        "membership_rows": _membership(facts),
        "parameter_rows": [] if document is None else _parameters(document),
        "commands": {name: escape(line) for name, line in commands_of(document, names, public=facts.public).items()},
    }


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


def good_of(facts: Facts) -> str:
    """Whether the log is any good, in a few words."""
    return NOTHING if facts.empty else GOOD[facts.overall]


def _contents(facts: Facts) -> list[tuple[str, str]]:
    return [
        ("answers", "Answers"),
        ("guarantee", "Guarantee"),
        *([] if facts.public else [("kept", "What is kept")]),
        ("maps", "Process maps"),
        ("variants", "Variants"),
        ("lengths", "Cases"),
        ("steps", "Steps"),
        ("calendar", "Calendar"),
        *([("attributes", "Attributes")] if facts.attributes else []),
        *([("risk", "Risk")] if facts.risk else []),
        ("warnings", "Warnings"),
        ("again", "Parameters"),
    ]


def _spending(document: Mapping[str, Any] | None) -> list[str]:
    if document is None or "spent" not in document:
        return []
    spent = document["spent"]
    total = f"By the accountant, all together: epsilon {spent['epsilon']:.4g} at delta {spent['delta']:g}."
    parts = spent_by_topic(document) or ()
    return [*([TWO_GROUPS] if {"kept", "tail"} <= {part.group for part in parts} else []), total]


def _sizes(facts: Facts) -> dict[str, Figure]:
    names = ("cases", "events", "activities", "edges", "variants")
    sizes = {name: getattr(facts.anonymized, name) for name in names}
    return {name: Figure(f"sizes.anonymized.{name}", size, count(size), "") for name, size in sizes.items()}


def _yardstick_rows(facts: Facts) -> list[tuple[str, ...]]:
    return [
        (
            aspect.title,
            *(MISSING if figure is None else words_of(aspect)(figure) for figure in (aspect.value, aspect.sample, aspect.empty)),
        )
        for aspect in facts.aspects
    ]


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
    of_both = ("times, original", "anonymized")
    if not facts.has_times:
        return ("from", "to", *of_both)
    return ("from", "to", *of_both, "mean, original", "anonymized", "median, original", "anonymized", "apart")


def _edge_rows(facts: Facts) -> list[tuple[str, ...]]:
    called = shown_apart([label for row in facts.edges.rows for label in (row.source, row.target)])
    return [(called[row.source], called[row.target], *_edge(row, facts)) for row in facts.edges.rows]


def _edge(row: EdgeRow, facts: Facts) -> tuple[str, ...]:
    counts = (count(row.count_anonymized),) if facts.public else (count(row.count_original), count(row.count_anonymized))
    if not facts.has_times:
        return counts
    if facts.public:
        return (*counts, duration(row.mean_anonymized), duration(row.median_anonymized))
    times = (row.mean_original, row.mean_anonymized, row.median_original, row.median_anonymized)
    return (*counts, *map(duration, times), factor(row.w1_log))


def _attributes(facts: Facts) -> str:
    held_back = sum(row.filled_anonymized is None for row in facts.attributes)
    more = f" {count(facts.attributes_left_out)} more are not listed." if facts.attributes_left_out else ""
    if facts.public:
        return f"What else the log says of its cases and events.{more}"
    if held_back == len(facts.attributes):
        return f"None of the original's attributes was released.{more}"
    return f"Of the attributes listed, {count(held_back)} were not released.{more}"


def _attribute_rows(facts: Facts) -> list[tuple[str, ...]]:
    def filled(part: float | None) -> str:
        return "not released" if part is None else share(part)

    return [
        (
            shown(row.name),
            row.level,
            row.type,
            *([] if facts.public else [MISSING if row.filled_original is None else share(row.filled_original)]),
            filled(row.filled_anonymized),
        )
        for row in facts.attributes
    ]


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
        *told_parameters(document["parameters"]),
        ("holds", str(document["contents"])),
        ("randomness", str(document["randomness"])),
        ("issued", f"{document['issued']}, by Libra {document['version']}"),
    ]
    return [(shown(name, LONGEST), shown(value, LONGEST)) for name, value in rows]
