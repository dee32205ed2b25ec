"""The first answer of a report: may this log be handed out?

"Protected" is said of a proved guarantee that holds, and of nothing else. A certificate is tied to a log only by the fingerprint
of its file. One that is consistent could have been written by anyone: that a log is protected, only a custodian is told who made
the release just now, or holds a key that they trust; other pages say what the certificate says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from libra.certificate.check import MECHANISM, RANDOMNESS, Check, Verification
from libra.certificate.content import content_check, content_of_log
from libra.certificate.document import CHECKSUM, FORMAT, checksum, read_certificate
from libra.certificate.minisign import PublicKey
from libra.certificate.signing import Vouched, vouched
from libra.certificate.verify import self_checks, verify_document
from libra.engines.contract import CASE, Unit
from libra.errors import InputError, UsageError
from libra.mechanisms.mechanism import HOMES
from libra.mechanisms.release import DOCUMENT
from libra.privacy.guarantee import NAMES_PUBLIC, TOO_WEAK, Level, beliefs, odds, strength_of
from libra.reporting.facts.verdicts import Tone
from libra.reporting.text import listed, shown

if TYPE_CHECKING:
    from libra.mechanisms.release import Release

Standing = Literal["proved", "weak", "claimed", "seeded", "broken", "unchecked", "untied", "unsigned", "unknown"]
PROVED: dict[Level, tuple[Standing, Tone, str]] = {
    "strong": ("proved", "good", "yes: protected by a strong, proved guarantee"),
    "moderate": ("proved", "fair", "yes, with care: protected by a moderate, proved guarantee"),
    "weak": ("proved", "poor", "think twice: the guarantee is proved, but weak"),
    "void": ("weak", "bad", f"No: t{TOO_WEAK[1:].removesuffix('.')}"),
    "exposed": ("weak", "bad", "No: delta is too large for so many cases"),
}
ANSWERS: dict[Standing, str] = {
    "claimed": "No: nothing is proved about it",
    "seeded": "No: it was drawn with a seed",
    "broken": "No: its certificate does not hold",
    "unchecked": "Not on this ground: its certificate cannot be checked here",
    "untied": "Unknown: nothing ties the certificate to this log",
    "unknown": "Unknown: there is no certificate",
}
NAMES = "; names of activities are not protected"
MAY = "The log may go out under this guarantee, together with its certificate, if what it assumes is true."
UNTIED = "A certificate is tied to a log by its file. Give both as files to have them compared."
LONGEST = 600  # characters of what a check found
AS_REAL = "Treat it as if it showed real cases."
NO_CERTIFICATE = (
    "Nothing is known of how this log was made, so nothing is promised. Treat it as if it showed real cases. "
    "libra anonymize --certificate FILE writes what is promised."
)
SAYS = "Its certificate says:"
MADE_IT, ONE_CASE_EACH = "you made this release yourself", "nobody has several cases"  # what the answer depends on
OWN = "If you wrote the certificate yourself, the log may go out with it under this guarantee, if what it assumes is true."
SIGN_IT = "Its certificate is not signed: libra anonymize --sign-key KEY signs it."
OF_A_FILE = {"format": FORMAT, "output": {"file": "log.csv", "bytes": 0, "sha256": "0" * 64}}
REMEDY = "Give the file that --certificate wrote, or what release.certificate() gives"


@dataclass(frozen=True)
class Checked:
    """A certificate, what checking it gave, whether a file was compared with it, and what is known of its signature."""

    document: Mapping[str, Any]
    verification: Verification
    tied: bool
    signature: Vouched


def certificate_of(certificate: str | Path | Mapping[str, Any], released: Path | None, key: PublicKey | None = None) -> Checked:
    """Read and check a certificate, with the released file where it is one, and the key of its custodian where it is given."""
    if not isinstance(certificate, str | Path | Mapping):
        raise UsageError(f"certificate is a file or what release.certificate() gives, not {certificate!r}.")
    if isinstance(certificate, Mapping):
        if key is not None:
            raise UsageError("Only a certificate in a file can be signed. Give it as a file, or leave out the key.")
        document, place, signature = dict(certificate), "certificate", Vouched()
        if document.get("document") != DOCUMENT:
            raise InputError("this is not a certificate: it does not say that it is one", place=place, remedy=REMEDY)
    else:
        place, (raw, document) = str(certificate), read_certificate(Path(certificate))
        signature = vouched(raw, Path(certificate), key)
    tied = released is not None and CHECKSUM in document
    try:
        if released is not None and tied:
            verification = verify_document(document, released, signature)
        else:
            checks = (*([signature.check] if signature.check else []), *self_checks(_as_of_a_file(document)))
            verification = Verification(checks, "", promised=False)
    except (TypeError, ValueError, RecursionError) as error:  # a value that JSON does not have, such as NaN
        raise InputError("this is not a certificate: it holds what JSON cannot", place=place, remedy=REMEDY) from error
    return Checked(document, verification, tied, signature)


def verification_of(release: Release) -> Verification | None:
    """What does not hold of a release at hand, such as one whose log was replaced; None where there is nothing to say.

    Of mechanisms of other packages nothing is known here.
    """
    if release.mechanism not in HOMES:
        return None
    document = _as_of_a_file(release.certificate())
    checks = (*self_checks(document), content_check(content_of_log(document, release.log)))
    return None if all(check.ok or check.name == RANDOMNESS for check in checks) else Verification(checks, "", promised=False)


def _as_of_a_file(document: dict[str, Any]) -> dict[str, Any]:
    """A document that never was a file, as if it had been written: all but that can be checked."""
    if CHECKSUM in document:
        return document
    complete = OF_A_FILE | document
    return complete | {CHECKSUM: checksum(complete)}


@dataclass(frozen=True)
class Promise:
    """What is promised of a log."""

    standing: Standing  # how it stands with the promise
    tone: Tone  # how that is to be taken
    verdict: str  # whether the log may be handed out, in a few words
    sentence: str  # the guarantee in one sentence
    advice: str  # what follows for whoever holds the log
    odds: str = ""  # what the log does to the odds for one case, and how rarely it does more; empty where nothing is proved
    beliefs: tuple[tuple[str, str], ...] = ()  # before and at most after: how likely it may seem that one was there
    epsilon: str = ""  # of a proved guarantee, as it is written
    delta: str = ""  # likewise
    unit: str = ""  # who is protected
    # what was looked at, where a certificate was checked: what each is about, whether it holds, and what was found
    checks: tuple[Check, ...] = ()
    signature: str = ""  # what is known of the signature of the certificate, and what that means
    said: str = ""  # the answer for whoever does not have to decide, where it is another
    conditions: tuple[str, ...] = ()  # what the verdict depends on, and only whoever holds the log knows

    @property
    def answer(self) -> str:
        """The verdict, after its conditions."""
        said = f"if {listed(self.conditions)}, {self.verdict}" if self.conditions else self.verdict
        return f"{said[0].upper()}{said[1:]}"

    @property
    def bare(self) -> str:
        """The answer without its first word, for whoever does not have to decide."""
        if self.said:
            return self.said
        said = self.verdict.partition(": ")[2]
        return f"{said[0].upper()}{said[1:]}"

    @property
    def holds(self) -> bool:
        """Whether something is proved and holds."""
        return self.standing == "proved"


def promise_of(document: Mapping[str, Any] | None, verification: Verification | None = None, *, tied: bool = True) -> Promise:
    """How it stands with the promise of a certificate, if there is one.

    `verification` is what checking it gave, None for a release that was made just now; `tied` says whether it is known to be
    about this log.

    Example:
        >>> promise_of(None).answer
        'Unknown: there is no certificate'
    """
    if document is None:
        return Promise("unknown", "bad", ANSWERS["unknown"], "Nothing is promised.", NO_CERTIFICATE)
    found = () if verification is None else verification.checks
    checks = tuple(replace(check, found=shown(check.found, LONGEST)) for check in found)  # a certificate may hold anything
    failed = [check for check in checks if not check.ok]
    if failed and {check.name for check in failed} != {RANDOMNESS}:
        standing: Standing = "unchecked" if [check.name for check in failed] == [MECHANISM] else "broken"
        sentence = " ".join(f"{check.name.capitalize()}. {check.found} {check.meaning}" for check in failed)
        return Promise(standing, "bad", ANSWERS[standing], sentence, AS_REAL, checks=checks)
    guarantee, said = document["guarantee"], document["in_plain_words"]
    without: dict[Standing, bool] = {"seeded": guarantee["seeded"], "claimed": guarantee["kind"] != "proved", "untied": not tied}
    for standing, applies in without.items():
        if applies:
            sentence = UNTIED if standing == "untied" else said
            return Promise(standing, "bad", ANSWERS[standing], sentence, AS_REAL, checks=checks)
    epsilon, delta, unit, worth = guarantee["epsilon"], guarantee["delta"], guarantee["unit"], strength_of(document)
    if worth is None:
        raise AssertionError("this is asked of what is proved alone")
    standing, tone, answer = PROVED[worth.level]
    if standing == "proved" and NAMES_PUBLIC in guarantee["assumptions"]:
        answer += NAMES
    return Promise(
        standing=standing,
        tone=tone,
        verdict=answer,
        conditions=(ONE_CASE_EACH,) if standing == "proved" and unit == CASE.statement() else (),
        sentence=said,
        advice=MAY if worth.protects else AS_REAL,
        odds=odds(epsilon, delta, str(CASE if unit == CASE.statement() else Unit(most_cases=1))),
        beliefs=beliefs(epsilon),
        epsilon=f"{epsilon:g}",
        delta=f"{delta:g}",
        unit=unit,
        checks=checks,
    )


def with_signature(promise: Promise, signature: Vouched, *, made_here: bool, public: bool) -> Promise:
    """The promise with the verdict of the signature of its certificate.

    `made_here` says whether the release was made just now, in this process, `public` whether others read the page.
    """
    verdict = signature.said if signature.signed else f"consistent, {signature.said}"
    verdict = f"{verdict[0].upper()}{verdict[1:]}"
    told = f"{verdict}. {signature.meaning}"
    if made_here and not public:
        told = SIGN_IT if signature.key_id is None else f"Its certificate is signed by key ID {signature.key_id}."
    if not promise.holds:
        return replace(promise, signature=told if promise.standing in ("weak", "claimed") else "")
    known = made_here or signature.signed
    if known and not public:
        return replace(promise, signature=told)
    if public:
        protected = promise.verdict.partition(": ")[2]
        promise = replace(promise, verdict=verdict, conditions=(), sentence=f"{protected}. {promise.sentence}")
    else:
        promise = replace(promise, conditions=(MADE_IT, *promise.conditions))
    return replace(
        promise,
        standing="proved" if known else "unsigned",
        tone=promise.tone if signature.signed else "none",
        said=verdict,
        sentence=f"{SAYS} {promise.sentence}",
        advice=promise.advice if known else OWN,
        signature=signature.meaning if public else told,
    )
