"""What a data protection officer has to decide on, in the order in which they ask: questions, fields to fill in, a signature.

The page asks before it answers whether one person is one case, since the guarantee is about cases. What the law asks is quoted
(Recital 26 of the GDPR and Opinion 05/2014, WP 216) next to what differential privacy and the attacks on this log say to it.
Whether that is enough is for a person to decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libra.certificate.page import TRUSTED
from libra.engines.contract import CASE
from libra.privacy.guarantee import certainty, doubt_left, factor
from libra.reporting.commands import Names
from libra.reporting.facts import Facts
from libra.reporting.numbers import count
from libra.reporting.promise import Promise
from libra.reporting.text import listed, shown

SEVERAL = (1, 2, 3, 5, 10)  # cases of one person
MOST_NAMES = 12  # that are listed
LONGEST = 40  # characters of a name
RECITAL_26 = (
    "To determine whether a natural person is identifiable, account should be taken of all the means reasonably likely to be "
    "used, such as singling out, either by the controller or by another person to identify the natural person directly or "
    "indirectly."
)
ONE_CASE = (
    "The guarantee is for one case. It is weaker for a person with several, because what their cases give away adds up. If "
    "anybody has several, anonymize again with --individual COLUMN, and hand out that release instead."
)
ONE_INDIVIDUAL = (
    "The guarantee is for one individual with all their cases, as the column of individuals tells them apart. It is weaker for a "
    "person with several entries there, because what these give away adds up."
)
NO_HELP = "Nothing that holds is proved about this log, so the answer changes nothing: treat every case in it as a real one."
NO_GUARANTEE = "No guarantee that holds says anything about it."
NOT_TRIED, NOT_ATTACKED = "Not tried.", "Not tried: libra report --attack guesses whether a case was there."


@dataclass(frozen=True)
class Asked:
    """One of the law's questions, what the guarantee says to it, and what was tried on this log."""

    name: str
    question: str
    said: str
    tried: str


@dataclass(frozen=True)
class Officer:
    """All that the officer's part prints beside its fields."""

    question: str  # whether one person is one unit of the guarantee
    meaning: str  # what it means if not
    weaker: tuple[tuple[str, ...], ...]  # for so many cases: epsilon, delta, and how often an even guess is right
    unit: str  # what the first column of that counts
    goes_out: tuple[str, ...]
    stays: tuple[str, ...]
    asked: tuple[Asked, ...]
    has_to_hold: tuple[str, ...]


def officer_of(facts: Facts, promise: Promise, document: Mapping[str, Any] | None, names: Names) -> Officer:
    """The officer's part of a page that compares with the original."""
    proved = promise.epsilon != ""
    guarantee = document["guarantee"] if document is not None else {}
    cases = not proved or guarantee["unit"] == CASE.statement()
    return Officer(
        question="Is one person one case in this log?" if cases else "Is one individual one person in this log?",
        meaning=(ONE_CASE if cases else ONE_INDIVIDUAL) if proved else NO_HELP,
        weaker=tuple(_weaker(guarantee["epsilon"], guarantee["delta"])) if proved else (),
        unit="cases of one person" if cases else "entries of one person",
        goes_out=tuple(_goes_out(facts, document, names)),
        stays=tuple(_stays(facts)),
        asked=tuple(_asked(facts, guarantee if proved else None)),
        has_to_hold=(*guarantee["assumptions"], TRUSTED) if proved else (),
    )


def _weaker(epsilon: float, delta: float) -> Iterator[tuple[str, str, str, str]]:
    """What a person with several cases has of a guarantee for one, by group privacy; up to the first that promises nothing."""
    for cases in SEVERAL:
        together = cases * epsilon
        by_chance = delta * math.expm1(together) / math.expm1(epsilon) if together < 700 else math.inf
        if by_chance >= 1:
            yield count(cases), f"{together:g}", "1", "100 %"
            return
        yield count(cases), f"{together:g}", f"{by_chance:.2g}", certainty(doubt_left(together, by_chance))


def _goes_out(facts: Facts, document: Mapping[str, Any] | None, names: Names) -> Iterator[str]:
    log, sizes = shown(names.anonymized or "the anonymized log"), facts.anonymized
    yield f"{log}: {count(sizes.cases)} cases, {count(sizes.events)} events, {count(sizes.activities)} activity names"
    if document is not None:
        yield f"It holds {document['contents'].partition(';')[0]}"
        yield f"{shown(names.certificate) if names.certificate else 'its certificate'}, which says what is promised"


def _stays(facts: Facts) -> Iterator[str]:
    for absent in facts.absent:
        listing = [shown(name, LONGEST) for name in absent.names[:MOST_NAMES]]
        more = len(absent.names) - MOST_NAMES
        yield f"{absent.title}: {listed([*listing, *([f'{count(more)} more'] if more > 0 else [])])}"
    if facts.missing is not None and facts.missing.activities_gone:
        yield f"{count(facts.missing.activities_gone)} activities that too few cases have"
    yield "The case ids of the original"
    yield "This page, which is CONFIDENTIAL: it compares with the original"


def _asked(facts: Facts, guarantee: Mapping[str, Any] | None) -> Iterator[Asked]:
    risk = facts.risk
    bound = "" if guarantee is None else factor(guarantee["epsilon"])
    found = NOT_TRIED if risk is None or not risk.headline else risk.headline
    linked = NOT_TRIED if risk is None or not risk.linked else risk.linked
    member = NOT_ATTACKED if risk is None or risk.about_membership is None else risk.about_membership
    yield Asked(
        "Singling out",
        "Is it still possible to single out an individual?",
        NO_GUARANTEE
        if guarantee is None
        else f"A case that fits somebody need not be theirs: with or without them in the original, such a log is about as likely "
        f"(at most {bound} times, plus {guarantee['delta']:g}), whatever else is known.",
        found,
    )
    yield Asked(
        "Linkability",
        "Is it still possible to link records relating to an individual?",
        NO_GUARANTEE
        if guarantee is None
        else "The same bound holds for whoever has other data, now or later, and links them. It does not cover other releases "
        "about the same people: count those (question 4).",
        linked,
    )
    yield Asked(
        "Inference",
        "Can information be inferred concerning an individual?",
        NO_GUARANTEE
        if guarantee is None
        else "What is inferred because somebody was in the original is bounded likewise. What holds for everybody in the log can "
        "be inferred of anyone, whether they were in it or not: no guarantee of this kind limits that.",
        member,
    )
