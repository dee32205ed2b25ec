"""A certificate on one page, as plain data: what it says, in the order in which a person asks.

The page repeats the certificate and adds only what follows from its figures; if they do not hold, it begins with that.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libra.certificate.check import MECHANISM, Check
from libra.certificate.signing import Vouched
from libra.engines.contract import CASE, Unit
from libra.eventlog.names import RESOURCE
from libra.mechanisms.libra.expected import Expected
from libra.mechanisms.libra.releases import RELEASES
from libra.mechanisms.peers import LISTED_RESOURCES, resources_called
from libra.privacy.guarantee import NAMES_PUBLIC, beliefs, odds, strength_of
from libra.privacy.ledger import Group

ABOUT = "Libra is a program that anonymizes event logs, the data of process mining, and says what is promised of the result."
PLUS = 'The "plus {delta:g}" is delta, a probability: by that much any outcome may be more likely beyond the factor.'
TRUSTED = "The random numbers of the operating system, and the memory of the machine it ran on, are trusted."
EACH_CASE = (
    "Each case by itself: that it was in the original at all, and with that everything it says. A case is what one case id "
    "stands for, such as one visit, one order or one claim. The unit of the promise: {unit}."
)
EACH_INDIVIDUAL = (
    "Each individual by themselves, with all their cases: that they were in the original at all, and with that everything their "
    "cases say. The unit of the promise: {unit}."
)
NOT_NAMES = "Names of activities are not protected: a name that occurs in only one case may appear."
NO_LEDGER = "Nothing was counted: there is no ledger, so nobody can say what this release reveals."
TWO_GROUPS = (
    "Shares of what may be spent. Counts of kept variants are about other cases than the choice of activity names and the model "
    "of rare cases: only the more expensive of the two counts."
)
RECOMPUTED = (
    "This recomputes the total from the ledger, and the sentences from the figures, and compares size and SHA-256 of the file."
)
COMPARED = (
    "This compares the figures with what the authors of the mechanism claim, and size and SHA-256 of the file. There is no proof "
    "to check."
)
WHO_WROTE_IT = (
    "Only a signature shows who vouches for the certificate: ask the custodian for their public key, and give it with --key."
)
NOT_CHECKED = "This certificate cannot be checked here. Do not rely on it."
UNSIGNED = Vouched()
INDIVIDUAL = Unit(most_cases=1)  # how many of their cases counted makes no difference to these words
ELSEWHERE = "Lists of values and bounds must not come from the original."
LONGEST = 60  # characters of a name
OTHER, SPENT = "other releases", "How the budget was spent"


@dataclass(frozen=True)
class Section:
    """A part of the page: a title, then what there is of paragraphs, points, a table, bars (names with a share) and a command."""

    title: str
    text: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    bars: tuple[tuple[str, float], ...] = ()
    command: str = ""


@dataclass(frozen=True)
class Page:
    """The whole of it: `sentence` is the promise in one sentence, `verdict` what the warnings come to."""

    title: str
    issued: str
    warnings: tuple[str, ...]
    sentence: str
    sections: tuple[Section, ...]
    verdict: str = "This certificate does not hold. Do not rely on it."
    signature: str = ""


def page_of(document: Mapping[str, Any], checks: Sequence[Check], certificate: str, signature: Vouched = UNSIGNED) -> Page:
    """The page of a certificate, given its checks against itself, the name of its file and what is known of its signature."""
    failed = [check for check in checks if not check.ok]
    unknown = [check.name for check in failed] == [MECHANISM]
    return Page(
        title="Certificate of an anonymized event log",
        issued=f"Issued on {document['issued']} by Libra {document['version']}, mechanism {document['mechanism']}. {ABOUT}",
        warnings=tuple(f"{check.name.capitalize()}. {check.found} {check.meaning}" for check in failed),
        sentence=document["in_plain_words"],
        sections=tuple(_sections(document, certificate, signature)),
        signature=f"{signature.said[0].upper()}{signature.said[1:]}. {signature.meaning}".rstrip(),
        **({"verdict": NOT_CHECKED} if unknown else {}),
    )


def _sections(document: Mapping[str, Any], certificate: str, signature: Vouched) -> Iterator[Section]:
    guarantee, output = document["guarantee"], document["output"]
    proved = guarantee["kind"] == "proved"
    if proved:
        yield Section("The promise, precisely", (guarantee["statement"], PLUS.format(delta=guarantee["delta"])))
    else:
        yield Section("What is claimed", (guarantee["statement"],))
    if proved and not guarantee["seeded"]:
        who = str(CASE if guarantee["unit"] == CASE.statement() else INDIVIDUAL)
        before, after = zip(*beliefs(guarantee["epsilon"]), strict=True)
        table = (("before seeing the log", *before), ("after it, at most", *after))
        likely = odds(guarantee["epsilon"], guarantee["delta"], who)
        yield Section(f"How likely it may seem that {who} was there", (likely,), table=table)
        worth = strength_of(document)
        if worth is not None and worth.protects:
            yield Section("Who is protected", (protected(guarantee),))
    yield Section("What has to hold", points=(*guarantee["assumptions"], TRUSTED))
    yield Section("What is not promised", points=tuple(guarantee["caveats"]))
    yield _spent(document) if proved else Section(SPENT, (NO_LEDGER,))
    cases = f", {document['cases']:,} cases" if proved else ""
    expected = Expected.from_dict(document["expected"]) if "expected" in document and document["cases"] else None
    facts = (
        ("file", f"{output['file']}, {output['bytes']:,} bytes{cases}"),
        ("SHA-256", output["sha256"]),
        ("holds", document["contents"]),
        ("made with", "; ".join(" ".join(named) for named in parameters_of(document["parameters"]))),
        ("randomness", document["randomness"]),
        *([] if expected is None else [("expected error", f"{expected.sentence} {expected.warning}".strip())]),
    )
    yield Section("The file", table=facts)
    if attributes := document["parameters"].get("attributes"):
        rows = tuple((one["name"][:LONGEST], declared(one)) for one in attributes)
        yield Section("The attributes, as they were declared", (ELSEWHERE,), table=rows)
    command = f"libra verify {shlex.join((certificate, output['file']))}{' --key KEY.pub' if signature.key_id else ''}"
    yield Section("How to check it", (RECOMPUTED if proved else COMPARED, WHO_WROTE_IT), command=command)


def declared(attribute: Mapping[str, Any]) -> str:
    """What is declared of an attribute, on one line.

    Example:
        >>> declared({"name": "Age", "kind": "number", "at": "ER Registration", "lowest": 0, "highest": 120.0})
        'number, one per case, on ER Registration, 0 to 120'
    """
    kind, values, low, high = (attribute.get(key) for key in ("kind", "values", "lowest", "highest"))
    said = [str(kind), "one per event" if attribute.get("level") == "event" else "one per case"]
    said += [f"on {attribute['at'][:LONGEST]}"] if "at" in attribute else []
    if kind == "category":
        said.append(
            f"list of {len(values)} {'value' if len(values) == 1 else 'values'}" if values else "values selected privately"
        )
    elif kind in ("number", "date"):
        ends = f"{low:.12g} to {high:.12g}" if None not in (low, high) else ""
        ends = ends or (f"from {low:.12g}" if low is not None else f"up to {high:.12g}" if high is not None else "")
        said.append(f"{ends}{' days from the start' if kind == 'date' else ''}" if ends else "no bounds")
    return ", ".join([*said, *(["counter"] if attribute.get("counter") else [])])


def protected(guarantee: Mapping[str, Any]) -> str:
    """Who is protected by a proved guarantee."""
    said = (EACH_CASE if guarantee["unit"] == CASE.statement() else EACH_INDIVIDUAL).format(unit=guarantee["unit"])
    return f"{said} {NOT_NAMES}" if NAMES_PUBLIC in guarantee.get("assumptions", ()) else said


def _spent(document: Mapping[str, Any]) -> Section:
    spent, runs, parts = document["spent"], document["subsampling"], spent_by_topic(document)
    accounted = f"epsilon {spent['epsilon']:.4g} at delta {spent['delta']:g}."
    if parts is None:  # noise is not all Gaussian and has no common share: a line for every kind of release
        costs: dict[tuple[str, bool], list[float]] = {}
        for entry in document["ledger"]:
            kind = topic_of(entry["purpose"], otherwise=entry["purpose"]), "mu" in entry
            costs.setdefault(kind, []).append(entry["sensitivity"] / entry["noise"])
        rows = []
        for (topic, gaussian), values in costs.items():
            total = f"{math.hypot(*values) if gaussian else sum(values):.3g}"
            several = f" in {len(values)} releases" if len(values) > 1 else ""
            rows.append((f"{topic} ({'mu' if gaussian else 'epsilon'})", total + several))
        return Section(SPENT, (f"Total according to the privacy accountant: {accounted}",), table=tuple(rows))
    total = f"Together {100 * spent['share']:.1f} % of what may be spent. Total according to the privacy accountant: {accounted}"
    if runs["rate"] < 1 or runs["times"] > 1:
        total += (
            f" Shares are those of one of {runs['times']:,} runs, on a subsample of {100 * runs['rate']:g} % of the cases; "
            "epsilon is that of the whole."
        )
    return Section(SPENT, (TWO_GROUPS, total), bars=tuple((part.topic, part.share) for part in parts))


def parameters_of(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the mechanism was asked with, for people; what was left open, or is of no account, is left out.

    Example:
        >>> list(parameters_of({"most_cases": None, "labels": "private", "budget": {"control": 0.55, "times": 0.45}}))
        [('labels', 'private'), ('budget', 'control=0.55,times=0.45')]
    """
    names = [attribute["name"] for attribute in parameters.get("attributes") or ()]
    open_ones = {name for name, value in parameters.items() if value in (None, [])}
    open_ones |= set() if RESOURCE in names else {"resource_names"}
    listed = resources_called(parameters.get("attributes") or (), names=False) == LISTED_RESOURCES
    said = {**parameters, "resource_names": "those on the declared list"} if listed else parameters
    return ((name.replace("_", " "), _value(value)) for name, value in said.items() if name not in open_ones)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={_value(share)}" for name, share in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(one["name"] if isinstance(one, dict) else one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def html_of(page: Page) -> str:
    """The page as one HTML document without anything from elsewhere, made to be printed on A4; all of it is shown as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("libra.certificate", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return environment.get_template("page.html").render(page=page)


@dataclass(frozen=True)
class Spent:
    """What a topic has cost: the cases it was counted from, and its share of what may be spent."""

    topic: str
    group: Group
    share: float


def topic_of(purpose: str, *, otherwise: str = OTHER) -> str:
    """What a release is about, in words for people."""
    return RELEASES[purpose].topic if purpose in RELEASES else otherwise


def spent_by_topic(document: Mapping[str, Any]) -> tuple[Spent, ...] | None:
    """The shares of a certificate's ledger, in its order; None where its noise has no common share."""
    entries = document.get("ledger", ())
    if not entries or any("share" not in entry for entry in entries):
        return None
    shares: dict[tuple[str, Group], float] = {}
    for entry in entries:
        key = topic_of(entry["purpose"]), entry["group"]
        shares[key] = shares.get(key, 0.0) + entry["share"]
    return tuple(Spent(topic, group, share) for (topic, group), share in shares.items())
