"""Whether a certificate holds: for itself, and for the file that it is about.

In: a certificate and a released file. Out: a `Verification`. The mechanism is made anew from the parameters: what it promises or
claims follows from them, and the accountant counts the ledger once more. So a figure that was changed is found by the checksum;
if that was computed anew, a single figure that the guarantee rests on is found all the same, as it is made again from the others.
What nobody can see from here is whether the certificate was made up as a whole, unless it is signed by a key that they trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from libra._system.randomness import SEEDED
from libra._version import __version__
from libra.certificate.check import MECHANISM, RANDOMNESS, Check, Verification, differences, judged
from libra.certificate.content import content
from libra.certificate.document import CHECKSUM, certificate_bytes, checksum, fingerprint, parsed_certificate, why_invalid
from libra.certificate.minisign import PublicKey
from libra.certificate.signing import Vouched, vouched
from libra.errors import LibraError
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.mechanism import HOMES, of_certificate
from libra.mechanisms.peers import CertifiedMechanism
from libra.mechanisms.release import SYSTEM, counted
from libra.privacy.accounting import UnknownReleaseError
from libra.privacy.guarantee import NAMES_PUBLIC, Guarantee
from libra.privacy.ledger import Ledger
from libra.privacy.plain_words import NAMES_NOT_PROTECTED, TOO_WEAK, in_plain_words, strength_of

STRUCTURE = "structure"
NAMED = "Name the file that --certificate wrote, and the released log after it"
CLAIMED = (
    "Nothing is proved: the file is the one certified and the certificate is what it says, but it promises nothing. It repeats "
    "what the authors of the mechanism claim. It is {}."
)


def verify(certificate: Path, output: Path, progress: Progress = no_progress, key: PublicKey | None = None) -> Verification:
    """Check a certificate against the schema, against itself and against the released file; with a key, also its signature.

    Raises:
        InputError: One of the two cannot be read, or the first is no certificate.
    """
    raw = certificate_bytes(certificate, remedy=NAMED)
    document = parsed_certificate(certificate, raw, remedy=NAMED)
    return verify_document(document, output, vouched(raw, certificate, key), progress)


def verify_document(document: dict[str, Any], output: Path, signature: Vouched, progress: Progress = no_progress) -> Verification:
    """The same of a certificate that was read already, with what is known of its signature."""
    found = fingerprint(output, progress)
    checks = [*([signature.check] if signature.check else []), *self_checks(document)]
    if checks[-1].name != STRUCTURE:
        checks.append(_same_file(document["output"], found))
        if checks[-1].ok:
            checks.append(_of_other_version(document["version"])(content(document, output)))
    worth = strength_of(document) if all(check.ok for check in checks) else None
    promised = worth is not None and worth.protects
    return Verification(tuple(checks), _verdict(document, checks, signature), promised, signature.signed, signature.key_id)


def self_checks(document: dict[str, Any]) -> Iterator[Check]:
    """What can be checked without the file; after a document of the wrong form, nothing more."""
    wrong = why_invalid(document)
    yield judged(
        STRUCTURE,
        [wrong] if wrong else [],
        holds="It has every field of a certificate of this format, and no other.",
        fails="It does not have the form of a certificate",
        meaning="It is damaged, or was made by something else. Nothing more can be checked.",
    )
    if wrong:
        return
    sums = document[CHECKSUM], checksum(document)
    yield judged(
        "checksum",
        [] if sums[0] == sums[1] else [f"it says {sums[0][:12]}…, and the content gives {sums[1][:12]}…"],
        holds="Nothing in it was changed since the checksum was computed.",
        fails="It does not agree with the content",
        meaning="Something in it was changed after it was written. Ask for the certificate again.",
    )
    yield from map(_of_other_version(document["version"]), _of_mechanism(document))
    yield _drawn(document)


def _of_mechanism(document: dict[str, Any]) -> Iterator[Check]:
    """Whether the certificate says what its mechanism, made anew from the parameters, promises or claims."""
    name, guarantee = document["mechanism"], document["guarantee"]
    if name not in HOMES:
        found = f'This version cannot check certificates of "{name}".'
        yield Check(MECHANISM, False, found, "Whether the promise holds is not known.")
        return
    no_such_run = f"No run of {name} has such parameters."
    try:
        made = of_certificate(name, document["parameters"])
        claim = made.claim()
        claimed = None if claim is None else claim.published()
    except (LibraError, ArithmeticError, TypeError, ValueError) as error:
        found = f"{name} cannot be run with them: {str(error).removesuffix('.')}."
        yield Check("parameters", False, found, no_such_run)
        return
    possible = made.guarantees(seeded=guarantee["seeded"])
    promised = possible[0]
    problems = [*differences(document["parameters"], made.parameters(), "parameters")]
    holds = f"They are parameters of {name}."
    if guarantee["kind"] != promised.kind:
        problems.append(f"with these parameters the guarantee is {promised.kind}")
    elif promised.kind == "proved":
        problems += _not_as_asked(document, promised, made.planned_ledger)
        holds = f"What is promised is what was asked for: epsilon {promised.epsilon:g}, delta {promised.delta:g}."
    fails = "They do not go with the rest of the certificate"
    yield judged("parameters", problems, holds=holds, fails=fails, meaning=no_such_run)
    if guarantee["kind"] != promised.kind:
        return
    if promised.kind == "proved":
        yield from _counted(document, made)
    elif claim is not None:
        holds = "What is claimed is what its authors claim with these parameters."
        fails = "Some are not what its authors claim with these parameters"
        wrong = differences(document["claimed"], claimed, "claimed", claim.tolerance)
        yield judged("figures", wrong, holds=holds, fails=fails, meaning="Somebody miscounted, or changed a figure.")
    yield _said(document, possible, made.contents)


def _not_as_asked(document: dict[str, Any], promised: Guarantee, planned: Ledger) -> Iterator[str]:
    stated = {name: document["guarantee"][name] for name in ("epsilon", "delta")}
    yield from differences(stated, {"epsilon": promised.epsilon, "delta": promised.delta}, "guarantee")
    yield from differences(document["subsampling"], planned.to_dict()["subsampling"], "subsampling")
    yield from differences(document["spent"]["asked"], planned.asked, "spent.asked")


def _counted(document: dict[str, Any], made: CertifiedMechanism) -> Iterator[Check]:
    """Whether the ledger is one that the mechanism writes, and what follows from it is as stated and within the promise."""
    ledger = Ledger.from_dict(document)
    problems = list(made.departures(ledger.entries))
    holds = (
        f"Each of the {len(ledger.entries)} releases is one that {made.name} makes, with the noise that these parameters give it."
    )
    fails = f"It is not what {made.name} releases with these parameters"
    meaning = "The ledger is not that of a run of this version with these parameters, so its total proves nothing."
    yield judged("ledger", problems, holds=holds, fails=fails, meaning=meaning)
    promised = document["guarantee"]
    try:
        if problems and any(entry.mu is None for entry in ledger.entries):  # to add up anything else may take for ever
            raise UnknownReleaseError(f"The ledger has noise that {made.name} does not draw with these parameters.")
        expected = counted(replace(ledger, asked=made.planned_ledger.asked), promised["delta"])
    except UnknownReleaseError as error:
        yield Check("total", False, str(error), "Its total proves nothing.")
        return
    stated = {name: document[name] for name in ("ledger", "subsampling", "spent")}
    holds = "All shares, mu and what was spent follow from the noise in the ledger."
    fails = "Some do not follow from the noise in the ledger"
    meaning = "Somebody miscounted, or changed a figure."
    yield judged("figures", differences(stated, expected), holds=holds, fails=fails, meaning=meaning)
    epsilon = expected["spent"]["epsilon"]
    total = f"Everything in the ledger together has epsilon {epsilon:.6g} at delta {promised['delta']:g}"
    if epsilon <= promised["epsilon"]:
        yield Check("total", True, f"{total}, no more than the {promised['epsilon']:g} promised.")
    else:
        meaning = "The release reveals more than the certificate promises."
        yield Check("total", False, f"{total}, more than the {promised['epsilon']:g} promised.", meaning)


def _said(document: dict[str, Any], possible: list[Guarantee], contents: str) -> Check:
    """Whether all sentences are those of one of these guarantees; which one may depend on the log (individuals, say)."""
    seeded = document["guarantee"]["seeded"]
    stated = {name: document[name] for name in ("guarantee", "in_plain_words", "contents", "randomness")}
    expected = [
        {
            "guarantee": one.to_dict() | {"seeded": seeded},
            "in_plain_words": in_plain_words(one, seeded=seeded, cases=document.get("cases")),
            "contents": contents,
            "randomness": SEEDED if seeded else SYSTEM,
        }
        for one in possible
    ]
    nearest = min((list(differences(stated, one)) for one in expected), key=len)
    holds = "The sentences are the ones that belong to these figures, with all assumptions and caveats."
    fails = "Some sentences are not the ones that belong to these figures"
    return judged("words", nearest, holds=holds, fails=fails, meaning="What people read in it is not what the figures say.")


def _drawn(document: dict[str, Any]) -> Check:
    """Whether the noise came from the operating system: a release from a seed is not private."""
    if not document["guarantee"]["seeded"] and document["randomness"] == SYSTEM:
        return Check(RANDOMNESS, True, "The noise came from the operating system, not from a seed.")
    meaning = "Whoever knows or guesses the seed can undo the noise. It is for tests, and must not be released."
    return Check(RANDOMNESS, False, f"The release is {SEEDED}.", meaning)


def _of_other_version(version: str) -> Callable[[Check], Check]:
    """Adds to what does not hold that another version of Libra may say it otherwise."""
    other = (
        f" It was issued by Libra {version}, and this is {__version__}: check it with that version before you conclude anything."
    )

    def told(check: Check) -> Check:
        return check if check.ok or version == __version__ else replace(check, meaning=check.meaning + other)

    return told


def _same_file(certified: dict[str, Any], found: dict[str, Any]) -> Check:
    problems = []
    if found["bytes"] != certified["bytes"]:
        problems.append(f"it has {found['bytes']:,} bytes, and the one certified has {certified['bytes']:,}")
    if found["sha256"] != certified["sha256"]:
        problems.append(f"its SHA-256 is {found['sha256'][:12]}…, and the one certified has {certified['sha256'][:12]}…")
    return judged(
        "file",
        problems,
        holds=f"It is the file certified: {found['bytes']:,} bytes, SHA-256 {found['sha256'][:12]}….",
        fails="It is another file",
        meaning="It is not what was released, or not all of it. The certificate says nothing about it.",
    )


def _verdict(document: dict[str, Any], checks: list[Check], signature: Vouched) -> str:
    failed = [SEEDED if check.name == RANDOMNESS else check.name for check in checks if not check.ok]
    if failed:
        return f"Not verified: {', '.join(failed)}."
    guarantee = document["guarantee"]
    if guarantee["kind"] == "claimed":
        return CLAIMED.format(signature.said)
    figures = f"({guarantee['epsilon']:g}, {guarantee['delta']:g})"
    unit = guarantee["unit"].partition(",")[0]
    standing = f"Consistent, {signature.said}" if not signature.signed else f"{signature.said[0].upper()}{signature.said[1:]}"
    said = f"the file is the one certified, and its ledger stays within {figures}-differential privacy for {unit}"
    return " ".join((f"{standing}: {said}. {signature.meaning}", *_against(document)))


def _against(document: dict[str, Any]) -> Iterator[str]:
    """What is to be said against a guarantee that holds: names are public, delta is large, all of it is too weak."""
    if NAMES_PUBLIC in document["guarantee"]["assumptions"]:
        yield NAMES_NOT_PROTECTED
    worth = strength_of(document)
    if worth is not None and worth.warning:
        yield worth.warning
    if worth is not None and worth.level == "void":
        yield TOO_WEAK
