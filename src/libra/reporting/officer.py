"""What a data protection officer has to decide on: what goes out and what does not, and what a person with several cases has.

The page asks whether one person is one case before anybody decides, since the guarantee is about cases. `sections/officer.html`
has the questions, the law's own words (Recital 26 of the GDPR, WP 216) and the fields; whether it is enough a person decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libra.certificate.page import TRUSTED
from libra.engines.contract import CASE
from libra.eventlog.names import RESOURCE
from libra.mechanisms.peers import CALLED, NAMED_RESOURCES, resources_called
from libra.mechanisms.release import GENERATED
from libra.privacy.guarantee import certainty, doubt_left, factor
from libra.reporting.commands import Names
from libra.reporting.facts import Facts
from libra.reporting.numbers import count
from libra.reporting.promise import Promise
from libra.reporting.text import listed, shown

SEVERAL = (1, 2, 3, 5, 10)  # cases of one person
MOST_NAMES, MOST_RELEASED, MOST_ACTIVITIES = 8, 40, 6  # that are listed: all has to fit on two pages
LONGEST = 40  # characters of a name


@dataclass(frozen=True)
class Officer:
    """All that the officer's part prints beside its questions and fields."""

    cases: bool  # whether the guarantee is for one case, or else for one individual
    bound: str  # how much more likely an outcome may be, by a guarantee that is proved; empty where nothing is
    weaker: tuple[tuple[str, ...], ...]  # for so many cases: epsilon, delta, and how often an even guess is right
    goes_out: tuple[str, ...]
    stays: tuple[str, ...]
    has_to_hold: tuple[str, ...]


def officer_of(facts: Facts, promise: Promise, document: Mapping[str, Any] | None, names: Names) -> Officer:
    """The officer's part of a page that compares with the original."""
    goes_out, stays = tuple(_goes_out(facts, document, names)), tuple(_stays(facts))
    if document is None or not promise.epsilon:  # nothing that holds is proved
        return Officer(True, "", (), goes_out, stays, ())
    guarantee = document["guarantee"]
    return Officer(
        cases=guarantee["unit"] == CASE.statement(),
        bound=factor(guarantee["epsilon"]),
        weaker=tuple(_weaker(guarantee["epsilon"], guarantee["delta"])),
        goes_out=goes_out,
        stays=stays,
        has_to_hold=(*guarantee["assumptions"], TRUSTED),
    )


def _weaker(epsilon: float, delta: float) -> Iterator[tuple[str, ...]]:
    """What a person with several cases has of a guarantee for one, by group privacy; up to the first that promises nothing."""
    for cases in SEVERAL:
        together = cases * epsilon
        grown = delta * math.expm1(together) / math.expm1(epsilon) if together < 700 else math.inf
        if grown >= 1:
            yield count(cases), f"{together:g}", "1", "100 %"
            return
        yield count(cases), f"{together:g}", f"{grown:.2g}", certainty(doubt_left(together, grown))


def _goes_out(facts: Facts, document: Mapping[str, Any] | None, names: Names) -> Iterator[str]:
    log, sizes = shown(names.anonymized or "the anonymized log"), facts.anonymized
    yield f"{log}: {count(sizes.cases)} cases, {count(sizes.events)} events, {count(sizes.activities)} activity names"
    if document is not None:
        yield f"It holds {document['contents'].partition(';')[0].removesuffix(GENERATED) if sizes.cases else 'no case'}"
    if facts.released:
        yield f"Its attributes: {_named(facts.released, MOST_RELEASED)}{_called(facts, document)}"
    if document is not None:
        yield f"{shown(names.certificate) if names.certificate else 'its certificate'}, which says what is promised"


def _called(facts: Facts, document: Mapping[str, Any] | None) -> str:
    """What resources are called, where they go out and it is known."""
    if RESOURCE not in facts.released or document is None:
        return ""
    said = document["parameters"]
    called = resources_called(said.get("attributes") or (), names=said.get("resource_names", False)) or NAMED_RESOURCES
    return f". {CALLED.format(called).removesuffix('.')}"


def _stays(facts: Facts) -> Iterator[str]:
    for absent in facts.absent:
        yield f"{absent.title}: {_named(absent.names)}"
    gone = () if facts.missing is None else facts.missing.names
    if gone:
        yield f"Activities that too few cases have: {_named(gone, MOST_ACTIVITIES)}"
    yield "The case ids of the original"
    yield "This page, which is CONFIDENTIAL: it compares with the original"


def _named(names: Sequence[str], most: int = MOST_NAMES) -> str:
    listing, more = [shown(name, LONGEST) for name in names[:most]], len(names) - most
    return listed([*listing, *([f"{count(more)} more"] if more > 0 else [])])
