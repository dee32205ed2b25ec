"""The first answer of a report: may this log be handed out?

In: the certificate of a release, if there is one, and what checking it gave. Out: a `Promise`: how it stands, in a few words, a
sentence and the odds. The promise of this module: "protected" is said of a proved guarantee that holds, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from libra.certificate.check import MECHANISM, RANDOMNESS, Check, Verification
from libra.charts.text import shown
from libra.privacy.guarantee import NAMES_PUBLIC, Level
from libra.privacy.plain_words import TOO_WEAK, beliefs, odds, strength_of
from libra.privacy.unit import CASE, Unit

Standing = Literal["proved", "weak", "claimed", "seeded", "broken", "unchecked", "untied", "unsigned", "unknown"]
Tone = Literal["good", "fair", "poor", "bad", "none"]

PROVED: dict[Level, tuple[Standing, Tone, str]] = {
    "strong": ("proved", "good", "Yes: protected by a strong, proved guarantee"),
    "moderate": ("proved", "fair", "Yes, with care: protected by a moderate, proved guarantee"),
    "weak": ("proved", "poor", "Think twice: the guarantee is proved, but weak"),
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


@dataclass(frozen=True)
class Promise:
    """What is promised of a log.

    Attributes:
        standing: How it stands with the promise.
        tone: How that is to be taken.
        answer: Whether the log may be handed out, in a few words.
        sentence: The guarantee in one sentence.
        advice: What follows for whoever holds the log.
        odds: What the log does to the odds for one case, and how rarely it does more; empty where nothing is proved.
        beliefs: Before and at most after: how likely it may seem that one was there.
        epsilon: Of a proved guarantee, as it is written.
        delta: Likewise.
        unit: Who is protected.
        checks: What was looked at, where a certificate was checked: what each is about, whether it holds, and what was found.
        signature: What is known of the signature of the certificate, and what that means.
        said: The answer for whoever does not have to decide, where it is another.
    """

    standing: Standing
    tone: Tone
    answer: str
    sentence: str
    advice: str
    odds: str = ""
    beliefs: tuple[tuple[str, str], ...] = ()
    epsilon: str = ""
    delta: str = ""
    unit: str = ""
    checks: tuple[Check, ...] = ()
    signature: str = ""
    said: str = ""

    @property
    def bare(self) -> str:
        """The answer without its first word, for whoever does not have to decide.

        Example:
            >>> promise_of(None).bare
            'There is no certificate'
        """
        if self.said:
            return self.said
        said = self.answer.partition(": ")[2]
        return f"{said[0].upper()}{said[1:]}"

    @property
    def holds(self) -> bool:
        """Whether something is proved and holds."""
        return self.standing == "proved"


def promise_of(document: Mapping[str, Any] | None, verification: Verification | None = None, *, tied: bool = True) -> Promise:
    """How it stands with the promise of a certificate.

    Args:
        document: The certificate; None where there is none.
        verification: What checking it gave; None for a release that was made just now.
        tied: Whether it is known to be about this log.

    Example:
        >>> promise_of(None).answer
        'Unknown: there is no certificate'
        >>> import libra, libra.example
        >>> promise_of(libra.anonymize(libra.example.path(), epsilon=1.0).certificate()).answer
        'Yes: protected by a strong, proved guarantee'
    """
    if document is None:
        return Promise("unknown", "bad", ANSWERS["unknown"], "Nothing is promised.", NO_CERTIFICATE)
    checks = () if verification is None else tuple(map(_short, verification.checks))
    failed = [check for check in checks if not check.ok]
    if failed and {check.name for check in failed} != {RANDOMNESS}:
        standing: Standing = "unchecked" if [check.name for check in failed] == [MECHANISM] else "broken"
        sentence = " ".join(f"{check.name.capitalize()}. {check.found} {check.meaning}" for check in failed)
        return Promise(standing, "bad", ANSWERS[standing], sentence, AS_REAL, checks=checks)
    guarantee, said = document["guarantee"], document["in_plain_words"]
    if guarantee["seeded"]:
        return Promise("seeded", "bad", ANSWERS["seeded"], said, AS_REAL, checks=checks)
    if guarantee["kind"] != "proved":
        return Promise("claimed", "bad", ANSWERS["claimed"], said, AS_REAL, checks=checks)
    if not tied:
        return Promise("untied", "bad", ANSWERS["untied"], UNTIED, AS_REAL, checks=checks)
    return _proved(document, checks)


def _short(check: Check) -> Check:
    """What was found, fit to be shown: a certificate may hold anything."""
    return Check(check.name, check.ok, shown(check.found, LONGEST), check.meaning)


def _proved(document: Mapping[str, Any], checks: tuple[Check, ...]) -> Promise:
    guarantee = document["guarantee"]
    epsilon, delta, unit = guarantee["epsilon"], guarantee["delta"], guarantee["unit"]
    who = str(CASE if unit == CASE.statement() else Unit(most_cases=1))
    worth = strength_of(document)
    if worth is None:
        raise AssertionError("this is asked of what is proved alone")
    standing, tone, answer = PROVED[worth.level]
    if standing == "proved" and NAMES_PUBLIC in guarantee["assumptions"]:
        answer += NAMES
    return Promise(
        standing=standing,
        tone=tone,
        answer=answer,
        sentence=document["in_plain_words"],
        advice=MAY if worth.protects else AS_REAL,
        odds=odds(epsilon, delta, who),
        beliefs=beliefs(epsilon),
        epsilon=f"{epsilon:g}",
        delta=f"{delta:g}",
        unit=unit,
        checks=checks,
    )
