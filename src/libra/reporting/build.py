"""From logs to a page: facts, then charts and maps, then the template.

In: an anonymized log, the original unless the page is public, and what is known of how the log was made. Out: a `Report`. A
public page is built without the original: nothing of it can be on the page. Every other page is stamped CONFIDENTIAL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from libra.certificate.check import Verification
from libra.charts.style import PALETTE
from libra.charts.style import STYLE as CHARTS
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.maps import STYLE as MAPS
from libra.maps import map_pair
from libra.measures.risk import Certified
from libra.mechanisms.peers.placeholders import PLACEHOLDERS
from libra.reporting.again import Names
from libra.reporting.drawn import drawn_of
from libra.reporting.facts.facts import Facts, facts_of
from libra.reporting.facts.pair import Pair
from libra.reporting.notes import notes_of
from libra.reporting.page import page
from libra.reporting.promise import Promise, promise_of
from libra.reporting.report import Report
from libra.reporting.said import GOOD, said_of

if TYPE_CHECKING:
    from libra.mechanisms.release import Release

TITLES = {False: "What was protected, and what was lost", True: "An anonymized event log"}
QUESTIONS = ("May I hand it out?", "Is it any good?")
STAGES = 4
NOT_KNOWN = "This release does not know the log that it was made from. Give it: release.report(original), or ask for public=True."

__all__ = ["Names", "report_of", "report_of_release"]


def report_of_release(
    release: Release,
    original: EventLog | None,
    *,
    public: bool = False,
    names: Names | None = None,
    progress: Progress = no_progress,
) -> Report:
    """The page of a release that was made just now."""
    if original is None and not public:
        raise UsageError(NOT_KNOWN)
    return report_of(
        None if public else original,
        release.log,
        certificate=release.certificate(),
        names=names or Names(),
        notes=() if public else release.notes,
        progress=progress,
    )


def report_of(
    original: EventLog | None,
    anonymized: EventLog,
    *,
    certificate: Mapping[str, Any] | None = None,
    verification: Verification | None = None,
    names: Names | None = None,
    notes: Sequence[str] = (),
    certified: Certified | None = None,
    progress: Progress = no_progress,
) -> Report:
    """The page of an anonymized log.

    Args:
        original: The log as it was; without it the page is public.
        anonymized: The anonymized log.
        certificate: Its certificate, of the right form.
        verification: What checking that gave; None for a release that was made just now.
        names: What the files are called.
        notes: What the release says to its custodian, beside what follows from the certificate.
        certified: The mechanism, where membership is to be attacked.
        progress: Called with what is done and what there is in all.

    Example:
        >>> from libra.example.simulate import simulate
        >>> report_of(None, simulate(cases=50)).public
        True
    """
    promise = promise_of(certificate, verification)
    document = None if promise.standing == "broken" else certificate
    public = original is None
    progress(0, STAGES)
    facts = facts_of(
        Pair(original, anonymized),
        certificate=document,
        notes=tuple(dict.fromkeys((*notes, *notes_of(document)))),
        has_times=document is None or document["contents"] != PLACEHOLDERS,
        time_zone=None if document is None else document["parameters"].get("time_zone"),
        certified=certified,
        progress=no_progress if certified is None else progress,
    )
    progress(1, STAGES)
    maps = map_pair(original, anonymized)
    progress(2, STAGES)
    drawn = drawn_of(facts, document)
    progress(3, STAGES)
    names = names or Names()
    title = TITLES[public]
    html = page(
        "report.html",
        title=title,
        styles=(PALETTE, CHARTS, MAPS),
        public=public,
        names=names,
        today=datetime.now(UTC).date().isoformat(),
        promise=promise,
        document=document,
        facts=facts,
        drawn=drawn,
        maps=maps,
        **said_of(facts, promise, document, names),
    )
    progress(STAGES, STAGES)
    return Report(title, html, public, _answers(promise, facts), _findings(promise, facts))


def _answers(promise: Promise, facts: Facts) -> tuple[tuple[str, str], ...]:
    answered = [(QUESTIONS[0], f"{promise.answer}.")]
    if not facts.public:
        answered.append((QUESTIONS[1], f"{GOOD[facts.overall]}. {facts.summary}".strip()))
    return tuple(answered)


def _findings(promise: Promise, facts: Facts) -> dict[str, Any]:
    """What the first screen says, for programs."""
    aspects = {
        aspect.key: {
            "verdict": aspect.verdict,
            "value": aspect.value,
            "sample": aspect.sample,
            "empty": aspect.empty,
            "figures": {figure.name: figure.value for figure in aspect.figures},
        }
        for aspect in facts.aspects
    }
    return {"standing": promise.standing, "overall": facts.overall, "aspects": aspects}
