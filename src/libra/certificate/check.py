"""What a verification is made of: checks, each one line for people, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What it is about, in a word.
        ok: Whether it holds.
        found: What was found: what holds, or what does not.
        meaning: Where it does not hold, what that means for whoever relies on it.

    Example:
        >>> Check("file", False, "it has 12 bytes, and 13 are certified", "This is another file.").ok
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
        checks: What was looked at, in order.
        verdict: The result in a sentence.

    Example:
        >>> Verification((Check("checksum", True, "it agrees"),), "Verified.").ok
        True
    """

    checks: tuple[Check, ...]
    verdict: str

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {"ok": self.ok, "verdict": self.verdict, "checks": [asdict(check) for check in self.checks]}


def judged(name: str, problems: Iterable[str], *, holds: str, meaning: str) -> Check:
    """A check that holds if there is no problem.

    Example:
        >>> judged("file", [], holds="It is the one certified.", meaning="This is another file.").found
        'It is the one certified.'
    """
    from libra.certificate.differences import listed

    found = list(problems)
    return Check(name, False, listed(found), meaning) if found else Check(name, True, holds)
