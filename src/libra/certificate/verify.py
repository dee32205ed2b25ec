"""Whether a certificate holds: for itself, and for the file that it is about.

In: a certificate and a released file. Out: a `Verification`. The promise: a figure that was changed is found by the checksum; if
that was computed anew, a single figure that the guarantee rests on is found all the same, as it is made again from the others.
What nobody can see from here is whether the certificate was made up as a whole, unless it is signed by a key that they trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from libra._version import __version__
from libra.certificate.canonical import CHECKSUM, checksum
from libra.certificate.check import MECHANISM, Check, Verification, judged
from libra.certificate.content import content
from libra.certificate.document import certificate_bytes, fingerprint, parsed_certificate
from libra.certificate.minisign import PublicKey
from libra.certificate.of_any import RANDOMNESS, drawn
from libra.certificate.schema import why_invalid
from libra.certificate.signing import Vouched, vouched
from libra.certificate.words import NAMES_NOT_PROTECTED, TOO_WEAK, strength_of
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.mechanism import HOMES as MECHANISMS
from libra.privacy.guarantee import NAMES_PUBLIC
from libra.privacy.randomness import SEEDED

OWN = {"libra": "libra.certificate.of_libra", "libra2022": "libra.certificate.of_libra2022"}
HOMES = {name: OWN.get(name, "libra.certificate.of_peer") for name in MECHANISMS}
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
    yield drawn(document)


def _of_mechanism(document: dict[str, Any]) -> Iterator[Check]:
    name = document["mechanism"]
    if name in HOMES:
        yield from import_module(HOMES[name]).checks(document)
    else:
        found = f'This version cannot check certificates of "{name}".'
        yield Check(MECHANISM, False, found, "Whether the promise holds is not known.")


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
