"""From logs to a report: facts, then charts and maps, then the template.

A public page is built without the original. Every other page is stamped CONFIDENTIAL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from libra.certificate.signing import Vouched
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.measures.risk import Certified
from libra.mechanisms.fresh_log import PLACEHOLDERS
from libra.reporting.commands import Names
from libra.reporting.drawing import MAP_STYLE
from libra.reporting.facts import Facts, facts_of
from libra.reporting.facts.pair import Pair
from libra.reporting.maps import MapPair, map_pair
from libra.reporting.page import Report, page
from libra.reporting.promise import Checked, Promise, promise_of, verification_of, with_signature
from libra.reporting.words import drawn_of, notes_of, said_of, what_survives

if TYPE_CHECKING:
    from libra.mechanisms.release import Release

TITLES = {False: "What was protected, and what was lost", True: "An anonymized event log"}
UNPROTECTED = {False: "An anonymized log beside its original", True: "An event log, and what is known of it"}
HANDING_OUT, PROMISED, GOOD_FOR = "May I hand it out?", "What is promised of it?", "Is it any good?"
STAGES = 3
NOT_KNOWN = "This release no longer has its original. Give it, as in release.report(original), or use public=True."


@dataclass(frozen=True, eq=False, repr=False)
class Draft:
    """All that a page shows, before it is written: what can go wrong, and what takes time, is behind it."""

    promise: Promise
    document: Mapping[str, Any] | None
    facts: Facts
    maps: MapPair
    drawn: Mapping[str, Any]
    names: Names
    empty_notes: tuple[str, ...] = ()

    def report(self, output: Mapping[str, Any] | None = None) -> Report:
        """The page; `output` has the size and the SHA-256 of the released file, where there is one."""
        public, promise, facts = self.facts.public, self.promise, self.facts
        title = (TITLES if promise.holds else UNPROTECTED)[public]
        answers = [(PROMISED, promise.bare)] if public else [(HANDING_OUT, promise.answer), (GOOD_FOR, facts.good)]
        html = page(
            "report.html",
            title=title,
            styles=(MAP_STYLE,),
            public=public,
            answers=answers,
            output=output or (self.document or {}).get("output"),
            **(vars(self) | said_of(facts, promise, self.document, self.names)),
        )
        spoken = tuple((asked, f"{told}. {facts.summary if asked == GOOD_FOR else ''}".strip()) for asked, told in answers)
        aspects = {}
        for aspect in facts.aspects:
            judged = {"verdict": aspect.verdict, "loss": aspect.loss.share, "sample": aspect.loss.sample}
            aspects[aspect.key] = judged | {"figures": {figure.name: figure.value for figure in aspect.figures}}
        absent = {one.title: list(one.names) for one in facts.absent}
        findings = {"overall": facts.overall, "not_in_it": absent, "aspects": aspects}
        return Report(title, html, public, promise.standing, spoken, findings)


def draft_of_release(
    release: Release,
    original: EventLog | None,
    *,
    public: bool = False,
    reading: Sequence[str] = (),
    names: Names | None = None,
    key_id: str | None = None,
    progress: Progress = no_progress,
) -> Draft:
    """The draft of a page on a release that was made just now, and whose certificate will be signed with the key of this ID.

    `reading` is what the reader noted, which no public page shows.
    """
    if original is None and not public:
        raise UsageError(NOT_KNOWN)
    made = release.certificate()
    promise = with_signature(promise_of(made, verification_of(release)), Vouched(key_id), made_here=True, public=public)
    notes = () if public else (*reading, *release.notes)
    return draft_of(None if public else original, release.log, made, promise, names=names, notes=notes, progress=progress)


def report_of(
    original: EventLog | None,
    anonymized: EventLog,
    *,
    checked: Checked | None = None,
    names: Names | None = None,
    certified: Certified | None = None,
    progress: Progress = no_progress,
) -> Report:
    """The page of an anonymized log; without the original it is public.

    It goes by the certificate that was `checked`, and attacks membership where it is given the mechanism (`certified`).
    """
    promise, document = promise_of(None), None
    if checked is not None:
        document = checked.document
        promise = promise_of(document, checked.verification, tied=checked.tied)
        promise = with_signature(promise, checked.signature, made_here=False, public=original is None)
    return draft_of(original, anonymized, document, promise, names=names, certified=certified, progress=progress).report()


def draft_of(
    original: EventLog | None,
    anonymized: EventLog,
    certificate: Mapping[str, Any] | None,
    promise: Promise,
    *,
    names: Names | None = None,
    notes: Sequence[str] = (),
    certified: Certified | None = None,
    progress: Progress = no_progress,
) -> Draft:
    """Compute and draw all that a page shows; without the original the page is public.

    A certificate that does not hold, or that cannot be checked, counts for nothing. Notes are what the release says to its
    custodian, beside what follows from the certificate. Membership is attacked where the mechanism is given (`certified`).
    """
    document = None if promise.standing in ("broken", "unchecked") else certificate
    has_times = document is None or document["contents"] != PLACEHOLDERS
    progress(0, STAGES)
    facts = facts_of(
        Pair(original, anonymized),
        certificate=document,
        notes=tuple(dict.fromkeys((*notes, *notes_of(document)))),
        has_times=has_times,
        time_zone=None if document is None else document["parameters"].get("time_zone"),
        certified=certified,
        progress=no_progress if certified is None else progress,
    )
    progress(1, STAGES)
    maps = map_pair(original, anonymized, has_times=has_times)
    progress(2, STAGES)
    drawn = drawn_of(facts, document)
    progress(STAGES, STAGES)
    why_empty = tuple(what_survives(document)) if facts.empty else ()
    return Draft(promise, document, facts, maps, drawn, names or Names(), why_empty)
