"""What a verification is made of: checks, each one line for people, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

MECHANISM = "mechanism"  # the check that fails where nothing is known of the mechanism
SIGNATURE = "signature"  # the check that is made where a key is given


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What it is about, in a word.
        ok: Whether it holds.
        found: What was found, in a sentence: what holds, or what does not.
        meaning: Where it does not hold, what that means for whoever relies on it.

    Example:
        >>> Check("file", False, "It has 12 bytes, and 13 are certified.", "The certificate says nothing about it.").ok
        False
    """

    name: str
    ok: bool
    found: str
    meaning: str = ""


@dataclass(frozen=True)
class Verification:
    """Whether a certificate holds for a file.

    Attributes:
        checks: What was looked at, in order; with a key, its signature as well.
        verdict: The result in a sentence.
        promised: Whether a proved guarantee is promised, and every check holds. Unless it is signed, anyone may have promised it.
        signed: Whether it is signed by the key that was given.
        key_id: Of the key that the signature beside it says it is by; None where there is no signature.

    Example:
        >>> found = Verification((Check("checksum", True, "It agrees."),), "Nothing is proved.", promised=False)
        >>> found.ok, found.consistent, found.promised, found.signed
        (True, True, False, False)
    """

    checks: tuple[Check, ...]
    verdict: str
    promised: bool
    signed: bool = False
    key_id: str | None = None

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def consistent(self) -> bool:
        """Whether certificate and file agree with themselves and each other, whoever wrote them."""
        return all(check.ok for check in self.checks if check.name != SIGNATURE)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        checks = [asdict(check) for check in self.checks]
        known = {"consistent": self.consistent, "signed": self.signed, "key_id": self.key_id}
        return {"ok": self.ok, "promised": self.promised} | known | {"verdict": self.verdict, "checks": checks}


def judged(name: str, problems: Iterable[str], *, holds: str, fails: str, meaning: str) -> Check:
    """A check that holds if there is no problem; otherwise `fails` begins the sentence that lists them.

    Example:
        >>> said = {"holds": "It is the one certified.", "fails": "It is another file", "meaning": "Nothing is known of it."}
        >>> judged("file", [], **said).found, judged("file", ["it has 12 bytes"], **said).found
        ('It is the one certified.', 'It is another file: it has 12 bytes.')
    """
    from libra.certificate.differences import listed

    found = list(problems)
    return Check(name, False, f"{fails}: {listed(found)}.", meaning) if found else Check(name, True, holds)
