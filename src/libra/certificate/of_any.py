"""What certificates of all mechanisms share: where the noise came from, and sentences that say what the figures say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from libra.certificate.check import Check, judged
from libra.certificate.differences import differences
from libra.certificate.words import in_plain_words
from libra.mechanisms.release import CONTENTS, SYSTEM
from libra.privacy.guarantee import Guarantee
from libra.privacy.randomness import SEEDED

RANDOMNESS = "randomness"


def said(document: dict[str, Any], possible: Sequence[Guarantee], contents: str = CONTENTS) -> Check:
    """Whether all sentences are those of one of these guarantees; which one may depend on the log (individuals, say)."""
    seeded = document["guarantee"]["seeded"]
    stated = {name: document[name] for name in ("guarantee", "in_plain_words", "contents", "randomness")}
    shared = {"contents": contents, "randomness": SEEDED if seeded else SYSTEM}
    plain = [in_plain_words(one, seeded=seeded, cases=document.get("cases")) for one in possible]
    expected = [
        {"guarantee": one.to_dict() | {"seeded": seeded}, "in_plain_words": words} | shared
        for one, words in zip(possible, plain, strict=True)
    ]
    nearest = min((list(differences(stated, one)) for one in expected), key=len)
    holds = "The sentences are the ones that belong to these figures, with all assumptions and caveats."
    fails = "Some sentences are not the ones that belong to these figures"
    return judged("words", nearest, holds=holds, fails=fails, meaning="What people read in it is not what the figures say.")


def drawn(document: dict[str, Any]) -> Check:
    """Whether the noise came from the operating system: a release from a seed is not private."""
    seeded = document["guarantee"]["seeded"] or document["randomness"] != SYSTEM
    if not seeded:
        return Check(RANDOMNESS, True, "The noise came from the operating system, not from a seed.")
    meaning = "Whoever knows or guesses the seed can undo the noise. It is for tests, and must not be released."
    return Check(RANDOMNESS, False, f"The release is {SEEDED}.", meaning)
